"""Contact forces from accelerations: a system of bodies with contacts that are closed and at rest normal to their
surfaces.

    H a = f + T lambda,    zeta' = T' a + T'' q' = M lambda + d        M = T' H^-1 T,  d = T' H^-1 f + drift
    lambda >= 0,  zeta' >= 0,  lambda . zeta' = 0

a are the accelerations (of one body, of all bodies, or of joint variables), f all forces but those of the contacts less
the velocity terms, zeta' the accelerations of separation, lambda the contact forces: equation (11.20) of one body,
(11.34) of a jointed system. Three ways to solve it: as a linear complementarity problem, and as the two quadratic
programs (11.43) and (11.44), over the forces and over the accelerations:

    min lambda' M lambda / 2 + d' lambda,  lambda >= 0
    min (a - H^-1 f)' H (a - H^-1 f) / 2,  T' a + drift >= 0

M is positive semidefinite, so all three have the same T lambda, a and zeta', each of them unique, though lambda itself
need not be: a table with four legs. There is no solution at all if and only if some y >= 0 has T y = 0 and d . y < 0:
contact forces that cancel each other, over gaps that must shrink whatever happens. Then a slot holds a body that moves
in it faster than its width allows (11.3). That y is what an answer reports.

Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 11; the second program by way of a
least-distance problem: C. Lawson and R. Hanson, "Solving Least Squares Problems", 1974, chapter 23.
Dense NumPy for tens of contacts: this is for studies and for the event-driven simulation, not for stacks in real time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import determinant, eigen, product, solve
from mcsim.solve.problems.lemke import lcp

ROUNDING = 1e-10  # part of the largest term below which a sum counts as zero
RANK = 1e-10  # part of the largest singular value below which one counts as zero
MOST_ENUMERATED = 10  # unknowns up to which all 2^n sets of closed contacts are tried
HUGE = 1e9  # forces whose terms are larger than d by more than this are none: they cancel each other
ROUNDS = 60  # of the active-set method, per unknown


@dataclass(frozen=True, eq=False)
class Answer:
    """What a contact problem has for an answer; mcsim/contacts/forces.py says more of it.

    status: "solved", "unsolvable" (no forces keep the bodies apart), or "limit" (a bound on rounds was hit).
    forces (k,): lambda [N]; accelerations (k,): zeta' of separation [m/s²]. Both are zero where not solved.
    ray (k,): where unsolvable, y >= 0 with T y = 0 and d . y < 0.
    """

    status: str
    forces: np.ndarray
    accelerations: np.ndarray
    ray: np.ndarray | None = None

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return self.status == "solved"


def finite(**arrays: ArrayLike) -> list[np.ndarray]:
    """Arrays of finite numbers, from whatever a caller gives under these names; SceneError names what is wrong."""
    found = []
    for name, value in arrays.items():
        try:
            array = np.asarray(value, float)
        except (OverflowError, TypeError, ValueError):
            raise SceneError(f"{name} must be an array of numbers") from None
        if not np.isfinite(array).all():
            raise SceneError(f"{name} has values that are not finite")
        found.append(array)
    return found


def shaped(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> np.ndarray:
    """The finite array of this shape, None for any number; SceneError names what is wrong."""
    array = finite(**{name: values})[0]
    if array.ndim != len(shape) or any(asked not in (None, had) for asked, had in zip(shape, array.shape)):
        asked = ", ".join("any" if n is None else str(n) for n in shape)
        raise SceneError(f"{name} has the shape {array.shape}; give ({asked})")
    return array


# ---- the system ------------------------------------------------------------------------------------------------------


class Inertia:
    """H, with bilateral constraints K a = k of joints if there are any: how accelerations answer to forces.

    x = L' a with H = L L' makes the kinetic energy |x|²/2, so that constraints are orthogonal projections. Redundant
    rows of K are allowed.
    """

    def __init__(self, H: ArrayLike, K: ArrayLike | None = None, tolerance: float = RANK):
        try:
            self.factor = np.linalg.cholesky(np.asarray(H, float))
        except np.linalg.LinAlgError:
            raise SceneError("H is not positive definite; give the inertia of what moves, symmetric, alone") from None
        self.inverse = np.linalg.inv(self.factor)  # L^-1
        self.K = np.zeros((0, len(self.factor))) if K is None else np.asarray(K, float)
        if len(self.K):
            u, s, vt = np.linalg.svd(self.K @ self.inverse.T, full_matrices=False)
            rank = int(np.sum(s > tolerance * s[0])) if s[0] > 0.0 else 0
            self._u, self._s, self.held = u[:, :rank], s[:rank], vt[:rank]
        else:
            self.held = np.zeros((0, len(self.factor)))

    def answer(self, force: np.ndarray) -> np.ndarray:
        """The accelerations that forces (n,) or (n, m) give, the constraints kept: K of them is zero."""
        x = self.inverse @ force
        return self.inverse.T @ (x - self.held.T @ (self.held @ x))

    def forced(self, k: np.ndarray) -> np.ndarray:
        """The accelerations (n,) that K a = k asks for without any force but its own."""
        if not len(self.held):
            return np.zeros(len(self.factor))
        return self.inverse.T @ (self.held.T @ ((self._u.T @ k) / self._s))

    def multipliers(self, rest: np.ndarray) -> np.ndarray:
        """The least constraint forces mu (r,) with K' mu = rest (n,), which K' can give."""
        if not len(self.held):
            return np.zeros(len(self.K))
        return self._u @ ((self.held @ (self.inverse @ rest)) / self._s)


class ContactEquations(NamedTuple):
    """M (k, k) and d (k,) of zeta' = M lambda + d; free (n,): the accelerations without contact forces; pushes (n, k):
    what a unit of each contact force adds to them."""

    M: np.ndarray
    d: np.ndarray
    free: np.ndarray
    pushes: np.ndarray


def contact_equations(
    H: ArrayLike, force: ArrayLike, T: ArrayLike, drift: ArrayLike, K: ArrayLike | None = None, k: ArrayLike | None = None
) -> ContactEquations:
    """M and d of (11.20) and (11.34). H (n, n); force (n,): f; T (n, contacts), drift (contacts,) = T'' q'; K (r, n), k
    (r,): joints as K a = k, none if not given."""
    H, force, T, drift = finite(H=H, force=force, T=T, drift=drift)
    inertia = Inertia(H, K)
    free = inertia.answer(force)
    if K is not None:
        free = free + inertia.forced(np.asarray(k, float))
    pushes = inertia.answer(T)
    M = T.T @ pushes
    return ContactEquations(0.5 * (M + M.T), T.T @ free + drift, free, pushes)


# ---- three ways to solve it ------------------------------------------------------------------------------------------


def by_lcp(M: ArrayLike, d: ArrayLike) -> Answer:
    """The complementarity problem of M (k, k), positive semidefinite, and d (k,), by Lemke's method."""
    M, d = finite(M=M, d=d)
    forces, status, _ = lcp(M, d)
    if status == "solved" and meets(M, d, forces):
        return _answer(M, d, forces)
    return by_force_qp(M, d)  # which has a ray where there is no solution


def meets(M: np.ndarray, d: np.ndarray, z: np.ndarray) -> bool:
    """Whether z solves the complementarity problem, its residual measured by d, and not by what huge forces that cancel
    each other add up to."""
    w, size = product(M, z) + d, np.max(np.abs(d), initial=0.0)
    terms = np.max(product(np.abs(M), np.abs(z)), initial=0.0)
    allowed = 1e-8 * size + 1e-13 * terms
    worst = np.max(np.where(z > 0.0, np.abs(w), -w), initial=0.0)
    return bool(terms <= HUGE * size and worst <= allowed)


def by_force_qp(M: ArrayLike, d: ArrayLike) -> Answer:
    """The quadratic program over the forces, by an active set.

    Forces that are free (the set) go to where their gradient M lambda + d vanishes, or as far as the first of them
    reaches zero, which then is held there. Where M of the set has no solution, the way leads down along y with M y = 0,
    d . y < 0: if no force stops that, the program has no bound and the contacts no solution.
    """
    M, d = finite(M=M, d=d)
    size = len(d)
    forces, free = np.zeros(size), np.zeros(size, bool)
    scale = max(np.max(np.abs(d), initial=0.0), 1e-300)
    for _ in range(ROUNDS * (size + 1)):
        gradient = product(M, forces) + d
        wanted = np.where(free, 0.0, -gradient)
        if not free.any() or np.max(np.abs(gradient[free])) <= ROUNDING * scale:
            if np.max(wanted, initial=0.0) <= ROUNDING * scale:
                return _answer(M, d, forces)
            free[np.argmax(wanted)] = True
        step, endless = _free_step(M, d, forces, free)
        falling = free & (step < -1e-14 * np.max(np.abs(step)))
        if endless and not falling.any():
            return Answer("unsolvable", np.zeros(size), np.zeros(size), step / np.max(step))
        reach = np.where(falling, forces / np.where(falling, -step, 1.0), np.inf)
        length = np.min(reach) if endless else min(1.0, np.min(reach))
        forces = np.maximum(forces + length * step, 0.0)
        if length < 1.0 or endless:
            stop = int(np.argmin(reach))
            forces[stop], free[stop] = 0.0, False
    return Answer("limit", np.zeros(size), np.zeros(size))


def _free_step(M: np.ndarray, d: np.ndarray, forces: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, bool]:
    """-> (k,) the way to go with the free forces, and whether it goes down without end."""
    own = np.flatnonzero(free)
    block, gradient = M[np.ix_(own, own)], (product(M, forces) + d)[own]
    values, vectors = eigen(block)
    held = values > RANK * max(values[-1], 1e-300)
    span, rest = vectors[:, held], vectors[:, ~held]
    downhill = -product(rest, product(rest.T, gradient))
    step = np.zeros(len(d))
    endless = bool(np.max(np.abs(downhill), initial=0.0) > 1e-8 * np.max(np.abs(d)))
    step[own] = downhill if endless else -product(span, product(span.T, gradient) / values[held])
    return step, endless


def by_acceleration_qp(
    H: ArrayLike, force: ArrayLike, T: ArrayLike, drift: ArrayLike, K: ArrayLike | None = None, k: ArrayLike | None = None
) -> tuple[Answer, np.ndarray]:
    """The quadratic program over the accelerations (Gauss's principle of least constraint). -> (Answer, a (n,))

    In x = L'(a - free) it asks for the shortest x with G x >= h, a least-distance problem, which non-negative least
    squares solves: with r = E y - e of min |E y - e|, y >= 0, E = [G'; h'], e = (0, ..., 0, 1), x = -r_x / r_h and the
    forces are y / (-r_h). r = 0 says that there is no such x. Arguments as of contact_equations.
    """
    from scipy.optimize import nnls

    inertia, T = Inertia(H, K), np.asarray(T, float)
    equations = contact_equations(H, force, T, drift, K, k)
    size = T.shape[1]
    if size == 0 or np.min(equations.d) >= 0.0:
        return Answer("solved", np.zeros(size), equations.d.copy()), equations.free
    x = inertia.inverse @ T
    G = (x - inertia.held.T @ (inertia.held @ x)).T
    unit = np.max(np.abs(equations.d))  # h near 1, as e is
    E = np.vstack([G.T / max(np.max(np.abs(G)), 1e-300), -equations.d / unit])
    e = np.zeros(len(E))
    e[-1] = 1.0
    y, miss = nnls(E, e)
    residual = E @ y - e
    if miss > 1e-8 and -residual[-1] > 1e-14:
        forces = y / -residual[-1] * unit / max(np.max(np.abs(G)), 1e-300) ** 2
        if meets(equations.M, equations.d, forces):
            return _answer(equations.M, equations.d, forces), equations.free + equations.pushes @ forces
    elif np.max(y) > 0.0 and _is_endless(equations.M, equations.d, y / np.max(y)):
        return Answer("unsolvable", np.zeros(size), np.zeros(size), y / np.max(y)), equations.free
    # Some versions of nnls return what is no minimum, without a word.
    answer = by_force_qp(equations.M, equations.d)
    return answer, equations.free + equations.pushes @ answer.forces


def _is_endless(M: np.ndarray, d: np.ndarray, y: np.ndarray) -> bool:
    """Whether y >= 0 proves that there is no solution: M y = 0 and d . y < 0."""
    size = max(np.max(np.abs(d)), 1e-300)
    return bool(np.max(np.abs(product(M, y))) <= 1e-6 * np.max(np.abs(M)) and product(d, y) < -1e-9 * size)


def _answer(M: np.ndarray, d: np.ndarray, forces: np.ndarray) -> Answer:
    return Answer("solved", forces, product(M, forces) + d)


# ---- all solutions ---------------------------------------------------------------------------------------------------


def complementary_solutions(M: ArrayLike, d: ArrayLike, tolerance: float = 1e-9) -> list[np.ndarray]:
    """All z >= 0 with M z + d >= 0, z . (M z + d) = 0, one a set of closed contacts, M (k, k) any matrix: for k up to
    10, by trying every set. Sets whose block of M is singular are left out."""
    M, d = np.asarray(M, float), np.asarray(d, float)
    size = len(d)
    if size > MOST_ENUMERATED:
        raise ValueError(
            f"complementary_solutions: {size} unknowns are too many to try all sets; at most {MOST_ENUMERATED}"
        )
    found: list[np.ndarray] = []
    scale = tolerance * max(np.max(np.abs(d), initial=0.0), 1e-300)
    for count in range(size + 1):
        for chosen in combinations(range(size), count):
            own, z = list(chosen), np.zeros(size)
            if own:
                block = M[np.ix_(own, own)]
                if abs(determinant(block)) <= RANK * np.prod(np.max(np.abs(block), axis=1)):
                    continue
                z[own] = solve(block, -d[own])
                reach = np.max(np.abs(z))
            if (not own or np.min(z) >= -tolerance * reach) and np.min(product(M, z) + d, initial=0.0) >= -scale:
                if not any(np.allclose(z, other, rtol=1e-7, atol=1e-12) for other in found):
                    found.append(z)
    return found
