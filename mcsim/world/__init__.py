"""The worlds that users have: what each tells, does and keeps. World is made of parts with one task each (actions, changes,
observers, queries, snapshots); ReducedWorld is the same face over generalized coordinates.
"""

from mcsim.scene.calls import explain_functions
from mcsim.world.choices import (
    BDF,
    DOP853,
    RK4,
    CompliantContact,
    DirectJoints,
    EventContact,
    Radau,
    Rattle,
    RigidContact,
    Sleep,
    SweptJoints,
    Variational,
)
from mcsim.world.handles import BodyHandle, JointHandle
from mcsim.world.loading import load_state
from mcsim.world.reduced_world import ReducedWorld
from mcsim.world.rollouts import Rollout, rollout
from mcsim.world.world import World

__all__ = [
    "BodyHandle",
    "CompliantContact",
    "DirectJoints",
    "EventContact",
    "JointHandle",
    "BDF",
    "DOP853",
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
]

explain_functions(globals(), ["load_state", "rollout"])
