"""The ways to hold joints that the tests of mechanisms run, with what each has to reach."""

from dataclasses import dataclass

import pytest

from mcsim.world.capabilities import JOINT_SOLVERS


@dataclass(frozen=True)
class Held:
    """keywords of World; gap, fine_gap: largest joint error at any step at substeps of 1/480 and 1/1920 s [m, rad];
    force: relative error of reaction forces at rest; order: of the motion in the substep."""

    keywords: dict
    gap: float
    fine_gap: float
    force: float
    order: int


HELD = {"rows": Held(dict(joint_solver="rows", iterations=30), 6e-3, 5e-4, 1e-5, 1)}
if "tree" in JOINT_SOLVERS:
    HELD["tree"] = Held(dict(joint_solver="tree"), 1e-6, 1e-6, 1e-8, 2)

every_joint_solver = pytest.mark.parametrize("held", HELD.values(), ids=HELD)
