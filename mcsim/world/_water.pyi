import numpy as np

def wrenches(
    slot: np.ndarray,
    begin: np.ndarray,
    triangles: np.ndarray,
    share: np.ndarray,
    balls: np.ndarray,
    centers: np.ndarray,
    positions: np.ndarray,
    rotations: np.ndarray,
    twists: np.ndarray,
    up: np.ndarray,
    level: float,
    current: np.ndarray,
    lift: float,
    drag: float,
    out: np.ndarray,
) -> None: ...
