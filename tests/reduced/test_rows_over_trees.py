"""J and H^-1 J' of a tree's rows, which are found several at a time: what stands beside a row has no part in it."""

import numpy as np
import pytest

import mcsim as mc


def lying(count, drop):
    """Ragdolls on a floor and on each other: rows of joints, of limits, between a tree and the floor, within it and
    between two."""
    world = mc.ReducedWorld(mc.load("ragdolls", count=count, drop=drop), dt=1 / 60)
    world.step(60)
    return world


def spread():
    """A chain whose rows alternate between joints, a loop and contacts."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(5):
        scene.add_body(
            f"b{i}",
            shape=mc.Capsule(0.05, 0.1),
            position=(0.3 * i, 0.01 * i, 0.05),
            orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
        )
    for i in range(4):
        at = (0.3 * i + 0.15, 0.01 * i, 0.05)
        if i % 2:
            scene.add_joint(mc.HingeJoint(f"b{i}", f"b{i + 1}", at, (0, 0, 1), friction=0.1, limits=(-0.01, 0.01)))
        else:
            scene.add_joint(mc.BallJoint(f"b{i}", f"b{i + 1}", at, friction=0.1))
    scene.add_joint(mc.DistanceJoint("b0", "b4", (0, 0, 0.05), (1.2, 0.04, 0.05)))
    world = mc.ReducedWorld(scene, dt=1 / 60)
    world.step(5)
    return world


WORLDS = {"one": lambda: lying(1, 0.3), "three": lambda: lying(3, 0.1), "chain": spread}


@pytest.mark.parametrize("name", WORLDS)
def test_responses_are_those_of_the_mass_matrix(name):
    world = WORLDS[name]()
    jacobian, h = world.jacobian().toarray(), world.mass_matrix(world.q)
    expected = jacobian @ np.linalg.solve(h, jacobian.T)
    found = world.delassus().toarray()
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("name", WORLDS)
def test_what_the_step_has_is_that_of_the_mass_matrix(name):
    """J and H^-1 J' as the sweeps have them, of rows found by H^-1 and by passes over the tree."""
    world = WORLDS[name]()
    jacobian, h = world.jacobian().toarray(), world.mass_matrix(world.q)
    world._prepare()
    j, response = (part.toarray() for part in world._pipeline.space.row_matrices())
    moving = np.abs(j).max(axis=1) > 0.0  # what the tree implies is left out
    assert np.count_nonzero(moving) > 10
    assert np.abs(j - jacobian)[moving].max() < 1e-9
    expected = np.linalg.solve(h, jacobian.T).T
    assert np.abs(response - expected)[moving].max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("name", WORLDS)
def test_rows_move_as_their_bodies_do(name):
    """J qd of contacts is what World's rows have at the bodies' velocities."""
    world = WORLDS[name]()
    world.qd[:] = np.random.default_rng(1).normal(size=len(world.qd))
    bodies = world.maximal()
    twists = np.hstack([bodies.velocities, bodies.angular_velocities]).reshape(-1)
    rates = [
        dict(
            zip(
                zip(w.rows["kind"].tolist(), w.rows["source"].tolist(), w.rows["index"].tolist(), strict=True),
                w.jacobian() @ v,
                strict=True,
            )
        )
        for w, v in ((world, world.qd), (bodies, twists))
    ]
    shared = [key for key in rates[0] if key[0] == "normal" and key in rates[1]]
    assert len(shared) > 5
    assert np.allclose([rates[0][key] for key in shared], [rates[1][key] for key in shared], atol=1e-9)


def test_what_a_pose_is_asked_for_is_not_kept_for_another():
    """H^-1 of a tree is kept for as long as it stands where it is: not where a user moves it, and back."""
    world = lying(1, 0.1)
    first = world.q.copy()
    for q in (first, first + 1e-3, first):
        world.q[:] = q
        jacobian = world.jacobian().toarray()
        expected = jacobian @ np.linalg.solve(world.mass_matrix(world.q), jacobian.T)
        assert np.abs(world.delassus().toarray() - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("drop", [0.1, 0.4])
def test_what_is_kept_of_a_pose_has_no_part_in_the_bits(drop):
    world = mc.ReducedWorld(mc.load("ragdolls", count=2, drop=drop), dt=1 / 60)
    world.step(30)
    anew = mc.ReducedWorld(mc.load("ragdolls", count=2, drop=drop), dt=1 / 60)
    for _ in range(20):
        anew.restore(world.snapshot())
        for each in (world, anew):
            each.step()
        assert world.state_hash() == anew.state_hash()
        anew.q[:] += 1e-4
        anew.step()
