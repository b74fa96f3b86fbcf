"""World.change_settings: other numbers for keywords of a world that runs."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.capabilities import CHANGEABLE
from mcsim.world.keywords import keyword_names

VALUES = {
    "substeps": 3,
    "iterations": 7,
    "first_iterations": 9,
    "least_iterations": 2,
    "more_iterations": 3,
    "position_rounds": 2,
    "stop": "residual",
    "tolerance": 1e-3,
    "baumgarte": 0.15,
    "hertz": 20.0,
    "damping_ratio": 0.7,
    "push_speed": 1.0,
    "slop": 1e-3,
    "joint_hertz": 15.0,
    "joint_damping_ratio": 0.8,
    "joint_push_speed": 2.0,
    "restitution_threshold": 0.3,
    "speculative_distance": 0.03,
    "sleep_speed": 0.05,
    "sleep_time": 0.2,
    "threads": 2,
    "strict": True,
}
WORLDS = {
    "soft": (mc.World, {"dt": 1 / 120}),
    "baumgarte": (mc.World, {"dt": 1 / 120, "stabilization": "baumgarte", "joint_solver": "rows"}),
    "projection": (mc.World, {"dt": 1 / 120, "stabilization": "projection"}),
    "rk4": (mc.World, {"dt": 1 / 240, "integrator": "rk4"}),
    "event": (mc.World, {"dt": 1 / 120, "contact": "event"}),
    "reduced": (mc.ReducedWorld, {"dt": 1 / 120}),
}
every_world = pytest.mark.parametrize("kind", WORLDS)


def scene(plain=False):
    """A ball that bounces, and a rod on a hinge; beside them a sensor around the ball, and a box with a lid that slides."""
    made = mc.Scene(name="changed")
    made.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    made.add_body("ball", shape=mc.Sphere(0.2, material=mc.Material(restitution=0.5)), position=(4, 0, 0.5))
    made.add_body("rod", shape=mc.Capsule(0.05, 0.4), position=(-3, 0, 2), angular_velocity=(0, 3, 0))
    made.add_joint(mc.HingeJoint(None, "rod", anchor=(-3, 0, 2.4), axis=(0, 1, 0), name="pivot"))
    if not plain:
        made.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), position=(4, 0, 1), kind="static")
        made.add_body("box", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, 0, 0.1), velocity=(1, 0, 0))
        made.add_body("lid", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.3))
    return made


def running(kind, **keywords):
    make, own = WORLDS[kind]
    world = make(scene(kind == "event"), **own, **keywords)
    world.step(15)
    return world


def changeable(kind):
    return [name for name in keyword_names(WORLDS[kind][0]) if name in CHANGEABLE]


@every_world
def test_it_goes_on_as_a_world_that_was_made_with_it(kind):
    """To the bit, for every such keyword; and back to the default as if nothing had been."""
    assert set(VALUES) == set(CHANGEABLE)
    world = running(kind)
    plain, at = world.settings, world.state_hash()
    changed, shown = set(), world.positions
    for name in changeable(kind):
        snapshot = world.snapshot()
        world.change_settings(**{name: VALUES[name]})
        assert world.settings[name] == VALUES[name] and world.state_hash() == at
        other = world.remade()
        assert other.settings == world.settings
        world.step(6)
        other.step(6)
        assert world.state_hash() == other.state_hash(), name
        assert np.array_equal(shown, world.positions), "views follow"
        reached = world.state_hash()
        world.change_settings(**{name: None})
        assert world.settings == plain and world.state_hash() == reached
        world.restore(snapshot)
        assert world.state_hash() == at
        world.step(6)
        changed |= {name} if world.state_hash() != reached else set()
        world.restore(snapshot)
    if kind == "soft":
        assert changed >= {"substeps", "iterations", "hertz", "damping_ratio"}
    if kind == "baumgarte":
        assert changed >= {"substeps", "iterations", "baumgarte"}


@every_world
def test_what_happened_in_the_last_step_is_still_told(kind):
    """Events, contacts and notes; handles serve on; and bodies come and go as before."""
    world = running(kind)
    world.step(round(0.3 / world.dt))
    events, contacts, rod = world.events, world.contacts, world.body("rod")
    world.change_settings(substeps=6)
    for name in ("begin", "end", "sensor_begin", "sensor_end"):
        assert np.array_equal(getattr(world.events, name), getattr(events, name))
    assert len(events.begin) and np.array_equal(world.contacts, contacts)
    assert rod.mass == world.body("rod").mass and not rod.removed
    if kind != "event":
        world.add_body("new", shape=mc.Sphere(0.1), position=(0, 3, 3))
        world.remove_body("ball")
    world.step(5)
    assert world.settings["substeps"] == 6
    again = pickle.loads(pickle.dumps(world)), copy.deepcopy(world)
    assert all(other.settings == world.settings and other.state_hash() == world.state_hash() for other in again)


def test_what_cannot_change_is_refused():
    """With the name and what to do instead, and to the bit nothing has changed."""
    world = mc.World(scene(), contact=mc.RigidContact(hertz=30.0))
    reduced = mc.ReducedWorld(scene())
    world.step(5)
    before, plain = world.state_hash(), world.settings
    for kept, keywords, message in (
        (world, {"solver": "pgs"}, "takes no 'solver'; it takes .*iterations.* remade"),
        (world, {"iteration": 3}, "takes no 'iteration'; did you mean 'iterations'"),
        (world, {"iterations": 0}, "iterations must be from 1"),
        (world, {"iterations": 9, "slop": -1.0}, "slop must"),
        (world, {"hertz": 20.0}, "hertz is given twice, by hertz=20.0 and by contact=RigidContact"),
        (reduced, {"position_rounds": 3}, "takes no 'position_rounds'"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            kept.change_settings(**keywords)
    assert world.state_hash() == before and world.settings == plain
    with pytest.raises(AttributeError, match="make another World"):
        world.solver = "pgs"


@every_world
def test_what_is_broken_off_has_changed_nothing(kind, monkeypatch):
    """Ctrl-C in the middle of it: settings and state are those before, and the world goes on to the same bits."""
    world, other = running(kind), running(kind)
    plain, before = world.settings, world.state_hash()
    anew = type(world)._anew

    def interrupted(self, *arguments):
        anew(self, *arguments)
        self._holder().bodies.position[:] = 7.0
        raise KeyboardInterrupt

    monkeypatch.setattr(type(world), "_anew", interrupted)
    for keywords in ({"substeps": 9}, {"dt": 1 / 77, "gravity": (0, 0, 3)}):
        with pytest.raises(KeyboardInterrupt):
            world.change_settings(**keywords)
        assert world.gravity.tolist() == [0, 0, -9.81]
        assert world.settings == plain and world.state_hash() == before
    monkeypatch.undo()
    world.step(10)
    other.step(10)
    assert world.state_hash() == other.state_hash()
