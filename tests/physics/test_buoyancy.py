"""Water: what it bears by Archimedes, in closed form, how what floats stands and bobs, and its drag."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix

G, WATER = 9.81, 1000.0
every_world = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
SOLIDS = {
    "sphere": mc.Sphere(0.3),
    "box": mc.Box((0.2, 0.3, 0.4)),
    "hull": mc.ConvexHull([(x, y, z) for x in (-0.2, 0.2) for y in (-0.3, 0.3) for z in (-0.4, 0.4)]),
    "capsule": mc.Capsule(0.2, 0.3),
    "cylinder": mc.Cylinder(0.2, 0.3),
    "cone": mc.Cone(0.3, 0.3),
    "ellipsoid": mc.Ellipsoid((0.2, 0.3, 0.4)),
    "tapered": mc.TaperedCapsule(0.2, 0.1, 0.3),
}


def one(shape, kind=mc.World, dt=1 / 100, **body):
    scene = mc.Scene()
    scene.add_body("it", shape=shape, **({"density": 500.0} | body))
    return kind(scene, dt=dt)


def borne(world, **numbers):
    """(6,) force and torque on the only body."""
    before = world.forces[0].copy()
    world.apply_buoyancy(**numbers)
    found = world.forces[0] - before
    world.forces[0] = before
    return found


def submerged(shape, turn, height, count=40):
    """Volume and centre of what of a solid about the origin, turned so, is below a height [m], by points in a grid."""
    parts, reach = (np.arange(count) + 0.5) / count, shape.reach
    line, up = reach * (2 * parts - 1), parts * (height + reach) - reach
    points = np.stack(np.meshgrid(line, line, up, indexing="ij"), axis=-1).reshape(-1, 3)
    vertices, faces = shape.triangles(64)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    local, inside = points @ matrix(turn), np.ones(len(points), bool)
    for normal, at in zip(normals, a):
        if inside.any() and normal @ normal > 1e-20:
            inside[inside] = local[inside] @ normal <= at @ normal
    return inside.mean() * 4 * reach**2 * (height + reach), points[inside].mean(axis=0)


@pytest.mark.parametrize("name", SOLIDS)
def test_whole_under_water_it_bears_the_volume(name):
    """At the shape's centre, wherever it is and however turned; above the surface nothing."""
    shape, rng = SOLIDS[name], np.random.default_rng(1)
    for _ in range(10):
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        world = one(shape, position=(*rng.uniform(-5, 5, 2), -2.0), orientation=turn)
        found = borne(world, density=WATER)
        assert found[2] == pytest.approx(WATER * G * shape.volume, rel=1e-9)
        assert np.abs(found[[0, 1]]).max() < 1e-9 and np.abs(found[3:]).max() < 2e-3 * found[2] * shape.reach
        assert not borne(world, level=-2.0 - 1.01 * 2 * shape.reach).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLIDS)
def test_half_under_water_it_bears_what_is_there(name):
    """Against a grid of points inside: the volume to 2 %, the moment of the centre to 2 % of the volume's reach."""
    shape, turn = SOLIDS[name], np.array([0.8, 0.3, -0.4, 0.33])
    turn /= np.linalg.norm(turn)
    for height in (-0.1, 0.0, 0.12):
        volume, centre = submerged(shape, turn, height)
        world = one(shape, orientation=turn, center_of_mass=(0, 0, 0), inertia=(1, 1, 1), mass=1.0, density=None)
        found = borne(world, level=height)
        assert found[2] / (WATER * G) == pytest.approx(volume, rel=0.02)
        moment = np.array([-found[4], found[3]]) / (WATER * G)
        assert moment == pytest.approx(volume * centre[:2], abs=0.02 * shape.volume * shape.reach)


@given(st.floats(-0.5, 0.5), st.floats(0.1, 0.6))
@settings(max_examples=amount(20, 100))
def test_a_ball_bears_its_segment(height, radius):
    world = one(mc.Sphere(radius), position=(1, 2, height))
    deep = min(max(radius - height, 0.0), 2 * radius)
    volume = math.pi * deep * deep * (3 * radius - deep) / 3
    assert borne(world)[2] == pytest.approx(WATER * G * volume, rel=1e-12, abs=1e-9)


@every_world
@pytest.mark.parametrize("name", ["sphere", "box", "capsule"])
@pytest.mark.parametrize("lightness", [0.3, 0.5, 0.8])
def test_what_floats_comes_to_the_depth_of_archimedes(kind, name, lightness):
    """Where its weight is that of what it displaces: of a box by its draught, of balls and lying capsules by the root of
    their segments' volumes."""
    shape = {"sphere": mc.Sphere(0.3), "box": mc.Box((0.5, 0.4, 0.2)), "capsule": mc.Capsule(0.2, 0.5)}[name]
    turn = (math.sqrt(0.5), math.sqrt(0.5), 0, 0) if name == "capsule" else (1, 0, 0, 0)
    world = one(shape, kind, density=lightness * WATER, orientation=turn, position=(0, 0, 0.1), linear_damping=2.0)
    for _ in range(1500):
        world.apply_buoyancy()
        world.step()

    def displaced(z):  # [m³], with the origin at z
        d = {"sphere": 0.3, "box": 0.2, "capsule": 0.2}[name] - z
        if name == "sphere":
            return math.pi * d * d * (0.9 - d) / 3
        if name == "box":
            return d * 1.0 * 0.8
        u = -z / 0.2
        return math.pi * d * d * (0.6 - d) / 3 + 1.0 * 0.04 * (math.pi / 2 + math.asin(u) + u * math.sqrt(1 - u * u))

    low, high = -0.199, 0.199
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if displaced(middle) > lightness * shape.volume else (low, middle)
    assert world.positions[0, 2] == pytest.approx(low, abs=1e-6 if name != "capsule" else 2e-3)
    assert np.abs(world.velocities).max() < 1e-4


@pytest.mark.parametrize("height, stands", [(0.6, True), (1.2, False)])
def test_a_box_stands_as_its_metacentre_has_it(height, stands):
    """Of breadth B, draught T, GM = B² / (12 T) - (H - T) / 2: above 0 it rights itself, below it rolls over."""
    breadth, draught = 1.0, height / 2
    metacentre = breadth**2 / (12 * draught) - (height - draught) / 2
    assert (metacentre > 0) == stands
    tilt = 0.05
    world = one(
        mc.Box((1.5, breadth / 2, height / 2)),
        orientation=(math.cos(tilt / 2), math.sin(tilt / 2), 0, 0),
        angular_damping=1.0,
        linear_damping=1.0,
    )
    for _ in range(1500):
        world.apply_buoyancy()
        world.step()
    up = matrix(world.orientations[0])[2, 2]
    assert up > 0.9999 if stands else up < 0.9


def test_it_rolls_with_the_period_of_its_metacentre():
    """T = 2 pi sqrt(I / (m g GM)) for small angles, without damping; energy of what water bears is kept."""
    height, tilt = 0.4, 0.01
    world = one(mc.Box((1.5, 0.5, height / 2)), dt=1 / 200, orientation=(math.cos(tilt / 2), math.sin(tilt / 2), 0, 0))
    metacentre = 1.0 / (12 * height / 2) - height / 4
    times, last = [], tilt
    for _ in range(2000):
        world.apply_buoyancy()
        world.step()
        lean = matrix(world.orientations[0])[2, 1]
        if lean * last < 0:
            times.append(world.time)
        last = lean
    period = 2 * math.pi * math.sqrt((1.0 + height**2) / 12 / (G * metacentre))
    assert 2 * np.diff(times).mean() == pytest.approx(period, rel=5e-3)


@every_world
def test_drag_and_current(kind):
    """A heavy ball sinks at the speed at which drag bears what water does not; a raft goes with the stream."""
    scene = mc.Scene()
    scene.add_body("stone", shape=mc.Sphere(0.1), density=2000.0, position=(0, 0, -1))
    scene.add_body("raft", shape=mc.Box((0.5, 0.5, 0.1)), density=500.0, position=(5, 0, 0))
    world = kind(scene, dt=1 / 200)
    for _ in range(2000):
        world.apply_buoyancy(drag=0.5, current=(1, 0, 0))
        world.step()
    sinking = math.sqrt(2 * (1000.0 * 4 / 3 * math.pi * 1e-3 * G) / (1000.0 * 0.5 * math.pi * 0.01))
    assert world.velocities[0] == pytest.approx((1, 0, -sinking), abs=0.01)
    # Of the raft's side 0.1 m² is under water: 100 kg u' = -1/2 1000 0.5 0.1 u², u(0) = 1
    assert world.velocities[1, 0] == pytest.approx(1.0 - 1.0 / (1.0 + 0.25 * world.time), abs=0.01)


def test_gravity_says_what_is_up():
    """Turned with the scene it is the same; without gravity nothing is borne, nor of what does not move or only senses."""
    shape = mc.Box((0.2, 0.3, 0.4))
    scene = mc.Scene(gravity=(G, 0, 0))
    scene.add_body("it", shape=shape, density=500.0, position=(-0.1, 0, 0))
    scene.add_body("wall", shape=shape, kind="static", position=(1, 0, 0))
    scene.add_body("ghost", shape=mc.Sphere(1.0, sensor=True), mass=1.0, inertia=(1, 1, 1), position=(5, 5, 0))
    world = mc.World(scene)
    world.apply_buoyancy(level=0.1)  # at x = -0.1
    assert world.forces[0] == pytest.approx([-WATER * G * shape.volume / 2, 0, 0, 0, 0, 0], abs=1e-9)
    assert not world.forces[1:].any()
    scene.gravity = (0, 0, 0)
    world = mc.World(scene)
    world.apply_buoyancy(level=1.0)
    assert not world.forces.any()


@pytest.mark.parametrize(
    "given, words",
    [
        ({"level": math.nan}, "level must be finite"),
        ({"density": -1}, "density must not be negative"),
        ({"drag": "no"}, "drag must be a number"),
        ({"current": (1, 2)}, "current"),
        ({"bodies": ["nobody"]}, "unknown body 'nobody'"),
        ({"bodies": 3}, "bodies must be a list"),
    ],
)
def test_what_is_wrong_is_refused(given, words):
    world = one(mc.Sphere(0.1))
    with pytest.raises(mc.SceneError, match=words):
        world.apply_buoyancy(**given)
    assert not world.forces.any()
