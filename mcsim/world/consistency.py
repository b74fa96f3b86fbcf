"""Whether all that a world holds is sound, and fits together."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterator

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.scene.joints import GearJoint
from mcsim.state.fields import BODY_KINDS, JOINT_TYPES
from mcsim.world.base import WorldBase
from mcsim.world.record import Holder, checked
from mcsim.world.snapshots import Snapshots

# How far a mass times its inverse may be from 1: rounding.
ROUNDING = 1e-9

NUMBERS = ("position", "orientation", "twist", "force", "carrier", "borne", "still_time", "still_speed")


class Consistency(Snapshots):
    """The part of World that looks at itself."""

    def check(self) -> None:
        """Look at everything that the world holds, and raise SimulationError with the first thing that is not sound:
        numbers that are not finite, quaternions that are not of unit length, bodies, joints, shapes and contacts that do
        not fit together, a state that the world itself would not take back.

        For tests, and for whoever looks for a defect: nothing that a user may do is to make this fail. It changes
        nothing, and costs far more than a step of a small scene.
        """
        with self._turn.alone("check"):
            for problem in self._problems():
                raise SimulationError(f"{type(self).__name__}.check: {problem}")

    def _problems(self) -> Iterator[str]:
        holder = self._recorded()
        yield from _of_tables(self, holder)
        yield from _of_bodies(holder, self.body_names)
        yield from _of_joints(self, holder)
        yield from _of_shapes(self, holder)
        yield from _of_record(self, holder)


def _of_tables(world: WorldBase, holder: Holder) -> Iterator[str]:
    """Names and numbers of bodies and joints, in the scene, in the tables and in the arrays."""
    scene = world._scene
    for what, parts, index, rows in (
        ("bodies", scene.bodies, holder.body_index, holder.bodies.count),
        ("joints", scene.joints, holder.joint_index, len(holder.joints)),
    ):
        names = [part.name for part in parts]
        if [*index.items()] != [(name, i) for i, name in enumerate(names)]:
            yield f"the {what} of the scene, {names}, have the numbers {index}"
        if rows != len(names):
            yield f"there are {len(names)} {what} and {rows} rows of their state"


def _of_bodies(holder: Holder, names: tuple[str, ...]) -> Iterator[str]:
    """Finite numbers, quaternions, masses, inertias, the world's own row."""
    bodies = holder.bodies
    for name in NUMBERS:
        array = getattr(bodies, name)
        wrong = ~np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
        if wrong.any():
            i = int(np.argmax(wrong))
            yield f"{name} of body {names[i]!r} is not finite: {array[i]}"
    for name, array in bodies.padded.items():
        if name in (*NUMBERS, "inv_mass", "inv_inertia_world") and name != "orientation" and np.any(array[0] != 0.0):
            yield f"{name} of the world itself is {array[0]}"
    dynamic = bodies.kind == BODY_KINDS.index("dynamic")
    for i in map(int, np.flatnonzero(~dynamic & ((bodies.inv_mass != 0.0) | bodies.inv_inertia_world.any(axis=(1, 2))))):
        yield f"body {names[i]!r} is {BODY_KINDS[bodies.kind[i]]}, and has an inverse mass or inertia"
    for i in map(int, np.flatnonzero(dynamic & (bodies.locks == 0))):
        if not np.isclose(bodies.inv_mass[i] * bodies.mass[i], 1.0, rtol=ROUNDING):
            yield f"body {names[i]!r} has the mass {bodies.mass[i]} and the inverse mass {bodies.inv_mass[i]}"


def _of_joints(world: WorldBase, holder: Holder) -> Iterator[str]:
    """Their types, and whom they connect."""
    number: dict[str | None, int] = {None: -1}
    number.update(holder.body_index)
    for joint, record in zip(world._scene.joints, holder.joints):
        if JOINT_TYPES[record["type"]] != joint.type:
            yield f"joint {joint.name!r} is a {joint.type}, and its record that of a {JOINT_TYPES[record['type']]}"
        if isinstance(joint, GearJoint):
            geared = [holder.joint_index.get(name) for name in (joint.joint_a, joint.joint_b)]
            if record["geared"].tolist() != geared:
                yield f"gear {joint.name!r} is of the joints {geared}, and in its record of {record['geared'].tolist()}"
        elif (record["body_a"], record["body_b"]) != (number.get(joint.a), number.get(joint.b)):
            yield f"joint {joint.name!r} is of {joint.a!r} and {joint.b!r}, and its record of other bodies"
        finite = ("position", "velocity", "impulse", "motion")
        if not all(np.isfinite(record["axes"][name][: record["axis_count"]]).all() for name in finite):
            yield f"coordinates or impulses of joint {joint.name!r} are not finite"


def _of_shapes(world: WorldBase, holder: Holder) -> Iterator[str]:
    """Whose they are, and that contacts are finite."""
    shapes = holder.collider.get_shapes()
    owners = [i for i, body in enumerate(world._scene.bodies) for _ in body.shapes]
    if shapes["body"].tolist() != owners:
        yield f"shapes are of the bodies {owners}, and in their records of {shapes['body'].tolist()}"
    manifolds = holder.collider.get_manifolds()
    used = np.arange(manifolds["points"].shape[1]) < manifolds["point_count"][:, None] if len(manifolds) else None
    for name in ("position", "separation", "normal_impulse", "friction_impulse"):
        values = manifolds["points"][name]
        if used is not None and not np.isfinite(values[used]).all():
            yield f"{name} of points of contacts is not finite"
    if not np.isfinite(manifolds["normal"]).all():
        yield "normals of contacts are not finite"


def _of_record(world: Snapshots, holder: Holder) -> Iterator[str]:
    """The world would take back what it keeps."""
    try:
        checked(world._RECORD, holder, world._snapshot().packed)
    except SceneError as error:
        yield f"its own state is refused: {error}"
