"""Lemke's method, as Python calls it; `lemke.py` checks what comes in."""

import numpy as np

def lemke(M: np.ndarray, q: np.ndarray, covering: np.ndarray,
          max_pivots: int) -> tuple[np.ndarray, np.ndarray, int, int]: ...
