"""A world on disk: its scene, its keywords and its state in one .npz file, without pickles.

Arrays: `world`, JSON text with the kind, the keywords, which bodies and joints there are, the shapes of what follows,
and last bits that scene files lose (exact_scenes.py); `scene`, the scene file of which the world was made, as bytes, if
files can hold it; `present`, that of now, if bodies or joints were added or changed; and of each entry of the world's
record (mcsim/world/record.py) the words that are not zero and where they stand (snapshots.Packed). What is read is
checked like what a user gives: the scene by the checks of scene files, the keywords by the world's, the state as
`World.restore` checks it.
"""

from __future__ import annotations  # signatures read as they are written here

import hashlib
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import parse_json, path_name, read_arrays, written_whole
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, show, vector
from mcsim.scene.described import as_json
from mcsim.scene.pair_materials import PairMaterial
from mcsim.world.choices import CHOICES, Choice
from mcsim.world.consistency import Consistency
from mcsim.world.exact_scenes import scene_data, scene_of
from mcsim.world.record import Record
from mcsim.world.snapshots import Packed, Parts, Snapshot, Snapshots

FORMAT = 1
WHAT = "state of a world"
CHOICE = "choice"  # field of what stands for an object among the keywords
ENDLESS = {"inf": math.inf, "-inf": -math.inf}
KINDS = {kind.__name__: kind for kinds in CHOICES.values() for kind in kinds.values()}


class StateFiles(Consistency):
    """The part of World that is saved."""

    def save_state(self, path: str | PathLike[str]) -> None:
        """Writes this world to a file (.npz), whole or not at all: its scene, its keywords and its state, without
        pickles. `mcsim.load_state(path)` makes a world of it that goes on to the same bits.

        user_data, a contact filter and recordings are not in it. Of a scene with functions of Python (UserJoint,
        motions) the file has the state alone, and load_state is given the scene. SceneError if the path cannot be that
        of a file, or a keyword holds an object that no file can.

            world.save_state("later.npz")
            again = mc.load_state("later.npz")
            again.state_hash() == world.state_hash()
        """
        with self._turn.alone("save_state"):
            scenes = self._origin, self._scene
            write_state(path, type(self).__name__, scenes, self._said, self._snapshot(), layout(self._RECORD))


def layout(record: Record) -> str:
    """A fingerprint of what a state consists of: another one is that of another version of mcsim."""
    told = [(entry.name, str(entry.dtype)) for entry in record]
    return hashlib.blake2b(repr(told).encode(), digest_size=8).hexdigest()


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_state(
    path: str | PathLike[str],
    kind: str,
    scenes: tuple[Scene, Scene],
    said: Mapping[str, Any],
    snapshot: Snapshot,
    layout: str,
) -> None:
    """Writes the file. kind: of world. scenes: that it was made of, and that it has now. said: the keywords that it was
    made with. snapshot: of it."""
    origin, present = scenes
    name = path_name(path, WHAT)
    if Path(name).suffix != ".npz":
        raise SceneError(f"{name}: a {WHAT} is a .npz file")
    parts = snapshot.parts
    told: dict[str, Any] = {
        "format": FORMAT,
        "kind": kind,
        "layout": layout,
        "keywords": {key: _told(value, key) for key, value in said.items() if value is not None},
        "contact": snapshot.contact,
        "shapes": {entry: list(packed.shape) for entry, packed in snapshot.packed.items()},
        "counts": list(parts.counts),
        "bodies": [part if isinstance(part, int) else None for part in parts.bodies],
        "joints": [part if isinstance(part, int) else None for part in parts.joints],
        "ignored_pairs": [list(pair) for pair in parts.ignored_pairs],
        "pair_materials": [pair._arguments for pair in parts.pair_materials],
        "gravity": list(parts.gravity),
    }
    written: dict[str, dict[str, Any]] = {}
    with suppress(FieldError):  # it has functions of Python: whoever loads the state gives the scene
        written["scene"] = scene_data(origin)
    if None in (*told["bodies"], *told["joints"]):
        try:
            written["present"] = scene_data(present)
        except FieldError as error:
            raise SceneError(f"World.save_state: of what was added or changed, {error}; pickle the world") from None
    told["exact"] = {key: data["exact"] for key, data in written.items() if "exact" in data}
    arrays: dict[str, np.ndarray] = {"world": np.array(json.dumps(told, allow_nan=False))}
    arrays |= {key: _bytes(data["scene"]) for key, data in written.items()}
    for entry, packed in snapshot.packed.items():
        arrays[f"{entry}.mask"], arrays[f"{entry}.words"] = packed.mask, packed.words
    with written_whole(path, WHAT) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # numpy takes any name


def _bytes(scene: dict[str, Any]) -> np.ndarray:
    """A scene file, as an array of bytes."""
    return np.frombuffer(json.dumps(scene, allow_nan=False, ensure_ascii=False).encode(), np.uint8)


def _told(value: Any, key: str) -> Any:
    """A keyword's value as JSON data."""
    if isinstance(value, Choice):
        return {CHOICE: type(value).__name__} | {field: _told(part, key) for field, part in value.given().items()}
    if isinstance(value, float) and math.isinf(value):
        return {"number": str(value)}
    if isinstance(value, list | tuple | np.ndarray):
        return [_told(part, key) for part in value]
    if isinstance(value, Mapping) and CHOICE not in value and "number" not in value:
        return {str(name): _told(part, key) for name, part in value.items()}
    value = value.item() if isinstance(value, np.generic) else as_json(value)
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise SceneError(f"World.save_state: {key} is {show(value)}, which no file can hold; pickle the world")


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_state(path: str | PathLike[str], worlds: Mapping[str, type[Snapshots]], scene: Scene | None) -> Any:
    """The world of a file. worlds: the kinds that there are, by name."""
    name, arrays = path_name(path, WHAT), read_arrays(path, WHAT)
    try:
        return _world(arrays, worlds, scene)
    except SceneError as error:
        told = str(error).removeprefix("World.restore: ")
        raise SceneError(f"{name}: not a {WHAT}: {told:.600}") from None
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise SceneError(f"{name}: not a {WHAT}: {' '.join(str(error).split()):.300}") from None


def _world(arrays: dict[str, np.ndarray], worlds: Mapping[str, type[Snapshots]], scene: Scene | None) -> Any:
    if "world" not in arrays or arrays["world"].ndim or arrays["world"].dtype.kind != "U":
        raise SceneError("there is no array 'world' that tells what it is; World.save_state writes such files")
    told = parse_json(str(arrays["world"]).encode(), "world", WHAT)
    if not isinstance(told, dict) or told.get("format") != FORMAT or type(told["format"]) is not int:
        raise SceneError(f"its format is {show(told.get('format') if isinstance(told, dict) else told)}, not {FORMAT}")
    kind = worlds.get(told["kind"]) if isinstance(told.get("kind"), str) else None
    if kind is None:
        raise SceneError(f"kind must be one of: {', '.join(worlds)}; got {show(told.get('kind'))}")
    keywords, shapes = told.get("keywords"), told.get("shapes")
    if not isinstance(keywords, dict) or not isinstance(shapes, dict) or not isinstance(told.get("contact"), str):
        raise SceneError("it does not tell keywords, shapes and contact")
    if scene is None:
        scene = _scene(arrays, "scene", told)
    elif not isinstance(scene, Scene):
        raise SceneError(f"scene must be a Scene, got {show(scene)}")
    made: Any = kind
    world = made(scene, **{key: _value(value, key) for key, value in keywords.items()})
    if told.get("layout") != layout(world._RECORD):
        raise SceneError("another version of mcsim wrote it, whose states consist of other things")
    types = {entry.name: entry.dtype for entry in world._RECORD}
    packed = {name: _packed(arrays, name, types[name], shape) for name, shape in shapes.items()}
    world.restore(Snapshot(packed, _parts(told, arrays, world._origin), told["contact"]))
    return world


def _parts(told: dict[str, Any], arrays: dict[str, np.ndarray], origin: Scene) -> Parts:
    """Which bodies and joints the world had."""
    parts = Parts(origin, origin)
    present = _scene(arrays, "present", told) if "present" in arrays else None
    for name in ("bodies", "joints"):
        listed, found = told.get(name), getattr(present, name, ())
        if not isinstance(listed, list) or not all(n is None or type(n) is int for n in listed):
            raise SceneError(f"{name} must be the numbers of {name} of its scene")
        if None in listed and len(found) != len(listed):
            raise SceneError(f"it has {len(found)} {name} that are not those of its scene, and tells of {len(listed)}")
        setattr(parts, name, [found[i] if n is None else n for i, n in enumerate(listed)])
    counts = told.get("counts")
    if not isinstance(counts, list) or len(counts) != 2 or not all(type(n) is int for n in counts):
        raise SceneError("counts must be how many bodies and joints its scene has")
    parts.counts = counts[0], counts[1]
    pairs, gravity = told.get("ignored_pairs"), told.get("gravity")
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise SceneError("ignored_pairs must be pairs of names")
    together = told.get("pair_materials")
    if not isinstance(together, list) or not all(isinstance(pair, dict) for pair in together):
        raise SceneError("pair_materials must be a list of objects")
    parts.pair_materials = tuple(PairMaterial(**pair) for pair in together)
    parts.scene, parts.ignored_pairs, parts.gravity = None, tuple((a, b) for a, b in pairs), vector(gravity, "gravity")
    return parts


def _scene(arrays: dict[str, np.ndarray], name: str, told: dict[str, Any]) -> Scene:
    if name not in arrays:
        raise SceneError("it has no scene, since that had functions of Python; give it: load_state(path, scene=scene)")
    if arrays[name].dtype != np.uint8 or arrays[name].ndim != 1:
        raise SceneError(f"{name} must be the bytes of a scene file")
    exact = told.get("exact")
    if not isinstance(exact, dict):
        raise SceneError(f"exact must tell last bits of scenes, got {show(exact)}")
    return scene_of({"scene": parse_json(arrays[name].tobytes(), name, "scene file"), "exact": exact.get(name, [])})


def _value(told: Any, key: str) -> Any:
    """A keyword's value, of JSON data."""
    if isinstance(told, list):
        return [_value(part, key) for part in told]
    if not isinstance(told, dict):
        return told
    if "number" in told:
        if set(told) != {"number"} or not isinstance(told["number"], str) or told["number"] not in ENDLESS:
            raise FieldError(f"keywords.{key}", f"must be a number, got {show(told)}")
        return ENDLESS[told["number"]]
    if CHOICE not in told:
        return {name: _value(part, key) for name, part in told.items()}
    fields = {field: _value(part, key) for field, part in told.items() if field != CHOICE}
    if not isinstance(told[CHOICE], str) or told[CHOICE] not in KINDS:
        raise FieldError(f"keywords.{key}", f"is of the kind {show(told[CHOICE])}; there are: {', '.join(KINDS)}")
    return KINDS[told[CHOICE]](**fields)


def _packed(arrays: dict[str, np.ndarray], entry: str, dtype: np.dtype, shape: Any) -> Packed:
    """As it was packed; whether it fits the world, World.restore says."""
    packed = Packed.__new__(Packed)
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise SceneError(f"the shape of {show(entry)} is {show(shape)}")
    packed.dtype = dtype
    packed.shape, packed.mask, packed.words = tuple(shape), arrays[f"{entry}.mask"], arrays[f"{entry}.words"]
    return packed
