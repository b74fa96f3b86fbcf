import numpy as np
from numpy.typing import ArrayLike

from mcsim.reduced import _dynamics

class Derivatives(_dynamics.Dynamics):
    def _differentiate(
        self, forward: bool, q: ArrayLike, qd: ArrayLike, x: ArrayLike, forces: ArrayLike | None
    ) -> list[np.ndarray]: ...
    def _differentiate_bodies(self, q: ArrayLike, qd: ArrayLike | None, moving: bool) -> list[np.ndarray]: ...
    def take_rates(self, axes: np.ndarray, states: np.ndarray) -> None: ...
