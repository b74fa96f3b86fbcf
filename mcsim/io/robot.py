"""What a robot's file says beside bodies and joints: named frames, actuators, sensors, key poses, and what was left out."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import dot
from mcsim.io.frames import BodyFrame
from mcsim.io.sensors import Readings, Sensor
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, listing, reals, suggestion
from mcsim.world import World


@dataclass(frozen=True, eq=False)
class Actuator:
    """A drive of the file, as numbers: the law by which a control becomes a force on joints.

        force = (gain · [1, length, rate]) u + bias · [1, length, rate],   clipped to force_range,

    with length = Σ gear · position and rate = Σ gear · velocity over the joints; each joint feels gear · force.

    name. kind: "motor", "position", "velocity" or "general", by its numbers.
    joints: joint -> gear. It is empty for what acts in a way that is not known here (the file's list of what was left out
        says why): it drives nothing.
    gain (3,), bias (3,). kp, kv: of "position" and "velocity"; 0 of others.
    control_range, force_range: (lower, upper), infinite where the file has none.
    control: the number of its control in the list of all.
    """

    name: str
    kind: str
    joints: dict[str, float]
    gain: np.ndarray
    bias: np.ndarray
    kp: float
    kv: float
    control_range: tuple[float, float]
    force_range: tuple[float, float]
    control: int

    def force(self, u: float, length: float, rate: float) -> float:
        """The force of the law, for a control u within its range."""
        u = min(max(u, self.control_range[0]), self.control_range[1])
        at = np.array([1.0, length, rate])
        found = dot(self.gain, at) * u + dot(self.bias, at)
        return min(max(found, self.force_range[0]), self.force_range[1])


@dataclass(frozen=True, eq=False)
class Key:
    """A pose that the file names: joint_positions, joint -> coordinate [rad or m], of hinges and sliders; control (nu,)."""

    name: str
    joint_positions: dict[str, float]
    control: np.ndarray


@dataclass(frozen=True, eq=False)
class Robot:
    """A file's scene, and what it says beside.

    scene: a Scene like others; to be added to one, or to make a World of.
    tree: names of the joints that make up the file's own tree, without what closes loops. With
        `mc.ReducedWorld(robot.scene, tree=robot.tree)` the coordinates are theirs, in the file's order, also where a weld
        or a ball that closes a loop has fewer freedoms than they.
    frames: name -> BodyFrame. actuators, sensors, keys: by their names, in the order of the file.
    joint_forces: joint -> (lower, upper), between which the file keeps the sum of all actuators' forces on it.
    left_out: what -> names: what of the file has no counterpart here and was not taken.
    """

    scene: Scene
    tree: list[str]
    frames: dict[str, BodyFrame]
    actuators: dict[str, Actuator] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)
    joint_forces: dict[str, tuple[float, float]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def frame(self, name: str) -> BodyFrame:
        """The frame of this name."""
        if name not in self.frames:
            raise SceneError(
                f"there is no frame {name!r}{suggestion(name, self.frames)}; the frames are: {listing(self.frames)}"
            )
        return self.frames[name]

    def forces(self, world: World, control: ArrayLike) -> dict[str, float]:
        """joint -> generalized force [N or N m] by all actuators at the present positions and velocities.

        control: one number for each control of the file, in its order.
        """
        controls = self._controls(control)
        handles = {name: world.joint(name) for actuator in self.actuators.values() for name in actuator.joints}
        state = {name: (float(joint.position), float(joint.velocity)) for name, joint in handles.items()}
        found: dict[str, float] = {}
        for actuator in self.actuators.values():
            if actuator.joints:
                length, rate = (sum(gear * state[name][k] for name, gear in actuator.joints.items()) for k in (0, 1))
                force = actuator.force(float(controls[actuator.control]), length, rate)
                for name, gear in actuator.joints.items():
                    found[name] = found.get(name, 0.0) + gear * force
        return {
            name: min(max(force, self.joint_forces[name][0]), self.joint_forces[name][1])
            if name in self.joint_forces
            else force
            for name, force in found.items()
        }

    def drive(self, world: World, control: ArrayLike) -> None:
        """Let the actuators act: their forces are written into `tau` of the joints, where they last until the next call.
        Call it before each step.
        """
        for name, force in self.forces(world, control).items():
            world.joint(name).tau = force

    def readings(self, world: World) -> Readings:
        """What reads the sensors of a world of this robot."""
        return Readings(world, self.sensors)

    def _controls(self, control: ArrayLike) -> np.ndarray:
        count = 1 + max((actuator.control for actuator in self.actuators.values()), default=-1)
        try:
            controls = reals(control, "control")
        except FieldError as error:
            raise SceneError(f"Robot: {error}") from None
        if controls.shape != (count,) or not np.isfinite(controls).all():
            raise SceneError(f"Robot: control must be {count} finite numbers, one for each actuator, got {controls.shape}")
        return controls

    def __repr__(self) -> str:
        parts = {name: len(getattr(self, name)) for name in ("frames", "actuators", "sensors", "keys")}
        told = [f"{count} {name if count > 1 else name[:-1]}" for name, count in parts.items() if count]
        return f"<Robot {self.scene.name!r}: {', '.join([f'{len(self.scene.bodies)} bodies', *told])}>"


Left = Mapping[str, Sequence[str]]


def told(left_out: Left) -> str:
    """What was left out, on one line."""
    return "; ".join(f"{what}: {listing(names)}" if names else what for what, names in left_out.items())


def anything(value: Any) -> bool:
    """Whether an array of the file, which older versions of its reader do not have, says something."""
    return value is not None and bool(np.any(np.asarray(value)))
