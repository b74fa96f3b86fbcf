"""Every solver of the laboratory against Clarabel, an interior-point method for cone programs: benchmarks/agreement.py
on small problems. What a solver calls converged must have the velocities that Clarabel finds."""

import sys
from pathlib import Path

import cases
import numpy as np
import pytest

import mcsim as mc
from mcsim.solve.problems import SOLVERS

pytest.importorskip("clarabel")
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

import agreement

EVERY = [(solver, model) for solver, (_, models, _) in SOLVERS.items() for model in models]
TOLERANCE = 1e-9
LONGEST = {"dantzig": 60, "jacobi": 5000, "bb": 2000, "apgd": 2000}


def problem_of(case):
    return mc.Problem(case["A"], case["b"], case["friction"], np.stack([case["lower"], case["upper"]], axis=1))


@pytest.fixture(scope="module")
def problems():
    found = [(f"random {seed}", problem_of(cases.random_case(seed))) for seed in range(12)]
    found += [(name, problem_of(make())) for name, make in cases.CASES.items()]
    found += [(f"{kind} {k}", problem) for k, (kind, problem) in enumerate(agreement.recorded(10))]
    return [(name, problem) for name, problem in found if 0 < problem.row_count <= 150]


@pytest.mark.parametrize("solver, model", EVERY)
@pytest.mark.sampled(7)
def test_what_has_converged_is_right(problems, solver, model):
    converged = 0
    for name, problem in problems:
        solution = mc.solve(problem, solver, model, tolerance=TOLERANCE, max_iterations=LONGEST.get(solver, 1000))
        assert solution.converged == (solution.reason == "converged"), name
        assert np.isfinite(solution.impulses).all(), name
        if not solution.converged:
            continue
        converged += 1
        velocities, _, status = agreement.by_clarabel(problem, model, solution)
        if status != "Solved":
            continue
        # A gap of g allows velocities sqrt(2 g / m) apart, m what moves with a row.
        allowed = 1e-7 + 2.0 * np.sqrt(TOLERANCE * problem.system.local_blocks.max())
        assert np.abs(velocities - solution.velocities).max() < allowed, name
    assert converged > 0.5 * len(problems)
