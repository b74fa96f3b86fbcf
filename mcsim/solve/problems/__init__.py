"""Contact problems and the solvers of the laboratory: any problem, any model of contact, any way of solving it.

problem = world.problem()                       # or mc.Problem(A, b, friction)
solution = mc.solve(problem, solver="admm", model="ncp", tolerance=1e-8)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene.calls import explain_functions
from mcsim.scene.checks import choose, number
from mcsim.solve.problems.elimination import solve_directly
from mcsim.solve.problems.problem import Problem as Problem
from mcsim.solve.problems.solution import Solution as Solution, check_calls

# Name -> (most iterations by default, models that it solves, what it is). Each lives in a module of its name, whose
# solve(problem, model, tolerance, max_iterations, callback, **options) says which options it has.
SOLVERS: dict[str, tuple[int, tuple[str, ...], str]] = {
    "admm": (1000, ("ncp", "ccp", "pyramid", "frictionless"), "proximal ADMM, with sparse factors of A + R + rho"),
    "newton": (1000, ("ncp", "ccp", "pyramid", "frictionless"), "semismooth Newton on Alart and Curnier's functions"),
    "ipm": (300, ("ncp", "ccp", "pyramid", "frictionless"), "interior points, with Nesterov and Todd's scaling"),
    "staggered": (500, ("ncp", "pyramid", "frictionless"), "staggered projections: normals and friction by turns"),
    "pgs": (1000, ("ncp", "ccp", "pyramid", "frictionless"), "projected Gauss-Seidel, over-relaxation, symmetric sweeps"),
    "nncg": (1000, ("ncp", "ccp", "pyramid", "frictionless"), "nonsmooth nonlinear conjugate gradients over sweeps of pgs"),
    "jacobi": (
        5000,
        ("ncp", "ccp", "pyramid", "frictionless"),
        "projected Jacobi with mass splitting: the rows in any order",
    ),
    "apgd": (
        2000,
        ("ncp", "ccp", "pyramid", "frictionless"),
        "accelerated projected gradients; ncp and pyramid by a shift",
    ),
    "bb": (2000, ("ncp", "ccp", "pyramid", "frictionless"), "spectral projected gradients (Barzilai-Borwein), likewise"),
    "lemke": (50_000, ("pyramid", "frictionless"), "Lemke's pivots on the linear complementarity problem; dense"),
    "dantzig": (
        100,
        ("pyramid", "frictionless"),
        "Dantzig's pivots on the boxed problem, friction's bounds by rounds; dense",
    ),
}

MODEL_DESCRIPTIONS = {
    "ncp": "exact: Signorini's condition and Coulomb's law with its cone",
    "ccp": "convex cone relaxation: a QP; sliding contacts open with mu |u_t|",
    "pyramid": "each tangent has Coulomb friction of its own: an LCP; friction depends on the direction, up to sqrt(2)",
    "frictionless": "normals alone: an LCP, a QP",
}


def solve(
    problem: Problem,
    solver: str = "admm",
    model: str = "ncp",
    *,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    callback: Callable[[int, np.ndarray, Any], Any] | None = None,
    bilateral: str = "rows",
    **options: Any,
) -> Solution:
    """Solve a contact problem -> Solution (.impulses .velocities .converged .reason .iterations .residuals).

    solver: one of mcsim.solve.problems.SOLVERS. model: "ncp" (exact), "ccp" (convex), "pyramid", "frictionless".
    tolerance: of each of the four residuals, in their units. max_iterations: None for the solver's own limit.
    callback(iteration, impulses, residuals): called after every iteration; a true answer stops. bilateral: "rows", or
    "direct", which eliminates the rows without bounds by a sparse factorization, so that the solver sees the others
    alone (and its residuals are those of these, but for the last). options: the solver's
    own, see help(mcsim.solve.problems.<solver>.solve).
    """
    if not isinstance(problem, Problem):
        raise SceneError(
            f"solve: the first argument must be a Problem, got {type(problem).__name__}; world.problem() "
            "or mc.Problem(A, b, friction) makes one"
        )
    choose(solver, SOLVERS, "solver")
    choose(model, MODEL_DESCRIPTIONS, "model")
    most, models, _ = SOLVERS[solver]
    if model not in models:
        able = [name for name, (_, known, _) in SOLVERS.items() if model in known]
        raise SceneError(
            f"solve: {solver} does not solve the model {model!r}; it takes {', '.join(models)}. Solvers for "
            f"{model!r}: {', '.join(able)}"
        )
    check_calls(tolerance, most if max_iterations is None else max_iterations, callback)
    choose(bilateral, ("rows", "direct"), "bilateral")
    run = import_module(f"mcsim.solve.problems.{solver}").solve
    limits = float(tolerance), most if max_iterations is None else int(max_iterations), callback
    _check_options(solver, run.__kwdefaults__ or {}, options)
    if bilateral == "direct":
        return solve_directly(problem, model, *limits, run, options)
    return run(problem, model, *limits, **options)


def _check_options(solver: str, known: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Options that the solver has, numbers where their default is one. known: the defaults by name."""
    for name, value in options.items():
        if name not in known:
            raise SceneError(f"solve: {solver} has no option {name!r}; it takes {', '.join(known) or 'none'}")
        if isinstance(known[name], float):
            number(value, f"solve: {name}")


explain_functions(globals(), ["Problem", "Solution", "solve"])
