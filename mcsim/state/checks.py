"""A state that comes from outside: every number is looked at before a kernel is.

Kernels trust their arrays: what is an index, a count or a choice there must be one, or they read and write where nothing
is theirs. RULES says of each field of a saved record what it may hold; numbers that a step has made may be anything, for
a step may have made anything of them, and the next one says if they are not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene.joints import TYPES
from mcsim.scene.shapes import SHAPES, Surface
from mcsim.state.fields import AWAKE, BODY_FIELDS, BODY_KINDS, DISABLED, JOINT_TYPES

DYNAMIC = BODY_KINDS.index("dynamic")
SURFACES = [number for number, shape in enumerate(SHAPES.values()) if issubclass(shape, Surface)]
MOST_PARTS = 32  # manifolds of a surface and a solid: collide/_parts.pxd
MOST_OF_SOLIDS = 6  # and of two solids: collide/_patch.pxd
MOST_ROWS = 6  # of a joint itself
MOST_ASKED = 8  # steps until a joint is asked anew: Joint.held
UNIT = 1e-6  # how far a quaternion's length may be from 1

Rule = Callable[[np.ndarray], np.ndarray]  # which of the values may be there

# ---- what a field may hold -------------------------------------------------------------------------------------------


def anything(values: np.ndarray) -> np.ndarray:
    """A result of a step, which the next one looks at."""
    return np.ones(values.shape, bool)


def finite(values: np.ndarray) -> np.ndarray:
    return np.isfinite(values)


def not_negative(values: np.ndarray) -> np.ndarray:
    return (values >= 0.0) & np.isfinite(values)


def bound(values: np.ndarray) -> np.ndarray:
    """A limit: a number, or infinite for none."""
    return ~np.isnan(values)


def strength(values: np.ndarray) -> np.ndarray:
    """A number of at least 0, or infinite."""
    return values >= 0.0


def quaternion(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        unit = np.abs(np.sum(values * values, axis=-1) - 1.0) <= 2.0 * UNIT
    return np.broadcast_to(unit[..., None], values.shape)


def up_to(most: int) -> Rule:
    """A whole number from 0 to `most`."""
    return lambda values: (values >= 0) & (values <= most)


BODY_RULES: dict[str, Rule] = {
    "position": anything,
    "orientation": anything,
    "twist": anything,
    "force": anything,
    "gravity_scale": finite,
    "linear_damping": not_negative,
    "angular_damping": not_negative,
    "bullet": up_to(1),
    "island": lambda values: (values >= AWAKE) & (values <= np.arange(len(values))),
    "still_time": anything,
    "still_speed": anything,
    "carrier": finite,
    "borne": anything,
}

AXIS_RULES: dict[str, Any] = {
    "position": anything,
    "velocity": anything,
    "lower": bound,
    "upper": bound,
    "motor_velocity": finite,
    "motor_position": finite,
    "motor_max_force": strength,
    "motor_hertz": not_negative,
    "motor_damping_ratio": not_negative,
    "motor_kp": not_negative,
    "motor_kd": not_negative,
    "motor_max_velocity": strength,
    "stiffness": not_negative,
    "damping": not_negative,
    "rest": finite,
    "friction": not_negative,
    "armature": not_negative,
    "moved": not_negative,
    "impulse": anything,
    "motor_mode": up_to(3),
    "has_spring": up_to(1),
    "motion": anything,
    "motion_mode": up_to(2),
    "spring_acts": up_to(2),
}

JOINT_RULES: dict[str, Any] = {
    "type": anything,
    "body_a": anything,
    "body_b": anything,
    "axis_count": anything,
    "row_begin": anything,
    "row_count": anything,
    "constraint_count": up_to(MOST_ROWS),
    "active_limits": up_to(2**13 - 1),
    "anchor_a": finite,
    "basis_a": quaternion,
    "anchor_b": finite,
    "basis_b": quaternion,
    "swing_limit": strength,
    "swing_impulse": anything,
    "impulse": anything,
    "wrench_impulse": anything,
    "axes": AXIS_RULES,
    "constant": bound,
    "break_force": strength,
    "break_torque": strength,
    "broken": up_to(2),
    "breakable": up_to(1),
    "radius": not_negative,
    "disc": up_to(1),
    "user": anything,
    "ratio": finite,
    "geared": anything,
    "geared_axis": anything,
    "user_size": anything,
    "held": lambda values: abs(values.astype(np.int64)) <= MOST_ASKED,
    "length": anything,
    "push": anything,
    "locks": up_to(63),
    "folded": anything,
}

POINT_RULES = dict.fromkeys(
    (
        "position",
        "separation",
        "normal_impulse",
        "total_normal_impulse",
        "friction_impulse",
        "total_friction_impulse",
        "feature",
        "share",
        "cross",
    ),
    anything,
)

ORIGIN_RULES = dict.fromkeys(
    ("limit", "turn", "offset", "spots", "gaps", "line_a", "line_b", "line", "reserved"), anything
) | {"owner": up_to(3)}

MANIFOLD_RULES: dict[str, Any] = {
    "key": anything,
    "shape_a": anything,
    "shape_b": anything,
    "body_a": anything,
    "body_b": anything,
    "row_begin": anything,
    "turns": up_to(7),
    "allowance": anything,
    "normal": anything,
    "friction": anything,
    "restitution": anything,
    "rounding_a": anything,
    "rounding_b": anything,
    "friction_impulse": anything,
    "twist_impulse": anything,
    "part": up_to(MOST_PARTS - 1),
    "sheet": anything,
    "touching": up_to(1),
    "point_count": up_to(4),
    "points": POINT_RULES,
    "origin": ORIGIN_RULES,
    "rolling_impulse": anything,
    "line": anything,
    "line_b": anything,
    "size": anything,
    "near": anything,
    "load": anything,
    "thinning": lambda values: (values > 0) & (values <= 1),
}

# What a joint's record has from its scene and no call changes, and what says which rows it has and between which bodies.
CONNECTS = ("type", "body_a", "body_b")
HOLDS = ("axis_count", "constant", "breakable", "disc", "user", "ratio", "geared", "geared_axis", "user_size", "locks")
AXES_HOLD = ("motion_mode", "armature")
LAID_OUT = ("row_begin", "row_count", "folded")  # where a step had its rows: no state
MEASURED = ("length", "push")  # what follows from bodies and settings: no state either


def check_record(
    records: np.ndarray | Mapping[str, np.ndarray], rules: Mapping[str, Any], what: str, name: Callable[[int], str]
) -> None:
    """Refuse records of which a field holds what it may not. rules: field -> rule, or rules of a record; what: their name
    in messages; name(i): what record i is of."""
    for field, rule in rules.items():
        values = records[field]
        if isinstance(rule, dict):
            check_record(values, rule, f"{what}[{field!r}]", name)
            continue
        sound = rule(values)
        if not sound.all():
            place = tuple(np.argwhere(~sound)[0].tolist())
            raise SceneError(f"{what}[{field!r}] of {name(place[0])} holds {values[place]!s}, which no state has")


def check_bodies(arrays: Mapping[str, np.ndarray], kinds: np.ndarray, names: Sequence[str]) -> None:
    """arrays: name -> array, of the saved BODY_FIELDS; kinds (n,); names: of the bodies."""

    def name(i: int) -> str:
        return f"body {names[i]!r}"

    for field in BODY_FIELDS:
        if field.saved:
            check_record(arrays, {field.name: BODY_RULES[field.name]}, "bodies", name)
    island = arrays["island"]
    wrong = (island != AWAKE) & ((kinds != DYNAMIC) | (island[island] != island))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise SceneError(
            f"bodies['island'] of {name(i)} holds {island[i]}: only dynamic bodies sleep, with the first of "
            "those that fell asleep with them"
        )


def _wrong_motors(records: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(j, 6) where there is a motor that nobody can have given the joint."""
    wrong = (records["axes"]["motor_mode"] > 0) & (own["axes"]["motor_mode"] == 0)
    for j, k in zip(*np.nonzero(wrong)):
        joint = own[j]
        takes = k < joint["axis_count"] and TYPES[JOINT_TYPES[joint["type"]]]._takes("motors", int(k))
        rod = JOINT_TYPES[joint["type"]] == "distance" and np.isfinite(joint["constant"])
        wrong[j, k] = rod or not takes or joint["axes"]["motion_mode"][k] != 0
    return wrong


def check_joints(records: np.ndarray, own: np.ndarray, names: Sequence[str]) -> None:
    """records, own: (j,) JOINT_DTYPE, what came and what the world's own joints have; names: of the joints."""
    if any(np.any(records[name] != own[name]) for name in CONNECTS):
        raise SceneError("the snapshot's joints connect other bodies than this world's")
    if not len(own):
        return
    differs = np.zeros(len(own), bool)
    for theirs, mine in (
        [(records[name], own[name]) for name in HOLDS]
        + [(records["axes"][name], own["axes"][name]) for name in AXES_HOLD]
        + [(_wrong_motors(records, own), np.zeros((len(own), 6), bool))]
    ):
        bits = [np.ascontiguousarray(part).view(np.uint8).reshape(len(own), -1) for part in (theirs, mine)]
        differs |= np.any(bits[0] != bits[1], axis=1)
    if differs.any():
        raise SceneError(
            f"in the snapshot, joint {names[int(np.argmax(differs))]!r} holds other coordinates or another "
            "length, pitch or ratio than in this world; restore a snapshot of an equal scene"
        )
    check_record(records, JOINT_RULES, "joints", lambda i: f"joint {names[i]!r}")
    disabled = (records["broken"] == DISABLED) & (own["broken"] != DISABLED) | (records["broken"] == 0) & (
        own["broken"] == DISABLED
    )
    if disabled.any():
        raise SceneError(
            f"in the snapshot, joint {names[int(np.argmax(disabled))]!r} holds, or not, otherwise than the bodies that are "
            "enabled have it"
        )
    broken = (records["broken"] == 1) & (own["breakable"] == 0)
    if broken.any():
        raise SceneError(f"in the snapshot, joint {names[int(np.argmax(broken))]!r} is broken, which nothing can break")


def check_manifolds(records: np.ndarray, shapes: np.ndarray) -> None:
    """records: (m,) MANIFOLD_DTYPE; shapes: (s,) SHAPE_DTYPE of the world that is to take them."""
    check_record(records, MANIFOLD_RULES, "manifolds", "manifold {}".format)
    a, b = records["shape_a"], records["shape_b"]
    there = (a >= 0) & (b >= 0) & (a < len(shapes)) & (b < len(shapes))
    _refuse(~there, records, "is between shapes that there are not")
    body, kind, sensor = shapes["body"], shapes["type"], shapes["sensor"]
    _refuse((records["body_a"] != body[a]) | (records["body_b"] != body[b]), records, "has other bodies than its shapes")
    _refuse((body[a] == body[b]) | (sensor[a] != 0) | (sensor[b] != 0), records, "is between shapes that do not touch")
    key = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    _refuse(records["key"] != key, records, "has the key of other shapes")
    on_surface = np.isin(kind[a], SURFACES) | np.isin(kind[b], SURFACES)
    _refuse(
        ~on_surface & ((records["part"] >= MOST_OF_SOLIDS) | (records["sheet"] != 0)),
        records,
        "has parts, as those of meshes do",
    )
    order = (key[1:] > key[:-1]) | (key[1:] == key[:-1]) & (records["part"][1:] > records["part"][:-1])
    _refuse(np.append(False, ~order), records, "is not where the order of shapes and parts has it, or stands twice")


def _refuse(wrong: np.ndarray, records: np.ndarray, problem: str) -> None:
    if wrong.any():
        i = int(np.argmax(wrong))
        raise SceneError(f"manifold {i}, of shapes {records['shape_a'][i]} and {records['shape_b'][i]}, {problem}")


def check_sensed(pairs: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """-> (k, 2) int32: what was in the sensors, numbers of shapes."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise SceneError(f"what was in the sensors must be (k, 2) whole numbers, got {array.dtype} {array.shape}")
    if np.any((array < 0) | (array >= len(shapes))):
        raise SceneError("what was in the sensors are shapes that there are not")
    array = array.astype(np.int32)
    if np.any(shapes["sensor"][array] != [1, 0]):
        raise SceneError("what was in the sensors are no pairs of a sensor and another shape")
    return array
