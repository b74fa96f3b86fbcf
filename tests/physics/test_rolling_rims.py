"""A disc that rolls on its rim: Euler's disc without loss, in closed form, over all floors and by all ways of a step; and
discs that fall flat."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

G = 9.81


def floor_of(kind):
    if kind == "plane":
        return mc.Plane((0, 0, 1))
    if kind == "box":
        return mc.Box((5, 5, 0.5))
    if kind == "cylinder":
        return mc.Cylinder(5, 0.5)
    return mc.Mesh([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2), (0, 2, 3)])


def rolling_disc(radius, tilt, thin, floor="plane", first="floor"):
    """Its centre of mass stands still, its axis at `tilt` to the vertical turns about that by W: W z x L = r x m g z with
    r the arm to the lowest point, along which w is. -> scene, W [rad/s]"""
    half = thin * radius
    across, along = 0.25 * radius**2 + half**2 / 3, 0.5 * radius**2
    s, c = math.sin(tilt), math.cos(tilt)
    rate = math.sqrt(G * (radius * c - half * s) / (s * (across * c - along * thin * s)))
    arm = radius * np.array([c, 0, -s]) - half * np.array([s, 0, c])
    scene, material = mc.Scene(), mc.Material(friction=1.0)

    def add_floor():
        scene.add_body(
            "floor",
            kind="static",
            shape=floor_of(floor),
            material=material,
            position=(0, 0, -0.5 if floor in ("box", "cylinder") else 0),
        )

    if first == "floor":
        add_floor()
    scene.add_body(
        "disc",
        shape=mc.Cylinder(radius, half),
        mass=1.0,
        position=(0, 0, -arm[2]),
        material=material,
        orientation=(math.cos(tilt / 2), 0, math.sin(tilt / 2), 0),
        angular_velocity=-rate * s / radius * arm,
    )
    if first != "floor":
        add_floor()
    return scene, rate


def tilt_of(world):
    _, x, y, _ = world.body("disc").orientation
    return math.acos(min(1.0, abs(1 - 2 * (x * x + y * y))))


def follow(world, tilt, radius, seconds):
    """-> largest change of the tilt [rad], of the energy by m g r"""
    start, off, energy = world.energy().total, 0.0, 0.0
    for _ in range(round(seconds / world.dt)):
        world.step()
        off = max(off, abs(tilt_of(world) - tilt))
        energy = max(energy, abs(world.energy().total - start) / (G * radius))
    return off, energy


@pytest.mark.parametrize("floor", ["plane", "box", "cylinder", "mesh"])
@pytest.mark.parametrize("first", ["floor", "disc"])
@pytest.mark.parametrize("tilt, thin", [(0.3, 0.02), (0.9, 0.1)])
@pytest.mark.sampled(1)
def test_on_every_floor(floor, first, tilt, thin):
    scene, rate = rolling_disc(0.3, tilt, thin, floor, first)
    off, energy = follow(mc.World(scene, dt=1 / 240, sleep=False), tilt, 0.3, 4 * math.pi / rate)
    assert off < 0.01 and energy < 0.015


@pytest.mark.parametrize(
    "keywords",
    [dict(solver="pgs"), dict(friction_points="point"), dict(friction="pyramid"), dict(stabilization="baumgarte")],
    ids=str,
)
def test_by_every_way(keywords):
    scene, rate = rolling_disc(0.3, 0.6, 0.05)
    off, energy = follow(mc.World(scene, dt=1 / 240, sleep=False, **keywords), 0.6, 0.3, 2 * math.pi / rate)
    assert off < 0.02 and energy < 0.01


def test_lanes_and_rows_say_the_same():
    """By springs that are given: those of rows are no stiffer and no firmer for a load."""
    scene, _ = rolling_disc(1.0, 0.6, 0.05)
    lanes, rows = (mc.World(scene, hertz=125.0, solver=solver, sleep=False) for solver in ("si", "pgs"))
    lanes.step(10)
    rows.step(10)
    assert lanes.orientations == pytest.approx(rows.orientations, abs=1e-8)


def test_in_generalized_coordinates():
    scene, rate = rolling_disc(0.3, 0.6, 0.05)
    off, energy = follow(mc.ReducedWorld(scene, dt=1 / 240), 0.6, 0.3, 2 * math.pi / rate)
    assert off < 0.02 and energy < 0.01


@settings(deadline=None, max_examples=amount(5, 40))
@given(
    radius=st.floats(0.02, 0.5),
    thin=st.floats(0.02, 0.5),
    tilt=st.floats(0.01, 1.4),
    height=st.floats(0.0, 0.3),
    spin=st.floats(0.0, 10.0),
    substeps=st.integers(2, 8),
)
def test_discs_fall_flat_and_rest(radius, thin, tilt, height, spin, substeps):
    """Whatever the rim does on the way: no energy comes from it, and the disc ends on its face."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    half = thin * radius
    low = radius * math.sin(tilt) + half * math.cos(tilt)
    scene.add_body(
        "disc",
        shape=mc.Cylinder(radius, half),
        mass=1.0,
        position=(0, 0, low + height),
        orientation=(math.cos(tilt / 2), 0, math.sin(tilt / 2), 0),
        angular_velocity=(0, 0, spin),
    )
    world = mc.World(scene, substeps=substeps)
    start, gain = world.energy().total, 0.0
    for _ in range(600):
        world.step()
        gain = max(gain, world.energy().total - start)
    assert gain < 1e-3 * G * (radius + height) + 1e-9
    if math.tan(tilt) < 0.9 / thin and spin == 0.0:
        assert tilt_of(world) < 1e-3
        assert np.abs(world.velocities).max() < 1e-3
