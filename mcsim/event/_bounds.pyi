from typing import Any

import numpy as np

from mcsim.event._features import Pairs, Poses

class TurnLimit(Pairs):
    near: np.ndarray
    def __init__(self, common: Any, frames: Any, sign: Any, bound: Any) -> None: ...
    def follow(self, poses: Poses) -> None: ...

class Drive(Pairs):
    def __init__(self, common: Any, axis: Any, point: Any, speed: Any, most: Any, about: Any) -> None: ...
