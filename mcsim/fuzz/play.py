"""A case played: each call made on two worlds alike, and everything looked at after it."""

from __future__ import annotations

import copy
import math
import os
import pickle
import re
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

import mcsim
from mcsim.fuzz import callbacks
from mcsim.fuzz.case import Case
from mcsim.fuzz.operations import drawn
from mcsim.fuzz.words import Call

OURS = (mcsim.SceneError, mcsim.SimulationError, mcsim.StaleHandleError, callbacks.CallbackError)
REFUSED = (*OURS, ValueError, TypeError)
# Errors of these types that Python, NumPy or SciPy have raised of themselves: the caller is told nothing that helps.
ACCIDENTS = re.compile(
    r"unsupported operand|object is not|has no attribute|not subscriptable|NoneType|ufunc|could not be broadcast|"
    r"truth value|inhomogeneous|cannot reshape|is not iterable|unhashable|must be real number|"
    r"Singular matrix|infs or NaNs|buffer|setting an array element|'numpy|cannot convert|indices must|index out of"
)
# Calls that may be half done when they are refused: steps of which some were made.
STEPS = ("step", "step beside threads", "record")
# Between the momentum before and after, in parts of the sum of all bodies': rounding, and what solvers sum up.
LOST = 1e-7
# ... and of a ReducedWorld whose loops a Runge-Kutta method holds, which has momenta to its own order.
LOST_IN_COORDINATES = 1e-2


class Failure(Exception):
    """What must not be. kind: in a few words, the same for the same defect; text: of this case."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}" if text else kind)
        self.kind, self.text = kind, text

    def __reduce__(self) -> Any:
        return Failure, (self.kind, self.text)


@dataclass
class Told:
    """What a run did: calls by their outcome, "done" or the error's type."""

    case: Case
    outcomes: Counter[str] = field(default_factory=Counter)


class Side:
    """One of the worlds, with the names that lines see."""

    def __init__(self, forgets: bool = False) -> None:
        self.forgets = forgets
        self.names: dict[str, Any] = {
            "mc": mcsim,
            "np": np,
            "copy": copy,
            "pickle": pickle,
            "nan": math.nan,
            "inf": math.inf,
            "callbacks": callbacks,
            "kept": {},
        }

    @property
    def world(self) -> Any:
        """As the last line has left it; None before there is one."""
        return self.names.get("w")

    def outcome(self, text: str) -> str:
        """Run a line -> "done", or the type and the words of the error that it was refused with."""
        callbacks.Present.world = self.world
        if self.forgets:
            os.environ["MCSIM_FORGET"] = "1"
        try:
            exec(compile(text, "<call>", "exec"), self.names)
        except REFUSED as error:
            told = re.sub(r"0x[0-9a-f]+", "0x", str(error))
            if not told:
                raise Failure(f"{type(error).__name__} without words {_place(error)}", text) from error
            if not isinstance(error, OURS) and ACCIDENTS.search(told):
                raise Failure(f"{type(error).__name__} of no help {_place(error)}", f"{text}: {told}") from error
            return f"{type(error).__name__}: {told}"
        except Exception as error:
            raise Failure(f"{type(error).__name__} {_place(error)}", f"{text}: {error}") from error
        finally:
            callbacks.Present.world = None
            if self.forgets:
                del os.environ["MCSIM_FORGET"]
        return "done"


def _place(error: BaseException) -> str:
    """Where in the package an error came out: file and function."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "mcsim" in frame.filename]
    frames = [frame for frame in frames if "/fuzz/" not in frame.filename.replace("\\", "/")]
    if not frames:
        return "in the line itself"
    return f"in {os.path.basename(frames[-1].filename)}, {frames[-1].name}"


class Player:
    """Two worlds, and what is known of the calls so far."""

    def __init__(self, case: Case, log: Callable[[Call], None] | None = None) -> None:
        self.case, self.log = case, log
        self.plain, self.twin = Side(), Side(case.twin == "forgets")
        self.outcomes: Counter[str] = Counter()

    def begin(self) -> bool:
        """The scene and the world -> whether there is one."""
        for call in (*self.case.scene, self.case.make):
            self.do(call)
        if self.twin.world is not None and self.case.twin == "threads":
            with suppress(*REFUSED):
                self.twin.world.change_settings(threads=2)
        return self.plain.world is not None

    def do(self, call: Call) -> None:
        """One call on both worlds, and all checks."""
        if self.log is not None:
            self.log(call)
        text = call.text()
        world = self.twin.world
        before = None if world is None else world.state_hash()
        momentum = None if world is None else _momentum(world)
        said = [side.outcome(text) for side in (self.plain, self.twin)]
        self.outcomes[said[0].split(":")[0]] += 1
        if said[0] != said[1]:
            raise Failure(f"a world that {self.case.twin} answers otherwise", f"{text}: {said[0]!r}, and {said[1]!r}")
        if self.twin.world is None:
            return
        if said[0] != "done" and self.twin.world is world:
            if call.name not in STEPS and world.state_hash() != before:
                raise Failure(f"a refused {call.name} changes the state", f"{text}: {said[0]}")
        elif call.name in STEPS and momentum is not None:
            smooth = isinstance(world, mcsim.ReducedWorld) and world.settings["integrator"] != "semi_implicit"
            _check_momentum(momentum, _momentum(world), LOST_IN_COORDINATES if smooth else LOST, text)
        self.look(text)

    def look(self, text: str) -> None:
        """Whether both worlds are sound, and the same."""
        world = self.twin.world
        try:
            world.check()
        except mcsim.SimulationError as error:
            told = str(error)
            raise Failure(
                "check: " + re.sub(r"'[^']*'|[-+\d.e]+", "_", told.split(": ", 1)[-1])[:60], f"{text}: {told}"
            ) from None
        if self.case.twin == "looks":
            self._aside(lambda: callbacks.look(world), "look")
        if self.case.twin == "copies":
            self._copy(crc32(text.encode()) % 6)
        hashes = [side.world.state_hash() for side in (self.plain, self.twin)]
        if hashes[0] != hashes[1]:
            raise Failure(f"a world that {self.case.twin} goes another way", f"{text}: {_differing(self)}")

    def _copy(self, way: int) -> None:
        names, world = self.twin.names, self.twin.world
        if way < 2 and {"h", "j"} & names["kept"].keys():
            return  # handles are of the world that they were taken of, not of its copies
        if way == 0:
            self._aside(lambda: names.update(w=copy.deepcopy(world)), "copy.deepcopy(w)")
        elif way == 1:
            self._aside(lambda: names.update(w=pickle.loads(pickle.dumps(world))), "pickle.loads(pickle.dumps(w))")
        elif way == 2:
            self._aside(lambda: world.restore(world.snapshot()), "w.restore(w.snapshot())")
        elif way == 3 and not {"h", "j"} & names["kept"].keys():
            self._aside(lambda: names.update(w=_through_file(world)), "mc.load_state(w.save_state(path))")

    def _aside(self, call: Callable[[], object], text: str) -> None:
        """What the second world alone does: it must be able to."""
        try:
            call()
        except Exception as error:
            raise Failure(f"{text}: {type(error).__name__} {_place(error)}", str(error)) from error


def _through_file(world: Any) -> Any:
    """A world that was saved and loaded, with what a file does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "world.npz")
        try:
            world.save_state(path)
        except mcsim.SceneError as error:  # a joint with functions of Python was added, which no file holds
            if "pickle the world" in str(error):
                return world
            raise
        other = mcsim.load_state(path, world._origin)
    other.contact_filter = world.contact_filter
    other._take_user_data(world._told_user_data())
    other._wait(world._waiting())
    return other


def _differing(player: Player) -> str:
    """Names of the entries of the record in which two worlds differ."""
    here, there = player.plain.world, player.twin.world
    of_both = [entry for entry in here._RECORD if entry in there._RECORD]
    return ", ".join(
        entry.name
        for entry in of_both
        if np.asarray(entry.read(here._holder())).tobytes() != np.asarray(entry.read(there._holder())).tobytes()
    )


def _momentum(world: Any) -> tuple[np.ndarray, float] | None:
    """(3,) of all bodies [kg m/s], and the sum of its sizes; None where something from outside acts."""
    scene = world.scene
    if np.any(scene.gravity) or np.any(world.forces) or any(body.kind != "dynamic" for body in scene.bodies):
        return None
    if any(joint.a is None or joint.type in ("user", "gear") for joint in scene.joints):
        return None
    if np.any(world._bodies.linear_damping) or np.any(world.tau):
        return None
    each = world.masses[:, None] * world.velocities
    return each.sum(axis=0), float(np.abs(each).sum())


def _check_momentum(before: Any, after: Any, lost: float, text: str) -> None:
    if after is None:
        return
    change = float(np.abs(after[0] - before[0]).max(initial=0.0))
    if change > lost * (before[1] + after[1]) + 1e-12:
        raise Failure("momentum changes where nothing outside acts", f"{text}: {before[0]} to {after[0]} kg m/s")


def played(
    case: Case,
    rng: np.random.Generator | None = None,
    operations: int = 0,
    log: Callable[[Call], None] | None = None,
) -> Told:
    """Play a case, and as many calls more as are drawn. Failure, with the case as its `case`, at what must not be."""
    player = Player(case, log)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        calls = list(case.calls)
        try:
            if player.begin():
                for call in case.calls:
                    player.do(call)
                for count in range(operations):
                    assert rng is not None
                    calls.append(drawn(rng, player.plain.world, count))
                    player.do(calls[-1])
                _play_unseen(case.with_calls(tuple(calls)), player)
        except Failure as failure:
            failure.case = case.with_calls(tuple(calls))  # type: ignore[attr-defined]
            raise
    return Told(case.with_calls(tuple(calls)), player.outcomes)


def _play_unseen(case: Case, player: Player) -> None:
    """The same calls once more, on a world that nobody looks at before the end."""
    side = Side()
    for call in (*case.scene, case.make, *case.calls):
        side.outcome(call.text())
    if side.world.state_hash() != player.plain.world.state_hash():
        raise Failure("a world that nobody looks at goes another way", "")
