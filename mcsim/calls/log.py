"""A log of calls: a file to which every call that changes a world is written as it is made.

The file is text, a JSON object a line; each line goes to the system at once, so that a process that dies leaves a file
that ends with the call that it died in. Lines are added, never changed:

    {"mcsim": "calls", "version": 1, "by": "0.2.0"}                     the first line
    {"world": 1, "make": "World", "scene": {...}, "kw": {...}}          a world whose calls follow, as it begins; with
                                                                        "snapshot" where it was made before, "exact" and
                                                                        "notes" where that leaves something (states.py)
    {"world": 1, "call": "set_pose", "args": ["ball", [0, 0, 1]]}       a call, before it is made
    {"world": 1, "call": "set_motor", "joint": "pin", "args": [], "kw": {"velocity": 1.0}}       ... of a handle
    {"world": 1, "write": {"velocities": [[2], [[0.0, 0.0, 1.0]]]}}     what was written into arrays: rows, and their values
    {"world": 1, "set": {...}}                                          a state that came about in no way that is seen here
    {"world": 1, "hash": "<state_hash()>"}                              after each of these; with "error" of a call that was
                                                                        refused, "busy" because another thread had the
                                                                        world; and with "each", the hashes after the
                                                                        steps of a call but the last, where asked for
    {"world": 2, "left out": "<why>"}                                   a world whose calls are not here
    {"closed": 17}                                                      the last line, with the number of calls
"""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from mcsim.calls import entries
from mcsim.calls.entries import LOCK, called_by_mcsim
from mcsim.calls.states import snapshot_data, views, world_data
from mcsim.calls.values import told
from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.files import path_name
from mcsim.core.version import __version__
from mcsim.scene.checks import flag, show
from mcsim.world import World
from mcsim.world.handle import Handle
from mcsim.world.snapshots import Snapshot
from mcsim.world.world import BUSY

VERSION = 1
MARK = "_calls_followed"  # attribute of a world that is followed: its Track
NOT = "_calls_left_out"  # ... of one that could not be followed: the log
TRIES = 50  # a millisecond apart, until another thread gives a world back
WAITING = BUSY.split("{doing}: ")[1]  # what is said to who comes meanwhile

_open: list[CallLog] = []


class CallLog:
    """A file that calls are written to, made by `record_calls`; a context manager.

    path: of the file. calls: how many it has by now. closed: whether it takes no more.
    """

    def __init__(self, path: str | PathLike[str], world: World | None, each_step: bool) -> None:
        self.path: str = path_name(path, "recording of calls")
        self.calls: int = 0
        self.closed: bool = False
        self.each_step: bool = each_step
        self._of_all, self._worlds, self._process = world is None, 0, os.getpid()
        self._snapshots: WeakKeyDictionary[Snapshot, int] = WeakKeyDictionary()
        self._snapshot_count = 0
        self._writing = threading.Lock()
        self._file = -1

    def _begin(self, world: World | None) -> None:
        first = None if world is None else world_data(world)
        with LOCK:
            if world is not None and _track_of(world) is not None:
                raise SceneError("record_calls: the calls of this world are recorded already")
            if world is None and any(log._of_all for log in _open):
                raise SceneError("record_calls: all calls are recorded already, by a log that is not closed")
            self._file = _opened(self.path)
            self.write({"mcsim": "calls", "version": VERSION, "by": __version__})
            if not _open:
                entries.install(_door)
            _open.append(self)
        if world is not None and first is not None:
            _follow(self, world, first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the last line and follow no world any more; a second time nothing."""
        with LOCK:
            if self.closed:
                return
            self.write({"closed": self.calls})
            self._end()

    def _end(self) -> None:
        with LOCK:
            if self.closed:
                return
            self.closed = True
            if self in _open:
                _open.remove(self)
                if not _open:
                    entries.uninstall()
            os.close(self._file)

    def __repr__(self) -> str:
        return f"<CallLog {self.path!r}: {self.calls} calls{', closed' if self.closed else ''}>"

    # ---- lines -------------------------------------------------------------------------------------------------------

    def write(self, data: dict[str, Any]) -> None:
        """Add a line. What the system refuses ends the log and comes out as OSError."""
        line = (json.dumps(data, allow_nan=False, separators=(",", ":")) + "\n").encode()
        try:
            with self._writing:
                while line and not self.closed and self._process == os.getpid():  # a child process has the file, too
                    line = line[os.write(self._file, line) :]
        except OSError:
            self._end()
            raise

    def _kept(self, value: Any, origin: Any) -> Any:
        """A snapshot as data: in full once, then by its number."""
        if not isinstance(value, Snapshot):
            return None
        with LOCK:
            known = self._snapshots.get(value)
        if known is not None:
            return {"snapshot": known}
        try:
            data = snapshot_data(value, origin)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # it is not whole, or has functions
            return None
        with LOCK:
            self._snapshot_count += 1
            self._snapshots[value] = number = self._snapshot_count
        return {"snapshot": number} | data


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no folder {os.path.dirname(os.path.abspath(path))}") from None
    except IsADirectoryError:
        raise SceneError(f"{path}: is a folder, not a recording of calls") from None


class Track:
    """One world that is followed: its number in the file, and what it was like after the last call."""

    def __init__(self, log: CallLog, number: int) -> None:
        self.log, self.number = log, number
        self.turn = threading.Lock()  # of a call that is written: what is called meanwhile is part of it, or refused
        self.hash: str | None = None
        self.ended = False  # it has come to what no file holds
        self.scene: Any = None
        self.steps = 0
        self.views: dict[str, np.ndarray] = {}

    def make(
        self, function: Callable[..., Any], name: str, thing: Any, given: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        """A call, written before and after."""
        world: Any = thing._world if isinstance(thing, Handle) else thing
        self.catch_up(world)
        if self.ended:
            return function(thing, *given, **named)
        given, named = tuple(map(_listed, given)), {key: _listed(value) for key, value in named.items()}
        self.log.calls += 1
        self.log.write(self.call_data(world, thing, name, given, named))
        ends: dict[str, Any] = {}
        each: list[str] = []
        if self.log.each_step and name == "step":
            world._before_step = lambda: each.append(world._state_hash())
        try:
            return function(thing, *given, **named)
        except BaseException as error:
            ends["error"] = f"{type(error).__name__}: {error}"
            ends |= {"busy": True} if isinstance(error, SimulationError) and WAITING in str(error) else {}
            raise
        finally:
            if self.log.each_step and name == "step":
                world._before_step = world._forget if world._forgetful else None
            self.keep(world)
            self.log.write({"world": self.number, "hash": self.hash} | ends | ({"each": each[1:]} if each[1:] else {}))

    def call_data(
        self, world: World, thing: Any, name: str, given: tuple[Any, ...], named: dict[str, Any]
    ) -> dict[str, Any]:
        """The line of a call."""

        def kept(value: Any) -> Any:
            return self.log._kept(value, world._origin)

        data: dict[str, Any] = {"world": self.number, "call": name}
        if isinstance(thing, Handle):
            data[thing._NOUN] = told(thing, world, kept)
        data["args"] = [told(value, world, kept) for value in given]
        if named:
            data["kw"] = {key: told(value, world, kept) for key, value in named.items()}
        return data

    def keep(self, world: World) -> None:
        """What the world is like now."""
        state = _when_free(lambda: (world.state_hash(), views(world)))
        self.hash, self.views = state or (None, {})
        self.scene, self.steps = world._there.scene, world._there.pipeline.steps

    def catch_up(self, world: World) -> None:
        """Write what has changed since the last call that is recorded: in arrays, or in no way that is known."""
        now, there = _when_free(world.state_hash), world._there
        if now is None or now == self.hash and there.scene is self.scene:
            return
        by_hand = self.hash is not None and there.scene is self.scene and there.pipeline.steps == self.steps
        written = {}
        for name, array in views(world).items() if by_hand else ():
            before = self.views.get(name, np.zeros_like(array))
            if before.shape == array.shape and array.size:
                width = array.dtype.itemsize * array[:1].size
                now, then = (np.ascontiguousarray(each).view(np.uint8).reshape(-1, width) for each in (array, before))
                rows = np.flatnonzero((now != then).any(axis=1))
                if len(rows):
                    written[name] = [rows.tolist(), told(array[rows], world, lambda value: None)]
        if written:
            self.log.write({"world": self.number, "write": written})
        else:
            data: dict[str, Any]
            snapshot = _when_free(world.snapshot)
            if snapshot is None:
                return
            try:
                data = {"set": snapshot_data(snapshot, world._origin)}
            except SceneError as error:
                data, self.ended = {"left out": f"from here on: {error}"}, True
            self.log.write({"world": self.number} | data)
            if self.ended:
                return
        self.keep(world)
        self.log.write({"world": self.number, "hash": self.hash})


def _when_free(ask: Callable[[], Any]) -> Any:
    """What is answered when no other thread is looking at the world; None where one goes on for long: it steps it."""
    for _ in range(TRIES):
        try:
            return ask()
        except SimulationError:
            time.sleep(0.001)
    return None


def _listed(value: Any) -> Any:
    """What can be gone through only once, as a list, which can be written as well."""
    return list(value) if isinstance(value, Iterator) else value


def _track_of(world: World) -> Track | None:
    """Who follows a world."""
    track: Track | None = vars(world).get(MARK)
    return None if track is None or track.ended or track.log.closed or track.log._process != os.getpid() else track


def _follow(log: CallLog, world: World, data: dict[str, Any]) -> Track:
    """Write a world's first lines; its calls are written from now on. data: how it is made."""
    with LOCK:
        log._worlds += 1
        track = Track(log, log._worlds)
    log.write({"world": track.number} | data)
    track.keep(world)
    log.write({"world": track.number, "hash": track.hash})
    vars(world)[MARK] = track
    if world.contact_filter is not None:
        log.write(track.call_data(world, world, "contact_filter=", (world.contact_filter,), {}))
        log.write({"world": track.number, "hash": track.hash})
        log.calls += 1
    return track


def _taken_on(world: World) -> Track | None:
    """A world that is called while all calls are recorded is followed from then on; one that no file can hold is told of,
    once. None: it is not followed."""
    for log in _open:
        if log._of_all:
            break
    else:
        return None
    if vars(world).get(NOT) is log or log._process != os.getpid() or called_by_mcsim():
        return None
    try:
        return _follow(log, world, world_data(world))
    except SimulationError:  # another thread steps it
        return None
    except SceneError as error:
        vars(world)[NOT] = log
        with LOCK:
            log._worlds += 1
            log.write({"world": log._worlds, "left out": str(error)})
        warnings.warn(f"record_calls: the calls of {world!r} are not recorded: {error}", stacklevel=4)
        return None


def _door(function: Callable[..., Any], name: str, thing: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What every call that may change a world goes through while there is a log."""
    world: Any = thing._world if isinstance(thing, Handle) else thing
    track = _track_of(world) or _taken_on(world)
    if track is None or not track.turn.acquire(blocking=False):
        return function(thing, *given, **named)
    try:
        return track.make(function, name, thing, given, named)
    finally:
        track.turn.release()


def record_calls(path: str | PathLike[str], world: World | None = None, *, each_step: bool = False) -> CallLog:
    """Write every call that changes a world to a file, from which `mcsim replay FILE` and `replay_calls` make them again.

    path: of the file, which is begun anew. world: the one whose calls are written, a World or a ReducedWorld in whatever
    state it is; None: all worlds, each from the first call on that is made of it. each_step: whether the state's hash is
    written after every step of step(n), not only after the last one.

    What is written, as soon as it is done: calls of the world's methods and of its handles', settings and properties that
    are set, and what was written into its arrays in between; after each the state's hash. A process that is killed leaves
    a file that can be read. Scenes, materials, shapes, joints, motors and snapshots stand in the file in full; functions
    of Python do not: a contact filter is named, and has to be given to replay_calls; a world with UserJoints or Motions by
    functions, or with joint models of your own, is refused: SceneError, or a warning where all worlds are recorded.

        with mc.record_calls("calls.jsonl"):
            world = mc.World(mc.load("ragdolls"))
            world.step(60)

    -> a CallLog, whose close() ends it where it is not used by `with`. Worlds that no log follows cost what they did. The
    calls of a world that is followed take two more hashes of its state each. OSError: the file cannot be written.
    """
    if world is not None and not isinstance(world, World):
        raise SceneError(f"record_calls: world must be a World or a ReducedWorld, got {show(world)}")
    log = CallLog(path, world, flag(each_step, "record_calls: each_step"))
    log._begin(world)
    return log
