"""What lands in generalized coordinates does not sink in: contacts are aimed at where the drift of the tree ends, at the
velocities that impulses leave, and no velocity product is made of impulses that are only guessed."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

QUARTER = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)


def flail(links, joint, shape, spin, held):
    """A straight chain above the floor, turning about its first end."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(links):
        scene.add_body(
            f"l{i}",
            shape=shape,
            position=(0.3 * (i + 0.5), 0, 0.5),
            orientation=QUARTER,
            density=1000,
            velocity=(0, 0, -spin * 0.3 * (i + 0.5)),
            angular_velocity=(0, spin, 0),
        )
    for i in range(0 if held else 1, links):
        a, at = (f"l{i - 1}" if i else None), (0.3 * i, 0, 0.5)
        scene.add_joint(mc.HingeJoint(a, f"l{i}", at, (0, 1, 0)) if joint == "hinge" else mc.BallJoint(a, f"l{i}", at))
    return scene


def deepest(world, seconds):
    """Of each step [m]."""
    found = []
    for _ in range(round(seconds / world.dt)):
        world.step()
        found.append(-min(0.0, world.contacts["separation"].min(initial=0.0)))
    return np.array(found)


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("joint", ["hinge", "ball"])
@pytest.mark.parametrize("shape", [mc.Capsule(0.04, 0.11), mc.Box((0.04, 0.04, 0.14))], ids=["capsule", "box"])
@pytest.mark.parametrize("spin, most", [(2.0, 5e-3), (5.0, 0.01), (10.0, 0.018)])
def test_chains_that_land_do_not_sink_in(spin, most, shape, joint, held):
    """Six links, at 10 rad/s 37 to 74 mm deep when contacts were aimed along J qdd alone, which is nothing without J'
    qd."""
    assert deepest(mc.ReducedWorld(flail(6, joint, shape, spin, held), dt=1 / 60), 0.6).max() < most


def test_ragdolls_overlap_by_little():
    """At 1/30 s, where velocity products are large: 4.6 mm in the mean when those of guessed impulses were among them; now
    1.6, 0.3 to 7 by draw; World's with four substeps 0.8."""
    mean = np.mean(
        [
            deepest(
                mc.ReducedWorld(mc.load("ragdolls", count=5, drop=0.4 + 0.025 * k, friction=0.5 + 0.01 * k), dt=1 / 30), 2.0
            )[30:].mean()
            for k in range(amount(5, 16))
        ]
    )
    assert mean < 2.2e-3
