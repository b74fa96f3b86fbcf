"""A run over time, as a table: one row at each frame."""

from pathlib import Path
from typing import Any

from mcsim.core.files import write_table

COLUMNS = (
    "time [s]",
    "kinetic energy [J]",
    "potential energy [J]",
    "energy [J]",
    *(f"momentum {axis} [kg m/s]" for axis in "xyz"),
    *(f"angular momentum {axis} [kg m^2/s]" for axis in "xyz"),
    "worst joint error [m]",
    "worst joint error [rad]",
    "deepest penetration [m]",
    "contacts",
    "notes",
)


def row(world: Any, errors: Any) -> list[float | int]:
    """The numbers of now, in the order of COLUMNS. errors: joint_errors(), or None of a world without joints. The
    angular momentum is about the origin; notes: in how many steps so far one could not do something, of each kind."""
    energy, (linear, angular) = world.energy(), world.momentum()
    separation = world.contacts["separation"]
    worst = (0.0, 0.0) if errors is None else (float(errors[:, 0].max()), float(errors[:, 1].max()))
    return [
        world.time,
        energy.kinetic,
        energy.potential,
        energy.total,
        *map(float, linear),
        *map(float, angular),
        *worst,
        max(0.0, -float(separation.min(initial=0.0))),
        len(separation),
        sum(note.total for note in world.stats.all_notes),
    ]


def write(path: Path, rows: list[list[float | int]]) -> None:
    """Writes the table, whole or not at all."""
    write_table(path, [COLUMNS, *([repr(value) for value in values] for values in rows)])
