"""The joints between bodies, and their registry JOINTS.

A joint has a frame on each of its bodies. It is placed by an anchor and axes in world coordinates at the initial pose,
where both frames then coincide, or by `frame_a` and `frame_b`, each (position [m], unit quaternion) in its body's own
frame (not from the centre of mass). With only one of the two given, the other one is laid on it at the initial pose.
The frame of the world (body None) is the world's. Positions, angles and velocities are those of b relative to a.
"""

from __future__ import annotations      # signatures read as they are written here

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import hypot, inf, pi
from typing import Any, ClassVar

import numpy as np

from mcsim.core.linear import dot, length
from mcsim.scene import checks
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, Vector, direction, not_negative, show, text, vector
from mcsim.scene.described import Described
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring
from mcsim.core.rotation import IDENTITY, Frame, compose, from_axes, normalized, relative

BodyName = Body | str | None
Limits = Sequence[float | None]
FrameArgument = tuple[Vector, Vector]

UNLIMITED = (-inf, inf)
PERPENDICULAR = 1e-6            # cosine up to which two axes count as perpendicular

# Arguments that place a joint in world coordinates.
PLACEMENT = ("anchor", "axis", "axis_a", "axis_b", "normal", "anchor_a", "anchor_b", "rack_axis", "pinion_axis")


class Joint(Described):
    """What all joints have in common. `Scene.add_joint` adds it and places it; then it serves as its own handle.

    type: its name in files, a key of JOINTS. index, name: in the scene; name is None before, if none was given.
    a, b: names of the two bodies, None for the world.
    frame_a, frame_b: (position (3,) [m], quaternion (4,)) of the joint's frame in each body's own frame.
    axes: list of AxisSpec, one for each free coordinate, in the order of the joint's position.
    collide: whether the two bodies collide with each other.
    swing_limit: [rad], of a ball joint; infinite if there is none.
    constant: of a screw its pitch [m/rad], of a rack and pinion the radius [m], of a rod its length [m] (infinite for a
        distance joint that is not a rod), of a gear q_a + ratio q_b (NaN: that of the initial pose); else 0.
    break_force [N], break_torque [N m], about the joint's point: if the joint carried more at the end of a step, it
        breaks and holds nothing any more; infinite if it cannot break. Its bodies go on not to collide, unless
        `collide`.
    """

    type: ClassVar[str]
    index: int | None
    name: str | None
    a: str | None
    b: str | None
    frame_a: Frame | None
    frame_b: Frame | None
    axes: list[AxisSpec]
    collide: bool
    swing_limit: float
    constant: float
    break_force: float
    break_torque: float

    _ends: tuple[BodyName, BodyName]         # the bodies as they were given, handles or names
    _written = frozenset({"name", "a", "b"})

    def _describe(self, a: Any, b: Any, name: Any, frame_a: Any, frame_b: Any, collide: Any, break_force: Any,
                  break_torque: Any, axes: list[AxisSpec], **arguments: Any) -> None:
        """Check the arguments that all joints have, and keep everything."""
        name = None if name is None else text(name, "name")
        arguments = {"name": name, "a": _body_name(a, "a"), "b": _body_name(b, "b")} | arguments | {
            "frame_a": None if frame_a is None else checks.frame(frame_a, "frame_a"),
            "frame_b": None if frame_b is None else checks.frame(frame_b, "frame_b"),
            "collide": checks.flag(collide, "collide"),
            "break_force": _bound(break_force, "break_force"), "break_torque": _bound(break_torque, "break_torque"),
        }
        if frame_a is not None or frame_b is not None:
            self._refuse_placement(arguments)
        if arguments["a"] == arguments["b"]:
            raise FieldError("", "joins " + ("the world" if a is None else repr(arguments["a"])) + " to itself; "
                             "give two different bodies, or None for the world")
        self._set(_arguments=arguments, _ends=(a, b), index=None, name=name, a=arguments["a"], b=arguments["b"],
                  axes=_with_motion(axes, arguments.get("motion")), frame_a=_frame(arguments["frame_a"]),
                  frame_b=_frame(arguments["frame_b"]), collide=arguments["collide"], swing_limit=inf, constant=0.0,
                  **{bound: inf if arguments[bound] is None else arguments[bound]
                     for bound in ("break_force", "break_torque")})

    def _refuse_placement(self, arguments: dict[str, Any]) -> None:
        """Anchor and axes say the same as the frames."""
        for field in PLACEMENT:
            if arguments.get(field, self._defaults().get(field)) != self._defaults().get(field):
                raise FieldError(field, "is given together with frame_a or frame_b; give one or the other")

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        """The joint's frame in the world, from anchor and axes, with the bodies at the given frames."""
        raise NotImplementedError

    def _world_frames(self, body_a: Frame, body_b: Frame) -> tuple[Frame, Frame]:
        """The joint's frames on a and on b, in the world: the same one, but for a joint with two anchors."""
        world = self._world_frame(body_a, body_b)
        return world, world

    def _constant_at(self, gap: float) -> float:
        """The joint's constant, once it is placed with its two points `gap` [m] apart."""
        return self.constant

    def _point(self, body_a: Frame, body_b: Frame) -> np.ndarray:
        """The anchor if there is one, else the position of b, or of a if b is the world."""
        anchor = self._arguments["anchor"]
        if anchor is not None:
            return np.array(anchor)
        return (body_a if self.b is None else body_b)[0]

    def _look_up(self, scene: Any) -> None:
        """What the joint needs of the scene beside its bodies: nothing, but for a gear."""

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        """Take the place in the scene, and find the frames on both bodies."""
        with np.errstate(over="ignore", invalid="ignore"):
            frame_a, frame_b, gap = self._frames(*bodies)
        if not (np.isfinite(gap) and np.isfinite(frame_a[0]).all() and np.isfinite(frame_b[0]).all()):
            raise FieldError("", "is placed so far from its bodies that the distance leaves the range of numbers")
        self._set(index=index, name=name, frame_a=frame_a, frame_b=frame_b, _ends=(self.a, self.b),
                  constant=self._constant_at(gap),
                  _arguments=self._arguments | {"name": name})

    def _frames(self, a: Body | None, b: Body | None) -> tuple[Frame, Frame, float]:
        """The joint's frames on two bodies, and how far apart its two points are [m]."""
        body_a, body_b = (IDENTITY if body is None else (body.position, body.orientation) for body in (a, b))
        frame_a, frame_b = self.frame_a, self.frame_b
        if frame_a is None and frame_b is None:
            world_a, world_b = self._world_frames(body_a, body_b)
        else:
            world_a = world_b = compose(body_a, frame_a) if frame_b is None else compose(body_b, frame_b)
        frame_a = relative(body_a, world_a) if frame_a is None else frame_a
        frame_b = relative(body_b, world_b) if frame_b is None else frame_b
        return frame_a, frame_b, length(compose(body_b, frame_b)[0] - compose(body_a, frame_a)[0])

    def _told_by_frames(self) -> dict[str, Any]:
        """The arguments that place the joint as it is, whatever poses its bodies are described with."""
        frames = {name: tuple(tuple(part.tolist()) for part in getattr(self, name)) for name in ("frame_a", "frame_b")}
        unplaced = {field: self._defaults().get(field) for field in PLACEMENT if field in self._arguments}
        return self._arguments | unplaced | frames

    def to_dict(self) -> dict[str, Any]:
        """The joint as JSON data."""
        try:
            return {"type": self.type, **super().to_dict()}
        except FieldError as error:
            raise error.within(f"joint {self.name!r}") from None

    def __repr__(self) -> str:
        ends = " - ".join("world" if end is None else repr(end) for end in (self.a, self.b))
        place = "" if self.index is None else f" {self.index} {self.name!r}"
        return f"<{type(self).__name__}{place}: {ends}>"


class BallJoint(Joint):
    """Keeps one point of a and b together; b turns freely about it: 3 free coordinates [rad].

    Its position is the rotation vector of b's joint frame in a's, about the joint's x, y, z.

    anchor: the point [m]; axis: the joint's z, about which twist is measured. Both in world coordinates.
    swing_limit: how far b's axis may lean from a's [rad], 0 to π. twist_limits: (lower, upper) [rad], in [-π, π].
    motor: velocity along the joint's x, y, z, or position as a rotation vector. spring: the same about each axis, with
    `rest` 0 or a rotation vector. friction [N m] about each axis. motion: three of Motion, of the rotation vector.
    """

    type = "ball"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis: Vector = (0.0, 0.0, 1.0),
                 swing_limit: float | None = None, twist_limits: Limits | None = None, *,
                 motor: Motor | None = None, spring: Spring | None = None, friction: float = 0.0,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Sequence[Motion] | None = None):
        anchor = _anchor(anchor, required=frame_a is None and frame_b is None)
        axis = direction(axis, "axis")
        if swing_limit is not None:
            swing_limit = checks.not_negative(swing_limit, "swing_limit", infinite=True)
            swing_limit = None if swing_limit == inf else checks.within(swing_limit, 0.0, pi, "swing_limit")
        twist_limits = checks.interval(twist_limits, "twist_limits")
        if any(abs(limit) > pi for limit in twist_limits or () if limit not in UNLIMITED):
            raise FieldError("twist_limits", f"must be in [-π, π] rad, got {show(twist_limits)}")
        friction = not_negative(friction, "friction")
        motors, springs = _three(motor, Motor, "motor"), _three(spring, Spring, "spring")
        limits = (None, None, twist_limits)
        axes = [_axis_spec(limits[i], motors[i], springs[i], friction) for i in range(3)]
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, axes, anchor=anchor,
                       axis=axis, swing_limit=swing_limit, twist_limits=twist_limits, motor=motor, spring=spring,
                       friction=friction, motion=_whole(motion))
        self._set(swing_limit=inf if swing_limit is None else swing_limit)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])


class UniversalJoint(Joint):
    """Keeps one point together and two axes, one on each body, perpendicular: 2 free angles [rad].

    Its position is (angle about axis_a, angle about axis_b). axis_a is fixed to a: the joint's z in frame_a;
    axis_b is fixed to b: the joint's x in frame_b.

    anchor: the point [m]; axis_a, axis_b: perpendicular within 1e-6. All in world coordinates.
    limits, motor, spring: a pair, each one or None, for the two angles. friction: a number or a pair [N m].
    motion: a pair, each a Motion or None, that prescribes an angle.
    """

    type = "universal"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis_a: Vector | None = None,
                 axis_b: Vector | None = None, *, limits: Sequence[Limits | None] | None = None,
                 motor: Sequence[Motor | None] | None = None, spring: Sequence[Spring | None] | None = None,
                 friction: float | Sequence[float] = 0.0, name: str | None = None,
                 frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Sequence[Motion | None] | None = None):
        required = frame_a is None and frame_b is None
        anchor = _anchor(anchor, required)
        axis_a, axis_b = _axis(axis_a, "axis_a", required), _axis(axis_b, "axis_b", required)
        if axis_a is not None and axis_b is not None:
            _perpendicular(axis_a, "axis_a", axis_b, "axis_b")
        driven = _several_axes(2, limits, motor, spring, friction)
        motion = _each(motion, 2, "motion", "a pair of Motion or None", lambda m, field: _instance(m, Motion, field))
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, _axis_specs(2, **driven),
                       anchor=anchor, axis_a=axis_a, axis_b=axis_b, motion=motion, **driven)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis_a"], self._arguments["axis_b"])


class HingeJoint(Joint):
    """Keeps a point and an axis together; b turns about it: 1 free angle [rad], which counts whole turns.

    anchor: a point on the axis [m]; axis: the joint's z. Both in world coordinates.
    limits: (lower, upper) [rad]; motor, spring: [N m], [rad]; friction [N m]; motion: prescribes the angle.
    """

    type = "hinge"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis: Vector | None = None, *,
                 limits: Limits | None = None, motor: Motor | None = None, spring: Spring | None = None,
                 friction: float = 0.0, name: str | None = None, frame_a: FrameArgument | None = None,
                 frame_b: FrameArgument | None = None, break_force: float | None = None,
                 break_torque: float | None = None, collide: bool = False,
                 motion: Motion | None = None):
        required = frame_a is None and frame_b is None
        anchor, axis = _anchor(anchor, required), _axis(axis, "axis", required)
        driven = _one_axis(limits, motor, spring, friction)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [_axis_spec(**driven)],
                       anchor=anchor, axis=axis, motion=motion, **driven)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])


class SliderJoint(Joint):
    """Lets b only slide along an axis of a: 1 free distance [m].

    axis: the joint's z; anchor: the joint's point [m], b's position if not given (a's if b is the world).
    Both in world coordinates. limits: (lower, upper) [m]; motor, spring: [N], [m]; friction [N]; motion:
    prescribes the distance.
    """

    type = "slider"

    def __init__(self, a: BodyName, b: BodyName, axis: Vector | None = None, anchor: Vector | None = None, *,
                 limits: Limits | None = None, motor: Motor | None = None, spring: Spring | None = None,
                 friction: float = 0.0, name: str | None = None, frame_a: FrameArgument | None = None,
                 frame_b: FrameArgument | None = None, break_force: float | None = None,
                 break_torque: float | None = None, collide: bool = False,
                 motion: Motion | None = None):
        axis = _axis(axis, "axis", required=frame_a is None and frame_b is None)
        anchor = _anchor(anchor, required=False)
        driven = _one_axis(limits, motor, spring, friction)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [_axis_spec(**driven)],
                       axis=axis, anchor=anchor, motion=motion, **driven)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), from_axes(self._arguments["axis"])


class FixedJoint(Joint):
    """Holds b fast to a: no free coordinate.

    anchor: the joint's point in world coordinates [m], b's position if not given (a's if b is the world).
    """

    type = "fixed"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, *, name: str | None = None,
                 frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False):
        anchor = _anchor(anchor, required=False)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], anchor=anchor)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), IDENTITY[1]


class RollingJoint(Joint):
    """A sphere or disc b rolls without slipping on a plane of a (or of the world), and does not leave it. No free
    coordinate is measured.

    radius: of the sphere or disc [m]. normal: of the plane, towards b. anchor: the centre of the sphere or disc [m],
    b's position if not given. axis: that of the disc; without it b is a sphere. All in world coordinates at the initial
    pose, at which the plane touches b.
    With frames: frame_a is a point of the plane with z along the normal, frame_b the centre with z along the disc's
    axis; both are needed, and `disc` says which of the two b is.
    """

    type = "rolling"
    radius: float
    disc: bool

    def __init__(self, a: BodyName, b: BodyName, radius: float, normal: Vector = (0.0, 0.0, 1.0),
                 anchor: Vector | None = None, axis: Vector | None = None, *, disc: bool | None = None,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False):
        radius = checks.positive(radius, "radius")
        normal, axis = direction(normal, "normal"), _axis(axis, "axis", required=False)
        disc = None if disc is None else checks.flag(disc, "disc")
        if b is None:
            raise FieldError("b", "must be the body that rolls, got None")
        if (frame_a is None) != (frame_b is None):
            raise FieldError("frame_a" if frame_a is None else "frame_b",
                             "is missing: a rolling joint takes both or neither")
        if frame_a is None and disc is not None and disc != (axis is not None):
            raise FieldError("axis", "is missing: a disc needs it" if disc
                             else "is given for a sphere; leave it or disc out")
        if axis is not None and length(np.cross(normalized(axis), normalized(normal))) < PERPENDICULAR:
            raise FieldError("axis", "is along the normal: a disc that lies flat cannot roll")
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], radius=radius,
                       normal=normal, anchor=_anchor(anchor, required=False), axis=axis, disc=disc)
        self._set(radius=radius, disc=axis is not None if disc is None else disc)

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        if self.frame_a is None:
            body_a, body_b = (IDENTITY if body is None else (body.position, body.orientation) for body in bodies)
            center, normal = self._point(body_a, body_b), normalized(self._arguments["normal"])
            wheel = normalized(self._arguments["axis"]) if self.disc else normal
            lowest = normal - dot(normal, wheel) * wheel if self.disc else normal
            touch = center - self.radius * normalized(lowest)
            self._set(frame_a=relative(body_a, (touch, from_axes(normal))),
                      frame_b=relative(body_b, (center, from_axes(wheel))))
        super()._place(index, name, bodies)

    def _told_by_frames(self) -> dict[str, Any]:
        return super()._told_by_frames() | {"disc": self.disc}


class KnifeEdgeJoint(Joint):
    """A blade on b, as of a skate: its point does not move across it relative to a. Along it, and away from a, it is
    free; no free coordinate is measured.

    anchor: the blade's point, b's position if not given (a's if b is the world) [m]; axis: the direction across the
    blade, which b carries. Both in world coordinates.
    """

    type = "knife_edge"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis: Vector | None = None, *,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False):
        axis = _axis(axis, "axis", required=frame_a is None and frame_b is None)
        anchor = _anchor(anchor, required=False)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], anchor=anchor, axis=axis)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), from_axes(self._arguments["axis"])


# ---- arguments that several joints take ------------------------------------------------------------------------------

def _body_name(value: Any, field: str) -> str | None:
    """The name that a body's handle (a scene's or a world's), its name or None (the world) stands for."""
    return None if value is None else text(getattr(value, "name", value), field)


def _frame(value: tuple | None) -> Frame | None:
    return None if value is None else (np.array(value[0]), normalized(value[1]))


def _bound(value: Any, field: str) -> float | None:
    """A force or torque at which a joint breaks; None or infinite: it does not."""
    return None if value is None else not_negative(value, field, infinite=True)


def _anchor(value: Any, required: bool) -> tuple | None:
    if value is None and required:
        raise FieldError("anchor", "is missing: give anchor and axes in world coordinates, or frame_a or frame_b")
    return None if value is None else vector(value, "anchor")


def _axis(value: Any, field: str, required: bool) -> tuple | None:
    if value is None and required:
        raise FieldError(field, "is missing: give it in world coordinates, or frame_a or frame_b")
    return None if value is None else direction(value, field)


def _instance(value: Any, kind: type, field: str) -> Any:
    """A Motor or a Spring, or None."""
    if not isinstance(value, kind | None):
        raise FieldError(field, f"must be a {kind.__name__}, got {show(value)}")
    return value


def _single(value: Any, kind: type, field: str) -> Any:
    """A Motor or a Spring of one coordinate, or None."""
    for name, coordinate in _coordinates(_instance(value, kind, field)).items():
        if isinstance(coordinate, tuple):
            raise FieldError(f"{field}.{name}", f"must be one number here, got {show(coordinate)}")
    return value


def _coordinates(drive: Motor | Spring | None) -> dict[str, Any]:
    """Those arguments of a motor or a spring that are coordinates of the joint."""
    arguments = {} if drive is None else drive._arguments
    return {name: arguments[name] for name in ("velocity", "position", "rest") if arguments.get(name) is not None}


def _three(drive: Any, kind: type, field: str) -> list:
    """The motor or the spring of a ball joint as one for each of its three axes, in numbers."""
    if _instance(drive, kind, field) is None:
        return [None, None, None]
    (name, coordinate), = _coordinates(drive).items()
    if not isinstance(coordinate, tuple):
        if name != "rest" or coordinate != 0.0:
            raise FieldError(f"{field}.{name}", f"must be 3 numbers for a ball joint, got {show(coordinate)}")
        coordinate = (0.0, 0.0, 0.0)
    if name != "velocity" and hypot(*coordinate) > pi:
        raise FieldError(f"{field}.{name}", f"must be a rotation vector of at most π rad, got {show(coordinate)}")
    return [kind(**drive._arguments | {name: coordinate[i]}) for i in range(3)]


def _each(value: Any, count: int, field: str, what: str, check: Callable[[Any, str], Any]) -> tuple | None:
    """`count` things, one for each axis of a joint, each checked by `check`; None if there are none."""
    if value is None:
        return None
    parts = checks.items(value, what, field)
    if len(parts) != count:
        raise FieldError(field, f"must be {what}, got {show(value)}")
    return tuple(check(parts[i], f"{field}[{i}]") for i in range(count))


def _perpendicular(axis: tuple, field: str, other: tuple, other_field: str) -> None:
    """Refuse two axes that are not at right angles."""
    cosine = dot(normalized(axis), normalized(other))
    if abs(cosine) > PERPENDICULAR:
        raise FieldError(other_field, f"must be perpendicular to {field}, the cosine between them is {cosine:.3g}")


def _several_axes(count: int, limits: Any, motor: Any, spring: Any, friction: Any) -> dict[str, Any]:
    """What a joint with 2 or 3 free coordinates takes for them: one thing or None for each."""
    of = {2: "a pair of", 3: "three of"}[count]
    if isinstance(friction, (list, tuple, np.ndarray)):
        friction = _each(friction, count, "friction", f"a number or {of} them", not_negative)
    else:
        friction = not_negative(friction, "friction")
    return {
        "limits": _each(limits, count, "limits", f"{of} (lower, upper) or None", checks.interval),
        "motor": _each(motor, count, "motor", f"{of} Motor or None", lambda m, field: _single(m, Motor, field)),
        "spring": _each(spring, count, "spring", f"{of} Spring or None", lambda s, field: _single(s, Spring, field)),
        "friction": friction,
    }


def _axis_specs(count: int, limits: Any, motor: Any, spring: Any, friction: Any) -> list[AxisSpec]:
    """The axes that go with `_several_axes`."""
    none = (None,) * count
    return [_axis_spec(*of_axis) for of_axis in zip(limits or none, motor or none, spring or none,
                                                    np.broadcast_to(friction, count).tolist())]


def _whole(motion: Any) -> tuple | None:
    """The three motions of a ball joint's rotation vector: all of them, or none."""
    if motion is None:
        return None
    three = checks.items(motion, "three of Motion, of the rotation vector", "motion")
    if len(three) != 3 or not all(isinstance(one, Motion) for one in three):
        raise FieldError("motion", f"must be three of Motion, of the rotation vector, got {show(motion)}")
    return tuple(three)


def _with_motion(axes: list[AxisSpec], motion: Any) -> list[AxisSpec]:
    """The axes with their prescribed motions: a Motion for one axis, else one or None for each."""
    if motion is None:
        return axes
    if len(axes) == 1:
        motions = [_instance(motion, Motion, "motion")]
    else:
        motions = checks.items(motion, f"{len(axes)} of Motion or None, one an axis", "motion")
        if len(motions) != len(axes):
            raise FieldError("motion", f"must be {len(axes)} of Motion or None, one an axis, got {show(motion)}")
        motions = [_instance(one, Motion, f"motion[{i}]") for i, one in enumerate(motions)]
    for axis, one in zip(axes, motions):
        if one is not None and axis.motor is not None:
            raise FieldError("motion", "is given together with a motor for the same axis; give one or the other")
    return [replace(axis, motion=one) for axis, one in zip(axes, motions)]


def _one_axis(limits: Any, motor: Any, spring: Any, friction: Any) -> dict[str, Any]:
    """What a joint with one free coordinate takes for it."""
    return {
        "limits": checks.interval(limits, "limits"),
        "motor": _single(motor, Motor, "motor"),
        "spring": _single(spring, Spring, "spring"),
        "friction": not_negative(friction, "friction"),
    }


def _axis_spec(limits: Any, motor: Motor | None, spring: Spring | None, friction: float) -> AxisSpec:
    return AxisSpec(*(limits or UNLIMITED), motor, spring, friction)


JOINTS: dict[str, type[Joint]] = {
    joint.type: joint for joint in (BallJoint, UniversalJoint, HingeJoint, SliderJoint, FixedJoint, RollingJoint,
                                KnifeEdgeJoint)
}
