"""Forces of contacts without friction from a = M lambda + d, in three ways, with what certifies them.

    zeta' = M lambda + d >= 0,   lambda >= 0,   lambda . zeta' = 0          M = T' H^-1 T,  d = T' H^-1 f + drift

(R. Featherstone, Rigid Body Dynamics Algorithms, 2008: (11.20) of one body, (11.34) of a jointed system.) The methods are
those of mcsim/solve/problems/contact_dynamics.py, which the event-driven simulation uses as well.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.solve.problems import checks, contact_dynamics
from mcsim.solve.problems.contact_dynamics import RANK, Inertia, shaped

NOUGHT = 1e-9  # part of the largest force, or of the largest |d|, below which one counts as zero


class Certificate(NamedTuple):
    """What proves an answer: how far it is from the Karush-Kuhn-Tucker conditions that all three problems share, or why
    there is none.

    stationarity [m/s²]: the largest |zeta' - M lambda - d|. primal [m/s²]: by how much any zeta' is below 0. dual [N]: by
    how much any force is. complementarity [N m/s²]: the largest |lambda zeta'| of a contact. All are rounding where
    solved. ray: None, or (c,) y >= 0 with T y = 0 and d . y < 0: contact forces that cancel each other over gaps that
    shrink whatever happens, so that no forces keep the bodies apart.
    """

    stationarity: float
    primal: float
    dual: float
    complementarity: float
    ray: np.ndarray | None = None


class ContactForces:
    """The forces of contacts without friction.

    status: "solved"; "unsolvable", no forces keep the bodies apart (certificate.ray says why); "limit", a bound on rounds
        was met. solved: whether it is the first.
    forces (c,): lambda [N]. accelerations (c,): zeta', of separation [m/s²]. Zero where not solved.
    a (n,): accelerations of the system with these forces, joint_forces (r,): of the rows of K, the least where these are
        redundant; None where only M and d are known.
    certificate: Certificate. unique: whether no other forces do the same. active (c,) bool: contacts that stay closed,
        zeta' = 0 to rounding.

    T lambda, zeta', a and the certificate's zeros are unique in any case, and the same for every method.
    """

    def __init__(
        self,
        status: str,
        forces: np.ndarray,
        accelerations: np.ndarray,
        M: np.ndarray,
        d: np.ndarray,
        ray: np.ndarray | None = None,
        a: np.ndarray | None = None,
        joint_forces: np.ndarray | None = None,
        among: np.ndarray | None = None,
    ) -> None:
        """M, d: of the contacts `among` (c,) bool, all if None; the others have no force by what they are."""
        self.status, self.forces, self.accelerations = status, forces, accelerations
        self.a, self.joint_forces = a, joint_forces
        self._M, self._d = M, d
        self._among = np.ones(len(forces), bool) if among is None else among
        own, rates = forces[self._among], accelerations[self._among]
        missed = rates - M @ own - d if self.solved else np.zeros(0)
        self.certificate = Certificate(
            float(np.max(np.abs(missed), initial=0.0)),
            float(np.max(-rates, initial=0.0)),
            float(np.max(-own, initial=0.0)),
            float(np.max(np.abs(own * rates), initial=0.0)),
            ray,
        )

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return self.status == "solved"

    @property
    def active(self) -> np.ndarray:
        """(c,) bool: contacts that stay closed."""
        quiet = self.accelerations <= 10.0 * NOUGHT * np.max(np.abs(self._d), initial=0.0)
        return self._among & quiet & self.solved

    @cached_property
    def unique(self) -> bool:
        """Whether no other forces do the same; False where not solved.

        Others differ by some y with M y = 0 on the contacts that stay closed, which takes nothing from those whose force
        is zero: a linear program looks for one.
        """
        if not self.solved:
            return False
        closed = np.flatnonzero(self.active[self._among])
        if not len(closed):
            return True
        values, vectors = np.linalg.eigh(self._M[np.ix_(closed, closed)])
        kernel = vectors[:, values <= RANK * max(values[-1], 1e-300)]
        forces = self.forces[self._among][closed]
        idle = kernel[forces <= NOUGHT * np.max(forces, initial=0.0)]
        if kernel.shape[1] == 0:
            return True
        if len(idle) == 0 or np.linalg.matrix_rank(idle, tol=1e-9) < kernel.shape[1]:
            return False
        from scipy.optimize import linprog  # here, since importing mcsim should stay light

        count = kernel.shape[1]
        total = idle.sum(axis=0)
        found = linprog(-total, np.vstack([-idle, total]), [*np.zeros(len(idle)), 1.0], bounds=[(None, None)] * count)
        return bool(found.status == 0 and -found.fun < 1e-6)

    def __repr__(self) -> str:
        return f"<ContactForces: {self.status}, {int(np.sum(self.active))} of {len(self.forces)} contacts active>"


def _checked(M: ArrayLike, d: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    M = checks.semidefinite("M", M)
    return M, checks.vector("d", d, len(M), "M")


def by_lcp(M: ArrayLike, d: ArrayLike) -> ContactForces:
    """Contact forces by the linear complementarity problem: Lemke's pivots.

        zeta' = M lambda + d >= 0,   lambda >= 0,   lambda . zeta' = 0

    M (c, c), symmetric, positive semidefinite [1/kg]; d (c,) [m/s²]: zeta' without contact forces. Source: R.
    Featherstone, Rigid Body Dynamics Algorithms, 2008, (11.20) and (11.34); R. Cottle, J.-S. Pang, R. Stone, The Linear
    Complementarity Problem, 1992, section 4.4."""
    M, d = _checked(M, d)
    found = contact_dynamics.by_lcp(M, d)
    return ContactForces(found.status, found.forces, found.accelerations, M, d, found.ray)


def by_force_qp(M: ArrayLike, d: ArrayLike) -> ContactForces:
    """Contact forces by the quadratic program over the forces, the dual one: an active set.

        min lambda' M lambda / 2 + d' lambda   over   lambda >= 0

    Arguments as of by_lcp. Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, (11.43)."""
    M, d = _checked(M, d)
    found = contact_dynamics.by_force_qp(M, d)
    return ContactForces(found.status, found.forces, found.accelerations, M, d, found.ray)


def by_acceleration_qp(
    H: ArrayLike,
    f: ArrayLike,
    T: ArrayLike,
    drift: ArrayLike | None = None,
    K: ArrayLike | None = None,
    k: ArrayLike | None = None,
) -> ContactForces:
    """Contact forces by the quadratic program over the accelerations, the primal one: Gauss's principle of least
    constraint, as a least-distance problem.

        min (a - H^-1 f)' H (a - H^-1 f) / 2   over   T' a + drift >= 0,   K a = k

    H (n, n), symmetric, positive definite; f (n,): all forces but those of contacts and joints, less the velocity terms
    (tau - C); T (n, c): a column a contact, T' a + drift = zeta'; drift (c,) [m/s²]: T'' of the velocities, 0 if None;
    K (r, n), k (r,): joints. Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, (11.44); C. Lawson, R. Hanson,
    Solving Least Squares Problems, 1974, chapter 23."""
    H, f, T, drift, K, k = system_arrays(H, f, T, drift, K, k)
    made = contact_dynamics.contact_equations(H, f, T, drift, K, k)
    found, a = contact_dynamics.by_acceleration_qp(H, f, T, drift, K, k)
    rates = T.T @ a + drift if found.solved else found.accelerations
    joint_forces = Inertia(H, K).multipliers(H @ a - f - T @ found.forces)
    return ContactForces(found.status, found.forces, rates, made.M, made.d, found.ray, a, joint_forces)


def system_arrays(
    H: ArrayLike, f: ArrayLike, T: ArrayLike, drift: ArrayLike | None, K: ArrayLike | None, k: ArrayLike | None
) -> tuple[np.ndarray, ...]:
    """The same as checked arrays: H (n, n), f (n,), T (n, c), drift (c,), K (r, n), k (r,)."""
    H = checks.semidefinite("H", H)
    n = len(H)
    T = shaped("T", T, (n, None))
    none = np.zeros(T.shape[1])
    drift = checks.vector("drift", none if drift is None else drift, T.shape[1], "T")
    K = np.zeros((0, n)) if K is None else shaped("K", K, (None, n))
    k = checks.vector("k", np.zeros(len(K)) if k is None else k, len(K), "K")
    return H, checks.vector("f", f, n, "H"), T, drift, K, k
