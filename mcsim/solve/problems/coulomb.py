"""Contacts with Coulomb's friction, dense and small: rows in threes [normal, tangent, tangent].

    u = A lambda + b,    lambda in the cone |lambda_t| <= mu lambda_n,    u_n >= 0,    lambda_n u_n = 0
    lambda_t = -mu lambda_n u_t / |u_t|  where u_t is not zero

The same problem is met twice. With velocities u and impulses lambda it is an impact, or a step. With accelerations and
forces it is what contacts at rest do next: stay, slip, or open.

**Contacts that slip** already have lambda_t = -mu lambda_n s, s their direction of slip. What is left is an LCP in the
normal forces, but its matrix is not symmetric, and with large friction it may have no solution or several: P. Painlevé,
"Sur les lois du frottement de glissement", 1895. If all principal minors of a matrix are positive its LCP has exactly
one solution for every b (R. Cottle, J.-S. Pang, R. Stone, "The Linear Complementarity Problem", 1992, theorem 3.3.7),
so a negative one is the mark of such a configuration, and then the solutions are counted.

**The cone** is solved by projected sweeps, which find out what opens, sticks and slips, then by Newton's method on the
equations of Alart and Curnier ("A mixed formulation for frictional contact problems prone to Newton like solution
methods", 1991) to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import determinant, eigenvalues, least, lengths, product
from mcsim.solve.problems._cone import Problem, groups
from mcsim.solve.problems.contact_dynamics import MOST_ENUMERATED, by_lcp, complementary_solutions, finite, meets
from mcsim.solve.problems.lemke import lcp

NEWTON_STEPS = 30
PROXIMAL, PROXIMAL_STEPS = 1e-4, 60
SETTLED = 1e-13  # natural map over the largest impulse at which an answer is exact
GOOD_ENOUGH = 1e-8  # ... and at which it is still one
NEARLY = 1e-11  # ... and at which it is as good as that
SWEEPS = ((2, NEARLY), (50, NEARLY), (400, 1e-10), (4000, GOOD_ENOUGH))  # before Newton's method is tried again
MINOR = 1e-9  # a principal minor below minus this part of its rows' product is negative
_STATUS = {"solved": "solved", "unsolvable": "none", "limit": "limit"}
INFINITE = 1e8  # a friction coefficient above is held to be infinite: no slip


@dataclass(frozen=True, eq=False)
class FrictionForces:
    """Answer of a problem with friction.

    status: "solved"; "none" and "several": Painlevé's configurations, no solution or more than one (then that of the
    least forces is given), "none" without friction a slot that grows too narrow, with an infinite one contacts that
    could stick only by pulling; "limit": not found within the bounds
    on sweeps and steps, the best that was found is given. impulses (3c,) lambda; velocities (3c,) u = A lambda + b;
    residual: natural map [of the impulses' unit].
    """

    status: str
    impulses: np.ndarray
    velocities: np.ndarray
    residual: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether impulses are an answer, if not the only one."""
        return self.status in ("solved", "several")


# ---- slipping contacts -----------------------------------------------------------------------------------------------


def slip_columns(friction: ArrayLike, slip: ArrayLike) -> np.ndarray:
    """(3c, c): the forces of each slipping contact for a unit of its normal force. friction (c,); slip (c, 2): unit
    directions of slip, zero where friction does not act."""
    friction, slip = np.asarray(friction, float), np.asarray(slip, float).reshape(-1, 2)
    columns = np.zeros((3 * len(friction), len(friction)))
    for i, mu in enumerate(friction):
        columns[3 * i : 3 * i + 3, i] = 1.0, *(-mu * slip[i] if np.any(slip[i]) else (0.0, 0.0))
    return columns


def negative_minor(matrix: ArrayLike, most: int = 6) -> tuple[int, ...] | None:
    """The first principal minor below zero, as the numbers of its rows; None if there is none among those of at most
    `most` rows."""
    matrix = np.asarray(matrix, float)
    size = lengths(matrix)
    for count in range(1, min(len(matrix), most) + 1):
        sets = np.array(list(combinations(range(len(matrix)), count)))
        minors = determinant(matrix[sets[:, :, None], sets[:, None, :]])
        negative = np.flatnonzero(minors < -MINOR * np.prod(size[sets], axis=1))
        if len(negative):
            return tuple(sets[negative[0]].tolist())
    return None


def slipping(A: ArrayLike, b: ArrayLike, friction: ArrayLike, slip: ArrayLike) -> FrictionForces:
    """Forces of contacts that all slip: A (3c, 3c), b (3c,), friction (c,), slip (c, 2)."""
    A, b = finite(A=A, b=b)
    columns = slip_columns(friction, slip)
    M, d = product(A, columns)[::3], b[::3]
    suspect = None if _plain(M) else negative_minor(M, 6 if len(d) <= MOST_ENUMERATED else 2)
    if suspect is not None and len(d) <= MOST_ENUMERATED:
        found = complementary_solutions(M, d)
        if not found:
            return FrictionForces("none", np.zeros(len(b)), b.copy())
        return _of_normals(A, b, columns, min(found, key=np.sum), "several" if len(found) > 1 else "solved")
    normals = least(M, -d)[0]  # where all stay closed
    if suspect is None and np.all(normals >= 0.0) and meets(M, d, normals):
        return _of_normals(A, b, columns, normals, "solved")
    normals, status, _ = lcp(M, d)
    if status != "solved" or not meets(M, d, normals):
        answer = cone(A, b, friction, slip=slip)  # Lemke's path may end where there is a solution
        if answer.solved:
            return answer
        none = suspect is not None or status != "limit"
        return FrictionForces("none" if none else "limit", np.zeros(len(b)), b.copy())
    return _of_normals(A, b, columns, normals, "solved")


def _plain(matrix: np.ndarray) -> bool:
    """Whether the symmetric part is positive semidefinite: then no principal minor is negative."""
    values = eigenvalues(matrix + matrix.T)
    return len(values) == 0 or values[0] >= -1e-12 * values[-1]


def _of_normals(A: np.ndarray, b: np.ndarray, columns: np.ndarray, normals: np.ndarray, status: str) -> FrictionForces:
    impulses = product(columns, normals)
    return FrictionForces(status, impulses, product(A, impulses) + b)


# ---- the cone --------------------------------------------------------------------------------------------------------


def cone(
    A: ArrayLike, b: ArrayLike, friction: ArrayLike, load: ArrayLike | None = None, slip: ArrayLike | None = None
) -> FrictionForces:
    """The exact cone problem, A (3c, 3c) positive semidefinite, b (3c,), friction (c,), infinity allowed.

    load (c,): normal impulses that act besides, already in b, and bear friction: |lambda_t| <= mu (lambda_n + load).
    slip (c, 2): unit directions of the contacts that slip already, whose lambda_t = -mu (lambda_n + load) s; zero of
    the others.
    """
    A, b = finite(A=A, b=b)
    friction = np.asarray(friction, float)
    if not np.all(friction >= 0.0):
        raise SceneError("friction must not be negative")
    count = len(friction)
    load = np.zeros(count) if load is None else np.asarray(load, float)
    slip = np.zeros((count, 2)) if slip is None else np.asarray(slip, float).reshape(-1, 2)
    if not np.any(friction):
        answer = by_lcp(A[::3, ::3], b[::3])
        impulses = np.zeros(len(b))
        impulses[::3] = answer.forces
        return FrictionForces(_STATUS[answer.status], impulses, product(A, impulses) + b)
    parts = apart(A)
    if len(parts) > 1:
        return joined(
            A, b, [(own, cone(A[np.ix_(rows, rows)], b[rows], friction[own], load[own], slip[own])) for own, rows in parts]
        )
    problem = _Cone(A, b, friction, load, slip)
    best, worst = np.zeros(len(b)), np.inf
    for impulses, enough in problem.attempts(lambda: best):
        residual = problem.residual(impulses)
        if residual < worst:
            best, worst = impulses.copy(), residual
            best[::3] = np.maximum(best[::3], 0.0)
        size = max(np.max(np.abs(best)), 1e-300)
        if worst <= enough * size:
            break
    status = "solved" if worst <= GOOD_ENOUGH * size else "none" if np.any(friction > INFINITE) else "limit"
    return FrictionForces(status, best, product(A, best) + b, float(worst))


def apart(A: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The groups of contacts that touch each other, if only through others, as A (3c, 3c) has them: of each its
    contacts and their rows."""
    group = groups(np.ascontiguousarray(A))
    parts = [np.flatnonzero(group == name) for name in np.unique(group)]
    return [(own, (3 * own[:, None] + np.arange(3)).ravel()) for own in parts]


def joined(A: np.ndarray, b: np.ndarray, answers: Sequence[tuple[np.ndarray, FrictionForces]]) -> FrictionForces:
    """One answer of those of groups: (contacts, FrictionForces) each."""
    impulses, statuses = np.zeros(len(b)), [answer.status for _, answer in answers]
    for own, answer in answers:
        impulses.reshape(-1, 3)[own] = answer.impulses.reshape(-1, 3)
    status = next((name for name in ("limit", "none", "several") if name in statuses), "solved")
    return FrictionForces(
        status, impulses, product(A, impulses) + b, max((answer.residual for _, answer in answers), default=0.0)
    )


class _Cone:
    """One cone problem, with a step size for each contact: 1 / the largest eigenvalue of its block."""

    def __init__(self, A: np.ndarray, b: np.ndarray, friction: np.ndarray, load: np.ndarray, slip: np.ndarray) -> None:
        self.A, self.b, self.friction, self.load = np.ascontiguousarray(A), b, friction, load
        self.slip, self.slips = np.ascontiguousarray(slip), np.any(slip, axis=1)
        count = len(friction)
        i = np.arange(count)
        largest = eigenvalues(A.reshape(count, 3, count, 3)[i, :, i])[:, -1]
        self.kernel = Problem(
            self.A,
            np.ascontiguousarray(b),
            np.ascontiguousarray(friction),
            np.ascontiguousarray(load),
            self.slips.astype(np.uint8),
            self.slip,
            1.0 / np.maximum(largest, 1e-300),
        )
        self.residual = self.kernel.residual

    def attempts(self, best: Callable[[], np.ndarray]) -> Iterator[tuple[np.ndarray, float]]:
        """(impulses, at what residual over their size to end): ever dearer, and ever sooner content; best(): the best
        until now."""
        start = self.closed()
        yield start, SETTLED
        yield self.newton(start), NEARLY
        for sweeps, enough in SWEEPS:
            start = self.sweep(best(), sweeps)
            yield start, enough
            yield self.newton(start), enough
        for impulses in self.proximal(best()):
            yield impulses, GOOD_ENOUGH

    def proximal(self, impulses: np.ndarray) -> Iterator[np.ndarray]:
        """The same problem with a little of the diagonal added, round after round about the last answer: nothing is
        singular (R. T. Rockafellar, "Monotone operators and the proximal point algorithm", 1976)."""
        more = PROXIMAL * np.repeat(np.max(np.diag(self.A).reshape(-1, 3), axis=1), 3)
        for _ in range(PROXIMAL_STEPS):
            near = _Cone(self.A + np.diag(more), self.b - more * impulses, self.friction, self.load, self.slip)
            impulses = near.newton(impulses)
            yield impulses

    def closed(self) -> np.ndarray:
        """The least impulses that stop all contacts, but the slips that are given: the answer where nothing opens or
        slips besides."""
        if not np.any(self.slips):
            return least(self.A, -self.b, 1e-12)[0]
        columns, given = np.eye(len(self.b)), np.zeros((len(self.friction), 3))
        for i in np.flatnonzero(self.slips):
            columns[3 * i + 1 : 3 * i + 3, 3 * i] = -self.friction[i] * self.slip[i]
            given[i, 1:] = -self.friction[i] * self.load[i] * self.slip[i]
        own = np.flatnonzero(np.repeat(~self.slips, 3) | (np.arange(len(self.b)) % 3 == 0))
        columns, along = columns[:, own], given.ravel()
        return along + product(
            columns, least(product(self.A[own], columns), -(self.b + product(self.A, along))[own], 1e-12)[0]
        )

    def sweep(self, impulses: np.ndarray, sweeps: int) -> np.ndarray:
        """Projected Gauss-Seidel over the contacts."""
        impulses = impulses.copy()
        self.kernel.sweep(impulses, sweeps, SETTLED)
        return impulses

    def newton(self, impulses: np.ndarray) -> np.ndarray:
        """Semismooth Newton on lambda = P(lambda - r u), from impulses that are near."""
        size = len(impulses)
        F, J, live = np.empty(size), np.empty((size, size)), np.empty(size, np.uint8)
        x, best, worst = impulses.copy(), impulses, self.residual(impulses)
        for _ in range(NEWTON_STEPS):
            self.kernel.equations(x, F, J, live)
            on = np.flatnonzero(live)
            step = F.copy()  # of the others: to zero
            off = np.flatnonzero(live == 0)
            step[on] = least(J[np.ix_(on, on)], F[on] - product(J[np.ix_(on, off)], F[off]), 1e-12)[0]
            x = x - step
            residual = self.residual(x)
            if not np.isfinite(residual) or residual > 1e6 * max(worst, 1e-300):
                break
            if residual < worst:
                best, worst = x, residual
            if residual <= SETTLED * np.max(np.abs(x)):
                break
        return best
