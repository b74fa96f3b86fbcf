"""What a World's arrays become when its scene becomes another: bodies, joints and manifolds, gathered from those that
there are and what is new.

Nothing that there is is touched: what is to be done to the collider is a function, to be called once all else is there.
"""

from __future__ import annotations  # signatures read as they are written here

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

from mcsim.collide import Collider, Surfaces
from mcsim.core.linear import lengths
from mcsim.core.rotation import rotate
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.described import Described, equal_arguments
from mcsim.scene.shapes import Plane, Shape
from mcsim.state._closing_up import Rows, copy_rows, same_rows
from mcsim.state.arrays import (
    BodyArrays,
    ShapeArrays,
    bounces,
    joint_records,
    kept_apart,
    material_grips,
    pair_grips,
)
from mcsim.state.fields import AWAKE, BODY_FIELDS, DISABLED, JOINT_TYPES
from mcsim.world.draft import Draft
from mcsim.world.protocols import There

NOBODY, NOTHING = BodyArrays(0), ShapeArrays(SimpleNamespace(bodies=[]))  # of no body
# What other versions of bodies keep of them, and what joints know of bodies.
SAVED = (*(field.name for field in BODY_FIELDS if field.saved), "locks")
HELD = ("kind", "mass", "inertia", "center_of_mass")
GEAR, USER = JOINT_TYPES.index("gear"), JOINT_TYPES.index("user")


class Gathering:
    """old: There, of the world as it is; joints, collider: its own; scene: the other one. Parts that stand in both keep
    their state, bodies that are other versions of old ones keep theirs as far as they can, all else begins as the scene
    says. anew: with another collider in any case. body_rows, joint_rows: where the scene's parts stood in the old one, if
    that is known.

    joints: the gathered records. body_rows, joint_rows: Rows; arrays: BodyArrays of the fresh bodies. versions: [(new
    number, old number)] of bodies that are other versions of old ones. numbers (old + 1,): the new number of each old body,
    -1: it is gone; kept: the same, with -1 for one of which there is another version now. woken: None, or which of the new
    bodies wake, and the islands of all.
    """

    old: There
    old_joints: np.ndarray
    collider: Collider
    scene: Any  # Scene, or a Draft of one
    anew: bool
    body_rows: Rows
    joint_rows: Rows
    fresh: SimpleNamespace
    arrays: BodyArrays
    versions: list[tuple[int, int]]
    kept: np.ndarray
    numbers: np.ndarray
    joints: np.ndarray
    woken: tuple[np.ndarray, np.ndarray | None] | None

    def __init__(
        self,
        old: There,
        joints: np.ndarray,
        collider: Collider,
        scene: Scene | Draft,
        anew: bool = False,
        body_rows: Rows | None = None,
        joint_rows: Rows | None = None,
    ) -> None:
        self.old, self.old_joints, self.collider, self.scene, self.anew = old, joints, collider, scene, anew
        self.body_rows = body_rows or Rows.of_sources(_sources(scene.bodies, old.scene.bodies), old.bodies.count)
        self.joint_rows = joint_rows or Rows.of_sources(_sources(scene.joints, old.scene.joints), len(joints))
        self.fresh = SimpleNamespace(bodies=[scene.bodies[i] for i in self.body_rows.fresh.tolist()])
        self.arrays = BodyArrays.from_scene(self.fresh) if self.fresh.bodies else NOBODY
        self.versions = self._versions()
        for new, before in self.versions:
            self._carry_state(new, before)
        self.kept = self.body_rows.numbers()
        self.numbers = self.kept.copy() if self.versions else self.kept
        for new, before in self.versions:
            self.numbers[before] = new
        self.joints = joints
        if anew or not self._same_joints():
            if isinstance(scene, Draft):
                self.scene = scene = scene.scene()
            # A snapshot from a file may have a body of its own under the name of one that joints are on.
            changed = self.body_rows.fresh.tolist() if anew else [new for new, _ in self.versions]
            self.joints = self._gathered_joints({scene.bodies[i].name for i in changed})
        self.woken = self._woken()

    def bodies(self) -> BodyArrays:
        """The gathered arrays of all bodies, in memory of their own."""
        bodies = self.old.bodies.gathered(self.body_rows, self.arrays)
        if self.woken is not None:
            awake, island = self.woken
            if island is not None:
                bodies.island[...] = island
            bodies.island[awake] = AWAKE
            bodies.still_time[awake] = bodies.still_speed[awake] = 0.0
        return bodies

    @property
    def bounces(self) -> bool:
        """Whether anything does."""
        if not self.old.pipeline.parts.bounces:  # nothing did
            return bounces(self.scene, self.arrays.bounces)
        return bounces(self.scene, self.body_rows.of(self.old.bodies.bounces, self.arrays.bounces))

    def edit(self) -> Callable[[], None] | None:
        """A function that changes the present collider in place; None where another one must be made."""
        if self.anew:
            return None
        scene, collider, grips = self.scene, self.collider, None
        rows, numbers, versions = self.body_rows, self.numbers, self.versions
        pairs = [(scene.bodies[new].shapes, self.old.scene.bodies[before].shapes) for new, before in versions]
        alike = [_same_forms(ours, theirs) for ours, theirs in pairs]
        if not self._stays_in_order(pairs, alike):
            return None
        fresh = ShapeArrays(self.fresh) if self.fresh.bodies else NOTHING
        fresh.shapes["body"] = rows.fresh[fresh.shapes["body"]]
        excluded = self._excluded()
        if scene.pair_materials != self.old.scene.pair_materials:
            grips = pair_grips(scene, self.indices()[0]), material_grips(scene)

        def edit() -> None:
            if len(fresh.shapes) and len(versions):
                if all(alike):
                    collider.change_shapes(places, fresh.shapes)
                else:
                    collider.replace_shapes(places, fresh.shapes, *fresh.pools, surfaces=Surfaces(fresh.surfaces))
            elif rows.count > rows.old:
                parts = (*fresh.pools, Surfaces(fresh.surfaces))
                collider.add_shapes(fresh.shapes, *parts)
            elif rows.count < rows.old:
                collider.remove_shapes(collider.on_gone(numbers), numbers[:-1])
            if excluded is not None:
                collider.change_excluded(*excluded)
            if grips is not None:
                collider.set_pair_grips(grips[0])
                collider.set_material_grips(grips[1])

        if len(versions):
            owners = collider.get_bodies()
            places = np.flatnonzero(
                np.isin(owners, [old for _, old in versions]) if len(versions) > 1 else owners == versions[0][1]
            )
            if all(alike):
                shapes = collider.get_shapes(places)
                for name in ("hull", "surface"):
                    fresh.shapes[name] = shapes[name]
        return edit

    def _excluded(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
        """The pairs of bodies, by their new numbers, that do not collide from now on, and those that collide again; None:
        these are the same."""
        scene, old = self.scene, self.old.scene
        if self.joint_rows.stay and (scene.ignored_pairs is old.ignored_pairs or scene.ignored_pairs == old.ignored_pairs):
            return None
        ignored, before = ({frozenset(pair) for pair in of.ignored_pairs} for of in (scene, old))
        fresh, index = [scene.joints[i] for i in self.joint_rows.fresh.tolist()], self.indices()[0]
        come = {frozenset(pair) for pair in map(kept_apart, fresh) if pair} | ignored - before
        gone = {frozenset(pair) for i in self.joint_rows.gone if (pair := kept_apart(old.joints[i]))} | before - ignored

        def collides(pair: frozenset[str]) -> bool:
            """Whether nothing keeps them apart any more."""
            a, b = (index[name] for name in pair)
            at, to = self.joints["body_a"], self.joints["body_b"]
            beside = np.flatnonzero((at == a) & (to == b) | (at == b) & (to == a)).tolist()
            return pair not in ignored and not any(kept_apart(scene.joints[i]) for i in beside)

        gone = {pair for pair in gone if pair <= index.keys() and collides(pair)}
        return [_numbers(pair, index) for pair in come], [_numbers(pair, index) for pair in gone]

    def _stays_in_order(self, pairs: list[tuple[list[Shape], list[Shape]]], alike: list[bool]) -> bool:
        """Whether shapes keep their rows, but for those that go and those that come as the last ones. pairs: the new shapes
        and the old ones of each version, and whether they are `alike`."""
        rows = self.body_rows
        if not self.versions:
            return not len(rows.fresh) or rows.fresh[0] == rows.old and not rows.moves
        if len(self.versions) < len(rows.fresh) or rows.count != rows.old:
            return False
        return all(
            same or len(ours) == len(theirs) and not any(isinstance(shape, Plane) for shape in (*ours, *theirs))
            for same, (ours, theirs) in zip(alike, pairs)
        )

    def indices(self) -> tuple[dict[str, int], dict[str, int]]:
        """What scene.numbers() gives; the dicts that there are, where names and numbers stay."""
        old, scene = self.old, self.scene
        return (
            _index(self.body_rows, old.body_index, old.scene.bodies, scene.bodies),
            _index(self.joint_rows, old.joint_index, old.scene.joints, scene.joints),
        )

    def manifolds(self, bodies: np.ndarray) -> np.ndarray:
        """The present manifolds for a new collider, without those of shapes that are gone or have another form. bodies:
        of the new shapes. Order stays, since that of the shapes does."""
        numbers = self.kept
        manifolds, old = self.collider.get_manifolds(), self.collider.get_shapes()["body"]
        place = np.arange(len(old)) - np.searchsorted(old, old) + np.searchsorted(bodies, numbers[old])
        shape = np.where(numbers[old] < 0, -1, place)
        a, b = shape[manifolds["shape_a"]], shape[manifolds["shape_b"]]
        kept = (a >= 0) & (b >= 0)
        manifolds, a, b = manifolds[kept], a[kept], b[kept]
        manifolds["shape_a"], manifolds["shape_b"] = a, b
        manifolds["body_a"], manifolds["body_b"] = bodies[a], bodies[b]
        manifolds["key"] = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
        return manifolds

    def gone(self) -> list[Body | Joint]:
        """The first versions of the bodies and joints that are here no longer."""
        known = {before for _, before in self.versions}
        bodies, joints = self.old.scene.bodies, self.old.scene.joints
        return [bodies[i].original for i in self.body_rows.gone if i not in known] + [
            joints[i].original for i in self.joint_rows.gone
        ]

    def _same_joints(self) -> bool:
        """Whether they are those of now, between bodies that are so to them, and whose numbers stay."""
        if not self.joint_rows.stay or not len(self.old_joints):
            return self.joint_rows.stay
        ends, numbers = np.stack([self.old_joints["body_a"], self.old_joints["body_b"]]), self.kept.copy()
        for new, before in self.versions:
            alike = self.scene.bodies[new].enabled == self.old.scene.bodies[before].enabled  # else it holds, or lets go
            if alike and same_rows(self.arrays.whole, 1 + self._place(new), self.old.bodies.whole, 1 + before, HELD):
                numbers[before] = new
        return np.array_equal(numbers[ends], ends)

    def _place(self, new: int) -> int:
        """Of a body that comes: its row among those."""
        return int(np.searchsorted(self.body_rows.fresh, new))

    def _versions(self) -> list[tuple[int, int]]:
        """[(new number, old number)] of bodies that are other versions of old ones."""
        scene, rows = self.scene, self.body_rows
        if not len(rows.fresh) or len(rows.fresh) == rows.count - rows.old and rows.fresh[0] == rows.old:
            return []
        old = self.old.scene.bodies
        number = {id(old[i].original): i for i in rows.gone}
        found = [(i, number.get(id(scene.bodies[i].original))) for i in rows.fresh.tolist()]
        return [(new, old) for new, old in found if old is not None]

    def _carry_state(self, new: int, before: int) -> None:
        """The state of an old version of a body, for the new one: its own frame stays where it is and moves as it
        did."""
        arrays, old, body = self.arrays, self.old.bodies, self.scene.bodies[new]
        i = self._place(new)
        copy_rows(arrays.whole, 1 + i, old.whole, 1 + before, SAVED)
        shift = body.center_of_mass - old.center_of_mass[before]
        if shift.any():
            shift = rotate(old.orientation[before], shift)
            arrays.position[i] += shift
            arrays.twist[i, :3] += np.cross(arrays.twist[i, 3:], shift)
        if body.kind == "static":
            arrays.twist[i] = 0.0
        if body.kind != "dynamic":
            arrays.force[i] = 0.0

    def _gathered_joints(self, reshaped: set[str]) -> np.ndarray:
        """Joint records. reshaped: names of the bodies whose centre of mass may be elsewhere, or that are others."""
        scene, rows = self.scene, self.joint_rows
        if not len(scene.joints) and not len(self.old_joints):
            return self.old_joints
        index = self.indices()[0] if len(rows.fresh) or reshaped else {}
        records = rows.of(self.old_joints, joint_records(scene, index, [scene.joints[i] for i in rows.fresh.tolist()]))
        kept = np.flatnonzero(rows.source >= 0)
        for name in ("body_a", "body_b"):
            records[name][kept] = self.numbers[records[name][kept]]
        gears = kept[records["type"][kept] == GEAR]
        records["geared"][gears] = rows.numbers()[records["geared"][gears]]
        users = records["type"] == USER
        records["user"][users] = np.arange(np.sum(users))
        on = [self.old.body_index[name] for name in reshaped if name in self.old.body_index]
        beside = np.isin(self.old_joints["body_a"], on) | np.isin(self.old_joints["body_b"], on)
        moved = kept[beside[rows.source[kept]]].tolist()
        if moved:
            anew = joint_records(scene, index, [scene.joints[i] for i in moved])
            for name in ("anchor_a", "anchor_b", "body_a", "body_b"):
                records[name][moved] = anew[name]
        if np.any(records["broken"] == DISABLED) or not all(body.enabled for body in self.fresh.bodies):
            off = scene.disabled_joints()
            now = np.array([DISABLED if joint.name in off else 0 for joint in scene.joints])
            records["broken"] = np.where(records["broken"] == 1, 1, now)
        return records

    def _woken(self) -> tuple[np.ndarray, np.ndarray | None] | None:
        """Whom it wakes that sleeps beside a body that goes, is another version, or comes and stands still; or at a joint
        that comes or goes: the numbers of those bodies, and the islands of all, which are by old numbers until then, None
        where they are the same. None: nobody wakes, and all islands are the same."""
        if self.old.pipeline.parts.islands.sleepers == 0:
            return None
        scene, arrays, numbers, versions = self.scene, self.arrays, self.numbers, [new for new, _ in self.versions]
        island, sizes, touch = self.old.bodies.island, self.old.bodies.reach, self.old.pipeline.parts.islands.touch
        gone = np.flatnonzero(numbers[:-1] < 0)
        old = np.concatenate([gone, np.flatnonzero(np.isin(numbers[:-1], versions))]).astype(int)
        places = [(self.old.bodies.position[i], sizes[i]) for i in old]
        places += [
            (arrays.position[k], arrays.reach[k])
            for k, i in enumerate(self.body_rows.fresh.tolist())
            if scene.bodies[i].kind != "dynamic" or i in versions
        ]
        woken = set(island[old].tolist())
        for position, size in places:
            near = lengths(self.old.bodies.position - position) <= size + sizes + touch
            woken |= set(island[near].tolist())
        changed = [scene.joints[i] for i in self.joint_rows.fresh.tolist()]
        changed += [self.old.scene.joints[i] for i in self.joint_rows.gone]
        ends = {name for joint in changed for name in (joint.a, joint.b) if name in self.old.body_index}
        woken |= {int(island[self.old.body_index[name]]) for name in ends}
        woken -= {AWAKE}
        if not woken and not self.body_rows.moves:
            return None
        before = self.body_rows.of(island, arrays.island)
        return np.flatnonzero(np.isin(before, list(woken))), numbers[before] if self.body_rows.moves else None


def _sources(new: Sequence[Described], old: Sequence[Described]) -> np.ndarray:
    """(len(new),) where each part stood in the old list, -1: nowhere, or it was made with other arguments."""
    if new[: len(old)] == old:
        return np.concatenate([np.arange(len(old)), np.full(len(new) - len(old), -1)])
    missing = len(old) - len(new)
    head = bisect_left(range(len(new)), True, key=lambda i: new[i] is not old[i]) if missing > 0 else 0
    if missing > 0 and new[:head] == old[:head] and new[head:] == old[head + missing :]:  # a run of them went
        return np.concatenate([np.arange(head), np.arange(head + missing, len(old))])
    if missing == 0:
        places = [i for i, (part, before) in enumerate(zip(new, old)) if part is not before]
        source = np.arange(len(old))
        source[places] = _by_arguments([new[i] for i in places], {i: old[i] for i in places})
        return source
    return np.array(_by_arguments(new, dict(enumerate(old))), np.intp)


def _by_arguments(new: Sequence[Described], old: Mapping[int, Described]) -> list[int]:
    """Where each part stood, by the arguments that it was made with, which versions with other numbers share; -1:
    nowhere."""
    number = {id(part._arguments): i for i, part in old.items()}
    return [number.get(id(part._arguments), -1) for part in new]


def _index(rows: Rows, index: dict[str, int], old: Sequence[Body | Joint], new: Sequence[Body | Joint]) -> dict[str, int]:
    """The number of each part by its name. index: of the old ones."""
    fresh, gone = rows.fresh.tolist(), rows.gone
    if fresh == gone and all(new[i].name == old[i].name for i in fresh):
        return index
    if not rows.close_up or fresh and fresh[0] < rows.count - len(fresh):
        return {part.name: i for i, part in enumerate(new)}
    index = index.copy()
    for i in gone:
        del index[old[i].name]
    if gone:
        index.update(zip(islice(index, gone[0], None), range(gone[0], rows.count)))
    index.update((new[i].name, i) for i in fresh)
    return index


def _numbers(pair: frozenset[str], index: dict[str, int]) -> tuple[int, int]:
    a, b = pair
    return index[a], index[b]


def _same_forms(shapes: Sequence[Shape], others: Sequence[Shape]) -> bool:
    """Whether two lists of shapes differ in materials and densities at most."""
    return len(shapes) == len(others) and all(
        type(a) is type(b) and equal_arguments(a._arguments, b._arguments, ("material", "density"))
        for a, b in zip(shapes, others)
    )
