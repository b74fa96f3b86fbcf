from typing import Any

import numpy as np

def solve_blocks(size: Any, matrix: np.ndarray, right: np.ndarray, symmetric: bool) -> np.ndarray: ...
