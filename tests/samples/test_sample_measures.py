"""What samples measure: loads on what they are named by, periods, and both worlds at once."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.samples import Play
from mcsim.samples.measure import both, load, period, settle, watched, weight
from mcsim.samples.parts import G, cube, ground


def stack():
    scene = ground()
    for k in range(3):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0, 0, 0.5 + k))
    return mc.World(scene)


def test_loads_are_those_of_what_stands_above():
    """The ground bears all; the lowest cube two thirds from above, less the whole that the ground gives it."""
    world = stack()
    Play()(world, 1.0)
    assert load(world) == pytest.approx(weight(world), rel=1e-6)
    assert load(world, "cube0") == pytest.approx(-weight(world) / 3, rel=1e-6)
    assert load(world, "cube1", "cube2") == pytest.approx(-2 / 3 * weight(world), rel=1e-6)
    assert weight(world) == pytest.approx(3000.0 * G)


def test_what_gains_energy_or_hangs_does_not_settle():
    play, world = Play(), stack()
    settle(play, world, 1.0)
    assert all(e.ok for e in play.outcome.expectations)
    scene = mc.Scene()
    scene.add_body("ground", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("up", shape=cube(1.0), position=(0, 0, 0.5))
    scene.add_joint(mc.SliderJoint(None, "up", (0, 0, 1), motor=mc.Motor(velocity=5.0)))
    play = Play()
    settle(play, mc.World(scene), 1.0)
    assert [e.ok for e in play.outcome.expectations] == [False, False]


def test_period_of_a_sine():
    times = np.arange(0, 10, 0.01)
    assert period(times, 3 + np.sin(2 * np.pi * times / 1.7), 3.0) == pytest.approx(1.7, abs=1e-4)
    assert np.isnan(period(times, np.ones_like(times)))


def test_both_worlds_are_played_and_watched():
    scene = mc.Scene()
    scene.add_body("rod", shape=mc.Capsule(0.05, 0.5), position=(0.5, 0, 0), orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))
    scene.add_joint(mc.HingeJoint(None, "rod", (0, 0, 0), (0, 1, 0)))
    play = Play()
    world, apart = both(play, scene, 0.5)
    assert [type(one) for one in play.worlds] == [mc.World, mc.ReducedWorld] and play.worlds[0] is world
    assert 0 < apart < 1e-4
    times, values = watched(play, world, 0.1, lambda: world.positions[0])
    assert len(times) == len(values) == 25 and times[0] == pytest.approx(0.5) and times[-1] == world.time
    assert np.array_equal(values[-1], world.positions[0]) and not np.array_equal(values[0], values[-1])
