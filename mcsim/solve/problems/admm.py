"""Proximal ADMM: a linear solve with all rows at once, then each block onto its cone, by turns.

    (A + R + rho + eta) lambda = -(b + s) + y + rho z + eta lambda_old
    z = P_K(lambda - y / rho)                                          the impulses that it answers with
    y <- y - rho (lambda - z)                                          -> u + s
    s = mu |y_t| on the normal (De Saxce's shift; ncp), mu (|y_1| + |y_2|) (pyramid), 0 (ccp, frictionless)

Rows are scaled block by block (`_proximal.pyx`), so rho is a pure number. Bilateral rows have the proximal term alone,
rho 0; bounds are clamps. Each block has a rho of its own, multiplied every few iterations by
(|lambda - z| / (rho |z - z_old|))^(1/5): it falls where a contact holds, and grows where it opens. (One rho for all,
balanced likewise, took several times the iterations on stacks of boxes.) Each change is a new
factorization; after a while rho stays for longer and longer, as convergence wants.

Once contacts no longer change between open, sticking and sliding, Newton's method ends it quicker: after every 20
iterations a few of its steps are tried (`_newton.pyx`), from a copy: ADMM goes on where it stood if they do not get
there. Where ENOUGH turns of both have not ended it, interior points are tried once (`ipm.py`): jammed
bodies are theirs. Each counts as an iteration. polish=False leaves all that out.

Its fixed points are the model's solutions; for ccp and frictionless, convex, it converges from everywhere, if slowly.

Sources: J. Carpentier, Q. Le Lidec and L. Montaut, "From compliant to rigid contact simulation: a unified and efficient
approach", 2024 (the method for the exact model); S. Boyd, N. Parikh, E. Chu, B. Peleato and J. Eckstein, "Distributed
optimization and statistical learning via the alternating direction method of multipliers", 2011.
"""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._admm import Admm
from mcsim.solve.problems.ipm import interior_steps
from mcsim.solve.problems.polish import newton_steps
from mcsim.solve.problems.problem import Problem, inverse_mass_parts
from mcsim.solve.problems.solution import Callback, Progress, Solution

TURN = 20  # iterations between polishes
POLISH_STEPS = 10  # of Newton
ENOUGH = 4  # turns
DELTA = 1e-4  # its proximal term to begin with
PATIENCE = 500  # iterations without a better answer, until it says that it stalled


def solve(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    *,
    rho: float = 0.1,
    eta: float = 1e-9,
    over_relaxation: float = 1.0,
    polish: bool = True,
) -> Solution:
    """rho: penalty of the scaled rows to begin with; eta: the proximal term; over_relaxation: in (0, 2);
    polish: whether Newton steps and interior points are tried."""
    if not isinstance(polish, (bool, np.bool_)):
        raise SceneError(f"solve: polish must be True or False, got {polish!r}")
    for name, value in (("rho", rho), ("eta", eta)):
        if not 0.0 < value < np.inf:
            raise SceneError(f"solve: {name} must be above 0 and finite, got {value!r}")
    if not 0.0 < over_relaxation < 2.0:
        raise SceneError(f"solve: over_relaxation must lie between 0 and 2, got {over_relaxation!r}")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    system = problem.system
    impulses, velocities = progress.start()
    if not progress.going:
        return progress.solution("admm")
    inverse_mass = inverse_mass_parts(problem)
    run = Admm(system, inverse_mass, progress.model_number, impulses, velocities, rho, eta, over_relaxation)
    newton, steps, turns = None, 0, 0
    while progress.going:
        turns += 1
        before = progress.iterations
        while progress.going and progress.iterations - before < TURN:
            impulses, velocities = run.run(progress, 1 if callback else TURN)
        if progress.going and polish:
            newton = newton or run.newton(DELTA)
            before = progress.iterations
            newton_steps(newton, progress, impulses, velocities, POLISH_STEPS)
            steps += progress.iterations - before
            if progress.going:
                run.resume()
                if turns == ENOUGH:
                    before = progress.iterations
                    interior_steps(progress)
                    progress.notes.append(f"{progress.iterations - before} iterations of interior points")
        if progress.going and progress.iterations - progress.best_at >= PATIENCE:
            progress.reason = "stalled"
    progress.notes.append(f"{run.factorizations} factorizations" + (f", {steps} Newton steps" if steps else ""))
    return progress.solution("admm")
