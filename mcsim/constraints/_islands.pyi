import numpy as np

class Islands:
    sleepers: int
    touch: np.ndarray

    def get_seen(self, kind: np.ndarray, island: np.ndarray) -> np.ndarray: ...
    def set_seen(self, seen: np.ndarray) -> None: ...
