"""What the methods for the convex problem share, and the outer loop by which they solve the exact one.

The cone complementarity problem is the minimum of 1/2 lambda' (A + R) lambda + (b + shift)' lambda over K, without a
shift. The exact model is the same with shift = mu |u_t| on the normal rows, u being the velocities of the answer: a fixed
point (V. Acary and F. Cadoux, 2013). A method goes on with the shift as it stands, until its own residual is smaller than
that of the exact model; then it takes the shift of where it is, and goes on from there with all its momentum.
"""

import numpy as np

from mcsim.solve.problems._gradients import descend, dot, scales, shifts
from mcsim.solve.problems._system import MODELS, System
from mcsim.solve.problems.solution import Progress

LOOK = 5                # iterations from one look at a round's own residual to the next
ROUND = 0.9             # a round ends when that is this part of the exact model's


class Convex:
    """The problem of a round: system and b, with the shift; model (number), scale (rows,), shift (rows,)."""

    def __init__(self, problem, model, scaled):
        self.system, self.b = problem.system, problem.b
        self.model = MODELS.index("ccp" if model == "ncp" else model)
        self.shift = np.zeros(problem.row_count)
        if model == "ncp":
            self.b = problem.b.copy()
            self.system = problem.system.with_b(self.b)
        self.scale = scales(self.system, scaled)

    def rates(self, impulses):
        """w = A lambda + R lambda + b + shift: the gradient."""
        return self.system.rates(impulses)[0]

    def descend(self, impulses, w, step):
        """P_K(lambda - step s w)"""
        out = np.empty_like(impulses)
        descend(self.system, self.model, impulses, w, self.scale, step, out)
        return out

    def value(self, impulses, w):
        """The objective."""
        return 0.5 * dot(impulses, w + self.b)

    def residual(self, impulses, w):
        """The largest residual of this convex problem."""
        return float(self.system.residuals(self.model, impulses, w)[:4].max())

    def renew(self, u):
        """The shift of these velocities; -> what changes of w."""
        new = np.zeros_like(u)
        shifts(self.system, u, new)
        change = new - self.shift
        self.shift = new
        self.b += change
        return change


def run(name, make, problem, model, tolerance, max_iterations, callback, scaled=True):
    """Solve by a method: make(convex, impulses, w) has step() -> the next impulses, w; and shift(change) of all its w."""
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    convex = Convex(problem, model, scaled)
    impulses = problem.warm_start.copy()
    problem.system.project(convex.model, impulses)
    w = convex.rates(impulses)
    progress.record(impulses, w)
    method = make(convex, impulses, w)
    if model == "ncp":
        method.shift(convex.renew(w))
    while progress.going:
        impulses, w = method.step()
        u = w - convex.shift
        exact = progress.record(impulses, u)
        if model == "ncp" and progress.iterations % LOOK == 0 and convex.residual(impulses, w) <= ROUND * exact:
            method.shift(convex.renew(u))
    return progress.solution(name)
