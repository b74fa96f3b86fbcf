"""Joints of the user's own and gears that nothing can close: what they cannot hold stays open, and nothing flies off."""

import numpy as np
import pytest

import mcsim as mc


def offset(b_local, a_local):
    return lambda a, b: b.position + b.rotation @ b_local - a.position - a.rotation @ a_local


def locked_wheel(gap):
    """A wheel on a hinge held to the world a second time, `gap` [m] off along its axis and its spoke, and geared to
    a wheel that falls."""
    scene = mc.Scene()
    for i, name in enumerate("ab"):
        scene.add_body(name, mass=1.0 + i, inertia=(0.02, 0.03, 0.04), position=(0.4, i, 0))
        scene.add_joint(mc.HingeJoint(None, name, (0, i, 0), (0.1, 1, 0.2), name=f"pin {name}"))
    scene.add_joint(mc.UserJoint("a", "b", lambda a, b: [np.linalg.norm(a.position) - 0.4 - gap], name="wish"))
    scene.add_joint(mc.UserJoint(None, "a", offset(np.zeros(3), np.array((0.4 + gap, gap, 0.0))), name="nail"))
    scene.add_joint(mc.GearJoint("pin a", "pin b", 3.0, name="gear"))
    return scene


@pytest.mark.parametrize("gap", [0.01, pytest.param(0.3, marks=pytest.mark.slow)])
def test_a_wheel_that_is_nailed_beside_its_place(gap):
    """The rows' moves against each other led further away, by 0.65 m for a gap of 1 cm: the border had no proximal
    part."""
    world = mc.World(locked_wheel(gap))
    for _ in range(60):
        world.step()
        assert np.abs(world.velocities).max() < 30.0
    assert world.joint_errors().max() < 3.0 * gap


@pytest.mark.parametrize("stabilization", ["baumgarte", "split_impulse"])
def test_the_same_under_the_other_stabilizations(stabilization):
    world = mc.World(locked_wheel(2.0), stabilization=stabilization)
    for _ in range(30):
        world.step()
        assert np.abs(world.velocities).max() < 100.0
    assert world.joint_errors().max() < 10.0
