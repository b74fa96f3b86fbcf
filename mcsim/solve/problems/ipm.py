"""Interior points: every contact strictly inside its cone, and Newton's method on ways that lead to the boundary.

With x the impulses in cone coordinates and v the velocities, v = A x + b + s, both inside L = {x_0 >= |t|}, iterates
follow x o v = target e, the target falling towards 0; Mehrotra's predictor says how fast, and Nesterov and Todd's
scaling keeps the steps long. s is De Saxce's shift |v_t| on the normal (ncp), whose slope is part of each linear
system, so that the exact model takes no more iterations than the convex one: 6 for stacks, 15 to 25 for wedges that
are jammed, which admm and newton do not end. Bounded rows are complementarity pairs at both ends, the pyramid's
tangents too, whose bounds follow their normal; rows without bounds are linear equations. `_ipm.pyx` has the formulas.

It begins anew each time: a start near the solution, unless it is one, gains nothing. Where it finds nothing better, near
the end at 1e-9 of the impulses, steps of Newton's method from the best iterate follow (`newton.py`); and, of the exact
model, which is not convex, tries that trust the shift's slope less where a contact sticks, and tries whose shift is
sqrt(|v_t|^2 + tip^2), the tip falling with the target. Of jammed bodies impulses of a hundred and slips of 1e-9 may meet
in one contact: Newton's method, too, takes a dozen to two hundred steps to find which tangents slide, with nothing gained
until it has. After the last try it has them.

Sources: V. Acary, P. Armand, H. M. Nguyen and M. Shpakovych, "Second-order cone programming for frictional contact
mechanics using interior point algorithm", 2024 (the method for ccp, with these scalings); L. Vandenberghe, "The CVXOPT
linear and quadratic cone program solvers", 2010.
"""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._ipm import InteriorPoint
from mcsim.solve.problems._newton import Newton
from mcsim.solve.problems.polish import newton_steps
from mcsim.solve.problems.problem import Problem, inverse_mass_parts
from mcsim.solve.problems.solution import Callback, Progress, Solution

TURN = 8  # iterations that must halve the residual
NEWTON_STEPS = 15  # between two tries
LAST_STEPS = 200  # after the last, which nothing follows
DELTA = 1e-6  # the proximal term of Newton's steps to begin with
SHIFTS = (0.0, 0.0), (0.0, 1e-4), (0.0, 0.1), (0.03, 0.0)  # rounding, doubt: tried in turn


def solve(
    problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None, *, polish: bool = True
) -> Solution:
    """polish: whether Newton steps on the contacts' equations end what rounding leaves."""
    if not isinstance(polish, (bool, np.bool_)):
        raise SceneError(f"solve: polish must be True or False, got {polish!r}")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    progress.start()
    interior_steps(progress, polish)
    if progress.going:
        progress.reason = "stalled"
    return progress.solution("ipm")


def interior_steps(progress: Progress, polish: bool = True) -> None:
    """From its own start to the end, or to where it finds nothing better; of the exact model then with other slopes and
    tips of the shift. What nothing moves keeps its impulses."""
    if not progress.going:
        return
    system, inverse_mass = progress.system, inverse_mass_parts(progress.problem)
    inside, newton = InteriorPoint(system, inverse_mass, progress.model_number, progress.best), None
    shifts = SHIFTS if progress.model == "ncp" else SHIFTS[:1]
    for shift in shifts:
        if progress.going:
            inside.begin(*shift)
            follow(inside, progress)
        if progress.going and polish:
            made = progress.iterations
            newton = newton or Newton(system, inverse_mass, progress.model_number, DELTA)
            most = NEWTON_STEPS if shift != shifts[-1] else LAST_STEPS
            newton_steps(newton, progress, progress.best, progress.best_velocities, most)
            progress.notes.append(f"{progress.iterations - made} Newton steps after iteration {made}")


def follow(inside: InteriorPoint, progress: Progress) -> None:
    """Iterations until they end or stall."""
    stuck, least = False, np.inf
    while progress.going and not stuck:
        made = progress.iterations
        while progress.going and not stuck and progress.iterations - made < TURN:
            stuck = inside.run(progress, 1 if progress.callback else TURN)
        before, least = least, progress.least_since(made)
        stuck = stuck or least > 0.5 * before
