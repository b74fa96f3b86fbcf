"""A process that soaks one scene: python -m mcsim.soak.worker SCENE SEED HOURS SECONDS EVERY.

It plays a scene by itself, so that its memory is that of this scene alone, until HOURS are simulated or SECONDS have gone
by, and tells a line of JSON every EVERY simulated seconds: [[numbers of COLUMNS], ...], then what it came to.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.soak.scenes import DT, SOAKED
from mcsim.soak.watch import memory, notes_of, objects, open_files

STEPS = round(1 / DT)  # of a simulated second
HOUR = 3600
CLOCK = time.perf_counter


class Play:
    """One scene that is played, and the figures since the last row."""

    def __init__(self, name: str, seed: int) -> None:
        self.soaking = SOAKED[name]
        self.rng = np.random.default_rng(seed)
        self.world: Any = self.soaking.make()
        self.begin, self.seconds = CLOCK(), 0
        self.notes: dict[str, int] = {}
        self.clear()

    def clear(self) -> None:
        """Begin another row."""
        self.stepping = self.worst = 0.0
        self.steps = 0
        self.energies: list[float] = [np.inf, -np.inf]

    def second(self) -> None:
        """A simulated second, each of its steps timed."""
        before = self.world
        self.world = self.soaking.deed(before, self.rng, self.seconds)
        if self.world is not before:  # a copy begins to count its notes anew
            self.add_notes(before)
        step = self.world.step
        for _ in range(STEPS):
            begin = CLOCK()
            step()
            taken = CLOCK() - begin
            self.stepping += taken
            if taken > self.worst:
                self.worst = taken
        self.steps += STEPS
        self.seconds += 1
        energy = self.world.energy().total
        self.energies = [min(self.energies[0], energy), max(self.energies[1], energy)]

    def add_notes(self, world: Any) -> None:
        """What a world that goes could not do."""
        for kind, count in notes_of(world).items():
            self.notes[kind] = self.notes.get(kind, 0) + count

    def row(self) -> list[float]:
        """The figures of now, in the order of COLUMNS; SimulationError where the world is not sound."""
        self.world.check()
        if not np.isfinite(self.energies).all():
            raise SimulationError(f"the energy is {self.energies[1]} J")
        found = objects()  # which collects what is not used, before memory is read
        times = [1e6 * self.stepping / max(self.steps, 1), 1e3 * self.worst]
        row = [self.seconds / HOUR, CLOCK() - self.begin, memory(), found, open_files(), *times, *self.energies]
        self.clear()
        return row


def play(name: str, seed: int, hours: float, seconds: float, every: int) -> None:
    """See above."""
    playing, failure = Play(name, seed), ""
    last = round(hours * HOUR) if np.isfinite(hours) else sys.maxsize
    try:
        while playing.seconds < last and CLOCK() - playing.begin < seconds:
            for _ in range(min(every, last - playing.seconds)):
                playing.second()
            print(json.dumps(playing.row()), flush=True)
    except SimulationError as error:
        failure = f"after {playing.seconds} s: {error}"
    playing.add_notes(playing.world)
    ends = {"notes": playing.notes, "failure": failure, "hash": playing.world.state_hash()}
    print(json.dumps(ends), flush=True)


if __name__ == "__main__":
    play(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
