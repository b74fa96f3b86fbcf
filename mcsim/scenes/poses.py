"""Turning a body by an angle, which is how a person places one."""

from typing import Any

import numpy as np

from mcsim.core.rotation import normalized
from mcsim.core.trig import cos, sin


def axis_angle(axis: Any, angle: float) -> Any:
    """The quaternion (w, x, y, z) of the rotation by `angle` [rad] about `axis`."""
    return np.concatenate([[cos(angle / 2)], sin(angle / 2) * normalized(axis)])
