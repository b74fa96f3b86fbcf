"""What the methods for the convex problem share, and the outer loop by which they solve the exact one.

The cone complementarity problem is the minimum of 1/2 lambda' (A + R) lambda + (b + shift)' lambda over K, without a
shift. The exact model is the same with shift = mu |u_t| on the normal rows, u being the velocities of the answer: a
fixed point (V. Acary and F. Cadoux, 2013). At first the shift follows every iteration, which is fastest where
friction is moderate. Where the residual then gets no better for as long as it took to come so far, as with much
friction in a tangle, the shift stands still in rounds, until the convex problem's own residual is a part of the exact
model's. So it does, from the best impulses on, where the shift drives the method far off.
"""

import numpy as np

from mcsim.solve.problems._gradients import descend, dot, scales, shifts
from mcsim.solve.problems._system import MODELS
from mcsim.solve.problems.solution import Progress

LOOK = 5                # iterations from one look at a round's own residual to the next
ROUNDS = (None, 0.9, 0.3)   # a round ends when that is this part of the exact model's; None: after every iteration
PATIENCE = 100          # iterations that may pass in vain at the start
FAR = 1e6               # times the least residual: begin anew there


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


class Shifts:
    """When the exact model's shift is renewed. strictness: place in ROUNDS."""

    def __init__(self, convex, progress):
        self.convex, self.progress = convex, progress
        self.strictness = self.since = 0

    def due(self, impulses, w, exact):
        """Whether now, at these impulses, where the exact model's largest residual is `exact`."""
        if self.progress.iterations > 2 * max(self.progress.best_at, self.since) + PATIENCE:
            self.tighten()
        part = ROUNDS[self.strictness]
        return part is None or (self.progress.iterations % LOOK == 0
                                and self.convex.residual(impulses, w) <= part * exact)

    def tighten(self):
        """From now on more seldom."""
        if self.strictness + 1 < len(ROUNDS):
            self.strictness += 1
            self.since = self.progress.iterations
            self.progress.notes.append(f"De Saxce's shift stands still in rounds to {ROUNDS[self.strictness]} of the "
                                       f"residual, from iteration {self.since} on")


def run(name, make, problem, model, tolerance, max_iterations, callback, scaled=True):
    """Solve by a method: make(convex, impulses, w) has step() -> the next impulses, w; shift(change) of all its w; and
    begin(impulses, w), to begin anew there."""
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    convex = Convex(problem, model, scaled)
    impulses = problem.warm_start.copy()
    problem.system.project(convex.model, impulses)
    w = convex.rates(impulses)
    progress.record(impulses, w)
    method = make(convex, impulses, w)
    rounds = Shifts(convex, progress) if model == "ncp" else None
    if rounds:
        method.shift(convex.renew(w))
    while progress.going:
        impulses, w = method.step()
        u = w - convex.shift
        exact = progress.record(impulses, u)
        if not rounds:
            continue
        if exact > FAR * progress.least > 0.0:
            rounds.tighten()
            convex.renew(progress.best_velocities)
            method.begin(progress.best.copy(), progress.best_velocities + convex.shift)
        elif rounds.due(impulses, w, exact):
            method.shift(convex.renew(u))
    return progress.solution(name)
