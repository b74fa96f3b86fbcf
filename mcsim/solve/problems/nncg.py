"""Nonsmooth nonlinear conjugate gradients: sweeps of Gauss-Seidel, and between them a step along the way come so far.

    l' = sweep(y),  d = l' - y          minus the gradient of a merit function, preconditioned by the sweep
    p' = d + beta p,  y' = y + p'       the next sweep begins there

A sweep forth and one back make a preconditioner that is symmetric, as conjugate gradients need. beta:

    exact               takes y' to where the objective is least along p: -p' w / p' A p, w the velocities at l' with De
                        Saxce's shift. A p follows from the velocities at the points before, so it costs two products
    fletcher_reeves     |d|^2 / |d before|^2; above 1 the way begins anew

Not monotone: the best swept impulses are kept. Below some ten iterations plain sweeps are as good.
Source: M. Silcowitz, S. Niebe and K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force
problems", 2010 (fletcher_reeves with forward sweeps); the exact beta and the sweeps both ways are ours.
"""

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._gradients import dot, shifts
from mcsim.solve.problems._sweeps import sweep
from mcsim.solve.problems.pgs import ORDERS
from mcsim.solve.problems.solution import Progress

BETAS = ("exact", "fletcher_reeves")


def solve(problem, model, tolerance, max_iterations, callback, *, beta="exact", order="symmetric", omega=1.0):
    """beta: "exact" or "fletcher_reeves". order: of an iteration's sweep, "forward" or "backward"; or "symmetric", two
    sweeps, forth and back. omega: relaxation of the sweeps, in (0, 2)."""
    if beta not in BETAS:
        raise SceneError(f"solve: beta must be one of: {', '.join(BETAS)}; got {beta!r}")
    if order not in ORDERS:
        raise SceneError(f"solve: order must be one of: {', '.join(ORDERS)}; got {order!r}")
    if not 0.0 < omega < 2.0:
        raise SceneError(f"solve: omega must lie between 0 and 2, got {omega!r}")
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    system, n = problem.system, problem.row_count
    impulses = problem.warm_start.copy()
    # Impulses, velocities and state in one: all are linear in the impulses, so the way is a way of the three.
    at = np.concatenate([impulses, *system.rates(impulses)])
    progress.record(at[:n], at[n:2 * n])
    way, before = np.zeros_like(at), 0.0
    while progress.going:
        begun = at.copy()
        for backward in (False, True):
            if order == "symmetric" or backward == (order == "backward"):
                sweep(system, progress.model_number, at[:n], at[2 * n:], omega, backward)
        at[n:2 * n], at[2 * n:] = system.rates(at[:n])
        progress.record(at[:n], at[n:2 * n])
        change = at - begun
        square = dot(change[:n], change[:n])
        if beta == "exact":
            more = least_along(system, model, way, at[n:2 * n])
        else:
            more = square / before if square <= before else 0.0
        before = square
        way *= more
        way += change
        at = begun + way
    return progress.solution("nncg")


def least_along(system, model, way, velocities):
    """How far the objective falls along the way; 0 where it only rises."""
    n = len(velocities)
    curvature = dot(way[:n], way[n:2 * n])
    if not curvature > 0.0:
        return 0.0
    if model == "ncp":
        shift = np.zeros(n)
        shifts(system, velocities, shift)
        velocities = velocities + shift
    return max(0.0, -dot(way[:n], velocities) / curvature)
