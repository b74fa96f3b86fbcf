"""The equations of contacts of a system at one state, and what they are solved for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.contacts import forces
from mcsim.contacts.forces import ContactForces, system_arrays
from mcsim.core.errors import SceneError
from mcsim.scene.checks import not_negative
from mcsim.solve.problems import checks
from mcsim.solve.problems.contact_dynamics import Inertia, contact_equations, shaped
from mcsim.solve.problems.coulomb import cone, slipping
from mcsim.solve.problems.impacts import Impact, impact

STILL = 1e-6  # [m/s] slower than this, a gap is at rest


class FrictionalForces(NamedTuple):
    """Forces of contacts with Coulomb's friction.

    status: "solved"; "none" or "several": Painlevé's configurations, no solution or more than one; "limit": not found to
    rounding. forces (c, 3): [n, t1, t2] [N]; accelerations (c, 3) of the contact's point, alike [m/s²]; a (n,) of the
    system. residual [N]: the natural map.
    """

    status: str
    forces: np.ndarray
    accelerations: np.ndarray
    a: np.ndarray
    residual: float


class Equations:
    """Contacts at one state: zeta' = M lambda + d of the rates zeta at which gaps open.

        H a = f + T lambda + K' mu,   K a = k,   zeta = T' v,   zeta' = T' a + drift = M lambda + d
        M = T' H^-1 T,   d = T' H^-1 f + drift                              (and with joints held, where there is a K)

    R. Featherstone, Rigid Body Dynamics Algorithms, 2008: section 11.2 of one body, T being his N and drift N'' v, H the
    spatial inertia; section 11.3 of a jointed system, f = tau - C. `contacts.equations(world)` makes one of a world.

    H (n, n), symmetric, positive definite; f (n,): all forces but those of contacts and joints, less the velocity terms;
        T (n, c): what a unit of each contact's force does; drift (c,) [m/s²], 0 if None; K (r, n), k (r,): joints.
    v (n,): velocities, 0 if None. zeta (c,) [m/s]: T' v if None; another where bodies move that are not among v.
    gap (c,) [m]: 0 if None. restitution, friction (c,), or one number for all.
    tangents (n, 2c): columns [t1, t2] of each contact, which friction asks for; tangent_drift (2c,); slip (c, 2) [m/s]:
        the tangential velocities, tangents' v if None.
    still [m/s]: slower than this a gap is at rest.

    Attributes of these names, and:
    M (c, c) [1/kg], d (c,) [m/s²]; free (n,): accelerations without contact forces; pushes (n, c): what a unit of each
        contact force adds to them.
    closing, current, opening (c,) bool: contacts by the sign of zeta, as in table 11.1: those that must be struck first,
        those that touch and go on to touch if their forces ask for it, and those that leave, which have no force. Which
        of the current ones are active, that is stay closed, is what is solved for: `active` of an answer.
    Of a world: bodies (c, 2): numbers of a and b; points (c, 3) [m], normals (c, 3) from a to b, world; names: list of
        (a, b); places (n,): which of the velocities of the world the n are, of 6 a body [v; w], or of qd.
    """

    bodies: np.ndarray | None = None
    points: np.ndarray | None = None
    normals: np.ndarray | None = None
    names: list[tuple[str, str]] | None = None
    places: np.ndarray | None = None

    def __init__(
        self,
        H: ArrayLike,
        f: ArrayLike,
        T: ArrayLike,
        drift: ArrayLike | None = None,
        *,
        K: ArrayLike | None = None,
        k: ArrayLike | None = None,
        v: ArrayLike | None = None,
        zeta: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        restitution: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        tangents: ArrayLike | None = None,
        tangent_drift: ArrayLike | None = None,
        slip: ArrayLike | None = None,
        still: float = STILL,
    ) -> None:
        self.H, self.f, self.T, self.drift, self.K, self.k = system_arrays(H, f, T, drift, K, k)
        n, count = self.T.shape
        self.v = checks.vector("v", np.zeros(n) if v is None else v, n, "H")
        self.zeta = checks.vector("zeta", self.T.T @ self.v if zeta is None else zeta, count, "T")
        self.gap = checks.vector("gap", np.zeros(count) if gap is None else gap, count, "T")
        self.restitution = checks.vector("restitution", _each(restitution, count), count, "T", least=0.0)
        self.friction = _frictions(friction, count)
        self.tangents = np.zeros((n, 0)) if tangents is None else shaped("tangents", tangents, (n, 2 * count))
        wide = self.tangents.shape[1]
        self.tangent_drift = checks.vector(
            "tangent_drift", np.zeros(wide) if tangent_drift is None else tangent_drift, wide, "tangents"
        )
        self.slip = np.zeros((0, 2))
        if wide:
            self.slip = shaped("slip", (self.tangents.T @ self.v).reshape(-1, 2) if slip is None else slip, (count, 2))
        self.still = not_negative(still, "still")
        self.inertia = Inertia(self.H, self.K)
        self.M, self.d, self.free, self.pushes = contact_equations(self.H, self.f, self.T, self.drift, self.K, self.k)

    # ---- sets --------------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """c, of contacts."""
        return len(self.d)

    @property
    def N(self) -> np.ndarray:
        """(n, c): T, as section 11.2 calls it where the velocities are those of bodies."""
        return self.T

    @property
    def current(self) -> np.ndarray:
        """(c,) bool: those that touch with a gap at rest, |zeta| <= still: lambda >= 0, zeta' >= 0, lambda zeta' = 0."""
        return np.abs(self.zeta) <= self.still

    @property
    def closing(self) -> np.ndarray:
        """(c,) bool: zeta < -still. No force can stop these: they ask for an impulse."""
        return self.zeta < -self.still

    @property
    def opening(self) -> np.ndarray:
        """(c,) bool: zeta > still. Their force is zero."""
        return self.zeta > self.still

    # ---- forces ------------------------------------------------------------------------------------------------------

    def by_lcp(self) -> ContactForces:
        """Forces of the current contacts by the linear complementarity problem: see contacts.by_lcp."""
        own = self._solvable()
        return self._answer(own, forces.by_lcp(self.M[np.ix_(own, own)], self.d[own]))

    def by_force_qp(self) -> ContactForces:
        """Forces of the current contacts by the quadratic program over forces: see contacts.by_force_qp."""
        own = self._solvable()
        return self._answer(own, forces.by_force_qp(self.M[np.ix_(own, own)], self.d[own]))

    def by_acceleration_qp(self) -> ContactForces:
        """Forces of the current contacts by Gauss's principle: see contacts.by_acceleration_qp."""
        own = self._solvable()
        found = forces.by_acceleration_qp(self.H, self.f, self.T[:, own], self.drift[own], self.K, self.k)
        return self._answer(own, found)

    def _solvable(self) -> np.ndarray:
        """Numbers of the current contacts; an error where some close."""
        if np.any(self.closing):
            i = int(np.argmin(self.zeta))
            between = f" between {self.names[i][0]!r} and {self.names[i][1]!r}" if self.names else ""
            raise SceneError(
                f"contact {i}{between} closes at {-self.zeta[i]:.3g} m/s, which no force can stop: strike it first "
                f"(impact), or take still={-self.zeta[i]:.2g} or more if it is at rest"
            )
        return np.flatnonzero(self.current)

    def _answer(self, own: np.ndarray, found: ContactForces) -> ContactForces:
        """The same over all contacts, with the system's accelerations and joint forces."""
        among, lam = np.zeros(self.count, bool), np.zeros(self.count)
        among[own], lam[own] = True, found.forces
        M, d = self.M[np.ix_(own, own)], self.d[own]
        if not found.solved:
            ray = found.certificate.ray
            if ray is not None:
                whole = np.zeros(self.count)
                whole[own] = ray
                ray = whole
            return ContactForces(found.status, lam, np.zeros(self.count), M, d, ray, among=among)
        a = self.free + self.pushes @ lam if found.a is None else found.a
        rates = self.T.T @ a + self.drift
        joint_forces = self.inertia.multipliers(self.H @ a - self.f - self.T @ lam)
        return ContactForces(found.status, lam, rates, M, d, None, a, joint_forces, among)

    def with_friction(self) -> FrictionalForces:
        """Forces of the current contacts with Coulomb's friction: |lambda_t| <= mu lambda_n, against the slip where there
        is one, else against the tangential acceleration (`solve/problems/coulomb.py`)."""
        own = self._solvable()
        if self.tangents.shape[1] == 0 and self.count:
            raise SceneError("with_friction: there are no tangents; give tangents (n, 2c), as contact_rows has them")
        columns, drift = self._threes(own)
        pushes = self.inertia.answer(columns)
        A, b = columns.T @ pushes, columns.T @ self.free + drift
        A, friction = 0.5 * (A + A.T), self.friction[own]
        speed = np.linalg.norm(self.slip[own], axis=1)
        moving = (friction > 0.0) & (speed > self.still)
        slip = np.where(moving[:, None], self.slip[own] / np.maximum(speed, 1e-300)[:, None], 0.0)
        if np.any(friction) and np.all(moving | (friction == 0.0)):
            found = slipping(A, b, friction, slip)
        else:
            found = cone(A, b, friction, slip=slip)
        lam = np.zeros((self.count, 3))
        lam[own] = found.impulses.reshape(-1, 3)
        a = self.free + pushes @ found.impulses
        everyone, drift = self._threes(np.arange(self.count))
        return FrictionalForces(found.status, lam, (everyone.T @ a + drift).reshape(-1, 3), a, found.residual)

    def _threes(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns (n, 3k) [n, t1, t2] of some contacts, and their drift (3k,)."""
        n = len(self.f)
        columns = np.concatenate([self.T[:, :, None], self.tangents.reshape(n, -1, 2)], axis=2)[:, own]
        drift = np.concatenate([self.drift[:, None], self.tangent_drift.reshape(-1, 2)], axis=1)[own]
        return columns.reshape(n, -1), drift.ravel()

    # ---- impulses ----------------------------------------------------------------------------------------------------

    def impact(
        self,
        restitution: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        *,
        law: str = "newton",
        order: str = "simultaneous",
    ) -> Impact:
        """The impact of all contacts that touch, by contacts.impact, at the velocities zeta (and slip).

        restitution: e from 0 to 1, one or (c,); each contact's own if None. friction: None without, else one or (c,),
        inf to stick; `equations.friction` are the contacts' own. law, order: as of contacts.impact."""
        e = self.restitution if restitution is None else restitution
        if friction is None:
            return impact(self.H, self.T, self.v, e, K=self.K, rates=self.zeta, law=law, order=order)
        if self.tangents.shape[1] == 0 and self.count:
            raise SceneError("impact: friction needs tangents (n, 2c), as contact_rows has them")
        columns = self._threes(np.arange(self.count))[0]
        rates = np.concatenate([self.zeta[:, None], self.slip.reshape(-1, 2)], axis=1).ravel()
        return impact(self.H, columns, self.v, e, friction, K=self.K, rates=rates, law=law, order=order)

    def __repr__(self) -> str:
        kinds = (("closing", self.closing), ("current", self.current), ("opening", self.opening))
        some = ", ".join(f"{int(np.sum(found))} {name}" for name, found in kinds)
        return f"<Equations of {len(self.f)} velocities, {len(self.K)} joint rows, {self.count} contacts: {some}>"


def _each(value: ArrayLike, count: int) -> ArrayLike:
    """One number for all contacts, or what was given."""
    return np.full(count, value) if np.ndim(value) == 0 and not isinstance(value, str) else value


def _frictions(value: ArrayLike, count: int) -> np.ndarray:
    """(c,) coefficients from 0 to inf."""
    found = checks.frictions(_each(value, count), 3 * count)
    if len(found) != count:
        raise SceneError(f"friction has {len(found)} coefficients; give one number, or ({count},), one for each contact")
    return found
