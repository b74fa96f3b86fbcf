"""Arguments that several joints take, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import hypot, inf, pi
from typing import Any

import numpy as np

from mcsim.core.linear import dot
from mcsim.core.rotation import Frame, normalized
from mcsim.scene import checks
from mcsim.scene.checks import FieldError, Vector, direction, not_negative, show, text, vector
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring

Limits = Sequence[float | None]
FrameArgument = tuple[Vector, Vector]

UNLIMITED = (-inf, inf)
SEVERAL = {2: "a pair of", 3: "three of", 6: "six of"}
PERPENDICULAR = 1e-6  # cosine up to which two axes count as perpendicular


def body_name(value: Any, field: str) -> str | None:
    """The name that a body's handle (a scene's or a world's), its name or None (the world) stands for."""
    return None if value is None else text(getattr(value, "name", value), field)


def placed_frame(value: tuple[Any, ...] | None) -> Frame | None:
    return None if value is None else (np.array(value[0]), normalized(value[1]))


def bound_of(value: Any, field: str) -> float | None:
    """A force or torque at which a joint breaks; None or infinite: it does not."""
    return None if value is None else not_negative(value, field, infinite=True)


def anchor_of(value: Any, required: bool) -> tuple[Any, ...] | None:
    if value is None and required:
        raise FieldError("anchor", "is missing: give anchor and axes in world coordinates, or frame_a or frame_b")
    return None if value is None else vector(value, "anchor")


def axis_of(value: Any, field: str, required: bool) -> tuple[Any, ...] | None:
    if value is None and required:
        raise FieldError(field, "is missing: give it in world coordinates, or frame_a or frame_b")
    return None if value is None else direction(value, field)


def instance_of(value: Any, kind: type, field: str) -> Any:
    """A Motor or a Spring, or None."""
    if not isinstance(value, kind | None):
        raise FieldError(field, f"must be a {kind.__name__}, got {show(value)}")
    return value


def single(value: Any, kind: type, field: str) -> Any:
    """A Motor or a Spring of one coordinate, or None."""
    for name, coordinate in coordinates(instance_of(value, kind, field)).items():
        if isinstance(coordinate, tuple):
            raise FieldError(f"{field}.{name}", f"must be one number here, got {show(coordinate)}")
    return value


def coordinates(drive: Motor | Spring | None) -> dict[str, Any]:
    """Those arguments of a motor or a spring that are coordinates of the joint."""
    arguments = {} if drive is None else drive._arguments
    return {name: arguments[name] for name in ("velocity", "position", "rest") if arguments.get(name) is not None}


def three_of(drive: Any, kind: type, field: str) -> list[Any]:
    """The motor or the spring of a ball joint as one for each of its three axes, in numbers; three may be given."""
    if isinstance(drive, (list, tuple)):
        what = f"a {kind.__name__} or three of {kind.__name__} or None"
        return list(each_of(drive, 3, field, what, lambda one, place: single(one, kind, place)) or ())
    if instance_of(drive, kind, field) is None:
        return [None, None, None]
    three = {}
    for name, coordinate in coordinates(drive).items():
        if not isinstance(coordinate, tuple):
            if name != "rest" or coordinate != 0.0:
                raise FieldError(f"{field}.{name}", f"must be 3 numbers for a ball joint, got {show(coordinate)}")
            coordinate = (0.0, 0.0, 0.0)
        if name != "velocity" and hypot(*coordinate) > pi:
            raise FieldError(f"{field}.{name}", f"must be a rotation vector of at most π rad, got {show(coordinate)}")
        three[name] = coordinate
    return [kind(**drive._arguments | {name: of_axes[i] for name, of_axes in three.items()}) for i in range(3)]


def swing_of(value: Any) -> float | None:
    """How far a ball joint's axis may lean [rad]; None if it is not given, or infinite."""
    if value is None:
        return None
    value = checks.not_negative(value, "swing_limit", infinite=True)
    return None if value == inf else checks.within(value, 0.0, pi, "swing_limit")


def twist_of(value: Any, field: str) -> Any:
    """(lower, upper) of a ball joint's twist [rad], or None."""
    value = checks.interval(value, field)
    if any(abs(limit) > pi for limit in value or () if limit not in UNLIMITED):
        raise FieldError(field, f"must be in [-π, π] rad, got {show(value)}")
    return value


def each_of(value: Any, count: int, field: str, what: str, check: Callable[[Any, str], Any]) -> tuple[Any, ...] | None:
    """`count` things, one for each axis of a joint, each checked by `check`; None if there are none."""
    if value is None:
        return None
    parts = checks.items(value, what, field)
    if len(parts) != count:
        raise FieldError(field, f"must be {what}, got {show(value)}")
    return tuple(check(parts[i], f"{field}[{i}]") for i in range(count))


def perpendicular(axis: tuple[Any, ...], field: str, other: tuple[Any, ...], other_field: str) -> None:
    """Refuse two axes that are not at right angles."""
    cosine = dot(normalized(axis), normalized(other))
    if abs(cosine) > PERPENDICULAR:
        raise FieldError(other_field, f"must be perpendicular to {field}, the cosine between them is {cosine:.3g}")


def sizes_of(value: Any, count: int, field: str) -> Any:
    """A number at least 0 for all coordinates of a joint, or one for each."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return not_negative(value, field)
    return each_of(value, count, field, f"a number or {SEVERAL[count]} them", not_negative)


def several_axes(count: int, limits: Any, motor: Any, spring: Any, friction: Any) -> dict[str, Any]:
    """What a joint with 2, 3 or 6 free coordinates takes for them: one thing or None for each."""
    of = SEVERAL[count]
    return {
        "limits": each_of(limits, count, "limits", f"{of} (lower, upper) or None", checks.interval),
        "motor": each_of(motor, count, "motor", f"{of} Motor or None", lambda m, field: single(m, Motor, field)),
        "spring": each_of(spring, count, "spring", f"{of} Spring or None", lambda s, field: single(s, Spring, field)),
        "friction": sizes_of(friction, count, "friction"),
    }


def axis_specs(count: int, limits: Any, motor: Any, spring: Any, friction: Any) -> list[AxisSpec]:
    """The axes that go with `_several_axes`."""
    none = (None,) * count
    return [
        axis_spec(*of_axis)
        for of_axis in zip(limits or none, motor or none, spring or none, np.broadcast_to(friction, count).tolist())
    ]


def whole_motion(motion: Any) -> tuple[Any, ...] | None:
    """The three motions of a ball joint's rotation vector: all of them, or none."""
    if motion is None:
        return None
    three = checks.items(motion, "three of Motion, of the rotation vector", "motion")
    if len(three) != 3 or not all(isinstance(one, Motion) for one in three):
        raise FieldError("motion", f"must be three of Motion, of the rotation vector, got {show(motion)}")
    return tuple(three)


def with_armature(axes: list[AxisSpec], armature: Any) -> list[AxisSpec]:
    """The axes with their rotors, of an armature that was checked: a number for all of them, or one for each."""
    if not np.any(armature):
        return axes
    return [replace(axis, armature=one) for axis, one in zip(axes, np.broadcast_to(armature, len(axes)).tolist())]


def with_motion(axes: list[AxisSpec], motion: Any) -> list[AxisSpec]:
    """The axes with their prescribed motions, which were counted: a Motion for the first, or one or None for each of the
    first ones."""
    given = motion if isinstance(motion, tuple) else (motion,)
    motions = [*(instance_of(one, Motion, "motion") for one in given), *[None] * (len(axes) - len(given))]
    for axis, one in zip(axes, motions):
        if one is not None and axis.motor is not None:
            raise FieldError("motion", "is given together with a motor for the same axis; give one or the other")
    return [replace(axis, motion=one) for axis, one in zip(axes, motions)]


def one_axis(limits: Any, motor: Any, spring: Any, friction: Any) -> dict[str, Any]:
    """What a joint with one free coordinate takes for it."""
    return {
        "limits": checks.interval(limits, "limits"),
        "motor": single(motor, Motor, "motor"),
        "spring": single(spring, Spring, "spring"),
        "friction": not_negative(friction, "friction"),
    }


def axis_spec(limits: Any, motor: Motor | None, spring: Spring | None, friction: float) -> AxisSpec:
    lower, upper = limits or UNLIMITED
    return AxisSpec(lower, upper, motor, spring, friction)


def motions(value: Any, count: int) -> tuple[Any, ...] | None:
    """A Motion or None for each of several coordinates."""
    return each_of(
        value,
        count,
        "motion",
        f"{count} of Motion or None, one a coordinate",
        lambda motion, field: instance_of(motion, Motion, field),
    )
