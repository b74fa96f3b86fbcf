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

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems.contact_dynamics import MOST_ENUMERATED, by_lcp, complementary_solutions, finite, meets
from mcsim.solve.problems.lemke import lcp

SWEEPS = 400
NEWTON_STEPS = 30
SETTLED = 1e-13             # natural map over the largest impulse at which an answer is exact
GOOD_ENOUGH = 1e-8          # ... and at which it is still one
MINOR = 1e-9                # a principal minor below minus this part of its rows' product is negative
_STATUS = {"solved": "solved", "unsolvable": "none", "limit": "limit"}
INFINITE = 1e8              # a friction coefficient above is held to be infinite: no slip


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

def slip_columns(friction, slip) -> np.ndarray:
    """(3c, c): the forces of each slipping contact for a unit of its normal force. friction (c,); slip (c, 2): unit
    directions of slip, zero where friction does not act."""
    friction, slip = np.asarray(friction, float), np.asarray(slip, float).reshape(-1, 2)
    columns = np.zeros((3 * len(friction), len(friction)))
    for i, mu in enumerate(friction):
        columns[3 * i:3 * i + 3, i] = 1.0, *(-mu * slip[i] if np.any(slip[i]) else (0.0, 0.0))
    return columns


def negative_minor(matrix, most: int = 6) -> tuple[int, ...] | None:
    """The first principal minor below zero, as the numbers of its rows; None if there is none among those of at most
    `most` rows."""
    matrix = np.asarray(matrix, float)
    size = np.linalg.norm(matrix, axis=1)
    for count in range(1, min(len(matrix), most) + 1):
        for chosen in combinations(range(len(matrix)), count):
            own = list(chosen)
            if np.linalg.det(matrix[np.ix_(own, own)]) < -MINOR * np.prod(size[own]):
                return chosen
    return None


def slipping(A, b, friction, slip) -> FrictionForces:
    """Forces of contacts that all slip: A (3c, 3c), b (3c,), friction (c,), slip (c, 2)."""
    A, b = finite(A=A, b=b)
    columns = slip_columns(friction, slip)
    M, d = (A @ columns)[::3], b[::3]
    suspect = negative_minor(M) if np.any(friction) else None
    if suspect is not None and len(d) <= MOST_ENUMERATED:
        found = complementary_solutions(M, d)
        if not found:
            return FrictionForces("none", np.zeros(len(b)), b.copy())
        least = min(found, key=np.sum)
        return _of_normals(A, b, columns, least, "several" if len(found) > 1 else "solved")
    normals, status, _ = lcp(M, d)
    if status != "solved" or not meets(M, d, normals):
        none = suspect is not None or status != "limit"
        return FrictionForces("none" if none else "limit", np.zeros(len(b)), b.copy())
    return _of_normals(A, b, columns, normals, "solved")


def _of_normals(A, b, columns, normals, status):
    impulses = columns @ normals
    return FrictionForces(status, impulses, A @ impulses + b)


# ---- the cone --------------------------------------------------------------------------------------------------------

def cone(A, b, friction, load=None) -> FrictionForces:
    """The exact cone problem, A (3c, 3c) positive semidefinite, b (3c,), friction (c,), infinity allowed.

    load (c,): normal impulses that act besides, already in b, and bear friction: |lambda_t| <= mu (lambda_n + load).
    """
    A, b = finite(A=A, b=b)
    friction = np.asarray(friction, float)
    if not np.all(friction >= 0.0):
        raise SceneError("friction must not be negative")
    load = np.zeros(len(friction)) if load is None else np.asarray(load, float)
    if not np.any(friction):
        answer = by_lcp(A[::3, ::3], b[::3])
        impulses = np.zeros(len(b))
        impulses[::3] = answer.forces
        return FrictionForces(_STATUS[answer.status], impulses, A @ impulses + b)
    parts = _apart(A)
    if parts is not None:
        return _joined(A, b, [(rows, cone(A[np.ix_(rows, rows)], b[rows], friction[own], load[own]))
                              for rows in parts for own in [rows[::3] // 3]])
    problem = _Cone(A, b, friction, load)
    best, worst = np.zeros(len(b)), np.inf
    for sweeps in (0, 2, SWEEPS // 8, SWEEPS, 10 * SWEEPS):
        impulses = problem.sweep(best, sweeps) if sweeps else problem.sticking()
        for refine in (False, True):
            candidate = problem.newton(impulses) if refine else impulses
            residual = problem.residual(candidate)
            if residual < worst:
                best, worst = candidate, residual
            if worst <= SETTLED * np.max(np.abs(best)):
                break
        best[::3] = np.maximum(best[::3], 0.0)
        size = max(np.max(np.abs(best)), 1e-300)
        if worst <= SETTLED * size * 100:
            break
    status = "solved" if worst <= GOOD_ENOUGH * size else "none" if np.any(friction > INFINITE) else "limit"
    return FrictionForces(status, best, A @ best + b, float(worst))


def _apart(A):
    """Rows of the contacts that do not touch each other, not even through others: a list of arrays; None if there is
    one group alone."""
    count = len(A) // 3
    meets = np.any(A.reshape(count, 3, count, 3) != 0.0, axis=(1, 3))
    group = np.arange(count)
    for i in range(count):
        met = np.unique(group[meets[i]])
        if len(met):
            group[np.isin(group, met)] = min(met[0], group[i])
    names = np.unique(group)
    return None if len(names) <= 1 else [
        (3 * np.flatnonzero(group == name)[:, None] + np.arange(3)).ravel() for name in names]


def _joined(A, b, answers):
    impulses, statuses = np.zeros(len(b)), [answer.status for _, answer in answers]
    for rows, answer in answers:
        impulses[rows] = answer.impulses
    status = next((name for name in ("limit", "none") if name in statuses), "solved")
    return FrictionForces(status, impulses, A @ impulses + b, max(answer.residual for _, answer in answers))


class _Cone:
    """One cone problem, with a step size for each contact: 1 / the largest eigenvalue of its block."""

    def __init__(self, A, b, friction, load):
        self.A, self.b, self.friction, self.load = A, b, friction, load
        self.count = len(friction)
        blocks = [A[3 * i:3 * i + 3, 3 * i:3 * i + 3] for i in range(self.count)]
        self.rate = np.array([1.0 / max(np.linalg.eigvalsh(block)[-1], 1e-300) for block in blocks])

    def projected(self, i, trial):
        """The impulse of contact i from a trial (3,): a normal that does not pull, a tangent within its disc."""
        normal = max(trial[0], 0.0)
        tangent = trial[1:]
        mu = self.friction[i]
        length = np.hypot(*tangent)
        bound = np.inf if mu > INFINITE and normal + self.load[i] > 0.0 else min(mu, INFINITE) * (normal + self.load[i])
        if length > bound:
            tangent = tangent * (bound / length)
        return np.array([normal, *tangent])

    def sticking(self):
        """The least impulses that stop all contacts: the answer where nothing opens or slips."""
        return np.linalg.lstsq(self.A, -self.b, rcond=1e-12)[0]

    def sweep(self, impulses, sweeps):
        """Projected Gauss–Seidel over the contacts."""
        impulses = impulses.copy()
        for _ in range(sweeps):
            change = 0.0
            for i in range(self.count):
                own = slice(3 * i, 3 * i + 3)
                u = self.A[own] @ impulses + self.b[own]
                new = self.projected(i, impulses[own] - self.rate[i] * u)
                change = max(change, np.max(np.abs(new - impulses[own])))
                impulses[own] = new
            if change <= SETTLED * np.max(np.abs(impulses)):
                break
        return impulses

    def residual(self, impulses):
        """Natural map: how far a projected step would move any impulse."""
        u = self.A @ impulses + self.b
        worst = 0.0
        for i in range(self.count):
            own = slice(3 * i, 3 * i + 3)
            new = self.projected(i, impulses[own] - self.rate[i] * u[own])
            worst = max(worst, np.max(np.abs(new - impulses[own])))
        return worst

    def newton(self, impulses):
        """Semismooth Newton on lambda = P(lambda - r u), from impulses that are near."""
        x, best, worst = impulses.copy(), impulses, self.residual(impulses)
        for _ in range(NEWTON_STEPS):
            F, J = self.equations(x)
            x = x - np.linalg.lstsq(J, F, rcond=1e-12)[0]
            residual = self.residual(x)
            if not np.isfinite(residual) or residual > 1e6 * max(worst, 1e-300):
                break
            if residual < worst:
                best, worst = x, residual
            if residual <= SETTLED * np.max(np.abs(x)):
                break
        return best

    def equations(self, x):
        """F (3c,) and its derivative (3c, 3c), divided by the step sizes where a row of u stands alone."""
        u = self.A @ x + self.b
        F, J = x.copy(), np.eye(len(x))
        for i in range(self.count):
            n, own, r, mu = 3 * i, slice(3 * i, 3 * i + 3), self.rate[i], self.friction[i]
            trial = x[own] - r * u[own]
            if trial[0] <= 0.0 and self.load[i] <= 0.0:
                continue                                     # open: lambda = 0
            if trial[0] > 0.0:
                F[n], J[n] = r * u[n], r * self.A[n]
            normal = x[n] + self.load[i]
            length = np.hypot(trial[1], trial[2])
            if mu > INFINITE or length <= mu * normal:       # sticks
                F[n + 1:n + 3], J[n + 1:n + 3] = r * u[n + 1:n + 3], r * self.A[n + 1:n + 3]
                continue
            along = trial[1:] / length
            turn = (np.eye(2) - np.outer(along, along)) * (mu * normal / length)
            F[n + 1:n + 3] = x[n + 1:n + 3] - mu * normal * along
            J[n + 1:n + 3] += r * turn @ self.A[n + 1:n + 3]
            J[n + 1:n + 3, n + 1:n + 3] -= turn
            J[n + 1:n + 3, n] -= mu * along
        return F, J
