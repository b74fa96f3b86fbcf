"""What stands between a world's step and the solvers of problems: `World(solver="admm")` and its kin, `World.problem()`."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mcsim.core._noted import Noted
from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.linear import product, sparse_product
from mcsim.core.notes import tell
from mcsim.solve.assemble import second_rows
from mcsim.solve.problems import Problem, solve
from mcsim.solve.problems.checks import OutOfRange
from mcsim.solve.problems.from_rows import matrices, problem_of_rows
from mcsim.solve.problems.residuals import RESIDUALS
from mcsim.state.fields import ROW_KINDS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mcsim.world.protocols import ObservedWorld

# Compliance of joints' rows in a step, as a part of their diagonal. Where loops say the same thing twice, rows that have
# drifted by an angle of a agree no more: held exactly, they lock the mechanism, with impulses that grow as 1 / a^2.
YIELDING = 1e-5


class Laboratory:
    """Solves the rows of a step as a problem. solver, model: names; tolerance, iterations: of each solve; bilateral:
    "direct" or "rows"; inverse_mass(): the bodies' (m, m), scipy.sparse; names(): of the bodies; noted: of the world."""

    solver: str
    model: str
    tolerance: float
    most: int
    bilateral: str
    inverse_mass: Callable[[], csr_array]
    names: Callable[[], Sequence[str]]
    noted: Noted
    iterations: int
    residuals: dict[str, float]

    def __init__(
        self,
        solver: str,
        model: str,
        tolerance: float,
        iterations: int,
        bilateral: str,
        inverse_mass: Callable[[], csr_array],
        names: Callable[[], Sequence[str]],
        noted: Noted,
    ) -> None:
        self.names, self.noted = names, noted
        self.solver, self.model, self.tolerance, self.most = solver, model, tolerance, iterations
        self.bilateral, self.inverse_mass = bilateral, inverse_mass
        self.begin()

    def begin(self) -> None:
        """Forget the last call of step."""
        self.iterations = 0
        self.residuals = dict.fromkeys(RESIDUALS, 0.0)

    def __call__(
        self,
        rows: np.ndarray,
        velocity: np.ndarray,
        relaxed: int,
        jacobian: csr_array | None = None,
        response: csr_array | None = None,
    ) -> float:
        """All rows at these velocities (m,), in place: the impulses, and the velocities by what they change. jacobian,
        response: the rows' J and J M^-1 (r, m), where they are not those over the bodies' twists. -> the largest
        velocity that is left to correct."""
        if len(rows) == 0:
            return 0.0
        problem, order = problem_of_rows(
            rows, jacobian, response, self.inverse_mass, velocity, relaxed=relaxed, started=True, yielding=YIELDING
        )
        try:
            found = solve(
                problem,
                self.solver,
                self.model,
                tolerance=self.tolerance,
                max_iterations=self.most,
                bilateral=self.bilateral,
            )
        except OutOfRange:
            raise SimulationError(self._nothing_finite(rows, problem, order)) from None
        if found.reason == "not finite" and not np.isfinite(found.residual):
            raise SimulationError(self._nothing_finite(rows, problem, order))
        rows["impulse"][order] = found.impulses
        second = np.flatnonzero(second_rows(rows))
        rows["impulse"][second] = rows["impulse"][second - 1]
        velocity += sparse_product(problem.response.T, found.impulses - problem.warm_start)
        self.iterations += found.iterations
        self.residuals = {name: float(found.final[name]) for name in RESIDUALS}
        if not found.converged and self.tolerance > 0.0:
            if jacobian is None:
                jacobian, _ = matrices(rows, len(velocity))
            tell(
                self.noted,
                "solver",
                _bodies_of_worst(rows, sparse_product(jacobian, velocity), relaxed),
                f"{self.solver}: {found.reason} at a residual of {found.residual:.2g}, above the tolerance of "
                f"{self.tolerance:.2g}; more iterations, or another solver, may come nearer",
            )
        return self.residuals["primal"]

    def _nothing_finite(self, rows: np.ndarray, problem: Problem, order: np.ndarray) -> str:
        """Where impulses cannot be found: which bodies are the fastest there."""
        with np.errstate(all="ignore"):
            row = rows[order[int(np.argmax(np.nan_to_num(np.abs(problem.b), nan=np.inf)))]]
        bodies = " and ".join(repr(self.names()[i]) for i in (row["body_a"], row["body_b"]) if i >= 0)
        return (
            f"{self.solver} meets velocities or impulses that are not finite, or so large that their products are not, "
            f"at {bodies}; the last good state is kept; a smaller dt, more substeps or milder forces may help"
        )


def _bodies_of_worst(rows: np.ndarray, rates: np.ndarray, relaxed: int) -> list[int]:
    """Numbers of the bodies of the row that is the farthest from what it asks of the velocities: a bilateral one, or a
    limit's or a contact's that goes through it. rates: (r,) J v."""
    left = rates + rows["bias"][:, relaxed] + rows["compliance"][:, relaxed] * rows["impulse"]
    one_sided = (rows["lower"] == 0.0) & (rows["impulse"] == 0.0)
    bounded = np.isin(rows["kind"], [ROW_KINDS.index(kind) for kind in ("friction", "twist", "rolling", "joint_friction")])
    off = np.where(bounded, 0.0, np.where(one_sided, np.maximum(-left, 0.0), np.abs(left)))
    row = rows[int(np.argmax(off))]
    return [int(row[side]) for side in ("body_a", "body_b") if row[side] >= 0]


def block_inverse_mass(inv_mass: np.ndarray, inv_inertia: np.ndarray, rotations: np.ndarray) -> csr_array:
    """(6 n, 6 n) scipy.sparse CSR of the bodies' inverse masses and inertias in world axes."""
    from scipy.sparse import bsr_array  # here, since importing mcsim should stay light

    count = len(inv_mass)
    blocks = np.zeros((count, 6, 6))
    blocks[:, :3, :3] = inv_mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = product(rotations, inv_inertia, rotations.swapaxes(1, 2))
    blocks[inv_mass == 0.0] = 0.0
    return bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(6 * count, 6 * count)).tocsr()


class Residuals(Mapping[str, float]):
    """The residuals of a step by name, those that the step has not measured on demand: of its last impulses at the
    velocities that it ended with, on the rows at its end. NaN where the world has gone on since."""

    def __init__(self, world: ObservedWorld, measured: Mapping[str, float]) -> None:
        self._found, self._world, self._steps = dict(measured), world, world._pipeline.steps

    def __getitem__(self, name: str) -> float:
        if name in RESIDUALS and name not in self._found:
            with self._world._observing("stats"):
                there = residuals_now(self._world) if self._world._pipeline.steps == self._steps else {}
            self._found = dict.fromkeys(RESIDUALS, np.nan) | there | self._found
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._found, *RESIDUALS)))

    def __len__(self) -> int:
        return len({*self._found, *RESIDUALS})

    def __repr__(self) -> str:
        return repr(dict(self))


def measured(residuals: Mapping[str, float]) -> Mapping[str, float]:
    """Those of a step's residuals that need not be found first: what it has measured, and what was asked for since."""
    return residuals._found if isinstance(residuals, Residuals) else residuals


def residuals_now(world: ObservedWorld) -> dict[str, float]:
    """-> dict of the four residuals, of the impulses of the last substep at the present velocities and poses. Friction at
    a manifold's centre counts as two rows bounded by its load. Of compliant contacts none: of their last impulses those of
    slow points were given, not solved for."""
    if world._keywords["contact"] == "compliant":
        return {}
    rows, jacobian, response, velocity = world._rows_and_velocity()
    problem, _ = problem_of_rows(
        rows, jacobian, response, world._inverse_mass, velocity, relaxed=world._ends_relaxed(), started=True
    )
    found = problem.residuals(problem.warm_start, "ncp")
    return {name: float(found[name]) for name in RESIDUALS}


def problem_now(world: ObservedWorld, relaxed: int = 0) -> Problem:
    """The problem of the substep that would come next: `World.problem()`."""
    if relaxed and world._keywords["contact"] == "compliant":
        raise SceneError(
            "World.problem: with contact='compliant' the second halves of slow points are given, there is no "
            "relaxed problem; pass relaxed=False"
        )
    rows, jacobian, response, free = world._rows_and_free()
    return problem_of_rows(rows, jacobian, response, world._inverse_mass(), free, relaxed=relaxed)[0]
