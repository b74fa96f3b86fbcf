"""UniversalJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import (
    FrameArgument,
    Limits,
    anchor_of,
    axis_of,
    axis_specs,
    each_of,
    instance_of,
    perpendicular,
    several_axes,
    sizes_of,
)
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class UniversalJoint(Joint):
    """Keeps one point together and two axes, one on each body, perpendicular: 2 free angles [rad].

    Its position is (angle about axis_a, angle about axis_b). axis_a is fixed to a: the joint's z in frame_a;
    axis_b is fixed to b: the joint's x in frame_b.

    anchor: the point [m]; axis_a, axis_b: perpendicular within 1e-6. All in world coordinates.
    limits, motor, spring: a pair, each one or None, for the two angles. friction: a number or a pair [N m].
    motion: a pair, each a Motion or None, that prescribes an angle. armature: inertia of rotors that turn with the angles,
    a number or a pair [kg m²].
    """

    type = "universal"
    coordinates: ClassVar[tuple[str, ...]] = ("angle", "angle")
    tree: ClassVar[TreeKind | None] = TreeKind("universal", turn="zx")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis_a: Vector | None = None,
        axis_b: Vector | None = None,
        *,
        limits: Sequence[Limits | None] | None = None,
        motor: Sequence[Motor | None] | None = None,
        spring: Sequence[Spring | None] | None = None,
        friction: float | Sequence[float] = 0.0,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
        motion: Sequence[Motion | None] | None = None,
        armature: float | Sequence[float] = 0.0,
    ):
        required = frame_a is None and frame_b is None
        anchor = anchor_of(anchor, required)
        axis_a, axis_b = axis_of(axis_a, "axis_a", required), axis_of(axis_b, "axis_b", required)
        if axis_a is not None and axis_b is not None:
            perpendicular(axis_a, "axis_a", axis_b, "axis_b")
        driven = several_axes(2, limits, motor, spring, friction)
        motion = each_of(motion, 2, "motion", "a pair of Motion or None", lambda m, field: instance_of(m, Motion, field))
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            axis_specs(2, **driven),
            anchor=anchor,
            axis_a=axis_a,
            axis_b=axis_b,
            motion=motion,
            armature=sizes_of(armature, 2, "armature"),
            **driven,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis_a"], self._arguments["axis_b"])
