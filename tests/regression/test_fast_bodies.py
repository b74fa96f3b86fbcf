"""Contacts began 20 mm apart whatever the speed, so that a body at 8 m/s was 120 mm deep when it was first seen."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("speed", [5.0, 30.0, 200.0])
@pytest.mark.parametrize(
    "shape", [mc.Sphere(0.05), mc.Box((0.05, 0.05, 0.05)), mc.Capsule(0.05, 0.1), mc.Cylinder(0.05, 0.1)]
)
def test_a_fast_body_stops_at_a_thin_wall(shape, speed):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", shape=mc.Box((1.0, 1.0, 0.005)), kind="static")
    scene.add_body("shot", shape=shape, position=(0, 0, 2.0), velocity=(0, 0, -speed))
    world = mc.World(scene)
    for _ in range(60):
        world.step()
        assert world.positions[1, 2] > 0.05
        if len(world.contacts):
            assert world.contacts["separation"].min() > -0.005


def test_bodies_that_pass_do_not_touch():
    """The longer reach of fast bodies makes contacts of those that meet, not of those that pass each other by."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("left", shape=mc.Box((0.2, 0.2, 0.2)), position=(-5, 0, 0), velocity=(20, 0, 0))
    scene.add_body("right", shape=mc.Box((0.2, 0.2, 0.2)), position=(5, 0, 0.45), velocity=(-20, 0, 0))
    world = mc.World(scene)
    world.step(60)
    assert np.array_equal(world.velocities, [(20, 0, 0), (-20, 0, 0)])
