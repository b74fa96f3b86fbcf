"""Handles to the bodies and joints of a world: small objects that read the world's arrays."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, Vector, flag, interval, not_negative, number, show
from mcsim.scene.drives import Spring
from mcsim.scene.joints import TYPES, Joint
from mcsim.state.arrays import fill_spring
from mcsim.state.fields import AWAKE, DISABLED, JOINT_TYPES
from mcsim.world.driven_joint import DrivenJoint
from mcsim.world.handle import Handle
from mcsim.world.protocols import There

TURN = 2.0 * np.pi


def turns_towards(angle: float, lower: float, upper: float) -> int:
    """How many whole turns bring an angle nearest to [lower, upper]: 0 if it is in there."""
    if lower <= angle <= upper:
        return 0
    if angle > upper:
        turns = np.floor((upper - angle) / TURN)  # the last one that ends at or below the upper limit
        return int(min(turns, turns + 1.0, key=lambda k: (_distance(angle + TURN * k, lower, upper), abs(k))))
    return -turns_towards(-angle, -upper, -lower)


def _distance(angle: float, lower: float, upper: float) -> float:
    return max(lower - angle, angle - upper, 0.0)


class BodySettings(Handle[Body]):
    """What may be set of a body beside its motion."""

    __slots__ = ()

    _NOUN, _PLURAL = "body", "bodies"

    @staticmethod
    def _among(there: There) -> tuple[dict[str, int], list[Body], str]:
        """-> name -> number, parts, what they are called."""
        return there.body_index, there.scene.bodies, "body"

    def _setting(self, field: str) -> Any:
        there = self._world._there
        return getattr(there.bodies, field)[self._number(there)]

    def _set(self, field: str, check: Callable[[Any, str], Any], value: Any) -> None:
        with self._alone(field):
            try:
                value = check(value, field)
            except FieldError as error:
                raise SceneError(f"body {self.name!r}: {error}") from None
            self._world._write_setting(self.index, field, value)
            self._world._wake(self.index)

    @property
    def gravity_scale(self) -> float:
        """Multiplies gravity; may be set."""
        return float(self._setting("gravity_scale"))

    @gravity_scale.setter
    def gravity_scale(self, value: float) -> None:
        self._set("gravity_scale", number, value)

    @property
    def linear_damping(self) -> float:
        """Rate at which the velocity decays [1/s]; may be set."""
        return float(self._setting("linear_damping"))

    @linear_damping.setter
    def linear_damping(self, value: float) -> None:
        self._set("linear_damping", not_negative, value)

    @property
    def angular_damping(self) -> float:
        """Rate at which the angular velocity decays [1/s]; may be set."""
        return float(self._setting("angular_damping"))

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        self._set("angular_damping", not_negative, value)

    @property
    def bullet(self) -> bool:
        """Whether it is kept from passing through moving bodies, too; may be set."""
        return bool(self._setting("bullet"))

    @bullet.setter
    def bullet(self, value: bool) -> None:
        self._set("bullet", flag, value)

    @property
    def user_data(self) -> Any:
        """What was given as add_body(user_data=...), or set here: anything of your own. Copies and pickles of the world
        have it, and world.to_scene(); snapshots do not, and restoring one leaves it as it is. No scene file holds it."""
        return self._world._user_data.get(self._part.original, self._part.user_data)

    @user_data.setter
    def user_data(self, value: Any) -> None:
        self._world._user_data[self._part.original] = value


class BodyHandle(BodySettings):
    """One body of a world. Vectors are views of the world's arrays: they follow it, and may be written, or set whole, which
    is checked."""

    __slots__ = ()

    def _row(self, name: str, part: slice = slice(None)) -> np.ndarray:
        """This body's row of an array of the state."""
        there = self._world._arrays()
        number = self._number(there)
        there.bodies.watch.tell(number)
        return self._world._as_shown(name, getattr(there.bodies, name))[number, part]

    def __repr__(self) -> str:
        if self.removed:
            return f"<Body {self.name!r}, removed from {self._world!r}>"
        return f"<Body {self.index} {self.name!r} of {self._world!r}: {self.kind}, position {self.position}>"

    @property
    def kind(self) -> str:
        """ "static", "kinematic" or "dynamic"; "static" while it is not enabled."""
        return self._described().kind

    @property
    def enabled(self) -> bool:
        """Whether it takes part; may be set. One that does not stands where it is as if it were not there: nothing collides
        with it, rays and sensors do not see it, no force moves it, and its joints, with their motors and springs, hold
        nothing; what slept on it, or by a joint with it, wakes. Enabled again it is what it was, where it stands, but at
        rest, and joints hold what they held: those that are far open by then are closed as fast as errors are.

            world.body("crate").enabled = False
            world.body("crate").enabled = True
        """
        return self._described().enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        with self._alone("enabled"):
            try:
                value = flag(value, "enabled")
            except FieldError as error:
                raise SceneError(f"body {self.name!r}: {error}") from None
            if value != self._described().enabled:
                self._world._set_body(self, {"enabled": value}, "set_body")

    @property
    def position(self) -> np.ndarray:
        """(3,) centre of mass, world [m]; may be set, as by World.set_pose."""
        return self._row("position")

    @position.setter
    def position(self, value: Vector) -> None:
        self._world.set_pose(self, position=self._given("position", value))

    @property
    def orientation(self) -> np.ndarray:
        """(4,) unit quaternion (w, x, y, z), body axes into the world; may be set, as by World.set_pose."""
        return self._row("orientation")

    @orientation.setter
    def orientation(self, value: Vector) -> None:
        self._world.set_pose(self, orientation=self._given("orientation", value))

    @property
    def velocity(self) -> np.ndarray:
        """(3,) of the centre of mass, world axes [m/s]; may be set, as by World.set_velocity."""
        return self._row("twist", slice(3))

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._world.set_velocity(self, velocity=self._given("velocity", value))

    @property
    def angular_velocity(self) -> np.ndarray:
        """(3,) world axes [rad/s]; may be set, as by World.set_velocity."""
        return self._row("twist", slice(3, 6))

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._world.set_velocity(self, angular_velocity=self._given("angular_velocity", value))

    @property
    def asleep(self) -> bool:
        """Whether it sleeps: see World.asleep."""
        there = self._world._there
        return bool(there.bodies.island[self._number(there)] != AWAKE)

    @property
    def mass(self) -> float:
        """[kg]; 0 unless dynamic."""
        return self._described().mass

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3) about the centre of mass, body axes [kg m^2]; 0 unless dynamic."""
        return self._described().inertia

    @property
    def contacts(self) -> np.ndarray:
        """(c,) those of World.contacts that are this body's."""
        found = self._world.contacts
        return found[(found["body_a"] == self.index) | (found["body_b"] == self.index)]

    @property
    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        """(position (3,), orientation (4,)) of the frame in which the user placed the shapes, world."""
        with self._look("frame"):
            positions, orientations = self._world.frames()
            return positions[self.index], orientations[self.index]

    def _given(self, field: str, value: Any) -> Any:
        """What is set whole: not None, which keeps what is where a verb is told so."""
        if value is None:
            raise SceneError(f"{self._of_it(field)}: must be {4 if field == 'orientation' else 3} numbers, got None")
        return value


class JointHandle(DrivenJoint):
    """One joint of a world: what it measures and what it carries."""

    __slots__ = ()

    def __repr__(self) -> str:
        if self.removed:
            return f"<Joint {self.name!r}, removed from {self._world!r}>"
        return f"<Joint {self.index} {self.name!r} of {self._world!r}: {self.type}>"

    @property
    def _kinds(self) -> tuple[str, ...]:
        """What each of its coordinates is (scene/joints/_joint.py)."""
        return TYPES[self.type].coordinates

    def _coordinates(self, field: str) -> float | np.ndarray:
        with self._look(field):
            positions, velocities = self._world._pipeline.space.coordinates(self.index)
        values = positions if field == "position" else velocities
        return values[0] if len(values) == 1 else np.array(values)

    @property
    def position(self) -> float | np.ndarray:
        """The free coordinates now [rad or m]: a number (hinge, screw, rack and pinion: angle; slider: way; distance:
        length), or an array of what the type's class names (help(mc.HingeJoint), ...): ways, angles, which count their
        turns, and of what turns freely the rotation vector of b seen from a; empty of a joint that measures nothing."""
        return self._coordinates("position")

    @property
    def velocity(self) -> float | np.ndarray:
        """Rates of the free coordinates [rad/s or m/s]; of a ball or free joint the angular part is the relative
        angular velocity in a's joint axes."""
        return self._coordinates("velocity")

    @property
    def angle(self) -> float | np.ndarray:
        """The angle about the joint's axis [rad], or the angles of a joint that has several."""
        kinds = self._kinds
        angles = [i for i, kind in enumerate(kinds) if kind in ("angle", "thread")]
        if not angles:
            raise SceneError(f"joint {self.name!r}: a {self.type} joint has no angle; read .position")
        position = self.position
        return position if len(angles) == len(kinds) else float(np.asarray(position)[angles[0]])

    @property
    def force(self) -> np.ndarray:
        """(3,) the force [N] that the joint puts on body b in the last substep, world axes; a gets the opposite."""
        return self._wrench()[:3]

    @property
    def torque(self) -> np.ndarray:
        """(3,) the torque [N m] on body b about the joint point in the last substep, world axes."""
        return self._wrench()[3:]

    def _wrench(self) -> np.ndarray:
        if self._world._keywords["contact"] == "event":
            raise SceneError(
                f"joint {self.name!r}: with contact='event' joints' forces are not kept; world.kkt().solve() "
                "has them where nothing touches"
            )
        with self._look("force"):
            return self._record["wrench_impulse"] / self._world.substep

    @property
    def broken(self) -> bool:
        """Whether the joint has broken by more than its break_force or break_torque; it then holds nothing any more."""
        with self._look("broken"):
            return bool(self._record["broken"] == 1)

    @property
    def enabled(self) -> bool:
        """Whether both of its bodies are; else it holds nothing, as long as one of them is not."""
        with self._look("enabled"):
            return bool(self._record["broken"] != DISABLED)

    @property
    def error(self) -> tuple[float, float]:
        """(position error [m], angle error [rad]) of what the joint forbids."""
        with self._look("error"):
            position, angle = self._world.joint_errors()[self.index].tolist()
            return position, angle

    def set_limits(self, lower: float | None, upper: float | None, axis: int | None = None) -> None:
        """Bound a coordinate from the next step on: lower, upper [rad or m], None for no bound on that side. axis:
        which coordinate; needed for a joint with several. A ball joint's swing and the length of a rod have none.

        A stop that is mounted now does not know of turns before it: an angle that is outside counts its whole turns
        anew, so that it comes as near to the limits as it can, and the target of a position motor and the rest of a
        spring are counted along, so that nothing that acts changes. Not where something else knows the turns: the way
        of a screw or a rack, a gear, a prescribed motion."""
        with self._alone("set_limits"):
            try:
                i = self._one_axis(axis, "limits")
                low, high = interval((lower, upper), "limits") or (-np.inf, np.inf)
                if self.type == "distance":
                    if high <= 0.0:
                        raise FieldError("limits", f"leave no room: a distance is not below zero, got {high!r}")
                    low = low if low > 0.0 else -np.inf
            except FieldError as error:
                raise SceneError(f"joint {self.name!r}: {error}") from None
            if np.isfinite(low) or np.isfinite(high):
                self._world._admit_limits(f"joint {self.name!r}")
            slot = self._record["axes"][i : i + 1]
            slot["lower"], slot["upper"] = low, high
            if self._turns_are_its_own(i):
                self._count_anew(i, slot)
            self._wake()

    def _turns_are_its_own(self, axis: int) -> bool:
        """Whether the coordinate is an angle of whose whole turns nothing else knows."""
        joints = self._world._joints
        gears = joints[
            (joints["type"] == JOINT_TYPES.index("gear"))
            & np.any((joints["geared"] == self.index) & (joints["geared_axis"] == axis), axis=1)
        ]
        return self._kinds[axis] == "angle" and self._record["axes"]["motion_mode"][axis] == 0 and len(gears) == 0

    def _count_anew(self, axis: int, slot: np.ndarray) -> None:
        """Whole turns from the present angle to the one that is nearest to the limits."""
        here = self._world._pipeline.space.coordinates(self.index)[0][axis]
        turns = turns_towards(here, float(slot["lower"][0]), float(slot["upper"][0]))
        if turns == 0:
            return
        slot["position"] = here + TURN * turns
        slot["motor_position"] += TURN * turns
        slot["rest"] += TURN * turns
        self._world._turn_coordinate(self.index, axis, TURN * turns)

    def set_spring(self, spring: Spring | None, axis: int | None = None) -> None:
        """Give a coordinate another Spring from the next step on, or none: None. axis: which coordinate; needed for a
        joint with several."""
        with self._alone("set_spring"):
            try:
                i = self._one_axis(axis, "springs")
                if not isinstance(spring, Spring | None):
                    raise FieldError("spring", f"must be a Spring or None, got {show(spring)}")
                if spring is not None:
                    number(spring.rest, "spring.rest")
            except FieldError as error:
                raise SceneError(f"joint {self.name!r}: {error}") from None
            fill_spring(self._record["axes"][i : i + 1], spring)
            self._wake()


# What calls take for a body or a joint: its handle, its description in a scene, its name, its number.
AnyBody = BodyHandle | Body | str | int
AnyJoint = JointHandle | Joint | str | int
