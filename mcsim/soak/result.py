"""What a soak came to: the rows of each scene, whether they are as they should be, and a table of all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mcsim.soak.watch import COLUMNS

MOST_GROWTH = 1.0  # [MB] of memory after the warm-up
WARM_UP = 1.0  # [h] simulated, or a quarter of the run if that is less
NUMBER = {name: i for i, name in enumerate(COLUMNS)}


@dataclass
class Soaked:
    """What one scene came to. rows: (k, columns) numbers of COLUMNS; notes: kind -> in how many steps; failure: why it
    ended early, "" if it did not; hash: of the last state."""

    name: str
    rows: np.ndarray
    notes: dict[str, int] = field(default_factory=dict)
    failure: str = ""
    hash: str = ""

    def column(self, name: str) -> np.ndarray:
        """(k,) of one of COLUMNS."""
        return self.rows[:, NUMBER[name]]

    @property
    def hours(self) -> float:
        """Simulated."""
        return float(self.column("simulated [h]")[-1]) if len(self.rows) else 0.0

    @property
    def warm(self) -> np.ndarray:
        """(k,) which rows are those of the end of the warm-up and after it."""
        return self.column("simulated [h]") >= min(WARM_UP, self.hours / 4) - 1e-9

    def growth(self, name: str) -> float:
        """By how much the most of a column after the warm-up is more than at its end."""
        values = self.column(name)[self.warm]
        return float(values.max() - values[0]) if len(values) else 0.0

    @property
    def wrong(self) -> str:
        """Why the soak has failed; "" if it has not."""
        if self.failure:
            return self.failure
        grown = self.growth("memory [MB]")
        return f"memory has grown by {grown:.2f} MB after the warm-up" if grown > MOST_GROWTH else ""

    def line(self) -> list[str]:
        """Of the table at the end."""
        if not len(self.rows):
            return [self.name, *["-"] * (len(HEAD) - 2), self.failure]
        energy = max(abs(self.column("lowest energy [J]")).max(), abs(self.column("highest energy [J]")).max())
        notes = ", ".join(f"{kind} {count}" for kind, count in self.notes.items())
        return [
            self.name,
            f"{self.hours:.4g}",
            f"{self.column('wall [s]')[-1]:.4g}",
            f"{self.column('mean step [us]').mean():.3g}",
            f"{self.column('worst step [ms]').max():.3g}",
            f"{self.growth('memory [MB]'):.2f}",
            f"{self.growth('objects'):.0f}",
            f"{self.growth('open files'):.0f}",
            f"{energy:.3g}",
            self.wrong or notes or "none",
        ]


HEAD = ("scene", "hours", "wall s", "us a step", "worst ms", "+ MB", "+ objects", "+ files", "max |E| J", "notes, in steps")


def table(found: list[Soaked]) -> str:
    """One line a scene, under a head."""
    lines = [list(HEAD), *(one.line() for one in found)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
