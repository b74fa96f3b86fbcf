"""Turning a body by an angle, which is how a person places one."""

import numpy as np

from mcsim.core.rotation import normalized
from mcsim.core.trig import cos, sin
from mcsim.scene.checks import Vector


def axis_angle(axis: Vector, angle: float) -> np.ndarray:
    """The quaternion (w, x, y, z) of the rotation by `angle` [rad] about `axis`."""
    return np.concatenate([[cos(angle / 2)], sin(angle / 2) * normalized(axis)])
