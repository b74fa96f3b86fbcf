"""A World's whole state at one moment, kept and taken back."""

from __future__ import annotations  # signatures read as they are written here

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.notes import carry_over
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.checks import FieldError, Vector, choose, suggestion, vector
from mcsim.scene.joints import GearJoint
from mcsim.scene.pair_materials import PairMaterial, same_pairs
from mcsim.state.arrays import BodyArrays, ShapeArrays, joint_records
from mcsim.state.fields import BODY_FIELDS
from mcsim.world.base import WorldBase
from mcsim.world.capabilities import CHANGEABLE, CONTACTS
from mcsim.world.contact_filter import ContactFilter
from mcsim.world.keywords import keyword_names
from mcsim.world.live_settings import with_gravity
from mcsim.world.present_scene import present_scene
from mcsim.world.record import RECORD, Holder, Record, checked, take

if TYPE_CHECKING:
    from mcsim.step.stages import Pipeline

P = TypeVar("P", Body, Joint)
W = TypeVar("W", bound="Snapshots")

# Attributes of a world that hold its state, of those that depend on which bodies and joints there are.
HOLDING = ("_there", "_bodies", "_joints", "_collider", "_pipeline")


class Packed:
    """A copy of an array of whole 8-byte words a row, without the words that are zero: manifolds have room for more
    points than most need, joints for more axes. To the bit: -0.0 is not zero here."""

    __slots__ = ("shape", "dtype", "mask", "words")

    shape: tuple[int, ...]
    dtype: np.dtype
    mask: np.ndarray
    words: np.ndarray

    def __init__(self, array: np.ndarray) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        words = np.ascontiguousarray(array).view(np.uint64).reshape(-1)
        used = words != 0
        self.mask, self.words = np.packbits(used), words[used]

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.mask.nbytes + self.words.nbytes

    def unpacked(self) -> np.ndarray:
        """The array."""
        out = np.zeros(self.shape, self.dtype)
        words = out.view(np.uint64).reshape(-1)
        words[np.unpackbits(self.mask, count=len(words)).view(bool)] = self.words
        return out

    def checked(self, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
        """The array, which must be one of this type and shape; a -1 in the shape stands for any length. Whatever else it
        holds, or does not, is refused."""
        try:
            fits = (
                self.dtype == dtype
                and len(self.shape) == len(shape)
                and all(type(n) is int and (n == m or m < 0 <= n) for n, m in zip(self.shape, shape))
            )
            mask, words = self.mask, self.words
            if fits and (mask.dtype, words.dtype, mask.ndim, words.ndim) == (np.dtype("u1"), np.dtype("u8"), 1, 1):
                count = int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize // 8
                if len(mask) == (count + 7) // 8 and len(words) == np.count_nonzero(
                    np.unpackbits(mask)
                ) == np.count_nonzero(np.unpackbits(mask, count=count)):
                    return self.unpacked()
        except (AttributeError, TypeError):
            pass
        wanted = "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
        raise SceneError(f"{what} is no packed array of the shape {wanted}")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a world at one moment; picklable. Made by World.snapshot, taken back by World.restore.

    packed: name -> Packed, of each entry of the world's record (mcsim/world/record.py); parts: the bodies and joints
    that there were; contact: the world's keyword, which says what the points of manifolds keep.
    """

    packed: dict[str, Packed]
    parts: Parts
    contact: str

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """name -> array of the bodies' state, a copy."""
        return {field.name: self.packed[field.name].unpacked() for field in BODY_FIELDS if field.saved}

    @property
    def steps(self) -> int:
        """That the world had made."""
        return int(self.packed["clock"].unpacked()["steps"][0])

    @property
    def start(self) -> float:
        """Time before the first of them [s]."""
        return float(self.packed["clock"].unpacked()["start"][0])

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.packed["clock"].unpacked()["time"][0])

    @property
    def nbytes(self) -> int:
        """Bytes that the state takes. Bodies and joints themselves are shared with the world, until it is pickled: then
        those are written too that were added since it was made."""
        return sum(packed.nbytes for packed in self.packed.values())

    def __repr__(self) -> str:
        bodies, joints = (len(self.packed[name]) for name in ("position", "joints"))
        return f"<Snapshot after {self.steps} steps: {bodies} bodies, {joints} joints>"


class Parts:
    """Which bodies and joints there are, told by the scene that the world was made of: the same in every world of an
    equal scene. bodies, joints: numbers in that scene or, where that has none or another version, parts.
    ignored_pairs: of the bodies' names; pair_materials: of PairMaterial; gravity [m/s²]."""

    def __init__(self, scene: Scene, origin: Scene) -> None:
        self.scene: Scene | None = scene  # None once pickled
        self.counts: tuple[int, int] = len(origin.bodies), len(origin.joints)
        self.bodies: Sequence[Body | int] = _told(scene.bodies, origin.bodies)
        self.joints: Sequence[Joint | int] = _told(scene.joints, origin.joints)
        self.ignored_pairs: tuple[tuple[str, str], ...] = tuple(scene.ignored_pairs)
        self.pair_materials: tuple[PairMaterial, ...] = tuple(scene.pair_materials)
        self.gravity: tuple[float, ...] = tuple(scene.gravity.tolist())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"scene": None}

    def in_terms_of(self, origin: Scene) -> tuple[list[Body], list[Joint], list[tuple[str, str]], list[PairMaterial]]:
        """-> bodies, joints, pairs that do not collide, pairs whose surfaces are told together, checked; parts of `origin`
        where they stand in it."""
        vector(self.gravity, "gravity")
        bodies = _parts_of(self.bodies, origin.bodies, Body)
        joints = _parts_of(self.joints, origin.joints, Joint)
        names = {body.name for body in bodies}
        before: set[str] = set()
        for joint in joints:
            geared = {joint.joint_a, joint.joint_b} if isinstance(joint, GearJoint) else set()
            if not ({joint.a, joint.b} <= names | {None} and geared <= before):
                raise SceneError(f"joint {joint.name!r} of the snapshot is on parts that it does not have")
            before.add(joint.name)
        pairs = [(a, b) for a, b in self.ignored_pairs]
        if not all(isinstance(name, str) for pair in pairs for name in pair):
            raise SceneError("the pairs of bodies that do not collide are not told by names")
        if not all(isinstance(pair, PairMaterial) for pair in self.pair_materials):
            raise SceneError("the pairs of bodies whose surfaces are told together are none")
        return bodies, joints, pairs, list(self.pair_materials)


def _parts_of(told: Sequence[P | int], origin: Sequence[P], kind: type[P]) -> list[P]:
    """Parts by their numbers in a list, or as they are."""
    found = []
    for part in told:
        if isinstance(part, int) and 0 <= part < len(origin):
            part = origin[part]
        if not isinstance(part, kind):
            raise SceneError(f"the snapshot has {part!r:.40} for a {kind.__name__.lower()}")
        found.append(part)
    if len({part.name for part in found}) < len(found):
        raise SceneError(f"two of the snapshot's {kind.__name__.lower()}s have one name")
    return found


def _told(parts: Sequence[P], origin: Sequence[P]) -> Sequence[P | int]:
    """Parts as numbers in a list, or as they are where it has them not."""
    if parts == origin:
        return range(len(parts))
    number = {id(part.original): i for i, part in enumerate(origin)}
    found = [number.get(id(part.original)) for part in parts]
    return [part if i is None or not part.same(origin[i]) else i for i, part in zip(found, parts)]


class Snapshots(WorldBase):
    """The part of World that is kept and taken back."""

    _RECORD: ClassVar[Record] = RECORD  # what it is made of

    def _holder(self, parts: Mapping[str, Any] | None = None) -> Holder:
        """What holds the state: of `_machinery`, or the present one."""
        if parts is None:
            parts = {name: getattr(self, name) for name in HOLDING}
        there = parts["_there"]
        return Holder(
            parts["_bodies"],
            parts["_joints"],
            parts["_collider"],
            parts["_pipeline"],
            there.body_index,
            there.joint_index,
            self.dt,
        )

    def _recorded(self) -> Holder:
        """The holder of the present state, which is all in the record."""
        self._catch_up()
        self._meet_shapes()  # what is in the sensors, by the present numbers
        return self._holder()

    def snapshot(self) -> Snapshot:
        """The whole state now: bodies and joints there are, poses, twists, forces, joint and contact impulses, time."""
        with self._turn.telling("snapshot"):
            return self._snapshot()

    def _snapshot(self) -> Snapshot:
        holder = self._recorded()
        if self._parts is None or self._parts.scene is not self._scene:
            self._parts = Parts(self._scene, self._origin)
        packed = {entry.name: Packed(entry.read(holder)) for entry in self._RECORD}
        return Snapshot(packed, self._parts, self._keywords["contact"])

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from an equal scene; goes on to the same bits.

        Bodies and joints that were added since are gone again; those that were removed are back, and their handles
        serve again. A failed call changes nothing.
        """
        if not isinstance(snapshot, Snapshot):
            raise SceneError(f"World.restore: takes what World.snapshot() gave, got {type(snapshot).__name__}")
        with self._turn.alone("restore"):
            now = self._scene.gravity
            gravity = self._gravity_of(snapshot)
            if np.array_equal(now, gravity):
                return self._restore(snapshot)
            self._change(self._said, gravity)
            try:
                return self._restore(snapshot)
            except BaseException:
                self._change(self._said, now)
                raise

    def _gravity_of(self, snapshot: Snapshot) -> np.ndarray:
        """(3,) that a snapshot was made under; that of now where it does not tell it rightly, which is refused later."""
        try:
            return np.array(vector(snapshot.parts.gravity, "gravity"))
        except (AttributeError, SceneError):
            return self._scene.gravity

    def _restore(self, snapshot: Snapshot) -> None:
        try:
            self._check_kind(snapshot)
            parts = self._machinery_of(snapshot.parts)
            holder = self._holder(parts)
            arrays = self._checked_state(snapshot, holder)
        except SceneError as error:
            raise SceneError(f"World.restore: {error}") from None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise SceneError(f"World.restore: the snapshot is not whole: {error}") from None
        self._take_state(parts, holder, arrays)

    def _take_state(self, parts: dict[str, Any], holder: Holder, arrays: Mapping[str, np.ndarray]) -> None:
        """Become what a checked snapshot tells. parts: of `_machinery`, behind the holder."""
        take(self._RECORD, holder, arrays, after_pipeline=False)
        self._follow(holder)
        self._settle(parts)
        self._meet_shapes()
        take(self._RECORD, holder, arrays, after_pipeline=True)

    def _way_back(self, snapshot: Snapshot) -> Callable[[], None]:
        """What restores one snapshot, for who goes back to it often: to unpack and check a state costs many times what
        taking it over does, so that is done once, and again where the world has been given other bodies, joints or
        settings since."""
        known: tuple[Scene, dict[str, Any], Holder, dict[str, np.ndarray]] | None = None

        def go_back() -> None:
            nonlocal known
            if known is not None and known[0] is self._scene:
                with self._turn.alone("restore"):
                    parts = {name: getattr(self, name) for name in HOLDING}
                    holder = self._holder(parts)
                    if holder.dt == known[2].dt and all(parts[name] is known[1][name] for name in HOLDING):
                        return self._take_state(parts, holder, known[3])
            self.restore(snapshot)
            with self._turn.alone("restore"):
                parts = {name: getattr(self, name) for name in HOLDING}
                holder = self._holder(parts)
                known = self._scene, parts, holder, self._checked_state(snapshot, holder)

        return go_back

    def _check_kind(self, snapshot: Snapshot) -> None:
        """Refuse what another kind of world has kept."""
        if "q" in snapshot.packed:
            raise SceneError(
                "takes what World.snapshot() gave, not that of a ReducedWorld; maximal() makes a World of its state"
            )

    def _checked_state(self, snapshot: Snapshot, holder: Holder) -> dict[str, np.ndarray]:
        """-> name -> array of each entry of the record."""
        arrays = checked(self._RECORD, holder, snapshot.packed)
        choose(snapshot.contact, CONTACTS, "contact")
        if snapshot.contact != self._keywords["contact"]:  # what their points keep means another thing there
            manifolds = arrays["manifolds"]
            for part, name in (
                (manifolds, "friction_impulse"),
                (manifolds["points"], "normal_impulse"),
                (manifolds["points"], "friction_impulse"),
            ):
                part[name] = 0.0
        return arrays

    def _catch_up(self) -> None:
        """Into the record what is found from it when somebody asks."""

    def _follow(self, holder: Holder) -> None:
        """What stands beside the record and follows it, of a state that was just written."""

    def _machinery_of(self, told: Parts) -> dict[str, Any]:
        """What `_machinery` gives for the bodies and joints of a snapshot, its Parts: the present one, if they are
        those."""
        if told.scene is not self._scene:
            if told.counts != (len(self._origin.bodies), len(self._origin.joints)):
                raise SceneError(
                    f"the snapshot is of another scene, of {told.counts[0]} bodies, {told.counts[1]} joints; "
                    f"this world was made with {len(self._origin.bodies)} bodies, "
                    f"{len(self._origin.joints)} joints"
                )
            bodies, joints, pairs, together = told.in_terms_of(self._origin)
            ignored = set(map(frozenset, self._scene.ignored_pairs))
            if (bodies, joints, set(map(frozenset, pairs))) != (
                self._scene.bodies,
                self._scene.joints,
                ignored,
            ) or not same_pairs(together, self._scene.pair_materials):
                return self._gathered(self._scene.of_parts(bodies, joints, pairs, together), anew=True)
        return {name: getattr(self, name) for name in HOLDING}

    def _forget(self) -> None:
        """All that is not in the record made anew from the bodies and joints that there are, in the arrays that users
        may have views of; then the record back into it. With MCSIM_FORGET=1 before every step: the bits are to be the
        same, so what is not in the record is a cache."""
        holder, old = self._recorded(), vars(self)["_pipeline"]
        arrays = {entry.name: entry.read(holder).copy() for entry in self._RECORD}
        for name, array in BodyArrays.from_scene(self._scene).padded.items():
            holder.bodies.padded[name][...] = array
        holder.joints[...] = joint_records(self._scene, holder.body_index)
        self._anew(self._scene, holder, old, arrays)

    def _anew(self, scene: Scene, holder: Holder, old: Pipeline, arrays: Mapping[str, np.ndarray]) -> None:
        """Collider and pipeline made anew, by the keywords of now and a scene of the same parts, for the arrays of a
        holder; the record into them. old: the pipeline before. arrays: of each entry of the record."""
        self._take_machinery(self._machinery(scene, holder.bodies, holder.joints, ShapeArrays(scene)), arrays)
        self._go_on_from(old)

    def _go_on_from(self, old: Pipeline) -> None:
        """Tell of the present call of step what the pipeline `old` had seen of it."""
        pipeline = vars(self)["_pipeline"]
        pipeline.take_call(old)
        new, before = pipeline.parts, old.parts
        new.noted.forget()  # what it was made of: arrays that may have been the scene's, not the present state
        carry_over(new.noted, before.noted, np.arange(self._bodies.count), np.arange(len(self._joint_index)))
        for log, last in ((new.collider, before.collider), (new.sensors, before.sensors)):
            if log is not None:
                log.take_log(last)
        if new.laboratory is not None:
            new.laboratory.iterations = before.laboratory.iterations

    def to_scene(self) -> Scene:
        """A new scene of the present state: bodies where they are and as fast as they are, joints with the motors, limits
        and springs that they have now, without what was removed or has broken. A world that is made of it goes on as this
        one does, from time 0.

        It goes the same way within rounding and what a step's iterations leave: impulses of the last step, which contacts
        and joints begin with, are not in a scene; a snapshot has them. Nor are forces applied for the next step, `tau`,
        and who sleeps: all begin awake. Angles begin within half a turn of zero: limits, motors for a position, springs at
        rest, gears and prescribed motions are counted along, so that they act as here. SceneError if a state is not finite.
        """
        with self._turn.telling("to_scene"):
            return present_scene(self, self._told_user_data())

    def state_hash(self) -> str:
        """Hexadecimal digest of the whole state: equal if and only if every bit of it is."""
        with self._turn.telling("state_hash"):
            return self._state_hash()

    def _state_hash(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        holder = self._recorded()
        for entry in self._RECORD:
            digest.update(np.ascontiguousarray(entry.read(holder)).tobytes())
        return digest.hexdigest()

    def _awake(self) -> Self:
        """A copy of this world of which nothing sleeps."""
        other = self._copied()
        other.wake()
        return other

    def remade(self, scene: Scene | None = None, **keywords: Any) -> Self:
        """Another world of the same kind, in the present state and at the present time, with other keywords than those
        that this one was made with; None: the keyword's default. This one stays as it is.

        scene: in place of this world's own, one of the same bodies and joints by name, in the same order, that differs in
        what does not move: gravity, materials, the name.
        """
        with self._turn.alone("remade"):
            if scene is None:
                scene = self._scene
            elif not isinstance(scene, Scene) or _named(scene) != _named(self._scene):
                raise SceneError(
                    "World.remade: scene must be a Scene of the same bodies and joints by name, in the same order; "
                    "world.scene.copy() is one"
                )
            snapshot, kind = self._snapshot(), cast(Any, type(self))
            world = kind(scene, **(self._said | keywords))
            world._restore(Snapshot(snapshot.packed, Parts(world._scene, world._origin), snapshot.contact))
            world._wait(self._waiting())
            world._take_user_data(self._told_user_data())
            world._take_contact_filter(self._contact_filter)
            if not np.array_equal(scene.gravity, self._scene.gravity):
                world.wake()
            return world

    def change_settings(self, **keywords: Any) -> None:
        """Other values for some of the keywords that this world was made with, from the next step on; None: the keyword's
        default. All else stays: the state, handles, views of the arrays, the events of the last step. It goes on to the
        bits of the world that `remade` would give.

        keywords: substeps, iterations, first_iterations, least_iterations, more_iterations, position_rounds, stop,
        tolerance, baumgarte, hertz, damping_ratio, push_speed, slop, joint_hertz, joint_damping_ratio, joint_push_speed,
        restitution_threshold, speculative_distance, sleep_speed, sleep_time, threads, strict; a ReducedWorld has no
        least_iterations, more_iterations and position_rounds. dt [s], and gravity (3,) [m/s²], which is the scene's: what
        sleeps wakes, snapshots keep it, and to restore one brings back its gravity. Others are for `remade`. Most are
        attributes of the world, too, that may be set. A failed call changes nothing.
        """
        with self._turn.alone("change_settings"):
            known = [name for name in (*keyword_names(type(self)), "gravity") if name in (*CHANGEABLE, "dt", "gravity")]
            for name in keywords:
                if name not in known:
                    raise SceneError(
                        f"World.change_settings: takes no {name!r}{suggestion(name, known)}; it takes "
                        f"{', '.join(known)}; remade() makes another world with other ones"
                    )
            gravity = keywords.pop("gravity") if "gravity" in keywords else self._scene.gravity
            said = {name: value for name, value in (self._said | keywords).items() if value is not None}
            self._change(said, gravity)

    def _change(self, said: dict[str, Any], gravity: Vector) -> None:
        """Other keywords, and another gravity."""
        try:
            gravity = np.array(vector(gravity, "gravity"))
        except FieldError as error:
            raise SceneError(f"World.change_settings: {error}") from None
        scene, origin, falls = self._scene, self._origin, not np.array_equal(gravity, self._scene.gravity)
        if falls:
            scene, origin = with_gravity(scene, gravity), with_gravity(origin, gravity)
        checked_now = self._checked_keywords(said, scene)
        before, snapshot = (self._keywords, self._said, self._origin, self._there), self._snapshot()
        holder, old = self._holder(), vars(self)["_pipeline"]
        arrays = {entry.name: entry.read(holder).copy() for entry in self._RECORD}
        try:
            self._keywords, self._said, self._origin = checked_now, said, origin
            self._anew(scene, holder, old, arrays)
            if falls:
                self._wake()
        except BaseException:  # Ctrl-C in between
            self._keywords, self._said, self._origin, self._there = before
            self._begin_anew()
            self._restore(snapshot)
            raise

    def _copied(self) -> Self:
        """Another world in the same state."""
        told = self._told_user_data(), self._contact_filter, self._waiting()
        if not type(self).__module__.startswith("mcsim."):  # a class of the user's own is made by its own __init__
            return _rebuild(type(self), self._origin, self._said, told[0], self._snapshot(), *told[1:])
        holder, there = self._recorded(), vars(self)["_there"]
        other = object.__new__(type(self))
        other._begin(self._origin, self._keywords)
        vars(other).update({name: vars(self)[name] for name in ("_said", "_choices") if name in vars(self)})
        arrays = {entry.name: entry.read(holder) for entry in self._RECORD}  # which the other one copies
        numbers = dict(there.body_index), dict(there.joint_index)
        made = holder.bodies.copied(), holder.joints.copy(), None, holder.collider.copied(), numbers
        other._take_machinery(other._machinery(there.scene, *made), arrays)
        other._follow_events()
        other._wait(told[2])
        other._take_user_data(told[0])
        other._take_contact_filter(told[1])
        return other

    def _take_machinery(self, parts: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Begin to use what `_machinery` gave, for a state: arrays of each entry of the record."""
        new = self._holder(parts)
        take(self._RECORD, new, arrays, after_pipeline=False)
        self._follow(new)
        new.pipeline.restored()
        vars(self).update(parts)
        self._meet_shapes()
        take(self._RECORD, new, arrays, after_pipeline=True)

    def __reduce__(self) -> tuple[Any, ...]:
        own: tuple[Any, ...] = (self._contact_filter, self._waiting())
        while own and own[-1] is None:
            own = own[:-1]
        return _rebuild, (type(self), self._origin, self._said, self._told_user_data(), self.snapshot(), *own)

    def _waiting(self) -> np.ndarray | None:
        """Notes of what was made or changed, which the next step is to tell: a copy's, too."""
        return vars(self)["_pipeline"].parts.noted.waiting()

    def _wait(self, amounts: np.ndarray | None) -> None:
        """Take `_waiting` of a world of the same bodies and joints, in place of what making this one has noted."""
        vars(self)["_pipeline"].parts.noted.wait(amounts)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._turn.telling("copy"):
            return self._copied()


def _named(scene: Scene) -> tuple[list[str], list[str]]:
    return [part.name for part in scene.bodies], [part.name for part in scene.joints]


def forgetful() -> bool:
    """Whether worlds that are made now forget all but their record before every step."""
    return os.environ.get("MCSIM_FORGET", "") not in ("", "0")


def _rebuild(
    kind: Callable[..., W],
    scene: Scene,
    keywords: dict[str, Any],
    user_data: dict[str, Any],
    snapshot: Snapshot,
    contact_filter: ContactFilter | None = None,
    waiting: np.ndarray | None = None,
) -> W:
    world = kind(scene, **keywords)
    world.restore(snapshot)
    world._wait(waiting)
    world._take_user_data(user_data)
    world._take_contact_filter(contact_filter)
    return world
