"""What stands between a world's step and the solvers of problems: `World(solver="admm")` and its kin, `World.problem()`."""

import numpy as np

from mcsim.solve.assemble import second_rows
from mcsim.solve.problems import solve
from mcsim.solve.problems.from_rows import matrices, problem_of_rows
from mcsim.solve.problems.solution import RESIDUALS


class Laboratory:
    """Solves the rows of a step as a problem. solver, model: names; tolerance, iterations: of each solve; bilateral: "direct"
    or "rows"; inverse_mass(): the bodies' (m, m), scipy.sparse."""

    def __init__(self, solver, model, tolerance, iterations, bilateral, inverse_mass):
        self.solver, self.model, self.tolerance, self.most = solver, model, tolerance, iterations
        self.bilateral, self.inverse_mass = bilateral, inverse_mass
        self.begin()

    def begin(self):
        """Forget the last call of step."""
        self.iterations = self.solves = 0
        self.residuals = dict.fromkeys(RESIDUALS, 0.0)
        self.failed = {}                             # (reason, note) -> how many solves

    def __call__(self, rows, twists, relaxed):
        """All rows at these velocities, in place: the impulses, and the velocities by what they change."""
        if len(rows) == 0:
            return 0.0
        velocity = twists.reshape(-1)
        jacobian, response = matrices(rows, len(velocity))
        return self.run(rows, jacobian, response, velocity, relaxed)

    def run(self, rows, jacobian, response, velocity, relaxed):
        """Likewise, with the rows' J and J M^-1 (r, m) and the velocities (m,) at hand. -> the largest velocity that is
        left to correct."""
        problem, order = problem_of_rows(rows, jacobian, response, self.inverse_mass(), velocity, relaxed=relaxed,
                                         started=True)
        found = solve(problem, self.solver, self.model, tolerance=self.tolerance, max_iterations=self.most,
                      bilateral=self.bilateral)
        change = np.zeros(len(rows))
        change[order] = found.impulses - problem.warm_start
        rows["impulse"][order] = found.impulses
        second = np.flatnonzero(second_rows(rows))
        change[second] = change[second - 1]
        rows["impulse"][second] = rows["impulse"][second - 1]
        velocity += response.T @ change
        self.iterations += found.iterations
        self.solves += 1
        self.residuals = {name: float(found.residuals[name][-1]) for name in RESIDUALS}
        if not found.converged and self.tolerance > 0.0:
            for text in (found.reason, *found.notes):
                self.failed[text] = self.failed.get(text, 0) + 1
        return self.residuals["primal"]

    def notes(self):
        """For `stats.notes`."""
        return [("solver", (), f"{self.solver}: {text} in {count} of {self.solves} solves")
                for text, count in self.failed.items()]


def block_inverse_mass(inv_mass, inv_inertia, rotations):
    """(6 n, 6 n) scipy.sparse CSR of the bodies' inverse masses and inertias in world axes."""
    from scipy.sparse import bsr_array  # here, since importing mcsim should stay light

    count = len(inv_mass)
    blocks = np.zeros((count, 6, 6))
    blocks[:, :3, :3] = inv_mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = np.einsum("nij,njk,nlk->nil", rotations, inv_inertia, rotations)
    blocks[inv_mass == 0.0] = 0.0
    return bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(6 * count, 6 * count)).tocsr()


def problem_now(world, relaxed=0):
    """The problem of the substep that would come next: `World.problem()`."""
    rows, free = world._rows_and_free()
    jacobian, response = matrices(rows, free.size)
    return problem_of_rows(rows, jacobian, response, world._inverse_mass(), free.reshape(-1), relaxed=relaxed)[0]
