"""Whole worlds as data: the scene and the keywords that one was made with, and snapshots."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Any

import numpy as np

from mcsim.calls.values import told, unknown, value_of
from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.scene.pair_materials import PairMaterial
from mcsim.world import ReducedWorld, World
from mcsim.world.exact_scenes import scene_data, scene_of
from mcsim.world.loading import WORLDS
from mcsim.world.record import REDUCED_RECORD
from mcsim.world.snapshots import Packed, Parts, Snapshot

DTYPES = {entry.name: entry.dtype for entry in REDUCED_RECORD}
# The arrays that a user may write into, views of the state (docs/api/world.md, docs/api/reduced_world.md).
VIEWS = ("q", "qd", "tau", "positions", "orientations", "velocities", "angular_velocities", "forces")


def views(world: World) -> dict[str, np.ndarray]:
    """Name -> copy of each array that may be written into."""
    found = {}
    for name in VIEWS:
        if name == "tau" and not isinstance(world, ReducedWorld) and world._there.pipeline.parts.efforts.values is None:
            continue  # nobody has asked for it: to read it would make the model that it goes with
        array = getattr(world, name, None)
        if isinstance(array, np.ndarray) and array.flags.writeable:
            found[name] = array.copy()
    return found


# ---- snapshots -------------------------------------------------------------------------------------------------------


def snapshot_data(snapshot: Snapshot, origin: Scene) -> dict[str, Any]:
    """A snapshot as data. origin: the scene that its world was made of. SceneError if its parts cannot stand in a file."""
    parts = snapshot.parts
    arrays = {
        name: [list(packed.shape), _text(packed.mask), _text(packed.words)] for name, packed in snapshot.packed.items()
    }
    numbered = [[part if isinstance(part, int) else None for part in each] for each in (parts.bodies, parts.joints)]
    data = {
        "contact": snapshot.contact,
        "counts": list(parts.counts),
        "bodies": numbered[0],
        "joints": numbered[1],
        "pairs": [list(pair) for pair in parts.ignored_pairs],
        "together": [pair._arguments for pair in parts.pair_materials],
        "gravity": list(parts.gravity),
    }
    if None in numbered[0] or None in numbered[1]:
        bodies, joints, pairs, together = parts.in_terms_of(origin)
        data |= scene_data(origin.of_parts(bodies, joints, pairs, together))
    return data | {"arrays": arrays}


def snapshot_of(data: Any) -> Snapshot:
    """A snapshot from data, whose contents World.restore checks. SceneError where it is none."""
    try:
        scene = scene_of(data) if "scene" in data else None
        packed = {name: _packed(name, *parts) for name, parts in data["arrays"].items()}
        parts = object.__new__(Parts)
        parts.scene, parts.counts = None, tuple(data["counts"])
        parts.bodies = _parts(data["bodies"], scene.bodies if scene else [])
        parts.joints = _parts(data["joints"], scene.joints if scene else [])
        parts.ignored_pairs = tuple((a, b) for a, b in data["pairs"])
        parts.pair_materials = tuple(PairMaterial(**pair) for pair in data.get("together", ()))
        parts.gravity = tuple(data["gravity"])
        return Snapshot(packed, parts, data["contact"])
    except SceneError as error:
        raise SceneError(f"snapshot: {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, Base64Error, OverflowError) as error:
        raise SceneError(f"there is no snapshot here: {type(error).__name__} {error}") from None


def _parts(told: list[Any], parts: list[Any]) -> list[Any]:
    if not all(part is None or type(part) is int for part in told):
        raise SceneError("its parts are not numbers or null")
    return [parts[i] if part is None else part for i, part in enumerate(told)]


def _packed(name: str, shape: list[int], mask: str, words: str) -> Packed:
    packed = object.__new__(Packed)
    packed.shape, packed.dtype = tuple(shape), DTYPES[name]
    packed.mask = np.frombuffer(b64decode(mask, validate=True), np.uint8)
    packed.words = np.frombuffer(b64decode(words, validate=True), "<u8").astype(np.uint64)
    return packed


def _text(array: np.ndarray) -> str:
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")


# ---- worlds ----------------------------------------------------------------------------------------------------------


def world_data(world: World) -> dict[str, Any]:
    """How a world is made again as it is now. SceneError where no file can tell that, with the reason."""
    kind = next(name for base in type(world).__mro__ for name, each in WORLDS.items() if base is each)
    keywords = {name: told(value, world, lambda value: None) for name, value in world._said.items()}
    for name, value in keywords.items():
        if unknown(value):
            raise SceneError(f"{kind}: {name}: {value} is something that no file holds")
    data: dict[str, Any] = {"make": kind} | scene_data(world._origin) | {"kw": keywords}
    now, snapshot, notes = world.state_hash(), world.snapshot(), _sparse(world._waiting())
    made = made_world(data)
    if not _is_origin(snapshot.parts, world._origin) or made.state_hash() != now:
        data["snapshot"] = snapshot_data(snapshot, world._origin)
        made = made_world(data)
        if made.state_hash() != now:
            raise SceneError(f"{kind} {world.scene.name!r}: is not the same when it is made again of what files hold of it")
    if _sparse(made._waiting()) != notes:
        data["notes"] = notes
    return data


def _sparse(amounts: np.ndarray | None) -> list[list[Any]]:
    """Notes that wait for the next step, which raises them if it is strict: [kind, place, amount] of each that is not 0."""
    if amounts is None:
        return []
    return [[int(i), int(k), float(amounts[i, k])] for i, k in np.argwhere(amounts != 0.0)]


def _take_notes(world: World, notes: Any) -> None:
    """What `_sparse` told. SceneError where it is no such thing."""
    amounts = np.zeros_like(world._pipeline.parts.noted.amounts[0])
    try:
        for kind, place, amount in notes:
            if not (type(kind) is type(place) is int and kind >= 0 and place >= 0 and 0.0 <= float(amount) < np.inf):
                raise ValueError
            amounts[kind, place] = amount
    except (IndexError, TypeError, ValueError, OverflowError):
        raise SceneError("notes must have [kind, place, amount], of kinds and bodies or joints that there are") from None
    world._wait(amounts if notes else None)


def _is_origin(parts: Parts, origin: Scene) -> bool:
    """Whether these are the parts that a world was made of, which a state's hash does not tell."""
    same = [
        list(told) == list(range(len(whole)))
        for told, whole in ((parts.bodies, origin.bodies), (parts.joints, origin.joints))
    ]
    return (
        all(same)
        and parts.ignored_pairs == tuple(origin.ignored_pairs)
        and parts.pair_materials == tuple(origin.pair_materials)
        and parts.gravity == tuple(origin.gravity.tolist())
    )


def made_world(data: dict[str, Any]) -> World:
    """A world from data. SceneError where that makes none."""
    kind = WORLDS.get(data["make"]) if isinstance(data.get("make"), str) else None
    if kind is None or not isinstance(data.get("kw"), dict):
        raise SceneError(f"make must be one of {', '.join(WORLDS)}, with keywords in kw")
    keywords = {name: value_of(part, snapshot_of, {}) for name, part in data["kw"].items()}
    scene = scene_of(data)
    try:
        world = kind(scene, **keywords)
    except (TypeError, ValueError) as error:
        raise SceneError(str(error)) from None
    if "snapshot" in data:
        world.restore(snapshot_of(data["snapshot"]))
    if "notes" in data:
        _take_notes(world, data["notes"])
    return world
