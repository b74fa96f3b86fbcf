"""Turning a body by an angle, which is how a person places one, and the geometry of planar linkages."""

import math

import numpy as np

from mcsim.core import linear
from mcsim.core.rotation import normalized
from mcsim.core.trig import cos, sin
from mcsim.scene.checks import Vector


def axis_angle(axis: Vector, angle: float) -> np.ndarray:
    """The quaternion (w, x, y, z) of the rotation by `angle` [rad] about `axis`."""
    return np.concatenate([[cos(angle / 2)], sin(angle / 2) * normalized(axis)])


def planar_direction(angle: float) -> np.ndarray:
    """The unit vector at `angle` in the x-z plane."""
    return np.array([cos(angle), 0.0, sin(angle)])


def planar_normal(angle: float) -> np.ndarray:
    """d(planar_direction)/d(angle)."""
    return np.array([-sin(angle), 0.0, cos(angle)])


def meet(p: np.ndarray, q: np.ndarray, from_p: float, from_q: float, side: int) -> np.ndarray:
    """The point of a plane, (2,), at these distances from p and q, left (side 1) or right of who looks from p to q."""
    way = q - p
    distance = linear.length(way)
    along = (from_p * from_p - from_q * from_q + distance * distance) / (2 * distance)
    aside = math.sqrt(from_p * from_p - along * along)
    ahead = way / distance
    return p + along * ahead + side * aside * np.array([-ahead[1], ahead[0]])
