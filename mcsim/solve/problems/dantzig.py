"""Dantzig's principal pivoting: boxed linear complementarity problems, solved exactly in a finite number of pivots."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.solve.problems import checks
from mcsim.solve.problems._dantzig import dantzig
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Progress, Solution

SETTLES = 10  # rounds after which friction's bounds must come closer in each
ENDINGS = {"contradictory": "contradictory rows", "limit": "iteration limit", "inaccurate": "inaccurate"}
INACCURATE = 1e-6  # a solution that misses its conditions by more, of |b| + |A||x|, is not called one


def boxed(
    A: ArrayLike,
    b: ArrayLike,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
    max_pivots: int | None = None,
    guess: ArrayLike | None = None,
    accuracy: float = 1e-9,
) -> tuple[np.ndarray, str, int]:
    """Solve w = A x + b with lower <= x <= upper; w = 0 between the bounds, w >= 0 at the lower, w <= 0 at the upper.

    These are the conditions of least x'A x / 2 + b'x in the box. Contact without friction is [0, inf); friction under a
    load that is known, a motor, a limit and a joint (-inf, inf) are boxed as well. Bounds that follow another row's x
    (Coulomb's) are not: see `lemke.friction_pyramid_lcp`.

    A: (n, n) symmetric positive semidefinite, singular if need be. b: (n,). lower, upper: (n,), infinite for none; None
    for no bounds at all. Units are the caller's: impulses x, speeds w. max_pivots: 100 n + 100 unless given. guess:
    (n,) the x to start from, put into its bounds; a good one saves pivots. accuracy: a row that no x can satisfy
    together with others is called redundant as long as w misses by no more than this part of |b| + |A||x|, or 1e-12.

    -> (x, status, pivots). status: "solved"; "contradictory": some rows cannot be satisfied, x satisfies the others;
    "limit": max_pivots were not enough, x is where it stopped; "inaccurate": solved, but rounding spoilt it (> 1e-6).
    x is unique where A is definite; otherwise w is unique, and x one of those that give it.

    SceneError: wrong shapes, numbers that are not finite, bounds reversed, A not symmetric or not semidefinite.
    """
    A = checks.semidefinite("A", A)
    n = len(A)
    b = checks.moderate("b", checks.vector("b", b, n))
    lower, upper = checks.bounds(lower, upper, n, largest=checks.LARGEST)
    guess = np.zeros(n) if guess is None else checks.moderate("guess", checks.vector("guess", guess, n))
    most = checks.pivot_limit(max_pivots, 100 * n + 100)
    if not 0.0 <= accuracy <= 1.0:
        raise SceneError(f"accuracy is {accuracy!r}; give a part of |b| + |A||x| from 0 to 1")
    if n == 0:
        return np.zeros(0), "solved", 0
    x, code, pivots, contradictory = dantzig(A, b, lower, upper, guess, most, float(accuracy), checks.QUIET)
    if code == 3:
        raise SceneError(
            "A is indefinite: x'A x < 0 for some x; a matrix J M^-1 J' never is: look for a negative mass "
            "or rows that were mixed up"
        )
    if code == 2:
        return x, "limit", pivots
    if contradictory:
        return x, "contradictory", pivots
    good = np.isfinite(x).all() and residual(A, b, lower, upper, x) <= INACCURATE
    return x, "solved" if good else "inaccurate", pivots


def residual(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> float:
    """The largest speed that a row misses its condition by, relative to |b| + |A||x| of the row.

    The natural map: how far x is from x - w / A_ii put back into its bounds, times A_ii (1 of rows without mass).
    """
    size = product(np.abs(A), np.abs(x)) + np.abs(b).max(initial=0.0)
    diagonal = np.where(np.diagonal(A) > 0.0, np.diagonal(A), 1.0)
    missing = np.abs(np.clip(x - (product(A, x) + b) / diagonal, lower, upper) - x) * diagonal
    missing[missing <= checks.QUIET] = 0.0
    return float(np.divide(missing, size, out=np.zeros_like(size), where=size > 0.0).max(initial=0.0))


def solve(problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None) -> Solution:
    """Boxed problems by pivots. "frictionless" is one; "pyramid" a sequence of them, the bounds of friction those of the
    last normal impulses, until they agree, for which there is no guarantee. Dense: for some hundreds of rows."""
    checks.refuse_large(problem, "dantzig")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    impulses = problem.warm_start.copy()
    progress.record(impulses)
    if not progress.going:
        return progress.solution("dantzig")
    A, b = problem.A_with_compliance.toarray(), problem.b
    contacts, made = 3 * problem.contact_count, 0
    held = np.isinf(problem.friction) & (model == "pyramid")
    friction = np.where(np.isinf(problem.friction) | (model == "frictionless"), 0.0, problem.friction)
    lower, upper = np.concatenate([np.tile([0.0, np.inf], (contacts, 1)), problem.bounds]).T.copy()
    while progress.going:
        if contacts:
            load = np.where(held, np.inf, friction * np.maximum(impulses[:contacts:3], 0.0))
            for k in (1, 2):
                lower[k:contacts:3], upper[k:contacts:3] = -load, load
        impulses, status, pivots = boxed(A, b, lower, upper, guess=np.clip(impulses, lower, upper))
        made += pivots
        before = progress.least
        worst = progress.record(impulses)
        if status != "solved" and progress.reason != "converged":
            progress.reason = ENDINGS[status]
        elif model == "frictionless" and progress.going:
            progress.reason = "inaccurate"
        elif progress.iterations > SETTLES and worst > 0.9 * before and progress.going:
            progress.reason = "stalled"
            progress.notes.append("the bounds of friction do not settle")
    progress.notes.append(f"{made} pivots")
    return progress.solution("dantzig")
