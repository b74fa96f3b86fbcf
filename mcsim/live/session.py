"""A session: worlds in step that are played by the wall's clock and obey commands. It knows no browser.

One thread owns it and calls `tick`; any other one may `submit` commands, which are checked at once and carried out at the
next tick. What a command could not do is said in `messages` and has changed nothing.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from mcsim.core.errors import SceneError, SimulationError
from mcsim.live.clock import Clock
from mcsim.live.commands import Command, checked
from mcsim.live.deeds import DEEDS
from mcsim.live.in_step import InStep
from mcsim.world import World

MOST_WAITING = 256  # commands
MOST_A_TICK = 64  # commands that a tick carries out
LAST_COUNTS = ("drag", "speed", "go_to", "gravity", "friction")  # of several in a row: sliders and mice send many
BUDGET = 0.05  # [s] of the wall's time, after which a tick begins no more steps


class Session(InStep):
    """Worlds in step (InStep), with a clock and a queue of commands."""

    def __init__(self, worlds: Sequence[World], names: Sequence[str] | None = None) -> None:
        super().__init__(worlds, names)
        self.clock = Clock()
        self._waiting: deque[Command] = deque()
        self._lock = threading.Lock()

    def submit(self, name: str, /, **values: Any) -> None:
        """Ask for a command of commands.COMMANDS; from any thread. SceneError where it is wrong, or too many wait."""
        command = checked(name, values)
        with self._lock:
            if name in LAST_COUNTS and self._waiting and self._waiting[-1].name == name:
                self._waiting.pop()
            if len(self._waiting) >= MOST_WAITING:
                raise SceneError(f"{name}: {MOST_WAITING} commands are waiting already: ask again later")
            self._waiting.append(command)

    def tick(self, now: float | None = None) -> int:
        """Carry out what was asked for, and make the steps that are due at the wall's time `now` [s]. -> how many."""
        self._obey()
        now = time.perf_counter() if now is None else now
        if not self.playing:
            self.clock.restart()
            return 0
        due = self.clock.due(now, self.dt, self.speed)
        made = self.advance(due, time.perf_counter() + BUDGET)
        if made < due:
            self.clock.miss((due - made) * self.dt)
        return made

    def _obey(self) -> None:
        """Carry out what waits."""
        for _ in range(MOST_A_TICK):
            with self._lock:
                if not self._waiting:
                    return
                command = self._waiting.popleft()
            self.changes += 1
            try:
                DEEDS[command.name](self, **command.values)
            except (SceneError, SimulationError, LookupError, TypeError) as error:
                self.say(f"{command.name}: {error}")
