"""A soak of all scenes, one after the other, each in a process of its own, and what it came to."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.soak.picture import save_picture
from mcsim.soak.result import Soaked
from mcsim.soak.scenes import SOAKED
from mcsim.soak.watch import COLUMNS

ROWS = 240  # of a scene, where it runs for a given time; then a row has a minute at least
SHORTEST, LONGEST = 1, 360  # [s] simulated between two rows


@dataclass
class Soak:
    """All scenes of SOAKED, or those that are named, for `hours` of simulated time each, or until they have had `seconds`
    of wall time together. folder: where soak.csv, and the picture soak.png, are written; None: nowhere. tell(name,
    simulated hours): told of each row."""

    seed: int = 0
    hours: float = math.inf
    seconds: float = math.inf
    folder: Path | None = None
    names: tuple[str, ...] = tuple(SOAKED)
    tell: Callable[[str, float], None] = lambda name, hours: None
    found: list[Soaked] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (self.hours < math.inf or self.seconds < math.inf):
            raise SceneError("soak: give hours of simulated time, or seconds of wall time, or both")

    def run(self) -> list[Soaked]:
        """All of it."""
        each = self.seconds / len(self.names)
        every = round(min(max(self.hours * 3600 / ROWS, SHORTEST), LONGEST)) if self.hours < math.inf else 60
        for name in self.names:
            try:
                self._play(name, each, every)
            finally:
                self.write()
        return self.found

    def _play(self, name: str, seconds: float, every: int) -> None:
        numbers = map(str, (self.seed, self.hours, seconds, every))
        command = [sys.executable, "-m", "mcsim.soak.worker", name, *numbers]
        soaked = Soaked(name, np.zeros((0, len(COLUMNS))))
        self.found.append(soaked)
        with ExitStack() as opened:
            errors = opened.enter_context(tempfile.TemporaryFile("w+"))
            child = opened.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True))
            try:
                ended = self._follow(soaked, child.stdout or ())
            except BaseException:
                child.kill()
                raise
            code = child.wait()
            if code or not ended:
                errors.seek(0)
                last = errors.read().strip().splitlines()[-1:]
                soaked.failure = f"the process ended with code {code}: {' '.join(last)}"

    def _follow(self, soaked: Soaked, lines: Iterable[str]) -> bool:
        """What a process tells of its scene -> whether it came to the end."""
        for line in lines:
            told = json.loads(line)
            if not isinstance(told, list):
                soaked.notes, soaked.failure, soaked.hash = told["notes"], told["failure"], told["hash"]
                return True
            soaked.rows = np.vstack([soaked.rows, told])
            self.tell(soaked.name, soaked.hours)
        return False

    def write(self) -> None:
        """The rows as a table, and their picture where Matplotlib is there."""
        if self.folder is None or not any(len(one.rows) for one in self.found):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "soak.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["scene", *COLUMNS])
            for one in self.found:
                writer.writerows([one.name, *(f"{value:.10g}" for value in row)] for row in one.rows.tolist())
        save_picture(self.folder / "soak.png", self.found)
