"""Semismooth Newton: the conditions of each contact written as equations, and Newton's method on them.

`_newton.pyx` has the equations (Alart and Curnier's; for ccp those of the cone's projection), the linear systems,
which for a factored problem are sparse ones in the bodies' numbers, and the line search on |F|^2. A may be singular
(four corners of a box carry it in many ways), so each step has a proximal term delta (lambda - center) whose center
follows and whose delta falls as steps succeed and grows where they do not (R. T. Rockafellar, "Monotone operators and
the proximal point algorithm", 1976). Near a solution a few steps reach rounding.

F has kinks and |F|^2 local minima: nothing says that it gets there from far. After NEWTON_STEPS steps without an end,
or where no step makes |F| fall, interior points take over (`ipm.py`). If they do not get there
either, iterations of ADMM follow (`admm.py`), twice as many each time, and Newton goes on from what they found. The notes
say how many of each it took.
"""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._admm import Admm
from mcsim.solve.problems._newton import Newton
from mcsim.solve.problems.ipm import interior_steps
from mcsim.solve.problems.polish import newton_steps
from mcsim.solve.problems.problem import Problem, inverse_mass_parts
from mcsim.solve.problems.solution import Callback, Progress, Solution

NEWTON_STEPS = 15  # at once
ADMM_STEPS = 20  # the first time
PATIENCE = 500  # iterations without a better answer, until it says that it stalled
RHO, ETA = 0.1, 1e-9


def solve(
    problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None, *, delta: float = 1e-3
) -> Solution:
    """delta: the proximal term of the scaled rows to begin with. An iteration is a step of either method."""
    if not 0.0 < delta < np.inf:
        raise SceneError(f"solve: delta must be above 0 and finite, got {delta!r}")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    system = problem.system
    impulses, velocities = progress.start()
    if not progress.going:
        return progress.solution("newton")
    inverse_mass = inverse_mass_parts(problem)
    newton = Newton(system, inverse_mass, progress.model_number, delta)
    admm = None
    turns, steps, inside = ADMM_STEPS, 0, 0
    while progress.going:
        impulses, velocities, made = newton_steps(newton, progress, impulses, velocities, NEWTON_STEPS)
        steps += made
        if not progress.going:
            break
        if admm is None:
            before = progress.iterations
            interior_steps(progress)
            inside = progress.iterations - before
            if not progress.going:
                break
            admm = Admm(system, inverse_mass, progress.model_number, impulses, velocities, RHO, ETA, 1.0)
        else:
            admm.restart(impulses, velocities)
        for _ in range(turns if callback else 1):
            if progress.going:
                impulses, velocities = admm.run(progress, 1 if callback else turns)
        turns *= 2
        if progress.going and progress.iterations - progress.best_at >= PATIENCE:
            progress.reason = "stalled"
    others = f", {inside} of interior points" if inside else ""
    progress.notes.append(f"{steps} Newton steps{others}, {progress.iterations - steps - inside} iterations of ADMM")
    return progress.solution("newton")
