"""World.remade: another world in the same state, with other keywords or another scene."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

every_world = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
HEAVY = (0.0, 0.0, -20.0)


def running(make, **keywords):
    """A hinged rod that has turned more than once, a spring pendulum's box, what rests, in the middle of its way."""
    scene = mc.Scene(name="running")
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("rod", shape=mc.Capsule(0.05, 0.4), position=(0, 0, 2), angular_velocity=(0, 9, 0))
    scene.add_body("box", shape=mc.Box((0.1, 0.2, 0.3)), position=(2, 0, 0.3), velocity=(0, 0.5, 0))
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(4, 0, 1))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 2), axis=(0, 1, 0), friction=0.1, name="pivot"))
    world = make(scene, dt=1 / 240, **keywords)
    world.step(200)
    return world


def state(world):
    return [np.array(part) for part in (world.positions, world.orientations, world.velocities, world.angular_velocities)]


@every_world
def test_nothing_changed_goes_on_to_the_same_bits(make):
    world = running(make)
    other = world.remade()
    assert type(other) is make and other is not world and other.settings == world.settings
    assert other.state_hash() == world.state_hash() and other.time == world.time
    world.step(50)
    other.step(50)
    assert other.state_hash() == world.state_hash()


@every_world
def test_other_keywords_in_the_same_state(make):
    world = running(make, iterations=5)
    before = world.state_hash()
    other = world.remade(dt=1 / 480, substeps=2, friction="pyramid")
    assert world.state_hash() == before
    assert (other.dt, other.settings["substeps"], other.settings["friction"]) == (1 / 480, 2, "pyramid")
    assert other.settings["iterations"] == 5 and world.remade(iterations=None).settings["iterations"] != 5
    assert other.time == pytest.approx(world.time, abs=1e-15)
    assert other.joint("pivot").angle == world.joint("pivot").angle and world.joint("pivot").angle > 6.0
    for mine, its in zip(state(world), state(other)):
        assert np.array_equal(mine, its)
    other.step(20)
    assert other.time == pytest.approx(world.time + 20 / 480)


@every_world
def test_what_follows_from_a_keyword_follows_the_new_one(make):
    """Springs' rates follow dt where they were not given, as in a world that is made with it."""
    other = running(make).remade(dt=1 / 60)
    assert other.settings["hertz"] == make(other.scene.copy(), dt=1 / 60).settings["hertz"]


@every_world
def test_another_gravity(make):
    world = running(make)
    scene = world.scene.copy()
    scene.gravity = HEAVY
    other = world.remade(scene)
    height, speed = world.body("ball").position[2], world.body("ball").velocity[2]
    other.step(24)
    assert other.body("ball").velocity[2] == pytest.approx(speed - 20.0 * 0.1) or height < 0.5
    assert other.energy().potential != world.energy().potential


@every_world
def test_bodies_that_came_and_went(make):
    world = running(make)
    world.remove_body("box")
    world.add_body("late", shape=mc.Sphere(0.1), position=(0, 3, 1))
    other = world.remade(iterations=7)
    assert other.body_names == world.body_names == ("floor", "rod", "ball", "late")
    for mine, its in zip(state(world), state(other)):
        assert np.array_equal(mine, its)
    other.step(10)
    twin = copy.deepcopy(other)
    twin.step(5)
    other.step(5)
    assert twin.state_hash() == other.state_hash()


@every_world
def test_another_scene_is_refused(make):
    world = running(make)
    for wrong in (mc.Scene(), "chain", mc.load("chain")):
        with pytest.raises(mc.SceneError, match="the same bodies and joints by name"):
            world.remade(wrong)
    with pytest.raises(mc.SceneError, match="solver must be one of"):
        world.remade(solver="none of them")


@every_world
def test_copies_are_made_with_what_was_said(make):
    """Also of keywords that other keywords follow from, and of objects."""
    world = running(make, contact=mc.RigidContact(push_speed=2.0), sleep=mc.Sleep(time=0.25), substeps=3)
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert other.settings == world.settings and other.state_hash() == world.state_hash()
        assert other.remade(substeps=None).settings["sleep_time"] == 0.25
