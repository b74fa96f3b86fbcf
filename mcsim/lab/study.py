"""Study: the outcome of a comparison."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import parse_json, path_name, read_arrays, written_whole
from mcsim.lab.picture import plot
from mcsim.lab.record import ARRAYS, KEPT, TOLD, Run
from mcsim.lab.reference import Reference
from mcsim.lab.report import orders, summary_rows, table, write_csv
from mcsim.lab.series import study_frame, write_series
from mcsim.scene.checks import items, number, text

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
WRONG = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # what files that are no studies raise
LONGEST_NOTE = 100_000  # characters
DICTS = ("residuals", "trajectories")  # of a Run, which hold arrays by name
REFERENCE_ARRAYS = tuple(f.name for f in fields(Reference) if f.name != "label")

# Array -> shape of one of its rows, of which there is one a time; -1: any.
ROWS: dict[str, tuple[int, ...]] = {
    "linear_momentum": (3,),
    "angular_momentum": (3,),
} | KEPT


@dataclass(eq=False)
class Study:
    """Methods on one scene, side by side.

    scene: its name; bodies, joints: how many. seconds, dts (coarse to fine) [s].
    series: name -> list of Run, one for each of dts. runs: name -> Run at the smallest step.
    reference: Reference, or None; reference_failure: why there is none, if it was wanted.
    energy_scale [J]: the largest kinetic energy, by which energy errors are divided in tables and pictures.
    touching: whether bodies may collide. body_names, joint_names: of the scene.

    energy_error of a run is the energy less that of the beginning where the scene conserves it (`conserves`), else less
    the reference's. momentum_error and spin_error, of linear and angular momentum, are the lengths of what they are off
    from what gravity makes of those at the beginning in a scene that nothing holds (`free`), else from the reference's.
    """

    scene: str
    bodies: int
    joints: int
    seconds: float
    dts: list[float]
    series: dict[str, list[Run]]
    reference: Reference | None = None
    reference_failure: str = ""
    energy_scale: float = 1.0
    conserves: bool = False
    free: bool = False
    touching: bool = False
    body_names: tuple[str, ...] = ()
    joint_names: tuple[str, ...] = ()

    @property
    def runs(self) -> dict[str, Run]:
        """name -> Run at the smallest step."""
        return {name: runs[-1] for name, runs in self.series.items()}

    def all_runs(self) -> list[Run]:
        """Method by method, from the largest step to the smallest."""
        return [run for runs in self.series.values() for run in runs]

    def __repr__(self) -> str:
        steps = ", ".join(f"{dt:.4g}" for dt in self.dts)
        failed = sum(bool(run.failure) for run in self.all_runs())
        return (
            f"<Study of {self.scene!r}: {', '.join(self.series)}; {self.seconds:g} s in steps of {steps} s"
            + (f"; {failed} failed" if failed else "")
            + ">"
        )

    # ---- what comes out ----------------------------------------------------------------------------------------------

    def table(self, width: int | None = None, format: str = "text") -> str:
        """The summary: a row for each run, the reference, the notes, and of several steps the orders.

        format: "text", plain columns, in which those that are not within `width` characters go on below the others (None:
        a line has as many as it needs); "markdown"; or "latex", for the package booktabs."""
        return table(self, width, format)

    def orders(self) -> dict[str, dict[str, float]]:
        """name -> {"distance", "turn", "energy", "drift": order}: slopes of log error over log dt between the two
        smallest steps, of errors ten times above rounding and the reference's own doubt; NaN where there are no two."""
        return orders(self)

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the summary, a line for each run."""
        write_csv(self, path)

    def series_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes all runs over time, a line for each method, step and time: method, dt, and the columns of Run.csv."""
        write_series(self.all_runs(), path, told=True)

    def to_pandas(self) -> pd.DataFrame:
        """The summary as a data frame, a row for each run, with the columns of `csv`. Needs pandas."""
        return study_frame(*summary_rows(self))

    def plot(self, path: str | os.PathLike[str], kind: str | None = None, *, theme: str = "light") -> None:
        """Draws one picture (.png, .pdf or .svg).

        kind: "time", panels over time at the smallest step; "residuals", each residual of the solvers over time;
        "convergence", errors over dt; "work", errors over computing time (median step time times steps), a point for each
        dt. By default convergence if there are several steps, else time. theme: "light" or "dark"."""
        plot(self, path, kind, theme)

    # ---- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to a .npz file, whole or not at all: arrays "runs.0.energy", "runs.0.residuals.primal",
        "runs.0.trajectories.positions", ..., "reference.time", ..., and "study", JSON text that says what they are."""
        name = path_name(path, "study")
        if Path(name).suffix != ".npz":
            raise SceneError(f"{name}: a study is a .npz file")
        about = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("series", "reference")}
        runs = self.all_runs()
        about |= {
            "version": VERSION,
            "runs": [
                {name: getattr(run, name) for name in TOLD} | {key: list(getattr(run, key)) for key in DICTS}
                for run in runs
            ],
            "reference": None if self.reference is None else self.reference.label,
        }
        arrays = {f"runs.{i}.{name}": getattr(run, name) for i, run in enumerate(runs) for name in ARRAYS}
        for i, run in enumerate(runs):
            for holder in DICTS:
                arrays |= {f"runs.{i}.{holder}.{name}": array for name, array in getattr(run, holder).items()}
        if self.reference is not None:
            arrays |= {f"reference.{name}": getattr(self.reference, name) for name in REFERENCE_ARRAYS}
        with written_whole(path, "study") as file:
            np.savez_compressed(file, study=np.array(json.dumps(about)), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Reads what `save` wrote. SceneError names the file if it is not a study."""
        name, data = path_name(path, "study"), read_arrays(path, "study")
        try:
            about = parse_json(str(data["study"]).encode(), "study", "study")
            version = about.pop("version")
        except WRONG as error:
            raise _no_study(name, error) from None
        if version != VERSION:
            raise SceneError(
                f"{name}: a study of format {version!r:.20}, which another version of mcsim wrote; this one reads format "
                f"{VERSION}: run the study anew"
            )
        try:
            names: dict[str, Any] = {
                key: tuple(text(name, key) for name in items(about.pop(key), "a list of names", key))
                for key in ("body_names", "joint_names")
            }
            series: dict[str, list[Run]] = {}
            for i, said in enumerate(about.pop("runs")):
                prefix = f"runs.{i}."
                arguments: dict[str, Any] = said | names | _checked(data, prefix, ARRAYS)
                steps = len(arguments["time"])
                arguments |= {key: _checked(data, f"{prefix}{key}.", said[key], steps) for key in DICTS}
                run = Run(**arguments)
                text(run.name, "name"), number(run.dt, "dt"), number(run.seconds, "seconds")
                run.notes = [text(note, "note", LONGEST_NOTE) for note in items(run.notes, "a list of sentences", "notes")]
                series.setdefault(run.name, []).append(run)
            label = about.pop("reference")
            reference = None if label is None else Reference(label, **_checked(data, "reference.", REFERENCE_ARRAYS))
            return cls(series=series, reference=reference, **about, **names)
        except WRONG as error:
            raise _no_study(name, error) from None


def _no_study(name: str, error: Exception) -> SceneError:
    return SceneError(f"{name}: not a study: {' '.join(str(error).split()):.200}")


def _checked(data: Any, prefix: str, names: Any, count: int | None = None) -> dict[str, np.ndarray]:
    """name -> array of numbers of a file's arrays, as many rows as there are times, or `count`."""
    arrays = {name: data[prefix + name] for name in names}
    if count is None:
        count = len(arrays["time"])
    for name, array in arrays.items():
        row = ROWS.get(name, ())
        if (
            array.dtype.kind not in "fiu"
            or array.ndim != 1 + len(row)
            or any(n != m for n, m in zip(array.shape[1:], row) if m >= 0)
            or name != "step_seconds"
            and len(array) != count
        ):
            raise SceneError(f"{prefix}{name} holds {array.dtype} of the shape {array.shape}")
    return arrays
