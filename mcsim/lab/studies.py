"""Ready studies: a scene, how long, and methods that show something on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.lab.compare import compare
from mcsim.lab.study import Study
from mcsim.scene.checks import show, suggestion

SMOOTH_METHODS = (
    "maximal:si+none",
    "maximal:si+baumgarte",
    "maximal:tree+soft",
    "maximal:tree+soft@rattle",
    "maximal:tree+projection@rk4",
    "reduced:aba",
    "reduced:aba@rk4",
)


@dataclass(frozen=True)
class Ready:
    """scene: name of a ready scene; parameters: of it; former: earlier names of those; about: what the study shows."""

    scene: str
    about: str
    seconds: float
    methods: tuple[str, ...] = SMOOTH_METHODS
    dt: float = 1 / 240
    parameters: dict[str, Any] = field(default_factory=dict)
    former: dict[str, str] = field(default_factory=dict)

    def with_parameters(self, given: dict[str, Any]) -> dict[str, Any]:
        """Its parameters, and in their place those that are given, also by a former name."""
        gone = {self.former.get(name, name) for name in given}
        return {name: value for name, value in self.parameters.items() if name not in gone} | given


STUDIES: dict[str, Ready] = {
    "pendulum": Ready("pendulum", "one hinge: orders, drift and energy of each method", 10.0),
    "double_pendulum": Ready("double_pendulum", "chaos: how long each method stays with the reference", 5.0),
    "chain": Ready(
        "chain",
        "20 ball joints that whip: what sweeps leave open",
        5.0,
        (
            "maximal:si+baumgarte",
            "maximal:si+soft",
            "maximal:tree+soft",
            "maximal:tree+soft@rattle",
            "reduced:aba",
            "reduced:aba@rk4",
        ),
        parameters={"count": 20},
        former={"n": "count"},
    ),
    "four_bar": Ready(
        "four_bar",
        "a closed loop, which reduced coordinates must close too",
        5.0,
        ("maximal:si+baumgarte", "maximal:tree+soft", "maximal:tree+ggl", "maximal:tree+soft@rattle", "reduced:aba"),
        parameters={"driven": False},
    ),
    "free_ragdoll": Ready(
        "free_ragdoll",
        "16 bodies in free flight: momentum",
        2.0,
        ("maximal:si+baumgarte", "maximal:tree+soft", "maximal:tree+soft@rattle", "reduced:aba", "reduced:aba@rk4"),
    ),
    "spinning_top": Ready(
        "spinning_top",
        "fast rotation: precession and nutation",
        5.0,
        (
            "maximal:si+baumgarte",
            "maximal:tree+soft",
            "maximal:tree+soft@rattle",
            "maximal:tree+soft@variational",
            "maximal:tree+projection@rk4",
            "reduced:aba",
            "reduced:aba@rk4",
        ),
        dt=1 / 1000,
    ),
}


def ready(name: str) -> Ready:
    """The study of this name."""
    if name not in STUDIES:
        raise SceneError(
            f"there is no study {show(name)}{suggestion(name, STUDIES)}; the studies are: {', '.join(STUDIES)}"
        )
    return STUDIES[name]


def run(name: str, methods: Any = None, *, seconds: float | None = None, dt: Any = None, **keywords: Any) -> Study:
    """A ready study; what is given takes the place of its own. keywords: as of mcsim.compare, parameters of the scene
    among them."""
    study = ready(name)
    return compare(
        study.scene,
        study.methods if methods is None else methods,
        study.seconds if seconds is None else seconds,
        study.dt if dt is None else dt,
        **study.with_parameters(keywords),
    )
