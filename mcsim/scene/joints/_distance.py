"""DistanceJoint: its arguments, what it measures, and how generalized coordinates have it."""

from __future__ import annotations  # signatures read as they are written here

from math import inf
from typing import Any, ClassVar

import numpy as np

from mcsim.core.rotation import IDENTITY, Frame
from mcsim.scene.checks import FieldError, Vector, positive, vector
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring
from mcsim.scene.joints._arguments import FrameArgument, Limits, axis_spec, one_axis
from mcsim.scene.joints._joint import BodyName, Joint

SHORTEST_ROD = 1e-9  # [m]; a shorter one has no direction


class DistanceJoint(Joint):
    """A rod, a rope or a spring between a point of a and a point of b. Its position is their distance [m].

    anchor_a, anchor_b: the two points, in world coordinates [m].
    A rod, if nothing below is given: it keeps `length` [m], the distance at the initial pose if that is None.
    limits: (shortest, longest) distance [m]: a rope is (None, longest). spring, motor [N], [m]; friction [N].
    With a spring, `length` is where it is at rest, in place of the spring's own `rest`. motion: prescribes the
    distance, which must stay above zero.
    """

    type = "distance"
    coordinates: ClassVar[tuple[str, ...]] = ("way",)
    turns_freely = True

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        anchor_a: Vector | None = None,
        anchor_b: Vector | None = None,
        length: float | None = None,
        limits: Limits | None = None,
        spring: Spring | None = None,
        *,
        motor: Motor | None = None,
        friction: float = 0.0,
        name: str | None = None,
        frame_a: FrameArgument | None = None,
        frame_b: FrameArgument | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
        motion: Motion | None = None,
    ) -> None:
        required = frame_a is None and frame_b is None
        for field, anchor in (("anchor_a", anchor_a), ("anchor_b", anchor_b)):
            if anchor is None and required:
                raise FieldError(field, "is missing: give both anchors in world coordinates, or frame_a and frame_b")
        anchor_a, anchor_b = (
            None if anchor is None else vector(anchor, field)
            for field, anchor in (("anchor_a", anchor_a), ("anchor_b", anchor_b))
        )
        length = None if length is None else positive(length, "length")
        driven = one_axis(limits, motor, spring, friction)
        rod = driven["limits"] is None and spring is None and motor is None and driven["friction"] == 0.0 and motion is None
        axis = self._axis_of(length, rod, **driven)
        self._describe(
            a,
            b,
            name,
            frame_a,
            frame_b,
            collide,
            break_force,
            break_torque,
            [axis],
            anchor_a=anchor_a,
            anchor_b=anchor_b,
            length=length,
            motion=motion,
            **driven,
        )
        self._set(constant=(length or 0.0) if rod else inf)

    @staticmethod
    def _axis_of(length: Any, rod: Any, limits: Any, motor: Any, spring: Any, friction: Any) -> Any:
        """The AxisSpec of the distance."""
        if length is not None and not rod and spring is None:
            raise FieldError(
                "length", "is that of a rod, or of a spring at rest; leave it out with limits, motor, friction or motion"
            )
        if length is not None and spring is not None:
            if spring.rest not in (0.0, length):
                raise FieldError("length", f"is {length:g} but spring.rest is {spring.rest:g}; give one of the two")
            spring = Spring(**spring._arguments | {"rest": length})
        if limits is not None:
            if limits[1] <= 0.0:
                raise FieldError("limits", f"leave no room: a distance is not below zero, got {limits}")
            # A distance is never below zero; a limit there would keep the two points from passing each other.
            limits = (limits[0] if limits[0] > 0.0 else -inf, limits[1])
        return axis_spec(limits, motor, spring, friction)

    def _world_frames(self, body_a: Frame, body_b: Frame) -> tuple[Frame, Frame]:
        a, b = (np.array(self._arguments[field]) for field in ("anchor_a", "anchor_b"))
        return (a, IDENTITY[1]), (b, IDENTITY[1])

    def _constant_at(self, gap: float) -> float:
        if self.constant != 0.0:
            return self.constant
        if gap < SHORTEST_ROD:
            raise FieldError(
                "length", "would be zero: the two points of the rod coincide; give a length, or place them apart"
            )
        return gap

    def _told_axes(self, axes: list[AxisSpec]) -> dict[str, Any]:
        told = super()._told_axes(axes)
        if self.constant == inf:  # no rod, whatever acts: limits that do not bind say so
            told = told | {"length": None, "limits": told["limits"] or (-inf, inf)}
        return told

    def _told_by_frames(self) -> dict[str, Any]:
        return super()._told_by_frames() | ({"length": self.constant} if self.constant < inf else {})
