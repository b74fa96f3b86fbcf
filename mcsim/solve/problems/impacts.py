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
from mcsim.solve.problems.contact_dynamics import Inertia, finite
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
    of contact force does; rate: zeta = T' velocities before, [m/s]. Zero where the contact does not close."""
    T = np.asarray(T, float)
    answer = np.asarray(inverse_inertia, float) @ T
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

    T (n, 3): columns of the normal and two tangents; rates (3,) before. Otherwise as `frictionless`."""
    T, rates = np.asarray(T, float), np.asarray(rates, float)
    answer = np.asarray(inverse_inertia, float) @ T
    if rates[0] >= 0.0:
        return np.zeros(3), np.zeros(len(answer))
    wanted = -rates - np.array([restitution * rates[0], 0.0, 0.0])
    impulse = np.linalg.lstsq(T.T @ answer, wanted, rcond=1e-12)[0]
    return impulse, answer @ impulse


# ---- several contacts ------------------------------------------------------------------------------------------------


def impact(
    H: ArrayLike,
    T: ArrayLike,
    velocities: ArrayLike,
    restitution: ArrayLike,
    friction: ArrayLike | None = None,
    *,
    K: ArrayLike | None = None,
    law: str = "newton",
    order: str = "simultaneous",
) -> Impact:
    """An impact of a whole system: u = H (change of velocities).

    H (n, n); velocities (n,) before; T: without friction (n, k), a column a contact; with `friction` (k,), inf for
    contacts that stick, (n, 3k) in threes [n, t, t]. restitution: e, one for all or (k,). K (r, n): rows of joints,
    whose rates are kept."""
    try:
        choose(law, LAWS, "law")
        choose(order, ORDERS, "order")
    except FieldError as error:
        raise SceneError(f"impact: {error}") from None
    H, T, velocities = finite(H=H, T=T, velocities=velocities)
    inertia = Inertia(H, K)
    rough = friction is not None
    columns = T if rough else np.repeat(T, 3, axis=1) * np.tile([1.0, 0.0, 0.0], T.shape[1])
    count = columns.shape[1] // 3
    friction = np.broadcast_to(np.asarray(friction if rough else 0.0, float), count)
    restitution = np.broadcast_to(np.asarray(restitution, float), count)
    pushes = inertia.answer(columns)
    problem = Blow(columns.T @ pushes, columns.T @ velocities, restitution, friction)
    impulses, blows, finished = problem.solve(law, order)
    if problem.residual > 0.0:
        raise SimulationError(
            f"impact: the contact problem of {count} contacts was not solved to rounding (residual "
            f"{problem.residual:.3g} N s)"
        )
    change = pushes @ impulses
    joints = inertia.multipliers(H @ change - columns @ impulses)
    rates = problem.rates + problem.A @ impulses
    energy = float(impulses @ (problem.rates + 0.5 * (rates - problem.rates)))
    keep = slice(None) if rough else slice(0, None, 3)
    return Impact(impulses[keep], rates[keep], change, joints, energy, blows, finished)


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
    3), point (3,) [m]; normal (3,): unit, from a to b; velocities (2, 6): [v; w]; friction: Coulomb's coefficient, 0 as
    in (11.65), inf as in (11.72)."""
    normal = np.asarray(normal, float)
    tangent = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    tangent /= np.linalg.norm(tangent)
    axes = np.stack([normal, tangent, np.cross(normal, tangent)])
    inverse, T = np.zeros((12, 12)), np.zeros((12, 3))
    for k, sign in ((0, -1.0), (1, 1.0)):
        own = slice(6 * k, 6 * k + 6)
        if masses[k] < inf:
            inverse[own, own][:3, :3] = np.eye(3) / masses[k]
            inverse[own, own][3:, 3:] = np.linalg.inv(np.asarray(inertias[k], float))
        arm = np.asarray(point, float) - np.asarray(centers[k], float)
        T[own, :] = sign * np.concatenate([axes, np.cross(arm, axes)], axis=1).T
    before = np.asarray(velocities, float).ravel()
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
