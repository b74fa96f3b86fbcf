"""Passes that end for bodies in touch whose sweeps have converged (docs/theory/si.md)."""

import copy

import numpy as np
import pytest

import mcsim as mc
from mcsim.wide import levels

STEPS = 3600  # a minute


def floor(degrees=0.0, friction=0.5):
    a = np.radians(degrees)
    scene = mc.Scene()
    scene.add_body(
        "floor", kind="static", shape=mc.Plane((-np.sin(a), 0, np.cos(a))), material=mc.Material(friction=friction)
    )
    return scene


def add_box(scene, degrees, along, y, up, size=(0.1, 0.1, 0.1), **keywords):
    a = np.radians(degrees)
    at = along * np.array((np.cos(a), 0, np.sin(a))) + up * np.array((-np.sin(a), 0, np.cos(a)))
    return scene.add_body(
        shape=mc.Box(size),
        position=(at[0], y, at[2]),
        mass=1,
        orientation=(np.cos(a / 2), 0, -np.sin(a / 2), 0),
        material=mc.Material(friction=0.5),
        **keywords,
    )


def add_stacks(scene, count, high, x=0.0, degrees=0.0, above=0.0):
    for i in range(count):
        for k in range(high):
            add_box(scene, degrees, x + 0.5 * i + 0.01 * (k % 2), 0.0, above + 0.1 + 0.2 * k)
    return scene


def flat():
    return add_stacks(floor(), 12, 1)


def stacks():
    return add_stacks(floor(), 7, 3)


def slope():
    return add_stacks(floor(20.0), 4, 2, degrees=20.0)


def sloping_wall():
    scene = floor(15.0)
    for i in range(5):
        for j in range(6):
            add_box(scene, 15.0, 0.21 * (j + 0.5 * (i % 2)), 0.0, 0.1 + 0.2 * i)
    return scene


def tower():
    return add_stacks(floor(), 1, 12)


def arch(stones=15, radius=2.0, thick=0.25):
    scene = floor(friction=0.8)
    part = np.pi / stones
    for i in range(stones):
        a = (i + 0.5) * part
        centre = radius * np.array((np.cos(a), 0, np.sin(a)))
        corners = [
            r * np.array((np.cos(a + d), 0, np.sin(a + d))) - centre + (0, y, 0)
            for r in (radius - thick, radius + thick)
            for d in (-part / 2, part / 2)
            for y in (-0.3, 0.3)
        ]
        scene.add_body(shape=mc.ConvexHull(corners), position=tuple(centre), mass=10, material=mc.Material(friction=0.8))
    return scene


def world_of(scene, **keywords):
    return mc.World(scene, sleep=False, **keywords)


def sweeps_of(world, steps=30):
    total = 0
    for _ in range(steps):
        world.step()
        total += world.stats.iterations
    return total / steps


@pytest.mark.parametrize("scene, seconds, most", [(flat, 2, 16), (slope, 10, 26), (sloping_wall, 10, 26), (arch, 10, 26)])
def test_what_lies_still_is_swept_less(scene, seconds, most):
    """32 sweeps a step; of the 16 a second one in each pass finds nothing left to do."""
    world = world_of(scene())
    world.step(60 * seconds)
    assert sweeps_of(world) <= most


def test_what_still_moves_is_swept_as_before():
    world = world_of(add_stacks(floor(), 2, 3, above=0.3))
    world.step(1)  # in free fall nothing touches
    world.step(18)
    assert sweeps_of(world, 10) == 2 * 4 * 4


@pytest.mark.parametrize("scene", [flat, stacks, slope, sloping_wall, tower, arch])
def test_a_minute_of_it_moves_nothing(scene):
    """No speed of 0.02 g h / 2^18 adds up to a way, on slopes neither."""
    world = world_of(scene())
    world.step(1200)
    start, turned = world.positions.copy(), world.orientations.copy()
    for _ in range(6):
        world.step(STEPS // 6)
        assert np.abs(world.velocities).max() < 1e-5
    assert np.abs(world.positions - start).max() < 5e-6
    assert np.abs(world.orientations - turned).max() < 5e-6


@pytest.mark.parametrize("scene", [stacks, slope, sloping_wall, tower, arch])
def test_it_lies_where_all_sweeps_leave_it(scene):
    fewer, all_of_them = world_of(scene()), world_of(scene(), least_iterations=4)
    for world in (fewer, all_of_them):
        world.step(1200)
    assert np.abs(fewer.positions - all_of_them.positions).max() < 2e-5
    loads = [np.sort(world.contacts["normal_impulse"])[-8:] for world in (fewer, all_of_them)]
    np.testing.assert_allclose(loads[0], loads[1], rtol=1e-2)


def test_what_strikes_it_is_answered_at_once():
    """A row of boxes lies still, a heavy ball rolls into it: all sweeps from when it touches on, and the same
    ways to a hundredth of the ball's. (When which of the boxes strikes the next is a matter of rounding.)"""

    def struck(**keywords):
        scene = floor()
        for i in range(6):
            add_box(scene, 0.0, 0.2 * i, 0.0, 0.1)
        scene.add_body("ball", shape=mc.Sphere(0.1), position=(-1.5, 0, 0.1), mass=5, velocity=(3.0, 0, 0))
        world = world_of(scene, **keywords)
        places, sweeps = [], []
        for _ in range(60):
            world.step()
            places.append(world.positions[1:, 0].copy())
            sweeps.append(world.stats.iterations)
        return np.array(places), sweeps

    (fewer, sweeps), (all_of_them, _) = struck(), struck(least_iterations=4)
    first = int(np.argmax(fewer[:, 0] > 1e-3))
    assert sweeps[first - 5] <= 16 and sweeps[first] > 24
    assert (np.abs(fewer - all_of_them).max(1) <= 0.03 / 60 * np.arange(1, 61)).all()


def test_with_as_many_at_least_there_are_as_many():
    world = world_of(flat(), least_iterations=4)
    world.step(120)
    assert 2 * 4 * 4 - 1 < sweeps_of(world) <= 2 * 4 * 4  # now and then the last one changes no bit
    world = world_of(flat(), least_iterations=3)
    world.step(120)
    assert 2 * 4 * 4 - 1 < sweeps_of(world) <= 2 * 4 * 4  # the fourth finds nothing left to do
    assert world_of(flat()).settings["least_iterations"] == 1
    assert world_of(flat(), iterations=6).settings["least_iterations"] == 6
    assert world_of(flat(), stop="residual").settings["least_iterations"] >= 1000
    for wrong in (0, -1, 1.5):
        with pytest.raises(mc.SceneError, match="least_iterations"):
            mc.World(flat(), least_iterations=wrong)


def hash_after(scene, steps=300, **keywords):
    world = world_of(scene, **keywords)
    world.step(steps)
    return world.state_hash()


@pytest.mark.parametrize("scene", [stacks, slope, arch])
def test_all_levels_and_threads_give_the_same_bits(monkeypatch, scene):
    expected = hash_after(scene())
    assert hash_after(scene(), threads=2) == expected
    for level in levels.available():
        monkeypatch.setenv("MCSIM_LEVEL", level)
        assert hash_after(scene()) == expected


@pytest.mark.parametrize("scene", [stacks, slope, arch, tower])
def test_what_is_far_away_keeps_its_bits(scene):
    """Lanes of what lies still and of what does not stand side by side."""
    both = scene()
    count = len(both.bodies)
    both.add_body(kind="static", shape=mc.Box((50, 50, 1)), position=(200, 0, -1), material=mc.Material(friction=0.5))
    add_stacks(both, 5, 4, x=190.0, above=1.0)
    both, alone = world_of(both), world_of(scene())
    for _ in range(6):
        for world in (alone, both):
            world.step(60)
        for name in ("positions", "orientations", "velocities", "angular_velocities"):
            np.testing.assert_array_equal(getattr(both, name)[:count], getattr(alone, name)[:count])


def test_groups_of_other_numbers_keep_their_bits():
    """Bodies of two stacks in turn: their numbers and so the order of the groups differ, each stack's bits do not."""
    scene = floor()
    for k in range(4):
        for x in (0.0, 10.0):
            add_box(scene, 0.0, x, 0.0, 0.1 + 0.2 * k + (0.5 if x else 0.0))
    mixed, alone = world_of(scene), world_of(add_box_stack())
    for world in (mixed, alone):
        world.step(200)
    np.testing.assert_array_equal(mixed.positions[1::2], alone.positions[1:])


def add_box_stack():
    scene = floor()
    for k in range(4):
        add_box(scene, 0.0, 0.0, 0.0, 0.1 + 0.2 * k)
    return scene


def test_copies_go_on_alike():
    world = world_of(slope())
    world.step(300)
    twin = copy.deepcopy(world)
    for each in (world, twin):
        each.step(60)
    assert world.state_hash() == twin.state_hash()


@pytest.mark.parametrize("k", [-5, 8])
def test_units_are_no_matter(k):
    """Lengths, speeds and gravity by a power of two: the same bits, and the same sweeps."""

    def made(scale):
        scene = mc.Scene(gravity=(0, 0, -9.81 * scale))
        scene.add_body(kind="static", shape=mc.Plane((0, 0, 1)))
        for i in range(5):
            for j in range(3):
                scene.add_body(
                    shape=mc.Box((0.1 * scale,) * 3),
                    mass=1,
                    position=((0.5 * i + 0.01 * j) * scale, 0, (0.1 + 0.2 * j) * scale),
                )
        world = world_of(scene)
        world.step(240)
        return world, world.stats.iterations

    (world, sweeps), (scaled, scaled_sweeps) = made(1.0), made(2.0**k)
    np.testing.assert_array_equal(world.positions * 2.0**k, scaled.positions)
    assert sweeps == scaled_sweeps
