"""Dantzig's principal pivoting, as Python calls it; `dantzig.py` checks what comes in."""

import numpy as np

def dantzig(
    A: np.ndarray,
    b: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    guess: np.ndarray,
    max_pivots: int,
    accuracy: float,
    quiet: float,
) -> tuple[np.ndarray, int, int, int]: ...
