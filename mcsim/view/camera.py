"""A perspective camera that frames what it is given."""

from dataclasses import dataclass

import numpy as np

from mcsim.core.rotation import normalized

FIELD_OF_VIEW = 0.6  # [rad], of the picture's height
MARGIN = 0.86  # the part of the picture that the scene may fill


@dataclass(frozen=True)
class Camera:
    """eye (3,) [m]; axes (3, 3), rows right, up, back; scale: pixels per unit slope; size: (width, height) in
    pixels."""

    eye: np.ndarray
    axes: np.ndarray
    scale: float
    size: tuple

    def project(self, points):
        """Pixels (…, 2), origin at the lower left, and depth (…,) [m] of points (…, 3); in front where depth > 0."""
        local = (points - self.eye) @ self.axes.T
        depth = -local[..., 2]
        slope = local[..., :2] / np.where(np.abs(depth) < 1e-9, 1e-9, depth)[..., None]
        return slope * self.scale + np.array(self.size) / 2, depth


def frame(points, size):
    """The camera that sees all points (n, 3) from the front, a little from the side and from above."""
    width, depth, height = np.maximum(np.ptp(points, axis=0), 1e-6)
    flatness = 1.0 - min(1.0, 2.0 * height / np.hypot(width, depth))
    # Flat scenes are seen from higher up; deep ones more from the corner.
    back = normalized(np.array([0.25 + 0.45 * min(1.0, depth / width), -1.0, 0.40 + 0.30 * flatness]))
    right = normalized(np.cross((0.0, 0.0, 1.0), back))
    axes = np.stack([right, np.cross(back, right), back])

    scale = size[1] / 2 / np.tan(FIELD_OF_VIEW / 2)
    slopes = MARGIN * np.array(size) / 2 / scale  # of the picture's edges
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    for turn in range(4):
        local = (points - target) @ axes.T
        distance = max((np.abs(local[:, :2]) / slopes + local[:, 2:]).max(), 1e-3)
        if turn < 3:  # centre what is seen from there, and again
            seen = local[:, :2] / (distance * 1.001 - local[:, 2:])
            target = target + (seen.max(axis=0) + seen.min(axis=0)) / 2 * distance @ axes[:2]
    return Camera(target + distance * back, axes, scale, tuple(size))
