"""What is far away is not felt, to the bit: every decision is that of a tree, or of a body."""

import numpy as np
import pytest

import mcsim as mc


def pile(scene):
    """Boxes on a floor, and a weight that swings into its limit over it. -> how many dynamic bodies"""
    scene.add_body("floor", kind="static", shape=mc.Box((50, 50, 1)), position=(0, 0, -1))
    for i in range(6):
        scene.add_body(f"box{i}", shape=mc.Box((0.5, 0.5, 0.5)), position=(0.1 * i, 0.3 * (i % 2), 0.52 + 1.03 * i))
    scene.add_body("arm", shape=mc.Sphere(0.2), position=(-8, 0, 5))
    scene.add_joint(mc.HingeJoint(None, "arm", (-9, 0, 5), (0, 1, 0), limits=(-0.3, 0.3)))
    return 7


def falling(scene):
    """Fast for its size: the tunnelling guard watches."""
    scene.add_body("far", shape=mc.Sphere(0.1), position=(500, 0, 50), velocity=(0, 0, -30))


def landing(scene):
    scene.add_body("shelf", kind="static", shape=mc.Box((2, 2, 0.01)), position=(500, 0, 0))
    scene.add_body("far", shape=mc.Sphere(0.05), position=(500, 0, 1), velocity=(0, 0, -40))


def chain(scene):
    last = None
    for k in range(4):
        scene.add_body(f"far{k}", shape=mc.Capsule(0.1, 0.2), position=(500 + 0.8 * k, 0, 50))
        scene.add_joint(mc.BallJoint(last, f"far{k}", (500 + 0.8 * k - 0.4, 0, 50)))
        last = f"far{k}"


def heap(scene):
    scene.add_body("shelf", kind="static", shape=mc.Box((5, 5, 0.5)), position=(500, 0, 0))
    for k in range(5):
        scene.add_body(f"far{k}", shape=mc.Capsule(0.2, 0.3), position=(500 + 0.1 * k, 0.2 * k, 1 + 0.5 * k))


@pytest.mark.parametrize("first", [False, True], ids=["added last", "added first"])
@pytest.mark.parametrize("far", [falling, landing, chain, heap])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_is_far_away_is_not_felt(kind, far, first):
    alone, both = mc.Scene(), mc.Scene()
    pile(alone)
    for add in (far, pile) if first else (pile, far):
        add(both)
    worlds = [kind(scene, dt=1 / 60) for scene in (alone, both)]
    names = [body.name for body in alone.bodies]
    places = [[world.body_names.index(name) for name in names] for world in worlds]
    for _ in range(100):
        for world in worlds:
            world.step()
        for what in ("positions", "orientations", "velocities", "angular_velocities"):
            a, b = (getattr(world, what)[at] for world, at in zip(worlds, places, strict=True))
            np.testing.assert_array_equal(a, b)
