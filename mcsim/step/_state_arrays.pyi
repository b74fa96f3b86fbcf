"""The arrays of one world's bodies and joints, and what is read off them."""

import numpy as np

from mcsim.state.arrays import BodyArrays

class StateArrays:
    failed_body: int
    failed_far: bool

    def hold(self, bodies: BodyArrays, joints: np.ndarray) -> None: ...
    def measured(self) -> np.ndarray: ...
    def spring_energy(self) -> float: ...
    def errors(self) -> np.ndarray: ...
