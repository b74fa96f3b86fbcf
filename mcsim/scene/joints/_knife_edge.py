"""KnifeEdgeJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector
from mcsim.scene.joints._arguments import FrameArgument, anchor_of, axis_of
from mcsim.scene.joints._joint import BodyName, Joint


class KnifeEdgeJoint(Joint):
    """A blade on b, as of a skate: its point does not move across it relative to a. Along it, and away from a, it is
    free; no free coordinate is measured.

    anchor: the blade's point, b's position if not given (a's if b is the world) [m]; axis: the direction across the
    blade, which b carries. Both in world coordinates.
    """

    type = "knife_edge"
    turns_freely = True

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor: Vector | None = None,
        axis: Vector | None = None,
        *,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
    ):
        axis = axis_of(axis, "axis", required=frame_a is None and frame_b is None)
        anchor = anchor_of(anchor, required=False)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], anchor=anchor, axis=axis)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), from_axes(self._arguments["axis"])
