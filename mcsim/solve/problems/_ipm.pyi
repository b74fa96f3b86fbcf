from typing import Any

import numpy as np

from mcsim.solve.problems._system import System

class InteriorPoint:
    def __init__(self, system: System, inverse_mass: Any, model: int, impulse: np.ndarray) -> None: ...
    def begin(self, round: float, doubt: float) -> None: ...
    def run(self, progress: Any, most: int) -> bool: ...
