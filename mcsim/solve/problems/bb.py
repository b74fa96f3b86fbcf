"""Spectral projected gradients: steps as long as the last change of the gradient suggests, on the cone complementarity
problem; the exact model and the pyramid by its shift (`convex.py`).

    d = P_K(l - t S w(l)) - l,   l' = l + a d
    t: by turns  s' S^-1 s / s' A s  and  s' A s / (A s)' S (A s)   of the last step s (J. Barzilai, J. Borwein, 1988)
    a: 1 where f(l + d) <= the largest of the last MEMORY values + SLOPE w' d, else where f is least along d

Source: E. Birgin, J. Martinez and M. Raydan, "Nonmonotone spectral projected gradient methods on convex sets", 2000,
with the line search of L. Grippo, F. Lampariello and S. Lucidi, 1986. As f is a quadratic, a costs nothing: one
product with A an iteration.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from mcsim.solve.problems._gradients import along, beyond, slope
from mcsim.solve.problems.convex import Convex, run
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Solution

MEMORY = 10
SLOPE = 1e-4
LEAST_STEP, MOST_STEP = 1e-6, 1e6


class Spectral:
    """The method on a convex problem. length: t."""

    def __init__(self, convex: Convex, impulses: np.ndarray, w: np.ndarray) -> None:
        self.convex = convex
        self.turn = False
        self.length = 1.0
        self.begin(impulses, w)

    def begin(self, impulses: np.ndarray, w: np.ndarray) -> None:
        self.impulses, self.w = impulses, w
        self.values = deque([self.convex.value(impulses, w)], maxlen=MEMORY)

    def shift(self, change: np.ndarray) -> None:
        self.begin(self.impulses, self.w + change)

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        convex, old, old_w = self.convex, self.impulses, self.w
        impulses = convex.descend(old, old_w, self.length)
        w = convex.rates(impulses)
        curvature, square, change = along(impulses, old, w, old_w, convex.scale)
        downhill = slope(old_w, impulses, old)
        value = convex.value(impulses, w)
        if value > max(self.values) + SLOPE * downhill and curvature > 0.0:
            part = min(1.0, max(0.0, -downhill / curvature))
            beyond(impulses, old, part - 1.0, impulses)
            beyond(w, old_w, part - 1.0, w)
            value = convex.value(impulses, w)
        if curvature > 0.0:
            self.turn = not self.turn
            length = square / curvature if self.turn else curvature / change
            self.length = min(MOST_STEP, max(LEAST_STEP, length))
        else:
            self.length = MOST_STEP if square > 0.0 else 1.0
        self.impulses, self.w = impulses, w
        self.values.append(value)
        return impulses, w


def solve(
    problem: Problem, model: str, tolerance: float, max_iterations: int, callback: Callback | None, *, scaled: bool = True
) -> Solution:
    """scaled: measure steps by the blocks' own largest diagonal entries; False: all alike."""
    return run("bb", Spectral, problem, model, tolerance, max_iterations, callback, scaled)
