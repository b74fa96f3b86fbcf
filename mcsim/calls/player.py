"""Recorded calls, made again: the same worlds, the same calls, and after each the same hash, or the first that differs.

A file names methods of worlds and handles that change them (entries.py), and values (values.py); it can make nothing else
run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from mcsim.calls import entries
from mcsim.calls.reading import Line, Lines
from mcsim.calls.states import VIEWS, made_world, snapshot_of
from mcsim.calls.values import SHOWN, Unknown, unknown, value_of
from mcsim.core.errors import SceneError
from mcsim.core.version import __version__
from mcsim.scene.checks import show
from mcsim.world import World

NAMES = {kind: entries.names(kind) for kind in entries.KINDS}


class Difference(NamedTuple):
    """place: file and line of the call after which the state differs; call: as it stands there; step: of the call's steps
    the first that differs, None where that is not told; recorded, found: hash, or the error that it was refused with."""

    place: str
    call: str
    step: int | None
    recorded: str
    found: str

    def __str__(self) -> str:
        after = f" after its step {self.step}" if self.step is not None else ""
        return f"{self.place}: {self.call}: differs{after}: recorded {self.recorded}, here {self.found}"


@dataclass
class Replayed:
    """What a replay came to.

    calls, steps: made, and found to be as recorded. hash: of the world of the last call. difference: the first call after
    which something differs, None if nothing does. remarks: in words, what else is to be known: that the file is cut off,
    of another version of mcsim, or has changes that no call explains. worlds: number -> the worlds as they are now.
    """

    calls: int = 0
    steps: int = 0
    hash: str = ""
    difference: Difference | None = None
    remarks: list[str] = field(default_factory=list)
    worlds: dict[int, World] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.difference is not None:
            return f"differs: {self.difference}"
        return f"equal: {self.calls} calls, {self.steps} steps, hash {self.hash or 'none'}"


class _Differs(Exception):
    """Nothing that follows can be the same."""


class Player:
    """The worlds of a file, and the calls that wait for the line that says how they ended."""

    def __init__(self, functions: Mapping[str, Any], tell: Callable[[Replayed], None]) -> None:
        self.functions, self.tell = functions, tell
        self.told = Replayed()
        self.waiting: dict[int, Line] = {}
        self.snapshots: dict[int, Any] = {}

    def take(self, line: Line) -> None:
        """The next line."""
        if line.kind == "left out":
            self.told.remarks.append(f"{line.place}: the calls of a world are left out: {line.data['left out']:.200}")
        elif line.kind == "closed":
            return
        elif line.kind != "hash":
            if line.world in self.waiting:
                raise line.wrong(f"world {line.world} has no hash after its line before")
            if (line.kind == "make") == (line.world in self.told.worlds):
                raise line.wrong(f"there is {'a' if line.kind == 'make' else 'no'} world {line.world} already")
            self.waiting[line.world] = line
        else:
            waiting = self.waiting.pop(line.world, None)
            if waiting is None:
                raise line.wrong(f"there is no call of world {line.world} that this is the hash after")
            self.play(waiting, line.data)

    def play(self, line: Line, ends: Mapping[str, Any] | None) -> None:
        """Do what a line says, and compare. ends: how it ended when it was recorded, None where the file ends before."""
        number, ends, known = line.world, ends or {}, ends is not None
        error, each = ends.get("error"), ends.get("each", [])
        if not isinstance(error, str | None) or not isinstance(each, list):
            raise line.wrong("the line after it must tell an error in words, and hashes in a list")
        found: list[str] = []
        steps = self.told.worlds[number]._there.pipeline.steps if number in self.told.worlds else 0
        if ends.get("busy") is True:
            pass  # refused because of what another thread did, which changes nothing
        elif line.kind == "call":
            said = self.call(line, error, found if each else None)
            if not known:
                self.told.remarks.append(f"{line.place}: here it ends: {said}")
            elif said is not None:  # else it cannot be made, and had changed nothing
                self.compare(line, error.split(":")[0] if error else "done", said.split(":")[0], said)
        else:
            self.other(line)
        world = self.told.worlds[number]
        for k, (recorded, here) in enumerate(zip(each, found), 1):
            self.compare(line, str(recorded), here, step=k)
        self.told.hash = world.state_hash()
        if ends.get("hash") is not None:
            self.compare(line, ends["hash"], self.told.hash, step=len(each) + 1 if each else None)
        self.told.calls += line.kind == "call"
        self.told.steps += max(world._there.pipeline.steps - steps, 0) if line.data.get("call") == "step" else 0
        self.tell(self.told)

    def compare(self, line: Line, recorded: str, here: str, said: str = "", step: int | None = None) -> None:
        """One thing that is to be the same."""
        if recorded != here:
            self.told.difference = Difference(line.place, text_of(line), step, recorded[:200], (said or here)[:200])
            raise _Differs

    def other(self, line: Line) -> None:
        """A world, what was written into its arrays, a state."""
        number = line.world
        try:
            if line.kind == "make":
                self.told.worlds[number] = made_world(line.data)
            elif line.kind == "write":
                self.write(line, self.told.worlds[number])
            else:
                self.told.worlds[number].restore(snapshot_of(line.data["set"]))
                self.told.remarks.append(f"{line.place}: the state was changed by no call that is recorded")
        except SceneError as error:
            raise line.wrong(error) from None

    def write(self, line: Line, world: World) -> None:
        """Rows of arrays."""
        try:
            write_rows(world, line.data["write"], lambda part: value_of(part, self.snapshot, {}))
        except SceneError as error:
            raise line.wrong(error) from None

    def call(self, line: Line, error: str | None, found: list[str] | None) -> str | None:
        """Make a call -> "done", or the error that it is refused with; None: it cannot be made, and was refused when it was
        recorded. error: that it had then; found: takes the hashes before each of its steps but the first."""
        (name, kind, given, named), world = self.checked(line), self.told.worlds[line.world]
        target = line.data.get(kind)
        beside = name == "user_data="  # which changes nothing, whatever it is
        for left in (unknown(target), *map(unknown, [] if beside else given), unknown({"dict": named})):
            what, text = next(((str(what), str(text)) for what, text in (left or {}).items()), ("", ""))
            if not left or what == "function" and text in self.functions:
                continue
            if error is not None:
                return None
            cure = f"; give it: replay_calls(path, functions={{{text!r}: ...}})" if what == "function" else ""
            raise line.wrong(f"{name} was given {Unknown(what, text)}, which no file holds{cure}")
        arguments, keywords = self.value(line, given), {key: self.value(line, value) for key, value in named.items()}
        if found is not None and name == "step":
            before: list[str] = []
            world._before_step = lambda: before.append(world._state_hash())
        try:
            thing = world if kind == "world" else getattr(world, kind)(self.value(line, target))
            if name.endswith("="):
                setattr(thing, name[:-1], *arguments)
            else:
                getattr(thing, name)(*arguments, **keywords)
        except Exception as refused:
            return f"{type(refused).__name__}: {refused}"
        finally:
            if found is not None and name == "step":
                world._before_step = world._forget if world._forgetful else None
                found += before[1:]
        return "done"

    @staticmethod
    def checked(line: Line) -> tuple[str, str, list[Any], dict[str, Any]]:
        """-> name of a call, "world", "body" or "joint", arguments and keywords as data. SceneError where it is none that
        changes a world."""
        data = line.data
        kind = next((kind for kind in ("body", "joint") if kind in data), "world")
        name, given, named = data["call"], data.get("args"), data.get("kw", {})
        if name not in NAMES[kind]:
            raise line.wrong(f"there is no call {show(name)} of a {kind} that changes it")
        if not isinstance(given, list) or not isinstance(named, dict):
            raise line.wrong("args must be a list, and kw an object {...}")
        return name, kind, given, named

    def value(self, line: Line, data: Any) -> Any:
        """An argument."""
        try:
            return value_of(data, self.snapshot, self.functions)
        except SceneError as error:
            raise line.wrong(error) from None

    def snapshot(self, data: dict[str, Any]) -> Any:
        """One that stands here, or stood in the file before, by its number."""
        number = data["snapshot"]
        if type(number) is not int:
            raise SceneError(f"a snapshot has a number, got {str(number)[:SHOWN]}")
        if len(data) > 1:
            self.snapshots[number] = snapshot_of(data)
        if number not in self.snapshots:
            raise SceneError(f"there is no snapshot {number} before")
        return self.snapshots[number]


def write_rows(world: World, given: dict[str, Any], value: Callable[[Any], Any] = lambda part: part) -> None:
    """What a line has as "write", into the arrays of a world, in the order of VIEWS: what is written into q is there before
    velocities are. value: of data. SceneError."""
    for name in given:
        if name not in VIEWS or not isinstance(given[name], list) or len(given[name]) != 2:
            raise SceneError(f"write must have [rows, values] of {', '.join(VIEWS)}, got {show(name)}")
    for name in (name for name in VIEWS if name in given):
        array = getattr(world, name, None)
        if not isinstance(array, np.ndarray) or not array.flags.writeable:
            raise SceneError(f"there is no array {name!r} to be written")
        rows, values = (value(part) for part in given[name])
        if not isinstance(rows, list) or not all(type(row) is int and 0 <= row < len(array) for row in rows):
            raise SceneError(f"rows of {name} must be numbers from 0 to {len(array) - 1}")
        try:
            written = np.array(values, float)
            if written.shape != (len(rows), *array.shape[1:]):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise SceneError(f"values of {name} must be {(len(rows), *array.shape[1:])} numbers") from None
        array[rows] = written


def text_of(line: Line) -> str:
    """A line in a few words."""
    data = line.data
    if line.kind == "make":
        return f"world {line.world} as it was made"
    if line.kind != "call":
        return f"what was written into world {line.world}"
    thing = next((f"{kind}({data[kind]!r})." for kind in ("body", "joint") if kind in data), "")
    given, named = data.get("args"), data.get("kw")
    arguments = [json.dumps(value) for value in (given if isinstance(given, list) else ())]
    arguments += [f"{name}={json.dumps(value)}" for name, value in (named.items() if isinstance(named, dict) else ())]
    text = ", ".join(arguments)
    return f"{thing}{data['call']}({text if len(text) < 2 * SHOWN else text[: 2 * SHOWN] + '...'})"


def replay_calls(
    path: str | PathLike[str],
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    tell: Callable[[Replayed], None] = lambda told: None,
) -> Replayed:
    """Make the calls of a file that `record_calls` has written, and compare the state's hash after each with the one that
    stands there. It ends with the first that differs.

    functions: what the file calls by a name alone, as a contact filter: name -> function. tell: told of each call that was
    made, what there is by then. A call that the file ends with, in which a process has died, is made last.

        told = mc.replay_calls("calls.jsonl")
        assert told.difference is None, told

    -> a Replayed. SceneError: the file is wrong, with its line, or a call was given what no file holds. FileNotFoundError.
    """
    lines = Lines(path)
    player = Player(dict(functions or {}), tell)
    told, closed = player.told, False
    try:
        for line in lines:
            if line.kind == "closed":
                closed = True
            elif closed:
                raise line.wrong("stands behind the last line")
            player.take(line)
        if not closed:
            cut = ", and its last line is cut off" if lines.torn else ""
            told.remarks.append(f"{lines.path}: was not closed{cut}: the process that wrote it was ended")
        for line in player.waiting.values():
            told.remarks.append(f"{line.place}: the file ends in {text_of(line)}")
            tell(told)
            player.play(line, None)
    except _Differs:
        pass
    if lines.header.get("by") != __version__:
        by = str(lines.header.get("by"))[:SHOWN]
        told.remarks.append(f"{lines.path}: was written by mcsim {by}, this is {__version__}")
    return told
