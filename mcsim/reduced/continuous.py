"""The motion of a tree as a differential equation, solved by SciPy to a tolerance: what other runs are measured by."""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.rotation import multiply, rotate
from mcsim.reduced.kinds import QUATERNIONS
from mcsim.reduced.system import System

TOLERANCE = 1e-12


def coordinate_rates(system: System, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """dq/dt (nq,) at q (nq,), qd (nv,): for quaternions 1/2 q (0, w), for a planar joint the velocity turned into F_p."""
    rates = np.empty(system.nq)
    for link in system.links:
        at, moving = rates[link.q], qd[link.v]
        if link.kind in QUATERNIONS:
            begin = QUATERNIONS[link.kind]
            at[:begin] = moving[:begin]
            at[begin:] = multiply(q[link.q][begin:], np.array([0.0, *(0.5 * moving[begin:])]))
        elif link.kind == "planar":
            angle = q[link.q][2]
            turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
            at[:2], at[2] = rotate(turn, np.array([*moving[:2], 0.0]))[:2], moving[2]
        else:
            at[:] = moving
    return rates


def integrate(pipeline, start: float, seconds: float, forces: np.ndarray) -> None:
    """Advance q and qd of a pipeline by DOP853 at relative and absolute tolerances of 1e-12. forces (bodies, 6): [f;
    torque] at the centres of mass, world axes."""
    from scipy.integrate import solve_ivp

    system, dynamics, nq = pipeline.system, pipeline.dynamics, len(pipeline.q)
    pushed = forces.copy() if np.any(forces) else None

    def rates(_, state):
        q, qd = state[:nq], state[nq:]
        return np.concatenate([coordinate_rates(system, q, qd), dynamics.forward_dynamics(q, qd, pipeline.tau, pushed)])

    if seconds == 0.0 or not len(pipeline.qd):
        return
    found = solve_ivp(rates, (start, start + seconds), np.concatenate([pipeline.q, pipeline.qd]), method="DOP853",
                      rtol=TOLERANCE, atol=TOLERANCE)
    if not found.success:
        raise SimulationError(f"the reference integrator stopped at t = {found.t[-1]:.6g} s: {found.message}")
    q = found.y[:nq, -1]
    for link in system.links:
        if link.kind in QUATERNIONS:
            part = q[link.q][QUATERNIONS[link.kind]:]
            part /= np.linalg.norm(part)
    pipeline.q[...], pipeline.qd[...] = q, found.y[nq:, -1]
