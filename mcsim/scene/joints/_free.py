"""FreeJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import FieldError, Vector, direction, show
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import (
    FrameArgument,
    Limits,
    anchor_of,
    axis_specs,
    motions,
    several_axes,
    sizes_of,
    swing_of,
    twist_of,
)
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class FreeJoint(Joint):
    """Forbids nothing: 6 free coordinates, the position of b's joint point [m] and b's rotation vector [rad].

    Both are seen from a's joint frame. So it is the joint whose six axes are each what you make of them: free, within
    limits, sprung (a bushing), driven, with friction, or held (a motion of mc.Motion(0.0)).

    anchor: the joint's point in world coordinates [m], b's position if not given (a's if b is the world); axis: the
    joint's z, about which twist is measured.
    limits: six of (lower, upper) or None, along x, y, z [m] and about z, the twist [rad, in [-π, π]]; None about x and y:
    how far b's axis leans from a's is swing_limit [rad], 0 to π. motor, spring: six, each one or None; positions and
    `rest` about x, y, z are a rotation vector. friction: a number for all or six [N, N, N, N m, N m, N m].
    motion: six, each a Motion or None; the three of the rotation vector all or none.
    armature: what resists along and about the axes beside the bodies, a number for all or six, of which the last three are
    one [kg, kg, kg, kg m², kg m², kg m²].

        mc.FreeJoint(None, "engine", spring=[mc.Spring(2e5, 900)] * 3 + [mc.Spring(800, 8)] * 3)
    """

    type = "free"
    coordinates: ClassVar[tuple[str, ...]] = ("way", "way", "way", "turn", "turn", "turn")
    turns_freely = True
    tree: ClassVar[TreeKind | None] = TreeKind("free", ways="xyz", turn="q")
    urdf: ClassVar[tuple[str, ...]] = ("floating",)

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector = (0.0, 0.0, 1.0),
        swing_limit: float | None = None,
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
        anchor, axis = anchor_of(anchor, required=False), direction(axis, "axis")
        driven = several_axes(6, limits, motor, spring, friction)
        for i, bounds in enumerate((driven["limits"] or ())[3:], 3):
            if i < 5 and bounds is not None:
                raise FieldError(f"limits[{i}]", "must be None: how far b's axis leans from a's is bounded by swing_limit")
            twist_of(bounds, f"limits[{i}]")
        motion = motions(motion, 6)
        if motion is not None and None in motion[3:] and motion[3:] != (None, None, None):
            raise FieldError("motion", "must prescribe all three of the rotation vector, or none of them")
        armature = sizes_of(armature, 6, "armature")
        if isinstance(armature, tuple) and len(set(armature[3:])) > 1:
            raise FieldError(
                "armature", f"must be one number about x, y and z, about which b turns freely, got {show(armature)}"
            )
        swing_limit = swing_of(swing_limit)
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            axis_specs(6, **driven),
            anchor=anchor,
            axis=axis,
            swing_limit=swing_limit,
            motion=motion,
            armature=armature,
            **driven,
        )
        self._set(swing_limit=inf if swing_limit is None else swing_limit)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), from_axes(np.array(self._arguments["axis"]))

    @classmethod
    def _driven_coordinates(cls) -> int:
        return 6

    @classmethod
    def _takes(cls, what: str, axis: int) -> bool:
        """Springs on all; limits along the axes, and of the twist."""
        return what != "limits" or axis not in (3, 4)
