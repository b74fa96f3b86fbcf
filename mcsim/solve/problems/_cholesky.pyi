from typing import Any

import numpy as np

class SparseFactor:
    def __init__(self, matrix: Any, node: np.ndarray, size: np.ndarray) -> None: ...
    def solve(self, right: np.ndarray) -> np.ndarray: ...
