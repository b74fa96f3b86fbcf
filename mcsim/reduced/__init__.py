"""The reduced path: system models, joint models, and the algorithms over them in generalized coordinates."""

from mcsim.reduced.system import Link, Loop, System
from mcsim.reduced.tables import dh_scene
from mcsim.reduced.user_joint import JointModel

__all__ = ["JointModel", "Link", "Loop", "System", "dh_scene"]
