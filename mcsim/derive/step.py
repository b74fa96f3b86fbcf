"""The derivatives of one step of a world: the substeps' derivatives, multiplied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcsim.derive.differences import Differences
from mcsim.derive.rows import RowReader, State
from mcsim.derive.substep import Bodies, Substep
from mcsim.world import World


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    by_pose: np.ndarray
    by_velocity: np.ndarray
    by_force: np.ndarray
    by_mass: np.ndarray
    by_mass_alone: np.ndarray
    by_friction: np.ndarray
    end: State
    notes: list


def step_derivatives(world: World) -> StepDerivatives:
    copy, made = world._copied(), world._copied()
    made.step()
    after = made._collider.get_manifolds()
    now = copy._bodies
    gravity = np.asarray(copy.gravity)
    bodies = Bodies(
        now.inv_mass > 0.0, now.mass.copy(), now.inertia.copy(), now.inv_inertia.copy(),
        now.gravity_scale[:, None] * gravity,
        np.repeat(np.stack([now.linear_damping, now.angular_damping], axis=1), 3, axis=1),
    )
    reader = RowReader(copy)
    notes = []
    diff = Differences(bodies.dynamic, now.reach.copy(), [], notes)
    n = len(bodies.mass)
    still = 1e-9 * (float(np.abs(reader.begun.twist).max(initial=0.0)) + reader.h * float(np.abs(bodies.fall).max(initial=0.0)) + 1e-6)
    at = reader.begun
    d6 = np.repeat(bodies.dynamic, 6).astype(float)
    S = np.zeros((12 * n, 12 * n + 6 * n + 3 * n))
    S[:, : 12 * n] = np.diag(np.tile(d6, 2))
    for k in range(copy._keywords["substeps"]):
        sub = Substep(reader, bodies, reader.begun, at, k * reader.h, after, still)
        end = sub.end()
        p = sub.partials(diff)
        new = np.concatenate([p.by_pose, p.by_twist], axis=1) @ S
        new[:, : 6 * n] += p.by_found
        new[:, 12 * n : 18 * n] += p.by_force
        new[:, 18 * n : 19 * n] += p.by_mass
        new[:, 19 * n : 20 * n] += p.by_mass_alone
        new[:, 20 * n :] += p.by_friction
        S, at = new, end
    cuts = np.split(S, np.cumsum([6 * n, 6 * n, 6 * n, n, n]), axis=1)
    return StepDerivatives(*cuts, at, notes)
