"""ScrewJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from typing import ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import FieldError, Vector, not_negative, number
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import FrameArgument, Limits, anchor_of, axis_of, axis_spec, one_axis
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class ScrewJoint(Joint):
    """Keeps an axis of b on one of a; b turns about it and goes along it by `pitch` a radian: 1 free angle [rad].

    anchor: a point on the axis [m]; axis: the joint's z. Both in world coordinates.
    pitch: way along the axis a radian [m/rad]; the pitch of a thread divided by 2 π. Negative for a left-hand thread.
    limits: (lower, upper) [rad]; motor, spring: [N m], [rad]; friction [N m]; motion: prescribes the angle.
    armature: inertia of a rotor that turns with the angle [kg m²].
    """

    type = "screw"
    coordinates: ClassVar[tuple[str, ...]] = ("thread",)
    tree: ClassVar[TreeKind | None] = TreeKind("helical", turn="z", geared="z")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector | None = None,
        pitch: float | None = None,
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
        armature: float = 0.0,
    ):
        required = frame_a is None and frame_b is None
        anchor, axis = anchor_of(anchor, required), axis_of(axis, "axis", required)
        if pitch is None:
            raise FieldError("pitch", "is missing: give the way along the axis a radian [m/rad]")
        pitch = number(pitch, "pitch")
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
            axis=axis,
            pitch=pitch,
            motion=motion,
            armature=not_negative(armature, "armature"),
            **driven,
        )
        self._set(constant=pitch)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])
