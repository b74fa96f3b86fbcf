"""Runs over time, and studies as rows, for files and data frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mcsim.core.extras import require_pandas
from mcsim.core.files import write_table

if TYPE_CHECKING:
    import pandas as pd

# Array of a Run -> unit. Those of vectors have a column for each of x, y and z.
UNITS = {
    "time": "s",
    "joint_position_max": "m",
    "joint_position_rms": "m",
    "joint_angle_max": "rad",
    "joint_angle_rms": "rad",
    "velocity_drift": "m/s",
    "spin_drift": "rad/s",
    "energy": "J",
    "kinetic": "J",
    "linear_momentum": "kg m/s",
    "angular_momentum": "kg m^2/s",
    "penetration": "m",
    "position_distance": "m",
    "angle_distance": "rad",
    "energy_error": "J",
    "momentum_error": "kg m/s",
    "spin_error": "kg m^2/s",
}
# Residual -> unit: the largest over rows of forces and of torques alike.
RESIDUAL_UNITS = {
    "natural_map": "N s or N m s",
    "velocity": "m/s or rad/s",
    "primal": "m/s or rad/s",
    "dual": "N s or N m s",
    "complementarity": "J",
}


class Recorded(Protocol):
    """What is read here: a Run, which is above, since its own methods call what is here."""

    name: str
    dt: float
    time: np.ndarray
    step_seconds: np.ndarray
    residuals: dict[str, np.ndarray]


def columns(run: Recorded) -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, unit and values (t,) of each column. The time that a step took stands where the step has ended."""
    for name, unit in UNITS.items():
        values = getattr(run, name)
        if values.ndim == 1:
            yield name, unit, values
        else:
            yield from ((f"{name}_{axis}", unit, values[:, k]) for k, axis in enumerate("xyz"))
    for name, unit in RESIDUAL_UNITS.items():
        yield f"residual_{name}", unit, run.residuals[name]
    timed = np.full(len(run.time), np.nan)
    if len(run.step_seconds):
        timed[1:] = run.step_seconds
    yield "step_seconds", "s", timed


def write_series(runs: Sequence[Recorded], path: str | os.PathLike[str], *, told: bool) -> None:
    """Writes runs over time as comma-separated values. told: whether each row says of which method and step it is."""
    write_table(path, _lines(runs, told))


def _lines(runs: Sequence[Recorded], told: bool) -> Iterator[list[str]]:
    for number, run in enumerate(runs):
        names, units, values = zip(*columns(run))
        if number == 0:
            yield ["method", "dt [s]"] * told + [f"{name} [{unit}]" for name, unit in zip(names, units)]
        which = [run.name, repr(run.dt)] * told
        for row in np.stack(values, axis=1).tolist():
            yield which + ["" if value != value else repr(value) for value in row]


def run_frame(run: Recorded) -> pd.DataFrame:
    """See Run.to_pandas."""
    require_pandas()
    import pandas as pd

    found = list(columns(run))
    frame = pd.DataFrame({name: values for name, _, values in found[1:]}, index=pd.Index(run.time, name="time"))
    frame.attrs["units"] = {name: unit for name, unit, _ in found}
    return frame


def study_frame(header: list[str], rows: list[list[Any]]) -> pd.DataFrame:
    """See Study.to_pandas."""
    require_pandas()
    import pandas as pd

    return pd.DataFrame(rows, columns=header)
