"""Stabilization "baumgarte"."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount


@pytest.mark.parametrize("beta", [0.2, 0.8])
def test_a_bridge_does_not_shake_itself_apart(beta):
    """Joints began a substep with 0.9 of their impulse, which is unstable above 1 / (1 + beta): the bridge exploded."""
    world = mc.World(mc.load("bridge"), stabilization="baumgarte", baumgarte=beta)
    highest = world.energy().total
    for _ in range(amount(10, 20)):
        world.step(30)
        assert world.energy().total < highest
        assert world.joint_errors()[:, 0].max() < 0.005


@pytest.mark.parametrize("shape", [mc.Sphere(0.5), mc.Box((0.5, 0.5, 0.5)), mc.Cylinder(0.5, 0.5)])
def test_what_lies_deep_in_the_ground_comes_out_at_push_speed(shape):
    """The bias beta C / h had no bound: a ball 10 m below the floor was shot out at 500 m/s."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("deep", shape=shape, position=(0, 0, -3))
    world = mc.World(scene, stabilization="baumgarte", push_speed=2.0)
    for _ in range(300):
        world.step()
        assert np.abs(world.velocities).max() < 2.001
    assert world.positions[1, 2] == pytest.approx(0.5, abs=0.001)
