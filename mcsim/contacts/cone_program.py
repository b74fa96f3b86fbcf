"""The cone quadratic program of a contact problem (M. Anitescu, A. Tasora, "An iterative approach for cone
complementarity problems for nonsmooth dynamics", 2010), and the conditions that its solution meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.solve.problems import Problem, Solution, solve

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MODEL = "ccp"


@dataclass(frozen=True, eq=False)
class ConeResult:
    """The solution of a cone program.

    gamma (n,): impulses [N s, N m s]; u (n,) = N gamma + r [m/s, rad/s]; v (m,): velocities of bodies, or of coordinates,
    v_free + M^-1 D gamma, None where the problem does not know them.
    kkt: a record of the residuals of the Karush-Kuhn-Tucker conditions: primal (of u in the dual cone) [m/s, rad/s], dual
    (of gamma in the cone) [N s, N m s], complementarity [J], natural_map [N s, N m s], and objective, gap [J]: what
    mcsim.solve.problems.residuals says of them. solution: mc.Solution, with iterations and reason.
    """

    gamma: np.ndarray
    u: np.ndarray
    v: np.ndarray | None
    kkt: np.void
    solution: Solution


class ConeProgram:
    """The convex problem that a Problem poses when its friction is relaxed to cones.

        min  gamma' N gamma / 2 + r' gamma   over gamma in Y           N = D' M^-1 D + compliance
        Y = Y_1 x Y_2 x ...,  Y_i = { |(gamma_t1, gamma_t2)| <= mu_i gamma_n } of contacts, [lower, upper] of other rows

    whose optimum is a cone complementarity problem: gamma in Y, u = N gamma + r in the dual cone Y*, gamma . u = 0.
    A contact that slides has u_n = mu |u_t| there, where Coulomb's law asks for u_n = 0: it lifts.

    problem: a Problem. N (n, n), scipy.sparse [1/kg]; r (n,): velocities without impulses, bias and all [m/s, rad/s]; D
    (m, n), scipy.sparse: J', None where the problem was given as A; M_inverse (m, m), likewise; mu (c,): friction; bounds
    (n - 3c, 2) of the rows that are no contacts. Rows: contacts in threes [n, t1, t2], then the others.
    """

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem, Problem):
            raise SceneError(
                f"cone_program: the first argument must be a Problem, got {type(problem).__name__}; world.problem() or "
                "mc.Problem(A, b, friction) makes one"
            )
        self.problem = problem

    @property
    def N(self) -> csr_array:
        """(n, n) scipy.sparse: D' M^-1 D, the compliance on its diagonal."""
        return self.problem.A_with_compliance

    @property
    def r(self) -> np.ndarray:
        """(n,) velocities of the rows without impulses [m/s, rad/s]."""
        return self.problem.b

    @property
    def D(self) -> csr_array | None:
        """(m, n) scipy.sparse: what a unit of each impulse gives the bodies, J'."""
        jacobian = self.problem.jacobian
        return None if jacobian is None else jacobian.T.tocsr()

    @property
    def M_inverse(self) -> csr_array | None:
        """(m, m) scipy.sparse."""
        return self.problem.inverse_mass

    @property
    def mu(self) -> np.ndarray:
        """(c,) friction of the contacts."""
        return self.problem.friction

    @property
    def bounds(self) -> np.ndarray:
        """(n - 3c, 2) of the impulses of the rows that are no contacts."""
        return self.problem.bounds

    def objective(self, gamma: ArrayLike) -> float:
        """gamma' N gamma / 2 + r' gamma [J]."""
        return float(self.kkt(gamma)["objective"])

    def u(self, gamma: ArrayLike) -> np.ndarray:
        """(n,) N gamma + r [m/s, rad/s]."""
        return self.problem.velocities(gamma)

    def kkt(self, gamma: ArrayLike) -> np.void:
        """How far impulses (n,) are from the optimum: a record, see ConeResult."""
        return self.problem.residuals(gamma, MODEL)

    def solve(self, solver: str = "ipm", tolerance: float = 1e-9, **options: Any) -> ConeResult:
        """-> ConeResult. solver: one of those that solve "ccp" (`mcsim.solve.problems.SOLVERS`); tolerance: of each of the
        four residuals; options: as of mc.solve."""
        found = solve(self.problem, solver, MODEL, tolerance=tolerance, **options)
        v = None if self.problem.free_velocity is None else self.problem.velocity(found.impulses)
        return ConeResult(found.impulses, found.velocities, v, found.final, found)

    def __repr__(self) -> str:
        return f"<ConeProgram of {self.problem!r}>"


def cone_program(problem: Problem) -> ConeProgram:
    """The cone quadratic program of a contact problem: min gamma' N gamma / 2 + r' gamma over the friction cones.

    problem: world.problem(), or mc.Problem(A, b, friction, bounds). See ConeProgram for its symbols, and `.solve()`.
    Source: M. Anitescu, A. Tasora, An iterative approach for cone complementarity problems for nonsmooth dynamics, 2010;
    docs/theory/contact_problems.md."""
    return ConeProgram(problem)
