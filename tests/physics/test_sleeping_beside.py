"""What rests sleeps beside what does not, and where it would be if all were awake (docs/theory/sleeping.md)."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

R = 0.3


def floor(scene, friction=0.5):
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static", material=mc.Material(friction=friction))


def block(nx, ny, nz):
    """Cubes of 1 m beside and on each other."""
    scene = mc.Scene(name="block")
    floor(scene)
    for k in range(nx * ny * nz):
        x, y, z = k % nx, k // nx % ny, k // (nx * ny)
        scene.add_body(f"cube{k}", shape=mc.Box((0.5, 0.5, 0.5)), position=(x, y, 0.5 + z))
    return scene


def wall(rows):
    """A pyramid of cubes in one plane."""
    scene = mc.Scene(name="wall")
    floor(scene)
    for z in range(rows):
        for x in range(rows - z):
            scene.add_body(f"cube{z}_{x}", shape=mc.Box((0.5, 0.5, 0.5)), position=(1.05 * x + 0.525 * z, 0, 0.5 + z))
    return scene


def moved(scene, motion, place, speed=0.02):
    """With a ball at the place that rolls along x or spins about the vertical, slowly and for good."""
    spin = (0, speed / R, 0) if motion == "rolls" else (0, 0, 2.0)
    scene.add_body(
        "ball",
        shape=mc.Sphere(R),
        position=place,
        angular_velocity=spin,
        velocity=(speed, 0, 0) if motion == "rolls" else (0, 0, 0),
    )
    return scene


SCENES = {
    "rolls on a block": lambda: moved(block(5, 5, 3), "rolls", (1.6, 2.0, 3.0 + R)),
    "spins on a block": lambda: moved(block(5, 5, 3), "spins", (1.0, 2.0, 3.0 + R)),
    "spins beside a block": lambda: moved(block(5, 5, 3), "spins", (-0.5 - R, 2.0, R)),
    "spins on a wall": lambda: moved(wall(8), "spins", (1.05 * 3.5, 0, 8.0 + R)),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_slow_body_keeps_its_neighbours_awake_and_no_others(name):
    """Of the cubes all but some sleep, and are where they are if nothing sleeps; so is the ball, which rolls down any slope
    of 1e-5 that the cube under it has."""
    on, off = mc.World(SCENES[name]()), mc.World(SCENES[name](), sleep=False)
    start = on.positions.copy()
    awake = []
    for _ in range(amount(24, 120)):
        on.step(15)
        off.step(15)
        awake.append(np.count_nonzero(~on.asleep & (on.masses > 0)))
    assert not on.body("ball").asleep and min(awake) <= 5
    assert np.mean(awake[10:]) <= 0.2 * len(on.masses)
    apart = np.abs(on.positions - off.positions).max(axis=1)
    assert apart[:-1].max() < 1e-4 and apart[-1] < amount(0.02, 0.2), "asleep and awake"
    assert np.abs(on.positions - start)[:-1].max() < 2e-3, "nothing creeps"


def test_what_comes_to_rest_there_sleeps_with_all_others():
    scene = moved(block(3, 3, 2), "rolls", (1.0, 1.0, 2.0 + R))
    scene.add_body("late", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 2.2))
    world = mc.World(scene)
    world.step(240)
    assert 0 < np.count_nonzero(~world.asleep & (world.masses > 0)) <= 4
    world.set_velocity("ball", (0, 0, 0), (0, 0, 0))
    world.step(240)
    assert world.asleep[1:].all() and len(set(world._bodies.island[1:])) == 1, "one island again"


@pytest.mark.parametrize("keywords", [{}, {"friction": "pyramid"}, {"solver": "pgs"}, {"solver": "nncg"}], ids=str)
@pytest.mark.parametrize("weight", [0.5, 1.0, 4.0, 10.0])
def test_a_sleeper_bears_as_it_did_when_it_was_awake(weight, keywords):
    """A cube under one that stays awake, since a ball spins on it: it has no inverse mass in the rows, and yet its contact
    is pressed in as far as if it were awake, under light loads and heavy ones."""
    heights = []
    for sleep in (True, False):
        scene = mc.Scene()
        floor(scene)
        scene.add_body("base", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
        scene.add_body("load", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 1.5), density=1000 * weight)
        scene.add_body("ball", shape=mc.Sphere(R), position=(0, 0, 2.0 + R), angular_velocity=(0, 0, 2.0))
        world = mc.World(scene, sleep=sleep, **keywords)
        world.step(300)
        assert world.body("base").asleep == sleep and not world.body("load").asleep
        heights.append(world.positions[1:3, 2].copy())
    assert np.allclose(*heights, rtol=0, atol=1e-10)


def test_a_pile_falls_asleep_around_what_sways_in_it():
    """512 hulls of ten points fall in a heap, some of which sway on two corners for long: after 8 s most of the others
    sleep, and do not wake each other. Which come to sway is chance, so several heaps are looked at."""
    awake = []
    for seed in (1, 2, 4, 6)[: amount(1, 4)]:
        random = np.random.default_rng(seed)
        scene = mc.Scene()
        floor(scene)
        for n, (k, i, j) in enumerate(np.ndindex(8, 8, 8)):
            place = np.array([i - 3.5, j - 3.5, k + 0.5]) * 3.5 + (0.1 * (k % 2), 0, 0)
            scene.add_body(f"hull{n}", shape=mc.ConvexHull(random.uniform(-1, 1, (10, 3))), position=place)
        world = mc.World(scene)
        world.step(480)
        for _ in range(16):
            world.step(15)
            awake.append(np.mean(~world.asleep[1:]))
    assert np.mean(awake) < 0.2


@pytest.mark.parametrize("count", [1, 3, 6])
def test_a_load_that_moves_topples_what_bears_it(count):
    """A ball rolls out on a plate that lies on a column: what the column bears changes by little in each step."""
    fell = []
    for sleep in (True, False):
        scene = mc.Scene()
        floor(scene, 0.8)
        for k in range(count):
            scene.add_body(f"stone{k}", shape=mc.Box((0.3, 0.5, 0.25)), position=(0, 0, 0.25 + 0.5 * k))
        scene.add_body("plate", shape=mc.Box((1.0, 0.5, 0.05)), position=(0, 0, 0.5 * count + 0.05))
        scene.add_body(
            "ball",
            shape=mc.Sphere(0.2),
            density=8000,
            position=(-0.2, 0, 0.5 * count + 0.3),
            velocity=(0.1, 0, 0),
            angular_velocity=(0, 0.5, 0),
        )
        world = mc.World(scene, sleep=sleep)
        slept = 0
        while world.body("ball").position[2] > 0.5 * count and world.time < 30:
            world.step(5)
            slept = max(slept, np.count_nonzero(world.asleep))
        fell.append(world.time)
        assert not sleep or slept > 0
    assert fell[0] < 25 and abs(fell[0] - fell[1]) < 0.05 * fell[1]


@pytest.fixture
def half_asleep():
    world = mc.World(moved(block(3, 3, 2), "spins", (1.0, 1.0, 2.0 + R)))
    world.step(240)
    assert 0 < np.count_nonzero(~world.asleep & (world.masses > 0)) <= 4
    return world


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.set_velocity("cube13", (0, 0, -0.5)),
        lambda w: w.apply_force("cube13", (0, 0, -3e4)),
        lambda w: w.set_pose("cube13", (1.0, 1.0, 1.4)),
        lambda w: w.apply_impulse("ball", (0, 0, -300.0)),
        lambda w: w.set_pose("ball", (8.0, 1.0, R)),
        lambda w: w.remove_body("cube13"),
    ],
)
def test_sleepers_follow_what_changes_beside_them(half_asleep, change):
    """The cube below, cube4, feels what happens to the one on which the ball spins."""
    twin = mc.World(half_asleep.scene, sleep=False)
    twin.step(240)
    for world in (half_asleep, twin):
        change(world)
        world.step(60)
    assert np.abs(half_asleep.positions - twin.positions)[:-1].max() < 1e-3


def test_a_blow_on_what_rests_wakes_all(half_asleep):
    half_asleep.set_velocity("cube13", (0, 0, -0.5))
    half_asleep.step()
    assert not half_asleep.asleep.any()


def test_snapshots_pickles_and_copies_go_on_to_the_same_bits(half_asleep):
    snapshot = half_asleep.snapshot()
    twins = [pickle.loads(pickle.dumps(half_asleep)), copy.deepcopy(half_asleep)]
    half_asleep.step(40)
    half_asleep.apply_impulse("cube13", (0, 0, -30.0))
    half_asleep.step(40)
    after = half_asleep.state_hash()
    for world in (half_asleep, *twins):
        if world is half_asleep:
            world.restore(snapshot)
        for _ in range(40):
            world.step()
        world.apply_impulse("cube13", (0, 0, -30.0))
        world.step(40)
        assert world.state_hash() == after


def test_what_comes_and_goes_far_away_leaves_no_trace(half_asleep):
    twin = copy.deepcopy(half_asleep)
    twin.add_body("far", shape=mc.Sphere(0.1), position=(50, 0, 5))
    twin.step(30)
    twin.remove_body("far")
    half_asleep.step(30)
    for world in (half_asleep, twin):
        world.step(60)
    assert np.array_equal(half_asleep.asleep, twin.asleep) and np.array_equal(half_asleep.positions, twin.positions)


@pytest.mark.parametrize("threads", [2])
def test_threads_do_not_matter(threads):
    one, many = (mc.World(SCENES["rolls on a block"](), threads=n) for n in (1, threads))
    for world in (one, many):
        world.step(300)
    assert one.state_hash() == many.state_hash() and one.asleep.any()


def test_bodies_on_joints_sleep_with_all_or_not_at_all():
    """Beside something that moves they stay awake, and what lies on them."""
    scene = moved(block(3, 1, 1), "spins", (0.0, 0, 1.0 + R))
    scene.add_joint(mc.FixedJoint("cube1", "cube2"))
    world = mc.World(scene)
    world.step(300)
    assert not world.asleep.any()
    world.set_velocity("ball", (0, 0, 0), (0, 0, 0))
    world.step(120)
    assert world.asleep[1:].all()


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**10])
def test_lengths_in_other_units_sleep_alike(scale):
    """With gravity scaled along."""
    worlds = []
    for unit in (1.0, scale):
        scene = mc.Scene(gravity=(0, 0, -9.81 * unit))
        floor(scene)
        for k in range(9):
            scene.add_body(
                f"cube{k}",
                shape=mc.Box((0.5 * unit,) * 3),
                density=1000 / unit**3,
                position=(unit * (k % 3), 0, unit * (0.5 + k // 3)),
            )
        scene.add_body(
            "ball",
            shape=mc.Sphere(R * unit),
            density=1000 / unit**3,
            position=(unit, 0, unit * (3 + R)),
            angular_velocity=(0, 0, 2.0),
        )
        worlds.append(mc.World(scene))
        worlds[-1].step(400)
    assert np.array_equal(worlds[0].asleep, worlds[1].asleep) and worlds[0].asleep.sum() >= 5
    assert np.array_equal(worlds[0].positions * scale, worlds[1].positions)
