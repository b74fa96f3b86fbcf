import numpy as np

SAMPLES: int

def fill(
    polygons: np.ndarray,
    face: np.ndarray,
    border: np.ndarray,
    width: float,
    colors: np.ndarray,
    depths: np.ndarray | None,
) -> None: ...
def finish(colors: np.ndarray, picture: np.ndarray) -> None: ...
