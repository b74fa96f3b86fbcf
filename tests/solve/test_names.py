"""mcsim.solve is a function, and the package of the same name: both are there by every kind of import."""

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import mcsim as mc


@pytest.mark.parametrize(
    "code, said",
    [
        ("import mcsim.solve.problems as p; print(len(p.SOLVERS), p.Problem.__name__)", "11 Problem"),
        ("import mcsim.solve.problems.pgs as p; print(p.__name__)", "mcsim.solve.problems.pgs"),
        (
            "import mcsim.solve.kkt as k, mcsim.solve.assemble as a; print(k.KKT.__name__, a.__name__)",
            "KKT mcsim.solve.assemble",
        ),
        ("import mcsim.solve as s; print(sorted(s.SOLVERS), s.problems.__name__)", "['pgs', 'si'] mcsim.solve.problems"),
        ("from mcsim.solve import problems; print(problems.__name__)", "mcsim.solve.problems"),
        ("import mcsim; help(mcsim.solve.problems.SOLVERS)", "Help on dict object:"),
        ("import mcsim; help(mcsim.solve)", "Help on function solve in module mcsim.solve.problems:"),
        ("import mcsim.solve.problems; print(mcsim.solve is mcsim.solve.problems.solve)", "True"),
    ],
)
def test_imports(code, said):
    """As the first thing that a Python does."""
    environment = {**os.environ, "PYTHONPATH": str(Path(mc.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == said


def test_it_stays_a_function():
    assert inspect.isfunction(mc.solve) and mc.solve.__doc__.startswith("Solve a contact problem")
    assert pickle.loads(pickle.dumps(mc.solve)) is mc.solve
    assert list(inspect.signature(mc.solve).parameters)[:3] == ["problem", "solver", "model"]
    world = mc.World(mc.scenes.pyramid(base=2))
    world.step(5)
    assert mc.solve(world.problem(), solver="ipm", model="ncp").converged
