"""Ellipsoids: equal radii make a ball; what rocks and rolls on a plane does so in closed form and keeps its energy."""

import math

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix

G = 9.81
ROUGH = mc.Material(friction=1.0)
every_world = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])


def on_plane(radii, turn=(1, 0, 0, 0), **more):
    """One of 1 kg that touches a rough plane."""
    scene, turn = mc.Scene(), np.array(turn) / np.linalg.norm(turn)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=ROUGH)
    height = np.linalg.norm(radii * matrix(turn)[2])
    scene.add_body(
        "egg",
        shape=mc.Ellipsoid(radii),
        mass=1.0,
        material=ROUGH,
        position=(0, 0, height),
        orientation=turn,
        **more,
    )
    return scene


def both_ways(make, shape, ground):
    """Two of a shape, one above the other, come down a slope: how they move in two seconds."""
    scene = mc.Scene(gravity=(2.0, 0.5, -9.0))
    scene.add_body("floor", kind="static", shape=ground, material=ROUGH)
    for k in range(2):
        scene.add_body(shape=shape, position=(0.1 * k, 0.05 * k, 0.3 + 0.7 * k), density=100.0, material=ROUGH)
    world = make(scene, dt=1 / 240)
    world.step(480)
    return world.positions[1:].copy(), world.velocities[1:].copy()


@every_world
@pytest.mark.parametrize("ground", [mc.Plane((0, 0, 1)), mc.Box((20, 20, 1), position=(0, 0, -1)), "mesh"])
def test_equal_radii_make_a_ball(make, ground):
    if ground == "mesh":
        ground = mc.Mesh([(-20, -20, 0), (20, -20, 0), (20, 20, 0), (-20, 20, 0)], [(0, 1, 2), (0, 2, 3)])
    ours = both_ways(make, mc.Ellipsoid((0.25, 0.25, 0.25)), ground)
    balls = both_ways(make, mc.Sphere(0.25), ground)
    assert np.abs(ours[0] - balls[0]).max() < 1e-6 and np.abs(ours[1] - balls[1]).max() < 1e-6


@pytest.mark.parametrize("turn", [(0.9, 0.3, 0, 0), (0.9, 0, 0.3, 0), (0.9, 0.2, 0.2, 0.1)])
def test_what_rocks_keeps_its_energy(turn):
    """Let go at an angle it rolls to and fro over its flat side, without slip: friction does no work. What the steps take
    falls with their square."""
    taken = []
    for dt in (1 / 120, 1 / 480):
        world = mc.World(on_plane((0.5, 0.375, 0.25), turn), dt=dt, sleep=False)
        start = world.energy().total - G * 0.25  # above that of rest
        world.step(round(5 / dt))
        taken.append(1.0 - (world.energy().total - G * 0.25) / start)
        assert abs(world.distance("egg", "floor").distance) < 1e-4
    assert abs(taken[1]) < 1e-3 and abs(taken[1]) < max(0.2 * abs(taken[0]), 1e-4)


@every_world
@pytest.mark.parametrize("radii", [(0.5, 0.3, 0.25), (0.3, 0.6, 0.2)])
def test_it_rocks_with_the_period_of_its_curvature(make, radii):
    """About y, on its end along z: the radius of curvature there is a² / c, the centre of mass c above the plane, so small
    swings have the period 2 pi sqrt((I + m c²) / (m g (a² / c - c)))."""
    a, _b, c = radii
    scene = on_plane(radii, (1, 0, 0.01, 0))
    world = make(scene, dt=1 / 480)
    signs, times = [], []
    for _ in range(2400):
        world.step()
        tilt = matrix(world.orientations[1])[2, 0]
        if signs and tilt * signs[-1] < 0:
            times.append(world.time)
        signs.append(tilt)
    inertia = (a * a + c * c) / 5 + c * c
    period = 2 * math.pi * math.sqrt(inertia / (G * (a * a / c - c)))
    assert 2 * np.diff(times).mean() == pytest.approx(period, rel=5e-3)


@every_world
def test_it_rolls_along_its_equator(make):
    """About its long axis it rolls as a wheel does, at the rate of that radius, however thin it is the other way."""
    scene = on_plane((0.8, 0.2, 0.2), angular_velocity=(-5.0, 0, 0), velocity=(0, 1.0, 0))
    world = make(scene, dt=1 / 60)
    world.step(240)
    assert world.positions[1] == pytest.approx((0, 4.0, 0.2), abs=2e-3)
    assert world.angular_velocities[1] == pytest.approx((-5.0, 0, 0), abs=5e-3)


@every_world
def test_it_comes_to_rest_on_its_flat_side(make):
    surface = mc.Material(friction=0.6, rolling_friction=0.01, torsional_friction=0.01)
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=surface)
    scene.add_body("egg", shape=mc.Ellipsoid((0.5, 0.3, 0.2)), position=(0, 0, 0.7), orientation=(0.8, 0, 0.6, 0),
                   material=surface)  # fmt: skip
    world = make(scene, dt=1 / 120)
    world.step(1800)
    assert world.body("egg").asleep and abs(world.positions[1, 2] - 0.2) < 2e-3


@pytest.mark.slow
@every_world
@pytest.mark.parametrize("name", ["ellipsoid", "tapered"])
def test_a_pile_comes_to_rest(make, name):
    """Thirty in a pit settle, and none is more than 2 mm in another."""
    surface = mc.Material(friction=0.5, rolling_friction=0.02, torsional_friction=0.02)
    scene, rng = mc.Scene(), np.random.default_rng(3)
    for normal, offset in (((0, 0, 1), 0), ((1, 0, 0), -1), ((-1, 0, 0), -1), ((0, 1, 0), -1), ((0, -1, 0), -1)):
        scene.add_body(kind="static", shape=mc.Plane(normal, offset), material=surface)
    shape = mc.Ellipsoid((0.4, 0.3, 0.2)) if name == "ellipsoid" else mc.TaperedCapsule(0.25, 0.15, 0.25)
    for k in range(30):
        turn = rng.normal(size=4)
        place = (0.9 * (k % 2) - 0.45, 0.9 * (k // 2 % 2) - 0.45, 0.6 + 0.9 * (k // 4))
        scene.add_body(shape=shape, position=place, orientation=turn / np.linalg.norm(turn), material=surface)
    world = make(scene, dt=1 / 120)
    world.step(1800)
    assert np.abs(world.velocities).max() < 0.01
    assert world.contacts["separation"].min() > -2e-3
    assert (world.positions[5:, 2] > 0.1).all()
