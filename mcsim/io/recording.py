"""Recordings: what a world did, frame by frame, as one .npz file.

Arrays: time (t,) [s]; positions (t, n, 3) of the centres of mass [m]; orientations (t, n, 4) unit quaternions
(w, x, y, z); velocities (t, n, 3) [m/s]; angular_velocities (t, n, 3) [rad/s], world axes; body_names (n,). And, of a
recording that a Recorder made, scene: the scene file as bytes, without joints that no scene file can hold, so that the
recording can be shown. Where it keeps contacts: contacts (c,), as world.contacts has them, of one frame after the other,
and contact_counts (t,), how many are of each. Where some body was not enabled: enabled (t, n), whether each was.
"""

from __future__ import annotations  # signatures read as they are written here

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import parse_json, path_name, read_arrays, written_whole
from mcsim.scene import Joint, Scene
from mcsim.scene.checks import FieldError, count, flag, show
from mcsim.world.observers import CONTACT_DTYPE
from mcsim.world.record import MOST_STEPS
from mcsim.world.world import World

# Array -> shape of one body's entry in one frame.
BODY_ARRAYS = {"positions": (3,), "orientations": (4,), "velocities": (3,), "angular_velocities": (3,)}


@dataclass(frozen=True, eq=False)
class Recording:
    """Frames of a run; see the module for shapes and units.

    scene: what was run, with bodies of the same names in the same order; None: unknown, as in files of version 0.1.
    contacts: for each frame what world.contacts had; None: they were not kept.
    enabled: (t, n) whether each body was enabled, which pictures show it by; None: as the scene has it.
    """

    time: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    velocities: np.ndarray
    angular_velocities: np.ndarray
    body_names: tuple[str, ...]
    scene: Scene | None = None
    contacts: tuple[np.ndarray, ...] | None = None
    enabled: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("time", *BODY_ARRAYS):
            object.__setattr__(self, name, _numbers(getattr(self, name), name))
        object.__setattr__(self, "body_names", _names(self.body_names))
        problem = self._problem()
        if problem:
            raise SceneError(f"recording: {problem}")

    def _problem(self) -> str | None:
        """What is wrong with the arrays, or None."""
        if self.time.ndim != 1:
            return f"time must have shape (t,), got {self.time.shape}"
        for name, entry in BODY_ARRAYS.items():
            expected = (len(self.time), len(self.body_names), *entry)
            array = getattr(self, name)
            if array.shape != expected:
                return f"{name} must have shape {expected} (frames, bodies, numbers), got {array.shape}"
            if not np.isfinite(array).all():
                return f"{name} has entries that are not finite"
        if not np.isfinite(self.time).all() or (np.diff(self.time) <= 0).any():
            return "time must be finite and grow from frame to frame"
        if (np.abs(np.linalg.norm(self.orientations, axis=2) - 1.0) > 1e-6).any():
            return "orientations must be unit quaternions"
        if self.scene is not None:
            if not isinstance(self.scene, Scene):
                return f"scene must be a Scene, got {show(self.scene)}"
            if tuple(body.name for body in self.scene.bodies) != self.body_names:
                return "the bodies of its scene are not those of body_names"
        if self.enabled is not None:
            flags = len(self.time), len(self.body_names)
            if not isinstance(self.enabled, np.ndarray) or self.enabled.dtype != bool or self.enabled.shape != flags:
                return f"enabled must be an array of bool of shape {flags} (frames, bodies), got {show(self.enabled)}"
        return None if self.contacts is None else self._problem_of_contacts(self.contacts)

    def _problem_of_contacts(self, contacts: tuple[np.ndarray, ...]) -> str | None:
        if len(contacts) != len(self.time):
            return f"contacts must have an array for each of the {len(self.time)} frames, got {len(contacts)}"
        for found in contacts:
            if not isinstance(found, np.ndarray) or found.dtype != CONTACT_DTYPE or found.ndim != 1:
                return "contacts must have arrays as world.contacts is"
            numbers = np.concatenate([found["body_a"], found["body_b"]])
            if ((numbers < -1) | (numbers >= len(self.body_names))).any():
                return "contacts are of bodies that there are not"
            if not all(np.isfinite(found[name]).all() for name in CONTACT_DTYPE.names or ()):
                return "contacts has entries that are not finite"
        return None

    def __len__(self) -> int:
        """The number of frames."""
        return len(self.time)

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"<Recording: {len(self)} frames{span}, {len(self.body_names)} bodies>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the .npz file, whole or not at all."""
        name = path_name(path, "recording")
        if Path(name).suffix != ".npz":
            raise SceneError(f"{name}: a recording is a .npz file")
        arrays = {name: getattr(self, name) for name in ("time", *BODY_ARRAYS)}
        if self.scene is not None:
            arrays["scene"] = _as_bytes(self.scene)
        if self.contacts is not None:
            arrays["contacts"] = np.concatenate([*self.contacts, np.zeros(0, CONTACT_DTYPE)])
            arrays["contact_counts"] = np.array([len(found) for found in self.contacts], int)
        if self.enabled is not None:
            arrays["enabled"] = self.enabled
        with written_whole(path, "recording") as file:
            np.savez_compressed(file, **arrays, body_names=np.array(self.body_names, dtype=str))

    def save_gltf(self, path: str | os.PathLike[str]) -> None:
        """Writes a glTF file (.glb) for Blender, game engines and viewers of 3-D files: a node for each body, and the
        frames as its animation."""
        from mcsim.view.gltf import save_gltf

        save_gltf(path, self.shown_scene(), self)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page (.html) that plays the frames in any browser, in one file, without a network. Needs the extra
        view."""
        from mcsim.view.html import save_html

        save_html(path, self.shown_scene(), self)

    def _repr_html_(self) -> str | None:
        """In a notebook the page stands by itself, where the scene is known and viser is there."""
        from mcsim.view.html import framed

        return None if self.scene is None or len(self) == 0 else framed(self.scene, self)

    def shown_scene(self) -> Scene:
        """The scene, to be drawn. SceneError if the recording has none."""
        if self.scene is None:
            raise SceneError(
                "recording: has no scene, so nobody knows the shapes of its bodies; it was made by an earlier version of "
                "mcsim, or by hand: give it one by dataclasses.replace(recording, scene=scene)"
            )
        return self.scene

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recording:
        """Reads a .npz file and checks it. SceneError names the file and the array that is wrong."""
        name, data = path_name(path, "recording"), read_arrays(path, "recording")
        missing = [key for key in ("time", *BODY_ARRAYS, "body_names") if key not in data]
        if missing:
            raise SceneError(f"{name}: not a recording: there is no array {missing[0]!r}")
        try:
            arrays: dict[str, Any] = {key: data[key] for key in ("time", *BODY_ARRAYS, "body_names")}
            scene = _from_bytes(data["scene"]) if "scene" in data else None
            contacts = _split(data) if "contacts" in data else None
            return cls(**arrays, scene=scene, contacts=contacts, enabled=data.get("enabled"))
        except SceneError as error:
            raise SceneError(f"{name}: not a recording: {str(error).removeprefix('recording: ')}") from None


def _numbers(values: Any, name: str) -> np.ndarray:
    """An array of doubles."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise TypeError
        return array.astype(float)
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"recording: {name} must be an array of real numbers, got {show(values)}") from None


def _names(values: Any) -> tuple[str, ...]:
    """A tuple of strings."""
    names = values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "U" else values
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise SceneError(f"recording: body_names must be a list of names, got {show(values)}")
    return tuple(names)


def _as_bytes(scene: Scene) -> np.ndarray:
    """A scene file, as an array of bytes."""
    kept: dict[str, Joint] = {}
    for joint in scene.joints:
        if all(name in kept for name in (getattr(joint, "joint_a", None), getattr(joint, "joint_b", None)) if name):
            with suppress(FieldError):  # it has functions of Python
                joint.to_dict()
                kept[joint.name] = joint
    data = scene.of_parts(list(scene.bodies), list(kept.values())).to_dict()
    return np.frombuffer(json.dumps(data, allow_nan=False, ensure_ascii=False).encode(), np.uint8)


def _from_bytes(content: np.ndarray) -> Scene:
    if content.dtype != np.uint8 or content.ndim != 1:
        raise SceneError(f"recording: scene must be the bytes of a scene file, got {show(content)}")
    return Scene.from_dict(parse_json(content.tobytes(), "scene", "scene file"))


def _split(data: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The contacts of each frame."""
    counts = data.get("contact_counts")
    if counts is None or counts.dtype.kind not in "iu" or counts.ndim != 1 or (counts < 0).any():
        raise SceneError("recording: contact_counts must say how many contacts each frame has")
    if data["contacts"].ndim != 1 or sum(counts.tolist()) != len(data["contacts"]):
        raise SceneError(
            f"recording: there are {len(data['contacts'])} contacts, contact_counts says {sum(counts.tolist())}"
        )
    return tuple(np.split(data["contacts"], np.cumsum(counts)[:-1])) if len(counts) else ()


class Recorder:
    """Keeps frames of a world: one at once, one after every `every` steps of `step`, and where `keep` is called. contacts:
    whether to keep the contacts too, so that pictures can show them."""

    def __init__(self, world: World, every: int = 1, *, contacts: bool = False) -> None:
        if not isinstance(world, World):
            raise SceneError(f"recorder: takes a World or a ReducedWorld, got {show(world)}")
        if isinstance(every, bool) or not isinstance(every, Integral) or every < 1:
            raise SceneError(f"recorder: every must be a whole number, at least 1, got {show(every)}")
        self.world: World = world
        self.every: int = int(every)
        self.body_names: tuple[str, ...] = tuple(world.body_names)
        self._frames: list[tuple[Any, ...]] = []
        self._contacts: list[np.ndarray] | None = [] if flag(contacts, "recorder: contacts") else None
        self._enabled: list[np.ndarray] = []
        self._scene: Scene | None = None  # that the last of them is of
        self.keep()

    def step(self, frames: int = 1) -> None:
        """Steps the world until `frames` more frames are kept."""
        try:
            frames = count(frames, "frames", 0, MOST_STEPS)
        except FieldError as error:
            raise SceneError(f"recorder: {error}") from None
        for _ in range(frames):
            self.world.step(self.every)
            self.keep()

    def keep(self) -> None:
        """Keeps the present state as a frame."""
        if tuple(self.world.body_names) != self.body_names:
            raise SceneError("recorder: the world's bodies changed; a recording has the same bodies in all frames")
        if self._contacts is not None:  # more contacts than frames do no harm, fewer would
            self._contacts[len(self._frames) :] = [self.world.contacts]
        scene = self.world.scene
        same = scene is self._scene and self._enabled
        enabled = self._enabled[-1] if same else np.array([body.enabled for body in scene.bodies], bool)
        self._enabled[len(self._frames) :], self._scene = [enabled], scene
        # One append a frame: an interrupt leaves whole frames only.
        self._frames.append((self.world.time, *(getattr(self.world, name).copy() for name in BODY_ARRAYS)))

    def _all_enabled(self) -> np.ndarray:
        frames = self._enabled[: len(self._frames)]
        return np.array(frames, bool).reshape(len(frames), len(self.body_names))

    def recording(self) -> Recording:
        """All frames kept so far, and the world's present scene."""
        time, *rest = zip(*self._frames, strict=True)
        arrays: list[Any] = [np.array(frames, dtype=float) for frames in rest]
        return Recording(
            np.array(time),
            **dict(zip(BODY_ARRAYS, arrays, strict=True)),
            body_names=self.body_names,
            scene=self.world.scene,
            contacts=None if self._contacts is None else tuple(self._contacts[: len(self._frames)]),
            enabled=None if all(enabled.all() for enabled in self._enabled) else self._all_enabled(),
        )
