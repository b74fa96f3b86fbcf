from typing import Any

import numpy as np

from mcsim.solve.problems._newton import Newton
from mcsim.solve.problems._system import System

PARTS: tuple[int, int, int]

class Admm:
    factorizations: int
    def __init__(
        self,
        system: System,
        inverse_mass: Any,
        model: int,
        impulse: np.ndarray,
        velocity: np.ndarray,
        rho: float,
        eta: float,
        alpha: float,
        part: int = ...,
    ) -> None: ...
    def run(self, progress: Any, most: int) -> tuple[np.ndarray, np.ndarray]: ...
    def settle(self, tolerance: float, most: int) -> tuple[np.ndarray, np.ndarray, int]: ...
    def newton(self, shift: float) -> Newton: ...
    def resume(self) -> None: ...
    def restart(self, impulses: np.ndarray, velocities: np.ndarray) -> None: ...
