"""What arrays and records have of each body and each shape, as the parts of a scene say."""

from collections.abc import Callable, Iterable

import numpy as np

from mcsim.scene import Body

def fill_bodies(whole: dict[str, np.ndarray], bodies: Iterable[Body]) -> None: ...
def body_sizes(whole: dict[str, np.ndarray]) -> np.ndarray: ...
def fill_shapes(
    of: np.ndarray, bodies: Iterable[Body], types: dict[str, int], material_number: Callable[[str | None], int]
) -> None: ...
