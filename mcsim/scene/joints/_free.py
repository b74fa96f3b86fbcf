"""FreeJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from typing import Any, ClassVar

from mcsim.core.rotation import IDENTITY, Frame
from mcsim.scene.checks import FieldError, Vector
from mcsim.scene.drives import AxisSpec, Motion
from mcsim.scene.joints._arguments import FrameArgument, anchor_of, axis_specs, motions
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class FreeJoint(Joint):
    """Forbids nothing: 6 free coordinates, the position of b's joint point [m] and b's rotation vector [rad].

    Both are seen from a's joint frame. anchor: the joint's point in world coordinates [m], b's position if not given
    (a's if b is the world). motion: six, each a Motion or None; the three of the rotation vector all or none.
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
        *,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
        motion: Sequence[Motion | None] | None = None,
    ):
        anchor = anchor_of(anchor, required=False)
        motion = motions(motion, 6)
        if motion is not None and None in motion[3:] and motion[3:] != (None, None, None):
            raise FieldError("motion", "must prescribe all three of the rotation vector, or none of them")
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            axis_specs(6, None, None, None, 0.0),
            anchor=anchor,
            motion=motion,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), IDENTITY[1]

    def _told_axes(self, axes: list[AxisSpec]) -> dict[str, Any]:
        motion = tuple(axis.motion for axis in axes)
        return {"motion": motion if any(motion) else None}

    @classmethod
    def _takes(cls, what: str, axis: int) -> bool:
        return False
