import numpy as np

def light(rows: np.ndarray, inv_mass: np.ndarray, inv_inertia: np.ndarray) -> np.ndarray: ...
def accelerations(
    q: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
    pull: np.ndarray,
    load: np.ndarray,
    inv_mass: np.ndarray,
    inertia: np.ndarray,
    inv_inertia: np.ndarray,
    linear_damping: np.ndarray,
    angular_damping: np.ndarray,
) -> np.ndarray: ...
def in_world(turn: np.ndarray, matrices: np.ndarray) -> np.ndarray: ...
