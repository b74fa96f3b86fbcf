"""Nonsmooth nonlinear conjugate gradients: sweeps of Gauss-Seidel, and between them a step along the way come so far.

    l' = sweep(y),  d = l' - y          minus the gradient of a merit function, preconditioned by the sweep
    p' = d + beta p,  y' = y + p'       the next sweep begins there

A sweep forth and one back make a preconditioner that is symmetric, as conjugate gradients need. beta:

    exact               takes y' to where the objective is least along p: -p' w / p' A p, w the velocities at l', but
                        not more than twice as far as the step before. A p follows from the velocities at the points
                        before, so it costs two products
    fletcher_reeves     |d|^2 / |d before|^2; above 1 the way begins anew

A sweep alone never raises the objective; a step beyond the cones may, and then the next sweep does not make up for it.
So where l' is higher than the l' before, the step is taken back, and a plain sweep begins a new way: without that the
ways of a single sliding cube go round and round, and along flat ones (p' A p all but 0: points of a face that share
their load in another way) to no end.

The exact model and the pyramid are swept as convex ones with De Saxce's shift, which follows (`convex.py`): with the
sweeps that pgs makes for them there would be no objective to go down. The residuals need not fall in every iteration:
the best swept impulses are kept. Below some ten iterations plain sweeps are as good.

Source: M. Silcowitz, S. Niebe and K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact
force problems", 2010 (fletcher_reeves with forward sweeps); the exact beta, the sweeps both ways and what is done
about steps that lead up are ours.
"""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.solve.problems._gradients import dot
from mcsim.solve.problems._sweeps import sweep
from mcsim.solve.problems.convex import Convex, run
from mcsim.solve.problems.pgs import check_sweeps
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Solution

BETAS = ("exact", "fletcher_reeves")
FLAT = 1e-14  # of A's largest diagonal entry: what curves less along a way is flat, but for rounding
LOCAL_STEPS = 2  # of a contact in a sweep: the ways make up for fewer than pgs needs
LONGEST = 2.0  # of beta: flat ways end somewhere at the cones; doubling comes there soon, and not far beyond


class Conjugate:
    """The method on a problem of one round. at: y, its velocities and its state, all linear in the impulses; way: p
    of the three; swept: l' of the last step that did not lead up, likewise."""

    def __init__(self, convex: Convex, impulses: np.ndarray, w: np.ndarray, beta: str, order: str, omega: float) -> None:
        self.convex, self.rule, self.omega = convex, beta, omega
        self.ways = {"forward": (False,), "backward": (True,), "symmetric": (False, True)}[order]
        self.count = len(impulses)
        self.flat = FLAT * float(convex.system.local_blocks.max(initial=0.0))
        self.begin(impulses, w)

    def begin(self, impulses: np.ndarray, w: np.ndarray) -> None:
        self.at = np.concatenate([impulses, w, self.convex.system.rates(impulses)[1]])
        self.swept = self.at
        self.turn()

    def turn(self) -> None:
        """Begin a new way at the last swept impulses."""
        self.at, self.way = self.swept.copy(), np.zeros_like(self.at)
        self.square, self.plain = 0.0, True

    def shift(self, change: np.ndarray) -> None:
        for point in (self.at, self.swept):
            point[self.count : 2 * self.count] += change

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        n, convex = self.count, self.convex
        swept = self.at.copy()
        for backward in self.ways:
            sweep(convex.system, convex.model, swept[:n], swept[2 * n :], self.omega, backward, LOCAL_STEPS)
        swept[n : 2 * n], swept[2 * n :] = convex.system.rates(swept[:n])
        if not self.plain and self.higher(swept):
            self.turn()
        else:
            change = swept - self.at
            self.way *= self.beta(change[:n], swept[n : 2 * n])
            self.way += change
            self.at += self.way
            self.swept, self.plain = swept, False
        return swept[:n], swept[n : 2 * n]

    def higher(self, swept: np.ndarray) -> bool:
        """Whether the objective there is above that of the last swept impulses: their difference, of a quadratic, by the
        mean of both gradients, which rounding does not hide as it does the difference of two values."""
        n = self.count
        return dot(swept[:n] - self.swept[:n], swept[n : 2 * n] + self.swept[n : 2 * n]) > 0.0

    def beta(self, change: np.ndarray, w: np.ndarray) -> float:
        """How far to go on along the way; 0 where it leads up, or down for ever."""
        n = self.count
        if self.rule == "exact":
            impulses = self.way[:n]
            curvature = dot(impulses, self.way[n : 2 * n])
            if not curvature > self.flat * dot(impulses, impulses):
                return 0.0
            return min(LONGEST, max(0.0, -dot(impulses, w) / curvature))
        before, self.square = self.square, dot(change, change)
        return self.square / before if self.square <= before and before > 0.0 else 0.0


def solve(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    *,
    beta: str = "exact",
    order: str = "symmetric",
    omega: float = 1.0,
) -> Solution:
    """beta: "exact" or "fletcher_reeves". order: of an iteration's sweep, "forward" or "backward"; or "symmetric", two
    sweeps, forth and back. omega: relaxation of the sweeps, in (0, 2)."""
    if beta not in BETAS:
        raise SceneError(f"solve: beta must be one of: {', '.join(BETAS)}; got {beta!r}")
    check_sweeps(omega, order)

    def make(convex: Convex, impulses: np.ndarray, w: np.ndarray) -> Conjugate:
        return Conjugate(convex, impulses, w, beta, order, omega)

    return run("nncg", make, problem, model, tolerance, max_iterations, callback)
