"""Arguments of calls as what JSON has, and back. Nothing in a file names code: objects are made by classes of a table here.

    1, 0.5, true, null, "text", [...]      themselves; arrays are nested lists; bodies, joints and their handles are names
    {"float": "nan"}                       a number that JSON lacks: nan, inf, -inf
    {"empty": [0, 3]}                      an array of this shape, without numbers
    {"dict": {...}}                        a dict
    {"call": "mc.Box", "args": [], "kw": {...}}     an object: a shape, joint, material, drive, or choice of a setting
    {"snapshot": 1, ...}                   what World.snapshot gave, in full where its number stands first
    {"function": "module.name"}            a function of the user's, which no file holds
    {"opaque": "<repr>"}                   anything else, which no file holds either

Objects stand as the fuzzer's calls have them (mcsim/fuzz/words.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Body, Joint, Material, Motion, Motor, Spring
from mcsim.scene.described import Described
from mcsim.scene.joints import TYPES
from mcsim.scene.shapes import SHAPES
from mcsim.world import choices
from mcsim.world.handle import Handle

DEEPEST = 24  # of lists in lists
LONGEST = 4096  # bits of a whole number
SHOWN = 80  # characters of what no file holds
NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

# Name in a file -> the class that it stands for.
CLASSES: dict[str, type] = {
    f"mc.{kind.__name__}": kind
    for kind in (
        *(*SHAPES.values(), *TYPES.values(), Material, Motor, Spring, Motion),
        *(kind for kind in vars(choices).values() if hasattr(kind, "keyword") and not kind.__name__.startswith("_")),
    )
}
_NAMES = {kind: name for name, kind in CLASSES.items()}


class Unknown(NamedTuple):
    """What no file holds, as it was told: a function's name, or what repr() gave."""

    what: str
    text: str

    def __repr__(self) -> str:
        return f"<{self.what} {self.text}>"


# ---- to data ---------------------------------------------------------------------------------------------------------


def told(value: Any, world: Any, kept: Callable[[Any], Any], depth: int = 0) -> Any:
    """A value as data. world: whose bodies and joints are meant; kept(snapshot): how a snapshot is told, None if it cannot
    be."""
    if value is None or type(value) in (bool, str):
        return value
    if isinstance(value, (int, float, np.generic)) and not isinstance(value, (np.void, np.complexfloating)):
        return _number(value)
    if depth < DEEPEST:
        if type(value) in (list, tuple):
            return [told(part, world, kept, depth + 1) for part in value]
        if type(value) is dict and all(type(key) is str for key in value):
            return {"dict": {key: told(part, world, kept, depth + 1) for key, part in value.items()}}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
            return told(value.tolist(), world, kept, depth) if value.size else {"empty": list(value.shape)}
        if type(value) in _NAMES:
            found = _reference(value, world) if isinstance(value, Joint) and value.index is not None else None
            return found or _made(value, world, kept, depth)
    if isinstance(value, (Handle, Body)):
        return _reference(value, world) or _opaque(value)
    snapshot = kept(value)
    if snapshot is not None:
        return snapshot
    return {"function": name_of(value)} if callable(value) and not isinstance(value, type) else _opaque(value)


def _number(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return {"float": repr(float(plain))}
    if type(plain) in (bool, float, str) or type(plain) is int and plain.bit_length() < LONGEST:
        return plain
    return _opaque(value)


def _made(value: Any, world: Any, kept: Callable[[Any], Any], depth: int) -> dict[str, Any]:
    """An object by the arguments that make it."""
    kind: Any = type(value)
    given, known = value._given() if isinstance(value, Described) else value.given(), _parameters(kind)
    keywords = {name: told(part, world, kept, depth + 1) for name, part in given.items() if name in known}
    return {"call": _NAMES[kind], "args": [], "kw": keywords}


@cache
def _parameters(kind: Any) -> frozenset[str]:
    """The keywords that a class takes."""
    return frozenset(inspect.signature(kind).parameters)


def _reference(value: Any, world: Any) -> str | None:
    """The name by which the world knows a part of its own; None of another's, and of what is gone."""
    if isinstance(value, Handle):
        return None if value._world is not world or value.removed else value.name
    there = world._there
    index, parts = (
        (there.body_index, there.scene.bodies) if isinstance(value, Body) else (there.joint_index, there.scene.joints)
    )
    found = index.get(value.name)
    return value.name if found is not None and parts[found].original is value.original else None


def _opaque(value: Any) -> dict[str, Any]:
    try:
        text = repr(value)
    except Exception as error:  # of an object of the user's
        text = f"{type(value).__name__}, whose repr() raises {type(error).__name__}"
    return {"opaque": text[:SHOWN]}


def name_of(function: Any) -> str:
    """What a function is called in files, by which `functions` of a replay gives it again."""
    function = function if hasattr(function, "__qualname__") else type(function)
    return f"{function.__module__}.{function.__qualname__}"


def unknown(data: Any) -> dict[str, Any] | None:
    """The first part of data that no file holds, {"function": ...} or {"opaque": ...}; what a user has put beside a body
    (user_data) changes nothing and is left out."""
    if isinstance(data, list):
        return next((found for part in data if (found := unknown(part))), None)
    if not isinstance(data, dict):
        return None
    if data.keys() & {"function", "opaque"}:
        return data
    parts = data.get("dict", data.get("kw"))
    if not isinstance(parts, dict):
        return None
    return next((found for name, part in parts.items() if name != "user_data" and (found := unknown(part))), None)


# ---- from data -------------------------------------------------------------------------------------------------------


def value_of(data: Any, snapshot: Callable[[dict[str, Any]], Any], functions: Mapping[str, Any]) -> Any:
    """A value from data. snapshot(data): of {"snapshot": ...}; functions: by the names that data calls them. SceneError."""
    if isinstance(data, list):
        return [value_of(part, snapshot, functions) for part in data]
    if not isinstance(data, dict):
        return data
    if "call" in data:
        return _object(data, snapshot, functions)
    if "dict" in data:
        return {name: value_of(part, snapshot, functions) for name, part in _dict(data["dict"], "dict").items()}
    if "snapshot" in data:
        return snapshot(data)
    if "float" in data and isinstance(data["float"], str) and data["float"] in NUMBERS:
        return NUMBERS[data["float"]]
    if "empty" in data:
        return _empty(data["empty"])
    if isinstance(data.get("function"), str):
        return functions.get(data["function"], Unknown("function", data["function"]))
    if isinstance(data.get("opaque"), str):
        return Unknown("object", data["opaque"])
    raise SceneError(f"there is no value {str(data)[:SHOWN]}")


def _empty(shape: Any) -> np.ndarray:
    sizes: list[Any] = shape if isinstance(shape, list) else [None]
    if len(sizes) > 8 or not all(type(n) is int and 0 <= n < 2**31 for n in sizes) or 0 not in sizes:
        raise SceneError(f"an array without numbers has no shape {str(shape)[:SHOWN]}")
    return np.zeros(sizes)


def _object(data: dict[str, Any], snapshot: Callable[[dict[str, Any]], Any], functions: Mapping[str, Any]) -> Any:
    kind = CLASSES.get(data["call"]) if isinstance(data["call"], str) else None
    if kind is None:
        raise SceneError(f"there is no class {str(data['call'])[:SHOWN]!r} to make objects of")
    keywords = {
        name: value_of(part, snapshot, functions) for name, part in _dict(data.get("kw"), f"kw of {data['call']}").items()
    }
    missing = sorted(keywords.keys() - _parameters(kind))
    if missing or data.get("args") != []:
        raise SceneError(f"{data['call']} takes no {missing[0]!r}" if missing else f"{data['call']} takes keywords alone")
    try:
        return kind(**keywords)
    except SceneError:
        raise
    except (TypeError, ValueError) as error:
        raise SceneError(f"{data['call']}: {error}") from None


def _dict(data: Any, what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise SceneError(f"{what} must be an object {{...}}, got {str(data)[:SHOWN]}")
    return data
