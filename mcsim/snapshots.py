"""A World's whole state at one moment, kept and taken back."""

import copy
import hashlib
from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.state.fields import BODY_FIELDS, MANIFOLD_DTYPE


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
        """-> lists of bodies and joints, those of `origin` where they stand in it."""
        return ([origin.bodies[body] if isinstance(body, int) else body for body in self.bodies],
                [origin.joints[joint] if isinstance(joint, int) else joint for joint in self.joints])


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
        parts = self._machinery_of(snapshot)
        joints = snapshot.joints.unpacked()
        self._check_records(joints, parts["_joints"], tuple(parts["_there"].joint_index))
        parts["_collider"].set_manifolds(self._manifolds_of(snapshot))
        for name, packed in snapshot.packed.items():
            getattr(parts["_bodies"], name)[...] = packed.unpacked()
        parts["_joints"][...] = joints
        if parts["_breakable"]:
            parts["_pipeline"].replan()
        self._settle(parts)
        self._meet_shapes()
        if self._pipeline.sensors is not None:
            self._pipeline.sensors.set_inside(snapshot.sensed)
        self._pipeline.steps, self._pipeline.start = snapshot.steps, snapshot.start
        if self.time != snapshot.time:              # from a world of another dt
            self._pipeline.start = snapshot.time - snapshot.steps * self.dt

    def _manifolds_of(self, snapshot):
        """Those of a world of another `contact` without what their points keep: it means another thing there."""
        manifolds = np.asarray(snapshot.manifolds.unpacked(), MANIFOLD_DTYPE)
        if snapshot.contact != self._keywords["contact"]:
            for part, name in ((manifolds, "friction_impulse"), (manifolds["points"], "normal_impulse"),
                               (manifolds["points"], "friction_impulse")):
                part[name] = 0.0
        return manifolds

    def _machinery_of(self, snapshot):
        """What `_machinery` gives for the bodies and joints of a snapshot: the present one, if they are those."""
        told = snapshot.parts
        if told.scene is not self._scene:
            if told.counts != (len(self._origin.bodies), len(self._origin.joints)):
                raise SceneError(f"World.restore: {snapshot!r} is of another scene; this world was made with "
                                 f"{len(self._origin.bodies)} bodies, {len(self._origin.joints)} joints")
            bodies, joints = told.in_terms_of(self._origin)
            if bodies != self._scene.bodies or joints != self._scene.joints:
                return self._gathered(self._scene.of_parts(bodies, joints, told.ignored_pairs), anew=True)
        return {name: getattr(self, name) for name in ("_there", "_bodies", "_joints", "_collider", "_pipeline",
                                                       "_breakable")}

    @staticmethod
    def _check_records(theirs, own, names):
        if any(np.any(theirs[n] != own[n]) for n in ("type", "body_a", "body_b")):
            raise SceneError("World.restore: the snapshot's joints connect other bodies than this world's")
        for i, (their, mine) in enumerate(zip(theirs, own)):
            if _what_it_holds(their) != _what_it_holds(mine):
                raise SceneError(f"World.restore: in the snapshot, joint {names[i]!r} holds other coordinates or "
                                 "another length, pitch or ratio than in this world; restore a snapshot of an equal "
                                 "scene")

    def state_hash(self) -> str:
        """Hexadecimal digest of the whole state: equal if and only if every bit of it is."""
        with self._turn.alone("state_hash"):
            return self._state_hash()

    def _state_hash(self):
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.float64(self.time).tobytes())
        joints = self._joints.copy()
        joints["row_begin"] = joints["row_count"] = 0       # where a step had its rows is no state
        for array in (*self._saved_arrays().values(), joints, self._collider.get_manifolds()):
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


def _what_it_holds(record):
    """What a joint's record says about how many rows it has, and which."""
    names = ("constant", "breakable", "disc", "ratio", "geared", "geared_axis", "user_size")
    return *(record[name].tobytes() for name in names), record["axes"]["motion_mode"].tobytes()


def _rebuild(kind, scene, keywords, snapshot):
    world = kind(scene, **keywords)
    world.restore(snapshot)
    return world
