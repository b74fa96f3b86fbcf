import numpy as np

from mcsim.event._features import Pairs, Poses

class TurnLimit(Pairs):
    near: np.ndarray
    def __init__(self, common, frames, sign, bound) -> None: ...
    def follow(self, poses: Poses) -> None: ...

class Drive(Pairs):
    def __init__(self, common, axis, point, speed, most, about) -> None: ...
