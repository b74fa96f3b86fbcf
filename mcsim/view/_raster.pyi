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
def project(
    vertices: np.ndarray,
    owners: np.ndarray,
    turns: np.ndarray,
    origins: np.ndarray,
    scale: float,
    near: float,
    orthographic: bool,
    out: np.ndarray,
) -> None: ...
def fill_faces(
    samples: np.ndarray,
    faces: np.ndarray,
    normals: np.ndarray,
    reach: np.ndarray,
    owners: np.ndarray,
    eyes: np.ndarray,
    lights: np.ndarray,
    face_colors: np.ndarray,
    outlined: np.ndarray,
    drawn: np.ndarray,
    dark: float,
    bright: float,
    edge: float,
    width: float,
    orthographic: bool,
    colors: np.ndarray,
    depths: np.ndarray,
) -> None: ...
def fill_shadows(
    samples: np.ndarray,
    faces: np.ndarray,
    normals: np.ndarray,
    owners: np.ndarray,
    lights: np.ndarray,
    casting: np.ndarray,
    color: np.ndarray,
    orthographic: bool,
    colors: np.ndarray,
) -> None: ...
def nearest(palette: np.ndarray, table: np.ndarray) -> None: ...
def indices(picture: np.ndarray, table: np.ndarray, out: np.ndarray) -> None: ...
def finish(colors: np.ndarray, picture: np.ndarray) -> None: ...
