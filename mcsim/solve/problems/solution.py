"""What a solver answers, and the record that it keeps on the way."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._system import MODELS
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.residuals import RECORD, RESIDUALS

Callback = Callable[[int, np.ndarray, Any], Any]  # of an iteration, its impulses and residuals; true: stop

MOST = sys.float_info.max
DIVERGED = 1e12  # times the residual at the start: the impulses run away
ROUNDING = 1e-15  # of a product A lambda against its largest term
DOUBTED = 1e-6  # of the residual at the start: rounding must stay below, or below the tolerance


@dataclass(frozen=True, eq=False)
class Solution:
    """What `mc.solve` found.

    impulses (n,) [N s, N m s], velocities (n,) u = A lambda + compliance * lambda + b [m/s, rad/s].
    converged: all four residuals at most the tolerance. reason: "converged", "iteration limit", "stalled", "diverged",
    "not finite" (if at the start already, the impulses are that), "stopped" (by the callback), "no solution" (a direct
    method proved or met one), and so on.
    iterations: made. residuals: (iterations + 1,) structured: primal, dual, complementarity, natural_map, objective, gap
    (help(mcsim.solve.problems.residuals)); the first is of the start. final: those of the answer, which is the best that
    was met. times: (iterations + 1,) [s] since the call.
    solver, model: names. notes: what else there is to say, strings.
    """

    impulses: np.ndarray
    velocities: np.ndarray
    converged: bool
    reason: str
    iterations: int
    residuals: np.ndarray
    final: np.void
    times: np.ndarray
    solver: str
    model: str
    notes: tuple[str, ...] = ()

    @property
    def residual(self) -> float:
        """The largest of the four residuals of the impulses."""
        return largest(self.final)

    def __repr__(self) -> str:
        return (
            f"<Solution by {self.solver} ({self.model}): {self.reason} after {self.iterations} iterations, "
            f"largest residual {self.residual:.2e}>"
        )


def largest(record: np.void) -> float:
    return max(float(record[name]) for name in RESIDUALS)


@dataclass
class Progress:
    """A solver's way: what it records, when it ends.

        progress = Progress(problem, model, tolerance, max_iterations, callback)
        progress.record(impulses)                       # the start
        while progress.going:
            ...                                         # one iteration
            progress.record(impulses)
        return progress.solution("pgs")

    The best impulses are kept: those are the answer, even where a method is not monotone. reason: set it to end for a
    reason of the solver's own. measure: residuals of impulses and velocities, where they are not those of the model.
    """

    problem: Problem
    model: str
    tolerance: float
    max_iterations: int
    callback: Callback | None = None
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    def __post_init__(self) -> None:
        self.system = self.problem.system
        self.model_number = MODELS.index(self.model)
        self.stiffest = float(self.system.local_blocks.max(initial=0.0))
        self.best: Any = None  # impulses, and their velocities, once anything was recorded
        self.best_velocities: Any = None
        self.best_at = 0
        self.least = math.inf
        self.first = math.inf
        self._records: list[np.ndarray] = []  # (k, 6) each
        self._times: list[np.ndarray] = []  # (k,) each
        self._made = -1  # the start is none that was made
        self._began = perf_counter()

    @property
    def going(self) -> bool:
        return not self.reason

    @property
    def iterations(self) -> int:
        return self._made

    @property
    def bound(self) -> float:
        """The residual beyond which it diverges."""
        return DIVERGED * max(self.first, self.tolerance)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Record the warm start, put into its cones and bounds; -> impulses, velocities."""
        impulses = self.problem.warm_start.copy()
        self.system.project(self.model_number, impulses)
        velocities, _ = self.system.rates(impulses)
        self.record(impulses, velocities)
        return impulses, velocities

    def record(self, impulses: np.ndarray, velocities: np.ndarray | None = None) -> float:
        """Measure impulses, those of the next iteration; -> their largest residual. velocities: u, where it is known
        already."""
        if velocities is None:
            velocities = self.system.rates(impulses)[0]
        residuals = (
            self.system.residuals(self.model_number, impulses, velocities)
            if self.measure is None
            else self.measure(impulses, velocities)
        )
        worst = max(residuals[:4].tolist())
        self._keep(residuals[None], np.array([perf_counter() - self._began]))
        if self.best is None or worst < self.least:  # the start in any case, even if it is not finite
            self.least = worst if math.isfinite(worst) else math.inf
            self.best, self.best_velocities, self.best_at = impulses.copy(), velocities.copy(), self.iterations
        if self.iterations == 0:
            self.first = worst
        self._judge(worst, impulses, residuals)
        return worst

    def _keep(self, residuals: np.ndarray, times: np.ndarray) -> None:
        self._records.append(residuals)
        self._times.append(times)
        self._made += len(times)

    def _judge(self, worst: float, impulses: np.ndarray, residuals: np.ndarray) -> None:
        """Whether the iteration that was just recorded is the last."""
        if not math.isfinite(worst):
            self.reason = "not finite"
        if self.callback is not None and self.callback(self.iterations, impulses, np.array(tuple(residuals), RECORD)[()]):
            self.reason = self.reason or "stopped"
        if worst <= self.tolerance and self._tells(impulses):
            self.reason = "converged"
        elif worst > self.bound or worst <= self.tolerance:
            self.reason = self.reason or "diverged"
        elif self.iterations >= self.max_iterations:
            self.reason = self.reason or "iteration limit"

    def record_many(
        self,
        residuals: np.ndarray,
        times: np.ndarray,
        last: np.ndarray,
        best: int,
        impulses: np.ndarray,
        velocities: np.ndarray,
    ) -> None:
        """Several iterations that a kernel made and measured: residuals (n, 6), times (n,) since its call, which ended
        just now; last: the last impulses; impulses and velocities: of the iteration `best`, the best of them, -1: none
        was better than before. With a callback: one iteration at a time."""
        before = self.iterations
        self._keep(residuals, perf_counter() - self._began - times[-1] + times)
        worst = float(residuals[-1, :4].max())
        if best >= 0:
            self.least = float(residuals[best, :4].max())
            self.best, self.best_velocities, self.best_at = impulses.copy(), velocities.copy(), before + 1 + best
        self._judge(worst, last, residuals[-1])

    def _tells(self, impulses: np.ndarray) -> bool:
        """Whether the residual is more than the rounding of impulses that cancel: those of contradictory rows may
        grow until nothing else is left."""
        doubt = ROUNDING * float(np.abs(impulses).max(initial=0.0)) * self.stiffest
        return doubt <= max(self.tolerance, DOUBTED * self.first)

    def least_since(self, iteration: int) -> float:
        """The least residual after an iteration."""
        left, least = self._made - iteration, math.inf
        for records in reversed(self._records):
            if left <= 0:
                break
            least = min(least, float(records[-left:, :4].max(axis=1).min()))
            left -= len(records)
        return least

    def solution(self, solver: str) -> Solution:
        """The answer: the best impulses that were recorded."""
        records = np.concatenate(self._records).view(RECORD)[:, 0]
        if self.best_at < self.iterations:
            self.notes.append(f"the answer is that of iteration {self.best_at}, the best")
        return Solution(
            self.best,
            self.best_velocities,
            self.reason == "converged",
            self.reason,
            self.iterations,
            records,
            records[self.best_at],
            np.concatenate(self._times),
            solver,
            self.model,
            tuple(self.notes),
        )


def check_calls(tolerance: float, max_iterations: int, callback: Callback | None) -> None:
    """The three arguments that all solvers share."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.floating)) or not 0.0 <= tolerance <= MOST:
        raise SceneError(f"solve: tolerance must be a finite number of at least 0, got {tolerance!r}")
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, (int, np.integer)) or max_iterations < 0:
        raise SceneError(f"solve: max_iterations must be a whole number of at least 0, got {max_iterations!r}")
    if callback is not None and not callable(callback):
        raise SceneError("solve: callback must be a function (iteration, impulses, residuals) -> true to stop")
