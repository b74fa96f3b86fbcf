import numpy as np

class Problem:
    def __init__(
        self,
        A: np.ndarray,
        b: np.ndarray,
        friction: np.ndarray,
        load: np.ndarray,
        slips: np.ndarray,
        slip: np.ndarray,
        rate: np.ndarray,
    ) -> None: ...
    def sweep(self, x: np.ndarray, most: int, settled: float) -> None: ...
    def residual(self, x: np.ndarray) -> float: ...
    def equations(self, x: np.ndarray, F: np.ndarray, J: np.ndarray, live: np.ndarray) -> None: ...

def groups(A: np.ndarray) -> np.ndarray: ...
