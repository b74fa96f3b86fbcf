"""Lemke's method, and contact with a friction pyramid as the linear complementarity problem that it solves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core import linear
from mcsim.core.errors import SceneError
from mcsim.core.linear import Singular, product
from mcsim.core.trig import cos, sin
from mcsim.solve.problems import checks, polygon
from mcsim.solve.problems._lemke import lemke
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Progress, Solution

# Paths tried until one leads to a solution: the worst pivot, of the best, among rows that tie (the rule against cycling
# asks for 0, rounding for 1); what is added to the diagonal (a near problem, where nothing is singular); its direction.
PATHS = ((1e-4, 0.0, 0), (1e-4, 1e-8, 0), (1e-2, 0.0, 2), (1e-2, 1e-8, 3), (1e-6, 0.0, 3))
SHARP, GOOD, INACCURATE = 1e-13, 1e-9, 1e-6  # errors: not worth mending; enough; too much to be called a solution
ENDLESS = 1e-5  # weight of the absolute error beside the relative one
PROXIMAL, PROXIMAL_STEPS = 1e-11, 4
SIDES_CHANGED = 6  # times that a basis is mended
SINGULAR = 1e-12  # of rows scaled to a diagonal of one: smaller eigenvalues are zero
RENEWED = 30  # pivots, or a third of n, from one tableau computed anew to the next
SOLVED, RAY, LIMIT = 0, 1, 2  # of the kernel
GOLDEN = 0.6180339887498949

# What `pyramid` answers -> Solution.reason.
ENDINGS = {
    "ray": "no solution",
    "limit": "iteration limit",
    "inaccurate": "inaccurate",
    "contradictory": "contradictory rows",
    "solved": "inaccurate",
}


def lcp(
    M: ArrayLike, q: ArrayLike, max_pivots: int | None = None, covering: ArrayLike | None = None
) -> tuple[np.ndarray, str, int]:
    """Solve the linear complementarity problem w = M z + q, w >= 0, z >= 0, z.w = 0 by Lemke's method.

    With a copositive M (that of every contact problem is) it ends in a solution, unless v'q < 0 for some v >= 0 with
    M v >= 0, v'M v = 0; for other matrices a ray tells nothing. Where there are several solutions it finds one.

    M: (n, n), q: (n,), units left to the caller. max_pivots: 50 n + 100 unless given, over all attempts. covering: (n,)
    positive, the direction from which the path comes; without it others, and a problem nearby, are tried while paths
    end on rays or in the wrong basis, as rounding may make them do.

    -> (z, status, pivots). status: "solved"; "ray": no solution was found, if M is copositive there may be none;
    "limit": max_pivots were not enough; "inaccurate": a basis was found, but rounding spoilt it, min(z, w) is off by
    more than 1e-6 of |q| + |M||z|, or 0.1 of |q|, in units in which M and q are of size one. In all but the first case
    z is the best that was come by, and no answer.

    SceneError: wrong shapes, numbers that are not finite, a covering that is not positive.

    R. Cottle, J.-S. Pang, R. Stone, "The Linear Complementarity Problem", 1992, sections 4.4 and 4.9.
    """
    M = checks.square("M", M)
    n = len(M)
    q = checks.moderate("q", checks.vector("q", q, n))
    most = checks.pivot_limit(max_pivots, 50 * n + 100)
    if covering is not None:
        covering = checks.moderate("covering", checks.vector("covering", covering, n))
        if not np.all(covering > 0.0):
            raise SceneError(f"covering[{np.argmin(covering)}] is {covering.min():g}; all must be positive")
    if n == 0 or np.all(q >= 0.0):
        return np.zeros(n), "solved", 0
    scale = _scale(M)
    size = np.abs(scale * q).max()  # z = scale z' size, w = w' size / scale
    scaled = np.ascontiguousarray(M * scale[:, None] * scale), scale * q / size
    z, status, pivots = _attempts(*scaled, None if covering is None else scale * covering, most)
    return z * scale * size, status, pivots


def _scale(M: np.ndarray) -> np.ndarray:
    """(n,) powers of two that bring the largest entries of rows and columns of scale M scale near one (D. Ruiz, "A
    scaling algorithm to equilibrate both rows and columns norms in matrices", 2001)."""
    scale = np.ones(len(M))
    largest = np.maximum(np.abs(M), np.abs(M.T))
    for _ in range(8):
        most = (largest * scale[:, None] * scale).max(axis=1)
        scale /= np.sqrt(np.where(most > 0.0, most, 1.0))
    return np.ldexp(1.0, np.frexp(scale * 0.7071067811865476)[1])


@np.errstate(over="ignore", invalid="ignore")  # of bases that are all but singular; they are found out
def _attempts(M: np.ndarray, q: np.ndarray, covering: np.ndarray | None, most: int) -> tuple[np.ndarray, str, int]:
    """(z, status, pivots) of a scaled problem: the first path that ends well, else the best of them."""
    n, made, ends = len(q), 0, set()
    best, best_error = np.zeros(n), np.inf
    paths = PATHS if covering is None else PATHS[:1]
    for worst, near, number in paths:
        if covering is not None:
            direction = covering
        else:
            direction = np.ones(n) if number == 0 else 0.5 + np.mod((np.arange(n) + 1.0) * number * GOLDEN, 1.0)
        share = most - made
        if (worst, near, number) != paths[-1]:
            share = min((share + 1) // 2, 8 * n + 100)
        z, basic, end, pivots = _path(M + near * np.eye(n), q, direction, share, worst)
        made += pivots
        if near == 0.0:
            ends.add(end)
        z, error = _sharpened(M, q, z, basic, SIDES_CHANGED if end == SOLVED else 0)
        if error < best_error:  # of a ray, too: rounding may hide that z0 has come to zero
            best, best_error = z, error
        if best_error <= GOOD or made == most:
            break
    if best_error <= INACCURATE:
        return best, "solved", made
    return best, "inaccurate" if SOLVED in ends else "limit" if LIMIT in ends else "ray", made


def _path(
    M: np.ndarray, q: np.ndarray, covering: np.ndarray, most: int, worst: float
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """(z, basic (n,) bool: which z are, status, pivots). Pivots gather rounding: the tableau is computed anew now and
    then, and before it is believed that the path ends on a ray."""
    n, made = len(q), 0
    system = np.concatenate([np.eye(n), -M, -covering[:, None]], axis=1)  # times (w, z, z0) = q
    basic, other = np.arange(n, dtype=np.int32), np.arange(n, 2 * n + 1, dtype=np.int32)
    place = np.concatenate([basic, -1 - np.arange(n + 1, dtype=np.int32)]).astype(np.int32)
    column, fresh = n, True
    lines = np.concatenate([-M, -covering[:, None], q[:, None]], axis=1)
    while True:
        stretch = min(max(RENEWED, n // 3), most - made)
        status, pivots, column = lemke(lines, basic, other, place, column, stretch, worst)
        made += pivots
        fresh &= pivots == 0
        if status == SOLVED or made >= most or (status == RAY and fresh):
            break
        try:
            lines = linear.solve(system[:, basic], np.column_stack([system[:, other], q]))
        except Singular:
            break
        lines, fresh = np.ascontiguousarray(lines), True
    values, held = np.zeros(2 * n + 1), np.zeros(2 * n + 1, bool)
    values[basic], held[basic] = lines[:, -1], True
    return np.maximum(values[n : 2 * n], 0.0), held[n : 2 * n], status, made


def _sharpened(M: np.ndarray, q: np.ndarray, z: np.ndarray, basic: np.ndarray, changes: int) -> tuple[np.ndarray, float]:
    """(z, error): the basis solved anew, since pivots gather rounding; what comes out with the wrong sign changes
    sides, so many times. As it came if nothing is better."""
    best, best_error = z, _error(M, q, z)
    for _ in range(1 + changes):
        tried = [_solved(M, q, basic, z, shift) for shift in (0.0, PROXIMAL)]
        again = [(_error(M, q, np.maximum(found, 0.0)), found) for found in tried if found is not None]
        if not again:
            break
        error, z = min(again, key=lambda found: found[0])
        if error < best_error:
            best, best_error = np.maximum(z, 0.0), error
        if best_error <= SHARP:
            break
        wrong = np.where(basic, z, product(M, z) + q) < 0.0
        if not np.any(wrong):
            break
        basic = basic != wrong
    return best, best_error


def _solved(M: np.ndarray, q: np.ndarray, basic: np.ndarray, z: np.ndarray, shift: float) -> np.ndarray | None:
    """The z near the given one with w = 0 where it is basic and z = 0 elsewhere; None: singular. With a shift of the
    diagonal these are proximal steps, which end well also where impulses are not unique."""
    rows = np.flatnonzero(basic)
    z = np.where(basic, z, 0.0)
    try:
        inverse = linear.inverse(M[np.ix_(rows, rows)] + shift * np.eye(len(rows)))
    except Singular:
        return None
    for _ in range(PROXIMAL_STEPS):
        z[rows] -= product(inverse, product(M[rows], z) + q[rows])
    return z if np.isfinite(z).all() else None


def _error(M: np.ndarray, q: np.ndarray, z: np.ndarray) -> float:
    """|min(z, w)| relative to what adds up to w, but not for ever: impulses without end balance anything."""
    missing = np.abs(np.minimum(z, product(M, z) + q))
    return max((missing / np.maximum(1.0, product(np.abs(M), z))).max(), ENDLESS * missing.max())


# ---- the friction pyramid ----------------------------------------------------------------------------------------


class PyramidLCP(NamedTuple):
    """Contact with friction as w = M z + q, and the way back: impulses = map z + offset, rows as in A.

    z: normal impulses, tangential impulses along single directions, impulses of bounded rows from their bounds; then
    the slacks: speeds that friction could not stop, and what upper bounds take up. M is copositive. contradiction: the
    largest speed [m/s] by which rows without bounds contradict each other; rounding, if none do.
    """

    M: np.ndarray
    q: np.ndarray
    map: np.ndarray
    offset: np.ndarray
    contradiction: float


def friction_pyramid_lcp(
    A: ArrayLike,
    b: ArrayLike,
    friction: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    directions: int | None = None,
) -> PyramidLCP:
    """The pyramid model of contact as a linear complementarity problem: -> PyramidLCP

    u = A lam + b; the first 3 nc rows are contacts in threes [n, t1, t2], the others have lower <= lam <= upper. With
    directions=None the tangents are two frictions apart, |t1| <= mu n and |t2| <= mu n, each with its own slack sigma:

        0 <= n  _|_ u_n >= 0
        0 <= beta+ _|_  u_t + sigma >= 0,  0 <= beta- _|_ -u_t + sigma >= 0,   t = beta+ - beta-
        0 <= sigma _|_ mu n - beta+ - beta- >= 0

    that is what sweeps that clamp each row solve. directions=4, 6, 8, ...: one slack a contact and t = sum_k beta_k
    (cos, sin)(2 pi k / directions), the polygon within the circle of radius mu n (D. Stewart, J. Trinkle, "An implicit
    time-stepping scheme for rigid body dynamics with inelastic collisions and Coulomb friction", 1996; M. Anitescu, F.
    Potra, "Formulating dynamic multi-rigid-body contact problems with friction as solvable linear complementarity
    problems", 1997). mu = 0 has no tangential impulse; mu = inf is the limit: n or sigma is 0.

    Rows without bounds are eliminated (Schur complement; redundant ones share their impulse), rows with an upper bound
    get a slack that takes up what is above it, rows with equal bounds are loads.

    A: (m, m) symmetric positive semidefinite [1/kg], b: (m,) [m/s], friction: (nc,), lower, upper: (m - 3 nc,) [N s].
    SceneError: wrong shapes, numbers that are not finite, bounds reversed, friction below 0, directions odd or below 4.
    """
    A = checks.semidefinite("A", A)
    b = checks.moderate("b", checks.vector("b", b, len(A)))
    friction = checks.frictions(friction, len(A))
    nc = len(friction)
    lower, upper = checks.bounds(
        lower, upper, len(A) - 3 * nc, f"A with {len(A)} rows, {3 * nc} of them contacts,", largest=checks.LARGEST
    )
    sides = _directions(directions)

    free = 3 * nc + np.flatnonzero(np.isinf(lower) & np.isinf(upper))
    kept = np.setdiff1d(np.arange(len(A)), free)
    inner, push, held, contradiction = _eliminated(A, b, kept, free)

    to_kept, loads, coupling, ceiling, room = _variables(friction, lower, upper, sides, len(A), kept)
    n, slacks = coupling.shape
    M = np.zeros((n + slacks, n + slacks))
    M[:n, :n] = product(to_kept.T, inner, to_kept)
    M[:n, n:] = coupling
    M[n:, :n] = ceiling
    q = np.concatenate([product(to_kept.T, product(inner, loads) + b[kept] + product(A[np.ix_(kept, free)], held)), room])
    back, offset = np.zeros((len(A), n + slacks)), np.zeros(len(A))
    back[kept, :n], offset[kept] = to_kept, loads
    back[free, :n], offset[free] = product(push, to_kept), product(push, loads) + held
    return PyramidLCP(M, q, back, offset, contradiction)


def pyramid(
    A: ArrayLike,
    b: ArrayLike,
    friction: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    directions: int | None = None,
    max_pivots: int | None = None,
) -> tuple[np.ndarray, str, int]:
    """Solve contact with a friction pyramid; arguments as in `friction_pyramid_lcp`.

    -> (impulses (m,) [N s], status, pivots); status as in `lcp`, or "contradictory": rows without bounds contradict
    each other by more than 1e-9 of |b|, the impulses satisfy the rest.
    """
    problem = friction_pyramid_lcp(A, b, friction, lower, upper, directions)
    z, status, pivots = lcp(problem.M, problem.q, max_pivots)
    if status == "solved" and problem.contradiction > max(1e-9 * np.abs(b).max(initial=0.0), checks.QUIET):
        status = "contradictory"
    return product(problem.map, z) + problem.offset, status, pivots


def _directions(directions: int | None) -> np.ndarray | None:
    """None, or (2, k) unit vectors."""
    if directions is None:
        return None
    whole = isinstance(directions, (int, np.integer))
    if not whole or directions < 4 or directions % 2:
        raise SceneError(f"directions is {directions!r}; give an even number from 4, or None for two frictions apart")
    angles = 2.0 * np.pi * np.arange(directions) / directions
    return np.array([cos(angles), sin(angles)])


def _eliminated(
    A: np.ndarray, b: np.ndarray, kept: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """What is left of A without its free rows: (inner, push, held, contradiction).

    lam_free = push lam_kept + held; u_kept = inner lam_kept + b_kept + A_kept,free held. By eigenvalues: impulses of equal
    rows are the least, and contradictions are seen apart; why `elimination.py` has another way, it says there.
    """
    if len(free) == 0:
        return A[np.ix_(kept, kept)], np.zeros((0, len(kept))), np.zeros(0), 0.0
    block = A[np.ix_(free, free)]
    diagonal = np.diagonal(block)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = linear.eigen(block * scale[:, None] * scale)
    there = values > SINGULAR * max(1.0, values[-1])
    basis = vectors[:, there]
    inverse = scale[:, None] * product(basis / values[there], basis.T) * scale
    across = A[np.ix_(free, kept)]
    push = -product(inverse, across)
    inner = A[np.ix_(kept, kept)] + product(across.T, push)
    missing = product(vectors[:, ~there], product(vectors[:, ~there].T, scale * b[free])) / scale
    contradiction = float(np.abs(missing).max())
    return 0.5 * (inner + inner.T), push, -product(inverse, b[free]), contradiction


def _variables(
    friction: np.ndarray, lower: np.ndarray, upper: np.ndarray, sides: np.ndarray | None, count: int, kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(to_kept, loads, coupling, ceiling, room) of the variables without slacks (x) and the slacks (s).

    lam_kept = to_kept x + loads;  w_x = to_kept' u_kept + coupling s;  w_s = ceiling x + room.
    """
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    loads = np.zeros(len(kept))
    columns, slacks = [], []  # {row: weight}; ({x: coupling}, {x: ceiling}, room)

    def variable(weights: Mapping[int, float]) -> int:
        columns.append({int(place[row]): weight for row, weight in weights.items()})
        return len(columns) - 1

    for c, mu in enumerate(friction):
        n, t1, t2 = 3 * c, 3 * c + 1, 3 * c + 2
        normal = variable({n: 1.0})
        if mu == 0.0:
            continue
        groups = [[{t: 1.0}, {t: -1.0}] for t in (t1, t2)]
        if sides is not None:
            groups = [[{t1: x, t2: y} for x, y in sides.T]]
        for group in groups:
            betas = [variable(weights) for weights in group]
            ceiling = {normal: 1.0} if np.isinf(mu) else {normal: mu} | dict.fromkeys(betas, -1.0)
            slacks.append((dict.fromkeys(betas, 1.0), ceiling, 0.0))
    for k, (low, high) in enumerate(zip(lower, upper)):
        row = 3 * len(friction) + k
        if place[row] < 0:
            continue
        loads[place[row]] = high if np.isinf(low) else low
        if low == high:
            continue
        x = variable({row: -1.0 if np.isinf(low) else 1.0})
        if not (np.isinf(low) or np.isinf(high)):
            slacks.append(({x: 1.0}, {x: -1.0}, high - low))
    to_kept, coupling = np.zeros((len(kept), len(columns))), np.zeros((len(columns), len(slacks)))
    ceilings = np.zeros((len(slacks), len(columns)))
    for x, weights in enumerate(columns):
        for row, weight in weights.items():
            to_kept[row, x] = weight
    for s, (coupled, capped, _) in enumerate(slacks):
        coupling[list(coupled), s] = list(coupled.values())
        ceilings[s, list(capped)] = list(capped.values())
    return to_kept, loads, coupling, ceilings, np.array([slack[2] for slack in slacks])


def solve(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    *,
    directions: int | None = None,
) -> Solution:
    """By pivots, each an iteration, but recorded only at the end. "pyramid" and "frictionless", dense: for some hundreds
    of rows. directions: None, two frictions apart, or the number of directions of one polygon a contact, by which the
    residuals are then measured (polygon.py)."""
    checks.refuse_large(problem, "lemke")
    sides = _directions(directions)
    measure = None if sides is None or model == "frictionless" else partial(polygon.residuals, problem, sides.T)
    progress = Progress(problem, model, tolerance, max_iterations, callback, measure=measure)
    progress.record(problem.warm_start.copy())
    if not progress.going:
        return progress.solution("lemke")
    A, b = problem.A_with_compliance.toarray(), problem.b
    friction = np.zeros(problem.contact_count) if model == "frictionless" else problem.friction
    order, friction, lower, upper = _held_last(friction, problem.bounds)
    impulses = np.zeros(len(b))
    impulses[order], status, pivots = pyramid(
        A[np.ix_(order, order)], b[order], friction, lower, upper, directions, max_iterations
    )
    progress.record(impulses)
    progress.notes.append(f"{pivots} pivots")
    progress.reason = ENDINGS.get(status, progress.reason) if progress.reason != "converged" else "converged"
    return progress.solution("lemke")


def _held_last(friction: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Contacts of infinite friction as single rows, the tangents bilateral -> (order of the rows, friction, lower,
    upper)."""
    held = np.flatnonzero(np.isinf(friction))
    slides = np.flatnonzero(np.isfinite(friction))
    rows = np.arange(3 * len(friction)).reshape(-1, 3)
    order = np.concatenate(
        [rows[slides].ravel(), rows[held].ravel(), np.arange(3 * len(friction), 3 * len(friction) + len(bounds))]
    )
    lower, upper = np.concatenate(
        [np.tile([[0.0, np.inf], [-np.inf, np.inf], [-np.inf, np.inf]], (len(held), 1)), bounds]
    ).T
    return order, friction[slides], lower, upper
