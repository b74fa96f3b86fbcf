"""Bodies on meshes and height fields: they move as on what those stand for, and nothing falls through."""

import math

import numpy as np
import pytest
from scipy.spatial import Delaunay

import mcsim as mc
from amounts import amount
from mcsim.scenes.grounds import _chute

G = 9.81
SOLIDS = {
    "sphere": (mc.Sphere(0.3), 0.3),
    "box": (mc.Box((0.3, 0.2, 0.25)), 0.25),
    "capsule": (mc.Capsule(0.2, 0.3), 0.2),
    "cylinder": (mc.Cylinder(0.3, 0.25), 0.25),
}
LYING = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)


def irregular(size=(24.0, 4.0), count=1500, seed=0, height=None):
    """Triangles of all sorts between random points, wound at random; flat unless a height is given."""
    rng = np.random.default_rng(seed)
    size = np.array(size)
    border = [(x, y) for x in np.linspace(-1, 1, 9) for y in (-1, 1)]
    border += [(x, y) for x in (-1, 1) for y in (-0.5, 0, 0.5)]
    p = np.concatenate([rng.uniform(-1, 1, (count, 2)), border]) * size
    faces = Delaunay(p).simplices.astype(int)
    turned = rng.random(len(faces)) < 0.5
    faces[turned] = faces[turned][:, ::-1]
    z = np.zeros(len(p)) if height is None else height(*p.T)
    return mc.Mesh(np.column_stack([p, z]), faces)


def field(height, size, cells):
    x = (np.arange(cells + 1) - cells / 2) * size / cells
    return mc.HeightField(height(*np.meshgrid(x, x, indexing="ij")), size / cells)


TETRAHEDRON = mc.ConvexHull(0.02 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]))
FLAT = {"mesh": irregular(), "field": mc.HeightField(np.zeros((97, 17)), 0.5)}


def world_on(ground, *solids, friction=0.0, gravity=(0, 0, -G), **keywords):
    """A world of a static ground and bodies (shape, arguments)."""
    material = mc.Material(friction=friction)
    scene = mc.Scene(gravity=gravity)
    scene.add_body("ground", kind="static", shape=ground, material=material)
    for shape, arguments in solids:
        scene.add_body(shape=shape, material=material, **arguments)
    return mc.World(scene, **keywords)


# ---- inner edges -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("ground", FLAT)
@pytest.mark.parametrize("speed", [0.01, 1.0, 30.0])
def test_what_slides_without_friction_does_not_catch(kind, ground, speed):
    """10 m, or two seconds: straight on, at the same height and speed, on triangles of all sorts."""
    shape, height = SOLIDS[kind]
    arguments = {"position": (-5.03, 0.17, height), "velocity": (speed, 0.05 * speed, 0)}
    if kind == "capsule":
        arguments["orientation"] = LYING
    world = world_on(FLAT[ground], (shape, arguments))
    start = world.positions[1].copy()
    for _ in range(min(int(10 / speed / world.dt), 120)):
        world.step()
        assert np.abs(world.positions[1] - start - np.array([speed, 0.05 * speed, 0]) * world.time).max() < 1e-3
        assert np.abs(world.velocities[1] - (speed, 0.05 * speed, 0)).max() < 1e-3
    assert np.abs(world.angular_velocities[1]).max() < 1e-3


@pytest.mark.parametrize("ground", FLAT)
def test_a_ball_rolls_straight_on(ground):
    world = world_on(
        FLAT[ground],
        (mc.Sphere(0.1), {"position": (-8, 0.3, 0.1), "velocity": (3, 0, 0), "angular_velocity": (0, 30, 0)}),
        friction=0.5,
    )
    world.step(300)
    assert np.allclose(world.positions[1], (-8 + 15, 0.3, 0.1), atol=1e-3)
    assert np.allclose(world.velocities[1], (3, 0, 0), atol=1e-3)
    assert np.allclose(world.angular_velocities[1], (0, 30, 0), atol=1e-2)


@pytest.mark.parametrize("ground", FLAT)
def test_a_ball_rolls_down_a_slope(ground):
    """a = 5/7 g sin(angle), for a ball that does not slip; the slope is the flat ground turned."""
    angle = 0.3
    gravity = (G * math.sin(angle), 0, -G * math.cos(angle))
    world = world_on(FLAT[ground], (mc.Sphere(0.1), {"position": (-8, 0.1, 0.1)}), friction=0.6, gravity=gravity)
    world.step(120)
    a = 5 / 7 * G * math.sin(angle)
    assert world.velocities[1][0] == pytest.approx(a * world.time, rel=2e-3)
    assert world.positions[1][0] == pytest.approx(-8 + a * world.time**2 / 2, abs=0.02)
    assert np.abs(world.positions[1][1:] - 0.1).max() < 1e-3


@pytest.mark.parametrize(
    "make", [lambda z: field(z, 2.4, 120), lambda z: irregular((1.2, 1.2), 6000, 3, z)], ids=["field", "mesh"]
)
def test_a_marble_swings_in_a_bowl(make):
    """T = 2 pi sqrt(7/5 (R - r)/g) for a ball that rolls in a bowl of radius R, a little longer for a wide swing."""
    big, small = 1.5, 0.1
    bowl = make(lambda x, y: big - np.sqrt(np.maximum(big**2 - x**2 - y**2, 0.1)))
    amplitude = 0.3
    start = ((big - small) * math.sin(amplitude), 0, big - (big - small) * math.cos(amplitude))
    world = world_on(bowl, (mc.Sphere(small), {"position": start}), friction=1.0, dt=1 / 240)
    crossings, before = [], start[0]
    while len(crossings) < 5:
        world.step()
        x = world.positions[1][0]
        if before * x < 0:
            crossings.append(world.time - world.dt * abs(x) / (abs(x) + abs(before)))
        before = x
        assert world.time < 10
    period = 2 * np.mean(np.diff(crossings))
    expected = 2 * math.pi * math.sqrt(7 / 5 * (big - small) / G) * (1 + amplitude**2 / 16)
    assert period == pytest.approx(expected, rel=0.02)


# ---- nothing falls through -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [mc.Sphere(0.01), mc.Box((0.05, 0.05, 0.003)), mc.Capsule(0.01, 0.03), mc.Cylinder(0.02, 0.004), TETRAHEDRON],
    ids=lambda shape: shape.type,
)
@pytest.mark.parametrize("ground", FLAT)
def test_fast_bodies_stop(shape, ground):
    """200 m/s are 3.3 m in a step, hundreds of times the body's size."""
    for velocity in ((0, 0, -200), (20, 5, -199), (3, 1, -20), (150, 0, -120)):
        for spin in ((0, 0, 0), (40, -30, 20)):
            world = world_on(
                FLAT[ground],
                (shape, {"position": (-20.03, 0.11, 1.7), "velocity": velocity, "angular_velocity": spin}),
                friction=0.5,
            )
            for _ in range(15):
                world.step()
                x, y, z = world.positions[1]
                if abs(x) < 24 and abs(y) < 4:
                    assert z > -0.002, (velocity, spin)


def test_a_fast_ball_in_a_closed_room():
    """A cube of triangles around a ball: it never leaves, however fast, whichever way the cube is wound."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = np.array(
        [
            (0, 1, 3),
            (0, 3, 2),
            (4, 6, 7),
            (4, 7, 5),
            (0, 4, 5),
            (0, 5, 1),
            (2, 3, 7),
            (2, 7, 6),
            (0, 2, 6),
            (0, 6, 4),
            (1, 5, 7),
            (1, 7, 3),
        ]
    )
    for wound in (1, -1):
        scene = mc.Scene(gravity=(0, 0, 0))
        bouncy = mc.Material(friction=0.3, restitution=1.0)
        scene.add_body("room", kind="static", shape=mc.Mesh(corners, faces[:, ::wound]), material=bouncy)
        scene.add_body("ball", shape=mc.Sphere(0.05), velocity=(70, 40, 90), material=bouncy)
        world = mc.World(scene)
        for _ in range(200):
            world.step()
            assert np.abs(world.positions[1]).max() < 0.951
        assert world.energy().total <= 1.0001 * 0.5 * world.scene.bodies[1].mass * (70**2 + 40**2 + 90**2)


@pytest.mark.parametrize("wound", [1, -1])
def test_a_block_of_triangles_is_like_a_box(wound):
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = np.array(
        [
            (0, 1, 3),
            (0, 3, 2),
            (4, 6, 7),
            (4, 7, 5),
            (0, 4, 5),
            (0, 5, 1),
            (2, 3, 7),
            (2, 7, 6),
            (0, 2, 6),
            (0, 6, 4),
            (1, 5, 7),
            (1, 7, 3),
        ]
    )[:, ::wound]
    final = []
    for block in (mc.Box((0.5, 0.5, 0.5)), mc.Mesh(corners, faces)):
        scene = mc.Scene()
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
        scene.add_body("block", kind="static", shape=block, position=(0, 0, 0.5))
        scene.add_body("top", shape=mc.Box((0.3, 0.3, 0.1)), position=(0.35, 0, 1.1))
        scene.add_body("over", shape=mc.Box((0.3, 0.3, 0.1)), position=(0.1, 0, 1.3))
        scene.add_body(
            "leaning",
            shape=mc.Box((0.1, 0.1, 0.5)),
            position=(-0.85, 0, 0.55),
            orientation=(math.cos(0.15), 0, math.sin(0.15), 0),
        )
        scene.add_body("ball", shape=mc.Sphere(0.1), position=(-0.3, 0.2, 1.3))
        world = mc.World(scene)
        world.step(240)
        final.append((world.positions.copy(), world.energy().total))
        assert np.abs(world.velocities[2:5]).max() < 1e-3
    assert np.abs(final[0][0] - final[1][0]).max() < 2e-3
    assert final[0][1] == pytest.approx(final[1][1], rel=1e-5)


def test_a_stack_stands_on_a_height_field():
    """Ten boxes on a level place among hills."""
    hills = field(lambda x, y: np.where(np.hypot(x, y) < 1.5, 0.0, 0.3 * np.sin(3 * x) * np.cos(2 * y)), 8.0, 40)
    boxes = [(mc.Box((0.25, 0.25, 0.25)), {"position": (0.03, 0.05, 0.25 + 0.5 * k)}) for k in range(10)]
    world = world_on(hills, *boxes, friction=0.6)
    world.step(600)
    assert np.abs(world.positions[1:, :2] - (0.03, 0.05)).max() < 0.01
    assert np.abs(world.positions[1:, 2] - 0.25 - 0.5 * np.arange(10)).max() < 0.01
    assert np.abs(world.velocities[1:]).max() < 0.01


def test_mixed_bodies_on_hills_come_to_rest():
    """In the mean of some scenes: which ball rolls for how long is chance."""
    kinetic, start = [], []
    for count in (20, 25, 30):
        world = mc.World(mc.load("terrain", count=count))
        start.append(world.energy().total)
        world.step(900)
        kinetic.append(world.energy().kinetic)
    assert sum(kinetic) < 0.01 * sum(start)


def test_mixed_bodies_on_hills_gain_nothing():
    world = mc.World(mc.load("terrain", count=30))
    start = world.energy().total
    highest = start
    for _ in range(20):
        world.step(30)
        total = world.energy().total
        assert total <= highest + 1e-3 * abs(start)
        highest = min(total, highest)
        assert world.contacts["separation"].min() > -0.01
    assert world.positions[1:, 2].min() > -1.0


@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_marbles_on_a_mesh(seconds):
    world = mc.World(mc.load("marbles", count=40))
    for _ in range(seconds * 4):
        world.step(15)
        x, y, z = world.positions[1:].T
        assert (z > _chute(x, y) + 0.07).all()
        assert (np.abs(y) < 1.6).all() and (x < 2.4).all() and (x > -8.0).all()
        assert world.contacts["separation"].min(initial=0.0) > -0.005
    if seconds > 30:
        assert np.hypot(*world.positions[1:, :2].T).max() < 1.5 and np.abs(world.velocities).max() < 0.1


# ---- the world around it ---------------------------------------------------------------------------------------------


def test_bits_after_a_restore():
    scene = mc.load("terrain", count=20)
    world, other = mc.World(scene, sleep=False), mc.World(scene, sleep=False)
    world.step(90)
    kept = world.snapshot()
    keys = world._collider.get_manifolds()["key"]
    assert (np.bincount(np.unique(keys, return_inverse=True)[1]) > 1).any()
    world.step(60)
    other.restore(kept)
    other.step(60)
    assert world.state_hash() == other.state_hash()
    world.restore(kept)
    world.step(60)
    assert world.state_hash() == other.state_hash()


def test_a_kinematic_mesh_carries_a_box():
    """A tray of triangles that moves up and aside takes what lies on it along."""
    scene = mc.Scene()
    scene.add_body("tray", kind="kinematic", shape=irregular((2.0, 2.0), 60), velocity=(0.5, 0, 0.3))
    scene.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(0.1, 0.2, 0.2), velocity=(0.5, 0, 0.3))
    world = mc.World(scene)
    world.step(120)
    assert np.allclose(world.positions[1] - world.positions[0], (0.1, 0.2, 0.2), atol=2e-3)


def test_contacts_of_a_world_name_the_mesh():
    world = world_on(FLAT["mesh"], (mc.Box((0.3, 0.2, 0.25)), {"position": (0, 0, 0.25)}), friction=0.5)
    world.step(60)
    found = world.contacts
    assert len(found) == 4 and (found["body_a"] == 0).all() and (found["body_b"] == 1).all()
    assert found["normal_impulse"].sum() == pytest.approx(0.3 * 0.2 * 0.25 * 8 * 1000 * G * world.dt, rel=1e-3)


def test_grounds_come_and_go():
    """A mesh and a height field are put under falling boxes while the world runs, and taken away again."""
    world = world_on(FLAT["mesh"], (mc.Box((0.2, 0.2, 0.2)), {"position": (0, 0, 0.5)}))
    world.step(30)
    world.add_body("shelf", kind="static", shape=irregular((1, 1), 40, 9), position=(0, 0, 2))
    world.add_body("hill", kind="static", shape=field(lambda x, y: 0 * x, 2.0, 4), position=(5, 0, 3))
    world.add_body("high", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 2.5))
    world.add_body("higher", shape=mc.Box((0.2, 0.2, 0.2)), position=(5, 0, 3.3))
    world.step(60)
    assert world.body("high").position[2] == pytest.approx(2.2, abs=1e-3)
    assert world.body("higher").position[2] == pytest.approx(3.2, abs=1e-3)
    kept = world.snapshot()
    world.remove_body("shelf")
    world.step(60)
    assert world.body("high").position[2] < 1.5
    assert world.body("higher").position[2] == pytest.approx(3.2, abs=1e-3)
    assert len(kept.packed["manifolds"].unpacked())


def test_what_rests_on_a_mesh_falls_asleep():
    world = world_on(FLAT["mesh"], (mc.Box((0.2, 0.2, 0.2)), {"position": (0, 0, 0.2)}), friction=0.5, sleep=True)
    world.step(240)
    assert not world.velocities[1].any()
    assert world.positions[1][2] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("hills", [False, True])
def test_a_step_in_which_many_land_at_once_is_not_made_many_times(hills):
    """400 thin boxes on a mesh: room for their contacts was found by beginning the step anew with a little more,
    three times in the step in which they land. How often a step begins shows in how often it asks a function of the
    user's."""
    side = np.linspace(-10.0, 10.0, 41)
    x, y = (part.ravel() for part in np.meshgrid(side, side, indexing="ij"))
    corner = (np.arange(40)[:, None] * 41 + np.arange(40)).ravel()
    triangles = np.concatenate(
        [np.stack([corner, corner + 41, corner + 42], 1), np.stack([corner, corner + 42, corner + 1], 1)]
    )
    ground = mc.Mesh(np.stack([x, y, 0.3 * hills * np.sin(x) * np.cos(0.8 * y)], 1), triangles)
    scene = mc.Scene()
    scene.add_body("ground", shape=ground, kind="static")
    for k in range(400):
        scene.add_body(f"box{k}", shape=mc.Box((0.3, 0.3, 0.01)), position=(0.9 * (k % 20 - 10), 0.9 * (k // 20 - 10), 1.5))
    scene.add_body("crank", shape=mc.Sphere(0.1), position=(0, 0, 50))
    asked = []
    scene.add_joint(
        mc.HingeJoint(None, "crank", (0, 0, 50), (0, 0, 1), motion=mc.Motion(lambda t: (asked.append(t), 0.1 * t)[1]))
    )
    world = mc.World(scene)
    counts = []
    for _ in range(36):
        world.step()
        counts.append(len(asked))
        asked.clear()
    assert world.stats.contact_rows > 400
    usual = np.median(counts)
    assert np.sum(counts[1:]) <= 35 * usual + 0.2 * usual, "one begin anew at most, after the first step"


GRID = np.array([(x, y, 0.0) for x in np.linspace(-6, 6, 7) for y in np.linspace(-6, 6, 7)])
CELLS = [7 * i + j for i in range(6) for j in range(6)]
FLOORS = {
    "box": {"shape": mc.Box((6, 6, 1)), "position": (0, 0, -1)},
    "mesh": {"shape": mc.Mesh(GRID, [t for k in CELLS for t in ((k, k + 7, k + 8), (k, k + 8, k + 1))])},
    "field": {"shape": mc.HeightField(np.zeros((7, 7)), 2.0)},
}


def landed(solid, floor, draw, kind):
    """Velocities of a body that has struck a floor askew, with friction."""
    rng = np.random.default_rng(draw)
    turn = rng.normal(size=4)
    scene = mc.Scene()
    scene.add_body("floor", kind="static", **floor)
    scene.add_body(
        "body",
        shape=solid,
        position=(*rng.uniform(-0.9, 0.9, 2), 0.6),
        orientation=turn / np.linalg.norm(turn),
        velocity=rng.uniform((-3, -3, -6), (3, 3, -2)),
        angular_velocity=rng.normal(size=3) * 4,
    )
    world = kind(scene, dt=1 / 60)
    world.step(9)
    return np.concatenate([world.velocities[1], 0.2 * world.angular_velocities[1]])


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize(
    "solid, most",
    [(mc.Capsule(0.1, 0.3), 0.01), (mc.Box((0.3, 0.2, 0.1)), 0.01), (mc.Cylinder(0.15, 0.3), 0.05)],
    ids=lambda x: getattr(x, "type", ""),
)
def test_landings_are_those_on_a_plane(solid, most, floor, kind):
    """In the median of random landings. Points of a body that had not come down yet had as much of the friction as the one
    that struck, where a mesh showed them: boxes were off by 0.6 m/s, cylinders by 0.4."""
    plane = {"shape": mc.Plane((0, 0, 1))}
    off = [
        np.linalg.norm(landed(solid, FLOORS[floor], draw, kind) - landed(solid, plane, draw, kind))
        for draw in range(amount(15, 30))
    ]
    assert np.median(off) < most
