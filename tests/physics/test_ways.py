"""Positions follow velocities: what slides, however thin and on whatever ground, goes the way that its velocity says. The
tunnelling guard (collide/_tunnelling_guard.pyx) alone may set a body back, where it would pass through something, and
counts that."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

REACH = 80.0  # of every ground [m]


def grounds():
    corners = [(x * REACH, y * REACH, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 0)]
    steps = np.linspace(-REACH, REACH, 9)
    vertices = [(x, y, 0.0) for x in steps for y in steps]
    starts = [9 * i + j for i in range(8) for j in range(8)]
    faces = [face for a in starts for face in ((a, a + 9, a + 1), (a + 1, a + 9, a + 10))]
    return {
        "plane": mc.Plane((0, 0, 1)),
        "box": mc.Box((REACH, REACH, 0.5), position=(0, 0, -0.5)),
        "hull": mc.ConvexHull(corners),
        "mesh": mc.Mesh(vertices, faces),
        "field": mc.HeightField(np.zeros((9, 9)), spacing=REACH / 4),
    }


GROUNDS = grounds()
RING = [(np.cos(k * np.pi / 6), np.sin(k * np.pi / 6)) for k in range(12)]
THIN = {
    "hull": lambda t: mc.ConvexHull([(0.1 * x, 0.06 * y, t * z / 2) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]),
    "disc": lambda t: mc.ConvexHull([(0.08 * x, 0.08 * y, t * z / 2) for x, y in RING for z in (-1, 1)]),
    "box": lambda t: mc.Box((0.1, 0.06, t / 2)),
    "cylinder": lambda t: mc.Cylinder(0.08, t / 2),
}


def slide(shape, ground, thick, speed, drop=0.0, kind="static", steps=20, world=mc.World, **keywords):
    """-> how far the body is from where its velocities lead, by the length of that way; its least height by half its
    thickness; how often it was set back."""
    smooth = mc.Material(friction=0.0)
    scene = mc.Scene()
    scene.add_body("ground", kind=kind, shape=ground, material=smooth)
    scene.add_body(
        "card",
        shape=shape,
        position=(0.37, 0.23, thick / 2 + drop),
        velocity=(speed, 0.1 * speed, 0),
        orientation=(0.96, 0, 0, 0.28),
        material=smooth,
    )
    world = world(scene, **keywords)
    start, way, lowest, held = world.positions[1, :2].copy(), np.zeros(2), np.inf, 0
    for _ in range(steps):
        world.step()
        way += world.velocities[1, :2] * world.dt
        lowest = min(lowest, world.positions[1, 2])
        held += world._pipeline.parts.tunnelling_guard.held
    return np.linalg.norm(world.positions[1, :2] - start - way) / np.linalg.norm(way), 2 * lowest / thick, held


@settings(max_examples=amount(20, 60))
@given(
    shape=st.sampled_from(sorted(THIN)),
    ground=st.sampled_from(sorted(GROUNDS)),
    thick=st.floats(-3.7, -1.7),
    speed=st.floats(-1, 1.5),
    substeps=st.sampled_from([1, 2, 4, 8]),
    drop=st.sampled_from([0.0, 0.01, 0.05]),
)
def test_thin_bodies_slide_as_far_as_their_velocity_says(shape, ground, thick, speed, substeps, drop):
    """0.2 to 20 mm, 0.1 to 30 m/s. (A substep of 1/60 s lets anything sink by 0.14 mm: soft contacts.)"""
    thick, speed = 10.0**thick, 10.0**speed
    off, lowest, _ = slide(THIN[shape](thick), GROUNDS[ground], thick, speed, drop, substeps=substeps)
    assert off < 1e-6 and lowest > -0.99


@pytest.mark.parametrize(
    "keywords",
    [
        dict(world=mc.ReducedWorld),
        dict(solver="pgs"),
        dict(solver="admm"),
        dict(stabilization="baumgarte"),
        dict(stabilization="projection"),
        dict(friction_points="point"),
        dict(kind="kinematic"),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", sorted(THIN))
def test_in_every_world(shape, keywords):
    off, lowest, held = slide(THIN[shape](0.006), GROUNDS["box"], 0.006, 1.0, **keywords)
    assert off < 1e-9 and lowest > 0.9 and held == 0


@pytest.mark.parametrize("ground", sorted(GROUNDS))
def test_one_substep_carries_a_cube_of_a_hull(ground):
    cube = mc.ConvexHull([(0.05 * x, 0.05 * y, 0.05 * z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    off, lowest, held = slide(cube, GROUNDS[ground], 0.1, 3.0, steps=60, substeps=1)
    assert off < 1e-9 and lowest > 0.9 and held == 0


def test_what_is_set_back_keeps_its_way_along_the_wall():
    """A spinning rod hits a wall by its corner, which no contact foresaw. It is held, once said; along the wall it
    goes on."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", kind="static", shape=mc.Box((30, 30, 0.005)), material=mc.Material(friction=0.0))
    scene.add_body(
        "rod",
        shape=mc.Box((0.2, 0.005, 0.005)),
        position=(0, 0, 1.5),
        velocity=(30.0, 0, -100.0),
        angular_velocity=(0, 180.0, 0),
        material=mc.Material(friction=0.0),
    )
    world = mc.World(scene)
    held = 0
    for _ in range(12):
        world.step()
        held += world._pipeline.parts.tunnelling_guard.held
        assert world.positions[1, 2] > 0
        assert world.positions[1, 0] == pytest.approx(30.0 * world.time, abs=1e-9)
    assert held > 0
    world.step(30)
    assert world._pipeline.parts.tunnelling_guard.held == 0
