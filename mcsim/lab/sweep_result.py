"""Sweep: what came out of the runs of a study, side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import write_table
from mcsim.lab.grids import names_of, varied
from mcsim.lab.report import step_text
from mcsim.lab.series import study_frame
from mcsim.lab.sweep_files import Folder
from mcsim.lab.sweep_picture import plot
from mcsim.lab.tables import FORMATS, Report, Table, number_text
from mcsim.scene.checks import choose, show, suggestion

if TYPE_CHECKING:
    import pandas as pd

MOST_NOTES = 20  # of one kind, below a table
FAILED = "failed"


@dataclass(eq=False)
class Sweep:
    """The runs of a study, in the order of its grid.

    name: of the study. parameters: the dict of each run. results: for each a dict of numbers, strings and arrays by name;
    None where there are none. failures: number of a run -> what went wrong. shape: of the grid, (7, 4) of 7 values of a
    first and 4 of a second parameter. units: name of a result or parameter -> its unit. versions: of mcsim, by which the
    results were found. missing: numbers of runs that have not ended.
    """

    name: str
    parameters: list[dict[str, Any]]
    results: list[dict[str, Any] | None]
    failures: dict[int, str] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    versions: tuple[str, ...] = ()

    @property
    def missing(self) -> list[int]:
        """Numbers of the runs that have not ended."""
        return [i for i, found in enumerate(self.results) if found is None and i not in self.failures]

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.parameters)

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"<Sweep of {self.name!r}: {_runs(len(self))}, {len(self.failures)} failed{missing}>"

    def array(self, name: str) -> np.ndarray:
        """A result of all runs as one array (runs, ...); NaN, or "" of strings, where a run has none. Of a dict as grid,
        `.reshape(sweep.shape + ...)` has an axis for each parameter."""
        there = [found[name] for found in self.results if found is not None and name in found]
        if not there:
            names = self._result_names()
            raise SceneError(
                f"no run has a result {show(name)}{suggestion(name, names)}; the results are: {', '.join(names)}"
            )
        if len({np.shape(value) for value in there}) > 1:
            raise SceneError(f"result {show(name)} has not the same shape in all runs; sweep.results has each")
        if len({np.asarray(value).dtype.kind == "U" for value in there}) > 1:
            raise SceneError(f"result {show(name)} is a number in some runs and text in others; sweep.results has each")
        values = np.array(there)
        if len(there) == len(self):
            return values
        nothing: Any = "" if values.dtype.kind == "U" else np.nan
        kind = float if values.dtype.kind in "biu" else values.dtype
        out = np.full((len(self), *values.shape[1:]), nothing, kind)
        out[[i for i, found in enumerate(self.results) if found is not None and name in found]] = values
        return out

    # ---- what comes out ----------------------------------------------------------------------------------------------

    def table(self, width: int | None = None, format: str = "text") -> str:
        """A row for each run: the parameters that vary, and the results that are single numbers.

        format: "text", plain columns, in which those that are not within `width` characters go on below the others (None:
        a line has as many as it needs); "markdown"; or "latex", for the package booktabs."""
        return FORMATS[choose(format, FORMATS, "format")](self._report(), width)

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """-> names of columns, and a row for each run: all parameters, the results that are single numbers or strings,
        and why it failed; None where there is nothing."""
        parameters = names_of(self.parameters)
        results = [name for name in self._result_names() if self._is_single(name)]
        rows = []
        for i, (given, found) in enumerate(zip(self.parameters, self.results)):
            row = [given.get(name) for name in parameters]
            rows.append([*row, *((found or {}).get(name) for name in results), self._failure(i)])
        return [*parameters, *results, "failure"], rows

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Writes these rows as comma-separated values (.csv), whole or not at all."""
        head, rows = self.rows()
        units = [f"{name} [{self.units[name]}]" if self.units.get(name) else name for name in head]
        write_table(path, [units, *([_cell(value) for value in row] for row in rows)])

    def to_pandas(self) -> pd.DataFrame:
        """These rows as a data frame; `frame.attrs["units"]` has the units that are known. Needs pandas."""
        frame = study_frame(*self.rows())
        frame.attrs["units"] = {name: self.units[name] for name in frame.columns if self.units.get(name)}
        return frame

    def plot(
        self,
        path: str | os.PathLike[str],
        x: str | None = None,
        y: str | Sequence[str] | None = None,
        *,
        theme: str = "light",
    ) -> None:
        """Draws one picture (.png, .pdf or .svg): results over a parameter, a line for each combination of the others.

        x: the parameter; by default the first of several numbers. y: one result or several, a panel each; by default the
        first six that are single numbers. theme: "light" or "dark"."""
        plot(self, path, x, y, theme)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Sweep:
        """Reads what `mcsim.sweep(..., folder=folder)` wrote, also of a sweep that is under way or was interrupted; runs
        without a result are `missing`. SceneError names the file that is none of a sweep."""
        where = Folder(folder)
        index = where.index()
        outcomes = [where.read(index["study"], parameters) for parameters in index["parameters"]]
        return cls(
            index["name"],
            index["parameters"],
            [None if found is None else found.results for found in outcomes],
            {i: found.failure for i, found in enumerate(outcomes) if found is not None and found.results is None},
            tuple(index["shape"]),
            index["units"],
            tuple(sorted({found.version for found in outcomes if found is not None})),
        )

    # ---- inside ------------------------------------------------------------------------------------------------------

    def _result_names(self) -> list[str]:
        return names_of([found for found in self.results if found is not None])

    def _is_single(self, name: str) -> bool:
        return all(np.ndim(found[name]) == 0 for found in self.results if found is not None and name in found)

    def numeric(self) -> list[str]:
        """Names of the results that are single numbers."""
        return [name for name in self._result_names() if self._is_single(name) and not self._is_text(name)]

    def _is_text(self, name: str) -> bool:
        return any(isinstance(found[name], str | complex) for found in self.results if found and name in found)

    def _failure(self, number: int) -> str | None:
        return self.failures.get(number, "not run" if self.results[number] is None else None)

    def _report(self) -> Report:
        columns, same = varied(self.parameters)
        numbers = self.numeric()
        head = [["run", ""], *([name, self.units.get(name, "")] for name in columns + numbers)]
        body = []
        for i, (given, found) in enumerate(zip(self.parameters, self.results)):
            row = [value_text(name, given[name]) if name in given else "" for name in columns]
            nothing = FAILED if i in self.failures else "not run"
            cells = [nothing] * len(numbers) if found is None else [_figure(found.get(name)) for name in numbers]
            body.append([str(i), *row, *cells])
        title = f"{self.name}: {_runs(len(self))}"
        if self.failures:
            title += f", {len(self.failures)} failed"
        if self.missing:
            title += f", {len(self.missing)} not run"
        if same:
            title += "; " + ", ".join(f"{name} {value_text(name, value)}" for name, value in same.items())
        return Report(title, [Table(head, body, 1 + len(columns))], self._notes())

    def _notes(self) -> list[str]:
        notes = _first([f"failed: run {i}: {text}" for i, text in sorted(self.failures.items())])
        said = [(i, found.get("notes")) for i, found in enumerate(self.results) if found is not None]
        notes += _first([f"note: run {i}: {text}" for i, text in said if isinstance(text, str) and text])
        shapes = {name: np.shape(found[name]) for found in self.results if found for name in found if np.ndim(found[name])}
        if shapes:
            told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            notes.append(f"arrays, which sweep.array(name) has: {told}")
        if len(self.versions) > 1:
            notes.append(f"the results were found by several versions of mcsim: {', '.join(self.versions)}")
        return notes


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _first(notes: list[str]) -> list[str]:
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"and {more} more"]


def value_text(name: str, value: Any) -> str:
    """A parameter, in a table; a time step as 1/240."""
    if isinstance(value, Mapping | list):
        return show(value)
    if isinstance(value, float):
        return step_text(value) if name == "dt" and value > 0.0 else f"{value:.6g}"
    return str(value)


def _figure(value: Any) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, bool | int) else number_text(value)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else repr(value)
