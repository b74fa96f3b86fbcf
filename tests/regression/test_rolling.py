"""A contact point was carried round by the turning body, so that a rolling ball sank by r (w dt)^2 / 2 (2 mm here)."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("shape", [mc.Sphere(0.1), mc.Capsule(0.1, 0.2), mc.Cylinder(0.1, 0.2)])
@pytest.mark.parametrize("stabilization", ["soft", "baumgarte"])
def test_round_bodies_roll_without_sinking(shape, stabilization):
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body(
        "wheel", shape=shape, position=(0, 0, 0.1), orientation=lying, velocity=(3, 0, 0), angular_velocity=(0, 30, 0)
    )
    world = mc.World(scene, stabilization=stabilization)
    for _ in range(60):
        world.step()
        assert world.positions[1, 2] == pytest.approx(0.1, abs=1e-4)
    assert world.velocities[1] == pytest.approx((3, 0, 0), abs=1e-3)
    assert world.angular_velocities[1] == pytest.approx((0, 30, 0), abs=1e-2)
