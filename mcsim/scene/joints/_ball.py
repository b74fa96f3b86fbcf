"""BallJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector, direction, not_negative
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring
from mcsim.scene.joints._arguments import (
    UNLIMITED,
    FrameArgument,
    Limits,
    anchor_of,
    axis_spec,
    swing_of,
    three_of,
    twist_of,
    whole_motion,
)
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class BallJoint(Joint):
    """Keeps one point of a and b together; b turns freely about it: 3 free coordinates [rad].

    Its position is the rotation vector of b's joint frame in a's, about the joint's x, y, z.

    anchor: the point [m]; axis: the joint's z, about which twist is measured. Both in world coordinates.
    swing_limit: how far b's axis may lean from a's [rad], 0 to π. twist_limits: (lower, upper) [rad], in [-π, π].
    motor: velocity along the joint's x, y, z, or position as a rotation vector; or three, each one or None, of single
    numbers. spring: the same about each axis, with `rest` 0 or a rotation vector; or three. friction [N m] about each
    axis. motion: three of Motion, of the rotation vector. armature: inertia that resists turning about every axis, beside
    the bodies' [kg m²].
    """

    type = "ball"
    coordinates: ClassVar[tuple[str, ...]] = ("turn", "turn", "turn")
    turns_freely = True
    tree: ClassVar[TreeKind | None] = TreeKind("spherical", turn="q")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector = (0.0, 0.0, 1.0),
        swing_limit: float | None = None,
        twist_limits: Limits | None = None,
        *,
        motor: Motor | Sequence[Motor | None] | None = None,
        spring: Spring | Sequence[Spring | None] | None = None,
        friction: float = 0.0,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
        motion: Sequence[Motion] | None = None,
        armature: float = 0.0,
    ):
        anchor = anchor_of(anchor, required=frame_a is None and frame_b is None)
        axis = direction(axis, "axis")
        swing_limit, twist_limits = swing_of(swing_limit), twist_of(twist_limits, "twist_limits")
        friction = not_negative(friction, "friction")
        motors, springs = three_of(motor, Motor, "motor"), three_of(spring, Spring, "spring")
        limits = (None, None, twist_limits)
        axes = [axis_spec(limits[i], motors[i], springs[i], friction) for i in range(3)]
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            axes,
            anchor=anchor,
            axis=axis,
            swing_limit=swing_limit,
            twist_limits=twist_limits,
            motor=motor if isinstance(motor, Motor | None) else tuple(motors),
            spring=spring if isinstance(spring, Spring | None) else tuple(springs),
            friction=friction,
            motion=whole_motion(motion),
            armature=not_negative(armature, "armature"),
        )
        self._set(swing_limit=inf if swing_limit is None else swing_limit)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])

    def _told_axes(self, axes: list[AxisSpec]) -> dict[str, Any]:
        bounds = axes[2].lower, axes[2].upper
        told = {name: tuple(getattr(axis, name) for axis in axes) for name in ("motor", "spring", "motion")}
        whole = {name: None if parts == (None,) * 3 else parts for name, parts in told.items()}
        return whole | {"twist_limits": None if bounds == UNLIMITED else bounds}

    @classmethod
    def _takes(cls, what: str, axis: int) -> bool:
        """Springs about each axis; a limit of the twist alone."""
        return what != "limits" or axis == 2
