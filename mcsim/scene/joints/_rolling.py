"""RollingJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.core.linear import dot, length
from mcsim.core.rotation import IDENTITY, from_axes, normalized, relative
from mcsim.scene import checks
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, Vector, direction
from mcsim.scene.joints._arguments import PERPENDICULAR, FrameArgument, anchor_of, axis_of
from mcsim.scene.joints._joint import BodyName, Joint


class RollingJoint(Joint):
    """A sphere or disc b rolls without slipping on a plane of a (or of the world), and does not leave it. No free
    coordinate is measured.

    radius: of the sphere or disc [m]. normal: of the plane, towards b. anchor: the centre of the sphere or disc [m],
    b's position if not given. axis: that of the disc; without it b is a sphere. All in world coordinates at the initial
    pose, at which the plane touches b.
    With frames: frame_a is a point of the plane with z along the normal, frame_b the centre with z along the disc's
    axis; both are needed, and `disc` says which of the two b is.
    """

    type = "rolling"
    turns_freely = True
    radius: float
    disc: bool

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        radius: float,
        normal: Vector = (0.0, 0.0, 1.0),
        anchor: Vector | None = None,
        axis: Vector | None = None,
        *,
        disc: bool | None = None,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
    ):
        radius = checks.positive(radius, "radius")
        normal, axis = direction(normal, "normal"), axis_of(axis, "axis", required=False)
        disc = None if disc is None else checks.flag(disc, "disc")
        if b is None:
            raise FieldError("b", "must be the body that rolls, got None")
        if (frame_a is None) != (frame_b is None):
            raise FieldError(
                "frame_a" if frame_a is None else "frame_b", "is missing: a rolling joint takes both or neither"
            )
        if frame_a is None and disc is not None and disc != (axis is not None):
            raise FieldError(
                "axis", "is missing: a disc needs it" if disc else "is given for a sphere; leave it or disc out"
            )
        if axis is not None and length(np.cross(normalized(axis), normalized(normal))) < PERPENDICULAR:
            raise FieldError("axis", "is along the normal: a disc that lies flat cannot roll")
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            [],
            radius=radius,
            normal=normal,
            anchor=anchor_of(anchor, required=False),
            axis=axis,
            disc=disc,
        )
        self._set(radius=radius, disc=axis is not None if disc is None else disc)

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        if self.frame_a is None:
            body_a, body_b = (IDENTITY if body is None else (body.position, body.orientation) for body in bodies)
            center, normal = self._point(body_a, body_b), normalized(self._arguments["normal"])
            wheel = normalized(self._arguments["axis"]) if self.disc else normal
            lowest = normal - dot(normal, wheel) * wheel if self.disc else normal
            touch = center - self.radius * normalized(lowest)
            self._set(
                frame_a=relative(body_a, (touch, from_axes(normal))), frame_b=relative(body_b, (center, from_axes(wheel)))
            )
        super()._place(index, name, bodies)

    def _told_by_frames(self) -> dict[str, Any]:
        return super()._told_by_frames() | {"disc": self.disc}
