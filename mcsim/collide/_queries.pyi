"""Looking for shapes, as Python sees it."""

from collections.abc import Sequence

import numpy as np

from mcsim.collide._collider import Collider

HIT_DTYPE: np.dtype

class Finder:
    collider: Collider
    shape_count: int

    def __init__(self, collider: Collider) -> None: ...
    def look(self, position: np.ndarray, orientation: np.ndarray) -> None: ...
    def cast_rays(
        self,
        origins: np.ndarray,
        directions: np.ndarray,
        limits: np.ndarray,
        mask: int,
        skipped: np.ndarray | None,
        filled: bool,
    ) -> np.ndarray: ...
    def cast_ray(
        self,
        origin: Sequence[float],
        direction: Sequence[float],
        limit: float,
        mask: int,
        skipped: np.ndarray | None,
        filled: bool,
    ) -> tuple[int, int, float, np.ndarray, np.ndarray] | None: ...
    def cast_through(
        self, origin: np.ndarray, direction: np.ndarray, limit: float, mask: int, skipped: np.ndarray | None, filled: bool
    ) -> np.ndarray: ...
    def cast_shape(
        self, probe: Finder, direction: np.ndarray, limit: float, mask: int, skipped: np.ndarray | None
    ) -> np.ndarray: ...
    def overlaps(self, probe: Finder, i: int, mask: int, skipped: np.ndarray | None) -> np.ndarray: ...
    def distance(
        self, ours: np.ndarray, other: Finder, theirs: np.ndarray
    ) -> tuple[float, tuple[float, ...], tuple[float, ...], tuple[float, ...]] | None: ...
