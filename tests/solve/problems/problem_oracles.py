"""What answers to contact problems are held against: all index sets one by one, and the conditions as defined."""

from itertools import product

import numpy as np
from scipy.optimize import linprog

SMALL = 1e-9


def lcp_solution(M, q):
    """A z with w = M z + q >= 0, z >= 0, z.w = 0, by trying which z are positive; None: there is none."""
    n = len(q)
    for positive in product((False, True), repeat=n):
        on = np.array(positive, bool)
        z = _inside(M[np.ix_(on, on)], q[on], M[np.ix_(~on, on)], q[~on], np.zeros(on.sum()), np.full(on.sum(), np.inf))
        if z is not None:
            found = np.zeros(n)
            found[on] = z
            return found
    return None


def boxed_solution(A, b, lower, upper):
    """An x with w = A x + b zero inside the bounds, >= 0 at the lower, <= 0 at the upper one; None: there is none."""
    choices = [
        [k for k, there in ((-1, np.isfinite(low)), (0, low < high), (1, np.isfinite(high))) if there]
        for low, high in zip(lower, upper)
    ]
    for choice in product(*choices):
        side = np.array(choice, int)
        on = side == 0
        x = np.where(side < 0, lower, np.where(side > 0, upper, 0.0))
        loose = ~on & (lower != upper)
        load = A @ x + b
        outward = -side[loose]
        inner = _inside(
            A[np.ix_(on, on)],
            load[on],
            outward[:, None] * A[np.ix_(loose, on)],
            outward * load[loose],
            lower[on],
            upper[on],
        )
        if inner is not None:
            x[on] = inner
            return x
    return None


def _inside(block, rest, outer, outer_rest, lower, upper):
    """x with block x + rest = 0, outer x + outer_rest >= 0, lower <= x <= upper; None: there is none."""
    if len(rest) == 0:
        return np.zeros(0) if np.all(outer_rest >= -SMALL) else None
    x, _, rank, _ = np.linalg.lstsq(block, -rest, rcond=1e-10)
    if np.abs(block @ x + rest).max() > SMALL:
        return None
    if np.all(x >= lower - SMALL) and np.all(x <= upper + SMALL) and np.all(outer @ x + outer_rest >= -SMALL):
        return x
    if rank == len(rest):
        return None
    outside = (-outer, outer_rest) if len(outer) else (None, None)
    found = linprog(np.zeros(len(rest)), *outside, block, -rest, np.column_stack([lower, upper]))
    return found.x if found.status == 0 else None


def lcp_error(M, q, z):
    """The largest |min(z, w)|, relative to what adds up to w."""
    size = np.abs(M) @ np.abs(z) + np.abs(q).max(initial=0.0)
    return float((np.abs(np.minimum(z, M @ z + q)) / np.maximum(size, 1e-300)).max(initial=0.0))


def boxed_error(A, b, lower, upper, x):
    """How far x is from its place a step of w / A_ii away, put back into its bounds; as a speed, relative as above."""
    size = np.abs(A) @ np.abs(x) + np.abs(b).max(initial=0.0)
    diagonal = np.where(np.diagonal(A) > 0.0, np.diagonal(A), 1.0)
    moved = np.clip(x - (A @ x + b) / diagonal, lower, upper)
    return float((np.abs(moved - x) * diagonal / np.maximum(size, 1e-300)).max(initial=0.0))


def pyramid_bounds(case, impulses):
    """(lower, upper) of all rows at these normal impulses: |t| <= mu n."""
    contacts = len(case["friction"])
    lower, upper = np.zeros(len(impulses)), np.full(len(impulses), np.inf)
    normal = np.maximum(impulses[0 : 3 * contacts : 3], 0.0)
    with np.errstate(invalid="ignore"):
        room = np.where(np.isinf(case["friction"]), np.inf, case["friction"] * normal)
    for k in (1, 2):
        lower[k : 3 * contacts : 3], upper[k : 3 * contacts : 3] = -room, room
    lower[3 * contacts :], upper[3 * contacts :] = case["lower"], case["upper"]
    return lower, upper


def pyramid_error(case, impulses):
    """By definition: each row a boxed one, friction's bounds by the normal impulses that were found."""
    return boxed_error(case["A"], case["b"], *pyramid_bounds(case, impulses), impulses)


def loaded(case, bound):
    """(A, b, lower, upper): friction with fixed bounds."""
    contacts = len(case["friction"])
    lower = np.concatenate([np.tile([0.0, -bound, -bound], contacts), case["lower"]])
    upper = np.concatenate([np.tile([np.inf, bound, bound], contacts), case["upper"]])
    return case["A"], case["b"], lower, upper
