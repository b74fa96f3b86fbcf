"""Numbers so large that their products are infinite: every solver still answers with impulses, and a step that meets them
ends with the last good state."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.solve.problems import SOLVERS

HUGE = {
    "velocity": dict(A=np.eye(6), b=[-1e200, 1, 0, -1, 0, 0]),
    "velocities": dict(A=np.eye(6), b=np.full(6, -1e308)),
    "matrix": dict(A=1e308 * np.eye(6), b=np.full(6, -1e10)),
    "warm start": dict(A=2.0 * np.eye(6), b=-np.ones(6), warm_start=np.full(6, 1e308)),
    "all": dict(A=1e200 * np.eye(6), b=-np.full(6, 1e200), warm_start=np.full(6, 1e200)),
    "small": dict(A=1e-300 * np.eye(6), b=-np.full(6, 1e300)),
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("bilateral", ["rows", "direct"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_solver_answers_with_impulses(solver, name, bilateral):
    """impulses was None where the start was not finite."""
    problem = mc.Problem(friction=[0.5], **HUGE[name])
    for model in SOLVERS[solver][1]:
        try:
            found = mc.solve(problem, solver, model, bilateral=bilateral)
        except mc.SceneError as error:  # direct methods refuse what is out of their range
            assert (solver in ("lemke", "dantzig") or bilateral == "direct") and "units" in str(error)
            continue
        assert found.impulses.shape == found.velocities.shape == (6,) and not np.isnan(found.impulses).any()
        assert found.converged == (found.reason == "converged") and found.residual >= 0 or not found.converged


def falling(solver, kind, **keywords):
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(2):
        scene.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1 + 0.2 * i))
    return kind(scene, solver=solver, contact_model=SOLVERS[solver][1][0], **keywords)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_that_meets_them_is_taken_back(solver, kind):
    """It ended in a TypeError."""
    world = falling(solver, kind)
    world.step(3)
    for force in (1e200, 1e305, 1e308):
        before = world.state_hash()
        world.apply_force("box1", (force, 0, -force))
        with pytest.raises(mc.SimulationError, match="good state is kept"):
            world.step(2)
        assert world.state_hash() == before  # forces are cleared, as after every call
        assert np.isfinite(world.positions).all() and np.isfinite(world.velocities).all()
    other = falling(solver, kind)
    other.step(3)
    world.step(3), other.step(3)
    assert world.state_hash() == other.state_hash()


def test_what_is_not_finite_is_named():
    world = falling("admm", mc.World)
    world.step(2)
    world.apply_force("box1", (0, 0, -1e300))
    with pytest.raises(mc.SimulationError, match="admm.*not finite.*'box1'"):
        world.step()
