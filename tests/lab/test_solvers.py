"""Solvers side by side: each is timed on the same problem, after what a process does once."""

import sys

import numpy as np
import pytest

import mcsim as mc
from mcsim.solve.problems import SOLVERS

studying = sys.modules["mcsim.lab.solvers"]


@pytest.mark.parametrize("model", ["ncp", "pyramid"])
def test_each_solver_has_solved_something_before_it_is_timed(model, monkeypatch):
    world = mc.World(mc.scenes.stack(count=2))
    world.step(10)
    problem = world.problem()
    solve, calls = studying.solve, []

    def watched(given, solver, model, **keywords):
        calls.append((solver, given.row_count, keywords["bilateral"]))
        found = solve(given, solver, model, **keywords)
        assert given.row_count > 4 or found.converged
        return found

    monkeypatch.setattr(studying, "solve", watched)
    study = mc.lab.solvers(problem, model=model, max_iterations=20, bilateral="direct")
    able = [name for name, (_, models, _) in SOLVERS.items() if model in models]
    assert calls == [(name, size, "direct") for name in able for size in (4, problem.row_count)]
    assert list(study.solutions) == able and not study.failures


def test_what_is_timed_is_the_problem():
    problem = mc.Problem(np.eye(3), [-1.0, 0.0, 0.0], [0.5])
    study = mc.lab.solvers(problem, ["pgs"], tolerance=1e-9)
    found = study.solutions["pgs"]
    assert study.problem.row_count == 3 and len(found.times) == found.iterations + 1
    assert np.allclose(found.impulses, [1.0, 0.0, 0.0], atol=1e-8)
