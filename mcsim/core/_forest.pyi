"""Groups of what hangs together, numbered."""

import numpy as np

def group_numbers(pairs: np.ndarray, count: int) -> np.ndarray: ...
