import numpy as np

from mcsim.solve.problems._system import System

def sweep(s: System, model: int, impulse: np.ndarray, state: np.ndarray, omega: float, backward: bool) -> None: ...
