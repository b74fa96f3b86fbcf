"""The arrays of one world's bodies and joints, and what is read off them."""

import numpy as np

class StateArrays:
    failed_body: int
    failed_far: bool

    def spins(self) -> np.ndarray: ...
