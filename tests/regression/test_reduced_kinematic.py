"""Kinematic bodies in generalized coordinates: impulses do not change their velocities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mcsim as mc


def on_a_kinematic_plate(kind, hung=False, **keywords):
    scene = mc.Scene()
    scene.add_body("plate", shape=mc.Box((1, 1, 0.1)), kind="kinematic", velocity=(0, 0, 0.1))
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0, 0, 0.301))
    if hung:
        scene.add_body("arm", shape=mc.Sphere(0.2), position=(3, 0, 0.3))
        scene.add_joint(mc.HingeJoint("plate", "arm", (1, 0, 0), (0, 1, 0), limits=(-1.0, 0.001)))
    return kind(scene, dt=1 / 240, **keywords)


@pytest.mark.parametrize("hung", [False, True])
def test_what_impulses_cannot_move_has_no_part_in_the_delassus_matrix(hung):
    """H of a kinematic body is singular: delassus(), problem() and the residuals ended in a LinAlgError."""
    maximal, reduced = on_a_kinematic_plate(mc.World, hung), on_a_kinematic_plate(mc.ReducedWorld, hung)
    for world in (maximal, reduced):
        world.step(20)
    rows = reduced.rows
    contacts = np.flatnonzero(rows["kind"] != "limit")
    of_world = maximal.rows["kind"]
    chosen = np.flatnonzero((of_world != "limit") & (of_world != "joint"))
    assert len(contacts) == len(chosen) >= 3 and hung == bool(np.any(rows["kind"] == "limit"))
    assert_allclose(
        reduced.delassus().toarray()[np.ix_(contacts, contacts)],
        maximal.delassus().toarray()[np.ix_(chosen, chosen)],
        rtol=1e-4,
        atol=1e-9,
    )
    problem = reduced.problem()
    assert mc.solve(problem, "admm", tolerance=1e-10).converged
    assert np.all(np.isfinite(problem.inverse_mass.toarray()))
    assert np.isfinite(reduced.stats.residuals["primal"])


@pytest.mark.parametrize("solver", ["admm", "newton", "pgs"])
def test_the_laboratorys_solvers_step_beside_kinematic_bodies(solver):
    swept = on_a_kinematic_plate(mc.ReducedWorld, True)
    solved = on_a_kinematic_plate(mc.ReducedWorld, True, solver=solver, contact_model="ncp")
    for world in (swept, solved):
        world.step(30)
    assert_allclose(solved.positions, swept.positions, atol=2e-4)
