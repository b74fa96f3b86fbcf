"""Interior points: every contact strictly inside its cone, and Newton's method on ways that lead to the boundary.

With x the impulses in cone coordinates and v the velocities, v = A x + b + s, both inside L = {x_0 >= |t|}, iterates
follow x o v = target e, the target falling towards 0; Mehrotra's predictor says how fast, and Nesterov and Todd's scaling keeps
the steps long. s is De Saxce's shift |v_t| on the normal (ncp), whose slope is part of each linear system, so that the
exact model takes no more iterations than the convex one: 6 for stacks, 15 to 25 for wedges that are jammed. Nothing is
taken from the warm start, and a problem is as good as any other: what admm and newton do not end, this mostly does.

Bounded rows are complementarity pairs at both ends; rows without bounds linear equations. `_ipm.pyx` has the formulas.
It begins anew each time: a start near the solution, unless it is one, gains nothing. Near the end rounding may win, at
1e-9 of the impulses; steps of Newton's method from the best iterate then find the rest (`newton.py`).

Sources: V. Acary, P. Armand, H. M. Nguyen and M. Shpakovych, "Second-order cone programming for frictional contact
mechanics using interior point algorithm", 2024 (the method for ccp, with these scalings); L. Vandenberghe, "The CVXOPT
linear and quadratic cone program solvers", 2010.
"""

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._ipm import InteriorPoint
from mcsim.solve.problems._newton import Newton
from mcsim.solve.problems.newton import newton_steps
from mcsim.solve.problems.problem import csr_parts
from mcsim.solve.problems.solution import Progress

TURN = 8                    # iterations without a better answer, after which Newton's steps are tried, or it gives up
NEWTON_STEPS = 15
DELTA = 1e-6                # their proximal term to begin with


def solve(problem, model, tolerance, max_iterations, callback, *, polish=True):
    """polish: whether Newton steps on the contacts' equations end what rounding leaves."""
    if not isinstance(polish, (bool, np.bool_)):
        raise SceneError(f"solve: polish must be True or False, got {polish!r}")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    impulses, _ = progress.start()
    interior_steps(progress, impulses)
    if progress.going and polish:
        made = progress.iterations
        inverse_mass = csr_parts(problem.inverse_mass) if progress.system.factored else None
        newton = Newton(progress.system, inverse_mass, progress.model_number, DELTA)
        newton_steps(newton, progress, progress.best, progress.best_velocities, NEWTON_STEPS)
        progress.notes.append(f"the last {progress.iterations - made} iterations are Newton steps")
    if progress.going:
        progress.reason = "stalled"
    return progress.solution("ipm")


def interior_steps(progress, impulses):
    """Iterations from their own start, until they end or no longer find anything better. impulses: of the rows that nothing
    moves."""
    if not progress.going:
        return
    began = progress.iterations
    system = progress.system
    inverse_mass = csr_parts(progress.problem.inverse_mass) if system.factored else None
    run = InteriorPoint(system, inverse_mass, progress.model_number, impulses)
    stuck = False
    while progress.going and not stuck and progress.iterations - max(began, progress.best_at) < TURN:
        stuck = run.run(progress, 1 if progress.callback else TURN)
