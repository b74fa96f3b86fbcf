"""A study in numbers: the table, the orders, CSV."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import write_table
from mcsim.lab.record import Run
from mcsim.lab.reference import Reference
from mcsim.lab.series import RESIDUAL_UNITS
from mcsim.lab.tables import FORMATS, Report, Table, Text, number_text
from mcsim.scene.checks import show

ROUNDING = 1e-11  # errors below are rounding: they have no order
# How many times what it is uncertain by an error must be to have one: at a halved step it is then known to 0.15.
KNOWN = 10.0
# Quantity -> column of `summary` whose order over dt is told.
ORDERS = {"distance": "distance_m", "turn": "turn_rad", "energy": "energy_error", "drift": "joint_drift_m"}

# Column of the table: key of `summary`, heading, unit.
COLUMNS = (
    ("joint_drift_m", "joint drift", "m"),
    ("joint_drift_rad", "joint drift", "rad"),
    ("velocity_drift", "velocity drift", "m/s"),
    ("spin_drift", "velocity drift", "rad/s"),
    ("energy_error", "energy error", "relative"),
    ("energy_error_j", "energy error", "J"),
    ("momentum_error", "momentum error", "kg m/s"),
    ("spin_error", "angular m. error", "kg m²/s"),
    ("penetration_m", "overlap", "m"),
    ("residual_natural_map", "natural map", "N s"),
    ("residual_velocity", "last correction", "m/s"),
    ("residual_primal", "primal residual", "m/s"),
    ("residual_dual", "dual residual", "N s"),
    ("residual_complementarity", "complementarity", "J"),
    ("distance_m", "distance", "m"),
    ("turn_rad", "distance", "rad"),
    ("step_us", "time a step", "µs"),
)


# Those that stand in files alone: a table has the natural map of every method, which says the same of its last sweep.
FILES_ONLY = ("residual_velocity",)


class Compared(Protocol):
    """What reports and pictures read: a Study, which is above, since its own methods call what is here."""

    scene: str
    bodies: int
    joints: int
    seconds: float
    dts: list[float]
    series: dict[str, list[Run]]
    reference: Reference | None
    reference_failure: str
    energy_scale: float
    conserves: bool
    touching: bool

    @property
    def runs(self) -> dict[str, Run]: ...
    def all_runs(self) -> list[Run]: ...


def _worst(values: np.ndarray) -> float:
    values = np.abs(values[~np.isnan(values)])
    return float(values.max()) if len(values) else np.nan


def _middle(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(np.median(values)) if len(values) else np.nan


@np.errstate(over="ignore")
def _mean_square(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(np.sqrt(np.mean(values * values))) if len(values) else np.nan


def summary(study: Compared, run: Run) -> dict[str, float]:
    """The numbers of a run: the largest over the run; distances root mean square over its time; medians of the residuals
    and of the time of a step."""
    return {
        "joint_drift_m": _worst(run.joint_position_max),
        "joint_drift_rad": _worst(run.joint_angle_max),
        "velocity_drift": _worst(run.velocity_drift),
        "spin_drift": _worst(run.spin_drift),
        "energy_error": _worst(run.energy_error) / study.energy_scale,
        "energy_error_j": _worst(run.energy_error),
        "momentum_error": _worst(run.momentum_error),
        "spin_error": _worst(run.spin_error),
        "penetration_m": _worst(run.penetration),
        **{f"residual_{name}": _middle(run.residuals[name][1:]) for name in RESIDUAL_UNITS},
        "distance_m": _mean_square(run.position_distance),
        "turn_rad": _mean_square(run.angle_distance),
        "step_us": 1e6 * _middle(run.step_seconds),
    }


# ---- orders ----------------------------------------------------------------------------------------------------------


def floor_of(study: Compared, quantity: str) -> float:
    """Below which an error of this quantity tells nothing."""
    if study.reference is not None and quantity in ("distance", "turn"):
        doubt = study.reference.position_doubt if quantity == "distance" else study.reference.angle_doubt
        return max(ROUNDING, 2.0 * _mean_square(doubt))
    return ROUNDING


def orders(study: Compared) -> dict[str, dict[str, float]]:
    """See Study.orders."""
    return {
        name: {
            quantity: finest_order(
                [(run.dt, summary(study, run)[key]) for run in runs if not run.failure], floor_of(study, quantity)
            )
            for quantity, key in ORDERS.items()
        }
        for name, runs in study.series.items()
    }


def finest_order(points: list[tuple[float, float]], floor: float) -> float:
    """The slope of log error over log dt between the two smallest steps whose errors are KNOWN times the floor; NaN if
    there are no two. Larger steps may not be in the range in which a method has its order."""
    known = sorted((dt, error) for dt, error in points if np.isfinite(error) and error > KNOWN * floor)
    if len(known) < 2:
        return np.nan
    (fine, least), (coarse, most) = known[:2]
    return float(np.log(most / least) / np.log(coarse / fine))


# ---- the table -------------------------------------------------------------------------------------------------------


def table(study: Compared, width: int | None = None, format: str = "text") -> Text:
    """See Study.table."""
    if format not in FORMATS:
        raise SceneError(f"Study.table: format must be one of: {', '.join(FORMATS)}; got {show(format)}")
    several = len(study.dts) > 1
    tables = [_runs_table(study, several), *([_orders_table(study)] if several else [])]
    return FORMATS[format](Report(_title(study), tables, _notes(study)), width)


def _runs_table(study: Compared, several: bool) -> Table:
    """A row for each run, and one of the reference."""
    found = [(run, summary(study, run)) for run in study.all_runs()]
    columns = [
        column
        for column in COLUMNS
        if any(np.isfinite(row[column[0]]) for _, row in found)
        and column[0] not in FILES_ONLY
        and (column[0] != "penetration_m" or study.touching)
    ]
    head = [["method", ""], *([["dt", "s"]] if several else []), *([heading, unit] for _, heading, unit in columns)]
    body = [
        [run.name, *([step_text(run.dt)] if several else []), *(number_text(row[key]) for key, _, _ in columns)]
        for run, row in found
    ]
    if study.reference is not None:
        doubt = {
            "distance_m": _mean_square(study.reference.position_doubt),
            "turn_rad": _mean_square(study.reference.angle_doubt),
        }
        own = study.reference.energy - study.reference.energy[0]
        if study.conserves:
            doubt |= {"energy_error": _worst(own) / study.energy_scale, "energy_error_j": _worst(own)}
        known = [number_text(doubt[key]) if key in doubt else "" for key, _, _ in columns]
        body.append(["reference", *([""] if several else []), *known])
    return Table(head, body, 2 if several else 1)


def _orders_table(study: Compared) -> Table:
    head = [["order in dt of", ""], *([quantity, ""] for quantity in ORDERS)]
    body = [
        [name, *("–" if np.isnan(value) else f"{value:z.2f}" for value in row.values())]
        for name, row in orders(study).items()
    ]
    return Table(head, body)


def _title(study: Compared) -> str:
    steps = ", ".join(step_text(dt) for dt in study.dts)
    return (
        f"{study.scene}: {study.bodies} bod{'y' if study.bodies == 1 else 'ies'}, {study.joints} "
        f"joint{'' if study.joints == 1 else 's'}, {study.seconds:g} s in steps of {steps} s"
    )


def _notes(study: Compared) -> list[str]:
    """What the numbers mean, and what went wrong."""
    lines = []
    if study.reference is not None:
        r = study.reference
        lines.append(
            f"reference: {r.label}; agrees with itself to {r.position_doubt.max():.1e} m and "
            f"{r.angle_doubt.max():.1e} rad at any time{_horizon(study)}"
        )
    elif study.reference_failure:
        lines.append(f"reference: none: {study.reference_failure}")
    against = (
        "its beginning" if study.conserves else "the reference"
    ) + f", over {study.energy_scale:.3g} J, the largest kinetic energy"
    lines.append(
        f"largest values of the run; energy against {against}; distance: root mean square over bodies and "
        "time; residuals, time a step: medians"
    )
    lines += [
        f"failed: {run.name} at dt {step_text(run.dt)} s, after {run.time[-1]:.4g} s: {run.failure}"
        for run in study.all_runs()
        if run.failure
    ]
    lines += [f"note: {run.name} at dt {step_text(run.dt)} s: {note}" for run in study.all_runs() for note in run.notes]
    return lines


def _horizon(study: Compared) -> str:
    """Until when the reference knows where the bodies are, if it loses them."""
    if study.reference is None:
        return ""
    lost = np.flatnonzero(study.reference.position_doubt > 1e-3)
    return f" (to 1 mm until {study.reference.time[lost[0]]:.3g} s)" if len(lost) else ""


def step_text(dt: float) -> str:
    inverse = 1.0 / dt
    return f"1/{inverse:.0f}" if dt < 1.0 and abs(inverse - round(inverse)) < 1e-6 * inverse else f"{dt:.4g}"


# ---- rows of a file --------------------------------------------------------------------------------------------------


def summary_rows(study: Compared) -> tuple[list[str], list[list[Any]]]:
    """-> names of columns, and a row for each run; NaN of what is not known."""
    found = orders(study) if len(study.dts) > 1 else {}
    unknown = dict.fromkeys(ORDERS, np.nan)
    keys = [key for key, _, _ in COLUMNS]
    header = ["scene", "method", "dt", "seconds", "steps", *keys, *(f"order_{name}" for name in ORDERS), "failure"]
    rows = []
    for run in study.all_runs():
        row = summary(study, run)
        slopes = found.get(run.name, unknown)
        numbers = [*(row[key] for key in keys), *slopes.values()]
        rows.append([study.scene, run.name, run.dt, study.seconds, len(run), *numbers, run.failure])
    return header, rows


def write_csv(study: Compared, path: str | os.PathLike[str]) -> None:
    """See Study.csv."""
    header, rows = summary_rows(study)
    write_table(path, [header, *([_cell(value) for value in row] for row in rows)])


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value else repr(value)
