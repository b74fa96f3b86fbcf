"""What is shot at thin walls in generalized coordinates: the tunnelling guard set bodies back alone, and their
coordinates did not follow: joints of the tree were seen open by up to 1.5 m."""

import numpy as np
import pytest

import mcsim as mc


def room(half=2.0):
    scene = mc.Scene(gravity=(0, 0, 0))
    for axis in range(3):
        for side in (-1.0, 1.0):
            extents, position = np.full(3, half), np.zeros(3)
            extents[axis], position[axis] = 0.01, side * half
            scene.add_body(kind="static", shape=mc.Box(extents), position=position)
    return scene


@pytest.mark.parametrize("seed", range(8))
def test_shot_chains_stay_closed(seed):
    rng = np.random.default_rng(seed)
    scene = room()
    links = [
        scene.add_body(
            shape=mc.Capsule(0.03, 0.1),
            density=1000,
            position=(0.3 * k - 0.45, 0, 0),
            orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
            velocity=rng.normal(size=3) * 60 * (k == 0),
        )
        for k in range(4)
    ]
    for k in range(3):
        scene.add_joint(mc.BallJoint(links[k], links[k + 1], anchor=(0.3 * k - 0.3, 0, 0)))
    world = mc.ReducedWorld(scene, dt=1 / 60)
    for _ in range(60):
        world.step()
        assert world.joint_errors()[:, 0].max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_shot_body_on_its_own_stays_in_the_room(seed):
    rng = np.random.default_rng(seed)
    scene = room()
    scene.add_body(
        "rod",
        shape=mc.Capsule(0.02, 0.3),
        density=1000,
        velocity=rng.normal(size=3) * 60,
        angular_velocity=rng.normal(size=3) * 20,
    )
    world = mc.ReducedWorld(scene, dt=1 / 60)
    for _ in range(60):
        world.step()
        np.testing.assert_array_equal(world.q[:3], world.positions[-1])
        assert np.abs(world.positions[-1]).max() < 2.0
