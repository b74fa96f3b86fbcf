"""Arrays that kernels work in."""

import numpy as np


def aligned(size: int) -> np.ndarray:
    """(size // 8,) doubles, all 0, that begin at a multiple of 64 bytes."""
    array = np.zeros(size // 8 + 8)
    begin = -array.ctypes.data % 64 // 8
    return array[begin : begin + size // 8]
