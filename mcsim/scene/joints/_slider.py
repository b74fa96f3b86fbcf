"""SliderJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from typing import ClassVar

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector, not_negative
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints._arguments import FrameArgument, Limits, anchor_of, axis_of, axis_spec, one_axis
from mcsim.scene.joints._joint import BodyName, Joint, TreeKind


class SliderJoint(Joint):
    """Lets b only slide along an axis of a: 1 free distance [m].

    axis: the joint's z; anchor: the joint's point [m], b's position if not given (a's if b is the world).
    Both in world coordinates. limits: (lower, upper) [m]; motor, spring: [N], [m]; friction [N]; motion:
    prescribes the distance. armature: mass of a rotor that goes with the distance [kg].
    """

    type = "slider"
    coordinates: ClassVar[tuple[str, ...]] = ("way",)
    tree: ClassVar[TreeKind | None] = TreeKind("prismatic", ways="z")
    urdf: ClassVar[tuple[str, ...]] = ("prismatic",)

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        axis: Vector | None = None,
        anchor: Vector | None = None,
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
        axis = axis_of(axis, "axis", required=frame_a is None and frame_b is None)
        anchor = anchor_of(anchor, required=False)
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
            axis=axis,
            anchor=anchor,
            motion=motion,
            armature=not_negative(armature, "armature"),
            **driven,
        )

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), from_axes(self._arguments["axis"])
