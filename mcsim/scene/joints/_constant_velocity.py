"""ConstantVelocityJoint: its arguments."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.rotation import Frame, from_axes
from mcsim.scene.checks import Vector
from mcsim.scene.joints._arguments import FrameArgument, anchor_of, axis_of
from mcsim.scene.joints._joint import BodyName, Joint


class ConstantVelocityJoint(Joint):
    """Keeps a point together and lets b bend against a, but not twist: two shafts that meet in the point turn at one
    speed, however they are bent. No free coordinate is measured.

    anchor: the point where the shafts meet [m]; axis: the shaft's direction on both bodies, the joint's z. Both in world
    coordinates. The bodies may also be described bent, by frame_a and frame_b, each with z along its own shaft.
    """

    type = "constant_velocity"

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
        required = frame_a is None and frame_b is None
        anchor, axis = anchor_of(anchor, required), axis_of(axis, "axis", required)
        self._describe(a, b, name, frame_a, frame_b, collide, break_force, break_torque, [], anchor=anchor, axis=axis)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return np.array(self._arguments["anchor"]), from_axes(self._arguments["axis"])
