"""What World asks of the compiled pipeline."""

from collections.abc import Callable

import numpy as np

from mcsim._machine import Machine
from mcsim.state.user_joints import UserJoints

class Pipeline(Machine):
    row_count: int
    joint_row_count: int
    contact_row_count: int
    steps: int
    steps_made: int
    start: float
    impact_count: int
    residual: float
    correction: float

    def step(self, n: int) -> int: ...
    def set_calls(self, calls: Callable[[float], None] | None) -> None: ...
    def set_user_joints(self, user: UserJoints | None) -> None: ...
    def raise_failure(self) -> None: ...
    def prepare(self) -> int: ...
    def smooth_forces(self) -> np.ndarray: ...
    def rows_now(self) -> np.ndarray: ...
    def times(self) -> list[float]: ...
