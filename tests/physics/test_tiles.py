"""Floors made of separate shapes: what slides or rolls over them does not feel the edges between them, and steps, walls,
gaps and ramps are what they are."""

import math

import numpy as np
import pytest

import mcsim as mc

G = 9.81
ACROSS = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)  # a cylinder's or capsule's axis along y
CUBE = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FLAT = {
    "box": mc.Box((0.2, 0.15, 0.1)),
    "cylinder": mc.Cylinder(0.2, 0.1),
    "hull": mc.ConvexHull(np.array(CUBE) * (0.2, 0.15, 0.1)),
}


def about_z(angle):
    return math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)


def on_floor(
    add_tiles,
    shape,
    height,
    velocity,
    spin=(0, 0, 0),
    start=(0.3, 0.1),
    turn=0.0,
    friction=0.0,
    size=1.0,
    orientation=(1, 0, 0, 0),
    moving=None,
    gravity=G,
    **keywords,
):
    """A world of tiles whose tops are at z = 0 and of one body on them, all turned about z. add_tiles(tile): calls
    tile(shape, position, orientation)."""
    c, s = math.cos(turn), math.sin(turn)
    scene = mc.Scene(gravity=(0, 0, -gravity))
    kind, v = ("static", None) if moving is None else ("kinematic", np.array(moving, float))
    given = {} if v is None else {"velocity": v}

    def turned(x):
        return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]]) * size

    def tile(form, position, angle=0.0, friction=friction, **other):
        scene.add_body(
            kind=kind,
            shape=form,
            position=turned(position),
            orientation=about_z(turn + angle),
            material=mc.Material(friction=friction),
            **given,
            **other,
        )

    add_tiles(tile)
    q = about_z(turn)
    a = orientation
    q = (q[0] * a[0] - q[3] * a[3], q[0] * a[1] - q[3] * a[2], q[0] * a[2] + q[3] * a[1], q[0] * a[3] + q[3] * a[0])
    scene.add_body(
        "body",
        shape=shape,
        position=turned((*start, height / size)),
        orientation=q,
        velocity=turned(velocity) / size + (0 if v is None else v),
        angular_velocity=turned(spin) / size,
        material=mc.Material(friction=friction),
    )
    return mc.World(scene, **keywords)


def squares(n=12, rows=3, size=1.0, depth=0.5, offset=0.0):
    """n x rows square tiles, each row shifted by `offset` against the last."""

    def add(tile):
        for i in range(n):
            for j in range(rows):
                tile(mc.Box((size / 2, size / 2, depth)), (size * (i + offset * j), size * (j - rows // 2), -depth))

    return add


def follow(world, steps, gravity=G):
    """-> how far the body rises above its start, how far it is off the straight way, part of its speed that changes,
    how fast it turns beside its first spin."""
    start, v, w = world.positions[-1].copy(), world.velocities[-1].copy(), world.angular_velocities[-1].copy()
    rise = off = change = turn = 0.0
    for _ in range(steps):
        world.step()
        way = world.positions[-1] - start
        rise = max(rise, abs(way[2]))
        off = max(off, float(np.linalg.norm(way - v * world.time)))
        change = max(change, float(np.linalg.norm(world.velocities[-1] - v) / np.linalg.norm(v)))
        turn = max(turn, float(np.abs(world.angular_velocities[-1] - w).max()))
    return rise, off, change, turn


@pytest.mark.parametrize("speed", [0.3, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("radius", [0.02, 0.25, 1.0])
@pytest.mark.parametrize("row", [0.0, 0.1, 0.5])
@pytest.mark.sampled(5)
def test_a_ball_rolls_over_tiles_as_over_a_plane(speed, radius, row):
    """In the middle of a row of tiles, beside it, and along the seam between two rows."""
    world = on_floor(squares(), mc.Sphere(radius), radius, (speed, 0, 0), (0, speed / radius, 0), (0.3, row), friction=0.6)
    rise, off, change, _ = follow(world, min(90, int(10 / speed * 60)))
    assert rise < 1e-4 and off < 1e-3 and change < 1e-6


@pytest.mark.parametrize("speed", [0.3, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("kind", FLAT)
@pytest.mark.parametrize("row", [0.1, 0.4])
@pytest.mark.sampled(5)
def test_what_slides_over_tiles_does_not_catch(speed, kind, row):
    world = on_floor(squares(), FLAT[kind], 0.1, (speed, 0, 0), start=(0.3, row))
    rise, off, change, turn = follow(world, min(90, int(10 / speed * 60)))
    assert rise < 1e-4 and off < 1e-3 and change < 1e-3 and turn < 1e-2


@pytest.mark.parametrize("seed", range(12))
def test_tiles_of_other_sizes_turns_and_steps(seed):
    """Units, directions, tiles in a bond, thin tiles, several lengths of a step, tiles that move all together."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-2, 2)
    speed = 10.0 ** rng.uniform(-0.5, 1.0) * math.sqrt(size)
    tile = rng.uniform(0.3, 1.5)
    angle = rng.uniform(-0.2, 0.2)
    shape = [mc.Box(size * np.array((0.2, 0.15, 0.1))), mc.Cylinder(0.2 * size, 0.1 * size)][seed % 2]
    moving = (0.7 * math.sqrt(size), -0.4 * math.sqrt(size), 0.2 * math.sqrt(size)) if seed % 3 == 0 else None

    def add(put):
        n, rows = int(10 / tile) + 3, 7
        for i in range(n):
            for j in range(rows):
                put(
                    mc.Box(size * np.array((tile / 2, tile / 2, 0.1))),
                    (tile * (i - 1 + 0.4 * (j % 2)), tile * (j - rows // 2), -0.1),
                )

    rate = float(rng.choice([30, 60, 240]))
    world = on_floor(
        add,
        shape,
        0.1 * size,
        np.array((math.cos(angle), math.sin(angle), 0)) * speed,
        turn=rng.uniform(0, 6),
        size=size,
        moving=moving,
        dt=1 / rate,
        start=(0.3, -0.1),
    )
    start, v = world.positions[-1].copy(), world.velocities[-1].copy()
    way = min(6.0 * size, speed * 1.0, 1.0 * tile * size / max(abs(math.sin(angle)), 1e-3) if tile > 1 else 4.0 * size)
    for _ in range(max(int(way / speed * rate), 2)):
        world.step()
        assert np.linalg.norm(world.positions[-1] - start - v * world.time) < 1.5e-3 * size
    assert np.linalg.norm(world.velocities[-1] - v) < 1e-3 * speed


def test_tiles_of_several_materials_and_on_one_body():
    """Each tile rubs as it is made of; tiles of one kinematic body that turns stay one floor."""
    friction = [0.0, 0.4, 0.0, 0.2, 0.0]

    def add(tile):
        for i, mu in enumerate(friction):
            tile(mc.Box((0.5, 1.5, 0.5)), (i, 0, -0.5), friction=mu)

    world = on_floor(add, mc.Box((0.05, 0.05, 0.02)), 0.02, (6, 0, 0), start=(-0.3, 0), friction=0.3, dt=1 / 240)
    world.step(int(0.8 * 240))
    x, v = world.positions[-1][0], world.velocities[-1]
    lost = sum(2 * G * math.sqrt(mu * 0.3) for mu in friction)
    assert 3.6 < x < 4.4 and v[0] == pytest.approx(math.sqrt(36 - lost), rel=5e-3) and abs(v[2]) < 1e-3

    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body(
        "table",
        kind="kinematic",
        angular_velocity=(0, 0, 1.0),
        shape=[mc.Box((0.25, 0.25, 0.1), position=(0.5 * i, 0.5 * j, -0.1)) for i in range(-8, 9) for j in range(-8, 9)],
        material=mc.Material(friction=0),
    )
    scene.add_body(
        "puck",
        shape=mc.Cylinder(0.1, 0.05),
        position=(-3.5, 0.3, 0.05),
        velocity=(6, 0, 0),
        material=mc.Material(friction=0),
    )
    rise, off, change, _ = follow(mc.World(scene), 60)
    assert rise < 1e-4 and off < 1e-3 and change < 1e-4


@pytest.mark.parametrize("beside", ["plane", "mesh", "field", "hull"])
@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("towards", [1, -1])
def test_a_slab_beside_another_kind_of_floor(beside, kind, towards):
    """On to a slab whose top is level with a plane that it stands in, or with the border of a mesh or a height field."""

    def add(tile):
        if beside == "plane":
            tile(mc.Plane((0, 0, 1)), (0, 0, 0))
        elif beside == "mesh":
            x = np.linspace(-8, 0, 5)
            corners = [(a, b, 0.0) for a in x for b in (-2, 0, 2)]
            faces = [
                f
                for i in range(4)
                for j in range(2)
                for f in ((3 * i + j, 3 * i + j + 3, 3 * i + j + 4), (3 * i + j, 3 * i + j + 4, 3 * i + j + 1))
            ]
            tile(mc.Mesh(corners, faces), (0, 0, 0))
        elif beside == "field":
            tile(mc.HeightField(np.zeros((9, 5)), 1.0), (-4, 0, 0))
        else:
            tile(mc.ConvexHull([(x, y, z) for x in (-8, 0) for y in (-2, 2) for z in (-1, 0)]), (0, 0, 0))
        tile(mc.Box((4, 2, 0.5)), (4, 0, -0.5))

    speed = 5.0 * towards
    if kind == "ball":
        world = on_floor(add, mc.Sphere(0.2), 0.2, (speed, 0, 0), (0, speed / 0.2, 0), (-2.03 * towards, 0.3), friction=0.5)
    else:
        world = on_floor(add, mc.Box((0.2, 0.15, 0.1)), 0.1, (speed, 0, 0), start=(-2.03 * towards, 0.3))
    rise, off, change, _ = follow(world, 50)
    assert rise < 1e-4 and off < 1e-3 and change < 1e-4


# ---- what is no floor stays --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [2e-3, 5e-3, 0.05])
@pytest.mark.parametrize("speed", [0.5, 5.0])
def test_a_step_stays_a_step(step, speed):
    """A box stops at the face of a tile that stands out, and a ball loses what a plastic impact on its edge takes."""

    def add(tile):
        for i in range(8):
            tile(mc.Box((0.5, 1.5, 0.5)), (i, 0, -0.5 + (step if i >= 3 else 0.0)))

    world = on_floor(add, mc.Box((0.2, 0.15, 0.1)), 0.1, (speed, 0, 0), start=(1.9, 0))
    world.step(int(60 / speed))  # a fast one topples over a low step
    assert world.positions[-1][0] < 2.4 and world.velocities[-1][0] < 0.5 * speed

    radius = 0.25
    world = on_floor(add, mc.Sphere(radius), radius, (5.0, 0, 0), (0, 5.0 / radius, 0), (1.9, 0), friction=1.0)
    world.step(20)
    assert world.velocities[-1][0] < 5.0 * (1 - 0.5 * step / radius)


@pytest.mark.parametrize("tile_under", [True, False])
@pytest.mark.parametrize("kind", ["box", "ball", "leaning"])
def test_a_wall_on_tiles_stays_a_wall(tile_under, kind):
    """It stands on the middle of a tile, or on the seam of two. What leans meets it with an edge at its foot."""

    def add(tile):
        squares(8)(tile)
        tile(mc.Box((0.1, 1.5, 0.5)), (3.0 if tile_under else 2.6, 0, 0.5))

    shape, height, lean = {
        "box": (mc.Box((0.2, 0.15, 0.1)), 0.1, 0.0),
        "ball": (mc.Sphere(0.1), 0.1, 0.0),
        "leaning": (mc.Box((0.2, 0.15, 0.1)), 0.16, 0.4),
    }[kind]
    world = on_floor(
        add, shape, height, (4, 0, 0), start=(1.5, 0.2), orientation=(math.cos(lean / 2), 0, math.sin(lean / 2), 0)
    )
    far = 0.0
    for _ in range(60):
        world.step()
        far = max(far, world.positions[-1][0])
        assert world.positions[-1][2] > 0.05
    assert far < (2.9 if tile_under else 2.5) - 0.05


def test_ramps_ridges_and_gaps_of_tiles():
    """A ramp at a tile's end lifts a ball, over a ridge it flies, and a box does not cross a trench."""
    slope = 0.2

    def ramp(tile):
        tile(mc.Box((2, 1.5, 0.5)), (0, 0, -0.5))
        # Its top begins at x = 2, z = 0.
        tile(
            mc.ConvexHull([(x, y, z) for y in (-1.5, 1.5) for x, z in ((2, -1), (2, 0), (6, -1), (6, 4 * slope))]),
            (0, 0, 0),
        )

    world = on_floor(ramp, mc.Sphere(0.2), 0.2, (5, 0, 0), start=(0, 0), dt=1 / 240)
    world.step(240)
    v = world.velocities[-1]
    assert v[2] / v[0] == pytest.approx(slope, abs=1e-3)

    def trench(tile):
        tile(mc.Box((2, 1.5, 0.5)), (0, 0, -0.5))
        tile(mc.Box((2, 1.5, 0.5)), (5, 0, -0.5))

    world = on_floor(trench, mc.Box((0.2, 0.2, 0.2)), 0.2, (1.5, 0, 0), start=(1, 0))
    world.step(180)
    assert world.positions[-1][2] < -0.5


@pytest.mark.parametrize("angle", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("speed", [5.0, 20.0])
@pytest.mark.sampled(5)
def test_what_falls_on_a_seam_stays_above(angle, speed):
    """Balls and boxes that fly at the seam of tiles from all sides, of one height and of two."""
    for step in (0.0, -0.1, 0.1):

        def add(tile):
            for i in range(-6, 18):
                tile(mc.Box((0.5, 2.5, 0.5)), (i, 0, -0.5 + (step if i >= 3 else 0.0)))

        for shape, radius in ((mc.Sphere(0.1), 0.1), (mc.Box((0.1, 0.1, 0.1)), 0.1)):
            for shift in (-0.11, -0.03, 0.0, 0.04):
                time = 0.1
                v = speed * np.array((math.cos(angle), 0, -math.sin(angle)))
                world = on_floor(add, shape, radius - v[2] * time, v, start=(2.5 + shift - v[0] * time, 0.2))
                for _ in range(40):
                    world.step()
                    x, _, z = world.positions[-1]
                    top = max(0.0 if x < 2.5 + radius else -1.0, step if x > 2.5 - 0.3 * radius else -1.0)
                    assert z > min(top, 0.0 if step == 0 else min(0.0, step)) + 0.5 * radius


def test_what_stands_on_seams_stands_still():
    """A pile on the corner where four tiles meet is as on one slab, and the contacts are those of the tops alone."""

    def add(tile):
        squares(2, 2)(tile)

    world = on_floor(add, mc.Box((0.3, 0.3, 0.3)), 0.3, (0, 0, 0), start=(0.5, -0.5), friction=0.5)
    world.step(60)
    assert np.allclose(world.positions[-1], (0.5, -0.5, 0.3), atol=1e-4)
    assert len(world.contacts) == 16 and np.all(np.abs(np.abs(world.contacts["normal"][:, 2]) - 1) < 1e-9)


@pytest.mark.parametrize(
    "keywords",
    [{"solver": "pgs"}, {"stabilization": "baumgarte"}, {"substeps": 1}, {"threads": 2}, {"friction_points": "point"}],
    ids=str,
)
def test_other_ways_to_solve_know_the_same_floor(keywords):
    rise, off, change, _ = follow(on_floor(squares(), FLAT["box"], 0.1, (5, 0, 0), **keywords), 50)
    assert rise < 2e-4 and off < 1e-3 and change < 1e-3


@pytest.mark.parametrize("friction", [0.2, 0.5])
@pytest.mark.parametrize("kind", ["box", "cylinder"])
def test_what_slides_and_spins_stops_where_it_does_on_one_slab(friction, kind):
    def slab(tile):
        tile(mc.Box((6, 1.5, 0.5)), (5.5, 0, -0.5))

    ends = []
    for floor in (squares(), slab):
        world = on_floor(floor, FLAT[kind], 0.1, (5, 0.3, 0), (0, 0, 3), friction=friction)
        world.step(150)
        ends.append(world.positions[-1].copy())
    assert np.abs(ends[0] - ends[1]).max() < 0.01


@pytest.mark.parametrize(
    "shape",
    [
        mc.Box((0.4, 0.1, 0.1)),
        mc.Capsule(0.1, 0.3, orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)),
        mc.Cylinder(0.1, 0.4, orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)),
    ],
)
@pytest.mark.parametrize("lean", [0.02, 0.05])
def test_what_lands_askew_across_a_seam_has_contacts_with_both_tiles(shape, lean):
    """The tile under the end that is still up met it at its edge, along a normal inside of the floor, and had none:
    that end came down into it in the same step."""
    scene = mc.Scene()
    for x in (-0.5, 0.5):
        scene.add_body(f"tile{x}", kind="static", shape=mc.Box((0.5, 0.5, 0.5)), position=(x, 0, -0.5))
    scene.add_body(
        "body",
        shape=shape,
        position=(0, 0, 0.2),
        orientation=(np.cos(lean / 2), 0, np.sin(lean / 2), 0),
        velocity=(0, 0, -6),
    )
    world = mc.World(scene, dt=1 / 60)
    while len(world.contacts) == 0:
        world.step()
    assert {int(contact["body_a"]) for contact in world.contacts} == {0, 1}
    assert world.contacts["separation"].min() > -0.004
