"""The surfaces of a world, with their trees."""

from collections.abc import Sequence

import numpy as np

from mcsim.state.surfaces import SurfaceArrays

class Surfaces:
    count: int

    def __init__(self, arrays: Sequence[SurfaceArrays]) -> None: ...
    def triangles_in(self, i: int, lower: Sequence[float], upper: Sequence[float]) -> np.ndarray: ...
    def first_on_ray(
        self, i: int, origin: Sequence[float], direction: Sequence[float], distance: float
    ) -> tuple[float, np.ndarray, int] | None: ...
