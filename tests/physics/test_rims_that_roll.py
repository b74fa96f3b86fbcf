"""Coins and cones that roll on their rims keep their energy on every ground: the rim that comes down beside its lowest
point is no corner that strikes."""

import math

import numpy as np
import pytest

import mcsim as mc


def grid(cells, size):
    line = np.linspace(-size, size, cells + 1)
    n = cells + 1
    corners = [i * n + j for i in range(cells) for j in range(cells)]
    faces = [face for a in corners for face in ((a, a + n, a + n + 1), (a, a + n + 1, a + 1))]
    return mc.Mesh([(x, y, 0) for x in line for y in line], faces)


FORMS = {
    "coin": mc.Cylinder(0.25, 0.02),
    "round coin": mc.Cylinder(0.24, 0.01, rounding=0.01),
    "cone": mc.Cone(0.25, 0.1),
    "round cone": mc.Cone(0.25, 0.1, rounding=0.01),
}
GROUNDS = {
    "plane": mc.Plane((0, 0, 1)),
    "box": mc.Box((9, 9, 1), position=(0, 0, -1)),
    "rounded box": mc.Box((9, 9, 1), rounding=0.1, position=(0, 0, -1.1)),
    "hull": mc.ConvexHull([(x, y, z) for x in (-4, 4) for y in (-4, 4) for z in (-1, 0)]),
    "disc": mc.Cylinder(5, 1, position=(0, 0, -1)),
    "mesh of two": grid(1, 4.0),
    "mesh": grid(40, 4.0),
    "coarse field": mc.HeightField(np.zeros((10, 10)), 2.0),
    "field": mc.HeightField(np.zeros((41, 41)), 0.2),
}
ROUGH = mc.Material(friction=0.9)


def height(shape, orientation):
    """By which its origin is above its lowest point."""
    scene = mc.Scene()
    scene.add_body("plate", kind="static", shape=mc.Box((5, 5, 1), position=(0, 0, -1)))
    scene.add_body("it", shape=shape, position=(0, 0, 2), orientation=orientation)
    return 2.0 - mc.World(scene).distance("plate", "it").distance


def rolling(shape, lean, ground):
    """It rolls on its rim, which leans by so many degrees, somewhat more slowly than it would steadily."""
    lean = math.radians(lean)
    orientation = (math.cos(lean / 2), math.sin(lean / 2), 0, 0)
    speed = 0.9 * math.sqrt(4 * 9.81 / 0.25 * math.sin(lean)) * math.cos(lean)
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=ground, material=ROUGH)
    scene.add_body(
        "it",
        shape=shape,
        position=(0, 0, height(shape, orientation)),
        orientation=orientation,
        angular_velocity=(0, -math.cos(lean) * speed, -math.sin(lean) * speed),
        material=ROUGH,
    )
    return scene


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("lean", [20.0, 8.0, 3.0, 1.5])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled(16)
def test_what_rolls_on_its_rim_keeps_its_energy(form, lean, ground):
    """Up to a half of it was lost in a second and a half: on boxes, hulls and triangles a corner of the rim's polygon,
    fixed to the coin, struck the ground in one of some hundred steps."""
    world = mc.World(rolling(FORMS[form], lean, GROUNDS[ground]), dt=1 / 240, sleep=False)
    world.step(60)  # it comes to roll, as it does not slide at once
    first = last = world.energy().total
    for _ in range(300):
        world.step()
        now = world.energy().total
        assert last - now < 2e-3 * first
        last = now
    assert 0.988 * first < last < 1.001 * first


@pytest.mark.parametrize("ground", [name for name in GROUNDS if name != "plane"])
@pytest.mark.parametrize("form", ["coin", "cone"])
@pytest.mark.sampled(4)
def test_it_rolls_the_same_way_on_every_ground(form, ground):
    """For as long as what differs in the last digits has not grown."""
    ways = []
    for shape in (GROUNDS["plane"], GROUNDS[ground]):
        world = mc.World(rolling(FORMS[form], 8.0, shape), dt=1 / 240, sleep=False)
        world.step(60)
        ways.append(np.concatenate([world.positions[1], world.orientations[1], world.angular_velocities[1]]))
    assert np.abs(ways[1] - ways[0]).max() < 1e-3


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("lean", [8.0, 3.0])
@pytest.mark.parametrize("form", ["coin", "round coin"])
@pytest.mark.sampled(3)
def test_over_the_tiles_of_a_floor(form, lean, one):
    """On tiles of 1 m, of one body or each its own, a fifth to a half was lost: the rim's corners over the next tile struck
    it. What is left is lost where it comes onto another one, whose contact begins without an impulse."""
    scene = rolling(FORMS[form], lean, mc.Box((0.1, 0.1, 0.1), position=(50, 50, 0)))
    places = [(i + 0.49, j + 0.48, -0.1) for i in range(-2, 2) for j in range(-2, 2)]
    tiles = [mc.Box((0.5, 0.5, 0.1), position=place) for place in places]
    for k, shapes in enumerate([tiles] if one else [[tile] for tile in tiles]):
        scene.add_body(f"tiles{k}", kind="static", shape=shapes, material=ROUGH)
    world = mc.World(scene, dt=1 / 240, sleep=False)
    world.step(60)
    first = world.energy().total
    world.step(300)
    assert 0.92 * first < world.energy().total < 1.001 * first
