"""RackPinionJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from typing import ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import FieldError, Vector, number
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import FrameArgument, Limits, anchor_of, axis_of, axis_spec, one_axis, perpendicular
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


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
    coordinates: ClassVar[tuple[str, ...]] = ("thread",)
    turns_freely = True
    tree: ClassVar[TreeKind | None] = TreeKind("rack_pinion", turn="z", geared="x")
    couples = True

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        rack_axis: Vector | None = None,
        pinion_axis: Vector | None = None,
        radius: float | None = None,
        *,
        limits: Limits | None = None,
        motor: Motor | None = None,
        spring: Spring | None = None,
        friction: float = 0.0,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
        motion: Motion | None = None,
    ):
        required = frame_a is None and frame_b is None
        anchor = anchor_of(anchor, required)
        rack_axis, pinion_axis = axis_of(rack_axis, "rack_axis", required), axis_of(pinion_axis, "pinion_axis", required)
        if rack_axis is not None and pinion_axis is not None:
            perpendicular(rack_axis, "rack_axis", pinion_axis, "pinion_axis")
        if radius is None:
            raise FieldError("radius", "is missing: give the pinion's radius [m]")
        radius = number(radius, "radius")
        if radius == 0.0:
            raise FieldError("radius", "must not be zero")
        driven = one_axis(limits, motor, spring, friction)
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            [axis_spec(**driven)],
            anchor=anchor,
            rack_axis=rack_axis,
            pinion_axis=pinion_axis,
            radius=radius,
            motion=motion,
            **driven,
        )
        self._set(constant=radius)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        arguments = self._arguments
        return np.array(arguments["anchor"]), from_axes(arguments["pinion_axis"], arguments["rack_axis"])
