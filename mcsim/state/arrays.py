"""A Scene as arrays: what the kernels of a World read and write.

Bodies are a struct of arrays (``fields.BODY_FIELDS``), shapes, hulls and joints are arrays of records. Every body array
has one row before its first, the world's: body -1 is at the origin, never moves and has no inverse mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np

from mcsim.core import linear
from mcsim.scene import Body, GearJoint, Joint, Scene, UserJoint
from mcsim.scene.drives import ACTS, AxisSpec, Motor, Spring
from mcsim.scene.pair_materials import PairMaterial
from mcsim.scene.shapes import ConvexHull, HeightField, Mesh
from mcsim.state._body_watch import BodyWatch
from mcsim.state._closing_up import Rows, any_seen
from mcsim.state._filling import body_sizes, fill_bodies, fill_shapes
from mcsim.state.fields import (
    AWAKE,
    BODY_FIELDS,
    BODY_NOTES,
    DISABLED,
    HULL_DTYPE,
    JOINT_DTYPE,
    JOINT_TYPES,
    PAIR_GRIP_DTYPE,
    SHAPE_DTYPE,
    SHAPE_TYPES,
)
from mcsim.state.surfaces import SurfaceArrays, surface_arrays

ROOM = 64  # rows for bodies that may come
ROOM_PART = 8  # and one more for every so many bodies
COLUMNS = [(field.name, field.shape, np.dtype(field.dtype)) for field in BODY_FIELDS + BODY_NOTES]
SHAPE_NUMBERS = {name: i for i, name in enumerate(SHAPE_TYPES)}


class HasBodies(Protocol):
    """A Scene, or some bodies of one."""

    bodies: list[Body]


class BodyArrays:
    """All body arrays, (n, ...) each, by the names of BODY_FIELDS and BODY_NOTES; `padded` holds them with the world's
    row in front, and `whole` with the room for more behind them."""

    kind: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    twist: np.ndarray
    force: np.ndarray
    inv_mass: np.ndarray
    inertia: np.ndarray
    inv_inertia: np.ndarray
    inv_inertia_world: np.ndarray
    locks: np.ndarray
    gravity_scale: np.ndarray
    linear_damping: np.ndarray
    angular_damping: np.ndarray
    bullet: np.ndarray
    island: np.ndarray
    still_time: np.ndarray
    still_speed: np.ndarray
    carrier: np.ndarray
    borne: np.ndarray
    mass: np.ndarray
    center_of_mass: np.ndarray
    reach: np.ndarray
    bounces: np.ndarray
    watch: BodyWatch  # who may have written into them; of what makes steps with them

    def __init__(self, count: int, whole: dict[str, np.ndarray] | None = None) -> None:
        """whole: arrays that these are the first rows of, behind which there is room for more; new ones if None."""
        self.count = count
        self._views: dict[str, np.ndarray] | None = None  # `padded`, once somebody has asked for it
        if whole is None:
            whole = {name: np.zeros((count + 1, *shape), dtype) for name, shape, dtype in COLUMNS}
            whole["orientation"][:, 0] = 1.0
            whole["island"][:] = AWAKE
        self.whole = whole

    def copied(self) -> BodyArrays:
        """The same, in memory of their own."""
        return BodyArrays(self.count, {name: array.copy() for name, array in self.whole.items()})

    def __getattr__(self, name: str) -> Any:
        """One of the arrays, when it is first asked for."""
        array = self.__dict__.get("whole", {}).get(name)
        if array is None:
            raise AttributeError(f"there is no array {name!r} of bodies")
        view = self.__dict__[name] = array[1 : self.count + 1]
        return view

    @property
    def padded(self) -> dict[str, np.ndarray]:
        """The arrays with the world's row in front, without the room behind them."""
        if self.room == self.count:
            return self.whole
        if self._views is None:
            self._views = {name: array[: self.count + 1] for name, array in self.whole.items()}
            if "watch" in self.__dict__:
                self.watch.padded = True
        return self._views

    @property
    def room(self) -> int:
        """How many bodies there may come to be in the memory of these."""
        return len(self.whole["kind"]) - 1

    def gathered(self, rows: Rows, fresh: BodyArrays, room: int | None = None) -> BodyArrays:
        """Other arrays of these and the `fresh` bodies, in memory of their own. room: for how many bodies; None: for some
        more than there are."""
        more = ROOM + rows.count // ROOM_PART if room is None else room - rows.count
        whole = {name: rows.of(array, fresh.whole[name][1:], more, 1) for name, array in self.whole.items()}
        return BodyArrays(rows.count, whole)

    def edited(self, rows: Rows, fresh: BodyArrays) -> BodyArrays:
        """As `gathered`, for as many bodies as there is room for. In the memory of these, whose rows are edited there later
        (step/_state_arrays.pyx), where none of them moves, and nobody has a view of them: who has one finds it as it was,
        whatever becomes of the world."""
        known = 2 + (self._views is not None)  # the dict, and who asks
        if rows.moves or any_seen(self.whole, known, self.__dict__):
            return self.gathered(rows, fresh, self.room)
        return BodyArrays(rows.count, self.whole)

    def sizes(self) -> np.ndarray:
        """(n,) [m] how far each body reaches from its centre of mass; of what has no shape or no end its radius of
        gyration."""
        return body_sizes(self.whole)[1 : self.count + 1]

    def lengths(self) -> np.ndarray:
        """(n,) [m] the same, inf of points."""
        sizes = self.sizes()
        return np.where(sizes > 0.0, sizes, np.inf)

    @classmethod
    def from_scene(cls, scene: HasBodies) -> Self:
        """The bodies of `scene` at their initial state, in order."""
        arrays = cls(len(scene.bodies))
        fill_bodies(arrays.whole, scene.bodies)
        return arrays


class ShapeArrays:
    """The shapes of all bodies as records, and the pools of their hulls (layout: ``_shape.pxd``, Hull)."""

    shapes: np.ndarray
    hulls: np.ndarray
    vertices: np.ndarray
    face_normals: np.ndarray
    face_offsets: np.ndarray
    face_begin: np.ndarray
    face_index: np.ndarray
    edges: np.ndarray

    def __init__(self, scene: HasBodies) -> None:
        shapes = [shape for body in scene.bodies for shape in body.shapes]
        self.shapes = records = np.zeros(len(shapes), SHAPE_DTYPE)
        fill_shapes(records, scene.bodies, SHAPE_NUMBERS, material_number)
        hulls: list[Any] = []
        pool = _HullPool()
        self.surfaces: list[SurfaceArrays] = []
        known: dict[int, int] = {}  # one of a shape that several bodies have
        for k, shape in enumerate(shapes):
            if isinstance(shape, ConvexHull):
                records["hull"][k] = len(hulls)
                hulls.append(pool.add(shape))
            elif isinstance(shape, Mesh | HeightField):
                if id(shape) not in known:
                    known[id(shape)] = len(self.surfaces)
                    self.surfaces.append(surface_arrays(shape))
                records["surface"][k] = known[id(shape)]
        self.hulls, *arrays = (np.array(hulls, HULL_DTYPE), *pool.arrays()) if hulls else NO_HULLS
        self.pools: Any = (self.hulls, *arrays)  # as Collider takes them
        (self.vertices, self.face_normals, self.face_offsets, self.face_begin, self.face_index, self.edges) = arrays


class _HullPool:
    """Collects hulls into shared arrays."""

    def __init__(self) -> None:
        self.vertices: list[np.ndarray] = []
        self.normals: list[np.ndarray] = []
        self.offsets: list[float] = []
        self.begin, self.index = [0], list[int]()
        self.edges: list[tuple[int, int]] = []

    def add(self, shape: ConvexHull) -> tuple[int | float, ...]:
        record = (
            len(self.vertices),
            len(shape.vertices),
            len(self.offsets),
            len(shape.faces),
            len(self.edges),
            len(shape.edges),
            shape.radius,
        )
        self.vertices.extend(shape.vertices)
        self.normals.extend(shape.face_normals)
        self.offsets.extend(shape.face_offsets)
        for face in shape.faces:
            self.index.extend(face)
            self.begin.append(len(self.index))
        self.edges.extend(shape.edges)
        return record

    def arrays(self) -> tuple[np.ndarray, ...]:
        return (
            np.array(self.vertices, float).reshape(-1, 3),
            np.array(self.normals, float).reshape(-1, 3),
            np.array(self.offsets, float),
            np.array(self.begin, np.int32),
            np.array(self.index, np.int32),
            np.array(self.edges, np.int32).reshape(-1, 2),
        )


NO_HULLS = (np.zeros(0, HULL_DTYPE), *_HullPool().arrays())


def joint_records(scene: Scene, index: Mapping[str, int], joints: Sequence[Joint] | None = None) -> np.ndarray:
    """(joints,) records of JOINT_DTYPE, of all joints or of some; `index` is the number of each body by name.
    Gears whose constant is that of the initial pose have NaN there."""
    joints = scene.joints if joints is None else joints
    records = np.zeros(len(joints), JOINT_DTYPE)
    if not joints:
        return records
    for side in "ab":
        ends = [getattr(joint, side) for joint in joints]
        frames = [getattr(joint, f"frame_{side}") for joint in joints]
        centers = [np.zeros(3) if name is None else scene.body(name).center_of_mass for name in ends]
        records[f"body_{side}"] = [-1 if name is None else index[name] for name in ends]
        records[f"anchor_{side}"] = np.array([frame[0] for frame in frames]) - np.array(centers)
        records[f"basis_{side}"] = [frame[1] for frame in frames]
    types = {joint.type for joint in joints}
    number_of = scene.numbers()[1] if "gear" in types else {}
    users = [joint.name for joint in scene.joints if joint.type == "user"] if "user" in types else []
    # Lists of axes, which several joints share as copies in Scene.add do: the place of each in `filled`.
    axes = {key: i for i, key in enumerate(dict.fromkeys(id(joint.axes) for joint in joints))}
    filled, first = np.zeros(len(axes), JOINT_DTYPE)["axes"], set[int]()
    for record, joint in zip(records, joints):
        if isinstance(joint, GearJoint):
            record["ratio"] = joint.ratio
            record["geared"] = [number_of[name] for name in (joint.joint_a, joint.joint_b)]
            record["geared_axis"] = joint.axis_a, joint.axis_b
        if isinstance(joint, UserJoint):
            record["user"], record["user_size"] = users.index(joint.name), joint.size
        if id(joint.axes) not in first:
            first.add(id(joint.axes))
            for slot, axis in zip(filled[axes[id(joint.axes)]], joint.axes):
                _fill_axis(slot, axis)
    records["axes"] = filled[[axes[id(joint.axes)] for joint in joints]]
    records["type"] = [JOINT_TYPES.index(joint.type) for joint in joints]
    records["axis_count"] = [len(joint.axes) for joint in joints]
    for name, default in (("swing_limit", np.inf), ("radius", 0.0), ("disc", False), ("locks", 0)):
        records[name] = [getattr(joint, name) if joint.has(name) else default for joint in joints]
    for name in ("constant", "break_force", "break_torque"):
        records[name] = [getattr(joint, name) for joint in joints]
    off = scene.disabled_joints(joints)
    records["broken"] = [DISABLED if joint.name in off else 0 for joint in joints]
    records["breakable"] = np.minimum(records["break_force"], records["break_torque"]) < np.inf
    return records


def _fill_axis(slot: np.void, axis: AxisSpec) -> None:
    """One JOINT_AXIS_DTYPE record from an AxisSpec."""
    slot["lower"], slot["upper"], slot["friction"] = axis.lower, axis.upper, axis.friction
    slot["armature"] = axis.armature
    fill_spring(slot, axis.spring)
    if axis.motion is not None:
        slot["motion_mode"] = 2 if axis.motion.is_function else 1
        if not axis.motion.is_function:
            slot["motion"] = axis.motion.coefficients
    fill_motor(slot, axis.motor)


def fill_spring(slot: Any, spring: Spring | None) -> None:
    """The spring of a JOINT_AXIS_DTYPE record, or none."""
    slot["has_spring"] = int(spring is not None)
    for name in ("stiffness", "damping", "rest"):
        slot[name] = 0.0 if spring is None else getattr(spring, name)
    slot["spring_acts"] = 0 if spring is None else ACTS.index(spring.acts)


def fill_motor(slot: Any, motor: Motor | None) -> None:
    """The motor of a JOINT_AXIS_DTYPE record, or none."""
    slot["motor_mode"] = 0 if motor is None else 3 if motor.is_pd else 1 if motor.velocity is not None else 2
    for name in ("velocity", "position", "max_force", "hertz", "damping_ratio", "kp", "kd"):
        value = None if motor is None else getattr(motor, name)
        slot[f"motor_{name}"] = 0.0 if value is None else value
    slot["motor_max_velocity"] = np.inf if motor is None else motor.max_velocity


def joint_levers(bodies: BodyArrays, joints: np.ndarray) -> np.ndarray:
    """(j,) [m] the longest lever, or radius of gyration, of those bodies of each joint that move; 0: of none. bodies:
    BodyArrays."""
    inertia, inverse = bodies.padded["inertia"].reshape(-1, 9), bodies.padded["inv_mass"]
    radius = np.sqrt(inertia[:, (0, 4, 8)].max(axis=1) * inverse)
    ends = np.stack([joints["body_a"], joints["body_b"]], axis=1) + 1
    levers = np.stack([linear.lengths(joints[name]) for name in ("anchor_a", "anchor_b")], axis=1)
    return np.where(inverse[ends] > 0.0, np.maximum(levers, radius[ends]), 0.0).max(axis=1, initial=0.0)


def measure_joints(bodies: BodyArrays, joints: np.ndarray, given: float | None, rate: float, fall: float) -> None:
    """Into the records: the joints' `length` l, which is twice their lever, of a gear that of the longer one; and how
    fast they are closed at most: rows in metres at rate l + sqrt(fall l) [m/s], rows in radians at that over l; or
    all at the speed that is `given` [m/s, rad/s]."""
    length = 2.0 * joint_levers(bodies, joints)
    gears = np.flatnonzero(joints["type"] == JOINT_TYPES.index("gear"))
    length[gears] = length[joints["geared"][gears]].max(axis=1, initial=0.0)
    length[length == 0.0] = 1.0  # of joints that move nothing
    speed = rate * length + np.sqrt(fall * length)  # of the product: exact in other units
    push = np.stack([speed, speed / length], axis=1) if given is None else np.float64(given)
    joints["length"], joints["push"] = length, np.maximum(push, np.finfo(float).tiny)  # nothing is divided by 0


def excluded_pairs(scene: Scene, index: Mapping[str, int]) -> np.ndarray:
    """(k, 2) int32: the body pairs that a joint keeps from colliding, and those that the scene ignores."""
    pairs = [*filter(None, map(kept_apart, scene.joints)), *scene.ignored_pairs]
    return np.array([(index[a], index[b]) for a, b in pairs], np.int32).reshape(-1, 2)


def kept_apart(joint: Joint) -> tuple[str, str] | None:
    """The names of the two bodies that a joint keeps from colliding, if it does."""
    a, b = joint.a, joint.b
    return None if a is None or b is None or a == b or joint.collide else (a, b)


def material_number(name: str | None) -> int:
    """Above 0, the same for every name wherever it stands, 0 for none: shapes and pairs of materials are found by it. What
    numbers names have in a process has no part in anything else."""
    if name is None:
        return 0
    with _numbering:
        return _material_numbers.setdefault(name, len(_material_numbers) + 1)


_numbering, _material_numbers = Lock(), dict[str, int]()


def pair_grips(scene: Scene, index: Mapping[str, int]) -> np.ndarray:
    """(k,) PAIR_GRIP_DTYPE: the bodies whose surfaces are told together; below 0: as their materials say."""
    pairs = [pair for pair in scene.pair_materials if pair.of == "bodies"]
    return _grips(pairs, [(index[pair.a], index[pair.b]) for pair in pairs])


def material_grips(scene: Scene) -> np.ndarray:
    """The same of materials, whose numbers stand in the place of bodies'."""
    pairs = [pair for pair in scene.pair_materials if pair.of == "materials"]
    return _grips(pairs, [(material_number(pair.a), material_number(pair.b)) for pair in pairs])


def _grips(pairs: Sequence[PairMaterial], numbers: Sequence[tuple[int, int]]) -> np.ndarray:
    grips = np.zeros(len(pairs), PAIR_GRIP_DTYPE)
    for grip, pair, (a, b) in zip(grips, pairs, numbers):
        low, high = sorted((a, b))
        grip["key"] = low << 32 | high
        for name, value in zip(("friction", "restitution", "rolling", "torsional"), pair.numbers):
            grip[name] = -1.0 if value is None else value
    return grips


def bounces(scene: Scene, bodies: np.ndarray) -> bool:
    """Whether anything does: a material or a pair of bodies has a restitution. bodies: which of them do."""
    return bool(bodies.any()) or any(pair.restitution for pair in scene.pair_materials)
