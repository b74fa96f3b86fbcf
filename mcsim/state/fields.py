"""Every array of a world, declared once: name, shape, dtype, unit and meaning.

Allocation, snapshot, state hash and the documentation all read these tables. The record dtypes mirror the structs of
``_bodies.pxd``, ``_shape.pxd``, ``_manifold.pxd``, ``_joint.pxd`` and ``_row.pxd``;
``tests/state/test_layout.py`` compares every size and offset.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mcsim.scene.joints import TYPES
from mcsim.scene.shapes import SHAPES


@dataclass(frozen=True)
class Field:
    """One array of the state: `shape` is that of one row; `saved` fields are in snapshots and in the state hash; a
    `setting` may be changed at any time, whatever the scene says."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    unit: str
    meaning: str
    saved: bool = False
    setting: bool = False


AWAKE = -1  # the island of a body that does not sleep
DISABLED = 2  # in a joint's `broken`: it holds nothing while a body of it is not enabled

BODY_FIELDS = (
    Field("kind", (), "i4", "", "0 static, 1 kinematic, 2 dynamic"),
    Field("position", (3,), "f8", "m", "centre of mass, world", saved=True),
    Field("orientation", (4,), "f8", "", "unit quaternion (w, x, y, z), body axes into the world", saved=True),
    Field("twist", (6,), "f8", "m/s, rad/s", "[v; w], world axes", saved=True),
    Field("force", (6,), "f8", "N, N m", "force and torque about the centre of mass for the next step call", saved=True),
    Field("inv_mass", (), "f8", "1/kg", "0 unless dynamic"),
    Field("inertia", (3, 3), "f8", "kg m^2", "about the centre of mass, body axes"),
    Field("inv_inertia", (3, 3), "f8", "1/(kg m^2)", "body axes, 0 unless dynamic"),
    Field("inv_inertia_world", (3, 3), "f8", "1/(kg m^2)", "world axes at the present orientation"),
    Field("locks", (), "i4", "", "what a lock has taken out of inv_mass and inv_inertia_world, as of a joint's `locks`"),
    Field("gravity_scale", (), "f8", "", "multiplies the scene's gravity", saved=True, setting=True),
    Field("linear_damping", (), "f8", "1/s", "rate at which linear velocity decays", saved=True, setting=True),
    Field("angular_damping", (), "f8", "1/s", "rate at which angular velocity decays", saved=True, setting=True),
    Field("bullet", (), "i8", "", "1: does not pass through moving bodies either, however fast", saved=True, setting=True),
    Field("island", (), "i8", "", "-1 awake, else the lowest body of those it fell asleep with", saved=True),
    Field("still_time", (), "f8", "s", "for how long it has hardly moved against what carries it", saved=True),
    Field("still_speed", (), "f8", "m/s", "smoothed speed of its fastest point against that", saved=True),
    Field("carrier", (3,), "f8", "m/s", "velocity of what carries it, against which it is still or not", saved=True),
    Field("borne", (6,), "f8", "N s, N m s", "of what sleeps: what awake bodies give it in a step", saved=True),
)

# What Python alone reads of each body.
BODY_NOTES = (
    Field("mass", (), "f8", "kg", "0 unless dynamic"),
    Field("center_of_mass", (3,), "f8", "m", "in the body's own frame"),
    Field("reach", (), "f8", "m", "how far its shapes reach from the centre of mass, at most; inf of planes"),
    Field("bounces", (), "?", "", "whether a shape of it has a restitution"),
)


def _record(*fields: tuple[Any, ...]) -> np.dtype:
    return np.dtype(list(fields), align=True)


# fmt: off
SHAPE_DTYPE = _record(
    ("type", "i4"), ("body", "i4"), ("group", "i4"), ("mask", "i4"), ("hull", "i4"), ("sensor", "i4"),
    ("size", "f8", 3), ("position", "f8", 3), ("orientation", "f8", 4), ("friction", "f8"), ("restitution", "f8"),
    ("rolling_friction", "f8"), ("torsional_friction", "f8"), ("surface_velocity", "f8", 3),
    ("surface", "i4"), ("material", "i4"),
    ("stiffness", "f8"), ("damping", "f8"), ("tangential_stiffness", "f8"), ("tangential_damping", "f8"),
    ("one_way", "f8", 3), ("rounding", "f8"),
)

HULL_DTYPE = _record(
    ("vertex_begin", "i4"), ("vertex_count", "i4"), ("face_begin", "i4"), ("face_count", "i4"),
    ("edge_begin", "i4"), ("edge_count", "i4"), ("radius", "f8"),
)

MANIFOLD_POINT_DTYPE = _record(
    ("position", "f8", 3), ("separation", "f8"), ("normal_impulse", "f8"), ("total_normal_impulse", "f8"),
    ("friction_impulse", "f8", 3), ("total_friction_impulse", "f8", 3), ("feature", "u8"),
    ("share", "f8"), ("cross", "f8", 3),
)

MANIFOLD_ORIGIN_DTYPE = _record(
    ("limit", "f8"), ("turn", "f8", 4), ("offset", "f8", 3), ("spots", "f8", (3, 4)),
    ("gaps", "f8", 4), ("line_a", "f8", 3), ("line_b", "f8", 3), ("line", "f8", 3),
    ("owner", "i4"), ("reserved", "i4"),
)

MANIFOLD_DTYPE = _record(
    ("key", "u8"), ("shape_a", "i4"), ("shape_b", "i4"), ("body_a", "i4"), ("body_b", "i4"),
    ("row_begin", "i4"), ("turns", "i4"), ("allowance", "f8"),
    ("normal", "f8", 3), ("friction", "f8"), ("restitution", "f8"),
    ("rounding_a", "f8"), ("rounding_b", "f8"), ("friction_impulse", "f8", 3), ("twist_impulse", "f8"),
    ("part", "i4"), ("sheet", "i4"), ("touching", "i4"), ("point_count", "i4"), ("points", MANIFOLD_POINT_DTYPE, 4),
    ("origin", MANIFOLD_ORIGIN_DTYPE), ("rolling_impulse", "f8", 3), ("line", "f8", 3), ("line_b", "f8", 3),
    ("size", "f8"), ("near", "f8"), ("thinning", "f8"), ("load", "f8"),
)

# Of two bodies whose surfaces are told together: collide/_pairs.pxd.
PAIR_GRIP_DTYPE = _record(
    ("key", "u8"), ("friction", "f8"), ("restitution", "f8"), ("rolling", "f8"), ("torsional", "f8"),
)

# A contact that began or ended: collide/_events.pxd.
EVENT_DTYPE = _record(
    ("step", "i8"), ("began", "i4"), ("body_a", "i4"), ("body_b", "i4"), ("shape_a", "i4"), ("shape_b", "i4"),
    ("reserved", "i4"), ("impulse", "f8"), ("position", "f8", 3), ("normal", "f8", 3),
)

JOINT_AXIS_DTYPE = _record(
    ("position", "f8"), ("velocity", "f8"), ("lower", "f8"), ("upper", "f8"),
    ("motor_velocity", "f8"), ("motor_position", "f8"), ("motor_max_force", "f8"), ("motor_hertz", "f8"),
    ("motor_damping_ratio", "f8"), ("motor_kp", "f8"), ("motor_kd", "f8"), ("motor_max_velocity", "f8"),
    ("stiffness", "f8"), ("damping", "f8"), ("rest", "f8"), ("friction", "f8"),
    ("armature", "f8"), ("moved", "f8"), ("impulse", "f8", 6), ("motor_mode", "i4"), ("has_spring", "i4"),
    ("motion", "f8", 6), ("motion_mode", "i4"), ("spring_acts", "i4"),
)

JOINT_DTYPE = _record(
    ("type", "i4"), ("body_a", "i4"), ("body_b", "i4"), ("axis_count", "i4"), ("row_begin", "i4"), ("row_count", "i4"),
    ("constraint_count", "i4"), ("active_limits", "i4"), ("anchor_a", "f8", 3), ("basis_a", "f8", 4),
    ("anchor_b", "f8", 3), ("basis_b", "f8", 4), ("swing_limit", "f8"), ("swing_impulse", "f8"), ("impulse", "f8", 6),
    ("wrench_impulse", "f8", 6), ("axes", JOINT_AXIS_DTYPE, 6), ("constant", "f8"),
    ("break_force", "f8"), ("break_torque", "f8"), ("broken", "i4"), ("breakable", "i4"),
    ("radius", "f8"), ("disc", "i4"), ("user", "i4"),
    ("ratio", "f8"), ("geared", "i4", 2), ("geared_axis", "i4", 2), ("user_size", "i4"), ("held", "i4"),
    ("length", "f8"), ("push", "f8", 2), ("locks", "i4"), ("folded", "i4"),
)

USER_ROW_DTYPE = _record(("error", "f8"), ("curvature", "f8"), ("jacobian", "f8", 12))

ROW_DTYPE = _record(
    ("body_a", "i4"), ("body_b", "i4"), ("block", "i4"), ("block_kind", "i4"),
    ("jacobian", "f8", 12), ("inv_mass_jacobian", "f8", 12), ("bias", "f8", 2), ("compliance", "f8", 2),
    ("mass", "f8", 2), ("lower", "f8"), ("upper", "f8"), ("impulse", "f8"), ("diagonal", "f8"), ("coupling", "f8"),
    ("friction", "f8"), ("lever", "f8"), ("offset", "f8", 2), ("share", "f8", 2), ("normal_begin", "i4"),
    ("normal_count", "i4"), ("kind", "i4"), ("source", "i4"), ("index", "i4"), ("stabilized", "i4"), ("error", "f8"),
    ("restitution", "f8"), ("kick", "f8"),
    ("carry", "f8"), ("curvature", "f8"), ("rate", "f8"), ("size", "f8"), ("push", "f8"),
)
# fmt: on

SHAPE_TYPES = tuple(SHAPES)
BODY_KINDS = ("static", "kinematic", "dynamic")
JOINT_TYPES = tuple(TYPES)
ROW_KINDS = ("joint", "limit", "motor", "spring", "joint_friction", "armature", "normal", "friction", "twist", "rolling")
