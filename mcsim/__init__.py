"""mcsim: rigid bodies with joints and contacts in maximal coordinates.

    import mcsim as mc
    world = mc.World(mc.load("ragdolls"))
    world.step(600)

Describe a Scene (bodies, shapes, joints), or load one; a World steps and observes it. Units are SI, z is up,
quaternions are (w, x, y, z); see help(mc.Scene), help(mc.World) and, for what is ready made, mc.scenes.
"""

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from mcsim import contacts, control, derive, io as io, lab, maximal, reduced, rotation, scenes, spatial
from mcsim.actors import Character, Vehicle, Wheel
from mcsim.calls import CallLog, Replayed, log as _call_log, record_calls, replay_calls
from mcsim.core.errors import SceneError, SimulationError, StaleHandleError
from mcsim.live import View, view
from mcsim.scene import Material, Motion, Motor, Scene, Spring
from mcsim.scene.calls import explain_functions as _explain_functions
from mcsim.scene.joints import *
from mcsim.scene.joints import _NAMES as _JOINTS
from mcsim.scene.shapes import *
from mcsim.scene.shapes import _NAMES as _SHAPES
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

__version__ = "0.2.0"

# What their callers name wrongly is answered by the nearest right name (mcsim/scene/calls.py).
for _module in (contacts, control, derive, io, lab, maximal, reduced, rotation, scenes, spatial, _modules["mcsim.view"]):
    _explain_functions(vars(_module), _module.__all__)
step_derivatives, trajectory_derivatives = derive.step_derivatives, derive.trajectory_derivatives
load, load_urdf, load_mjcf = scenes.load, io.load_urdf, io.load_mjcf
compare, sweep, Sweep = lab.compare, lab.sweep, lab.Sweep
_unnamed = {"solve": solve, "view": view}
_explain_functions(
    globals(),
    [
        "Character",
        "Problem",
        "Solution",
        "Vehicle",
        "View",
        "Wheel",
        "load_state",
        "record_calls",
        "replay_calls",
        "rollout",
        "solve",
        "view",
    ],
)

# Two functions have the name of the package that they come from. They answer for it: `import mcsim.solve.problems as p` and
# `mcsim.solve.problems.SOLVERS` look up the package's names in the function.
solve.__dict__ = vars(_modules["mcsim.solve"])
view.__dict__ = vars(_modules["mcsim.view"])
vars(solve)["__wrapped__"], vars(view)["__wrapped__"] = _unnamed["solve"], _unnamed["view"]  # for help() and signatures

scenes.READERS |= {".urdf": load_urdf, ".xml": load_mjcf}
lab.loading.load, lab.loading.check_parameters = load, scenes.check_parameters
lab.loading.version = _call_log.made_by = __version__

if not _TYPE_CHECKING:  # a checker of types that saw it would let any name pass

    def __getattr__(name: str) -> _Any:
        """mc.samples, which is written with all of the above, is imported when it is first asked for."""
        if name == "samples":
            return _import_module("mcsim.samples")
        raise AttributeError(f"module 'mcsim' has no attribute {name!r}", name=name, obj=_modules[__name__])


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
