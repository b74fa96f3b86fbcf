"""Recorded calls (mcsim/calls) as a case: what the fuzzer looks at after each of its own calls is looked at after theirs,
and a failure among them is made short likewise."""

from __future__ import annotations

from os import PathLike
from typing import Any

from mcsim.calls.player import Player
from mcsim.calls.reading import Line, Lines
from mcsim.core.errors import SceneError
from mcsim.fuzz.case import Case
from mcsim.fuzz.words import Call, Value, expression

OWN = "mcsim.fuzz.callbacks."


def case_of(path: str | PathLike[str], twin: str = "same", world: int = 1) -> Case:
    """A case of the calls of one world of a file that `mc.record_calls` has written.

    twin: of mcsim.fuzz.case.TWINS; world: its number in the file. SceneError as of replay_calls, and where a call was
    given a function. The file is looked at, not played: `played(case_of(path))` plays it.
    """
    make, calls, snapshots = None, [], dict[int, Any]()
    for line in Lines(path):
        if line.kind in ("hash", "closed", "left out") or line.world != world:
            continue
        if line.kind == "make":
            make = Call("make", "w = callbacks.world_of({0})", (_data(line.data),))
        elif line.kind == "call":
            calls.append(_call(line, snapshots))
        elif line.kind == "write":
            calls.append(Call("write views", "callbacks.written_rows(w, {0})", (_data(line.data["write"]),)))
        else:
            calls.append(Call("restore", "w.restore(callbacks.snapshot_of({0}))", (_data(line.data["set"]),)))
    if make is None:
        raise SceneError(f"{path}: there is no world {world}")
    return Case(0, (), make, tuple(calls), twin)


def _data(data: Any) -> Value:
    """Data as they are: JSON's are Python's, but for numbers that JSON lacks, which are told otherwise."""
    return expression(repr(data))


def _call(line: Line, snapshots: dict[int, Any]) -> Call:
    name, kind, given, named = Player.checked(line)
    thing = "w" if kind == "world" else f"w.{kind}({line.data[kind]!r})"
    args = tuple(_value(line, value, snapshots) for value in given)
    if name.endswith("="):
        braced = thing.replace("{", "{{").replace("}", "}}")
        return Call(f"{kind}.{name[:-1]} =", f"{braced}.{name[:-1]} = {{0}}", args)
    return Call(name, f"{thing}.{name}(*)", args, {key: _value(line, value, snapshots) for key, value in named.items()})


def _value(line: Line, data: Any, snapshots: dict[int, Any]) -> Value:
    """A value of a recording as one of a case."""
    if isinstance(data, list):
        return [_value(line, part, snapshots) for part in data]
    if not isinstance(data, dict):
        return data
    if "call" in data and isinstance(data.get("kw"), dict):
        return data | {"kw": {key: _value(line, part, snapshots) for key, part in data["kw"].items()}}
    if isinstance(data.get("dict"), dict):
        return {"dict": {key: _value(line, part, snapshots) for key, part in data["dict"].items()}}
    if "snapshot" in data:
        return expression(f"callbacks.snapshot_of({snapshots.setdefault(data['snapshot'], data)!r})")
    if "function" in data and str(data["function"]).startswith(OWN):
        return expression("callbacks." + str(data["function"]).removeprefix(OWN))
    if "float" in data:
        return expression(str(data["float"]))
    if "empty" in data:
        return expression(f"np.zeros({data['empty']!r})")
    if "opaque" in data:
        return expression("object()")
    raise line.wrong(f"{line.data['call']} was given {str(data)[:80]}, which no case holds")
