"""What is bilateral, solved directly, with any solver for the rest.

With c the rows that are bounded and b those that are not, u_b = 0 gives

    lambda_b = -A_bb^-1 (A_bc lambda_c + b_b),     u_c = (A_cc - A_cb A_bb^-1 A_bc) lambda_c + b_c - A_cb A_bb^-1 b_b,

a problem of the bounded rows alone, whose bodies are heavier by what hangs on them. A_bb is factored with eps D added, a
little of its diagonal, for rows that say the same thing twice; the proximal iteration takes it out again.

`lemke.py` eliminates such rows by eigenvalues, since it wants to tell nearly equal rows from equal ones: eigenvalues
between its 1e-12 and eps, which the iteration here ends too early for (rows 1e-5 rad apart), and how far rows
contradict each other. That is dense; this is sparse, for the joints of large scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.linear import product, sparse_product
from mcsim.solve.problems import checks
from mcsim.solve.problems._cholesky import SparseFactor
from mcsim.solve.problems.problem import Problem
from mcsim.solve.problems.solution import Callback, Solution

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PROXIMAL = 1e-9  # part of a row's own diagonal entry
ROUNDS = 20  # of the proximal iteration at most
HELD = 1e-10  # part of its diagonal that is left of a row that the others hold: none, but for rounding
PROGRESS = 0.5  # a round must leave at most this part of the residual


class Elimination:
    """The problem of the bounded rows, and the way back."""

    def __init__(self, problem: Problem) -> None:
        from scipy.sparse import dia_array  # here, since importing mcsim should stay light

        contact_rows = 3 * problem.contact_count
        free = np.isinf(problem.bounds).all(axis=1)
        self.problem = problem
        self.kept = np.concatenate([np.arange(contact_rows), contact_rows + np.flatnonzero(~free)])
        self.gone = contact_rows + np.flatnonzero(free)
        A = problem.A_with_compliance
        checks.moderate("A", A.data)
        checks.moderate("b", problem.b)
        self.inner = A[self.gone][:, self.gone].tocsr()
        self.across = A[self.gone][:, self.kept]
        diagonal = self.inner.diagonal()
        small = PROXIMAL * np.where(diagonal > 0.0, diagonal, 1.0)
        whole = (self.inner + dia_array((small[None], [0]), shape=self.inner.shape)).tocsr()
        whole.sum_duplicates()
        self.factor = SparseFactor(whole, *_nodes(whole))
        response = self.direct(self.across.toarray())
        whole = A[self.kept][:, self.kept].toarray()
        schur = whole - sparse_product(self.across.T, response)
        held = np.diagonal(schur) <= HELD * np.diagonal(whole)
        schur[held] = schur[:, held] = 0.0
        self.reduced = Problem(
            0.5 * (schur + schur.T),
            problem.b[self.kept] - product(response.T, problem.b[self.gone]),
            problem.friction,
            problem.bounds[~free],
            warm_start=problem.warm_start[self.kept],
        )

    def direct(self, right: np.ndarray) -> np.ndarray:
        """A_bb^-1 right, columns together: of contradictory rows the least squares."""
        x = self.factor.solve(right)
        least = np.inf
        for _ in range(ROUNDS):
            residual = right - sparse_product(self.inner, x)
            size = np.abs(residual).max(initial=0.0)
            if not size < PROGRESS * least:
                break
            least = size
            x = x + self.factor.solve(residual)
        return x

    def whole(self, reduced: np.ndarray) -> np.ndarray:
        """The impulses of all rows, from those of the bounded ones."""
        impulses = np.empty(self.problem.row_count)
        impulses[self.kept] = reduced
        impulses[self.gone] = -self.direct(sparse_product(self.across, reduced) + self.problem.b[self.gone])
        return impulses


def _nodes(matrix: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """-> (n,) the node of each row of a canonical CSR matrix, (nodes,) numbers of rows of each: rows that stand side
    by side and have as many columns, that begin at the same and add up to the same, become one, as those of a joint
    do."""
    count, begin = np.diff(matrix.indptr), matrix.indptr[:-1]
    first, total = matrix.indices[begin], np.add.reduceat(matrix.indices.astype(np.int64), begin)
    new = np.ones(len(count), bool)
    new[1:] = (np.diff(count) != 0) | (np.diff(first) != 0) | (np.diff(total) != 0)
    node = np.cumsum(new) - 1
    return node.astype(np.int32), np.bincount(node).astype(np.int32)


def solve_directly(
    problem: Problem,
    model: str,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None,
    run: Callable[..., Solution],
    options: Mapping[str, Any],
) -> Solution:
    """A solver's `run` on the bounded rows; the bilateral ones directly."""
    if not np.isinf(problem.bounds).all(axis=1).any():
        return run(problem, model, tolerance, max_iterations, callback, **options)
    elimination = Elimination(problem)
    found = run(elimination.reduced, model, tolerance, max_iterations, callback, **options)
    impulses = elimination.whole(found.impulses)
    if not np.isfinite(impulses).all():
        impulses, found = problem.warm_start.copy(), replace(found, converged=False, reason="not finite")
    velocities = problem.velocities(impulses)
    last = problem.residuals(impulses, model)
    worst = max(float(last[name]) for name in ("primal", "dual", "complementarity", "natural_map"))
    notes = found.notes
    if found.converged and worst > tolerance:
        notes += (f"the bilateral rows are left with a residual of {worst:.2e}: they contradict each other, or nearly",)
    return replace(
        found,
        impulses=impulses,
        velocities=velocities,
        final=last,
        converged=found.converged and worst <= tolerance,
        reason=found.reason if worst <= tolerance or not found.converged else "bilateral rows",
        notes=notes,
    )
