"""Settings that are set as attributes of a running world: dt, gravity, substeps, …"""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.capabilities import CHANGEABLE
from mcsim.world.keywords import keyword_names
from mcsim.world.live_settings import LiveSettings, Setting
from test_change_settings import VALUES, WORLDS, changeable, running

every_world = pytest.mark.parametrize("kind", WORLDS)
SIDEWAYS = (3.0, -1.0, -6.0)


def test_every_setting_that_may_change_is_an_attribute():
    there = {name for name, value in vars(LiveSettings).items() if isinstance(value, Setting)}
    assert there == {*CHANGEABLE, "dt"}
    assert all(name in LiveSettings.__doc__ for name in there)


@every_world
def test_an_attribute_is_the_keyword(kind):
    world, other = running(kind), running(kind)
    for name in changeable(kind):
        setattr(world, name, VALUES[name])
        other.change_settings(**{name: VALUES[name]})
        assert getattr(world, name) == VALUES[name] == world.settings[name] and world.settings == other.settings
        setattr(world, name, None)
        other.change_settings(**{name: None})
        assert world.settings == other.settings
    before = world.settings, world.state_hash()
    for name, value in (("substeps", 0), ("threads", "many"), ("dt", -1 / 60), ("dt", 0), ("strict", 3)):
        with pytest.raises(mc.SceneError, match=name):
            setattr(world, name, value)
    assert (world.settings, world.state_hash()) == before


@every_world
def test_another_dt_goes_on_as_a_world_that_was_made_with_it(kind):
    world = running(kind)
    time, substeps = world.time, world.substeps
    other = world.remade(dt=1 / 500)
    world.dt = 1 / 500
    assert world.dt == world.settings["dt"] == 1 / 500 and world.substep == 1 / 500 / substeps
    assert world.time == pytest.approx(time, rel=1e-15) and other.settings == world.settings
    for each in (world, other):
        each.step(10)
    assert world.state_hash() == other.state_hash()
    assert world.time == pytest.approx(time + 10 / 500)
    again = copy.deepcopy(world)
    world.dt = None
    assert world.dt == (1e-3 if kind == "reduced" else 1 / 60)
    again.step(3)
    other.step(3)
    assert again.state_hash() == other.state_hash()


def falling(make, **keywords):
    """A body that flies, and one on a hinge with a spring, its gravity of its own."""
    scene = mc.Scene(gravity=(0, 0, -9))
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0, 0, 5), velocity=(1, 0, 0), gravity_scale=0.5)
    scene.add_body("rod", shape=mc.Capsule(0.05, 0.4), position=(3, 0, 2))
    scene.add_joint(mc.HingeJoint(None, "rod", (3, 0, 2.4), (0, 1, 0), spring=mc.Spring(10.0), name="h"))
    return make(scene, dt=1 / 256, **keywords)


FALLING = {
    "World": (mc.World, {}),
    "rk4": (mc.World, {"integrator": "rk4"}),
    "rattle": (mc.World, {"integrator": "rattle"}),
    "event": (mc.World, {"contact": "event"}),
    "ReducedWorld": (mc.ReducedWorld, {}),
    "reduced rk4": (mc.ReducedWorld, {"integrator": "rk4"}),
}


@pytest.mark.parametrize("kind", FALLING)
def test_another_gravity_acts_from_the_next_step_on(kind):
    """On what flies, exactly; what is told of the energy is kept by the motion that follows."""
    make, keywords = FALLING[kind]
    world = falling(make, **keywords)
    world.step(32)
    before, other, saved = world.velocities[0].copy(), copy.deepcopy(world), world.snapshot()
    positions, velocities = world.positions.copy(), world.velocities.copy()
    world.gravity = SIDEWAYS
    assert world.gravity.tolist() == world.scene.gravity.tolist() == list(SIDEWAYS)
    assert np.array_equal(world.positions, positions) and np.array_equal(world.velocities, velocities)
    energy = world.energy().total
    assert energy != pytest.approx(other.energy().total)
    remade = other.remade(scene_with(other, SIDEWAYS))
    for each in (world, remade):
        each.step(64)
    assert world.velocities[0] - before == pytest.approx(0.5 * np.array(SIDEWAYS) / 4, abs=1e-12)
    assert world.energy().total == pytest.approx(energy, abs=0.3)
    assert world.state_hash() == remade.state_hash()
    if make is mc.ReducedWorld:
        assert world.energy().total == pytest.approx(energy, abs=1e-3)
        still = np.zeros(len(world.qd))
        assert world.bias_force(world.q, still) == pytest.approx(remade.bias_force(world.q, still))
    # What keeps a world keeps its gravity.
    for again in (copy.deepcopy(world), pickle.loads(pickle.dumps(world)), make(world.to_scene(), dt=1 / 256, **keywords)):
        assert again.gravity.tolist() == list(SIDEWAYS)
    now = world.snapshot()
    copied = copy.deepcopy(world)
    world.restore(saved)
    assert world.gravity.tolist() == [0, 0, -9] and world.state_hash() == other.state_hash()
    world.step(10)
    other.step(10)
    assert world.state_hash() == other.state_hash()
    world.restore(pickle.loads(pickle.dumps(now)))
    copied.step(5)
    world.step(5)
    assert world.gravity.tolist() == list(SIDEWAYS) and world.state_hash() == copied.state_hash()
    # And bodies that come later fall by it.
    if kind != "event":
        world.add_body("new", shape=mc.Sphere(0.1), position=(0, 9, 9))
        world.step(16)
        assert world.velocities[-1] == pytest.approx(np.array(SIDEWAYS) / 16, abs=1e-12)


def scene_with(world, gravity):
    scene = world.scene.copy()
    scene.gravity = gravity
    return scene


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_what_sleeps_wakes_under_another_gravity(make):
    world = make(mc.scenes.stack(count=2), dt=1 / 60, substeps=4)
    world.step(180)
    assert world.asleep[1:].all()
    remade = world.remade(scene_with(world, (0, 0, 4.0)))
    world.gravity = (0, 0, 4.0)
    assert not world.asleep.any() and not remade.asleep.any()
    for each in (world, remade):
        each.step(30)
        assert (each.velocities[1:, 2] > 1.5).all()


@pytest.mark.parametrize("value", [None, 9.81, (0, 0), (0, 0, np.nan), "down"])
def test_a_gravity_that_is_none_is_refused(value):
    world = falling(mc.World)
    before = world.state_hash(), world.settings
    for doing in (lambda: setattr(world, "gravity", value), lambda: world.change_settings(gravity=value, substeps=7)):
        with pytest.raises(mc.SceneError, match="World.change_settings: gravity"):
            doing()
    assert (world.state_hash(), world.settings) == before and world.gravity.tolist() == [0, 0, -9]
    with pytest.raises(ValueError, match="read-only"):
        world.gravity[2] = 1.0


def test_a_restore_that_fails_leaves_gravity_as_it_is():
    """Also where the snapshot is of another one."""
    world, other = falling(mc.World), falling(mc.World)
    other.gravity = SIDEWAYS
    snapshot = other.snapshot()
    snapshot.packed.pop("twist")
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match="World.restore"):
        world.restore(snapshot)
    assert world.gravity.tolist() == [0, 0, -9] and world.state_hash() == before
    snapshot.parts.gravity = (0, 0, "down")
    with pytest.raises(mc.SceneError, match="World.restore"):
        world.restore(snapshot)
    assert world.gravity.tolist() == [0, 0, -9] and world.state_hash() == before


def test_defaults_follow_gravity_and_dt():
    """The number of substeps is chosen anew, as for a world that is made now."""
    scene = mc.Scene(gravity=(0, 0, -0.1))
    scene.add_body("coin", shape=mc.Box((0.01, 0.01, 0.001)), position=(0, 0, 1))
    world = mc.World(scene)
    assert world.substeps == 4
    world.gravity = (0, 0, -9.81)
    assert world.substeps == mc.World(scene_with(world, (0, 0, -9.81))).substeps > 4
    assert copy.deepcopy(world).substeps == world.substeps
    world.dt = 1 / 1000
    assert world.substeps == 4


def test_what_cannot_change_answers_as_it_did():
    world = mc.World(mc.scenes.stack(count=1))
    for name, message in (
        ("solver", "World.solver is a setting from the beginning on; make another World of world.scene.copy()"),
        ("joints", "World.joints is a setting from the beginning on"),
        ("foo", "World.foo is not there; what may be set: contact_filter, gravity, tau, and what change_settings takes; "),
        ("gravty", r"World.gravty is not there; did you mean 'gravity'\?"),
        ("time", "World.time is read only; what may be set: "),
        ("positions", r"World.positions is an array of the state, to be written into: world.positions\[...\] = …"),
    ):
        with pytest.raises(AttributeError, match=message) as caught:
            setattr(world, name, 3)
        assert "'_" not in str(caught.value)
    with pytest.raises(mc.SceneError, match=r"takes no 'grvity'; did you mean 'gravity'\?"):
        world.change_settings(grvity=(0, 0, 0))
    assert "least_iterations" not in keyword_names(mc.ReducedWorld)
    with pytest.raises(mc.SceneError, match="takes no 'least_iterations'"):
        mc.ReducedWorld(mc.scenes.stack(count=1)).least_iterations = 3
