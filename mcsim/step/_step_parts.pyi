"""What a World asks of what works in its step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mcsim.collide._collider import Collider
from mcsim.collide._sensors import Sensors
from mcsim.constraints._islands import Islands
from mcsim.core._noted import Noted
from mcsim.state.user_joints import UserJoints
from mcsim.step._joint_efforts import JointEfforts
from mcsim.step._state_arrays import StateArrays

class StepParts:
    arrays: StateArrays
    efforts: JointEfforts
    context: Any
    noted: Noted
    collider: Collider
    islands: Islands
    space: Any  # VelocitySpace, of a ReducedWorld TreeSpace
    room: Any
    plan: Any
    plain: Any
    sweeping: Any
    integrator: Any
    restitution: Any
    tunnelling_guard: Any
    calls: Any
    laboratory: Any
    sensors: Sensors | None
    borne: float
    bounces: bool

    def replan(self) -> None: ...
    def spring_energy(self) -> float: ...
    def may_edit(self, bodies: int, bounces: bool) -> bool: ...
    def take_room(self, other: StepParts) -> None: ...
    def set_user_joints(self, user: UserJoints | None) -> None: ...
    def set_contact_filter(self, function: Callable[[int, int], bool] | None) -> None: ...
    def set_laboratory(self, laboratory: Callable[[np.ndarray, np.ndarray, int], float] | None) -> None: ...
