"""What drives a joint, as its handle has it: the forces along its coordinates, and its motor."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene.checks import FieldError, Vector, not_negative, number, show, vector
from mcsim.scene.drives import Motor
from mcsim.scene.joints import TYPES, Joint
from mcsim.scene.joints._arguments import single, three_of
from mcsim.state.arrays import fill_motor
from mcsim.world.handle import Handle

if TYPE_CHECKING:
    from mcsim.world.protocols import There

MOTOR_NONE, MOTOR_VELOCITY, MOTOR_POSITION, MOTOR_PD = 0, 1, 2, 3
AXIS_MOTOR = 2  # state/_joint.pxd
KEPT = "kept"  # in the place of a motor: the one that there is


class DrivenJoint(Handle[Joint]):
    """The motor of a joint: what it aims at and gives."""

    __slots__ = ()

    _NOUN, _PLURAL = "joint", "joints"

    @staticmethod
    def _among(there: There) -> tuple[dict[str, int], list[Joint], str]:
        """-> name -> number, parts, what they are called."""
        return there.joint_index, there.scene.joints, "joint"

    @property
    def _record(self) -> np.void:
        """Its record: a view, for whoever has the world's turn."""
        return self._world._joints[self.index]

    @property
    def type(self) -> str:
        """One of state.fields.JOINT_TYPES: "ball", "hinge", "slider", …"""
        return self._described().type

    @property
    def tau(self) -> float | np.ndarray:
        """The forces along the free coordinates [N or N m] that are given to the joint, a number or an array for several
        axes; on body b, and the opposite on a, in every step until they are set anew. Each goes with the joint's velocity
        in qd (World.index): a way's is a force along it, an angle's a torque about it, those of what turns freely are
        torques about x, y, z of b's joint axes. May be set; `world.tau` has those of all joints of the tree.

        `torque` and `force` are something else: what the joint carries.
        """
        with self._look("tau"):
            values = self._world._forces_of(self.index)
            return float(values[0]) if len(values) == 1 else values.copy()

    @tau.setter
    def tau(self, value: float | Vector) -> None:
        with self._telling("tau"):
            slot = self._world._forces_of(self.index)
            try:
                one = len(slot) == 1 and np.ndim(value) == 0
                slot[...] = number(value, "tau") if one else vector(value, "tau", len(slot))
            except FieldError as error:
                raise SceneError(f"joint {self.name!r}: {error}") from None

    @property
    def motor_force(self) -> float | np.ndarray:
        """What the motor or the prescribed motion of each axis gave in the last substep [N or N m]: a number, or an
        array for several axes."""
        with self._look("motor_force"):
            record = self._record
            values = record["axes"]["impulse"][: record["axis_count"], AXIS_MOTOR] / self._world.substep
        return float(values[0]) if len(values) == 1 else values

    def _of_motors(self, field: str, *modes: int) -> float | np.ndarray:
        """A field of the motors of all axes, or of those of some modes, NaN of others."""
        with self._look(field):
            record = self._record
            axes = record["axes"][: record["axis_count"]]
            mode = axes["motor_mode"]
            if not mode.any():
                raise SceneError(f"joint {self.name!r}: has no motor; give it motor=Motor(...) in the scene")
            values = np.where(np.isin(mode, modes) if modes else mode != MOTOR_NONE, axes[field], np.nan)
        return float(values[0]) if len(values) == 1 else values

    @property
    def motor_velocity(self) -> float | np.ndarray:
        """What a motor for a velocity, or a PD motor, aims at [rad/s or m/s], of each axis of a joint with several; NaN of
        an axis whose motor aims at a position alone, or that has none. May be set, as by set_motor(velocity=...)."""
        return self._of_motors("motor_velocity", MOTOR_VELOCITY, MOTOR_PD)

    @motor_velocity.setter
    def motor_velocity(self, value: float | Vector) -> None:
        self._set_one("motor_velocity", velocity=value)

    @property
    def motor_position(self) -> float | np.ndarray:
        """What a motor for a position, or a PD motor, aims at [rad or m], likewise. May be set, as by
        set_motor(position=...)."""
        return self._of_motors("motor_position", MOTOR_POSITION, MOTOR_PD)

    @motor_position.setter
    def motor_position(self, value: float | Vector) -> None:
        self._set_one("motor_position", position=value)

    @property
    def motor_max_force(self) -> float | np.ndarray:
        """The bound of the motor's force [N or N m], of each axis; infinite if there is none, NaN without a motor. May be
        set, one for all axes, as by set_motor(max_force=...)."""
        return self._of_motors("motor_max_force")

    @motor_max_force.setter
    def motor_max_force(self, value: float) -> None:
        self._set_one("motor_max_force", max_force=value)

    @property
    def motor_max_velocity(self) -> float | np.ndarray:
        """The largest speed that a motor for a position asks for [rad/s or m/s], of each axis; infinite if there is none,
        NaN without such a motor. May be set, one for all axes, as by set_motor(max_velocity=...)."""
        return self._of_motors("motor_max_velocity", MOTOR_POSITION)

    @motor_max_velocity.setter
    def motor_max_velocity(self, value: float) -> None:
        self._set_one("motor_max_velocity", max_velocity=value)

    @property
    def motor_kp(self) -> float | np.ndarray:
        """The stiffness of a PD motor [N m/rad or N/m], of each axis; NaN without one. set_motor(kp=...) changes it."""
        return self._of_motors("motor_kp", MOTOR_PD)

    @property
    def motor_kd(self) -> float | np.ndarray:
        """The damping of a PD motor [N m s/rad or N s/m], likewise."""
        return self._of_motors("motor_kd", MOTOR_PD)

    def _set_one(self, field: str, **aim: Any) -> None:
        ((name, value),) = aim.items()
        if value is None:
            raise SceneError(f"{self._of_it(field)}: must be a number, or one for each axis, got None")
        self.set_motor(**{name: value})

    def set_motor(
        self,
        motor: Motor | Sequence[Motor | None] | str | None = KEPT,
        *,
        velocity: float | Vector | None = None,
        position: float | Vector | None = None,
        max_force: float | None = None,
        kp: float | None = None,
        kd: float | None = None,
        max_velocity: float | None = None,
        axis: int | None = None,
    ) -> None:
        """Change what the joint's motor aims at, or give it another one, from the next step on.

        motor: a Motor, or None for none, of any joint that may have one in a scene, whether it has one or not; of a joint
            with several coordinates a list, or one with `axis`. Without it the motor that there is aims at
        velocity [rad/s or m/s] or position [rad or m], of a PD motor at both: a number, or one for each axis of a joint
            with several; what is not given stays. max_force [N or N m]: its bound.
        kp [N m/rad or N/m], kd [N m s/rad or N s/m]: they make a PD motor of it, or change those of one.
        max_velocity [rad/s or m/s]: the largest speed that a motor for a position asks for.
        axis: only this axis.

            joint.set_motor(mc.Motor(position=0.3, kp=200.0, kd=5.0))
            joint.set_motor(position=0.4, velocity=1.0)
        """
        aims = {"velocity": velocity, "position": position, "max_force": max_force, "kp": kp, "kd": kd}
        aims["max_velocity"] = max_velocity
        given = {name: value for name, value in aims.items() if value is not None}
        with self._telling("set_motor"):
            try:
                if isinstance(motor, str) and motor == KEPT:
                    self._aim_motor(given, self._driven_axes(axis))
                elif given:
                    raise FieldError(next(iter(given)), "is given beside another motor; tell it in that")
                else:
                    self._mount_motor(motor, axis)
            except FieldError as error:
                raise SceneError(f"joint {self.name!r}: {error}") from None
            self._wake()

    def _driven_axes(self, axis: int | None) -> list[int]:
        """Numbers of the axes that have motors and are asked for."""
        record = self._record
        if record["axis_count"] == 0:
            raise FieldError("", f"is a {self.type} joint, which has no coordinate that a motor could drive")
        axes = list(range(record["axis_count"])) if axis is None else [axis]
        for i in axes:
            if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < record["axis_count"]:
                raise FieldError("axis", f"must be from 0 to {record['axis_count'] - 1}, got {i!r}")
            if record["axes"]["motor_mode"][i] == MOTOR_NONE:
                raise FieldError("", "has no motor; give it motor=Motor(...) in the scene, or set_motor(Motor(...))")
        return axes

    def _aim_motor(self, given: dict[str, Any], axes: list[int]) -> None:
        """Change the motors of these axes."""
        slots = self._record["axes"]
        gains: dict[str, Any] = {name: not_negative(given[name], name) for name in ("kp", "kd") if name in given}
        to_pd = [bool(gains) or slots["motor_mode"][i] == MOTOR_PD for i in axes]
        if "velocity" in given and "position" in given and not all(to_pd):
            raise FieldError(
                "velocity", "and position are both given; a motor aims at one of them, unless it has kp and kd"
            )
        written = dict(gains)
        for name in ("velocity", "position"):
            if name in given:
                target = given[name]
                one = len(axes) == 1 and np.ndim(target) == 0
                written[name] = (number(target, name),) if one else vector(target, name, len(axes))
        if "max_force" in given:
            written["max_force"] = not_negative(given["max_force"], "max_force", infinite=True)
        if "max_velocity" in given:
            written["max_velocity"] = not_negative(given["max_velocity"], "max_velocity", infinite=True)
            to_position = [slots["motor_mode"][i] == MOTOR_POSITION and "velocity" not in given for i in axes]
            if any(to_pd) or not ("position" in given or all(to_position)):
                raise FieldError("max_velocity", "is of a motor for a position alone; leave it out")
        for k, i in enumerate(axes):
            slot = slots[i : i + 1]
            if to_pd[k]:
                if slot["motor_mode"] == MOTOR_VELOCITY:
                    slot["motor_position"] = 0.0
                elif slot["motor_mode"] == MOTOR_POSITION:
                    slot["motor_velocity"] = 0.0
                slot["motor_mode"], slot["motor_max_velocity"] = MOTOR_PD, np.inf
            elif "velocity" in given or "position" in given:
                slot["motor_mode"] = MOTOR_VELOCITY if "velocity" in given else MOTOR_POSITION
                if "velocity" in given:
                    slot["motor_max_velocity"] = np.inf
            for name, value in written.items():
                slot[f"motor_{name}"] = value[k] if isinstance(value, tuple) else value

    def _mount_motor(self, motor: Any, axis: int | None) -> None:
        """Other motors, or none."""
        slots, count = self._record["axes"], int(self._record["axis_count"])
        turns = [i for i, kind in enumerate(TYPES[self.type].coordinates) if kind == "turn"]
        if axis is None and count > 1 and turns == [0, 1, 2]:
            motors = dict(enumerate(three_of(motor, Motor, "motor")))
            self._one_axis(0, "motors")
        elif axis is None and isinstance(motor, (list, tuple)):
            if len(motor) != count:
                raise FieldError("motor", f"must be {count} of Motor or None, got {show(motor)}")
            motors = {i: single(one, Motor, f"motor[{i}]") for i, one in enumerate(motor)}
        else:
            motors = {self._one_axis(axis, "motors"): single(motor, Motor, "motor")}
        for i, one in motors.items():
            if one is not None:
                self._one_axis(i, "motors")
            if one is not None and slots["motion_mode"][i]:
                raise FieldError("motor", "is for a coordinate that has a prescribed motion; one or the other drives it")
        had = slots["motor_mode"] != MOTOR_NONE
        for i, one in motors.items():
            fill_motor(slots[i : i + 1], one)
        if np.any(had != (slots["motor_mode"] != MOTOR_NONE)):
            self._world._pipeline.parts.replan()

    def _wake(self) -> None:
        """What sleeps is not to miss a change of the joint."""
        for body in (self._record["body_a"], self._record["body_b"]):
            if body >= 0:
                self._world._wake(int(body))

    def _one_axis(self, axis: int | None, what: str) -> int:
        """The number of the coordinate that `axis` names, of a joint that may have `what` there."""
        count = int(self._record["axis_count"])
        if count == 0:
            raise FieldError("", f"is a {self.type} joint, which has no coordinate")
        if self.type == "distance" and np.isfinite(self._record["constant"]):
            raise FieldError("", f"is a rod, whose length is fixed; {what} take a rope or a spring")
        if axis is None and count > 1:
            raise FieldError("axis", f"is missing: give 0 to {count - 1}")
        axis = 0 if axis is None else axis
        if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)) or not 0 <= axis < count:
            raise FieldError("axis", f"must be from 0 to {count - 1}, got {axis!r}")
        if not TYPES[self.type]._takes(what, int(axis)):
            raise FieldError("axis", f"{axis} of a {self.type} joint takes no {what}")
        return axis
