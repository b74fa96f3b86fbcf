"""The ground of a picture: its grid, seen from its side a line with strokes below, and where shadows fall."""

from __future__ import annotations  # signatures read as they are written here

import math

import numpy as np

from mcsim.core.rotation import matrices, normalized
from mcsim.scene import Scene
from mcsim.view.camera import Projection

LIGHT = normalized(np.array([-0.45, -0.55, 1.0]))  # towards the light
FLAT = 0.02  # sine of the angle under which the ground is seen as a line
STROKE, GAP = 7.0, 11.0  # pixels: length of the strokes below that line, and from one to the next


class Ground:
    """The plane normal . x = offset."""

    def __init__(self, normal: np.ndarray, offset: float) -> None:
        self.normal, self.offset = normal, offset

    def height(self, points: np.ndarray) -> np.ndarray:
        """Of points (…, 3) above it [m]."""
        return points @ self.normal - self.offset

    def below(self, points: np.ndarray) -> np.ndarray:
        """Where the light through points (…, 3) meets the ground."""
        return points - (self.height(points) / (LIGHT @ self.normal))[..., None] * LIGHT

    def shadow_map(self) -> tuple[np.ndarray, np.ndarray]:
        """below() as matrix (3, 3) and shift (3,)."""
        way = LIGHT / (LIGHT @ self.normal)
        return np.eye(3) - np.outer(way, self.normal), self.offset * way

    def is_flat(self, camera: Projection) -> bool:
        """Whether the camera sees it from its side."""
        return camera.orthographic and abs(camera.axes[2] @ self.normal) < FLAT

    def is_seen(self, camera: Projection) -> bool:
        """Whether it is seen from above."""
        if camera.orthographic:
            return bool(camera.axes[2] @ self.normal >= FLAT)
        return bool(self.height(camera.eye) > 0.0)

    def edge(self, camera: Projection) -> np.ndarray:
        """Segments (k, 2, 2) in pixels of the ground seen from its side: a line, and strokes below it."""
        width, height = camera.size
        (x, y), _ = camera.project(self.offset * self.normal)
        up = normalized(camera.axes[:2] @ self.normal)
        right = np.array([up[1], -up[0]])
        middle = np.array([x, y])
        middle = middle + ((np.array([width, height]) / 2 - middle) @ right) * right
        reach = math.hypot(width, height)
        marks = middle + np.arange(-reach, reach, GAP)[:, None] * right
        strokes = np.stack([marks, marks - STROKE * (up + right)], axis=1)
        return np.concatenate([[[middle - reach * right, middle + reach * right]], strokes])

    def grid(self, camera: Projection) -> tuple[np.ndarray, np.ndarray]:
        """Segments (k, 2, 2) in pixels of lines around the middle of the picture that fade with distance, and how much is
        left of each (k,)."""
        normal, eye, back = self.normal, camera.eye, camera.axes[2]
        least = 1e-6 if camera.orthographic else 0.12
        distance = min(self.height(eye) / max(back @ normal, least), 1e6)
        middle = eye - distance * back
        middle = middle - self.height(middle) * normal
        radius = 0.75 * math.hypot(*camera.size) / camera.scale if camera.orthographic else 0.9 * distance
        step = 10.0 ** math.floor(math.log10(radius / 4))
        step *= max(m for m in (1, 2, 5) if m * step <= radius / 4) if radius / 4 >= step else 1
        u = normalized(np.cross((0.0, 1.0, 0.0), normal)) if abs(normal[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        v = np.cross(normal, u)
        center = np.round(np.array([middle @ u, middle @ v]) / step) * step
        marks = np.arange(-math.floor(radius / step), math.floor(radius / step) + 1) * step
        pieces = np.linspace(-radius, radius, 61)
        a, b = np.meshgrid(marks, pieces, indexing="ij")
        lines = np.concatenate(
            [np.stack([center[0] + a, center[1] + b], axis=2), np.stack([center[0] + b, center[1] + a], axis=2)]
        )
        points = lines[..., :1] * u + lines[..., 1:] * v + self.offset * normal
        pixels, depth = camera.project(points)
        segments = np.stack([pixels[:, :-1], pixels[:, 1:]], axis=2).reshape(-1, 2, 2)
        from_middle = np.linalg.norm((points[:, 1:] + points[:, :-1]) / 2 - middle, axis=2).ravel() / radius
        shown = (np.minimum(depth[:, 1:], depth[:, :-1]).ravel() > camera.near) & (from_middle < 1.0)
        return segments[shown], np.maximum(1.0 - from_middle[shown], 0.0) ** 1.5


def ground_of(scene: Scene, drawn: np.ndarray) -> Ground | None:
    """The static plane that faces up most, of the bodies (n,) that are drawn, or None."""
    best: Ground | None = None
    for body in (body for body in scene.bodies if drawn[body.index]):
        turn = matrices(np.asarray(body.orientation)[None])[0]
        for shape in body.shapes:
            if shape.type != "plane":
                continue
            normal = turn @ matrices(np.asarray(shape.orientation)[None])[0][:, 2]
            offset = float(normal @ (turn @ shape.position + body.position))
            if normal[2] > 0.05 and (best is None or normal[2] > best.normal[2]):
                best = Ground(normal, offset)
    return best
