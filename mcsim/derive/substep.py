"""One substep as an equation of what it begins with: kick, solve, drift.

u = (1 - d) v + e h (g + M^-1 f)                              what moves freely; d, e: of damping, _damping.pxd
v+ = u + M^-1 J' lambda,   R(lambda, J v+ + b) = 0            active.py
x+ = flight of x by v+                                        flight.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcsim.core.rotation import matrices, products
from mcsim.derive.flight import flight_derivative
from mcsim.derive.rows import RowReader, State
from mcsim.derive.solution import Solution, solved
from mcsim.rotation import from_matrix, from_rotation_vector, normalize
from mcsim.world import World


@dataclass(frozen=True)
class Bodies:
    """What does not change in a step, of n bodies. dynamic (n,) bool; mass (n,); inertia, inverse (n, 3, 3) in body axes;
    fall (n, 3): gravity on each [m/s²]; damping (n, 6): of the twists [1/s]."""

    dynamic: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    inverse: np.ndarray
    fall: np.ndarray
    damping: np.ndarray

    def mobility(self, orientation: np.ndarray) -> np.ndarray:
        """(n, 6, 6) M^-1 in world axes, 0 of what is not dynamic."""
        R = matrices(orientation)
        out = np.zeros((len(self.mass), 6, 6))
        d = self.dynamic
        out[d, :3, :3] = np.eye(3) / self.mass[d, None, None]
        out[d, 3:, 3:] = R[d] @ self.inverse[d] @ np.swapaxes(R[d], -1, -2)
        return out


class Substep:
    """A substep from a state. found: the state at which the step found its contacts; first: whether that is where the
    substep begins; ahead [s]: how much later it begins. after: the world
    that has made the step: of its impulses those go on that no body feels."""

    def __init__(
        self, reader: RowReader, bodies: Bodies, found: State, at: State, ahead: float, after: World, still: float
    ) -> None:
        self.reader, self.bodies, self.found, self.at, self.ahead = reader, bodies, found, at, ahead
        self.h, self.n, self.first = reader.h, len(bodies.mass), ahead == 0.0
        self.layout, self.rows = reader.read(found, at, ahead)
        self.W = bodies.mobility(at.orientation)
        wide = np.zeros((self.n, 6, self.n, 6))
        wide[np.arange(self.n), :, np.arange(self.n), :] = self.W
        self.solution = self._solve(wide.reshape(6 * self.n, 6 * self.n), after, still)

    # ---- the substep -------------------------------------------------------------------------------------------------

    def _solve(self, W: np.ndarray, after: World, still: float) -> Solution:
        bodies = self.bodies
        acts = np.einsum("nij,nj->ni", self.W, self.rows.acting)
        acts[:, :3] += bodies.fall
        y = np.where(bodies.dynamic[:, None], self.h * bodies.damping, 0.0)
        fast = np.maximum(y, 0.5)
        lost = np.where(y <= 0.5, y, 1.0 - 0.25 / fast)
        self.kept, self.given = 1.0 - lost, np.where(y <= 0.5, 1.0, lost / fast)
        free = self.kept * self.at.twist + self.given * self.h * np.where(bodies.dynamic[:, None], acts, 0.0)
        start = self.layout.impulses_of(after._collider.get_manifolds(), after._joints, self.rows.J)
        return solved(self.layout, self.rows, self.reader.records.copy(), W, free.ravel(), start, still)

    def end(self) -> State:
        """The state after it."""
        v = self.solution.v.reshape(-1, 6).copy()
        position, orientation = self.at.position + self.h * v[:, :3], self.at.orientation.copy()
        d = np.flatnonzero(self.bodies.dynamic)
        R, spin, self.flight = flight_derivative(
            orientation[d], v[d, 3:], self.bodies.inertia[d], self.bodies.inverse[d], self.h
        )
        for i, rotation in zip(d, R):
            orientation[i] = from_matrix(rotation)
        v[d, 3:] = spin
        orientation, still = self._carried(orientation, v), ~self.bodies.dynamic
        position[still] = self.at.position[still] + self.h * self.at.twist[still, :3]
        return State(position, orientation, v)

    def _carried(self, orientation: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What is not dynamic turns as it is told."""
        still = ~self.bodies.dynamic
        orientation[still] = normalize(products(from_rotation_vector(self.h * v[still, 3:]), self.at.orientation[still]))
        return orientation

    def effort_wrenches(self) -> np.ndarray:
        """(6 n, nv) what a unit of each force along a coordinate is as forces on the bodies."""
        return self.reader.effort_wrenches(self.found, self.at, self.ahead)
