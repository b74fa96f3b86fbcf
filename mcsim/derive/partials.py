"""The derivatives of one substep (substep.py).

For a change of anything, with dJ, db, dM^-1 and du what it changes directly, and G = by_rate A + by_impulse of solution.py:

    dv' = du + d(M^-1) J' lambda + M^-1 dJ' lambda,       at the same impulses
    G dlambda = -(by_rate (J dv' + dJ v+ + db) + dR),     dv+ = dv' + M^-1 J' dlambda
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.rotation import cross_matrices
from mcsim.derive.active import changed_by_rows
from mcsim.derive.differences import Change, Differences
from mcsim.derive.substep import Substep


class Partials(NamedTuple):
    """Of the state (12 n,) = [poses; twists] after a substep: by the poses at which the step found its contacts; by poses
    and twists that the substep began with; and `others`, by all else, side by side: forces (6 n), efforts, masses with the
    inertia, masses alone, factors of friction (n each)."""

    by_found: np.ndarray
    by_pose: np.ndarray
    by_twist: np.ndarray
    others: np.ndarray

    def after(self, total: np.ndarray, n: int) -> np.ndarray:
        """(12 n, columns) the derivatives of the substeps so far and this one. total: of those so far, by [the state before
        the step; all else]."""
        out = np.concatenate([self.by_pose, self.by_twist], axis=1) @ total
        out[:, : 6 * n] += self.by_found
        out[:, 12 * n :] += self.others
        return out


def partials(substep: Substep, differences: Differences) -> Partials:
    """All derivatives of a substep of which end() has been found."""
    return _Derivation(substep).partials(differences)


class _Derivation:
    """Of one substep."""

    def __init__(self, substep: Substep) -> None:
        self.substep, self.solution, self.rows = substep, substep.solution, substep.rows
        self.layout, self.bodies, self.W = substep.layout, substep.bodies, substep.W
        self.h, self.n, self.kept, self.given = substep.h, substep.n, substep.kept, substep.given

    def partials(self, differences: Differences) -> Partials:
        n, r = self.n, len(self.rows)
        by_pose = self._by_rows(differences.by_pose(self.substep)) + self._respond(self._turned_mobility())
        by_found = np.zeros((12 * n, 6 * n))
        if not self.substep.first:
            by_found = self._after(self._by_rows(differences.by_found(self.substep)), None)
        by_twist = self._respond(np.diag(self.kept.ravel()))
        if differences.twists_matter(self.layout):
            by_twist = by_twist + self._by_rows(differences.by_twist(self.substep))
        by_force = self.h * self.given.ravel()[:, None] * self.solution.W
        wrenches = self.substep.effort_wrenches()
        direct = np.concatenate([by_force, by_force @ wrenches, *self._by_masses(), np.zeros((6 * n, n))], axis=1)
        residual = np.zeros((r, direct.shape[1]))
        residual[:, direct.shape[1] - n :] = self.solution.law.by_friction[:, None] * differences.frictions(self.layout)
        others = self._after(self._respond(direct, None, residual), None)
        return Partials(by_found, self._after(by_pose, np.eye(6 * n)), self._after(by_twist, None), others)

    def _respond(
        self, direct: np.ndarray, rate: np.ndarray | None = None, residual: np.ndarray | None = None
    ) -> np.ndarray:
        """dv+ (6 n, columns) of dv' at the same impulses, dJ v+ + db, and dR."""
        s = self.solution
        asked = s.J @ direct if rate is None else s.J @ direct + rate
        asked = s.law.by_rate @ asked
        if residual is not None:
            asked = asked + residual
        return direct + s.W @ (s.J.T @ s.solver(asked))

    def _by_rows(self, changes: Iterator[Change]) -> np.ndarray:
        """dv+ (6 n, 6 n) of how rows change as each body moves."""
        s, n = self.solution, self.n
        rate, residual = np.zeros((len(self.rows), 6 * n)), np.zeros((len(self.rows), 6 * n))
        wrench = np.zeros((n + 2, 6, 6 * n))  # of impulses; the last two places are of the world and of nobody
        v = np.concatenate([s.v.reshape(-1, 6), np.zeros((2, 6))])[self.layout.ends]  # (r, 2, 2, 6)
        for change in changes:
            own = np.flatnonzero(change.owner >= 0)
            column = 6 * change.bodies[change.owner[own]] + change.axis
            part = 1.0 / change.size[change.owner[own]]
            rows = change.rows
            rate[own, column] = part * (np.einsum("rpsk,rpsk->r", rows.J, v) + rows.bias[:, s.p])[own]
            law = changed_by_rows(self.layout, self.rows, s.blocks, s.modes, s.w, s.impulse, rows, s.p)
            residual[own, column] = part * law[own]
            pushes = rows.J[own] * (part * s.impulse[own])[:, None, None, None]
            places: Any = self.layout.ends[own], slice(None), column[:, None, None]
            np.add.at(wrench, places, pushes)
            for body, by, acted in zip(change.bodies, change.size, change.acted):
                acting = self.h * self.given * rows.acting * acted[:, None] / by
                wrench[:n, :, 6 * body + change.axis] += acting
        direct = np.einsum("nij,njk->nik", self.W, wrench[:n]).reshape(6 * n, 6 * n)
        return self._respond(direct, rate, residual)

    def _turned_mobility(self) -> np.ndarray:
        """(6 n, 6 n) dv' as each body turns: dM^-1 = [t] M^-1 - M^-1 [t] of what acts and of impulses."""
        n, out = self.n, np.zeros((self.n, 6, self.n, 6))
        impulse = (self.solution.J.T @ self.solution.impulse).reshape(n, 6)
        crosses = cross_matrices(np.eye(3))
        for i in np.flatnonzero(self.bodies.dynamic):
            I = self.W[i, 3:, 3:]  # noqa: E741  # the inverse inertia
            for axis in range(3):
                turned = crosses[axis] @ I - I @ crosses[axis]
                kick = self.h * self.given[i, 3:] * (turned @ self.rows.acting[i, 3:])
                out[i, 3:, i, 3 + axis] = turned @ impulse[i, 3:] + kick
        return out.reshape(6 * n, 6 * n)

    def _by_masses(self) -> tuple[np.ndarray, np.ndarray]:
        """(6 n, n) dv' by a mass with the inertia in proportion, and with the inertia as it is."""
        n = self.n
        pushed = (self.solution.J.T @ self.solution.impulse).reshape(n, 6) + self.h * self.given * self.rows.acting
        both, alone = np.zeros((n, 6, n)), np.zeros((n, 6, n))
        for i in np.flatnonzero(self.bodies.dynamic):
            both[i, :, i] = -self.W[i] @ pushed[i] / self.bodies.mass[i]
            alone[i, :3, i] = both[i, :3, i]
        return both.reshape(6 * n, n), alone.reshape(6 * n, n)

    def _after(self, by_velocity: np.ndarray, by_pose: np.ndarray | None) -> np.ndarray:
        """(12 n, columns) of the state after the drift, of dv+ and of dx before it."""
        n, columns = self.n, by_velocity.shape[1]
        v = by_velocity.reshape(n, 6, columns)
        x = np.zeros_like(v) if by_pose is None else by_pose.reshape(n, 6, columns)
        out = np.zeros((2, n, 6, columns))
        d = np.flatnonzero(self.bodies.dynamic)
        out[0, d, :3] = x[d, :3] + self.h * v[d, :3]
        out[1, d, :3] = v[d, :3]
        turned = self.substep.flight @ np.concatenate([x[d, 3:], v[d, 3:]], axis=1)
        out[0, d, 3:], out[1, d, 3:] = turned[:, :3], turned[:, 3:]
        return out.reshape(12 * n, columns)
