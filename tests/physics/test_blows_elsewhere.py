"""Rows for blows are laid out in the steps in which something may be struck. What happens far away decides that, too, and
changes no bit of what is here."""

import numpy as np
import pytest

import mcsim as mc

KEYWORDS = [{}, {"substeps": 1}, {"stabilization": "baumgarte"}, {"joint_solver": "rows"}, {"restitution_law": "poisson"}]


def heap(elsewhere, hinged=False, seed=0):
    """Boxes and balls that fall on each other and come to rest; elsewhere: a ball that bounces on for long, far off."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=mc.Material(restitution=0.3))
    scene.add_body("anvil", shape=mc.Box((0.3, 0.3, 0.3)), kind="static", position=(80, 0, 0.3))
    bounces = mc.Material(restitution=0.5)
    for i in range(12):
        scene.add_body(
            f"{i}",
            shape=(mc.Box((0.15, 0.15, 0.15)), mc.Sphere(0.15))[i % 2],
            position=(*rng.uniform(-0.3, 0.3, 2), 0.2 + 0.4 * i),
            angular_velocity=rng.uniform(-5, 5, 3),
            material=mc.Material(restitution=0.4 * (i % 3 > 0)),
        )
    if hinged:
        scene.add_body("door", shape=mc.Box((0.4, 0.05, 0.4)), position=(0, -0.8, 1.5), material=bounces)
        scene.add_joint(mc.HingeJoint(None, "door", anchor=(0, -0.8, 2.0), axis=(1, 0, 0)))
    if elsewhere:
        lively = mc.Material(restitution=1.0)
        scene.add_body("lively", shape=mc.Sphere(0.1), position=(80, 0, 1.0), material=lively)
    return scene


@pytest.mark.parametrize("hinged", [False, True])
@pytest.mark.parametrize("keywords", KEYWORDS)
def test_it_changes_nothing_here(keywords, hinged):
    alone, beside = (mc.World(heap(there, hinged), sleep=False, **keywords) for there in (False, True))
    struck = 0
    for _ in range(180):
        for world in (alone, beside):
            world.step()
        struck += beside.stats.impacts
        here = slice(0, len(alone.positions))
        assert np.array_equal(alone.positions, beside.positions[here])
        assert np.array_equal(alone.velocities, beside.velocities[here])
    assert struck > 0
