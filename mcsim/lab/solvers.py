"""One contact problem through many solvers: residual against iterations and against time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import write_table
from mcsim.lab.tables import Text, aligned, folded, number_text
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, choose, not_negative, positive, show
from mcsim.solve.problems import MODEL_DESCRIPTIONS, SOLVERS, Problem, Solution, solve
from mcsim.solve.problems.residuals import RESIDUALS
from mcsim.world import ReducedWorld, World

MOST_ITERATIONS = 2000  # of a solver whose own limit is higher, unless told
LONGEST = 10.0  # of one solver [s], unless told
SOLVER_COLUMNS = (
    ("solver", ""),
    ("ended", ""),
    ("iterations", ""),
    ("time", "ms"),
    ("primal", "m/s"),
    ("dual", "N s"),
    ("complementarity", "J"),
    ("natural map", "N s"),
    ("apart from the best", "m/s"),
)


@dataclass(frozen=True, eq=False)
class SolverStudy:
    """One problem, and what each solver made of it.

    problem, model, tolerance; solutions: name -> Solution; failures: name -> why a solver gave none. table(), plot(path),
    csv(path); `problem.save(path)` keeps the problem for others to solve.
    """

    name: str
    problem: Problem
    model: str
    tolerance: float
    solutions: dict[str, Solution]
    failures: dict[str, str]

    @property
    def best(self) -> Solution | None:
        """The solution with the least residual."""
        return min(self.solutions.values(), key=lambda found: found.residual, default=None)

    def apart(self, found: Solution) -> float:
        """How far its velocities are from those of the best at most [m/s, rad/s]."""
        best = self.best
        return float(np.abs(found.velocities - best.velocities).max(initial=0.0)) if best is not None else np.nan

    def rows(self) -> list[list[Any]]:
        """A row of the table for each solver: name, how it ended, iterations, seconds, the four residuals, apart()."""
        return [
            [
                name,
                found.reason,
                found.iterations,
                float(found.times[-1]),
                *(float(found.final[kind]) for kind in RESIDUALS),
                self.apart(found),
            ]
            for name, found in self.solutions.items()
        ]

    def table(self, width: int | None = None) -> Text:
        """How each solver ended, its iterations, time, residuals, and how far its velocities are from the best one's; it
        prints as lines, and is a str. Columns that are not within `width` characters go on below the others; None: a line
        has as many as it needs."""
        body = [
            [name, reason, str(iterations), f"{1e3 * seconds:.3g}", *map(number_text, numbers)]
            for name, reason, iterations, seconds, *numbers in self.rows()
        ]
        body += [[name, "failed", *[""] * 7] for name in self.failures]
        title = (
            f"{self.name}: {self.problem.contact_count} contacts, "
            f"{self.problem.row_count - 3 * self.problem.contact_count} other rows; model {self.model}: "
            f"{MODEL_DESCRIPTIONS[self.model]}; tolerance {self.tolerance:g}"
        )
        lines = [*folded(title, width), "", *aligned([[*column] for column in SOLVER_COLUMNS], body, width)]
        said = [f"{name}: {text}" for name, found in self.solutions.items() for text in found.notes]
        said += [f"{name}: {text}" for name, text in self.failures.items()]
        return Text("\n".join(lines + [""] * bool(said) + [line for text in said for line in folded(text, width)]))

    def csv(self, path: str | os.PathLike[str]) -> None:
        """The table, and each solver's residuals by iteration: rows of solver, iteration, seconds and residuals."""
        rows = [["problem", "model", "solver", "reason", "iteration", "seconds", *RESIDUALS, "objective", "gap"]]
        for name, found in self.solutions.items():
            for k, (seconds, record) in enumerate(zip(found.times, found.residuals)):
                rows.append(
                    [
                        self.name,
                        self.model,
                        name,
                        found.reason,
                        str(k),
                        repr(float(seconds)),
                        *(repr(float(value)) for value in record),
                    ]
                )
        write_table(path, rows)

    def plot(self, path: str | os.PathLike[str], *, theme: str = "light") -> None:
        """Residuals against iterations and against time, as a .png, .pdf or .svg. theme: "light" or "dark"."""
        from mcsim.lab.solver_picture import plot

        plot(self, path, theme)

    def __repr__(self) -> str:
        return f"<SolverStudy of {self.name}: {', '.join(self.solutions)}>"


def solvers(
    what: Scene | World | Problem | str | os.PathLike[str],
    names: Iterable[str] | None = None,
    model: str = "ncp",
    *,
    seconds: float = 1.0,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    time_limit: float = LONGEST,
    warm: bool = False,
    bilateral: str = "rows",
    options: dict[str, dict[str, Any]] | None = None,
    progress: Callable[[float, float, str], None] | None = None,
    **keywords: Any,
) -> SolverStudy:
    """One problem through many solvers -> SolverStudy.

    what: a Problem, or a file of one (.npz); a World, whose problem now is taken; or a scene, its name or file, which runs
        for `seconds` first, under `keywords` of World (coordinates="reduced": of ReducedWorld) and its parameters.
    names: solvers, by default all that solve the `model`. tolerance, max_iterations, time_limit [s], bilateral: of each.
    warm: whether they begin with the impulses that the step would; else from 0. options: of solvers, by name.

    Each solver solves a tiny problem first, so that its times are without what a process does once.
    """
    try:
        choose(model, MODEL_DESCRIPTIONS, "model")
        seconds, time_limit = not_negative(seconds, "seconds"), positive(time_limit, "time_limit")
        asked = names is not None
        names = list(SOLVERS) if names is None else [names] if isinstance(names, str) else list(names)
        for name in names:
            choose(name, SOLVERS, "solver")
    except FieldError as error:
        raise SceneError(f"solvers: {error}") from None
    able = [name for name in names if model in SOLVERS[name][1]]
    name, problem = problem_of(what, seconds, keywords)
    if not warm:
        problem = problem.from_rest()
    found, failures = {}, {name: f"does not solve the model {model!r}" for name in names if asked and name not in able}
    for k, solver in enumerate(able):
        if progress:
            progress(k, len(able), solver)
        most = max_iterations if max_iterations is not None else min(SOLVERS[solver][0], MOST_ITERATIONS)
        try:
            solve(_warm_up(), solver, model, bilateral=bilateral)
            found[solver] = solve(
                problem,
                solver,
                model,
                tolerance=tolerance,
                max_iterations=most,
                bilateral=bilateral,
                callback=_until(perf_counter() + time_limit),
                **(options or {}).get(solver, {}),
            )
        except (SceneError, MemoryError, np.linalg.LinAlgError) as error:
            failures[solver] = " ".join(str(error).split()) or type(error).__name__
    if progress:
        progress(len(able), len(able), "")
    return SolverStudy(name, problem, model, float(tolerance), found, failures)


def _warm_up() -> Problem:
    """A contact and a joint's row. What a solver does for the first time in a process, loading libraries, takes as long
    as a small problem: each solves this one before it is timed."""
    return Problem(np.diag([2.0, 1.0, 1.0, 1.0]), [-1.0, 0.3, 0.1, 0.2], [0.5], [(-np.inf, np.inf)])


def _until(deadline: float) -> Callable[..., bool]:
    return lambda iteration, impulses, residuals: perf_counter() > deadline


def problem_of(what: Any, seconds: float = 1.0, keywords: dict[str, Any] | None = None) -> tuple[str, Problem]:
    """-> (name, Problem), see `solvers`."""
    keywords = dict(keywords or {})
    if isinstance(what, Problem):
        return "problem", what
    if isinstance(what, World):
        return what.scene.name, what.problem()
    if isinstance(what, (str, os.PathLike)):
        if Path(what).suffix == ".npz":
            return Path(what).stem, Problem.load(what)
        raise SceneError(f"solvers: {show(what)} is no problem's file (.npz); mcsim.load(name) makes a scene of a name")
    if not isinstance(what, Scene):
        raise SceneError(
            f"solvers: the first argument must be a Scene, World, Problem or a problem's file, got {show(what)}"
        )
    reduced = keywords.pop("coordinates", "maximal") == "reduced"
    world = (ReducedWorld if reduced else World)(what, sleep=False, **keywords)
    world.step(round(seconds / world.dt))
    return what.name, world.problem()
