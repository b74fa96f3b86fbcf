from typing import Any

import numpy as np

from mcsim.solve.problems._system import System

def solve_shifted(system: System, inverse_mass: Any, d: np.ndarray, right: np.ndarray) -> np.ndarray: ...
