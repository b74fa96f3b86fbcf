"""SlotJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

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
    axis_spec,
    axis_specs,
    instance_of,
    one_axis,
)
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class SlotJoint(Joint):
    """Keeps a point of b on a line of a, as a bead on a wire or a pin in a slot: it slides along it [m], and b turns
    freely about the point: 4 free coordinates. Its position is the way, then the rotation vector of b seen from a.

    anchor: the point of b [m], on the line; axis: the line's direction, the joint's z. Both in world coordinates.
    limits: (lower, upper) of the way [m], the ends of the slot; motor, spring: [N], [m]; friction [N]; motion: prescribes
    the way.
    """

    type = "slot"
    coordinates: ClassVar[tuple[str, ...]] = ("way", "turn", "turn", "turn")
    turns_freely = True
    tree: ClassVar[TreeKind | None] = TreeKind("slot", ways="z", turn="q")

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector | None = None,
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
        anchor, axis = anchor_of(anchor, required), axis_of(axis, "axis", required)
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
            [axis_spec(**driven), *axis_specs(3, None, None, None, 0.0)],
            anchor=anchor,
            axis=axis,
            motion=instance_of(motion, Motion, "motion"),
            **driven,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])
