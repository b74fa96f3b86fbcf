"""Staggered projections: the normals with friction standing still, then friction with the normals standing still.

    normal problem     min over lambda_n >= 0 of the kinetic energy that is left, tangents as they are
    friction problem   min over |lambda_t| <= mu lambda_n of the same, normals as they are

Each is a convex QP, solved here by ADMM (`_admm.pyx`) from where it last stood; rows other than contacts take part in
both. Where both stand still, Signorini and Coulomb hold. It need not come to that: the turns may cycle, and then it
says that it stalled. pyramid: friction in a box instead of a circle.

Source: D. Kaufman, S. Sueda, D. James and D. Pai, "Staggered projections for frictional contact in multibody systems",
2008.
"""

from __future__ import annotations

from mcsim.scene.checks import count
from mcsim.solve.problems._admm import PARTS, Admm
from mcsim.solve.problems.problem import Problem, inverse_mass_parts
from mcsim.solve.problems.solution import Callback, Progress, Solution

PATIENCE = 100  # turns without a better answer, until it says that it stalled
TIGHTER = 0.1  # the inner tolerance, of the outer one
RHO, ETA = 0.1, 1e-9
MOST_ITERATIONS = 2**31 - 1


def solve(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    *,
    inner_iterations: int = 500,
) -> Solution:
    """inner_iterations: of each QP, at most. An iteration is a turn: both QPs."""
    inner_iterations = count(inner_iterations, "solve: inner_iterations", 1, MOST_ITERATIONS)
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    system = problem.system
    impulses, velocities = progress.start()
    if not progress.going:
        return progress.solution("staggered")
    inverse_mass = inverse_mass_parts(problem)
    parts = PARTS[1:2] if model == "frictionless" or not problem.contact_count else PARTS[1:]
    solvers = [
        Admm(system, inverse_mass, progress.model_number, impulses, velocities, RHO, ETA, 1.0, part) for part in parts
    ]
    made = 0
    while progress.going:
        for solver in solvers:
            solver.restart(impulses, velocities)
            impulses, velocities, some = solver.settle(max(TIGHTER * tolerance, 1e-15), inner_iterations)
            made += some
        system.project(progress.model_number, impulses)
        velocities, _ = system.rates(impulses)
        progress.record(impulses, velocities)
        if progress.going and progress.iterations - progress.best_at >= PATIENCE:
            progress.reason = "stalled"
            progress.notes.append(f"the two problems by turns came no closer in {PATIENCE} turns: they cycle")
    progress.notes.append(f"{made} iterations of the inner problems")
    return progress.solution("staggered")
