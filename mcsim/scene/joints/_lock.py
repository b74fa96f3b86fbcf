"""LockJoint: its arguments."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.rotation import IDENTITY, Frame, compose, from_axes
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, Vector, show
from mcsim.scene.joints._arguments import FrameArgument, anchor_of, axis_of
from mcsim.scene.joints._joint import BodyName, Joint

AXES = "xyz"


class LockJoint(Joint):
    """Takes chosen motions from b: it does not slide along, or not turn about, axes of a, which are the world's where a is
    None. A flat scene's bodies are locked along z and about x and y, a figure that must not topple about x and y. No free
    coordinate is measured.

    translation: the axes along which b's point stays where it is, of "xyz"; rotation: the axes about which b does not turn,
    likewise. One of the two names an axis.
    anchor: b's point [m], its centre of mass if not given (a's if b is the world); axis: the joint's z, its x is then the
    direction nearest to the world's. Both in world coordinates: without an axis x, y and z are the world's at the initial
    pose.

    With two rotations locked b turns about the third axis alone, with all three it keeps its orientation: the joint holds
    the angles. With one locked there is no angle to hold, for turns about the two others add up to one about it: then the
    angular velocity along the axis is 0, as if the moment of inertia about it were infinite.
    """

    type = "lock"
    locks: int
    _center: np.ndarray  # of mass, of b where it was placed

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        translation: str = "",
        rotation: str = "",
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
        along, about = axes_of(translation, "translation"), axes_of(rotation, "rotation")
        if not along and not about:
            raise FieldError("", 'locks nothing: name axes in translation or rotation, such as rotation="xy"')
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
            translation=along,
            rotation=about,
            anchor=anchor_of(anchor, required=False),
            axis=axis_of(axis, "axis", required=False),
        )
        self._set(locks=bits_of(along) | bits_of(about) << len(AXES))

    def _frames(self, a: Body | None, b: Body | None) -> tuple[Frame, Frame, float]:
        held = a if b is None else b
        if held is not None:
            self._set(_center=compose((held.position, held.orientation), (held.center_of_mass, IDENTITY[1]))[0])
        return super()._frames(a, b)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        axis = self._arguments["axis"]
        point = self._center if self._arguments["anchor"] is None else self._point(body_a, body_b)
        return point, from_axes((0.0, 0.0, 1.0) if axis is None else axis)


def axes_of(value: str, field: str) -> str:
    """Some of "xyz", in this order."""
    if not isinstance(value, str) or set(value) - set(AXES) or len(set(value)) < len(value):
        raise FieldError(field, f'must name axes, each once, such as "z" or "xy", got {show(value)}')
    return "".join(axis for axis in AXES if axis in value)


def bits_of(axes: str) -> int:
    return sum(1 << AXES.index(axis) for axis in axes)
