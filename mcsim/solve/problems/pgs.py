"""Projected Gauss-Seidel: block by block, each solved alone against what the others just did.

Converges linearly, in stacks and chains of n as slowly as 1 - O(1/n^2); simple, robust and cheap to begin with.
Source: R. Cottle, J.-S. Pang and R. Stone, "The Linear Complementarity Problem", 1992, section 5.2; `_sweeps.pyx`.
"""

from __future__ import annotations

from mcsim.core.errors import SceneError
from mcsim.solve.problems._recorder import Recorder
from mcsim.solve.problems._sweeps import sweep_on
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Progress, Solution

ORDERS = ("forward", "backward", "symmetric")
BATCH = 50  # sweeps in one call of the kernel, between which Ctrl-C is answered


def solve(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    *,
    omega: float = 1.0,
    order: str = "forward",
) -> Solution:
    """omega: relaxation, in (0, 2); above 1 is SOR. order: "forward", "backward", or "symmetric", both by turns."""
    check_sweeps(omega, order)
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    impulses = problem.warm_start.copy()
    velocities, state = problem.system.rates(impulses)
    progress.record(impulses, velocities)
    recorder = Recorder(problem.system, progress.model_number)
    while progress.going:
        sweep_on(problem.system, progress, recorder, 1 if callback else BATCH, impulses, state, omega, order)
    return progress.solution("pgs")


def check_sweeps(omega: float, order: str = "forward") -> None:
    """The options of those that sweep."""
    if not 0.0 < omega < 2.0:
        raise SceneError(f"solve: omega must lie between 0 and 2, got {omega!r}")
    if order not in ORDERS:
        raise SceneError(f"solve: order must be one of: {', '.join(ORDERS)}; got {order!r}")
