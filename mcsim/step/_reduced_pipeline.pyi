"""What ReducedWorld asks of its compiled pipeline."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from mcsim.collide._collider import Collider
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.system import System
from mcsim.state.arrays import BodyArrays
from mcsim.step._pipeline import Pipeline
from mcsim.step._tree_sync import TreeSync

class ReducedPipeline(Pipeline):
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    qdd: np.ndarray
    body_sync: TreeSync
    system: System
    dynamics: Dynamics

    def __init__(self, bodies: BodyArrays, joints: np.ndarray, collider: Collider, settings: dict[str, Any],
                 bounces: bool, sleep: tuple[float, float], plan: SimpleNamespace) -> None: ...
    def recover(self) -> None: ...
    def trust_records(self) -> None: ...
    def end_steps(self) -> None: ...
    def lead(self) -> None: ...
    def sync(self) -> None: ...
