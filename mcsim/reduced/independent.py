"""Loops by independent coordinates: some of the tree's velocities are taken for free, and make the others.

    K qd = 0, K qdd = k              the loops, of rank r (section 8.2)
    V qd = 0                         the same by an orthonormal basis V (r, nv) of the rows of K
    qd_dep = -V_dep⁻¹ V_ind qd_ind   split by columns, so that qd = G ẏ, qdd = G ÿ + g with ẏ = qd_ind
    G' H G ÿ = G' (tau - C - H g)

Which velocities depend on the others is chosen by a QR factorization of V with column pivoting, so that V_dep is far from
singular; where a mechanism has moved on, another choice is better, and is made. R. Wehage, E. Haug, "Generalized coordinate
partitioning for dimension reduction in analysis of constrained dynamic systems", 1982; R. Featherstone, Rigid Body Dynamics
Algorithms, 2008, section 8.11 (Loop Closure Functions), where the choice is the user's: see `Explicit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError, SimulationError
from mcsim.reduced.continuous import Flow
from mcsim.reduced.dynamics import Dynamics, as_state
from mcsim.reduced.formulations import TOLERANCE, LoopMatrix, loop_matrix
from mcsim.reduced.rows import refuse_rotors
from mcsim.reduced.system import System
from mcsim.scene.checks import NAMES_SHOWN, FieldError, number, within

Force = ArrayLike | Callable[[np.ndarray, np.ndarray], ArrayLike]

CLOSED = 1e-14  # a correction of q [m, rad] after which loops count as closed
ITERATIONS = 30  # of Newton's method
OPEN = 1e-6  # by how much loops may be open, and velocities break them [m, rad, m/s, rad/s, these relative]


class Closed(NamedTuple):
    """The loops at a place. basis (r, nv): V. values (r,), combined (m, r): K = combined values V, but for what is no more
    than rounding."""

    loops: LoopMatrix
    basis: np.ndarray
    values: np.ndarray
    combined: np.ndarray

    def reduced(self, right: np.ndarray) -> np.ndarray:
        """(r,): what V x is where K x = right."""
        return self.combined.T @ right / self.values


class Independent:
    """The dynamics of a system with loops by independent coordinates, chosen by pivoting, and anew on the way.

    system: a System, or a Dynamics of one. q (nq,): where it is, by default where the scene has it; loops may be a little
        open there. It must not be a singular place (a four-bar stretched out flat), for the loops' rank is taken there.
    least: of `condition`, from 0 to 1, below which `step` and `rechoose` choose anew. The error of a step grows as the
        condition falls; above some 0.5 few choices are better than another.
    tolerance: singular values of K below it, relative to its largest term, count as zero.

    independent (m,): numbers of the velocities that are free, ascending; dependent (r,): of those that they make. choices:
    how many there were so far, the first one included.

    States are the tree's q (nq,) and qd (nv,), which loops hold together: `closed` and `velocities` make such. Rods and
    gears count as loops. Kinematic bodies and joints with a Motion are refused, for Formulation has them. Springs, motors,
    limits and friction are not part of it: give their forces as tau or forces.
    """

    dynamics: Dynamics
    system: System
    independent: np.ndarray
    dependent: np.ndarray
    choices: int

    def __init__(
        self,
        system: System | Dynamics,
        q: ArrayLike | None = None,
        *,
        least: float = 0.5,
        tolerance: float = TOLERANCE,
    ):
        self.dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
        self.system = system = self.dynamics.system
        self._least = within(least, 0.0, 1.0, "least")
        self._tolerance = within(tolerance, 0.0, 1.0, "tolerance")
        _refuse_given(system)
        self._flow = Flow(self.dynamics)
        q = self._flow.normalized(system.initial()[0] if q is None else as_state(q, "q", system.nq))
        loops = loop_matrix(self.dynamics, q)
        values = np.linalg.svd(loops.rows, compute_uv=False)
        # Where loops are open by e, singular values of the size of e mean nothing.
        rounding = self._tolerance * max(loops.size, values.max(initial=0.0))
        self._rank = int(np.sum(values > max(rounding, 10.0 * np.abs(_errors(loops)).max(initial=0.0))))
        self.choices = 0
        self.choose(q)

    # ---- the choice --------------------------------------------------------------------------------------------------

    def choose(self, q: ArrayLike) -> None:
        """Choose by pivoting at q (nq,)."""
        from scipy.linalg import qr

        basis = self._at(self._place(q)).basis
        order = qr(basis, mode="r", pivoting=True)[1] if self._rank else np.arange(self.dynamics.nv)
        independent = np.sort(order[self._rank :])
        if not self.choices or (independent != self.independent).any():
            self.choices += 1
        self.dependent, self.independent = np.sort(order[: self._rank]), independent

    def condition(self, q: ArrayLike) -> float:
        """How good the choice is at q (nq,): the smallest singular value of V_dep, the cosine of the largest angle between
        the motions that loops allow and those of the independent velocities alone. 1 is best; at 0 some motion moves none
        of the independent ones, and they do not make the others."""
        return self._condition(self._at(self._place(q)))

    def rechoose(self, q: ArrayLike) -> bool:
        """Choose anew at q (nq,) if `condition` is below `least` there. -> whether the choice is another one now."""
        before = self.choices
        if self.condition(q) < self._least:
            self.choose(q)
        return self.choices > before

    @property
    def names(self) -> tuple[str, ...]:
        """What each independent velocity is: "joint[number of its velocity]", by its body of a free joint of the model."""
        found = []
        for v in self.independent.tolist():
            link = next(link for link in self.system.links if link.v.start <= v < link.v.stop)
            found.append(f"{link.body if link.joint is None else link.joint.name}[{v - link.v.start}]")
        return tuple(found)

    # ---- kinematics --------------------------------------------------------------------------------------------------

    def closed(self, q: ArrayLike) -> np.ndarray:
        """q (nq,) with the dependent coordinates such that all loops are closed, by Newton's method from where they are.
        The independent ones stay as they are; of a quaternion, turns about the dependent axes alone are made."""
        return self._close(self._place(q))[0]

    def velocities(self, q: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """qd (nv,) = G ẏ of the independent velocities ẏ (m,) at q (nq,)."""
        return self.G(q) @ as_state(yd, "yd", len(self.independent))

    def G(self, q: ArrayLike) -> np.ndarray:
        """(nv, m): takes ẏ to the tree's qd, at q (nq,), where loops must be closed."""
        return self._G(self._checked(q))

    def g(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(nv,): the tree's qdd where ÿ = 0, at q (nq,), qd (nv,)."""
        return self._g(self._checked(q, qd))

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """G' H G (m, m)."""
        base = self.G(q)
        return base.T @ self.dynamics.mass_matrix(self._place(q)) @ base

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """ÿ (m,) under the tree's joint forces tau (nv,), and forces as of Dynamics.forward_dynamics."""
        at = self._checked(q, qd)
        return self._solve(at, self._place(q), as_state(qd, "qd", self.dynamics.nv), tau, forces)[0]

    def joint_accelerations(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None
    ) -> np.ndarray:
        """qdd (nv,) = G ÿ + g of the tree, loops held: what Formulation.joint_accelerations finds by multipliers."""
        at = self._checked(q, qd)
        return self._solve(at, self._place(q), as_state(qd, "qd", self.dynamics.nv), tau, forces)[1]

    def step(
        self, q: ArrayLike, qd: ArrayLike, h: float, tau: Force | None = None, forces: Force | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """-> q (nq,), qd (nv,) after a step of h [s] by the classical method of Runge and Kutta over the independent
        coordinates, those that depend on them solved for at each stage. The choice is made anew before the step where it
        has become bad.

        tau, forces: as of forward_dynamics, 0 if None; or functions of q, qd.
        """
        h = number(h, "h")
        self.rechoose(q)
        q, u = self._place(q), as_state(qd, "qd", self.dynamics.nv)[self.independent]
        slopes: list[tuple[np.ndarray, np.ndarray]] = []
        for part in (0.0, 0.5, 0.5, 1.0):
            rate, change = slopes[-1] if slopes else (0.0, 0.0)
            slopes.append(self._slope(q + part * h * rate, u + part * h * change, tau, forces))
        rates, changes = ((a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(*slopes))
        q, at = self._close(self._flow.normalized(q + h * rates))
        return q, self._G(at) @ (u + h * changes)

    def _slope(
        self, q: np.ndarray, u: np.ndarray, tau: Force | None, forces: Force | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """dq/dt (nq,), ÿ (m,)."""
        q, at = self._close(self._flow.normalized(q))
        qd = self._G(at) @ u
        tau, forces = (value(q, qd) if callable(value) else value for value in (tau, forces))
        found = self._solve(self._at(q, qd), q, qd, np.zeros(self.dynamics.nv) if tau is None else tau, forces)
        return self._flow.coordinate_rates(q, qd), found[0]

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _place(self, q: ArrayLike) -> np.ndarray:
        return as_state(q, "q", self.system.nq)

    def _at(self, q: np.ndarray, qd: np.ndarray | None = None) -> Closed:
        """The loops at q; rows of K that only say what others do are left out, by the rank that was found at first."""
        loops = loop_matrix(self.dynamics, q, qd)
        u, s, vt = np.linalg.svd(loops.rows, full_matrices=False)
        if self._rank and s[self._rank - 1] <= self._tolerance * max(loops.size, s[0]):
            raise SimulationError(
                f"at q = {q} the loops of {self.system.scene.name!r} have a rank below {self._rank}, which they had where "
                "this was made: the place is singular, and the mechanism could go on in several ways; step over it with "
                "another h, or take Formulation, which takes the rank as it is"
            )
        return Closed(loops, vt[: self._rank], s[: self._rank], u[:, : self._rank])

    def _condition(self, at: Closed) -> float:
        values = np.linalg.svd(at.basis[:, self.dependent], compute_uv=False)
        return float(values.min(initial=1.0))

    def _close(self, q: np.ndarray) -> tuple[np.ndarray, Closed]:
        """q with its loops closed, and the loops there."""
        at = self._at(q)
        for _ in range(ITERATIONS if self._rank else 0):
            way = np.zeros(self.dynamics.nv)
            way[self.dependent] = self._dependent(at, at.reduced(-_errors(at.loops)))
            if np.abs(way).max() <= CLOSED * (1.0 + np.abs(q).max()):
                break
            q = self._flow.normalized(q + self._flow.coordinate_rates(q, way))
            at = self._at(q)
        errors = np.abs(_errors(at.loops))
        if not errors.max(initial=0.0) <= OPEN:
            raise SimulationError(
                f"Newton's method does not close the loop of joint {at.loops.names[int(np.argmax(errors))][0]!r}, which is "
                f"off by {errors.max():.3g} (m or rad) with {_told(self.names)} held: take a shorter "
                "step, or a q where the loops are more nearly closed"
            )
        return q, at

    def _dependent(self, at: Closed, right: np.ndarray) -> np.ndarray:
        """V_dep⁻¹ right."""
        try:
            return np.linalg.solve(at.basis[:, self.dependent], right)
        except np.linalg.LinAlgError:
            raise SimulationError(
                f"{_told(self.names)} do not make the other velocities here (condition 0): call rechoose(q)"
            ) from None

    def _G(self, at: Closed) -> np.ndarray:
        out = np.zeros((self.dynamics.nv, len(self.independent)))
        out[self.independent] = np.eye(len(self.independent))
        out[self.dependent] = -self._dependent(at, at.basis[:, self.independent])
        return out

    def _g(self, at: Closed) -> np.ndarray:
        out = np.zeros(self.dynamics.nv)
        out[self.dependent] = self._dependent(at, at.reduced(at.loops.k))
        return out

    def _solve(
        self, at: Closed, q: np.ndarray, qd: np.ndarray, tau: ArrayLike, forces: ArrayLike | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """ÿ (m,), qdd (nv,)."""
        base, bias, h = self._G(at), self._g(at), self.dynamics.mass_matrix(q)
        force = as_state(tau, "tau", self.dynamics.nv) - self.dynamics.bias_force(q, qd, forces) - h @ bias
        found = np.linalg.solve(base.T @ h @ base, base.T @ force)
        return found, base @ found + bias

    def _checked(self, q: ArrayLike, qd: ArrayLike | None = None) -> Closed:
        """The loops at a state that must hold them."""
        speed = None if qd is None else as_state(qd, "qd", self.dynamics.nv)
        at = self._at(self._place(q), speed)
        errors = np.abs(_errors(at.loops))
        if errors.max(initial=0.0) > OPEN:
            name = at.loops.names[int(np.argmax(errors))][0]
            raise SceneError(
                f"q leaves the loop of joint {name!r} open by {errors.max():.3g} (m or rad): closed(q) closes it"
            )
        if speed is not None:
            slip = np.abs(at.loops.rows @ speed)
            if slip.max(initial=0.0) > OPEN * (1.0 + np.abs(speed).max()):
                name = at.loops.names[int(np.argmax(slip))][0]
                raise SceneError(
                    f"qd breaks the loop of joint {name!r} at {slip.max():.3g} (m/s or rad/s): "
                    "velocities(q, qd[independent]) makes the others agree"
                )
        return at

    def __repr__(self) -> str:
        return (
            f"<Independent of {self.system.scene.name!r}: {_told(self.names) or 'nothing'} of "
            f"{self.dynamics.nv} velocities, choice {self.choices}>"
        )


def _told(names: tuple[str, ...]) -> str:
    """The first few of them."""
    return ", ".join(names[:NAMES_SHOWN]) + (f", … ({len(names)} in all)" if len(names) > NAMES_SHOWN else "")


def _errors(loops: LoopMatrix) -> np.ndarray:
    """(m,) [m, rad]"""
    return np.concatenate([part.error for part in loops.parts]) if loops.parts else np.zeros(0)


def _refuse_given(system: System) -> None:
    refuse_rotors(system, "Independent", of_loops=True)
    for link in system.links:
        if link.prescribed:
            raise FieldError(
                "",
                f"body {link.body!r} is kinematic, and its motion is given: Independent takes none such, Formulation does",
            )
    for loop in system.loops:
        if any(axis.motion is not None for axis in loop.joint.axes):
            raise FieldError(
                "", f"joint {loop.joint.name!r} has a Motion, which is given: Independent takes none such, Formulation does"
            )
