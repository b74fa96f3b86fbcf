"""PointOnPlaneJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import FrameArgument, Limits, anchor_of, axis_of, axis_specs, motions, several_axes
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class PointOnPlaneJoint(Joint):
    """Keeps a point of b in a plane of a; it slides there, and b turns freely about it: 5 free coordinates. Its position
    is (x, y) of the point [m], then the rotation vector of b seen from a [rad].

    anchor: the point of b [m], in the plane; normal: the joint's z. Both in world coordinates; the joint's x is the
    direction in the plane nearest to the world's x (to y where the normal is nearly x).
    limits, motor, spring, motion: a pair, each one or None, for x and y. friction: a number for both or a pair [N].
    """

    type = "point_on_plane"
    coordinates: ClassVar[tuple[str, ...]] = ("way", "way", "turn", "turn", "turn")
    turns_freely = True
    tree: ClassVar[TreeKind | None] = TreeKind("point_on_plane", ways="xy", turn="q")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        normal: Vector | None = None,
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
    ):
        required = frame_a is None and frame_b is None
        anchor, normal = anchor_of(anchor, required), axis_of(normal, "normal", required)
        driven = several_axes(2, limits, motor, spring, friction)
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            [*axis_specs(2, **driven), *axis_specs(3, None, None, None, 0.0)],
            anchor=anchor,
            normal=normal,
            motion=motions(motion, 2),
            **driven,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["normal"])
