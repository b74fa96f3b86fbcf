from typing import Any

import numpy as np

from mcsim.solve.problems._system import System

class Newton:
    shift: float
    def __init__(self, system: System, inverse_mass: Any, model: int, shift: float, proximal: Any = ...) -> None: ...
    def begin(self, impulses: np.ndarray, velocities: np.ndarray) -> None: ...
    def run(self, progress: Any, most: int) -> tuple[np.ndarray, np.ndarray, bool]: ...
