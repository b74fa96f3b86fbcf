"""Many bodies at once: what they share is checked once, and what is each one's own as whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.linear import lengths
from mcsim.core.rotation import normalized
from mcsim.scene.bodies import Body, Kept, checked_motion
from mcsim.scene.checks import LISTS, QUATERNION_TOLERANCE, FieldError, items, unit_quaternion, vector
from mcsim.scene.described import lock
from mcsim.scene.shapes import Shape

# Array -> what it is of one body, and its size.
POSES = {
    "positions": ("position", 3),
    "orientations": ("orientation", 4),
    "velocities": ("velocity", 3),
    "angular_velocities": ("angular_velocity", 3),
}
# Of all, or a list of one for each.
LISTED = ("density", "mass", "material", "user_data")


class Columns(NamedTuple):
    """What bodies have of their own: number of them, name -> (n, 3) or (n, 4) float64 of POSES that are given, and
    argument -> list of n of what differs."""

    number: int
    poses: dict[str, Any]
    lists: dict[str, Sequence[Any]]


def columns_of(names: Any, shapes: Any, poses: Mapping[str, Any], shared: dict[str, Any]) -> Columns:
    """Takes what is a list of one for each out of `shared`."""
    lists: dict[str, Sequence[Any]] = {}
    if names is not None:
        lists["name"] = items(names, "a list of names", "names")
    if shapes is not None and not isinstance(shapes, Shape):
        lists["shape"] = items(shapes, "a shape, or a list of one for each body", "shapes")
    else:
        shared["shape"] = shapes
    for field in LISTED:
        if isinstance(shared[field], (*LISTS, np.ndarray)) and np.ndim(shared[field]) != 0:
            lists[field] = list(shared.pop(field))
    given = {field: value for field, value in poses.items() if value is not None}
    rows = {field: _rows(value) for field, value in given.items()}
    counts = {_plural(field): len(value) for field, value in lists.items()}
    counts |= {field: count for field, count in rows.items() if count is not None}
    if not counts:
        raise FieldError("", "do not know how many: give names, positions (n, 3), or a list of shapes")
    first, count = next(iter(counts.items()))
    for field, other in counts.items():
        if other != count:
            raise FieldError(field, f"has {other} where {first} has {count}: each is of one body")
    return Columns(count, given, lists)


def _rows(value: Any) -> int | None:
    """How many bodies an array is of; None: one for all of them."""
    if isinstance(value, np.ndarray):
        return None if value.ndim == 1 else len(value)
    return len(value) if hasattr(value, "__len__") and len(value) and hasattr(value[0], "__len__") else None


def _plural(field: str) -> str:
    return field if field in LISTED else f"{field}s"


def _checked(field: str, value: Any, count: int, subject: Callable[[int], str]) -> np.ndarray:
    """(n, size) float64 of its own, read-only; errors are those of one body, and name it."""
    name, size = POSES[field]
    try:
        given = np.asarray(value)
        array = np.array(given, float)
    except (OverflowError, TypeError, ValueError):
        given = array = np.zeros(0)
    ok = array.shape in ((size,), (count, size)) and bool(np.isfinite(array).all()) and given.dtype.kind in "iuf"
    if ok and size == 4:
        ok = bool((np.abs(lengths(array) - 1.0) < 0.5 * QUATERNION_TOLERANCE).all())
    if not ok:
        check = unit_quaternion if size == 4 else vector
        one = _rows(value) is None
        for i, row in enumerate([value] if one else value):
            try:
                check(row, name)
            except FieldError as error:
                raise error.within(subject(0 if one else i)) from None
    return lock(np.ascontiguousarray(np.broadcast_to(array, (count, size))))


def bodies_of(names: Sequence[str], first: int, columns: Columns, shared: Mapping[str, Any]) -> list[Body]:
    """names: of all; first: the number of the first; shared: the arguments of Body that all of them have."""

    def subject(i: int) -> str:
        return f"body {names[i]!r}"

    count = columns.number
    arrays = {POSES[f][0]: _checked(f, value, count, subject) for f, value in columns.poses.items()}
    _check_motion(arrays, shared, subject)
    rows = {name: list(map(tuple, array.tolist())) for name, array in arrays.items()}
    if "orientation" in arrays:
        q = arrays["orientation"]
        arrays["orientation"] = lock(q / lengths(q)[:, None])  # to the bit as `normalized` has each
    own = [field for field in ("shape", *LISTED[:3]) if field in columns.lists]
    made: dict[tuple[Any, ...], Body] = {}
    result = []
    for i in range(count):
        key = tuple(_key(columns.lists[field][i]) for field in own)
        like = made.get(key)
        if like is None:
            try:
                like = Body(0, names[i], **{**shared, **{field: columns.lists[field][i] for field in own}})
            except FieldError as error:
                raise error.within(subject(i)) from None
            made[key] = like
        told = {field: tuples[i] for field, tuples in rows.items()}
        body = alike(like, first + i, names[i], told, {field: array[i] for field, array in arrays.items()})
        if "user_data" in columns.lists:
            body.__dict__["_own"] = Kept(columns.lists["user_data"][i])
        result.append(body)
    return result


def alike(like: Body, index: int, name: str, told: dict[str, Any], arrays: dict[str, np.ndarray]) -> Body:
    """A body that differs from another in its place alone. told: of its pose and velocities the checked arguments that
    differ; arrays: the attributes that they come to, read-only."""
    body = object.__new__(Body)
    own = body.__dict__
    own.update(like.__dict__)
    own.update(arrays)
    own.update(_arguments={**like._arguments, "name": name, **told}, index=index, name=name, shapes=list(like.shapes))
    if not like.enabled:
        own.update(velocity=like.velocity, angular_velocity=like.angular_velocity)
    return body


def placed(like: Body, index: int, name: str, fields: Mapping[str, Any], written: frozenset[str]) -> Body:
    """The same from what a file says: the pose and velocities that are in `fields`, the others as of `like`, which was made
    without them. written: the names of all that the file says."""
    told: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for field, size in POSES.values():
        if field not in fields:
            continue
        if size == 4:
            told[field] = unit_quaternion(fields[field], field)
            arrays[field] = lock(normalized(told[field]))
        else:
            told[field] = _checked_place(fields[field], like.described_kind, field)
            arrays[field] = lock(np.array(told[field]))
    body = alike(like, index, name, told, arrays)
    body.__dict__["_written"] = written
    return body


def _checked_place(value: Any, kind: str, field: str) -> tuple[float, ...]:
    return vector(value, field) if field == "position" else checked_motion(value, kind, field)


def _key(value: Any) -> Any:
    """What is the same for what makes the same body."""
    return value if isinstance(value, (int, float)) else id(value)


def _check_motion(arrays: Mapping[str, np.ndarray], shared: Mapping[str, Any], subject: Callable[[int], str]) -> None:
    """Of static bodies: none moves."""
    for field in ("velocity", "angular_velocity"):
        if shared["kind"] == "static" and field in arrays and arrays[field].any():
            i = int(np.flatnonzero(arrays[field].any(axis=1))[0])
            try:
                checked_motion(arrays[field][i], "static", field)
            except FieldError as error:
                raise error.within(subject(i)) from None
