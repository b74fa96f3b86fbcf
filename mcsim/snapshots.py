"""A World's whole state at one moment, kept and taken back."""

import hashlib
from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.observers import Events
from mcsim.state.fields import BODY_FIELDS, MANIFOLD_DTYPE


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a world at one moment; picklable. Made by World.snapshot, taken back by World.restore."""

    steps: int
    start: float
    time: float
    arrays: dict
    joints: np.ndarray
    manifolds: np.ndarray
    resistances: np.ndarray

    def __repr__(self):
        return f"<Snapshot after {self.steps} steps: {len(self.arrays['position'])} bodies, {len(self.joints)} joints>"


class Snapshots:
    """The part of World that is kept and taken back."""

    def _saved_arrays(self):
        return {f.name: getattr(self._bodies, f.name) for f in BODY_FIELDS if f.saved or f.setting}

    def _changed_settings(self):
        """name, numbers and values of the settings of bodies that are not the scene's."""
        for f in BODY_FIELDS:
            if f.setting:
                values = getattr(self._bodies, f.name)
                changed = np.flatnonzero(values != [getattr(body, f.name) for body in self._scene.bodies])
                if len(changed):
                    yield f.name, changed, values[changed]

    def snapshot(self) -> Snapshot:
        """The whole state now: poses, twists, forces, joint and contact impulses, time."""
        arrays = {name: array.copy() for name, array in self._saved_arrays().items()}
        return Snapshot(self._pipeline.steps, self._pipeline.start, self.time, arrays, self._joints.copy(),
                        self._collider.get_manifolds(), self._collider.get_resistances())

    def restore(self, snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from an equal scene; goes on to the same bits."""
        if not isinstance(snapshot, Snapshot):
            raise SceneError(f"World.restore: takes what World.snapshot() gave, got {type(snapshot).__name__}")
        self._refuse_while_running("restore")
        arrays = self._saved_arrays()
        if len(snapshot.joints) != len(self._joints) or len(snapshot.arrays["position"]) != self._bodies.count:
            raise SceneError(f"World.restore: {snapshot!r} is of another scene; this world has {self._bodies.count} bodies, "
                             f"{len(self._joints)} joints")
        if any(np.any(snapshot.joints[n] != self._joints[n]) for n in ("type", "body_a", "body_b")):
            raise SceneError("World.restore: the snapshot's joints connect other bodies than this world's")
        for i, (theirs, own) in enumerate(zip(snapshot.joints, self._joints)):
            if _what_it_holds(theirs) != _what_it_holds(own):
                raise SceneError(f"World.restore: in the snapshot, joint {self.joint_names[i]!r} holds other coordinates or "
                                 "another length, pitch or ratio than in this world; restore a snapshot of an equal scene")
        self._collider.set_manifolds(np.asarray(snapshot.manifolds, MANIFOLD_DTYPE), snapshot.resistances)
        for name, array in arrays.items():
            array[...] = snapshot.arrays[name]
        self._joints[...] = snapshot.joints
        if self._breakable:
            self._pipeline.replan()
        self._events = Events()
        self._pipeline.steps, self._pipeline.start = snapshot.steps, snapshot.start
        if self.time != snapshot.time:              # from a world of another dt
            self._pipeline.start = snapshot.time - snapshot.steps * self.dt

    def state_hash(self) -> str:
        """Hexadecimal digest of the whole state: equal if and only if every bit of it is."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.float64(self.time).tobytes())
        saved = [getattr(self._bodies, f.name) for f in BODY_FIELDS if f.saved]
        for name, numbers, values in self._changed_settings():
            digest.update(name.encode() + numbers.tobytes() + values.tobytes())
        for array in (*saved, self._joints, self._collider.get_manifolds(),
                      self._collider.get_resistances()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def __reduce__(self):
        return _rebuild, (type(self), self._scene, self._keywords, self.snapshot())

    def __deepcopy__(self, memo):
        return _rebuild(type(self), self._scene, self._keywords, self.snapshot())


def _what_it_holds(record):
    """What a joint's record says about how many rows it has, and which."""
    names = ("constant", "breakable", "disc", "ratio", "geared", "geared_axis", "user_size")
    return *(record[name].tobytes() for name in names), record["axes"]["motion_mode"].tobytes()


def _rebuild(kind, scene, keywords, snapshot):
    world = kind(scene, **keywords)
    world.restore(snapshot)
    return world
