"""A velocity that all has changes nothing: no decision of a step looks at velocities as the world sees them."""

import numpy as np
import pytest

import mcsim as mc

TURNS = np.random.default_rng(3).normal(size=(4, 4))
AWAY = np.array((-2.0, 11.0, 0.0))


def falling(kind, velocity):
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Box((30, 30, 1)), kind="kinematic", position=(0, 0, -1), velocity=velocity)
    if kind == "boxes":
        for i, turn in enumerate(TURNS[:3]):
            scene.add_body(
                f"b{i}",
                shape=mc.Box((0.3, 0.2, 0.4)),
                position=(3 * i, 0, 0.8),
                velocity=velocity,
                orientation=turn / np.linalg.norm(turn),
            )
        return scene
    shapes = {"capsules": mc.Capsule(0.1, 0.3), "sticks": mc.Capsule(0.05, 0.3), "plates": mc.Box((0.3, 0.2, 0.05))}
    for i in range(2):
        scene.add_body(
            f"b{i}",
            shape=shapes[kind],
            position=(0.1 * i, 0, 0.9 + 0.8 * i),
            velocity=velocity,
            angular_velocity=(1.0 - i, 0.5, 2.0),
        )
    joint = mc.HingeJoint if kind == "plates" else mc.BallJoint
    more = {"axis": (0, 1, 0)} if kind == "plates" else {}
    scene.add_joint(joint("b0", "b1", anchor=(0.05, 0, 1.3), **more))
    return scene


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("kind", ["boxes", "capsules", "sticks", "plates"])
def test_a_common_velocity_changes_nothing(kind, dt):
    ends = []
    for velocity in (np.zeros(3), AWAY):
        world = mc.ReducedWorld(falling(kind, velocity), dt=dt)
        world.step(round(1.0 / dt))
        ends.append(world.positions - velocity * world.time)
    assert np.abs(ends[1] - ends[0]).max() < 1e-8
