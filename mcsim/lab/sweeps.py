"""sweep: a study at every point of a grid, spread over processes or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.core.processors import processors
from mcsim.core.version import __version__
from mcsim.lab.compare import Progress
from mcsim.lab.grids import points
from mcsim.lab.spread import check_client, spread
from mcsim.lab.sweep_files import Folder, Outcome
from mcsim.lab.sweep_result import Sweep
from mcsim.lab.trials import MEASURES, Trial, is_nameless, trial_of
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, count, flag, show, text

MOST_JOBS = 1 << 16
RUN_UNITS = {"seconds": "s", "dt": "s"}
MEASURE_UNITS = {key: unit for group in MEASURES.values() for key, unit in group.items()}


def sweep(
    study: Callable[..., Any] | Scene | str | os.PathLike[str],
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    client: Any = None,
    *,
    seconds: float | None = None,
    dt: float | None = None,
    method: str | None = None,
    world: Mapping[str, Any] | None = None,
    measure: Any = None,
    folder: str | os.PathLike[str] | None = None,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    jobs: int | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Make a run of a study at every point of a grid, in processes of this machine or on a cluster. -> Sweep

        found = mc.sweep("pendulum", {"length": [0.5, 1.0, 2.0], "dt": [1/60, 1/240]}, seconds=5, folder="pendulum")
        print(found.table())

    study: a function of keyword parameters, which returns a number or an array, or a dict of them (or strings) by name; or
        what is run and measured here: a Scene, the name or file of one, or a function of parameters that returns one.
    grid: values by name, of which all combinations are run, the last name changing fastest; or a list of dicts. Values are
        numbers, strings, or lists and dicts of them; arrays and tuples are passed on as lists. Of a scene that is run here
        "seconds", "dt", "method" and "world.NAME", of any keyword of World, may be among them.
    client: None, processes of this machine; a Client of dask.distributed, or the address of a scheduler, as
        "tcp://host:8786" (needs the extra "sweep"); or any Executor of concurrent.futures.
    seconds: simulated time of a scene [s], 10 if left out. dt: step [s], World's if left out. method: as of mc.compare.
        world: keywords of World, or with "coordinates": "reduced" of ReducedWorld.
    measure: of scenes, some of "end" (positions, orientations, velocities, the hash of the last state), "energy" (first,
        last, and by how much it is off the first at worst [J]), "joints" (how far they are open at worst [m, rad]),
        "contacts" (the deepest overlap [m]), "time" (median of a step [s]), and functions of the world at the end, which
        return what a study returns; all but "time" by default.
    folder: where each result is kept as soon as it is there, in a file of its own, whole or not at all. What is there
        already, of the same study and parameters, is not run again. Sweep.load reads it.
    name: of the study, in the folder; by default that of the function, with its module, or of the scene. A function that
        was changed has the same name: give it another name or folder.
    units: unit of a parameter or result by name, for tables and pictures.
    jobs: how many processes; by default as many as there are processors; 1: in this process.
    retry: whether runs of the folder that have failed are made again. progress: called with (runs done, runs, what).

    A run that fails is a row with its error, and the others go on. Results are in the order of the grid, and, but for
    times, the same for any number of processes. Ctrl-C and crashes leave in the folder what has ended.

    SceneError where an argument is wrong, by its name, and where the study cannot be imported by other processes.
    """
    try:
        check_client(client, jobs)
        settings = {"seconds": seconds, "dt": dt, "method": method, "world": world, "measure": measure}
        trial = trial_of(study, settings, name)
        parameters, shape = points(grid)
        trial.check(parameters)
        jobs = processors() if jobs is None else count(jobs, "jobs", 1, MOST_JOBS)
        if units is not None and not isinstance(units, Mapping):
            raise FieldError("units", f"must be a dict of units by name, got {show(units)}")
        known: dict[str, str] = {} if callable(study) and not trial.settings else MEASURE_UNITS | RUN_UNITS
        known = known | {text(key, "units"): text(unit, f"units[{show(key)}]") for key, unit in (units or {}).items()}
        if folder is not None and name is None:
            _check_named(trial)
        flag(retry, "retry")
        work = _Work(trial, parameters, None if folder is None else Folder(folder), progress)
        work.begin({"shape": list(shape), "units": known}, retry)
    except FieldError as error:
        raise error.within("sweep") from None
    try:
        spread(trial, work.left(), client, jobs, work.done)
    except SceneError as error:
        raise SceneError(f"sweep: {error}") from None
    return work.found(shape, known)


def _check_named(trial: Trial) -> None:
    """FieldError where results in a folder could be taken for those of another study."""
    functions = [trial.source, *(one for one in trial.settings.get("measure", ()))]
    if any(is_nameless(function) for function in functions):
        raise FieldError("name", "must be given with a folder: a function of the study has no name of its own")
    if trial.content is None:
        raise FieldError("name", "must be given with a folder: the scene holds Python functions, which nothing tells apart")


class _Work:
    """One sweep on its way."""

    def __init__(
        self, trial: Trial, parameters: list[dict[str, Any]], folder: Folder | None, progress: Progress | None
    ) -> None:
        self.study, self.name, self.parameters, self.folder = trial.study, trial.name, parameters, folder
        self._progress = progress or (lambda done, total, what: None)
        self._outcomes: dict[int, Outcome] = {}

    def begin(self, about: dict[str, Any], retry: bool) -> None:
        """Look at what is there already."""
        if self.folder is not None:
            self.folder.begin(about | {"name": self.name, "study": self.study, "parameters": self.parameters})
            for number, parameters in enumerate(self.parameters):
                outcome = self.folder.read_or_warn(self.study, parameters)
                if outcome is not None and not (retry and outcome.results is None):
                    self._outcomes[number] = outcome
        self._progress(len(self._outcomes), len(self.parameters), self.name)

    def left(self) -> list[tuple[int, dict[str, Any]]]:
        """The runs that are to be made."""
        return [(i, parameters) for i, parameters in enumerate(self.parameters) if i not in self._outcomes]

    def done(self, number: int, results: dict[str, Any] | None, failure: str, by_study: bool) -> None:
        """A run has ended. What was no doing of the study is not kept: the next time it is run again."""
        if self.folder is not None and by_study:
            self.folder.write(self.study, self.parameters[number], results, failure)
        self._outcomes[number] = Outcome(results, failure, __version__)
        self._progress(len(self._outcomes), len(self.parameters), self.name)

    def found(self, shape: tuple[int, ...], units: dict[str, str]) -> Sweep:
        """All of it."""
        outcomes = [self._outcomes[number] for number in range(len(self.parameters))]
        return Sweep(
            self.name,
            self.parameters,
            [outcome.results for outcome in outcomes],
            {i: outcome.failure for i, outcome in enumerate(outcomes) if outcome.results is None},
            shape,
            units,
            tuple(sorted({outcome.version for outcome in outcomes})),
        )
