"""What a World asks of its compiled pipeline."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from mcsim.collide._collider import Collider
from mcsim.state._closing_up import Rows
from mcsim.state.arrays import BodyArrays
from mcsim.step._step_parts import StepParts
from mcsim.step._tape import Tape

class Pipeline:
    parts: StepParts
    one: Any  # a step
    space: Any  # VelocitySpace, of a ReducedWorld TreeSpace
    steps: int
    steps_made: int
    start: float
    time: float
    shapes_changed: bool
    tape: Tape | None

    def __init__(
        self,
        bodies: BodyArrays,
        joints: np.ndarray,
        collider: Collider,
        settings: dict[str, Any],
        bounces: bool,
        sleep: tuple[np.ndarray, float, np.ndarray] | None = ...,
        trees: SimpleNamespace | None = None,
        planned: bool = ...,
    ) -> None: ...
    def step(self, n: int) -> int: ...
    def begin_call(self) -> None: ...
    def go_on(self, n: int) -> int: ...
    def end_call(self) -> None: ...
    def prepare(self, points: bool = False) -> int: ...
    def prepare_later(
        self, position: np.ndarray, orientation: np.ndarray, twist: np.ndarray, acting: np.ndarray, ahead: float
    ) -> int: ...
    def edit(
        self,
        world: dict[str, Any],
        parts: dict[str, Any],
        told: tuple[list[Any] | None, Callable[[], Any]],
        bodies: BodyArrays,
        rows: Rows,
        fresh: BodyArrays,
        sizes: np.ndarray,
        sleep: tuple[np.ndarray, float, np.ndarray] | None,
        woken: tuple[np.ndarray, np.ndarray] | None,
    ) -> None: ...
    def times(self) -> list[float]: ...
    def raise_failure(self) -> None: ...
    def set_clock(self, steps: int, start: float) -> None: ...
    def take_time(self, other: Pipeline) -> None: ...
    def take_call(self, other: Pipeline) -> None: ...
    def notice(self) -> None: ...
    def follow(self) -> None: ...
    def restored(self) -> None: ...
    def see_shapes(self) -> None: ...
