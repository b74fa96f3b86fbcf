"""The motion of a tree as a differential equation."""

from __future__ import annotations

import numpy as np

from mcsim.core.linear import lengths
from mcsim.core.rotation import multiply
from mcsim.core.trig import cos, sin
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.kinds import QUATERNIONS


class Flow:
    """The motion of a tree as one ordinary differential equation: y = (q, qd), (nq + nv,).

    tau (nv,): joint forces, none if not given; forces (bodies, 6) as of Dynamics.forward_dynamics.
    """

    nq: int
    dynamics: Dynamics
    tau: np.ndarray
    forces: np.ndarray | None
    quaternions: np.ndarray
    spins: np.ndarray
    rates: np.ndarray
    velocities: np.ndarray
    planar_q: np.ndarray
    planar_v: np.ndarray

    def __init__(self, dynamics: Dynamics, tau: np.ndarray | None = None, forces: np.ndarray | None = None):
        system = dynamics.system
        self.nq = system.nq
        self.dynamics = dynamics
        self.tau = np.zeros(system.nv) if tau is None else tau
        self.forces = forces
        at = [(link.q.start + QUATERNIONS[link.kind], link.v.stop - 3) for link in system.links if link.kind in QUATERNIONS]
        self.quaternions = np.array([range(q, q + 4) for q, _ in at], np.intp).reshape(-1, 4)
        self.spins = np.array([range(v, v + 3) for _, v in at], np.intp).reshape(-1, 3)
        # Coordinates whose rates are velocities as they are, and planar joints: velocities in F_s, rates in F_p.
        straight = [
            (link.q.start + i, link.v.start + i)
            for link in system.links
            for i in range(QUATERNIONS.get(link.kind, link.q.stop - link.q.start))
        ]
        self.rates, self.velocities = np.array(straight, np.intp).reshape(-1, 2).T
        planar = [(link.q.start, link.v.start) for link in system.links if link.kind == "planar"]
        self.planar_q, self.planar_v = np.array(planar, np.intp).reshape(-1, 2).T

    def normalized(self, q: np.ndarray) -> np.ndarray:
        """q (nq,) or (t, nq), its quaternions of length 1."""
        if not len(self.quaternions):
            return q
        q = q.copy()
        parts = q[..., self.quaternions]
        q[..., self.quaternions] = parts / lengths(parts)[..., None]
        return q

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray:
        """dy/dt"""
        q, qd = y[: self.nq], y[self.nq :]
        acceleration = self.dynamics.forward_dynamics(self.normalized(q), qd, self.tau, self.forces)
        return np.concatenate([self.coordinate_rates(q, qd), acceleration])

    def coordinate_rates(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """dq/dt (nq,)"""
        out = np.empty_like(q)
        out[self.rates] = qd[self.velocities]
        if len(self.planar_q):
            i, j = self.planar_q, self.planar_v
            c, s = cos(q[i + 2]), sin(q[i + 2])
            out[i], out[i + 1] = c * qd[j] - s * qd[j + 1], s * qd[j] + c * qd[j + 1]
        if len(self.quaternions):
            # A body's quaternion: dq/dt = q (0, w) / 2, w in its own axes.
            w = qd[self.spins].T
            out[self.quaternions.T] = 0.5 * multiply(q[self.quaternions].T, np.stack([0.0 * w[0], *w]))
        return out
