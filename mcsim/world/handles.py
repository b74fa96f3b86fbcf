"""Handles to the bodies and joints of a world: small objects that read the world's arrays."""

from __future__ import annotations  # signatures read as they are written here

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from mcsim.core.errors import SceneError, StaleHandleError
from mcsim.scene.bodies import Body
from mcsim.scene.calls import explain_methods
from mcsim.scene.checks import FieldError, Vector, flag, interval, not_negative, number, show, suggestion, vector
from mcsim.scene.drives import Spring
from mcsim.scene.joints import TYPES, Joint
from mcsim.state.fields import AWAKE, JOINT_TYPES

if TYPE_CHECKING:
    from mcsim.core._turn import Hold
    from mcsim.world.protocols import HandledWorld, There

P = TypeVar("P", Body, Joint)

MOTOR_NONE, MOTOR_VELOCITY, MOTOR_POSITION = 0, 1, 2
AXIS_MOTOR = 2  # state/_joint.pxd

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


class Handle(Generic[P]):
    """One part of a world, whichever number it has. After it was removed every use but its name raises
    StaleHandleError; restoring a snapshot that has it makes the handle serve again."""

    __slots__ = ("_world", "_part")

    _NOUN: ClassVar[str]
    _PLURAL: ClassVar[str]
    _world: HandledWorld
    _part: P

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        explain_methods(cls)

    def __init__(self, world: HandledWorld, part: P) -> None:
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_part", part)

    def __setattr__(self, name: str, value: Any) -> None:
        """What cannot be set says so, with what can."""
        kind = type(self)
        known = getattr(kind, name, None)
        if name.startswith("_") or getattr(known, "fset", None) is not None:
            return object.__setattr__(self, name, value)
        public = [other for other in dir(kind) if not other.startswith("_")]
        settable = ", ".join(other for other in public if getattr(getattr(kind, other), "fset", None) is not None)
        what = "is read only" if known is not None else "is not there" + suggestion(name, public)
        raise AttributeError(f"{self._of_it(name)} {what}; what may be set: {settable}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Handle):
            return NotImplemented
        return self._world is other._world and self._part.original is other._part.original

    def __hash__(self) -> int:
        return hash((id(self._world), id(self._part.original)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self._world, memo), self._part)  # a world's copies share its parts

    @property
    def name(self) -> str:
        """What it is called, or was."""
        return self._part.name

    @property
    def removed(self) -> bool:
        """Whether it is in the world no longer."""
        try:
            return self.index < 0
        except StaleHandleError:
            return True

    @property
    def index(self) -> int:
        """Its number in the world's arrays."""
        return self._number(self._world._there)

    @staticmethod
    def _among(there: There) -> tuple[dict[str, int], list[P], str]:
        """-> name -> number, parts, what they are called."""
        raise NotImplementedError

    def _number(self, there: There) -> int:
        """Its number among what there is: a There of its world."""
        index, parts, what = self._among(there)
        i = index.get(self._part.name)
        if i is None or parts[i].original is not self._part.original:
            raise StaleHandleError(f"{what} {self._part.name!r} was removed from the world; this handle is no longer valid")
        return i

    def _described(self) -> P:
        """The part as the scene has it now."""
        there = self._world._there
        return self._among(there)[1][self._number(there)]

    def _look(self, what: str) -> Hold:
        """The world's turn, to read something of this part."""
        return self._world._turn.look(self._of_it(what))

    def _alone(self, what: str) -> Hold:
        """The world's turn, to change something of this part."""
        return self._world._turn.alone(self._of_it(what))

    def _of_it(self, what: str) -> str:
        """What a message calls it."""
        return f"{self._NOUN}({self.name!r}).{what}"


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
        return self._world._as_shown(name, getattr(there.bodies, name))[self._number(there), part]

    def __repr__(self) -> str:
        if self.removed:
            return f"<Body {self.name!r}, removed from {self._world!r}>"
        return f"<Body {self.index} {self.name!r} of {self._world!r}: {self.kind}, position {self.position}>"

    @property
    def kind(self) -> str:
        """ "static", "kinematic" or "dynamic"."""
        return self._described().kind

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
    def motor_force(self) -> float | np.ndarray:
        """What the motor or the prescribed motion of each axis gave in the last substep [N or N m]: a number, or an
        array for several axes."""
        with self._look("motor_force"):
            record = self._record
            values = record["axes"]["impulse"][: record["axis_count"], AXIS_MOTOR] / self._world.substep
        return float(values[0]) if len(values) == 1 else values

    def _of_motors(self, field: str, mode: int | None) -> float | np.ndarray:
        """A field of the motors of all axes, or of those of one mode, NaN of others."""
        with self._look(field):
            record = self._record
            axes = record["axes"][: record["axis_count"]]
            modes = axes["motor_mode"]
            if not modes.any():
                raise SceneError(f"joint {self.name!r}: has no motor; give it motor=Motor(...) in the scene")
            values = np.where((modes != MOTOR_NONE) if mode is None else (modes == mode), axes[field], np.nan)
        return float(values[0]) if len(values) == 1 else values

    @property
    def motor_velocity(self) -> float | np.ndarray:
        """What a motor for a velocity aims at [rad/s or m/s], of each axis of a joint with several; NaN of an axis whose
        motor aims at a position, or that has none. May be set, as by set_motor(velocity=...)."""
        return self._of_motors("motor_velocity", MOTOR_VELOCITY)

    @motor_velocity.setter
    def motor_velocity(self, value: float | Vector) -> None:
        self._set_one("motor_velocity", velocity=value)

    @property
    def motor_position(self) -> float | np.ndarray:
        """What a motor for a position aims at [rad or m], likewise. May be set, as by set_motor(position=...)."""
        return self._of_motors("motor_position", MOTOR_POSITION)

    @motor_position.setter
    def motor_position(self, value: float | Vector) -> None:
        self._set_one("motor_position", position=value)

    @property
    def motor_max_force(self) -> float | np.ndarray:
        """The bound of the motor's force [N or N m], of each axis; infinite if there is none, NaN without a motor. May be
        set, one for all axes, as by set_motor(max_force=...)."""
        return self._of_motors("motor_max_force", None)

    @motor_max_force.setter
    def motor_max_force(self, value: float) -> None:
        self._set_one("motor_max_force", max_force=value)

    def _set_one(self, field: str, **aim: Any) -> None:
        ((name, value),) = aim.items()
        if value is None:
            raise SceneError(f"{self._of_it(field)}: must be a number, or one for each axis, got None")
        self.set_motor(**{name: value})

    def set_motor(
        self,
        *,
        velocity: float | Vector | None = None,
        position: float | Vector | None = None,
        max_force: float | None = None,
        axis: int | None = None,
    ) -> None:
        """Change what the joint's motor aims at, from the next step on.

        velocity [rad/s or m/s] or position [rad or m]: a number, or one for each axis of a joint with several;
        max_force [N or N m]: its bound, kept if not given; axis: only this axis. The joint needs a motor in the scene.
        """
        with self._alone("set_motor"):
            try:
                self._set_motor(velocity, position, max_force, axis)
            except FieldError as error:
                raise SceneError(f"joint {self.name!r}: {error}") from None

    def _set_motor(
        self, velocity: float | Vector | None, position: float | Vector | None, max_force: float | None, axis: int | None
    ) -> None:
        record = self._record
        if record["axis_count"] == 0:
            raise FieldError("", f"is a {self.type} joint, which has no coordinate that a motor could drive")
        axes = list(range(record["axis_count"])) if axis is None else [axis]
        if velocity is not None and position is not None:
            raise FieldError("velocity", "and position are both given; a motor aims at one of them")
        for i in axes:
            if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < record["axis_count"]:
                raise FieldError("axis", f"must be from 0 to {record['axis_count'] - 1}, got {i!r}")
            if record["axes"]["motor_mode"][i] == MOTOR_NONE:
                raise FieldError("", "has no motor; give it motor=Motor(...) in the scene")
        bound = None if max_force is None else not_negative(max_force, "max_force", infinite=True)
        target = velocity if velocity is not None else position
        if target is not None:
            name = "velocity" if velocity is not None else "position"
            target = (number(target, name),) if len(axes) == 1 and np.ndim(target) == 0 else vector(target, name, len(axes))
        for k, i in enumerate(axes):
            slot = record["axes"][i : i + 1]
            if target is not None:
                slot["motor_mode"] = MOTOR_VELOCITY if velocity is not None else MOTOR_POSITION
                slot["motor_velocity" if velocity is not None else "motor_position"] = target[k]
            if bound is not None:
                slot["motor_max_force"] = bound
        self._wake()

    def _wake(self) -> None:
        """What sleeps is not to miss a change of the joint."""
        for body in (self._record["body_a"], self._record["body_b"]):
            if body >= 0:
                self._world._wake(int(body))


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
            record = self._world._pipeline.space.measured()[self.index]
        values = record["axes"][field][: record["axis_count"]].copy()
        return float(values[0]) if len(values) == 1 else values

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
            return bool(self._record["broken"])

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
        here = float(self._world._pipeline.space.measured()[self.index]["axes"]["position"][axis])
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
            slot = self._record["axes"][i : i + 1]
            slot["has_spring"] = int(spring is not None)
            for name in ("stiffness", "damping", "rest"):
                slot[name] = 0.0 if spring is None else getattr(spring, name)
            self._wake()

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


# What calls take for a body or a joint: its handle, its description in a scene, its name, its number.
AnyBody = BodyHandle | Body | str | int
AnyJoint = JointHandle | Joint | str | int
