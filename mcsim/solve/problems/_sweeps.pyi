import numpy as np

from mcsim.solve.problems._recorder import Recorder
from mcsim.solve.problems._system import System
from mcsim.solve.problems.solution import Progress

def sweep(
    s: System, model: int, impulse: np.ndarray, state: np.ndarray, omega: float, backward: bool, steps: int = ...
) -> None: ...
def sweep_on(
    s: System,
    progress: Progress,
    recorder: Recorder,
    most: int,
    impulse: np.ndarray,
    state: np.ndarray,
    omega: float,
    order: str,
) -> None: ...
def sweep_apart(
    s: System,
    progress: Progress,
    recorder: Recorder,
    most: int,
    impulse: np.ndarray,
    u: np.ndarray,
    omega: float,
    local: np.ndarray,
) -> None: ...
def shared_local(s: System) -> np.ndarray: ...
