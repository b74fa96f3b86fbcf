"""FixedJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from typing import ClassVar

from mcsim.core.rotation import IDENTITY, Frame
from mcsim.scene.checks import Vector
from mcsim.scene.joints._arguments import FrameArgument, anchor_of
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class FixedJoint(Joint):
    """Holds b fast to a: no free coordinate.

    anchor: the joint's point in world coordinates [m], b's position if not given (a's if b is the world).
    """

    type = "fixed"
    tree: ClassVar[TreeKind | None] = TreeKind("fixed")
    urdf: ClassVar[tuple[str, ...]] = ("fixed",)

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        *,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
    ):
        anchor = anchor_of(anchor, required=False)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], anchor=anchor)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), IDENTITY[1]
