"""A World's whole state at one moment, kept and taken back."""

import copy
import hashlib
from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Body, Joint
from mcsim.scene.checks import choose, count, number
from mcsim.settings import CONTACTS
from mcsim.state.checks import LAID_OUT, check_bodies, check_joints, check_manifolds, check_sensed
from mcsim.state.fields import BODY_FIELDS, JOINT_DTYPE, MANIFOLD_DTYPE

MOST_STEPS = 2**62


class Packed:
    """A copy of an array of whole 8-byte words a row, without the words that are zero: manifolds have room for more
    points than most need, joints for more axes. To the bit: -0.0 is not zero here."""

    __slots__ = ("shape", "dtype", "mask", "words")

    def __init__(self, array):
        self.shape, self.dtype = array.shape, array.dtype
        words = np.ascontiguousarray(array).view(np.uint64).reshape(-1)
        used = words != 0
        self.mask, self.words = np.packbits(used), words[used]

    def __len__(self):
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

    def checked(self, dtype, shape, what) -> np.ndarray:
        """The array, which must be one of this type and shape; a -1 in the shape stands for any length. Whatever else it
        holds, or does not, is refused."""
        try:
            fits = (self.dtype == dtype and len(self.shape) == len(shape)
                    and all(type(n) is int and (n == m or m < 0 <= n) for n, m in zip(self.shape, shape)))
            mask, words = self.mask, self.words
            if fits and (mask.dtype, words.dtype, mask.ndim, words.ndim) == (np.uint8, np.uint64, 1, 1):
                count = int(np.prod(self.shape, dtype=object)) * (self.dtype.itemsize // 8)
                if (len(mask) == (count + 7) // 8 and len(words) == np.count_nonzero(np.unpackbits(mask))
                        == np.count_nonzero(np.unpackbits(mask, count=count))):
                    return self.unpacked()
        except (AttributeError, TypeError):
            pass
        wanted = "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
        raise SceneError(f"{what} is no packed array of the shape {wanted}")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a world at one moment; picklable. Made by World.snapshot, taken back by World.restore.

    packed: name -> Packed, by the saved fields of BODY_FIELDS; joints, manifolds: Packed; parts: the bodies and joints
    that there were; contact: the world's keyword, which says what the points of manifolds keep.
    """

    steps: int
    start: float
    time: float
    packed: dict
    joints: Packed
    manifolds: Packed
    parts: "Parts"
    sensed: np.ndarray
    contact: str

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """name -> array of the bodies' state, a copy."""
        return {name: packed.unpacked() for name, packed in self.packed.items()}

    @property
    def nbytes(self) -> int:
        """Bytes that the state takes. Bodies and joints themselves are shared with the world, until it is pickled: then
        those are written too that were added since it was made."""
        return sum(packed.nbytes for packed in (*self.packed.values(), self.joints, self.manifolds))

    def __repr__(self):
        return f"<Snapshot after {self.steps} steps: {len(self.packed['position'])} bodies, {len(self.joints)} joints>"


class Parts:
    """Which bodies and joints there are, told by the scene that the world was made of: the same in every world of an
    equal scene. bodies, joints: numbers in that scene or, where that has none or another version, parts.
    ignored_pairs: of the bodies' names."""

    def __init__(self, scene, origin):
        self.scene = scene                               # None once pickled
        self.counts = len(origin.bodies), len(origin.joints)
        self.bodies = _told(scene.bodies, origin.bodies)
        self.joints = _told(scene.joints, origin.joints)
        self.ignored_pairs = tuple(scene.ignored_pairs)

    def __getstate__(self):
        return self.__dict__ | {"scene": None}

    def in_terms_of(self, origin):
        """-> bodies, joints, pairs that do not collide, checked; parts of `origin` where they stand in it."""
        bodies = _parts_of(self.bodies, origin.bodies, Body)
        joints = _parts_of(self.joints, origin.joints, Joint)
        names, before = {body.name for body in bodies}, set()
        for joint in joints:
            geared = {joint.joint_a, joint.joint_b} if joint.type == "gear" else set()
            if not ({joint.a, joint.b} <= names | {None} and geared <= before):
                raise SceneError(f"joint {joint.name!r} of the snapshot is on parts that it does not have")
            before.add(joint.name)
        pairs = [(a, b) for a, b in self.ignored_pairs]
        if not all(isinstance(name, str) for pair in pairs for name in pair):
            raise SceneError("the pairs of bodies that do not collide are not told by names")
        return bodies, joints, pairs


def _parts_of(told, origin, kind):
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


def _told(parts, origin):
    """Parts as numbers in a list, or as they are where it has them not."""
    if parts == origin:
        return range(len(parts))
    number = {id(part.original): i for i, part in enumerate(origin)}
    found = [number.get(id(part.original)) for part in parts]
    return [part if i is None or not part.same(origin[i]) else i for i, part in zip(found, parts)]


class Snapshots:
    """The part of World that is kept and taken back."""

    def _saved_arrays(self):
        return {f.name: getattr(self._bodies, f.name) for f in BODY_FIELDS if f.saved}

    def _sensed(self):
        """(k, 2) sensor and shape: what was in the sensors after the last step."""
        sensors = self._pipeline.sensors
        return np.zeros((0, 2), np.int32) if sensors is None else sensors.get_inside()

    def snapshot(self) -> Snapshot:
        """The whole state now: bodies and joints there are, poses, twists, forces, joint and contact impulses, time."""
        with self._turn.alone("snapshot"):
            return self._snapshot()

    def _snapshot(self):
        self._meet_shapes()                         # what is in the sensors, by the present numbers
        self._pipeline.notice()                     # a copy does not know what was written since the last step
        if self._parts is None or self._parts.scene is not self._scene:
            self._parts = Parts(self._scene, self._origin)
        arrays = {name: Packed(array) for name, array in self._saved_arrays().items()}
        return Snapshot(self._pipeline.steps, self._pipeline.start, self.time, arrays, Packed(self._joints),
                        Packed(self._collider.get_manifolds()), self._parts, self._sensed(), self._keywords["contact"])

    def restore(self, snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from an equal scene; goes on to the same bits.

        Bodies and joints that were added since are gone again; those that were removed are back, and their handles
        serve again. A failed call changes nothing.
        """
        if not isinstance(snapshot, Snapshot):
            raise SceneError(f"World.restore: takes what World.snapshot() gave, got {type(snapshot).__name__}")
        with self._turn.alone("restore"):
            self._restore(snapshot)

    def _restore(self, snapshot):
        try:
            _check_clock(snapshot)
            parts = self._machinery_of(snapshot.parts)
            state = self._checked_state(snapshot, parts)
        except SceneError as error:
            raise SceneError(f"World.restore: {error}") from None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise SceneError(f"World.restore: the snapshot is not whole: {error}") from None
        self._take_state(parts, *state)
        self._settle(parts)
        self._meet_shapes()
        if self._pipeline.sensors is not None:
            self._pipeline.sensors.set_inside(state[-1])
        self._pipeline.steps, self._pipeline.start = snapshot.steps, snapshot.start
        if self.time != snapshot.time:              # from a world of another dt
            self._pipeline.start = snapshot.time - snapshot.steps * self.dt

    def _checked_state(self, snapshot, parts):
        """-> bodies' arrays by name, joints, manifolds, what is in the sensors. parts: of `_machinery_of`."""
        there, shapes = parts["_there"], parts["_collider"].get_shapes()
        count = there.bodies.count
        saved = {field.name: field for field in BODY_FIELDS if field.saved}
        if set(snapshot.packed) != set(saved):
            raise SceneError("the snapshot has other arrays of bodies than this version of mcsim keeps")
        arrays = {name: snapshot.packed[name].checked(np.dtype(field.dtype), (count, *field.shape), name)
                  for name, field in saved.items()}
        check_bodies(arrays, there.bodies.kind, tuple(there.body_index))
        joints = snapshot.joints.checked(JOINT_DTYPE, (len(parts["_joints"]),), "joints")
        check_joints(joints, parts["_joints"], tuple(there.joint_index))
        for name in LAID_OUT:
            joints[name] = 0
        manifolds = snapshot.manifolds.checked(MANIFOLD_DTYPE, (-1,), "manifolds")
        check_manifolds(manifolds, shapes)
        choose(snapshot.contact, CONTACTS, "contact")
        if snapshot.contact != self._keywords["contact"]:       # what their points keep means another thing there
            for part, name in ((manifolds, "friction_impulse"), (manifolds["points"], "normal_impulse"),
                               (manifolds["points"], "friction_impulse")):
                part[name] = 0.0
        return arrays, joints, manifolds, check_sensed(snapshot.sensed, shapes)

    @staticmethod
    def _take_state(parts, arrays, joints, manifolds, sensed):
        """Into the arrays and the collider of what `_machinery_of` gave."""
        parts["_collider"].set_manifolds(manifolds)
        for name, array in arrays.items():
            getattr(parts["_bodies"], name)[...] = array
        parts["_joints"][...] = joints
        if parts["_breakable"]:
            parts["_pipeline"].replan()

    def _machinery_of(self, told):
        """What `_machinery` gives for the bodies and joints of a snapshot, its Parts: the present one, if they are
        those."""
        if told.scene is not self._scene:
            if told.counts != (len(self._origin.bodies), len(self._origin.joints)):
                raise SceneError(f"the snapshot is of another scene, of {told.counts[0]} bodies, {told.counts[1]} joints; "
                                 f"this world was made with {len(self._origin.bodies)} bodies, "
                                 f"{len(self._origin.joints)} joints")
            bodies, joints, pairs = told.in_terms_of(self._origin)
            if bodies != self._scene.bodies or joints != self._scene.joints:
                return self._gathered(self._scene.of_parts(bodies, joints, pairs), anew=True)
        return {name: getattr(self, name) for name in ("_there", "_bodies", "_joints", "_collider", "_pipeline",
                                                       "_breakable")}

    def state_hash(self) -> str:
        """Hexadecimal digest of the whole state: equal if and only if every bit of it is."""
        with self._turn.alone("state_hash"):
            return self._state_hash()

    def _state_hash(self):
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.float64(self.time).tobytes())
        joints = self._joints.copy()
        for name in LAID_OUT:
            joints[name] = 0
        self._meet_shapes()
        self._pipeline.notice()
        for array in (*self._saved_arrays().values(), joints, self._collider.get_manifolds(), self._sensed()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def _awake(self):
        """A copy of this world of which nothing sleeps."""
        other = self._copied()
        other.wake()
        return other

    def _copied(self):
        """Another world in the same state."""
        return _rebuild(type(self), self._origin, self._keywords, self._snapshot())

    def __reduce__(self):
        return _rebuild, (type(self), self._origin, self._keywords, self.snapshot())

    def __deepcopy__(self, memo):
        with self._turn.alone("snapshot"):
            return self._copied()


def _check_clock(snapshot):
    """Steps and times of a snapshot."""
    count(snapshot.steps, "steps", 0, MOST_STEPS)
    for name in ("start", "time"):
        number(getattr(snapshot, name), name)


def _rebuild(kind, scene, keywords, snapshot):
    world = kind(scene, **keywords)
    world.restore(snapshot)
    return world
