"""All that the future of a world depends on, told once: one Entry for each part of it.

Snapshots, what restores them, copies, pickles, the state hash and what one kind of world hands to the other are made from
these tables, RECORD of a World and REDUCED_RECORD of a ReducedWorld. Whatever else a world holds is a cache: it can be
made again from the record to the bit, as MCSIM_FORGET=1 does before every step (mcsim/world/snapshots.py).

What users ask for before the next step stands in it too: forces, poses and velocities that they write are the arrays
themselves, and where bodies stood before they were moved (`seen`) says whom that wakes when the step begins.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from mcsim.collide import Collider
from mcsim.core.errors import SceneError
from mcsim.scene.checks import count, number
from mcsim.state.arrays import BodyArrays
from mcsim.state.checks import LAID_OUT, MEASURED, check_bodies, check_joints, check_manifolds, check_sensed
from mcsim.state.fields import BODY_FIELDS, JOINT_DTYPE, MANIFOLD_DTYPE, Field
from mcsim.step.stages import Pipeline

MOST_STEPS = 2**62
JOINT_AXES = 6  # state/_joint.pxd

CLOCK_DTYPE = np.dtype([("steps", "i8"), ("start", "f8"), ("time", "f8")])

# Impulses of a joint, which are those of a substep of its own world, and what a step has laid out.
OF_SUBSTEPS = (*LAID_OUT, "constraint_count", "active_limits", "held", "impulse", "swing_impulse", "wrench_impulse")


class Kept(Protocol):
    """An array as a snapshot has it."""

    def checked(self, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
        """The array, which must be one of this type and shape."""
        ...


class Holder(NamedTuple):
    """What holds the state of a world: its BodyArrays, joint records, Collider, Pipeline; the numbers of its bodies
    and joints by name; its dt [s]."""

    bodies: BodyArrays
    joints: np.ndarray
    collider: Collider
    pipeline: Pipeline
    body_index: dict[str, int]
    joint_index: dict[str, int]
    dt: float


class Entry(NamedTuple):
    """One part of the record, an array.

    read(holder): the array of now, which is not to be written. shape(holder): what it must have, -1 is any length.
    check(array, holder): refuses, with SceneError, what no state has, and gives the array to write. write(holder, array).
    after_pipeline: it is written when the pipeline has followed the others. handed: read(holder) as the other kind of
    world takes it by `write`, or None: that has no such thing, or cannot go on from it.
    """

    name: str
    meaning: str
    dtype: np.dtype
    read: Callable[[Holder], np.ndarray]
    shape: Callable[[Holder], tuple[int, ...]]
    write: Callable[[Holder, np.ndarray], None]
    check: Callable[[np.ndarray, Holder], np.ndarray] = lambda array, holder: array
    after_pipeline: bool = False
    handed: Callable[[Holder], np.ndarray] | None = None


Record = tuple[Entry, ...]


def _of_bodies(field: Field) -> Entry:
    def read(holder: Holder) -> np.ndarray:
        return getattr(holder.bodies, field.name)

    def write(holder: Holder, array: np.ndarray) -> None:
        read(holder)[...] = array

    unit = f" [{field.unit}]" if field.unit else ""
    return Entry(
        field.name,
        field.meaning + unit,
        np.dtype(field.dtype),
        read,
        lambda holder: (holder.bodies.count, *field.shape),
        write,
        handed=read,
    )


def _read_joints(holder: Holder) -> np.ndarray:
    records = holder.joints.copy()
    for name in LAID_OUT + MEASURED:
        records[name] = 0
    return records


def _hand_joints(holder: Holder) -> np.ndarray:
    """Settings, what is broken, and coordinates with the turns that they have made."""
    records = holder.joints.copy()
    for name in OF_SUBSTEPS:
        records[name] = 0
    records["axes"]["impulse"] = 0.0
    records["axes"]["position"] = holder.pipeline.space.measured()["axes"]["position"]
    return records


def _write_joints(holder: Holder, records: np.ndarray) -> None:
    kept = (*MEASURED, "folded")  # as the pipeline has it, which restored() does not make anew
    own = [holder.joints[name].copy() for name in kept]
    motors = holder.joints["axes"]["motor_mode"] != 0
    holder.joints[...] = records
    for name, values in zip(kept, own):
        holder.joints[name] = values
    if np.any(holder.joints["breakable"]) or np.any(motors != (holder.joints["axes"]["motor_mode"] != 0)):
        holder.pipeline.parts.replan()


def _check_joints(records: np.ndarray, holder: Holder) -> np.ndarray:
    check_joints(records, holder.joints, tuple(holder.joint_index))
    for name in LAID_OUT + MEASURED:
        records[name] = 0
    return records


def _places(holder: Holder) -> list[tuple[int, slice]]:
    """The row of each joint, then of each free body, in what a record has of their forces, and their place in the world."""
    plan, joints = holder.pipeline.parts.efforts.plan, len(holder.joints)
    return [(holder.joint_index[name], slot) for name, slot in plan.slots.items()] + [
        (joints + holder.body_index[name], slot) for name, slot in plan.free.items()
    ]


def _read_forces(holder: Holder) -> np.ndarray:
    efforts = holder.pipeline.parts.efforts
    forces = np.zeros((len(holder.joints) + holder.bodies.count, JOINT_AXES))
    if efforts.values is not None and np.any(efforts.values):
        for row, slot in _places(holder):
            forces[row, : slot.stop - slot.start] = efforts.values[slot]
    return forces


def _hand_forces(holder: Holder) -> np.ndarray:
    """With those of a tree's joints, but for what turns by yaw, pitch and roll: a World has other coordinates of it."""
    forces, space = _read_forces(holder), holder.pipeline.space
    for link in space.system.links if hasattr(space, "tau") and np.any(space.tau) else ():
        if link.kind != "spherical_ypr" and not link.prescribed:
            body = len(holder.joints) + link.body_number
            row = body if link.joint is None else holder.joint_index[link.joint.name]
            forces[row, : link.v.stop - link.v.start] = space.tau[link.v]
    return forces


def _check_forces(forces: np.ndarray, holder: Holder) -> np.ndarray:
    if not np.any(forces):
        return forces
    efforts = holder.pipeline.parts.efforts
    if efforts.values is None:
        efforts.make(efforts)
    left = forces != 0.0
    for row, slot in _places(holder):
        left[row, : slot.stop - slot.start] = False
    if np.any(left):
        raise SceneError("joint_forces are along coordinates that no joint here has")
    return forces


def _write_forces(holder: Holder, forces: np.ndarray) -> None:
    efforts = holder.pipeline.parts.efforts
    if np.any(forces) and efforts.values is None:
        efforts.make(efforts)
    if efforts.values is not None:
        efforts.values[...] = 0.0
        for row, slot in _places(holder):
            efforts.values[slot] = forces[row, : slot.stop - slot.start]


def _check_manifolds(records: np.ndarray, holder: Holder) -> np.ndarray:
    check_manifolds(records, holder.collider.get_shapes())
    return records


def _read_sensed(holder: Holder) -> np.ndarray:
    sensors = holder.pipeline.parts.sensors
    return np.zeros((0, 2), np.int32) if sensors is None else sensors.get_inside()


def _write_sensed(holder: Holder, pairs: np.ndarray) -> None:
    if holder.pipeline.parts.sensors is not None:
        holder.pipeline.parts.sensors.set_inside(pairs)


def _check_faces(turned: np.ndarray, holder: Holder) -> np.ndarray:
    numbers = turned[:, 0]
    if (
        not np.all(np.isfinite(turned))
        or not np.all(np.isin(numbers, np.arange(holder.bodies.count)))
        or (len(set(numbers.tolist())) < len(numbers))
    ):
        raise SceneError("the quaternions that bodies keep to are not by bodies, or not finite")
    return turned


def _clock(steps: int, start: float, dt: float) -> np.ndarray:
    return np.array([(steps, start, start + steps * dt)], CLOCK_DTYPE)


def _check_clock(clock: np.ndarray, holder: Holder) -> np.ndarray:
    count(int(clock["steps"][0]), "steps", 0, MOST_STEPS)
    for name in ("start", "time"):
        number(float(clock[name][0]), name)
    return clock


def _write_clock(holder: Holder, clock: np.ndarray) -> None:
    """Steps and start; of a world of another dt the start that gives the same time."""
    steps, start, time = clock[0].item()
    if start + steps * holder.dt != time:
        start = time - steps * holder.dt
    holder.pipeline.set_clock(steps, start)


def _read_seen(holder: Holder) -> np.ndarray:
    return holder.pipeline.parts.islands.get_seen(holder.bodies.kind, holder.bodies.island)


def _of_tree(name: str, meaning: str) -> Entry:
    def read(holder: Holder) -> np.ndarray:
        return getattr(holder.pipeline.space, name)

    def write(holder: Holder, array: np.ndarray) -> None:
        read(holder)[...] = array

    return Entry(name, meaning, np.dtype(float), read, lambda holder: read(holder).shape, write)


RECORD = (
    *(_of_bodies(field) for field in BODY_FIELDS if field.saved),
    Entry(
        "joints",
        "settings, coordinates with their turns, impulses of the last substep, which are broken, in how "
        "many steps it is asked anew whether bounded rows are held",
        JOINT_DTYPE,
        _read_joints,
        lambda holder: (len(holder.joints),),
        _write_joints,
        _check_joints,
        handed=_hand_joints,
    ),
    Entry(
        "joint_forces",
        "forces that the user has given along the coordinates of each joint, then of each body that no joint holds "
        "[N, N m]; in a world of trees not of those in the trees",
        np.dtype(float),
        _read_forces,
        lambda holder: (len(holder.joints) + holder.bodies.count, JOINT_AXES),
        _write_forces,
        _check_forces,
        handed=_hand_forces,
    ),
    Entry(
        "manifolds",
        "contacts of the last step: points and what they were made from, impulses, which touch, springs of "
        "compliant ones; also those of what sleeps",
        MANIFOLD_DTYPE,
        lambda holder: holder.collider.get_manifolds(),
        lambda holder: (-1,),
        lambda holder, records: holder.collider.set_manifolds(records),
        _check_manifolds,
    ),
    Entry(
        "seen",
        "where what sleeps or is no dynamic body was when the last step ended: elsewhere now, it has been "
        "moved, and wakes what lies beside it",
        np.dtype(float),
        _read_seen,
        lambda holder: (holder.bodies.count, 7),
        lambda holder, seen: holder.pipeline.parts.islands.set_seen(seen),
        after_pipeline=True,
    ),
    Entry(
        "sensed",
        "(sensor, shape) that overlapped after the last step",
        np.dtype(np.int32),
        _read_sensed,
        lambda holder: (-1, 2),
        _write_sensed,
        lambda pairs, holder: check_sensed(pairs, holder.collider.get_shapes()),
        after_pipeline=True,
    ),
    Entry(
        "clock",
        "steps made, time of the first one's begin and of now [s]",
        CLOCK_DTYPE,
        lambda holder: _clock(holder.pipeline.steps, holder.pipeline.start, holder.dt),
        lambda holder: (1,),
        _write_clock,
        _check_clock,
        handed=lambda holder: _clock(0, holder.pipeline.start + holder.pipeline.steps * holder.dt, holder.dt),
    ),
)

REDUCED_RECORD = (
    *RECORD,
    _of_tree("q", "coordinates of the tree [m, rad, quaternions]"),
    _of_tree("qd", "velocities of the tree [m/s, rad/s]"),
    _of_tree("tau", "forces of its joints [N, N m]"),
    Entry(
        "faces",
        "where q was written since the last step or change ended: bodies, and the quaternions that they had "
        "then, to whose side those of now keep",
        np.dtype(float),
        lambda holder: holder.pipeline.space.body_sync.turned_faces(holder.pipeline.steps),
        lambda holder: (-1, 5),
        lambda holder, turned: holder.pipeline.space.body_sync.take_faces(turned, holder.pipeline.steps),
        _check_faces,
    ),
)


def names(record: Record) -> list[str]:
    """Of all entries."""
    return [entry.name for entry in record]


def hand_over(here: Holder, there: Holder) -> None:
    """What both kinds of world have, from one's holder to the other's."""
    for entry in RECORD:
        if entry.handed is not None:
            entry.write(there, entry.handed(here))


def take(record: Record, holder: Holder, arrays: Mapping[str, np.ndarray], after_pipeline: bool) -> None:
    """Write the entries that follow the pipeline, or those that do not. arrays: by name."""
    for entry in record:
        if entry.after_pipeline == after_pipeline:
            entry.write(holder, arrays[entry.name])


def checked(record: Record, holder: Holder, packed: Mapping[str, Kept]) -> dict[str, np.ndarray]:
    """-> name -> array of each entry, to be written by `take`. packed: name -> snapshots.Packed."""
    if not isinstance(packed, dict) or set(packed) != set(names(record)):
        raise SceneError("it keeps other things than this kind of world, in this version of mcsim, does")
    arrays = {
        entry.name: entry.check(packed[entry.name].checked(entry.dtype, entry.shape(holder), entry.name), holder)
        for entry in record
    }
    check_bodies(arrays, holder.bodies.kind, tuple(holder.body_index))
    return arrays
