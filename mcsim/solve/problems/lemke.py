"""Lemke's method, and contact with a friction pyramid as the linear complementarity problem that it solves."""

from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems import dense
from mcsim.solve.problems._lemke import lemke

ATTEMPTS = 4                   # covering vectors tried until one leads to a solution
GOOD, INACCURATE = 1e-9, 1e-6  # largest |min(z, w)| in scaled units: enough; too much to be called a solution
SINGULAR = 1e-12               # of rows scaled to a diagonal of one: smaller eigenvalues are zero
GOLDEN = 0.6180339887498949


def lcp(M, q, max_pivots=None, covering=None):
    """Solve the linear complementarity problem w = M z + q, w >= 0, z >= 0, z.w = 0 by Lemke's method.

    With a copositive M (that of every contact problem is) it ends in a solution, unless v'q < 0 for some v >= 0 with
    M v >= 0, v'M v = 0; for other matrices a ray tells nothing. Where there are several solutions it finds one.

    M: (n, n), q: (n,), units left to the caller. max_pivots: 50 n + 100 unless given, over all attempts. covering: (n,)
    positive, the direction from which the path comes; without it one after another is tried while paths end on rays, as
    rounding may make them do.

    -> (z, status, pivots). status: "solved"; "ray": no solution was found, if M is copositive there may be none;
    "limit": max_pivots were not enough; "inaccurate": a basis was found, but the conditions are missed by more than 1e-6
    of q. z is an answer in the first and the last case only; otherwise it is where the last path ended.

    SceneError: wrong shapes, numbers that are not finite, a covering that is not positive.

    R. Cottle, J.-S. Pang, R. Stone, "The Linear Complementarity Problem", 1992, sections 4.4 and 4.9.
    """
    M = dense.square("M", M)
    n = len(M)
    q = dense.vector("q", q, n)
    most = dense.limit(max_pivots, 50 * n + 100)
    if covering is not None:
        covering = dense.vector("covering", covering, n)
        if not np.all(covering > 0.0):
            raise SceneError(f"covering[{np.argmin(covering)}] is {covering.min():g}; all must be positive")
    if n == 0 or np.all(q >= 0.0):
        return np.zeros(n), "solved", 0
    scale = _scale(M)
    size = np.abs(scale * q).max()                         # z = scale z' size, w = w' size / scale
    scaled = np.ascontiguousarray(M * scale[:, None] * scale), scale * q / size
    z, status, pivots = _attempts(*scaled, None if covering is None else scale * covering, most)
    return z * scale * size, status, pivots


def _scale(M):
    """(n,) powers of two that bring the largest entries of rows and columns of scale M scale near one (D. Ruiz, "A
    scaling algorithm to equilibrate both rows and columns norms in matrices", 2001)."""
    scale = np.ones(len(M))
    largest = np.maximum(np.abs(M), np.abs(M.T))
    for _ in range(8):
        most = (largest * scale[:, None] * scale).max(axis=1)
        scale /= np.sqrt(np.where(most > 0.0, most, 1.0))
    return np.exp2(np.round(np.log2(scale)))


def _attempts(M, q, covering, most):
    """(z, status, pivots) of a scaled problem: the first path that ends well, else the best of them."""
    n, made, status = len(q), 0, "ray"
    best, best_error = np.zeros(n), np.inf
    for attempt in range(ATTEMPTS if covering is None else 1):
        direction = covering
        if covering is None:
            direction = np.ones(n) if attempt == 0 else 0.5 + np.mod((np.arange(n) + 1.0) * attempt * GOLDEN, 1.0)
        z, basic, code, pivots = lemke(M, q, direction, most - made)
        made += pivots
        if code == 0:
            z, error = _sharpened(M, q, z, basic)
            if error < best_error:
                best, best_error = z, error
            if best_error <= GOOD:
                break
        elif best_error == np.inf:
            best = z
        if code == 2:
            status = "limit"
            break
    if best_error <= INACCURATE:
        return best, "solved", made
    return best, "inaccurate" if best_error < np.inf else status, made


def _sharpened(M, q, z, basic):
    """(z, error): the basis solved anew, since pivots gather rounding; as it came if that is no better."""
    error = _error(M, q, z)
    rows = np.flatnonzero(basic)
    again = np.zeros(len(z))
    try:
        block = M[np.ix_(rows, rows)]
        again[rows] = np.linalg.solve(block, -q[rows])
        again[rows] -= np.linalg.solve(block, (M @ again + q)[rows])
    except np.linalg.LinAlgError:
        return z, error
    again = np.maximum(again, 0.0)
    sharp = _error(M, q, again)
    return (again, sharp) if sharp <= error else (z, error)


def _error(M, q, z):
    return np.abs(np.minimum(z, M @ z + q)).max() / max(1.0, np.abs(z).max())


# ---- the friction pyramid ----------------------------------------------------------------------------------------

class PyramidLCP(NamedTuple):
    """Contact with friction as w = M z + q, and the way back: impulses = map z + offset, rows as in A.

    z: normal impulses, tangential impulses along single directions, impulses of bounded rows from their bounds, then the
    slacks: speeds that friction could not stop, and what upper bounds take up. M is copositive. contradiction: the
    largest speed [m/s] by which rows without bounds contradict each other; 0: none do.
    """

    M: np.ndarray
    q: np.ndarray
    map: np.ndarray
    offset: np.ndarray
    contradiction: float


def friction_pyramid_lcp(A, b, friction, lower=None, upper=None, directions=None):
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
    A = dense.semidefinite("A", A)
    b = dense.vector("b", b, len(A))
    friction = dense.coefficients(friction)
    nc, others = len(friction), len(A) - 3 * len(friction)
    if others < 0:
        raise SceneError(f"A has {len(A)} rows, {nc} friction coefficients ask for {3 * nc}: rows come in threes [n, t1, t2]")
    lower, upper = dense.bounds(lower, upper, others, f"A with {len(A)} rows, {3 * nc} of them contacts,")
    sides = _directions(directions)

    free = 3 * nc + np.flatnonzero(np.isinf(lower) & np.isinf(upper))
    kept = np.setdiff1d(np.arange(len(A)), free)
    inner, push, held, contradiction = _eliminated(A, b, kept, free)

    to_kept, loads, coupling, ceiling, room = _variables(friction, lower, upper, sides, len(A), kept)
    n, slacks = coupling.shape
    M = np.zeros((n + slacks, n + slacks))
    M[:n, :n] = to_kept.T @ inner @ to_kept
    M[:n, n:] = coupling
    M[n:, :n] = ceiling
    q = np.concatenate([to_kept.T @ (inner @ loads + b[kept] + A[np.ix_(kept, free)] @ held), room])
    back, offset = np.zeros((len(A), n + slacks)), np.zeros(len(A))
    back[kept, :n], offset[kept] = to_kept, loads
    back[free, :n], offset[free] = push @ to_kept, push @ loads + held
    return PyramidLCP(M, q, back, offset, contradiction)


def pyramid(A, b, friction, lower=None, upper=None, directions=None, max_pivots=None):
    """Solve contact with a friction pyramid; arguments as in `friction_pyramid_lcp`.

    -> (impulses (m,) [N s], status, pivots); status as in `lcp`, or "contradictory": rows without bounds contradict each
    other by more than 1e-9 of |b|, the impulses satisfy the rest.
    """
    problem = friction_pyramid_lcp(A, b, friction, lower, upper, directions)
    z, status, pivots = lcp(problem.M, problem.q, max_pivots)
    if status == "solved" and problem.contradiction > 1e-9 * np.abs(b).max(initial=0.0):
        status = "contradictory"
    return problem.map @ z + problem.offset, status, pivots


def _directions(directions):
    """None, or (2, k) unit vectors."""
    if directions is None:
        return None
    if isinstance(directions, bool) or not isinstance(directions, (int, np.integer)) or directions < 4 or directions % 2:
        raise SceneError(f"directions is {directions!r}; give an even number from 4, or None for two frictions apart")
    angles = 2.0 * np.pi * np.arange(directions) / directions
    return np.array([np.cos(angles), np.sin(angles)])


def _eliminated(A, b, kept, free):
    """What is left of A without its free rows: (inner, push, held, contradiction).

    lam_free = push lam_kept + held; u_kept = inner lam_kept + b_kept + A_kept,free held.
    """
    if len(free) == 0:
        return A[np.ix_(kept, kept)], np.zeros((0, len(kept))), np.zeros(0), 0.0
    block = A[np.ix_(free, free)]
    diagonal = np.diagonal(block)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(block * scale[:, None] * scale)
    there = values > SINGULAR * max(1.0, values[-1])
    basis = vectors[:, there]
    inverse = scale[:, None] * ((basis / values[there]) @ basis.T) * scale
    across = A[np.ix_(free, kept)]
    push = -inverse @ across
    inner = A[np.ix_(kept, kept)] + across.T @ push
    missing = vectors[:, ~there] @ (vectors[:, ~there].T @ (scale * b[free])) / scale
    contradiction = float(np.abs(missing).max())
    return 0.5 * (inner + inner.T), push, -inverse @ b[free], contradiction


def _variables(friction, lower, upper, sides, count, kept):
    """(to_kept, loads, coupling, ceiling, room) of the variables without slacks (x) and the slacks (s).

    lam_kept = to_kept x + loads;  w_x = to_kept' u_kept + coupling s;  w_s = ceiling x + room.
    """
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    columns, loads, slacks = [], np.zeros(len(kept)), []   # columns: {row: weight}; slacks: {x: coupling}, {x: ceiling}, room

    def variable(weights):
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
    ceiling = np.zeros((len(slacks), len(columns)))
    for x, weights in enumerate(columns):
        for row, weight in weights.items():
            to_kept[row, x] = weight
    for s, (coupled, capped, _) in enumerate(slacks):
        coupling[list(coupled), s] = list(coupled.values())
        ceiling[s, list(capped)] = list(capped.values())
    return to_kept, loads, coupling, ceiling, np.array([slack[2] for slack in slacks])
