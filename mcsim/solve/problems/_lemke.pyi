"""Lemke's method, as Python calls it; `lemke.py` checks what comes in."""

import numpy as np

def lemke(
    lines: np.ndarray, basic: np.ndarray, other: np.ndarray, place: np.ndarray, column: int, max_pivots: int, worst: float
) -> tuple[int, int, int]: ...
