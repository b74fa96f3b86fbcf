"""Dantzig's principal pivoting: boxed linear complementarity problems, solved exactly in a finite number of pivots."""

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems import dense
from mcsim.solve.problems._dantzig import dantzig

INACCURATE = 1e-6              # a solution that misses its conditions by more, of |b| + |A||x|, is not called one


def boxed(A, b, lower, upper, max_pivots=None, accuracy=1e-9):
    """Solve w = A x + b with lower <= x <= upper; w = 0 between the bounds, w >= 0 at the lower, w <= 0 at the upper.

    These are the conditions of least x'A x / 2 + b'x in the box. Contact without friction is [0, inf); friction under a
    load that is known, a motor, a limit and a joint (-inf, inf) are boxed as well. Bounds that follow another row's x
    (Coulomb's) are not: see `lemke.friction_pyramid_lcp`.

    A: (n, n) symmetric positive semidefinite, singular if need be. b: (n,). lower, upper: (n,), infinite for none; None
    for no bounds at all. Units are the caller's: impulses x, speeds w. max_pivots: 20 n + 100 unless given. accuracy: a
    row that no x can satisfy together with others is called redundant as long as w misses by no more than this part of
    |b| + |A||x|.

    -> (x, status, pivots). status: "solved"; "contradictory": some rows cannot be satisfied, x satisfies the others;
    "limit": max_pivots were not enough, x is where it stopped; "inaccurate": solved, but rounding spoilt it (> 1e-6).
    x is unique where A is definite; otherwise w is unique, and x one of those that give it.

    SceneError: wrong shapes, numbers that are not finite, bounds reversed, A not symmetric or not semidefinite.
    """
    A = dense.semidefinite("A", A)
    n = len(A)
    b = dense.vector("b", b, n)
    lower, upper = dense.bounds(lower, upper, n)
    most = dense.limit(max_pivots, 20 * n + 100)
    if n == 0:
        return np.zeros(0), "solved", 0
    x, code, pivots, contradictory = dantzig(A, b, lower, upper, most, float(accuracy))
    if code == 3:
        raise SceneError("A is indefinite: x'A x < 0 for some x; a matrix J M^-1 J' is not: look for a negative mass or "
                         "rows that were mixed up")
    if code == 2:
        return x, "limit", pivots
    if contradictory:
        return x, "contradictory", pivots
    return x, "solved" if residual(A, b, lower, upper, x) <= INACCURATE else "inaccurate", pivots


def residual(A, b, lower, upper, x):
    """The largest part of w that its row does not allow at x in the box, relative to |b| + |A||x| of the row."""
    w = A @ x + b
    size = np.abs(A) @ np.abs(x) + np.abs(b).max(initial=0.0)
    reach = size / np.maximum(np.diagonal(A), np.finfo(float).tiny)    # how far x_i may move for a w of that size
    with np.errstate(invalid="ignore"):
        room = np.where(w > 0.0, x - lower, upper - x)
        missing = np.minimum(np.abs(w), np.where(np.isinf(room), np.inf, room / reach * size))
    return float(np.max(np.divide(missing, size, out=np.zeros_like(size), where=size > 0.0), initial=0.0))
