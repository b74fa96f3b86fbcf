"""The laws of impact over dense matrices."""

import numpy as np

def strike(A: np.ndarray, rates: np.ndarray, restitution: np.ndarray, friction: np.ndarray, law: int) -> np.ndarray:
    """Impulses (3k,) [N s] of k contacts struck together, in threes [n, t, t]. A (3k, 3k), rates (3k,), restitution and
    friction (k,), law: 0 Newton's, 1 Poisson's, 2 Stronge's."""
