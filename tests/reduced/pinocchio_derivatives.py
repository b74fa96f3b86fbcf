"""Pinocchio's derivatives in the coordinates of a System: what its joints' own velocities v' = B(q) qd and coordinates make
of them by the chain rule. Derivatives of B along q are central differences of it, to some 1e-12.

Without forces and with one gravity for all bodies: forces that Pinocchio is given turn with the bodies when q changes.
"""

import numpy as np
import pinocchio as pin

from pinocchio_model import PinocchioModel, _velocity_matrix, _velocity_matrix_rate
from twin import advance

STEP = 1e-3


def along(function, size):
    """(…, size): derivatives of a function of a step (size,), by differences of fourth order."""
    columns = []
    for unit in STEP * np.eye(size):
        near, far = function(unit) - function(-unit), function(2 * unit) - function(-2 * unit)
        columns.append((8.0 * near - far) / (12.0 * STEP))
    return np.stack(columns, axis=-1)


def _velocity(link, q, qd):
    return _velocity_matrix(link, q), _velocity_matrix_rate(link, q, qd)


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


class PinocchioDerivatives(PinocchioModel):
    """By q along the velocities of the System, as Dynamics has them."""

    def __init__(self, system):
        super().__init__(system, apart=True)
        assert not self.additions.any(), "bodies that differ in gravity"

    def coordinates(self, q, qd):
        """B, its derivatives (nv, nv, nv) along q, and those of Ḃ q̇ by q and by q̇; each joint for itself."""
        n = self.nv
        b, b_q, drift_q, drift_qd = self.velocity_matrix(q), np.zeros((n, n, n)), np.zeros((n, n)), np.zeros((n, n))
        for link in self.links:
            at, own, rates, size = link.v, q[link.q], qd[link.v], link.v.stop - link.v.start
            if size == 0 or (not link.reversed and link.kind != "free"):
                continue  # nothing, or 1
            by_q = along(lambda e: np.column_stack(_velocity(link, advance(link.kind, own, e, 1.0), rates)), size)
            b_q[at, at, at], drift_q[at, at] = by_q[:, :-1], by_q[:, -1]
            drift_qd[at, at] = along(lambda e: _velocity(link, own, rates + e)[1], size)
        return b, b_q, drift_q, drift_qd

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        b, b_q, drift_q, drift_qd = self.coordinates(q, qd)
        given = self.position(q), b @ qd, b @ qdd + self.velocity_matrix_rate(q, qd)
        square = self.nv, self.nv
        parts = pin.computeRNEADerivatives(self.model, self.data, *given)
        by_p, by_v, h = (np.array(part).reshape(square) for part in parts)
        h, tau = symmetric(h), pin.rnea(self.model, self.data, *given)
        v_q, a_q = np.einsum("ijk,j->ik", b_q, qd), np.einsum("ijk,j->ik", b_q, qdd) + drift_q
        by_q = np.einsum("jik,j->ik", b_q, tau) + b.T @ (by_p @ b + by_v @ v_q + h @ a_q)
        return by_q, b.T @ (by_v @ b + h @ drift_qd), b.T @ h @ b

    def forward_dynamics_derivatives(self, q, qd, tau):
        b, b_q, drift_q, drift_qd = self.coordinates(q, qd)
        back = np.linalg.inv(b)
        theirs = back.T @ tau
        given = self.position(q), b @ qd, theirs
        square = self.nv, self.nv
        parts = pin.computeABADerivatives(self.model, self.data, *given)
        by_p, by_v, h_inverse = (np.array(part).reshape(square) for part in parts)
        h_inverse = symmetric(h_inverse)
        qdd = back @ (pin.aba(self.model, self.data, *given) - self.velocity_matrix_rate(q, qd))
        v_q, a_q = np.einsum("ijk,j->ik", b_q, qd), np.einsum("ijk,j->ik", b_q, qdd) + drift_q
        tau_q = -back.T @ np.einsum("jik,j->ik", b_q, theirs)
        by_q = back @ (by_p @ b + by_v @ v_q + h_inverse @ tau_q - a_q)
        return by_q, back @ (by_v @ b - drift_qd), back @ h_inverse @ back.T

    def velocity_derivatives(self, q, qd):
        """By links: of v and w by q, and by qd, (links, 3, nv) each."""
        b, b_q, _, _ = self.coordinates(q, qd)
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.position(q), b @ qd, np.zeros(self.nv))
        pin.updateFramePlacements(self.model, self.data)
        by_q, by_qd = np.zeros((2, len(self.links), 2, 3, self.nv))
        for i, frame in enumerate(self.centers):
            if not self.joints[i]:  # Pinocchio knows no derivatives of what is fixed to the world
                continue
            own = pin.getFrameVelocityDerivatives(self.model, self.data, frame, pin.LOCAL)
            by_p, by_v = (self.data.oMf[frame].rotation @ np.array(part).reshape(2, 3, self.nv) for part in own)
            twist = pin.getFrameVelocity(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            for k, velocity in enumerate((twist.linear, twist.angular)):  # of numbers in the body's axes, which turn
                by_p[k] += np.cross(by_v[1], velocity, axis=0)
            by_q[i] = by_p @ b + by_v @ np.einsum("ijk,j->ik", b_q, qd)
            by_qd[i] = by_v @ b
        return by_q[:, 0], by_q[:, 1], by_qd[:, 0], by_qd[:, 1]
