"""What the methods for the convex problem share, and the outer loop by which they solve the exact one and the pyramid.

The cone complementarity problem is the minimum of 1/2 lambda' (A + R) lambda + (b + shift)' lambda over K, without a
shift. The exact model is the same with shift = mu |u_t| on the normal rows, u being the velocities of the answer: a
fixed point (V. Acary and F. Cadoux, 2013). The pyramid is so with its own cone, shift = mu (|u_1| + |u_2|).

The shift follows every iteration: at once at first, where the method is far from its end; after SETTLED iterations by a
part SETTLED / k of what it is off, a mean over the last ones. In large problems, and under much friction, velocities
then still swing by more than those of the answer are off, and a shift that swings with them never lets them rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from mcsim.solve.problems._gradients import descend, dot, scales, shifts
from mcsim.solve.problems._system import CONVEX
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Progress, Solution

SHIFTED = ("ncp", "pyramid")  # models that are a convex one with a shift
SETTLED = 100  # iterations, after which the shift follows more and more slowly
FAR = 1e6  # times the least residual: begin anew there


class Method(Protocol):
    """One of the methods, on a convex problem."""

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """The next impulses, and w."""

    def shift(self, change: np.ndarray) -> None:
        """All its w have changed by so much."""

    def begin(self, impulses: np.ndarray, w: np.ndarray) -> None:
        """Anew from there."""


class Convex:
    """The convex problem: system and b, with the shift; model (number), scale (rows,), shift (rows,)."""

    def __init__(self, problem: Problem, model: str, scaled: bool) -> None:
        self.system, self.b = problem.system, problem.b
        self.model = CONVEX[model]
        self.shift = np.zeros(problem.row_count)
        if model in SHIFTED:
            self.b = problem.b.copy()
            self.system = problem.system.with_b(self.b)
        self.scale = scales(self.system, scaled)

    def rates(self, impulses: np.ndarray) -> np.ndarray:
        """w = A lambda + R lambda + b + shift: the gradient."""
        return self.system.rates(impulses)[0]

    def descend(self, impulses: np.ndarray, w: np.ndarray, step: float) -> np.ndarray:
        """P_K(lambda - step s w)"""
        out = np.empty_like(impulses)
        descend(self.system, self.model, impulses, w, self.scale, step, out)
        return out

    def value(self, impulses: np.ndarray, w: np.ndarray) -> float:
        """The objective."""
        return 0.5 * dot(impulses, w + self.b)

    def renew(self, u: np.ndarray, part: float = 1.0) -> np.ndarray:
        """The shift of these velocities, or only a part of the way to it; -> what changes of w."""
        new = np.zeros_like(u)
        shifts(self.system, self.model, u, new)
        change = part * (new - self.shift)
        self.shift += change
        self.b += change
        return change


def run(
    name: str,
    make: Callable[[Convex, np.ndarray, np.ndarray], Method],
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    scaled: bool = True,
) -> Solution:
    """Solve by a method: make(convex, impulses, w) has step() -> the next impulses, w; shift(change) of all its w; and
    begin(impulses, w), to begin anew there."""
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    convex = Convex(problem, model, scaled)
    impulses = problem.warm_start.copy()
    problem.system.project(convex.model, impulses)
    w = convex.rates(impulses)
    progress.record(impulses, w)
    method = make(convex, impulses, w)
    if model in SHIFTED:
        method.shift(convex.renew(w))
    while progress.going:
        impulses, w = method.step()
        u = w - convex.shift
        exact = progress.record(impulses, u)
        if model not in SHIFTED:
            continue
        if exact > FAR * progress.least > 0.0:
            convex.renew(progress.best_velocities)
            method.begin(progress.best.copy(), progress.best_velocities + convex.shift)
        else:
            method.shift(convex.renew(u, min(1.0, SETTLED / progress.iterations)))
    return progress.solution(name)
