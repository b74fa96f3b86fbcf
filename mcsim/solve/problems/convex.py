"""What the methods for the convex problem share, and the outer loop by which they solve the exact one.

The cone complementarity problem is the minimum of 1/2 lambda' (A + R) lambda + (b + shift)' lambda over K, without a
shift. The exact model is the same with shift = mu |u_t| on the normal rows, u being the velocities of the answer: a fixed
point (V. Acary and F. Cadoux, 2013). Each round solves the convex problem with the shift as it stands, from where the last
one ended, a good deal better than the shift is known, and then takes the new shift.
"""

import numpy as np

from mcsim.solve.problems._gradients import descend, dot, scales, shifts
from mcsim.solve.problems._system import MODELS
from mcsim.solve.problems.solution import Progress

LOOK = 5                # iterations from one look at a round's own residual to the next
ROUND = 0.3             # a round ends when its own residual is this part of the exact model's


class Convex:
    """The convex problem of a moment: system, model (number), scale (rows,), shift (rows,)."""

    def __init__(self, problem, model, scaled):
        self.system, self.b = problem.system, problem.b
        self.model = MODELS.index("ccp" if model == "ncp" else model)
        self.scale = scales(self.system, scaled)
        self.shift = np.zeros(problem.row_count)

    def rates(self, impulses):
        """w = A lambda + R lambda + b + shift: the gradient."""
        return self.system.rates(impulses)[0] + self.shift

    def descend(self, impulses, w, step):
        """P_K(lambda - step s w)"""
        out = np.empty_like(impulses)
        descend(self.system, self.model, impulses, w, self.scale, step, out)
        return out

    def value(self, impulses, w):
        """The objective."""
        return 0.5 * dot(impulses, w + self.b + self.shift)

    def residual(self, impulses, w):
        """The largest residual of this convex problem."""
        return float(self.system.residuals(self.model, impulses, w)[:4].max())

    def renew(self, u):
        """The shift of these velocities; -> w with it."""
        shifts(self.system, u, self.shift)
        return u + self.shift


def run(name, make, problem, model, tolerance, max_iterations, callback, scaled):
    """Solve by a method: make(convex, impulses, w) has begin(impulses, w), to begin anew, and step() -> the next
    impulses, w."""
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    convex = Convex(problem, model, scaled)
    impulses = problem.warm_start.copy()
    problem.system.project(convex.model, impulses)
    w = convex.rates(impulses)
    progress.record(impulses, w)
    if model == "ncp":
        w = convex.renew(w)
    method = make(convex, impulses, w)
    rounds = 1
    while progress.going:
        impulses, w = method.step()
        u = w - convex.shift
        exact = progress.record(impulses, u)
        if model == "ncp" and progress.iterations % LOOK == 0 and convex.residual(impulses, w) <= ROUND * exact:
            method.begin(impulses, convex.renew(u))
            rounds += 1
    if model == "ncp":
        progress.notes.append(f"{rounds} rounds of De Saxce's shift")
    return progress.solution(name)
