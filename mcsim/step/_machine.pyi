"""What a World asks of what its pipeline works with."""

from typing import Any

import numpy as np

from mcsim.collide._collider import Collider
from mcsim.collide._sensors import Sensors
from mcsim.constraints._islands import Islands
from mcsim.core._noted import Noted
from mcsim.state.arrays import BodyArrays
from mcsim.step._state_arrays import StateArrays

class Machine(StateArrays):
    integrator: Any
    collider: Collider
    noted: Noted
    sensors: Sensors | None
    tree: Any
    borne: float
    shapes_changed: bool
    laboratory: Any
    def see_shapes(self) -> None: ...
    def follow(self) -> None: ...
    def notice(self) -> None: ...
    def restored(self) -> None: ...
    def grow(self) -> None: ...
    def replan(self) -> None: ...
    def plan_serves(self, bodies: int) -> bool: ...
    def take_plan(self, other: Machine) -> None: ...
    islands: Islands

    def __init__(self, bodies: BodyArrays, joints: np.ndarray, collider: Collider, settings: dict[str, Any],
                 bounces: bool, sleep: tuple[float, float] = ..., planned: bool = ...) -> None: ...
