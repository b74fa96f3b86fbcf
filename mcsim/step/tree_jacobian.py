"""The Jacobian of the rates of trees, analytically, for the implicit methods that follow them.

A state is y = (q, qd), of a ball joint or a body that floats with its turn u from where the method counts from, q = q0
exp(u), in place of the quaternion (reduced/_tree_runge_kutta.pyx). With the derivatives A of the accelerations along the
velocities and C by them (J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics algorithms", 2018),
and forces f(q_j, qd_j) along single coordinates, springs, dampers and friction,

    dqdd/dq = A + H^-1 df/dq,    dqdd/dqd = C + H^-1 df/dqd;    u' = B(u) w,    dqdd/du = dqdd/dsigma B(u)^-1

where sigma are the turns along the velocities w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcsim.core.linear import inverse, product
from mcsim.core.rotation import cross_matrices
from mcsim.core.trig import cos, sin
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.kinds import KINDS

NEAR = 0.01  # |u|^2 below which series have all digits
PLANAR = KINDS["planar"].pattern


class TreeJacobian:
    """dynamics: of the trees; links: their records (LINK_DTYPE); place (size,): which numbers of (q, qd) move."""

    def __init__(self, dynamics: Dynamics, links: np.ndarray, place: np.ndarray, nq: int):
        self.dynamics, self.links, self.nq = dynamics, links, nq
        at = {int(p): i for i, p in enumerate(place)}
        moving = [link for link in links if not link["prescribed"]]
        pairs = [
            (at[int(link["q"]) + k], at[nq + int(link["v"]) + k], int(link["v"]) + k)
            for link in moving
            for k in range(int(link["freedoms"]))
        ]
        self.of_q, self.of_v, self.v = (np.array(numbers, np.intp) for numbers in np.array(pairs, np.intp).reshape(-1, 3).T)
        self.turning = [
            (int(link["q"] + link["quaternion"]), int(link["v"] + link["quaternion"]))
            for link in moving
            if link["quaternion"] >= 0
        ]
        self.at = at
        self.own = np.ix_(self.v, self.v)
        self.by_place, self.by_rate = np.ix_(self.of_v, self.of_q), np.ix_(self.of_v, self.of_v)
        self.place_by_place, self.place_by_rate = np.ix_(self.of_q, self.of_q), np.ix_(self.of_q, self.of_v)

    @staticmethod
    def knows(links: np.ndarray) -> bool:
        """Whether it does, of trees of these links: joints of the user's, planar ones, whose axes turn with them, and
        motions that are given are left to differences."""
        given = (links["given"] == 1) & (links["prescribed"] == 0)
        return bool(len(links)) and not (np.any(given) or np.any(links["user"] >= 0) or np.any(links["kind"] == PLANAR))

    def fill(
        self,
        out: np.ndarray,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        forces: np.ndarray,
        slopes: tuple[np.ndarray, np.ndarray],
        turned: np.ndarray,
        loops: Any = None,
        projected: bool = False,
    ) -> None:
        """out (size, size) <- the derivatives of rates by numbers that move, of the state q, qd with the joint forces tau,
        slopes (nv,) of them by q and by qd, and forces (bodies, 6) [N, N m], world. turned (nq,): u at their
        places. loops: what closes loops, whose forces are among those; its fill(by_q, by_qd, H^-1, projected) tells how
        they change (_loop_jacobian.pyx)."""
        found = self.dynamics.forward_dynamics_derivatives(q, qd, tau, forces)
        by_q = found.dqdd_dq + found.dqdd_dtau * slopes[0]
        by_qd = found.dqdd_dqd + found.dqdd_dtau * slopes[1]
        v_by_q, v_by_qd = np.zeros(by_q.shape), np.eye(len(by_q))
        if loops is not None:
            by_q, by_qd, v_by_q, v_by_qd = loops.fill(by_q, by_qd, found.dqdd_dtau, projected)
        slopes_by_place = []
        for place, v in self.turning:
            rate, slope = turn_derivatives(turned[place : place + 3], qd[v : v + 3])
            span, back = slice(v, v + 3), inverse(rate)
            v_by_q[span], v_by_qd[span] = product(rate, v_by_q[span]), product(rate, v_by_qd[span])
            by_q[:, span], v_by_q[:, span] = product(by_q[:, span], back), product(v_by_q[:, span], back)
            here = [self.at[place + k] for k in range(3)]
            slopes_by_place.append((np.ix_(here, here), slope))
        out[self.by_place] = by_q[self.own]
        out[self.by_rate] = by_qd[self.own]
        out[self.place_by_place] = v_by_q[self.own]
        out[self.place_by_rate] = v_by_qd[self.own]
        for where, slope in slopes_by_place:
            out[where] += slope


def turn_derivatives(u: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> B (3, 3) with u' = B w = w + u x w/2 + c u x (u x w), c = (1 - (a/2) cot (a/2)) / a^2, a = |u|, of q0 exp(u), and
    the derivative (3, 3) of B w by u."""
    square, along = float(np.sum(u * u)), float(np.sum(u * w))
    if square < NEAR:
        c = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square / 1209600))
        slope = 1 / 720 + square * (2 / 30240 + square * (3 / 1209600 + square * 4 / 47900160))
    else:
        half = 0.5 * float(np.sqrt(square))
        sine, cosine = sin(half), cos(half)
        c = (1.0 - half * cosine / sine) / square
        # Of c by a^2, with d(half cot half)/d(a^2) = (cot half - half / sin^2 half) / (8 half).
        slope = -((cosine / sine - half / (sine * sine)) / (8.0 * half) + c) / square
    cross, one = cross_matrices(u), np.eye(3)
    twice = u[:, None] * u - square * one
    rate = one + 0.5 * cross + c * twice
    bent = along * one + u[:, None] * w - 2.0 * w[:, None] * u
    pulled = u * along - square * w
    return rate, -0.5 * cross_matrices(w) + c * bent + 2.0 * slope * pulled[:, None] * u


def tree_jacobian(dynamics: Any, links: np.ndarray, place: np.ndarray, nq: int) -> TreeJacobian | None:
    """None where differences are to be taken."""
    return TreeJacobian(Dynamics(dynamics.system), links, place, nq) if TreeJacobian.knows(links) else None
