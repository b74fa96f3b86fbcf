"""Turning a body by an angle, which is how a person places one."""

import math

import numpy as np

from mcsim.core.rotation import normalized


def axis_angle(axis, angle):
    """The quaternion (w, x, y, z) of the rotation by `angle` [rad] about `axis`."""
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * normalized(axis)])
