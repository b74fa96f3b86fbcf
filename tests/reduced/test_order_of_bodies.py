"""The order in which bodies are added has next to no part in how piles come to rest."""

import numpy as np
import pytest

import mcsim as mc


def pile(bodies, order):
    """bodies: (name, half extents, position); order: their numbers"""
    scene = mc.Scene(gravity=(0, 0, -9.81))
    scene.add_body("ground", shape=mc.Box((30, 30, 1)), kind="static", position=(0, 0, -1))
    for i in order:
        name, half, place = bodies[i]
        scene.add_body(name, shape=mc.Box(half), position=place)
    return scene


def pyramid(base):
    return [(f"b{i}_{j}", (0.5, 0.5, 0.5), (j + 0.5 * i, 0, 0.5 + i)) for i in range(base) for j in range(base - i)]


def wall(rows, width):
    return [
        (f"b{i}_{j}", (0.5, 0.25, 0.25), (j + 0.5 * (i % 2), 0, 0.25 + 0.5 * i)) for i in range(rows) for j in range(width)
    ]


def apart(bodies, steps, order=None, **keywords):
    """How far bodies end from where they do when they are added in that order, or the other way round [m]."""
    straight = list(range(len(bodies)))
    ends = []
    for numbers in (straight, straight[::-1] if order is None else order):
        world = mc.ReducedWorld(pile(bodies, numbers), dt=1 / 60, **keywords)
        world.step(steps)
        ends.append(np.array([world.body(name).position for name, _, _ in bodies]))
    return np.abs(ends[0] - ends[1]).max()


def reordered(scene, order):
    """Its moving bodies in that order; what is static comes first."""
    data = scene.to_dict()
    moving = [body for body in data["bodies"] if body.get("kind") != "static"]
    data["bodies"] = [body for body in data["bodies"] if body.get("kind") == "static"] + [moving[i] for i in order]
    return mc.Scene.from_dict(data)


def apart_ever(scene, steps, order):
    """By how much bodies are ever off where they are when they are added in that order [m]."""
    count = sum(body.kind != "static" for body in scene.bodies)
    worlds = [mc.ReducedWorld(reordered(scene, numbers), dt=1 / 60) for numbers in (range(count), order)]
    names = [body.name for body in scene.bodies if body.kind != "static"]
    places = [[list(world.body_names).index(name) for name in names] for world in worlds]
    most = 0.0
    for _ in range(steps):
        for world in worlds:
            world.step()
        most = max(most, np.abs(worlds[0].positions[places[0]] - worlds[1].positions[places[1]]).max())
    return most


def floor():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Box((30, 30, 1)), kind="static", position=(0, 0, -1))
    return scene


def chain_of_limbs(rng, count):
    """Capsules of any size end to end at any angle, which fall on a floor."""
    scene, end = floor(), np.array((0.0, 0.0, 1.0))
    for i in range(count):
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        half = rng.uniform(0.15, 0.3)
        place = end + half * way
        turn = np.array((1.0 + way[2], -way[1], way[0], 0.0))
        scene.add_body(
            f"b{i}",
            shape=mc.Capsule(rng.uniform(0.04, 0.08), half),
            position=place,
            orientation=turn / np.linalg.norm(turn),
            density=1000,
        )
        if i > 0:
            scene.add_joint(mc.BallJoint(f"b{i - 1}", f"b{i}", anchor=end))
        end = place + half * way
    return scene


@pytest.mark.parametrize("seed", range(6))
def test_two_capsules_on_a_ball_joint_land_as_in_the_other_order(seed):
    """They fall over on each other: what friction one has along their common line the other may have, and what the tree's
    root is decides how it turns. Both were found by which of the two was added first, 0.1 to 0.3 mm off in the end."""
    velocity = np.random.default_rng(seed).normal((0.5, 0.2, 0.0), (0.3, 0.3, 0.0))
    scene = floor()
    scene.add_body("b0", shape=mc.Capsule(0.1, 0.3), position=(0, 0, 1.5), density=1000)
    scene.add_body("b1", shape=mc.Capsule(0.1, 0.3), position=(0, 0, 0.8), density=1000, velocity=velocity)
    scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0, 0, 1.15)))
    assert apart_ever(scene, 120, [1, 0]) < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_chains_land_as_in_any_order(seed):
    rng = np.random.default_rng(seed)
    count = 3 + seed // 2
    assert apart_ever(chain_of_limbs(rng, count), 60, rng.permutation(count)) < 1e-9


def test_a_ragdoll_lands_as_in_the_other_order():
    assert apart_ever(mc.load("ragdolls", count=1, drop=0.1), 60, range(15, -1, -1)) < 1e-9


@pytest.mark.parametrize(
    ("base", "substeps", "bound"),
    ((4, 1, 6e-5), (4, 2, 6e-6), (4, 4, 6e-7), (6, 1, 1.2e-4), (6, 2, 2.5e-5), (6, 4, 3e-6), (8, 2, 8e-5), (8, 4, 1.5e-5)),
)
def test_pyramids_end_where_they_do_in_the_other_order(base, substeps, bound):
    """Bounds are a third of what they were with all sweeps in one direction, and more than twice what is found."""
    assert apart(pyramid(base), 60, substeps=substeps) < bound


def test_a_wall_comes_to_rest_as_in_the_other_order():
    """Until its outermost bricks, half of which lies on nothing, have begun to tip, which enlarges anything."""
    assert apart(wall(4, 4), 40) < 3e-4


@pytest.mark.parametrize("seed", range(4))
def test_pyramids_end_where_they_do_in_any_order(seed):
    """Half of all orders ended more than 5.5e-6 m elsewhere as long as contacts went by them, now at most 2.6e-6."""
    bodies = pyramid(6)
    assert apart(bodies, 60, np.random.default_rng(seed).permutation(len(bodies)), substeps=4) < 3e-6
