"""Worlds that are played in step, with a hand in them and their past behind them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mcsim.core.errors import SceneError, SimulationError
from mcsim.live.commands import MOST_WORLDS
from mcsim.live.hand import Hand
from mcsim.live.history import History, State
from mcsim.scene.checks import show
from mcsim.world import World

KEPT_EVERY = 1 / 30  # [s] of simulated time between two states of the history
MOST_MESSAGES = 50


class InStep:
    """worlds: one to four of one scene, of one dt, at one time. names: what they are called.

    playing, hand, history: as they are now; speed: simulated seconds a second. messages: (number, sentence) of what
    happened, the last ones. failures: for each world why it stopped, "" if it goes on: the others go on without it until
    a state is restored. start: the beginning. version: a number that grows whenever worlds, bodies or joints may be other
    ones than before; changes: one that grows whenever anything is.
    """

    def __init__(self, worlds: Sequence[World], names: Sequence[str] | None = None) -> None:
        self.worlds = _checked_worlds(worlds)
        _check_times(self.worlds)
        self.names = [f"world {k + 1}" for k in range(len(self.worlds))] if names is None else list(names)
        if len(self.names) != len(self.worlds):
            raise SceneError(f"view: {len(self.worlds)} worlds have {len(self.names)} names")
        self.playing = False
        self.speed = 1.0
        self.hand: Hand | None = None
        self.failures = [""] * len(self.worlds)
        self.messages: deque[tuple[int, str]] = deque(maxlen=MOST_MESSAGES)
        self.history = History()
        self.version = 0
        self.changes = 0
        self.start = State.of(self.worlds, self.failures)
        self._said = 0
        self._unkept = 0  # steps and changes since the last state that the history has
        self.keep()

    def say(self, sentence: str) -> None:
        """Put a sentence among the messages."""
        self._said += 1
        self.messages.append((self._said, " ".join(sentence.split())))

    # ---- time --------------------------------------------------------------------------------------------------------

    @property
    def dt(self) -> float:
        """The step of all worlds [s]."""
        return self.worlds[0].dt

    @property
    def time(self) -> float:
        """[s], of the worlds that go on."""
        return max(world.time for world in self.worlds)

    def advance(self, steps: int, until: float = float("inf")) -> int:
        """Make steps in all worlds that go on, at least one, and no more once the wall's time is `until` [s]. -> how many
        were made."""
        every = max(1, round(KEPT_EVERY / self.dt))
        made = 0
        while made < steps and not all(self.failures):
            some = 1 if self.hand is not None else min(steps - made, max(1, every - self._unkept))
            for k in range(len(self.worlds)):
                if not self.failures[k]:
                    self._step(k, some)
            made += some
            self.changes += 1
            self._unkept += some
            if self._unkept >= every:
                self.keep()
            if time.perf_counter() >= until:
                break
        if all(self.failures):
            self.playing = False
        return made

    def _step(self, k: int, steps: int) -> None:
        world = self.worlds[k]
        try:
            if self.hand is not None:
                self.hand.pull(world)
            world.step(steps)
        except (SimulationError, SceneError) as error:  # some find only then what they cannot do
            self.failures[k] = " ".join(str(error).split())
            self.say(f"{self.names[k]} stopped: {error}")

    # ---- states ------------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """The present state into the history."""
        self.history.keep(State.of(self.worlds, self.failures))
        self._unkept = 0

    def keep_new(self) -> None:
        """The present state into the history, unless it is there."""
        if self._unkept:
            self.keep()

    def go_to(self, place: int) -> None:
        """A state of the history, by its number there."""
        self.keep_new()
        self._take(self.history.go_to(place))

    def move(self, count: int) -> None:
        """So many states on in the history, or back where it is negative."""
        self.keep_new()
        self._take(self.history.go_to(self.history.place + count))

    def begin_again(self) -> None:
        """The beginning, with the settings of now; what was stays in the history."""
        self.keep_new()
        self.start.restore(settings=False)
        self._take(self.start)
        self.keep()

    def _take(self, state: State) -> None:
        """Be at a state that was just restored."""
        self.worlds, self.failures = list(state.worlds), list(state.failures)
        self.hand = None
        self.version += 1
        self._unkept = 0

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A block that changes all worlds, or none if it fails."""
        before = State.of(self.worlds, self.failures)
        try:
            yield
        except BaseException:
            before.restore()
            raise
        finally:
            self.version += 1
            self._unkept = max(self._unkept, 1)

    def _chosen(self, only: int | None) -> list[bool]:
        """Which worlds are meant: all, or the one of a number."""
        chosen = [only is None or k == only for k in range(len(self.worlds))]
        if not any(chosen):
            raise SceneError(f"there is no world {show(only)}; there are {len(self.worlds)}, counted from 0")
        return chosen

    def change_settings(self, only: int | None = None, **keywords: Any) -> None:
        """Other values for keywords of all worlds that run, or of the one of a number; the beginning changes alike."""
        chosen = self._chosen(only)
        self.keep_new()
        with self.whole():
            for world, begun, here in zip(self.worlds, self.start.worlds, chosen):
                if here:
                    world.change_settings(**keywords)
                    world.wake()  # what rested by the old numbers may not by the new ones
                    if begun is not world:
                        begun.change_settings(**keywords)
        self.keep()

    def rebuild(self, change: Callable[[World], World], only: int | None = None) -> None:
        """Put other worlds in the places of all, or of the one of a number; the beginning changes alike."""
        chosen = self._chosen(only)
        worlds = [change(world) if here else world for world, here in zip(self.worlds, chosen)]
        _checked_worlds(worlds)
        begun, snapshots = list(self.start.worlds), list(self.start.snapshots)
        for k in range(len(begun)):
            if chosen[k]:
                begun[k] = change(_at(begun[k], snapshots[k]))
                snapshots[k] = begun[k].snapshot()
        self.start = State(tuple(begun), tuple(snapshots), self.start.settings, ("",) * len(begun))
        self.keep_new()
        self.worlds, self.hand = worlds, None
        self.version += 1
        self.keep()


def _at(world: World, snapshot: Any) -> World:
    """A copy of a world, at another state."""
    present = world.snapshot()
    try:
        world.restore(snapshot)
        return world.remade()
    finally:
        world.restore(present)


def _checked_worlds(worlds: Sequence[World]) -> list[World]:
    """Worlds that can be played in step."""
    found = list(worlds)
    for world in found:
        if not isinstance(world, World):
            raise SceneError(f"view: takes a World, a ReducedWorld or a list of them, got {show(world)}")
    if not 1 <= len(found) <= MOST_WORLDS:
        raise SceneError(f"view: shows 1 to {MOST_WORLDS} worlds, got {len(found)}")
    if len({id(world) for world in found}) < len(found):
        raise SceneError("view: one world stands twice in the list; copy.deepcopy(world) makes another one")
    first = found[0]
    for world in found[1:]:
        if world.body_names != first.body_names:
            raise SceneError("view: worlds that are played in step must have the same bodies; show others in another view")
        if abs(world.dt - first.dt) > 1e-12 * first.dt:
            raise SceneError(
                f"view: worlds that are played in step must have one dt; got {first.dt:g} s and {world.dt:g} s"
            )
    return found


def _check_times(worlds: Sequence[World]) -> None:
    times = [world.time for world in worlds]
    if max(times) - min(times) > 1e-6 * worlds[0].dt:
        raise SceneError(
            f"view: worlds that are played in step must be at one time; got {min(times):g} s and {max(times):g} s"
        )
