from typing import Any

import numpy as np

class Poses:
    x: np.ndarray
    q: np.ndarray
    v: np.ndarray
    w: np.ndarray
    R: np.ndarray
    count: int
    def __init__(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> None: ...

class Pairs:
    bodies: np.ndarray
    shapes: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray
    load: np.ndarray
    count: int
    horizon: float
    def __init__(self, bodies: Any, shapes: Any, friction: Any, restitution: Any) -> None: ...
    def pieces(self, poses: Poses) -> np.ndarray: ...
    def gaps(self, poses: Poses, piece: np.ndarray) -> np.ndarray: ...
    def leaving(self, poses: Poses, piece: np.ndarray) -> np.ndarray: ...
    def gap_of(self, k: int, piece: int, poses: Poses) -> float: ...
    def leaving_of(self, k: int, piece: int, poses: Poses) -> float: ...

class PointPlane(Pairs):
    def __init__(self, common: Any, normal: Any, offset: Any, point: Any, radius: Any) -> None: ...

class PointPoint(Pairs):
    def __init__(self, common: Any, points: Any, radii: Any, sign: Any = None) -> None: ...

class PointSegment(Pairs):
    def __init__(self, common: Any, center: Any, axis: Any, half: Any, point: Any, radii: Any, ends: Any) -> None: ...

class SegmentSegment(Pairs):
    def __init__(self, common: Any, ends: Any, radii: Any) -> None: ...

class BallBox(Pairs):
    def __init__(self, common: Any, center: Any, turn: Any, half: Any, point: Any, radius: Any) -> None: ...

def rows_of(
    kinds: list[Pairs], kind: np.ndarray, number: np.ndarray, piece: np.ndarray, poses: Poses
) -> tuple[Any, ...]: ...
