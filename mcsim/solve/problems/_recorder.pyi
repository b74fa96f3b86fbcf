"""The record of a kernel's iterations."""

import numpy as np

from mcsim.solve.problems._system import System
from mcsim.solve.problems.solution import Progress

class Recorder:
    def __init__(self, system: System, model: int) -> None: ...
    def begin(self, progress: Progress, most: int) -> None: ...
    def end(self, progress: Progress, last: np.ndarray) -> None: ...
