"""Contacts that are hardly pressed: impulses down to the smallest numbers that there are move nothing, and stop nothing."""

import numpy as np
import pytest

import mcsim as mc

WORLDS = [
    (mc.World, {"sleep": False}),
    (mc.World, {"friction": "pyramid"}),
    (mc.World, {"solver": "pgs"}),
    (mc.ReducedWorld, {}),
]


@pytest.mark.parametrize("shape", [mc.Sphere(0.12), mc.Box((0.12, 0.12, 0.12))], ids=["sphere", "box"])
@pytest.mark.parametrize("kind, keywords", WORLDS)
@pytest.mark.parametrize("exponent", [-300, -306, -308, -310, -316, -323])
def test_what_falls_along_a_wall_falls_as_without_it(kind, keywords, shape, exponent):
    """It goes towards the wall so slowly that the product of its speed and mass has no inverse."""
    speed = float(f"3e{exponent}")
    fallen = []
    for wall in (True, False):
        scene = mc.Scene()
        material = mc.Material(friction=0.1, restitution=0.8)
        if wall:
            scene.add_body("wall", kind="static", shape=mc.Box((0.1, 1, 30)), position=(-0.1, 0, 0), material=material)
        scene.add_body(
            "body", shape=shape, position=(0.12, 0, 20), density=500, material=material, velocity=(-speed, 0, -2.0)
        )
        world = kind(scene, **keywords)
        world.step(3)
        fallen.append(np.concatenate([world.positions[-1], world.velocities[-1], world.angular_velocities[-1]]))
    assert fallen[0] == pytest.approx(fallen[1], rel=1e-12, abs=1e-12)
