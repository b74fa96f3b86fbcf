"""What passes through a sensor within one step came in and went out, as many short steps see it."""

import numpy as np
import pytest

import mcsim as mc
from plain_shapes import SOLIDS, plain_solid

WORLDS = [mc.World, mc.ReducedWorld]


def turned(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def flight(seed, sensor, visitor, who="visitor", shift=(0, 0, 0)):
    """A visitor that passes a sensor near its middle at 300 m/s; `who` of the two moves. shift: of the line."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=3)
    way *= 300.0 / np.linalg.norm(way)
    moving = {"kind": "kinematic", "velocity": way if who == "visitor" else -way}
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "gate",
        shape=plain_solid(sensor, sensor=True),
        orientation=turned(rng),
        **(moving if who == "gate" else {"kind": "static"}),
    )
    start = np.array(shift) + rng.uniform(-0.3, 0.3, 3) - way / 120.0
    scene.add_body(
        "it",
        shape=plain_solid(visitor),
        position=start,
        orientation=turned(rng),
        **(moving if who == "visitor" else {"kind": "dynamic"}),
    )
    return scene


def seen(world):
    """(how many came in, how many went out)"""
    return len(world.events.sensor_begin), len(world.events.sensor_end)


@pytest.mark.parametrize("cls", WORLDS)
@pytest.mark.parametrize("who", ["visitor", "gate"])
@pytest.mark.parametrize("sensor", sorted(SOLIDS))
@pytest.mark.parametrize("visitor", sorted(SOLIDS))
@pytest.mark.sampled(8)
def test_it_is_as_in_short_steps(cls, who, sensor, visitor):
    """Once through is one that came in and one that went out, and by is none; whichever of the two moves."""
    for seed in range(3):
        for shift in ((0, 0, 0), (2.5, 0, 0), (0, 0, -2.5)):
            one = cls(flight(seed, sensor, visitor, who, shift), dt=1 / 60)
            one.step()
            many = cls(flight(seed, sensor, visitor, who, shift), dt=1 / 60000)
            many.step(1000)
            assert seen(one) == seen(many)
            assert shift != (0, 0, 0) or seen(one) == (1, 1)


@pytest.mark.parametrize("cls", WORLDS)
def test_what_stands_in_the_way_keeps_it_out(cls):
    """A ball that bounces off a wall does not reach the sensor behind it, and what ends inside has come in alone."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", shape=mc.Box((0.1, 1, 1)), kind="static", material=mc.Material(restitution=1.0))
    scene.add_body("gate", shape=mc.Box((0.05, 1, 1), sensor=True), kind="static", position=(0.5, 0, 0))
    scene.add_body("ball", shape=mc.Sphere(0.05), position=(-0.5, 0, 0), velocity=(60, 0, 0))
    scene.add_body("late", shape=mc.Sphere(0.05), position=(0.5, 0.5, 3.0), velocity=(0, 0, -165.0))
    world = cls(scene, dt=1 / 60)
    world.step()
    assert seen(world) == (1, 0)
    world.step()
    assert seen(world) == (0, 1)


@pytest.mark.parametrize("cls", WORLDS)
def test_several_in_one_step_come_in_order(cls):
    """Of pairs by their numbers; each once, though both of a pair are fast, and again in the next step."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(f"gate{k}", shape=mc.Box((0.01, 1, 1), sensor=True), kind="kinematic", position=(0.3 * k, 0, 0))
    for k in range(2):
        position = (-0.2, 0.2 * k, 0)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.02), position=position, velocity=(100, 0, 0))
    world = cls(scene, dt=1 / 60)
    world.step()
    pairs = [(event[1], event[2]) for event in world.events.sensor_begin]
    assert pairs == sorted(pairs) and len(pairs) == 6 == len(world.events.sensor_end)
    world.step()
    assert seen(world) == (0, 0)


@pytest.mark.parametrize("cls", WORLDS)
def test_a_fast_sensor_sees_the_ground_that_it_passes(cls):
    ground = mc.Mesh([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2), (0, 2, 3)])
    for floor in (mc.Plane((0, 0, 1)), ground, mc.Box((9, 9, 0.1))):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("floor", shape=floor, kind="static")
        probe = mc.Sphere(0.05, sensor=True)
        scene.add_body("probe", shape=probe, kind="kinematic", position=(0.3, 0.2, 1.0), velocity=(0, 0, -200.0))
        world = cls(scene, dt=1 / 60)
        world.step()
        inside = isinstance(floor, mc.Plane)  # a plane is all that is below it
        assert seen(world) == (1, 0 if inside else 1)


@pytest.mark.parametrize("cls", WORLDS)
def test_it_belongs_to_the_step_alone(cls):
    """A copy goes on with the same events; who is put elsewhere between steps has passed nothing; what may not meet a
    sensor is not seen."""
    scene = flight(3, "sphere", "box")
    world = cls(scene, dt=1 / 60)
    state = world.snapshot()
    world.step()
    first, hashed = seen(world), world.state_hash()
    world.restore(state)
    world.step()
    assert seen(world) == first == (1, 1) and world.state_hash() == hashed
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("gate", shape=mc.Box((0.02, 1, 1), sensor=True), kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.03), position=(-1, 0, 0))
    scene.add_body("other", shape=mc.Sphere(0.03), position=(-1.3, 0, 0), velocity=(200, 0, 0), collision_mask=0)
    world = cls(scene, dt=1 / 60)
    world.body("ball").position = (1, 0, 0)
    world.step()
    assert seen(world) == (0, 0)
