"""Sensors of a robot's file, read from what a world tells: joints, frames, contacts, velocities about a step."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.core.rotation import compose, conjugate, matrix, relative, rotate
from mcsim.io.frames import BodyFrame
from mcsim.scene.checks import listing, suggestion
from mcsim.world import World

# Kind -> what it reads; those of frames are in the axes named.
KINDS = {
    "jointpos": "coordinate of a hinge or slider [rad or m]",
    "jointvel": "its rate [rad/s or m/s]",
    "framepos": "position (3,) [m], in the world or in the reference frame",
    "framequat": "orientation (4,), likewise",
    "framexaxis": "x axis (3,), likewise",
    "frameyaxis": "y axis (3,), likewise",
    "framezaxis": "z axis (3,), likewise",
    "framelinvel": "velocity (3,) [m/s], likewise",
    "frameangvel": "angular velocity (3,) [rad/s], likewise",
    "velocimeter": "velocity (3,) [m/s], in the frame's own axes",
    "gyro": "angular velocity (3,) [rad/s], in the frame's own axes",
    "accelerometer": "acceleration less gravity (3,) [m/s²], in the frame's own axes, mean over the last step",
    "framelinacc": "the same, world axes",
    "frameangacc": "angular acceleration (3,) [rad/s²], world axes, mean over the last step",
    "force": "what the joint to its parent puts on the frame's body (3,) [N], in the frame's axes",
    "torque": "its torque about the frame's origin (3,) [N m], in the frame's axes",
    "touch": "sum of the normal forces [N] of the body's contact points in the sensor's zone",
}
DIFFERENCES = ("accelerometer", "framelinacc", "frameangacc")


@dataclass(frozen=True, eq=False)
class Sensor:
    """A sensor of a file. kind: a key of mcsim.io.sensors.KINDS, which says what it reads.

    joint: of joint sensors, and of force and torque the joint that holds the body. frame: of all others; reference: the
    frame in whose axes it reads, or None. zone: (type, sizes) of a touch sensor's region about its frame. cutoff: the
    largest size of a reading, infinite if none.
    """

    name: str
    kind: str
    joint: str | None = None
    frame: BodyFrame | None = None
    reference: BodyFrame | None = None
    zone: tuple[str, np.ndarray] | None = None
    cutoff: float = np.inf


class Readings:
    """Reads the sensors of a world: `step(n)` in place of `world.step(n)`, then `read()`, or one by `readings["name"]`.

    Accelerations are the change of velocity over the last step, divided by it, impacts included; before the first step
    they are NaN.
    """

    def __init__(self, world: World, sensors: Mapping[str, Sensor]):
        self.world = world
        self.sensors = dict(sensors)
        self._before: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._taken = -1.0

    def step(self, steps: int = 1) -> None:
        """Make steps of the world."""
        if steps > 1:
            self.world.step(steps - 1)
        if steps > 0:
            self._before = {
                sensor.name: sensor.frame.velocity(self.world)
                for sensor in self.sensors.values()
                if sensor.kind in DIFFERENCES and sensor.frame is not None
            }
            self._taken = self.world.time
            self.world.step(1)

    def read(self) -> dict[str, np.ndarray]:
        """name -> reading, of all sensors now."""
        return {name: self[name] for name in self.sensors}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.sensors:
            raise SceneError(
                f"there is no sensor {name!r}{suggestion(name, self.sensors)}; the sensors are: {listing(self.sensors)}"
            )
        sensor = self.sensors[name]
        found = np.atleast_1d(np.asarray(self._of(sensor), float))
        return np.clip(found, -sensor.cutoff, sensor.cutoff)

    def _of(self, sensor: Sensor) -> np.ndarray | float:
        if sensor.kind in ("jointpos", "jointvel"):
            joint = self.world.joint(str(sensor.joint))
            return joint.position if sensor.kind == "jointpos" else joint.velocity
        assert sensor.frame is not None
        if sensor.kind == "touch":
            return self._touch(sensor, sensor.frame)
        if sensor.kind in ("force", "torque"):
            return self._wrench(sensor, sensor.frame)
        if sensor.kind in DIFFERENCES:
            return self._acceleration(sensor, sensor.frame)
        return self._frame(sensor, sensor.frame)

    def _frame(self, sensor: Sensor, frame: BodyFrame) -> np.ndarray:
        """Poses and velocities, seen from the reference frame if there is one, from the frame itself where the kind says
        so. Velocities are relative to the reference's, as seen by who turns with it."""
        pose, (v, w) = frame.pose(self.world), frame.velocity(self.world)
        if sensor.kind in ("velocimeter", "gyro"):
            return rotate(conjugate(pose[1]), v if sensor.kind == "velocimeter" else w)
        if sensor.reference is not None:
            seen, (v0, w0) = sensor.reference.pose(self.world), sensor.reference.velocity(self.world)
            back = conjugate(seen[1])
            v, w = rotate(back, v - v0 - np.cross(w0, pose[0] - seen[0])), rotate(back, w - w0)
            pose = relative(seen, pose)
        if sensor.kind == "framepos":
            return pose[0]
        if sensor.kind == "framequat":
            return pose[1]
        if sensor.kind in ("framelinvel", "frameangvel"):
            return v if sensor.kind == "framelinvel" else w
        return matrix(pose[1])[:, "xyz".index(sensor.kind[5])]

    def _acceleration(self, sensor: Sensor, frame: BodyFrame) -> np.ndarray:
        if sensor.name not in self._before or self.world.time <= self._taken:
            return np.full(3, np.nan)
        (v0, w0), (v, w) = self._before[sensor.name], frame.velocity(self.world)
        elapsed = self.world.time - self._taken
        if sensor.kind == "frameangacc":
            return (w - w0) / elapsed
        felt = (v - v0) / elapsed - self.world.scene.gravity
        return felt if sensor.kind == "framelinacc" else rotate(conjugate(frame.pose(self.world)[1]), felt)

    def _wrench(self, sensor: Sensor, frame: BodyFrame) -> np.ndarray:
        joint = self.world.joint(str(sensor.joint))
        described = self.world.scene.joint(str(sensor.joint))
        place, turn = frame.pose(self.world)
        force, torque = joint.force, joint.torque
        if sensor.kind == "torque":
            point = compose(self.world.body(str(described.b)).frame, described.frame_b)[0]
            return rotate(conjugate(turn), torque + np.cross(point - place, force))
        return rotate(conjugate(turn), force)

    def _touch(self, sensor: Sensor, frame: BodyFrame) -> float:
        if frame.body is None or sensor.zone is None:
            return 0.0
        number = self.world.body(frame.body).index
        points = self.world.contacts
        points = points[(points["body_a"] == number) | (points["body_b"] == number)]
        place, turn = frame.pose(self.world)
        local = product(points["position"] - place, matrix(turn))
        return float(points["normal_impulse"][_within(local, *sensor.zone)].sum() / self.world.dt)


def _within(points: np.ndarray, kind: str, size: np.ndarray) -> np.ndarray:
    """(n,) bool: which points (n, 3) lie in a solid about the origin, with z its axis; size as of MuJoCo's sites."""
    if kind == "box":
        return (np.abs(points) <= size).all(axis=1)
    if kind == "ellipsoid":
        return _squares(points / size) <= 1.0
    across = _squares(points[:, :2])
    if kind == "cylinder":
        return (across <= size[0] * size[0]) & (np.abs(points[:, 2]) <= size[1])
    along = np.maximum(np.abs(points[:, 2]) - (size[1] if kind == "capsule" else 0.0), 0.0)
    return across + along * along <= size[0] * size[0]


def _squares(points: np.ndarray) -> np.ndarray:
    """(n,) squared lengths."""
    return (points * points).sum(axis=1)
