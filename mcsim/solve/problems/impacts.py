"""Impulsive dynamics: what a blow does to velocities, at poses that stand still while it lasts.

    u = H (velocities after - velocities before),  u = T p: the impulses of the contacts on the system
    zeta+ = zeta + M p,   M = T' H^-1 T,   zeta = T' velocities: rates of separation

and of joints, in maximal coordinates, K velocities = K velocities before, kept. A law of impact says how zeta+ follows:

    Newton    zeta+ >= -e zeta, p >= 0, p . (zeta+ + e zeta) = 0          the speeds come back by e
    Poisson   compression to p_c with zeta_c >= 0, p_c >= 0, p_c . zeta_c = 0, then at least e p_c more:
              zeta+ >= 0, p_r >= e p_c, (p_r - e p_c) . zeta+ = 0           the impulses come back by e
    Stronge   the work of normal impulses comes back by e^2 (solve/_laws.pyx); the only one that never gains energy

A contact that opens while others are struck may be closing after Newton's problem: then it is posed again. With e > 0
and friction in several contacts Newton's problem may have no solution: then Poisson's takes its place, which always has
one. The laws are the same without friction, for one contact and where all e are equal. Several contacts may be
struck "simultaneous", all by one such problem, or "sequential": one after the other, always the one that closes fastest
(of equals the one with the lowest number), until none closes. The two differ: a ball that hits a row of equal ones that
touch each other sends off the last one alone by sequential impacts, as Newton's cradle does; by one simultaneous
problem with e = 1 the row moves on and the first ball comes back.

Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 11: impact without friction (11.65), sticking
impact (11.72). Laws for several contacts: C. Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid multibody
systems", 1995; J. J. Moreau, "Unilateral contact and dry friction in finite freedom dynamics", 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.linear import product
from mcsim.scene.checks import FieldError, choose
from mcsim.solve._laws import strike
from mcsim.solve.problems import checks
from mcsim.solve.problems.contact_dynamics import Inertia, shaped
from mcsim.solve.problems.coulomb import INFINITE, cone

if TYPE_CHECKING:
    from mcsim.solve.problems.coulomb import FrictionForces

LAWS = ("newton", "poisson", "stronge")  # in the order of solve/_laws.pxd
ORDERS = ("simultaneous", "sequential")
MOST_ROUNDS = 10  # of simultaneous problems
MOST_BLOWS = 2000  # of one sequential impact, per contact
RESTING = 1e-11  # [m/s] slower than this, nothing closes
RESTS = 1e-12  # part of the fastest approach below which a contact counts as not closing


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did.

    impulses: p, (k,) or (3k,) in threes [n, t, t] where there is friction [N s]; rates: zeta+ after it, alike [m/s].
    velocity_change: what the velocities H belongs to changed by. joint_impulses: of the rows of K. energy: kinetic,
    gained [J]. blows: how many single impacts made it up. finished: False where a sequence of blows did not end
    (they grow ever weaker, or go round) and one plastic simultaneous impact ended it.
    """

    impulses: np.ndarray
    rates: np.ndarray
    velocity_change: np.ndarray
    joint_impulses: np.ndarray
    energy: float
    blows: int = 1
    finished: bool = True


# ---- one contact, in closed form -------------------------------------------------------------------------------------


def frictionless(
    inverse_inertia: ArrayLike, T: ArrayLike, rate: float, restitution: float = 0.0
) -> tuple[float, np.ndarray]:
    """Impact of one contact without friction (11.65): p = -(1 + e) zeta / (T' H^-1 T). -> p [N s], velocity change (n,)

    inverse_inertia (n, n): H^-1 of a body, of two bodies (block-diagonal) or of a jointed system; T (n,): what a unit
    of contact force does; rate: zeta = T' velocities before, [m/s]. restitution: e, from 0 to 1. Zero where the contact
    does not close."""
    inverse_inertia = checks.square("inverse_inertia", inverse_inertia)
    T = checks.vector("T", T, len(inverse_inertia), "inverse_inertia")
    restitution = float(_coefficients("restitution", restitution, 1, 1.0)[0])
    answer = inverse_inertia @ T
    if rate >= 0.0:
        return 0.0, 0.0 * answer
    give = float(T @ answer)
    if give <= 0.0:
        raise SimulationError("frictionless impact: nothing that the contact pushes can move, yet it closes")
    impulse = -(1.0 + restitution) * rate / give
    return impulse, impulse * answer


def sticking(
    inverse_inertia: ArrayLike, T: ArrayLike, rates: ArrayLike, restitution: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Impact of one contact that sticks (11.72): afterwards the point does not slip, and opens at e times the speed at
    which it closed. -> p (3,) [N s], velocity change (n,)

    T (n, 3): columns of the normal and two tangents; rates (3,) before [m/s]. Otherwise as `frictionless`: zero where the
    contact does not close. p = -(T' H^-1 T)^-1 (rates + e zeta n). Its normal part may be negative: then the contact could
    stick only by pulling, and slips whatever its friction is."""
    inverse_inertia = checks.square("inverse_inertia", inverse_inertia)
    T = shaped("T", T, (len(inverse_inertia), 3))
    rates = checks.vector("rates", rates, 3, "a contact")
    restitution = float(_coefficients("restitution", restitution, 1, 1.0)[0])
    answer = inverse_inertia @ T
    if rates[0] >= 0.0:
        return np.zeros(3), np.zeros(len(answer))
    wanted = -rates - np.array([restitution * rates[0], 0.0, 0.0])
    impulse = np.linalg.lstsq(T.T @ answer, wanted, rcond=1e-12)[0]
    return impulse, answer @ impulse


def _coefficients(name: str, values: ArrayLike, count: int, most: float = inf) -> np.ndarray:
    """(count,) of one number for all or one each, from 0 to the most."""
    try:
        found = np.array(values, float)
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"{name} must be a number, or one for each contact") from None
    if found.shape not in ((), (count,)):
        raise SceneError(f"{name} has the shape {found.shape}; give one number, or ({count},), one for each contact")
    if not np.all((found >= 0.0) & (found <= most)):
        raise SceneError(f"{name} must be from 0 to {most:g}, got {values!r:.60}")
    return np.broadcast_to(found, count)


# ---- several contacts ------------------------------------------------------------------------------------------------


def impact(
    H: ArrayLike,
    T: ArrayLike,
    velocities: ArrayLike,
    restitution: ArrayLike,
    friction: ArrayLike | None = None,
    *,
    K: ArrayLike | None = None,
    rates: ArrayLike | None = None,
    law: str = "newton",
    order: str = "simultaneous",
) -> Impact:
    """An impact of a whole system: u = H (change of velocities).

    H (n, n), symmetric and positive definite; velocities (n,) before; T: without friction (n, k), a column a contact;
    with `friction`, Coulomb's coefficient, inf for contacts that stick, (n, 3k) in threes [n, t, t]. restitution: e, from
    0 to 1. friction and restitution: one for all or (k,). K (r, n): rows of joints, whose rates are kept. rates (k,) or
    (3k,): zeta before, T' velocities if None; another where bodies move that are not among the velocities. law: one of
    LAWS; order: one of ORDERS."""
    try:
        choose(law, LAWS, "law")
        choose(order, ORDERS, "order")
    except FieldError as error:
        raise SceneError(f"impact: {error}") from None
    H = checks.square("H", H)
    n = len(H)
    T, velocities = shaped("T", T, (n, None)), checks.vector("velocities", velocities, n, "H")
    inertia = Inertia(H, None if K is None else shaped("K", K, (None, n)))
    rough = friction is not None
    if rough and T.shape[1] % 3:
        raise SceneError(f"T has {T.shape[1]} columns; with friction give three a contact, [n, t, t]")
    before = T.T @ velocities if rates is None else checks.vector("rates", rates, T.shape[1], "T")
    columns = T if rough else np.repeat(T, 3, axis=1) * np.tile([1.0, 0.0, 0.0], T.shape[1])
    before = before if rough else np.repeat(before, 3) * np.tile([1.0, 0.0, 0.0], T.shape[1])
    count = columns.shape[1] // 3
    friction = _coefficients("friction", friction if friction is not None else 0.0, count)
    restitution = _coefficients("restitution", restitution, count, 1.0)
    pushes = inertia.answer(columns)
    problem = Blow(columns.T @ pushes, before, restitution, friction)
    impulses, blows, finished = problem.solve(law, order)
    if problem.residual > 0.0:
        raise SimulationError(
            f"impact: the contact problem of {count} contacts was not solved to rounding (residual "
            f"{problem.residual:.3g} N s)"
        )
    change = pushes @ impulses
    joints = inertia.multipliers(H @ change - columns @ impulses)
    after = before + problem.A @ impulses
    energy = float(impulses @ (before + 0.5 * (after - before)))
    keep = slice(None) if rough else slice(0, None, 3)
    return Impact(impulses[keep], after[keep], change, joints, energy, blows, finished)


class Blow:
    """An impact over contact rows in threes: A (3k, 3k) = T' H^-1 T, rates (3k,) before, restitution and friction
    (k,)."""

    def __init__(self, A: np.ndarray, rates: np.ndarray, restitution: np.ndarray, friction: np.ndarray) -> None:
        self.A = 0.5 * (A + A.T)
        self.rates = rates
        self.residual = 0.0  # [N s] of the worst problem that was not solved to rounding
        self.restitution, self.friction = restitution, friction

    def solve(self, law: str, order: str) -> tuple[np.ndarray, int, bool]:
        """-> impulses (3k,), blows, finished. Problems follow one another until no contact closes; where that has no
        end, a plastic one ends it."""
        count = len(self.friction)
        impulses, rates = np.zeros(3 * count), self.rates.copy()
        quiet = max(RESTS * np.max(-self.rates[::3], initial=0.0), RESTING)
        everyone, blows = np.arange(count), MOST_BLOWS * count if order == "sequential" else MOST_ROUNDS
        for blow in range(blows):
            if not count or np.min(rates[::3]) >= -quiet:
                return impulses, blow, True
            chosen = everyone if order == "simultaneous" else np.argmin(rates[::3], keepdims=True)
            one = self._together(law, rates, chosen, self.restitution, closed=order == "sequential")
            impulses, rates = impulses + one, rates + product(self.A, one)
        rest = self._together("newton", rates, everyone, np.zeros(count))
        return impulses + rest, blow + 1, False

    def _together(
        self, law: str, rates: np.ndarray, chosen: np.ndarray, restitution: np.ndarray, closed: bool = False
    ) -> np.ndarray:
        """Impulses (3k,) of the contacts `chosen` at these rates, all at once. closed: one contact, and a law of one that
        can move and does not stick without end has a closed form."""
        rows = (3 * chosen[:, None] + np.arange(3)).ravel()
        A, friction = self.A[np.ix_(rows, rows)], self.friction[chosen]
        before = rates[rows]
        impulses = np.zeros(len(rates))
        if law == "stronge" or closed and A[0, 0] > 0.0 and friction[0] < inf:
            impulses[rows] = strike(A, before, restitution[chosen], np.minimum(friction, INFINITE), LAWS.index(law))
            return impulses
        if law == "newton":
            wanted = before.copy()
            wanted[::3] += restitution[chosen] * before[::3]
            answer = cone(A, wanted, friction)
            own = answer.impulses
        if law == "poisson" or not answer.solved:
            own = self._poisson(A, before, friction, restitution[chosen])
        impulses[rows] = own
        return impulses

    def _poisson(self, A: np.ndarray, before: np.ndarray, friction: np.ndarray, restitution: np.ndarray) -> np.ndarray:
        """Compression, then what comes back at least; friction acts under all of it."""
        compression = self._checked(cone(A, before, friction)).impulses
        back = np.zeros(len(before))
        back[::3] = restitution * compression[::3]
        if not np.any(back):
            return compression
        more = self._checked(cone(A, before + product(A, compression + back), friction, load=back[::3])).impulses
        return compression + back + more

    def _checked(self, answer: FrictionForces) -> FrictionForces:
        if answer.status == "none":
            raise SimulationError(
                "impact: no impulses keep the contacts from closing: a body is held between surfaces "
                "that close in on it, or by infinite friction"
            )
        if not answer.solved:
            self.residual = max(self.residual, answer.residual)
        return answer


# ---- two bodies ------------------------------------------------------------------------------------------------------


def contact_axes(normal: ArrayLike) -> np.ndarray:
    """(3, 3) rows [n, t1, t2] of a right-handed frame, n a unit normal (3,): t1 is n × x, or n × z where n is within 55
    degrees of the axis x, made a unit vector; those of a World's friction rows."""
    n = checks.vector("normal", normal, 3, "a direction")
    if abs(np.linalg.norm(n) - 1.0) > 1e-6:
        raise SceneError(f"normal has the length {np.linalg.norm(n):g}; give a unit vector")
    t = np.array([n[1], -n[0], 0.0] if abs(n[0]) >= 0.57735 else [0.0, n[2], -n[1]])
    t /= np.linalg.norm(t)
    return np.stack([n, t, np.cross(n, t)])


def two_bodies(
    masses: Sequence[float],
    inertias: Sequence[ArrayLike],
    centers: Sequence[ArrayLike],
    point: ArrayLike,
    normal: ArrayLike,
    velocities: Sequence[ArrayLike],
    restitution: float = 0.0,
    friction: float = 0.0,
    *,
    law: str = "newton",
) -> tuple[np.ndarray, np.ndarray]:
    """Impact of body b on body a at a point. -> velocities after, (2, 6), impulse on b (3,) [N s]

    masses (2,) [kg], inf for a body that does not move; inertias (2, 3, 3) about the centres, world axes; centers (2,
    3), point (3,) [m]; normal (3,): unit, from a to b; velocities (2, 6): [v; w]; restitution: e, from 0 to 1; friction:
    Coulomb's coefficient, 0 as in (11.65), inf as in (11.72), see `sticking`; law: one of LAWS, as of `impact`."""
    try:
        choose(law, LAWS, "law")
    except FieldError as error:
        raise SceneError(f"two_bodies: {error}") from None
    axes = contact_axes(normal)
    places, point = shaped("centers", np.asarray(centers), (2, 3)), checks.vector("point", point, 3, "a place")
    restitution = float(_coefficients("restitution", restitution, 1, 1.0)[0])
    friction = float(_coefficients("friction", friction, 1)[0])
    inverse, T = np.zeros((12, 12)), np.zeros((12, 3))
    for k, sign in ((0, -1.0), (1, 1.0)):
        own = slice(6 * k, 6 * k + 6)
        if not masses[k] > 0.0:
            raise SceneError(f"masses[{k}] is {masses[k]!r}; give what is positive, inf for a body that does not move")
        if masses[k] < inf:
            inertia = shaped(f"inertias[{k}]", inertias[k], (3, 3))
            checks.symmetric(f"inertias[{k}]", inertia)
            inverse[own, own][:3, :3] = np.eye(3) / masses[k]
            inverse[own, own][3:, 3:] = np.linalg.inv(inertia)
        arm = point - places[k]
        T[own, :] = sign * np.concatenate([axes, np.cross(arm, axes)], axis=1).T
    before = shaped("velocities", np.asarray(velocities), (2, 6)).ravel()
    rates = T.T @ before
    if rates[0] >= 0.0:
        return before.reshape(2, 6).copy(), np.zeros(3)
    if friction == 0.0:
        impulse, change = frictionless(inverse, T[:, 0], rates[0], restitution)
        given = np.array([impulse, 0.0, 0.0])
    elif friction > INFINITE:
        given, change = sticking(inverse, T, rates, restitution)
    else:
        given, _, _ = Blow(T.T @ inverse @ T, rates, np.array([restitution]), np.array([friction])).solve(
            law, "simultaneous"
        )
        change = inverse @ (T @ given)
    return (before + change).reshape(2, 6), given @ axes
