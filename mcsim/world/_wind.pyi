import numpy as np

def wrenches(
    slot: np.ndarray,
    begin: np.ndarray,
    centroids: np.ndarray,
    normals: np.ndarray,
    areas: np.ndarray,
    centers: np.ndarray,
    rotations: np.ndarray,
    twists: np.ndarray,
    wind: np.ndarray,
    drag: float,
    lift: float,
    out: np.ndarray,
) -> None: ...
