"""More joints: cylindrical, planar, screw, distance, rack and pinion, free. How joints are placed: see `joints.py`."""

from __future__ import annotations      # signatures read as they are written here

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from mcsim.core.rotation import IDENTITY, Frame, from_axes
from mcsim.scene.checks import FieldError, Vector, number, positive, vector
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints import (
    JOINTS, BodyName, FrameArgument, Joint, Limits, _anchor, _axis, _axis_spec, _axis_specs, _each, _instance,
    _one_axis, _perpendicular, _several_axes)

SHORTEST_ROD = 1e-9             # [m]; a shorter one has no direction


class CylindricalJoint(Joint):
    """Keeps an axis of b on one of a; b slides along it and turns about it: (way [m], angle [rad]) are free.

    anchor: a point on the axis [m]; axis: the joint's z. Both in world coordinates.
    limits, motor, spring, motion: a pair, each one or None, for way and angle. friction: a number for both or a pair
    [N, N m].
    """

    type = "cylindrical"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis: Vector | None = None, *,
                 limits: Sequence[Limits | None] | None = None, motor: Sequence[Motor | None] | None = None,
                 spring: Sequence[Spring | None] | None = None, friction: float | Sequence[float] = 0.0,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Sequence[Motion | None] | None = None):
        required = frame_a is None and frame_b is None
        anchor, axis = _anchor(anchor, required), _axis(axis, "axis", required)
        driven = _several_axes(2, limits, motor, spring, friction)
        motion = _motions(motion, 2)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, _axis_specs(2, **driven),
                       anchor=anchor, axis=axis, motion=motion, **driven)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])


class PlanarJoint(Joint):
    """Keeps a point of b in a plane of a and b upright on it: (x [m], y [m], angle about the normal [rad]) are free.

    anchor: a point of the plane [m]; normal: the joint's z. Both in world coordinates; the joint's x is the direction
    in the plane nearest to the world's x (to y where the normal is nearly x).
    limits, motor, spring, motion: three, each one or None, for x, y and angle. friction: a number for all or three
    [N, N, N m].
    """

    type = "planar"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, normal: Vector | None = None, *,
                 limits: Sequence[Limits | None] | None = None, motor: Sequence[Motor | None] | None = None,
                 spring: Sequence[Spring | None] | None = None, friction: float | Sequence[float] = 0.0,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Sequence[Motion | None] | None = None):
        required = frame_a is None and frame_b is None
        anchor, normal = _anchor(anchor, required), _axis(normal, "normal", required)
        driven = _several_axes(3, limits, motor, spring, friction)
        motion = _motions(motion, 3)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, _axis_specs(3, **driven),
                       anchor=anchor, normal=normal, motion=motion, **driven)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["normal"])


class ScrewJoint(Joint):
    """Keeps an axis of b on one of a; b turns about it and goes along it by `pitch` a radian: 1 free angle [rad].

    anchor: a point on the axis [m]; axis: the joint's z. Both in world coordinates.
    pitch: way along the axis a radian [m/rad]; the pitch of a thread divided by 2 π. Negative for a left-hand thread.
    limits: (lower, upper) [rad]; motor, spring: [N m], [rad]; friction [N m]; motion: prescribes the angle.
    """

    type = "screw"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, axis: Vector | None = None,
                 pitch: float | None = None, *, limits: Limits | None = None, motor: Motor | None = None,
                 spring: Spring | None = None, friction: float = 0.0, name: str | None = None,
                 frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Motion | None = None):
        required = frame_a is None and frame_b is None
        anchor, axis = _anchor(anchor, required), _axis(axis, "axis", required)
        if pitch is None:
            raise FieldError("pitch", "is missing: give the way along the axis a radian [m/rad]")
        pitch = number(pitch, "pitch")
        driven = _one_axis(limits, motor, spring, friction)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [_axis_spec(**driven)],
                       anchor=anchor, axis=axis, pitch=pitch, motion=motion, **driven)
        self._set(constant=pitch)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])


class DistanceJoint(Joint):
    """A rod, a rope or a spring between a point of a and a point of b. Its position is their distance [m].

    anchor_a, anchor_b: the two points, in world coordinates [m].
    A rod, if nothing below is given: it keeps `length` [m], the distance at the initial pose if that is None.
    limits: (shortest, longest) distance [m]: a rope is (None, longest). spring, motor [N], [m]; friction [N].
    With a spring, `length` is where it is at rest, in place of the spring's own `rest`. motion: prescribes the
    distance, which must stay above zero.
    """

    type = "distance"

    def __init__(self, a: BodyName, b: BodyName, anchor_a: Vector | None = None, anchor_b: Vector | None = None,
                 length: float | None = None, limits: Limits | None = None, spring: Spring | None = None, *,
                 motor: Motor | None = None, friction: float = 0.0, name: str | None = None,
                 frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Motion | None = None):
        required = frame_a is None and frame_b is None
        for field, anchor in (("anchor_a", anchor_a), ("anchor_b", anchor_b)):
            if anchor is None and required:
                raise FieldError(field, "is missing: give both anchors in world coordinates, or frame_a and frame_b")
        anchor_a, anchor_b = (None if anchor is None else vector(anchor, field)
                              for field, anchor in (("anchor_a", anchor_a), ("anchor_b", anchor_b)))
        length = None if length is None else positive(length, "length")
        driven = _one_axis(limits, motor, spring, friction)
        rod = (driven["limits"] is None and spring is None and motor is None and driven["friction"] == 0.0
               and motion is None)
        axis = self._axis_of(length, rod, **driven)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [axis], anchor_a=anchor_a,
                       anchor_b=anchor_b, length=length, motion=motion, **driven)
        self._set(constant=(length or 0.0) if rod else inf)

    @staticmethod
    def _axis_of(length, rod, limits, motor, spring, friction):
        """The AxisSpec of the distance."""
        if length is not None and not rod and spring is None:
            raise FieldError("length", "is that of a rod, or of a spring at rest; leave it out with limits, motor, "
                             "friction or motion")
        if length is not None and spring is not None:
            if spring.rest not in (0.0, length):
                raise FieldError("length", f"is {length:g} but spring.rest is {spring.rest:g}; give one of the two")
            spring = Spring(**spring._arguments | {"rest": length})
        if limits is not None:
            if limits[1] <= 0.0:
                raise FieldError("limits", f"leave no room: a distance is not below zero, got {limits}")
            # A distance is never below zero; a limit there would keep the two points from passing each other.
            limits = (limits[0] if limits[0] > 0.0 else -inf, limits[1])
        return _axis_spec(limits, motor, spring, friction)

    def _world_frames(self, body_a: Frame, body_b: Frame) -> tuple[Frame, Frame]:
        return tuple((np.array(self._arguments[field]), IDENTITY[1]) for field in ("anchor_a", "anchor_b"))

    def _constant_at(self, gap: float) -> float:
        if self.constant != 0.0:
            return self.constant
        if gap < SHORTEST_ROD:
            raise FieldError("length", "would be zero: the two points of the rod coincide; give a length, or place "
                             "them apart")
        return gap

    def _told_by_frames(self) -> dict[str, Any]:
        return super()._told_by_frames() | ({"length": self.constant} if self.constant < inf else {})


class RackPinionJoint(Joint):
    """Couples a rack a with a pinion b: the rack goes along `rack_axis` by `radius` a radian that the pinion turns.

    Way and angle are those of one body relative to the other, so a pinion that rolls along a fixed rack is the same
    joint (it goes backwards by the radius a radian). Nothing else is held: a SliderJoint bears the rack, a HingeJoint
    the pinion. Without such bearings b's axis may turn over; where it points against a's, the angle jumps, and the
    bodies are thrown. Its position is the angle of the pinion seen from the rack [rad].

    anchor: a point on the pinion's axis [m]; rack_axis, fixed on a: the joint's x; pinion_axis: the joint's z,
    perpendicular to it within 1e-6. All in world coordinates. The teeth meet at radius (rack_axis × pinion_axis) from
    the pinion's axis.
    radius: of the pinion [m]; negative if the rack lies on the pinion's other side.
    limits: (lower, upper) [rad]; motor, spring: [N m], [rad]; friction [N m]; motion: prescribes the angle.
    """

    type = "rack_pinion"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, rack_axis: Vector | None = None,
                 pinion_axis: Vector | None = None, radius: float | None = None, *, limits: Limits | None = None,
                 motor: Motor | None = None, spring: Spring | None = None, friction: float = 0.0,
                 name: str | None = None, frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Motion | None = None):
        required = frame_a is None and frame_b is None
        anchor = _anchor(anchor, required)
        rack_axis, pinion_axis = _axis(rack_axis, "rack_axis", required), _axis(pinion_axis, "pinion_axis", required)
        if rack_axis is not None and pinion_axis is not None:
            _perpendicular(rack_axis, "rack_axis", pinion_axis, "pinion_axis")
        if radius is None:
            raise FieldError("radius", "is missing: give the pinion's radius [m]")
        radius = number(radius, "radius")
        if radius == 0.0:
            raise FieldError("radius", "must not be zero")
        driven = _one_axis(limits, motor, spring, friction)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [_axis_spec(**driven)],
                       anchor=anchor, rack_axis=rack_axis, pinion_axis=pinion_axis, radius=radius, motion=motion,
                       **driven)
        self._set(constant=radius)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        arguments = self._arguments
        return np.array(arguments["anchor"]), from_axes(arguments["pinion_axis"], arguments["rack_axis"])


class FreeJoint(Joint):
    """Forbids nothing: 6 free coordinates, the position of b's joint point [m] and b's rotation vector [rad].

    Both are seen from a's joint frame. anchor: the joint's point in world coordinates [m], b's position if not given
    (a's if b is the world). motion: six, each a Motion or None; the three of the rotation vector all or none.
    """

    type = "free"

    def __init__(self, a: BodyName, b: BodyName, anchor: Vector | None = None, *, name: str | None = None,
                 frame_a: FrameArgument | None = None, frame_b: FrameArgument | None = None,
                 break_force: float | None = None, break_torque: float | None = None, collide: bool = False,
                 motion: Sequence[Motion | None] | None = None):
        anchor = _anchor(anchor, required=False)
        motion = _motions(motion, 6)
        if motion is not None and None in motion[3:] and motion[3:] != (None, None, None):
            raise FieldError("motion", "must prescribe all three of the rotation vector, or none of them")
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque,
                       _axis_specs(6, None, None, None, 0.0), anchor=anchor, motion=motion)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), IDENTITY[1]


def _motions(value: Any, count: int) -> tuple | None:
    """A Motion or None for each of several coordinates."""
    return _each(value, count, "motion", f"{count} of Motion or None, one a coordinate",
                 lambda motion, field: _instance(motion, Motion, field))


JOINTS.update({joint.type: joint for joint in (
    CylindricalJoint, PlanarJoint, ScrewJoint, DistanceJoint, RackPinionJoint, FreeJoint)})
