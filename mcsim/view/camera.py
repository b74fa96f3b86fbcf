"""Where pictures are taken from: cameras in perspective, and orthographic ones, which keep lengths and parallel lines."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, tan
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import normalized
from mcsim.scene.checks import FieldError, choose, show, vector

FIELD_OF_VIEW = 0.6  # [rad], of the picture's height
MARGIN = 0.86  # the part of the picture that the scene may fill
LEAST = 0.6  # of its height, where captions take some
NEAR = 1e-4  # of the way to what is seen: what is nearer to the eye is not drawn
PROJECTIONS = ("perspective", "orthographic")
# Name of a direction -> where the eye is, seen from the scene.
DIRECTIONS = {"front": (0.0, -1.0, 0.0), "back": (0.0, 1.0, 0.0), "side": (1.0, 0.0, 0.0), "top": (0.0, 0.0, 1.0)}
NAMES = (*PROJECTIONS, *DIRECTIONS)


@dataclass(frozen=True)
class Camera:
    """Where a picture or a film is taken from. What is left out is chosen so that all that moves is seen.

    direction: from what is seen towards the eye, (3,) or "front", "back", "side", "top"; by default from the front, a
    little from the side and from above. projection: "perspective", or "orthographic", where equal lengths are equal in the
    picture. eye (3,) [m]: in place of a direction. target (3,) [m]: what is in the middle of the picture. height [m]: what
    the picture's height shows at the target. up (3,): upwards in the picture.
    """

    direction: str | Sequence[float] | np.ndarray | None = None
    projection: str = "perspective"
    eye: Sequence[float] | np.ndarray | None = None
    target: Sequence[float] | np.ndarray | None = None
    height: float | None = None
    up: Sequence[float] | np.ndarray = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        try:
            choose(self.projection, PROJECTIONS, "projection")
            if isinstance(self.direction, str):
                choose(self.direction, DIRECTIONS, "direction")
            for name in ("direction", "eye", "target", "up"):
                value = getattr(self, name)
                if value is not None and not isinstance(value, str):
                    object.__setattr__(self, name, vector(value, name))
        except FieldError as error:
            raise SceneError(f"camera: {error}") from None
        if self.direction is not None and self.eye is not None:
            raise SceneError("camera: give either an eye or a direction, the other one follows")
        for name in ("direction", "up"):
            if not isinstance(getattr(self, name), str | None) and not np.any(getattr(self, name)):
                raise SceneError(f"camera: {name} must not be zero")
        if self.height is not None and not (isinstance(self.height, int | float) and 0.0 < self.height < inf):
            raise SceneError(f"camera: height must be a positive number of metres, got {show(self.height)}")


def camera_of(given: Any) -> Camera:
    """The camera of what the functions that draw take: a Camera, a name, or the direction of an orthographic view."""
    if isinstance(given, Camera):
        return given
    if isinstance(given, str):
        if given in PROJECTIONS:
            return Camera(projection=given)
        if given in DIRECTIONS:
            return Camera(given, "orthographic")
        raise SceneError(f"camera must be a Camera, a direction (3,) or one of: {', '.join(NAMES)}; got {show(given)}")
    return Camera(given, "orthographic")


@dataclass(frozen=True)
class Projection:
    """eye (3,) [m]; axes (3, 3), rows right, up, back; scale: pixels per unit slope, or, orthographic, per metre; size:
    (width, height) in pixels; distance [m] from the eye to what is seen."""

    eye: np.ndarray
    axes: np.ndarray
    scale: float
    size: tuple[int, int]
    distance: float
    orthographic: bool = False

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pixels (…, 2), origin at the lower left, and depth (…,) [m] of points (…, 3); in front where depth > 0."""
        local = (points - self.eye) @ self.axes.T
        depth = -local[..., 2]
        if self.orthographic:
            return local[..., :2] * self.scale + np.array(self.size) / 2, depth
        slope = local[..., :2] / np.where(np.abs(depth) < 1e-9 * self.distance, 1e-9 * self.distance, depth)[..., None]
        return slope * self.scale + np.array(self.size) / 2, depth

    @property
    def near(self) -> float:
        """What is less deep is not drawn [m]."""
        return -inf if self.orthographic else NEAR * self.distance

    @property
    def nowhere(self) -> float:
        """Nearness of what is infinitely far away."""
        return -inf if self.orthographic else 0.0

    def nearness(self, depth: np.ndarray) -> np.ndarray:
        """What a depth buffer compares, of depths [m]: larger is nearer, and planes in space are planes in the picture."""
        return -depth if self.orthographic else 1.0 / np.maximum(depth, self.near)

    def seer(self) -> np.ndarray:
        """The eye in homogeneous coordinates (4,): the point where rays end, or, orthographic, their direction."""
        return np.append(self.axes[2], 0.0) if self.orthographic else np.append(self.eye, 1.0)

    def rays_to(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the rays that end in points (k, 3) begin (k, 3), and their ways (k, 3)."""
        if self.orthographic:
            starts = points + 2.0 * self.distance * self.axes[2]
        else:
            starts = np.broadcast_to(self.eye, points.shape)
        return starts, points - starts

    def pixels_per_metre(self) -> float:
        """At what is in the middle."""
        return self.scale if self.orthographic else self.scale / self.distance


def frame(points: np.ndarray, size: tuple[int, int], camera: Camera | None = None, caption: int = 0) -> Projection:
    """The camera's projection that sees all points (n, 3), as far as the camera leaves that open. caption: pixels above and
    below where there should be nothing, if that leaves enough."""
    camera = camera or Camera()
    room = np.array([MARGIN * size[0], max(min(MARGIN * size[1], size[1] - 2 * caption), LEAST * size[1])])
    target = None if camera.target is None else np.asarray(camera.target)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2 if target is None else target
    back = _back(camera, points, middle)
    up = np.asarray(camera.up, float)
    right = np.cross(up, back)
    if np.linalg.norm(right) < 1e-6 * np.linalg.norm(up):  # from above: what is behind is up
        right = np.cross((0.0, 1.0, 0.0) if abs(back[1]) < 0.9 else (1.0, 0.0, 0.0), back)
    right = normalized(right)
    axes = np.stack([right, np.cross(back, right), back])
    fit = _fit_parallel if camera.projection == "orthographic" else _fit_perspective
    found = fit(points, axes, size, room, middle, camera)
    if camera.eye is None:
        return found
    eye = np.asarray(camera.eye)
    return replace(found, eye=eye, distance=max(float(np.linalg.norm(eye - middle)), 1e-300))


def _back(camera: Camera, points: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Unit vector from what is seen towards the eye."""
    if camera.eye is not None:
        way = np.asarray(camera.eye) - middle
        if not np.any(way):
            raise SceneError("camera: eye must not be where the target is")
        return normalized(way)
    if camera.direction is not None:
        known = DIRECTIONS[camera.direction] if isinstance(camera.direction, str) else camera.direction
        return normalized(np.asarray(known, float))
    width, depth, height = np.maximum(np.ptp(points, axis=0), 1e-6)
    flatness = 1.0 - min(1.0, 2.0 * height / np.hypot(width, depth))
    # Flat scenes are seen from higher up; deep ones more from the corner.
    return normalized(np.array([0.25 + 0.45 * min(1.0, depth / width), -1.0, 0.40 + 0.30 * flatness]))


def _fit_parallel(
    points: np.ndarray, axes: np.ndarray, size: tuple[int, int], room: np.ndarray, middle: np.ndarray, camera: Camera
) -> Projection:
    local = (points - middle) @ axes.T
    if camera.target is None and camera.eye is None:
        shift = np.append((local[:, :2].min(axis=0) + local[:, :2].max(axis=0)) / 2, 0.0)
        middle, local = middle + shift @ axes, local - shift
    scale = (
        size[1] / camera.height if camera.height else (room / 2 / np.maximum(np.abs(local[:, :2]).max(axis=0), 1e-9)).min()
    )
    distance = 2.0 * max(float(np.linalg.norm(local, axis=1).max()), size[1] / scale)
    return Projection(middle + distance * axes[2], axes, float(scale), (size[0], size[1]), distance, True)


def _fit_perspective(
    points: np.ndarray, axes: np.ndarray, size: tuple[int, int], room: np.ndarray, target: np.ndarray, camera: Camera
) -> Projection:
    scale = size[1] / 2 / tan(FIELD_OF_VIEW / 2)
    slopes = room / 2 / scale  # of the edges of what may be filled
    if camera.height:
        distance = camera.height / 2 / tan(FIELD_OF_VIEW / 2)
    right, up, back = axes @ points.T
    middle = axes @ target
    for turn in range(4 if not camera.height else 0):
        aside = np.maximum(np.abs(right - middle[0]) / slopes[0], np.abs(up - middle[1]) / slopes[1])
        distance = max(float((aside + back).max() - middle[2]), 1e-3)
        if turn < 3 and camera.target is None:  # centre what is seen from there, and again
            depth = distance * 1.001 + middle[2] - back
            for k, place in enumerate((right, up)):
                slope = (place - middle[k]) / depth
                middle[k] += (slope.max() + slope.min()) / 2 * distance
    return Projection(middle @ axes + distance * axes[2], axes, scale, (size[0], size[1]), float(distance))
