"""CylindricalJoint: its arguments, what it measures, and how generalized coordinates have it."""

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
    motions,
    several_axes,
    sizes_of,
)
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class CylindricalJoint(Joint):
    """Keeps an axis of b on one of a; b slides along it and turns about it: (way [m], angle [rad]) are free.

    anchor: a point on the axis [m]; axis: the joint's z. Both in world coordinates.
    limits, motor, spring, motion: a pair, each one or None, for way and angle. friction: a number for both or a pair
    [N, N m]. armature: of rotors that go with way and angle, a number for both or a pair [kg, kg m²].
    """

    type = "cylindrical"
    coordinates: ClassVar[tuple[str, ...]] = ("way", "angle")
    tree: ClassVar[TreeKind | None] = TreeKind("cylindrical", ways="z", turn="z")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector | None = None,
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
        anchor, axis = anchor_of(anchor, required), axis_of(axis, "axis", required)
        driven = several_axes(2, limits, motor, spring, friction)
        motion = motions(motion, 2)
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
            axis=axis,
            motion=motion,
            armature=sizes_of(armature, 2, "armature"),
            **driven,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])
