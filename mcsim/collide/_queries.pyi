"""Looking for shapes, as Python sees it."""

from collections.abc import Collection, Sequence
from types import NotImplementedType

import numpy as np

from mcsim.collide._collider import Collider
from mcsim.state._body_watch import BodyWatch

HIT_DTYPE: np.dtype

Vector = Sequence[float] | np.ndarray
Told = tuple[float, int, int, int, np.ndarray, np.ndarray]

class Finder:
    collider: Collider
    shape_count: int

    def __init__(self, collider: Collider) -> None: ...
    def look(self, watch: BodyWatch) -> None: ...
    def look_at(self, position: Vector, orientation: Vector) -> None: ...
    def cast_rays(
        self,
        origins: np.ndarray,
        directions: np.ndarray,
        limits: np.ndarray,
        mask: int,
        skipped: Collection[int],
        filled: bool,
    ) -> np.ndarray: ...
    def cast_ray(
        self,
        origin: Vector,
        direction: Vector,
        limit: float,
        mask: int,
        skipped: Collection[int],
        filled: bool,
    ) -> Told | NotImplementedType | None: ...
    def cast_through(
        self,
        origin: Sequence[float],
        direction: Sequence[float],
        limit: float,
        mask: int,
        skipped: Collection[int],
        filled: bool,
    ) -> list[Told]: ...
    def cast_shape(
        self, probe: Finder, direction: Sequence[float], limit: float, mask: int, skipped: Collection[int]
    ) -> Told | None: ...
    def overlapped(self, probe: Finder, mask: int, skipped: Collection[int]) -> set[int]: ...
    def distance(self, body: int, other: Finder, other_body: int) -> tuple[float, np.ndarray] | None: ...
