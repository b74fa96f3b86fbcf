"""Contacts of bodies that turn fast."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("height, spin", [(0.45, 60), (0.5, 100), (0.8, 100)])
def test_a_rod_that_spins_above_the_ground_does_not_feel_it(height, spin):
    """Arms of contacts stood still for a step while the rod turned, so its tip seemed to come down to the very end."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("rod", shape=mc.Box((0.4, 0.05, 0.05)), position=(0, 0, height), angular_velocity=(0, spin, 0))
    world = mc.World(scene)
    energy = world.energy().total
    world.step(120)
    assert world.energy().total == pytest.approx(energy, rel=1e-9)
    assert world.positions[1] == pytest.approx((0, 0, height), abs=1e-12)


def test_a_rod_that_spins_into_the_ground_does():
    """And a little lower it strikes."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("rod", shape=mc.Box((0.4, 0.05, 0.05)), position=(0, 0, 0.39), angular_velocity=(0, 60, 0))
    world = mc.World(scene)
    energy = world.energy().total
    world.step(60)
    assert world.energy().total < energy and world.velocities[1, 2] > 0.1
    assert np.isfinite(world.positions).all()
