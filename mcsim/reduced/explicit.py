"""Explicit constraints of the user's own: the tree's coordinates as a function of fewer, q = gamma(y).

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 3.2 (Constructing Equations of Motion) and 8.11 (Loop
Closure Functions): with qd = G yd and qdd = G ydd + g,

    G' H G ydd = G' (tau - C - H g)

over the tree's H and C. What holds q to gamma does no work along G, and is left over: tau_c = H qdd + C - tau.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.rotation import conjugate, multiply
from mcsim.reduced.dynamics import Dynamics, as_state
from mcsim.reduced.formulations import TOLERANCE, Split, loop_matrix
from mcsim.reduced.kinds import QUATERNIONS
from mcsim.reduced.rows import refuse_rotors
from mcsim.reduced.spaces import turn_z
from mcsim.reduced.system import System
from mcsim.scene.checks import positive, show

Function = Callable[[np.ndarray], np.ndarray]

TINY = 1e-30  # an imaginary step
CHECK = 1e-6  # by how much derivatives of a user's may differ from differences, relative
OPEN = 1e-6  # by how much loops may be open [m, rad]
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


class Lifted(NamedTuple):
    """The tree's q (nq,), qd (nv,), qdd (nv,) that belong to y, yd, ydd."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


class Explicit:
    """The dynamics of a system whose coordinates are q = gamma(y).

    system: a System, or a Dynamics of one.
    gamma: y (m,) -> q (nq,), smooth; quaternions in it of any length but zero.
    derivative: y -> dq/dy (nq, m). If None, by complex numbers where gamma takes them, else by differences.
    second: y, yd -> (nq,) the second derivative of gamma along yd, d²/dt² gamma(y + t yd) at 0. If None, by differences
        of the derivative, or of gamma itself, then some 1e-11 exact.
    step: of the differences, which are of the eighth order and reach 4 steps to either side of y. 0.01 fits angles and
        ways of about 1; a gamma that bends more sharply needs a smaller one.

    What the user gives is checked against differences wherever it is used, and so are loops: gamma must close them.
    """

    dynamics: Dynamics
    system: System

    def __init__(
        self,
        system: System | Dynamics,
        gamma: Function,
        derivative: Function | None = None,
        second: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
        *,
        step: float = 1e-2,
    ):
        self.dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
        self.system = self.dynamics.system
        for name, function in (("gamma", gamma), ("derivative", derivative), ("second", second)):
            if not callable(function) and (function is not None or name == "gamma"):
                raise SceneError(f"Explicit: {name} must be a function, got {show(function)}")
        refuse_rotors(self.system, "Explicit", of_loops=True)
        self._gamma, self._derivative, self._second = gamma, derivative, second
        self._step = positive(step, "step")

    # ---- kinematics --------------------------------------------------------------------------------------------------

    def q(self, y: ArrayLike) -> np.ndarray:
        """q (nq,) = gamma(y), with quaternions of length 1."""
        return self._normal(self._raw(_as_y(y)))

    def G(self, y: ArrayLike) -> np.ndarray:
        """(nv, m): takes yd to the tree's qd. The loops it is to close are checked."""
        y = _as_y(y)
        rates = self._rates(y)
        columns = np.column_stack([self._velocities(self._raw(y), rate) for rate in rates.T])
        self._check_loops(self.q(y), columns)
        return columns

    def g(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """(nv,): the tree's qdd where ydd = 0."""
        y, yd = _as_y(y), _as_y(yd, "yd", np.size(y))
        return self._accelerations(self._raw(y), self._rates(y) @ yd, self._along(y, yd))

    def lift(self, y: ArrayLike, yd: ArrayLike, ydd: ArrayLike) -> Lifted:
        """The tree's coordinates, velocities and accelerations."""
        base = self.G(y)
        return Lifted(
            self.q(y), base @ _as_y(yd, "yd", base.shape[1]), base @ _as_y(ydd, "ydd", base.shape[1]) + self.g(y, yd)
        )

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def mass_matrix(self, y: ArrayLike) -> np.ndarray:
        """G' H G (m, m)."""
        base = self.G(y)
        return base.T @ self.dynamics.mass_matrix(self.q(y)) @ base

    def forward_dynamics(self, y: ArrayLike, yd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """ydd (m,) under the tree's joint forces tau (nv,), and forces as of Dynamics.forward_dynamics."""
        base, q, bias = self.G(y), self.q(y), self.g(y, yd)
        tau = as_state(tau, "tau", self.system.nv)
        h = self.dynamics.mass_matrix(q)
        force = tau - self.dynamics.bias_force(q, base @ _as_y(yd, "yd", base.shape[1]), forces) - h @ bias
        return np.linalg.solve(base.T @ h @ base, base.T @ force)

    def constraint_force(self, y: ArrayLike, yd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """tau_c (nv,): what the constraint adds to tau to keep the tree to gamma. G' tau_c = 0."""
        q, qd, qdd = self.lift(y, yd, self.forward_dynamics(y, yd, tau, forces))
        return self.dynamics.inverse_dynamics(q, qd, qdd, forces) - as_state(tau, "tau", self.system.nv)

    def loop_forces(
        self, y: ArrayLike, yd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None
    ) -> dict[str, np.ndarray]:
        """lambda of each loop joint, by name (see JointSpaces.T): K' lambda = tau_c. The least one where loops are
        overconstrained, and the nearest where gamma holds more than the loops do."""
        loops = loop_matrix(self.dynamics, self.q(y))
        split = Split.of(loops.rows, TOLERANCE, loops.size)
        found = split.multipliers(split.spanned @ self.constraint_force(y, yd, tau, forces))
        ends = np.cumsum([len(part.names) for part in loops.parts])
        return {part.joint: own for part, own in zip(loops.parts, np.split(found, ends[:-1]))}

    # ---- gamma and its derivatives -----------------------------------------------------------------------------------

    def _raw(self, y: np.ndarray) -> np.ndarray:
        q = as_state(self._gamma(y), "gamma(y)", self.system.nq)
        self._normal(q)  # refuses quaternions that have no direction
        return q

    def _rates(self, y: np.ndarray) -> np.ndarray:
        """dq/dy (nq, m)."""
        differences = np.column_stack([self._difference(self._raw, y, e, FIRST) for e in np.eye(len(y))])
        if self._derivative is None:
            exact = self._by_complex(y)
            return exact if exact is not None and _alike(exact, differences) else differences
        given = np.asarray(self._derivative(y), float)
        if given.shape != differences.shape:
            raise SceneError(f"derivative(y) must be {differences.shape}, got {given.shape}")
        if not _alike(given, differences):
            i, j = np.unravel_index(np.argmax(np.abs(given - differences)), given.shape)
            raise SceneError(
                f"derivative(y) is not that of gamma: dq[{i}]/dy[{j}] is {given[i, j]:.6g}, by "
                f"differences {differences[i, j]:.6g}, at y = {y}"
            )
        return given

    def _by_complex(self, y: np.ndarray) -> np.ndarray | None:
        """dq/dy by an imaginary step, which nothing is subtracted in; None if gamma does not take it."""
        try:
            with warnings.catch_warnings(action="ignore"):
                columns = [np.imag(np.asarray(self._gamma(y + 1j * TINY * e), complex)) / TINY for e in np.eye(len(y))]
        except Exception:  # whatever a function of real numbers does with others
            return None
        return np.column_stack(columns)

    def _along(self, y: np.ndarray, yd: np.ndarray) -> np.ndarray:
        """(nq,) second derivative of gamma along yd."""
        size = np.linalg.norm(yd)
        if size == 0.0:
            return np.zeros(self.system.nq)
        way = yd / size
        differences = size**2 * self._difference(self._raw, y, way, SECOND, 2)
        if self._second is None:
            exact = self._derivative or self._by_complex
            if exact(y) is None:
                return differences
            better = size**2 * self._difference(lambda at: np.asarray(exact(at), float) @ way, y, way, FIRST)
            return better if _alike(better, differences) else differences
        given = as_state(self._second(y, yd), "second(y, yd)", self.system.nq)
        if not _alike(given, differences):
            i = int(np.argmax(np.abs(given - differences)))
            raise SceneError(
                f"second(y, yd) is not that of gamma: for q[{i}] it is {given[i]:.6g}, by differences "
                f"{differences[i]:.6g}, at y = {y}, yd = {yd}"
            )
        return given

    def _difference(
        self, function: Function, y: np.ndarray, way: np.ndarray, weights: np.ndarray, order: int = 1
    ) -> np.ndarray:
        """A derivative along a unit vector, of the eighth order."""
        return (
            sum(weight * function(y + k * self._step * way) for k, weight in enumerate(weights, -4) if weight)
            / self._step**order
        )

    def _check_loops(self, q: np.ndarray, columns: np.ndarray) -> None:
        loops = loop_matrix(self.dynamics, q)
        for part in loops.parts:
            error = np.abs(part.error).max(initial=0.0)
            if error > OPEN:
                raise SceneError(
                    f"gamma does not close the loop of joint {part.joint!r}: it is off by {error:.3g} (m "
                    f"or rad), at q = {q}"
                )
        slip = np.abs(loops.rows @ columns).max(axis=1, initial=0.0) / max(1.0, np.abs(columns).max(initial=0.0))
        if slip.max(initial=0.0) > CHECK:
            name, row = loops.names[int(np.argmax(slip))]
            raise SceneError(f"gamma breaks joint {name!r}: along y its row {row!r} moves by {slip.max():.3g}")

    # ---- q into velocities -------------------------------------------------------------------------------------------

    def _normal(self, q: np.ndarray) -> np.ndarray:
        q = q.copy()
        for link in self.system.links:
            if link.kind in QUATERNIONS:
                part = q[link.q][QUATERNIONS[link.kind] :]
                length = np.linalg.norm(part)
                if length == 0.0:
                    raise SceneError(f"gamma(y) has a quaternion of length zero at link {link.body!r}")
                part /= length
        return q

    def _velocities(self, q: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """qd (nv,) of dq/dt."""
        out = np.zeros(self.system.nv)
        for link in self.system.links:
            out[link.v] = _velocity(link.kind, q[link.q], rate[link.q])
        return out

    def _accelerations(self, q: np.ndarray, rate: np.ndarray, second: np.ndarray) -> np.ndarray:
        """qdd (nv,) of dq/dt and d²q/dt²."""
        out = np.zeros(self.system.nv)
        for link in self.system.links:
            a, da, dda = q[link.q], rate[link.q], second[link.q]
            if link.kind == "planar":  # d/dt of Rz(-angle) (x', y')
                out[link.v] = _planar(a, dda) + _planar(a, [da[2] * da[1], -da[2] * da[0], 0.0])
            elif link.kind in QUATERNIONS:
                n = QUATERNIONS[link.kind]
                out[link.v] = *dda[:n], *_spin(a[n:], da[n:], dda[n:])
            else:
                out[link.v] = dda
        return out


def _velocity(kind: str, q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """qd of one joint's dq/dt."""
    if kind == "planar":
        return _planar(q, rate)
    if kind in QUATERNIONS:
        n = QUATERNIONS[kind]
        return np.concatenate([rate[:n], _spherical(q[n:], rate[n:])])
    return rate


def _planar(q: np.ndarray, rate: Sequence[float] | np.ndarray) -> np.ndarray:
    return turn_z(-q[2]) @ [rate[0], rate[1], 0.0] + [0.0, 0.0, rate[2]]


def _spherical(q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """w = 2 Im(q* q') / |q|², in F_s."""
    return 2.0 * multiply(conjugate(q), rate)[1:] / (q @ q)


def _spin(q: np.ndarray, rate: np.ndarray, second: np.ndarray) -> np.ndarray:
    """w' of a quaternion of any length: Im(q'* q') = 0, and the rate of |q|² is 2 q q'."""
    return _spherical(q, second) - 2.0 * (q @ rate) / (q @ q) * _spherical(q, rate)


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= CHECK * (1.0 + np.abs(b).max(initial=0.0)))


def _as_y(value: ArrayLike, name: str = "y", size: int | None = None) -> np.ndarray:
    array = np.atleast_1d(np.asarray(value, float))
    if array.ndim != 1 or (size is not None and len(array) != size) or not np.isfinite(array).all():
        raise SceneError(f"{name} must be {'' if size is None else f'{size} '}finite numbers, got {show(value)}")
    return array
