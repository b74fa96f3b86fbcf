"""Limits that are set after many turns: a stop does not know of turns before it."""

import math

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.handles import turns_towards

WORLDS = pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])


def test_whole_turns_towards_an_interval():
    """Against all numbers of turns there are; those that stay where they are inside."""
    random = np.random.default_rng(3)
    for _ in range(2000):
        angle, lower = random.uniform(-100, 100), random.uniform(-10, 3)
        upper = math.inf if random.random() < 0.2 else lower + random.exponential(3.0)
        lower = -math.inf if random.random() < 0.2 else lower

        def off(turns):
            here = angle + 2 * math.pi * turns
            return max(lower - here, here - upper, 0.0)

        turns = turns_towards(angle, lower, upper)
        assert off(turns) <= min(off(k) for k in range(-20, 21)) + 1e-12
        assert off(0) > 0.0 or turns == 0


def wheel(cls, kind="hinge", sign=1, **joint):
    """A wheel that turns about z by 0.25 + 2 pi a second, without gravity."""
    scene = mc.Scene(gravity=(0, 0, 0))
    rate = sign * (2 * math.pi + 0.25)
    scene.add_body("m", mass=1, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, rate))
    at = dict(anchor=(0, 0, 0), name="j")
    scene.add_joint(
        {
            "hinge": lambda: mc.HingeJoint(None, "m", axis=(0, 0, 1), **at, **joint),
            "cylindrical": lambda: mc.CylindricalJoint(None, "m", axis=(0, 0, 1), **at),
            "planar": lambda: mc.PlanarJoint(None, "m", normal=(0, 0, 1), **at),
        }[kind]()
    )
    return cls(scene, dt=1 / 120)


@WORLDS
@pytest.mark.parametrize("kind, axis", [("hinge", 0), ("cylindrical", 1), ("planar", 2)])
@pytest.mark.parametrize("sign", [1, -1])
def test_it_does_not_unwind(cls, kind, axis, sign):
    """Two turns and half a radian, then limits of 0.6: read from the nearest turn, stopped by the limit, not turned
    back."""
    world = wheel(cls, kind, sign)
    world.step(240)
    joint = world.joint("j")
    assert np.atleast_1d(joint.position)[axis] == pytest.approx(sign * (4 * math.pi + 0.5), rel=1e-6)
    joint.set_limits(-0.6, 0.6, axis=axis)
    assert np.atleast_1d(joint.position)[axis] == pytest.approx(sign * 0.5, abs=1e-5)
    for _ in range(120):
        world.step()
        assert abs(np.atleast_1d(joint.position)[axis]) < 0.6 + 1e-6
        assert abs(np.atleast_1d(joint.velocity)[axis]) < 1e-6 or sign * np.atleast_1d(joint.position)[axis] < 0.6


@WORLDS
def test_a_wound_spring_stays_wound(cls):
    """Limits that do not touch change nothing: the spring pulls as before, and its energy is what it was."""
    plain, stopped = (wheel(cls, spring=mc.Spring(0.1)) for _ in range(2))
    for world in (plain, stopped):
        world.step(120)
    before = stopped.energy().total
    stopped.joint("j").set_limits(-3.0, 3.0)
    assert stopped.energy().total == pytest.approx(before, rel=1e-12)
    for world in (plain, stopped):
        world.step(12)
    turned = plain.joint("j").position - stopped.joint("j").position
    assert turned == pytest.approx(2 * math.pi, abs=1e-9)
    assert stopped.joint("j").velocity == pytest.approx(plain.joint("j").velocity, abs=1e-9)


@WORLDS
def test_a_motor_goes_on_to_where_it_went(cls):
    """Its target is counted along."""
    world = wheel(cls, motor=mc.Motor(position=4 * math.pi, hertz=1.0))
    world.step(600)
    joint = world.joint("j")
    joint.set_limits(-1.0, 1.0)
    assert joint.position == pytest.approx(0.0, abs=1e-6)
    world.step(60)
    assert joint.position == pytest.approx(0.0, abs=1e-6)


@WORLDS
def test_turns_that_something_else_knows_stay(cls):
    """A screw's way says how often it has turned."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 7.0), velocity=(0, 0, 0.7))
    scene.add_joint(mc.ScrewJoint(None, "m", anchor=(0, 0, 0), axis=(0, 0, 1), pitch=0.1, name="j"))
    world = cls(scene, dt=1 / 120)
    world.step(240)
    before = world.joint("j").position
    world.joint("j").set_limits(None, 0.6)
    assert before > 12.0 and world.joint("j").position == pytest.approx(before, abs=1e-9)
