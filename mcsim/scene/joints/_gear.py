"""GearJoint: couples a coordinate of one joint with a coordinate of another."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable
from math import inf, nan
from numbers import Integral
from typing import Any

from mcsim.scene import checks
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, number, show, text
from mcsim.scene.joints._arguments import bound_of
from mcsim.scene.joints._joint import Joint

JointName = Joint | str


class GearJoint(Joint):
    """Couples a coordinate q_a of joint_a with a coordinate q_b of joint_b: q_a + ratio q_b stays as it is.

    So joint_a turns by -ratio for each radian of joint_b: two meshing wheels on a frame have ratio r_b / r_a, an inner
    wheel in a ring -r_b / r_a. Hinge and slider make a rack (ratio in m/rad if joint_a is the slider), a cylindrical
    joint's way and angle a screw. What the joints hang on bears the reaction; it may move (a planetary gear's carrier),
    or be the world. No free coordinate of its own; its force and torque are those on the moving body of joint_b.

    joint_a, joint_b: handles or names of joints that are in the scene. ratio: [unit of q_a per unit of q_b], not zero.
    axis_a, axis_b: which coordinate, counted from 0; needed for a joint with several. A rotation vector's cannot be
      geared.
    constant: what q_a + ratio q_b is kept at; that of the initial pose if None.
    collide: whether the two moving bodies collide with each other.
    """

    type = "gear"
    joint_a: str
    joint_b: str
    ratio: float
    axis_a: int
    axis_b: int

    def __init__(
        self,
        joint_a: JointName,
        joint_b: JointName,
        ratio: float,
        *,
        axis_a: int | None = None,
        axis_b: int | None = None,
        constant: float | None = None,
        name: str | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
    ):
        ratio = number(ratio, "ratio")
        if ratio == 0.0:
            raise FieldError("ratio", "must not be zero: joint_a would be locked")
        arguments = {
            "joint_a": _joint_name(joint_a, "joint_a"),
            "joint_b": _joint_name(joint_b, "joint_b"),
            "ratio": ratio,
            "axis_a": _axis_number(axis_a, "axis_a"),
            "axis_b": _axis_number(axis_b, "axis_b"),
            "constant": None if constant is None else number(constant, "constant"),
            "name": None if name is None else text(name, "name"),
            "break_force": bound_of(break_force, "break_force"),
            "break_torque": bound_of(break_torque, "break_torque"),
            "collide": checks.flag(collide, "collide"),
        }
        self._set(
            _arguments=arguments,
            _ends=(None, None),
            index=None,
            name=arguments["name"],
            a=None,
            b=None,
            axes=[],
            joint_a=arguments["joint_a"],
            joint_b=arguments["joint_b"],
            ratio=ratio,
            frame_a=None,
            frame_b=None,
            collide=arguments["collide"],
            swing_limit=inf,
            constant=nan if constant is None else arguments["constant"],
            **{bound: inf if arguments[bound] is None else arguments[bound] for bound in ("break_force", "break_torque")},
        )

    def _look_up(self, body_of: Callable[[Body | str], Body], joint_of: Callable[[Joint | str], Joint]) -> None:
        """The two joints, which of their coordinates, and as a and b the bodies that they move."""
        ends, frames = [], []
        for side in "ab":
            try:
                joint = joint_of(getattr(self, f"joint_{side}"))
            except FieldError as error:
                raise FieldError(f"joint_{side}", f"is wrong: {error.problem}; add the joint before its gear") from None
            self._set(**{f"axis_{side}": _coordinate(joint, self._arguments[f"axis_{side}"], f"axis_{side}")})
            on_b = joint.b is not None and body_of(joint.b).kind == "dynamic"
            ends.append(joint.b if on_b else joint.a)
            frames.append(joint.frame_b if on_b else joint.frame_a)
        if (self.joint_a, self.axis_a) == (self.joint_b, self.axis_b):
            raise FieldError(
                "joint_b",
                f"is joint_a, {self.joint_a!r}, and so is the coordinate; give another joint, "
                "or another of its coordinates",
            )
        self._set(_ends=tuple(ends), a=ends[0], b=ends[1], frame_a=frames[0], frame_b=frames[1])

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        self._set(index=index, name=name, _arguments=self._arguments | {"name": name})

    def _told_by_frames(self) -> dict[str, Any]:
        return self._arguments

    def __repr__(self) -> str:
        place = "" if self.index is None else f" {self.index} {self.name!r}"
        return f"<GearJoint{place}: {self.joint_a!r} - {self.joint_b!r}, ratio {self.ratio:g}>"


def _joint_name(value: Any, field: str) -> str:
    if not isinstance(value, str) and getattr(value, "index", 0) is None:  # what was removed says so when asked
        raise FieldError(field, f"is not in a scene yet: {value!r}; give what Scene.add_joint returned")
    return text(getattr(value, "name", value), field)


def _axis_number(value: Any, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise FieldError(field, f"must be a coordinate's number, got {show(value)}")
    return int(value)


def _coordinate(joint: Joint, axis: int | None, field: str) -> int:
    """The number of a joint's coordinate that a gear can take."""
    names = [i for i in range(len(joint.axes)) if joint.coordinates[i] != "turn"]
    if not names:
        raise FieldError(
            field.replace("axis", "joint"),
            f"is a {joint.type} joint, {joint.name!r}, which has no coordinate that a gear can take",
        )
    if axis is None and len(names) > 1:
        raise FieldError(
            field, f"is missing: the {joint.type} joint {joint.name!r} has several coordinates; give 0 to {names[-1]}"
        )
    if axis is not None and axis not in names:
        raise FieldError(field, f"must be from 0 to {names[-1]} for the {joint.type} joint {joint.name!r}, got {axis}")
    return axis or 0
