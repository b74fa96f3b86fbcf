import numpy as np

class Islands:
    sleepers: int
    touch: np.ndarray
