"""What ReducedWorld asks of the velocities of its trees."""

import numpy as np

from mcsim.reduced._side_by_side import SideBySide
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.system import System
from mcsim.step._tree_sync import TreeSync
from mcsim.step._velocity_space import VelocitySpace

class TreeSpace(VelocitySpace):
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    qdd: np.ndarray
    body_sync: TreeSync
    system: System
    dynamics: Dynamics

    def flies_alone(self) -> bool: ...
    def side_by_side(self) -> SideBySide: ...
    def end_steps(self) -> None: ...
    def lead(self) -> None: ...
    def sync(self) -> None: ...
