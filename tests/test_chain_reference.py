"""The references of the two benchmark chains: the scenes' geometry, the equations, the saved positions."""

from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from scripts import script_at

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "chain_reference.py"


@pytest.fixture(scope="module")
def script():
    return script_at(SCRIPT)


def test_the_models_weigh_and_lie_as_the_scenes_do(script):
    for name, scene in (("chain100", mc.load("chain", n=100)), ("chain20_heavy", mc.load("chain20_heavy"))):
        model = script.model(name)
        assert model.mass == pytest.approx([body.mass for body in scene.bodies], rel=1e-12)
        assert model.inertia == pytest.approx([body.inertia[0][0] for body in scene.bodies], rel=1e-12)
        placed = np.array([body.position for body in scene.bodies])
        assert model.positions(np.zeros(len(placed))) == pytest.approx(placed)


@pytest.mark.parametrize("name", ["chain100", "chain20_heavy"])
def test_accelerations_are_those_of_the_constrained_bodies(script, name):
    """Against M a - J' f = weight, J a = -J' v of the free bodies (x, z, angle each) in the same state."""
    model = script.model(name)
    n = len(model.mass)
    angle, rate = np.random.default_rng(3).normal(size=(2, n))
    along = np.array([np.cos(angle), np.sin(angle)]).T
    across = np.array([-np.sin(angle), np.cos(angle)]).T
    jacobian, right = np.zeros((2 * n, 3 * n)), np.zeros(2 * n)
    for k in range(n):
        rows = slice(2 * k, 2 * k + 2)
        jacobian[rows, 3 * k : 3 * k + 2] = np.eye(2)
        jacobian[rows, 3 * k + 2] = -model.center[k] * across[k]
        right[rows] -= model.center[k] * along[k] * rate[k] ** 2
        if k:
            rest = model.length[k - 1] - model.center[k - 1]
            jacobian[rows, 3 * k - 3 : 3 * k - 1] = -np.eye(2)
            jacobian[rows, 3 * k - 1] = -rest * across[k - 1]
            right[rows] -= rest * along[k - 1] * rate[k - 1] ** 2
    mass = np.stack([model.mass, model.mass, model.inertia], axis=1)
    free = np.tile([0.0, -script.GRAVITY, 0.0], n)
    force = np.linalg.solve(jacobian / mass.ravel() @ jacobian.T, right - jacobian @ free)
    expected = free + jacobian.T @ force / mass.ravel()
    turning = expected[2::3]
    assert np.abs(model.acceleration(angle, rate) - turning).max() < 1e-7 * np.abs(turning).max()


@pytest.mark.slow
def test_saved_positions_are_converged_and_keep_energy(script):
    """The files say how far they are converged; a fresh solution at a coarser tolerance agrees."""
    for name, until in (("chain100", 1), ("chain20_heavy", 2)):
        model, (times, positions) = script.model(name), script.load(name)
        assert tuple(times) == script.REFERENCES[name]
        with np.load(SCRIPT.parent / "references" / f"{name}.npz") as file:
            assert file["converged"].max() < 1e-11
        for state, saved in zip(model.solve(times[:until], 1e-9), positions):
            assert script.rms_distance(model.positions(state[0]), saved) < 1e-8
            assert abs(model.energy(*state)) < 1e-10 * model.weight.sum()
