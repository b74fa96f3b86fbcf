"""Projected Jacobi with mass splitting: all blocks at once, each solved alone against what all did before.

Each body is split among the n blocks that act on it, as many bodies of 1/n of its mass; each block is then solved
with its own parts, which it moves n times as fast, and the parts are put together again by the mean of their
velocities: the impulses act on the whole body. For the convex models the split problem's objective lies above the
whole one's wherever one is (Cauchy and Schwarz), so that every iteration goes down, whatever the order or the number
of blocks. In exchange it is slower than Gauss-Seidel; the order of the blocks is nothing to it, but for rounding.

Source: R. Tonge, F. Benevolenski and A. Voroshilov, "Mass splitting for jitter-free parallel rigid body simulation",
2012.
"""

from __future__ import annotations

from mcsim.solve.problems._recorder import Recorder
from mcsim.solve.problems._sweeps import shared_local, sweep_apart
from mcsim.solve.problems.pgs import BATCH, check_sweeps
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Progress, Solution


def solve(
    problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None, *, omega: float = 1.0
) -> Solution:
    """omega: relaxation, in (0, 2); below 1 damps."""
    check_sweeps(omega)
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    local = shared_local(problem.system)
    impulses = problem.warm_start.copy()
    velocities = problem.system.rates(impulses)[0]
    progress.record(impulses, velocities)
    recorder = Recorder(problem.system, progress.model_number)
    while progress.going:
        sweep_apart(problem.system, progress, recorder, 1 if callback else BATCH, impulses, velocities, omega, local)
    return progress.solution("jacobi")
