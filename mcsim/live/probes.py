"""Numbers of worlds over time, for live plots: the quantities and names of mc.compare, step by step."""

from __future__ import annotations

import csv
import io

import numpy as np

from mcsim.live.in_step import InStep
from mcsim.world import World

# Name as in mcsim.lab.Run -> (what a plot calls it, its unit).
QUANTITIES = {
    "joint_position_max": ("joint error, the worst", "m"),
    "joint_angle_max": ("joint error, the worst angle", "rad"),
    "energy": ("energy", "J"),
    "energy_error": ("energy, change since the beginning", "J"),
    "kinetic": ("kinetic energy", "J"),
    "linear_momentum": ("momentum", "kg m/s"),
    "angular_momentum": ("angular momentum about the origin", "kg m²/s"),
    "penetration": ("deepest overlap", "m"),
    "residual": ("residual, natural map", "N s"),
    "step_seconds": ("time of a step", "s"),
}
MOST_SAMPLES = 2000  # kept; then every second one goes
SMALLEST = 1e-16  # on a logarithmic scale


class Probes:
    """Samples of all worlds of a session, taken by the thread that owns it. every [s]: of simulated time between two."""

    def __init__(self) -> None:
        self.every = 1.0 / 60.0
        self._rows: list[tuple[float, list[list[float]]]] = []
        self._first: list[float] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, session: InStep) -> None:
        """A sample, if it is time. Where the session went back, what was later is forgotten."""
        now = session.time
        while self._rows and self._rows[-1][0] >= now:
            self._rows.pop()
        if self._rows and now - self._rows[-1][0] < self.every * (1.0 - 1e-9):
            return
        found = [_numbers(world) for world in session.worlds]
        place = list(QUANTITIES).index("energy")
        if self._first is None or len(self._first) != len(found) or not self._rows:
            self._first = [numbers[place] for numbers in found]
        for numbers, first in zip(found, self._first):
            numbers[place + 1] = numbers[place] - first
        self._rows.append((now, found))
        if len(self._rows) > MOST_SAMPLES:
            self._rows = self._rows[::2]
            self.every *= 2.0

    def forget(self) -> None:
        """No sample is left."""
        self._rows, self._first, self.every = [], None, 1.0 / 60.0

    def series(self, name: str, logarithmic: bool = False) -> tuple[np.ndarray, list[np.ndarray]]:
        """-> times (t,) and for each world the numbers (t,) of a quantity; absolute ones on a logarithmic scale."""
        rows, k = list(self._rows), list(QUANTITIES).index(name)
        if not rows:
            return np.zeros(0), []
        values = [np.array([found[w][k] for _, found in rows]) for w in range(len(rows[-1][1]))]
        if logarithmic:
            values = [np.maximum(np.abs(array), SMALLEST) for array in values]
        return np.array([time for time, _ in rows]), values

    def table(self, names: list[str]) -> str:
        """All samples as CSV: a row for each time, a column for each quantity of each world."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["time", *(f"{key} [{names[w]}]" for w in range(len(names)) for key in QUANTITIES)])
        for time, found in list(self._rows):
            writer.writerow([f"{time:.9g}", *(f"{value:.9g}" for numbers in found for value in numbers)])
        return out.getvalue()


def _numbers(world: World) -> list[float]:
    """In the order of QUANTITIES; the change of the energy is put in by who knows the beginning."""
    errors = world.joint_errors()
    worst = errors.max(axis=0) if len(errors) else np.zeros(2)
    energy, (linear, angular), stats = world.energy(), world.momentum(), world.stats
    separation = world.contacts["separation"]
    return [
        float(worst[0]),
        float(worst[1]),
        energy.total,
        0.0,
        energy.kinetic,
        float(np.linalg.norm(linear)),
        float(np.linalg.norm(angular)),
        float(max(0.0, -separation.min(initial=0.0))),
        float(stats.residuals["natural_map"]),
        sum(stats.times.values()) / max(stats.steps, 1),
    ]


def costs(world: World) -> dict[str, float]:
    """Stage of a step -> seconds that it took, of the last call of step()."""
    stats = world.stats
    return {stage: seconds / max(stats.steps, 1) for stage, seconds in stats.times.items()}
