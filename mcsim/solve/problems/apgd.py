"""Accelerated projected gradient descent on the cone complementarity problem; the exact model and the pyramid by its shift.

    l' = P_K(y - S w(y) / L)            w = A y + R y + b, the gradient; S: scales, one a block
    y' = l' + beta (l' - l)             Nesterov's momentum, beta = theta (1 - theta) / (theta^2 + theta')

L: doubled while f(l') is above its bound f(y) + w (l' - y) + L/2 |l' - y|^2, then let down by a tenth an iteration. The
momentum is dropped when it leads uphill, w(y) (l' - l) > 0.

Source: H. Mazhar, T. Heyn, D. Negrut and A. Tasora, "Using Nesterov's method to accelerate multibody dynamics with
friction and contact", 2015. As f is a quadratic, its bound is d' A d <= L |d|^2, and w(y) follows from w(l') and
w(l): one product with A an iteration. The scales and how the shift follows (`convex.py`) are ours.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mcsim.solve.problems._gradients import along, beyond, slope
from mcsim.solve.problems.convex import Convex, run
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Solution

MOST_DOUBLINGS = 60
EASE = 0.9  # of L from one iteration to the next


class Accelerated:
    """The method on a convex problem. bound: L."""

    w: np.ndarray
    ahead_w: np.ndarray

    def __init__(self, convex: Convex, impulses: np.ndarray, w: np.ndarray) -> None:
        self.convex = convex
        self.bound = 1.0
        self.begin(impulses, w)

    def shift(self, change: np.ndarray) -> None:
        self.w = self.w + change
        self.ahead_w = self.ahead_w + change

    def begin(self, impulses: np.ndarray, w: np.ndarray) -> None:
        self.impulses = self.ahead = impulses
        self.w = self.ahead_w = w
        self.theta = 1.0

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        convex = self.convex
        for _ in range(MOST_DOUBLINGS):
            impulses = convex.descend(self.ahead, self.ahead_w, 1.0 / self.bound)
            w = convex.rates(impulses)
            curvature, length, _ = along(impulses, self.ahead, w, self.ahead_w, convex.scale)
            if not curvature > self.bound * length:
                break
            self.bound *= 2.0
        self.bound *= EASE
        if slope(self.ahead_w, impulses, self.impulses) > 0.0:
            self.begin(impulses, w)
            return impulses, w
        theta = 0.5 * self.theta * (sqrt(self.theta * self.theta + 4.0) - self.theta)
        more = self.theta * (1.0 - self.theta) / (self.theta * self.theta + theta)
        self.ahead, self.ahead_w = np.empty_like(impulses), np.empty_like(w)
        beyond(impulses, self.impulses, more, self.ahead)
        beyond(w, self.w, more, self.ahead_w)
        self.impulses, self.w, self.theta = impulses, w, theta
        return impulses, w


def solve(
    problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None, *, scaled: bool = True
) -> Solution:
    """scaled: measure steps by the blocks' own largest diagonal entries; False: all alike."""
    return run("apgd", Accelerated, problem, model, tolerance, max_iterations, callback, scaled)
