"""mcsim: rigid bodies with joints and contacts in maximal coordinates.

    import mcsim as mc
    world = mc.World(mc.load("ragdolls"))
    world.step(600)

Describe a Scene (bodies, shapes, joints), or load one; a World steps and observes it. Units are SI, z is up,
quaternions are (w, x, y, z); see help(mc.Scene), help(mc.World) and, for what is ready made, mc.scenes.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from sys import modules as _modules
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from mcsim.core.errors import SceneError, SimulationError, StaleHandleError
from mcsim.core.version import __version__ as __version__
from mcsim.scene import Material, Motion, Motor, Scene, Spring
from mcsim.scene.joints import *
from mcsim.scene.joints import _NAMES as _JOINTS
from mcsim.scene.shapes import *
from mcsim.scene.shapes import _NAMES as _SHAPES

if _TYPE_CHECKING:
    from mcsim import contacts, control, derive, io as io, lab, maximal, reduced, rotation, scenes, spatial
    from mcsim.actors import Character, Vehicle, Wheel
    from mcsim.calls import CallLog, Replayed, record_calls, replay_calls
    from mcsim.derive import step_derivatives, trajectory_derivatives
    from mcsim.io import load_mjcf as load_mjcf, load_urdf as load_urdf
    from mcsim.lab import Sweep, compare, sweep
    from mcsim.live import View, view
    from mcsim.scenes import load
    from mcsim.solve.problems import Problem, Solution, solve
    from mcsim.world import (
        BDF,
        DOP853,
        RK4,
        CompliantContact,
        DirectJoints,
        EventContact,
        Radau,
        Rattle,
        ReducedWorld,
        RigidContact,
        Rollout,
        Sleep,
        SweptJoints,
        Variational,
        World,
        load_state,
        rollout,
    )

# Where what is not imported above is found. It is imported when it is first asked for, so that a program waits for no more
# than it takes.
_HOMES = {
    "mcsim.actors": ("Character", "Vehicle", "Wheel"),
    "mcsim.calls": ("CallLog", "Replayed", "record_calls", "replay_calls"),
    "mcsim.derive": ("step_derivatives", "trajectory_derivatives"),
    "mcsim.io": ("load_mjcf", "load_urdf"),
    "mcsim.lab": ("Sweep", "compare", "sweep"),
    "mcsim.live": ("View", "view"),
    "mcsim.scenes": ("load",),
    "mcsim.solve.problems": ("Problem", "Solution", "solve"),
    "mcsim.world": (
        "BDF",
        "CompliantContact",
        "DOP853",
        "DirectJoints",
        "EventContact",
        "RK4",
        "Radau",
        "Rattle",
        "ReducedWorld",
        "RigidContact",
        "Rollout",
        "Sleep",
        "SweptJoints",
        "Variational",
        "World",
        "load_state",
        "rollout",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# Two functions have the name of the package that they come from. They answer for it: `import mcsim.solve.problems as p` and
# `mcsim.solve.problems.SOLVERS` look up the package's names in the function. The packages are imported here, for a package
# takes its name in this one as it is imported.
_PACKAGES = {name: _import_module(f"mcsim.{name}") for name in ("solve", "view")}
for _name in _PACKAGES:
    del globals()[_name]


def _found(name: str) -> _Any:
    value = getattr(_import_module(_HOME_OF[name]), name)
    if name in _PACKAGES:
        package = _PACKAGES[name]
        vars(package)["__wrapped__"] = vars(value)["__wrapped__"]  # for help() and signatures
        value.__dict__ = vars(package)
    return value


if not _TYPE_CHECKING:  # a checker of types that saw it would let any name pass

    def __getattr__(name: str) -> _Any:
        if name in _HOME_OF:
            globals()[name] = _found(name)
            return globals()[name]
        if not name.startswith("_") and _find_spec(f"mcsim.{name}"):
            return _import_module(f"mcsim.{name}")
        raise AttributeError(f"module 'mcsim' has no attribute {name!r}", name=name, obj=_modules[__name__])

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "CallLog",
    "Character",
    "CompliantContact",
    "DirectJoints",
    "EventContact",
    "Material",
    "Motion",
    "Motor",
    "Problem",
    "BDF",
    "DOP853",
    "RK4",
    "Radau",
    "Rattle",
    "ReducedWorld",
    "Replayed",
    "RigidContact",
    "Rollout",
    "Scene",
    "SceneError",
    "SimulationError",
    "Sleep",
    "Solution",
    "Spring",
    "StaleHandleError",
    "Sweep",
    "SweptJoints",
    "Variational",
    "Vehicle",
    "View",
    "Wheel",
    "World",
    "compare",
    "contacts",
    "control",
    "derive",
    "lab",
    "load",
    "load_state",
    "maximal",
    "record_calls",
    "reduced",
    "replay_calls",
    "rollout",
    "rotation",
    "scenes",
    "solve",
    "spatial",
    "step_derivatives",
    "sweep",
    "trajectory_derivatives",
    "view",
    *_JOINTS,
    *_SHAPES,
]
