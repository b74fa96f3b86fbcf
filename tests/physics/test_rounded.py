"""Rounded shapes: between the sharp ones and balls, with masses, contacts and motions of their own."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix

HEXAGON = [(math.cos(k * math.pi / 3), math.sin(k * math.pi / 3), z) for k in range(6) for z in (-1.0, 1.0)]
MADE = {
    "box": lambda r, s=1.0: mc.Box((0.25 * s, 0.375 * s, 0.5 * s), rounding=r),
    "cylinder": lambda r, s=1.0: mc.Cylinder(0.25 * s, 0.375 * s, rounding=r),
    "cone": lambda r, s=1.0: mc.Cone(0.25 * s, 0.375 * s, rounding=r),
    "hull": lambda r, s=1.0: mc.ConvexHull(0.25 * s * np.array(HEXAGON), rounding=r),
}
SQUARE = [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)]
GROUNDS = {
    "plane": mc.Plane((0, 0, 1)),
    "box": mc.Box((9, 9, 1), position=(0, 0, -1)),
    "rounded box": mc.Box((9, 9, 1), rounding=0.1, position=(0, 0, -1.1)),
    "mesh": mc.Mesh(SQUARE, [(0, 1, 2), (0, 2, 3)]),
    "field": mc.HeightField(np.zeros((10, 10)), 2.0),
}
every_kind = pytest.mark.parametrize("kind", MADE)
every_ground = pytest.mark.parametrize("ground", GROUNDS)
every_world = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])


def outlines(kind, s=1.0):
    """(n, 3) points whose convex hull is the core, or is as near to it as 1e-4 of its size."""
    turns = np.linspace(0.0, 2 * np.pi, 400, endpoint=False)
    ring = np.stack([np.cos(turns), np.sin(turns), np.zeros_like(turns)], axis=1)
    return (
        s
        * {
            "box": np.array(list(itertools.product((-0.25, 0.25), (-0.375, 0.375), (-0.5, 0.5)))),
            "cylinder": np.concatenate([0.25 * ring + [0, 0, 0.375], 0.25 * ring - [0, 0, 0.375]]),
            "cone": np.concatenate([0.25 * ring - [0, 0, 0.375], [[0, 0, 0.375]]]),
            "hull": 0.25 * np.array(HEXAGON),
        }[kind]
    )


# ---- mass ------------------------------------------------------------------------------------------------------------


@every_kind
def test_mass_is_that_of_points_near_the_core(kind):
    """Volume, centre and inertia by quasi-Monte Carlo over the box about it: a point belongs to it where its distance from
    the core is at most the radius."""
    r, n = 0.125, amount(20_000, 200_000)
    shape = MADE[kind](r)
    golden = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])  # R3 sequence, Roberts 2018
    low, high = outlines(kind).min(axis=0) - r, outlines(kind).max(axis=0) + r
    points = low + (high - low) * ((0.5 + np.arange(1, n + 1)[:, None] * golden) % 1.0)
    inside = distances_from_core(kind, points) <= r
    box, own = np.prod(high - low), shape.mass_properties(1.0)
    found = points[inside]
    assert box * inside.mean() == pytest.approx(own.mass, rel=3e-3)
    assert found.mean(axis=0) == pytest.approx(own.center, abs=2e-3)
    d = found - own.center
    second = box / n * (np.einsum("ni,ni->", d, d) * np.eye(3) - d.T @ d)
    assert second == pytest.approx(own.inertia, abs=5e-3 * np.trace(own.inertia))


def distances_from_core(kind, p):
    """(n,) of points p (n, 3), 0 inside: in closed form."""
    if kind == "box":
        return np.linalg.norm(np.maximum(np.abs(p) - [0.25, 0.375, 0.5], 0.0), axis=1)
    out, up = np.hypot(p[:, 0], p[:, 1]), p[:, 2]
    if kind == "cylinder":
        return np.hypot(np.maximum(out - 0.25, 0.0), np.maximum(np.abs(up) - 0.375, 0.0))
    if kind == "cone":  # of a triangle in the half plane: nearest to its sides, 0 inside
        corners = np.array([[0.0, 0.375], [0.25, -0.375], [0.0, -0.375]])
        inside = (up >= -0.375) & (3 * out <= 0.375 - up)
        return np.where(inside, 0.0, _from_sides(np.stack([out, up], axis=1), corners[:2], corners[1:]))
    corners = 0.25 * np.array([(math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)) for k in range(6)])
    others = np.roll(corners, -1, axis=0)
    sides = others - corners
    over = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / 0.25
    inside = (p[:, :2] @ over.T <= (corners * over).sum(axis=1)).all(axis=1)
    return np.hypot(np.where(inside, 0.0, _from_sides(p[:, :2], corners, others)), np.maximum(np.abs(up) - 0.25, 0.0))


def _from_sides(p, starts, ends):
    d, e = p[:, None] - starts, ends - starts
    t = np.clip((d * e).sum(axis=2) / (e * e).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(d - t[..., None] * e, axis=2).min(axis=1)


def test_a_box_and_its_hull_have_one_mass():
    """Slabs, quarters of cylinders and eighths of balls in closed form, and Steiner's parts of any polyhedron."""
    for half, r in (((0.25, 0.375, 0.5), 0.125), ((1.0, 0.01, 0.3), 0.2), ((0.1, 0.1, 0.1), 1e-3)):
        corners = [np.multiply(signs, half) + [3.0, -2.0, 1.0] for signs in itertools.product((-1, 1), repeat=3)]
        box, hull = mc.Box(half, rounding=r).mass_properties(7.0), mc.ConvexHull(corners, rounding=r).mass_properties(7.0)
        assert hull.mass == pytest.approx(box.mass, rel=1e-13)
        assert hull.center == pytest.approx(box.center + [3.0, -2.0, 1.0], abs=1e-12)
        assert hull.inertia == pytest.approx(box.inertia, abs=1e-12 * np.trace(box.inertia))


@settings(max_examples=amount(15, 60), deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1.0))
def test_steiners_parts_of_random_hulls(seed, r):
    """Volume V + S r + M r² + 4/3 π r³: a polynomial in the radius, whose value at r from four others is its own; and the
    solid angles of all corners are those of a ball, wherever the hull lies."""
    points = np.random.default_rng(seed).normal(size=(12, 3)) * [1.0, 0.5, 0.3]
    at = [0.5 * r, r, 2 * r, 3 * r]
    volumes = [mc.ConvexHull(points, rounding=x).volume for x in at]
    powers = np.vander(at, 4, increasing=True)
    parts = np.linalg.solve(powers, volumes)
    assert parts[0] == pytest.approx(mc.ConvexHull(points).volume, rel=1e-6, abs=1e-9)
    assert parts[3] == pytest.approx(4 / 3 * math.pi, rel=1e-4)
    moved = mc.ConvexHull(points + [5.0, 2.0, -3.0], rounding=r).mass_properties(1.0)
    own = mc.ConvexHull(points, rounding=r).mass_properties(1.0)
    assert moved.center - [5.0, 2.0, -3.0] == pytest.approx(own.center, abs=1e-12)
    assert moved.inertia == pytest.approx(own.inertia, abs=1e-11 * np.trace(own.inertia))


@every_kind
def test_mass_between_sharp_and_ball(kind):
    """Without a rounding it is the sharp one's, to the bit; a tiny core makes a ball."""
    sharp, none = MADE[kind](0.0), MADE[kind](0.0).mass_properties(2.0)
    assert none.mass == sharp.mass_properties(2.0).mass and sharp.to_dict().get("rounding") is None
    barely = MADE[kind](1e-9).mass_properties(2.0)
    assert barely.mass == pytest.approx(none.mass, rel=1e-7)
    assert barely.inertia == pytest.approx(none.inertia, rel=1e-7, abs=1e-9)
    tiny, ball = MADE[kind](0.25, 1e-7).mass_properties(2.0), mc.Sphere(0.25).mass_properties(2.0)
    assert tiny.mass == pytest.approx(ball.mass, rel=1e-5)
    assert tiny.inertia == pytest.approx(ball.inertia, abs=1e-5 * np.trace(ball.inertia))


# ---- queries ---------------------------------------------------------------------------------------------------------


@every_kind
def test_a_tiny_core_is_a_ball_to_rays_casts_and_distances(kind):
    """Half extents of a millionth of the radius."""
    worlds = []
    for shape in (MADE[kind](0.25, 1e-6), mc.Sphere(0.25)):
        scene = mc.Scene()
        scene.add_body("it", shape=shape, kind="static", position=(0.1, 0.2, 0.3))
        worlds.append(mc.World(scene))
    rng = np.random.default_rng(1)
    starts, ways = 2.0 * rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    ways[::2] = np.array([0.1, 0.2, 0.3]) - starts[::2] + 0.1 * ways[::2]
    one, other = (world.ray_casts(starts, ways) for world in worlds)
    clear = (one["body"] >= 0) & (other["body"] >= 0)
    assert (one["body"] != other["body"]).sum() <= 1 and clear.sum() > 90
    assert one["distance"][clear] == pytest.approx(other["distance"][clear], abs=1e-4)
    for start in starts[:20]:
        found = [world.distance("it", mc.Box((0.1, 0.2, 0.3)), position=start) for world in worlds]
        assert found[0].distance == pytest.approx(found[1].distance, abs=1e-5)
        if found[1].distance > 0.0:
            hits = [
                world.shape_cast(mc.Capsule(0.1, 0.2), start, (1, 0, 0, 0), [0.1, 0.2, 0.3] - start) for world in worlds
            ]
            assert hits[0].distance == pytest.approx(hits[1].distance, abs=1e-5)


@every_kind
def test_a_tiny_rounding_is_sharp_to_queries(kind):
    worlds = []
    for r in (1e-9, 0.0):
        scene = mc.Scene()
        scene.add_body("it", shape=MADE[kind](r), kind="static", orientation=(0.5, 0.5, -0.5, 0.5))
        worlds.append(mc.World(scene))
    rng = np.random.default_rng(2)
    starts, ways = 2.0 * rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    ways[::2] = -starts[::2] + 0.1 * ways[::2]
    one, other = (world.ray_casts(starts, ways) for world in worlds)
    assert np.array_equal(one["body"], other["body"])
    met = one["body"] >= 0
    assert one["distance"][met] == pytest.approx(other["distance"][met], abs=1e-7)
    for start in starts[:30]:
        found = [world.distance("it", mc.Box((0.1, 0.2, 0.3)), position=0.5 * start) for world in worlds]
        assert found[0].distance == pytest.approx(found[1].distance, abs=1e-8)


@every_kind
def test_it_is_as_far_as_the_core_less_its_radius(kind):
    """From balls, boxes and capsules outside of it, and either way round."""
    worlds = []
    for r in (0.1, 0.0):
        scene = mc.Scene()
        scene.add_body("it", shape=MADE[kind](r), kind="static", orientation=(0.5, 0.5, -0.5, 0.5))
        worlds.append(mc.World(scene))
    rng, compared = np.random.default_rng(3), 0
    for shape in (mc.Sphere(0.1), mc.Box((0.1, 0.2, 0.3)), mc.Capsule(0.1, 0.2), mc.Box((0.1, 0.2, 0.3), rounding=0.05)):
        for _ in range(20):
            place, turn = 0.7 * rng.normal(size=3), rng.normal(size=4)
            turn /= np.linalg.norm(turn)
            rounded, sharp = (world.distance("it", shape, place, turn) for world in worlds)
            assert rounded.distance == pytest.approx(sharp.distance - 0.1, abs=1e-9)
            if sharp.distance > 0.0:
                assert rounded.normal == pytest.approx(sharp.normal, abs=1e-6)
                assert rounded.point_a == pytest.approx(sharp.point_a + 0.1 * sharp.normal, abs=1e-6)
                compared += 1
    assert compared > 30


# ---- motion ----------------------------------------------------------------------------------------------------------


@every_world
@every_kind
def test_frames_do_not_count(kind, make):
    """Three of them fall on a box; all of it turned by a third of a turn about (1, 1, 1), gravity too: the same motion."""
    worlds = []
    third = (0.5, 0.5, 0.5, 0.5)  # x -> y -> z -> x
    for turn in ((1.0, 0.0, 0.0, 0.0), third):
        scene = mc.Scene(gravity=mc.rotation.rotate(turn, (0, 0, -9.81)))
        scene.add_body("floor", shape=GROUNDS["rounded box"], kind="static", orientation=turn)
        for i in range(3):
            place = mc.rotation.rotate(turn, (0.05 * i, 0.03 * i, 0.8 + 1.3 * i))
            tilt = mc.rotation.multiply(turn, mc.rotation.from_axis_angle(np.array([0.6, 0.8, 0.0]), 0.2))
            scene.add_body(shape=MADE[kind](0.0625), position=place, orientation=tilt)
        worlds.append(make(scene, dt=1 / 120))
    for world in worlds:
        world.step(60)
    back = worlds[1].positions @ matrix(np.array(third))
    assert back == pytest.approx(worlds[0].positions, abs=1e-6)
    assert len(worlds[0].contacts) > 0


def stack(shape, count, height, ground, make=mc.World, **keywords):
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=GROUNDS[ground])
    for i in range(count):
        scene.add_body(shape=shape, position=(0, 0, height * (i + 0.5) + 0.002 * (i + 1)))
    return make(scene, dt=1 / 60, **keywords)


@every_world
@every_ground
@pytest.mark.sampled(5)
def test_ten_rounded_boxes_stand_and_sleep(ground, make):
    world = stack(mc.Box((0.2, 0.2, 0.2), rounding=0.05), 10, 0.5, ground, make)
    world.step(480)
    assert world.asleep[1:].all()
    height = world.positions[1:, 2] - 0.5 * (np.arange(10) + 0.5)
    assert -8e-3 < height.min() and height.max() < 1e-3 and np.abs(world.positions[1:, :2]).max() < 1e-6
    place = world.positions.copy()
    world.step(60)
    assert np.array_equal(world.positions, place)


@every_ground
@pytest.mark.parametrize("shape", ["box", "cylinder", "hull"])
@pytest.mark.sampled(5)
def test_it_rests_without_trembling(shape, ground):
    """Kept awake: what stands on a face moves by less than a nanometre a step."""
    height = {"box": 1.125, "cylinder": 0.875, "hull": 0.625}[shape]
    world = stack(MADE[shape](0.0625), 1, height, ground, sleep=False)
    world.step(240)
    moved = 0.0
    for _ in range(60):
        place = world.positions.copy()
        world.step()
        moved = max(moved, np.abs(world.positions - place).max())
    assert moved < 1e-9 and np.abs(world.velocities).max() < 1e-7


@every_ground
@every_world
@pytest.mark.sampled(4)
def test_a_rounded_cylinder_rolls_down_an_incline(ground, make):
    """a = g sin φ / (1 + I / (m R²)), R its radius and rounding."""
    slope, big = math.pi / 6, 0.25
    scene = mc.Scene(gravity=(9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)))
    rough = mc.Material(friction=0.9)
    scene.add_body("ground", kind="static", shape=GROUNDS[ground], material=rough)
    shape = mc.Cylinder(0.2, 0.15, rounding=0.05)
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    scene.add_body("it", shape=shape, position=(-7, 0, big), orientation=lying, material=rough)
    world = make(scene, dt=1 / 240)
    world.step(240)
    own = shape.mass_properties(1.0)
    expected = 9.81 * math.sin(slope) / (1 + own.inertia[2, 2] / (own.mass * big**2))
    assert world.velocities[1] == pytest.approx((expected, 0, 0), abs=1e-3 * expected)
    assert world.positions[1, 2] == pytest.approx(big, abs=1e-5)


@pytest.mark.parametrize("ground", ["plane", "box", "mesh"])
def test_a_coin_with_a_round_rim_keeps_its_energy_as_a_sharp_one_does(ground):
    """It spins leaning on its rim: the lowest ball of the rim goes round as the coin does, and stays there."""
    left = []
    for shape, rounding in ((mc.Cylinder(0.25, 0.02), 0.0), (mc.Cylinder(0.24, 0.01, rounding=0.01), 0.01)):
        scene = mc.Scene()
        rough = mc.Material(friction=0.9)
        scene.add_body("ground", kind="static", shape=GROUNDS[ground], material=rough)
        height = (shape.radius + shape.half_length) * math.sqrt(0.5) + rounding
        leaning = (math.cos(math.pi / 8), math.sin(math.pi / 8), 0, 0)
        scene.add_body(
            shape=shape, position=(0, 0, height), orientation=leaning, angular_velocity=(0, 0, 8), material=rough
        )
        world = mc.World(scene, dt=1 / 240)
        before = world.energy().total
        world.step(480)
        left.append(world.energy().total / before)
    assert left[1] == pytest.approx(left[0], abs=0.01)


@every_world
def test_a_tiny_core_bounces_and_rolls_as_a_ball(make):
    ways = []
    for shape in (mc.Box((1e-6, 1e-6, 1e-6), rounding=0.25), mc.Sphere(0.25)):
        scene = mc.Scene()
        surface = mc.Material(friction=0.5, restitution=0.5)
        scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=surface)
        scene.add_body("it", shape=shape, position=(0, 0, 1), velocity=(2, 0, 0), material=surface)
        world = make(scene, dt=1 / 120)
        world.step(240)
        ways.append((world.positions[1].copy(), world.angular_velocities[1].copy()))
    assert ways[0][0] == pytest.approx(ways[1][0], abs=1e-3)
    assert ways[0][1] == pytest.approx(ways[1][1], abs=1e-2)


@pytest.mark.parametrize("ground", ["tiles", "mesh"])
@pytest.mark.parametrize("shape", ["box", "cylinder", "hull"])
def test_it_slides_over_seams(shape, ground):
    """Without friction, over rounded tiles whose flat faces meet and over a mesh: nothing stops it or lifts it."""
    scene = mc.Scene()
    smooth = mc.Material(friction=0.0)
    floor = [(mc.Mesh(*mc.HeightField(np.zeros((91, 31)), 0.13).triangles()), (0, 0, 0))]
    if ground == "tiles":
        tile = mc.Box((0.5, 0.5, 0.45), rounding=0.05)
        floor = [(tile, (x, y, -0.5)) for x in range(-4, 5) for y in (-1, 0, 1)]
    for part, place in floor:
        scene.add_body(shape=part, kind="static", position=place, material=smooth)
    made = {
        "box": mc.Box((0.2, 0.2, 0.2), rounding=0.05),
        "cylinder": mc.Cylinder(0.2, 0.2, rounding=0.05),
        "hull": mc.ConvexHull(0.2 * np.array(list(itertools.product((-1, 1), repeat=3))), rounding=0.05),
    }
    scene.add_body(shape=made[shape], position=(-3, 0.07, 0.25), velocity=(3, 0.1, 0), material=smooth)
    world = mc.World(scene, dt=1 / 120)
    for _ in range(240):
        world.step()
        assert abs(world.velocities[-1, 2]) < 1e-3
    assert world.velocities[-1] == pytest.approx((3, 0.1, 0), abs=1e-3)
    assert world.positions[-1, 2] == pytest.approx(0.25, abs=1e-5)


def test_parts_of_a_compound_may_be_rounded():
    """A table of five rounded parts stands on its feet, and its feet do not sink in."""
    top = mc.Box((0.5, 0.5, 0.04), rounding=0.01, position=(0, 0, 0.5))
    feet = [mc.Cylinder(0.03, 0.2, rounding=0.02, position=(x, y, 0.23)) for x in (-0.4, 0.4) for y in (-0.4, 0.4)]
    for ground in GROUNDS:
        scene = mc.Scene()
        scene.add_body("ground", kind="static", shape=GROUNDS[ground])
        table = scene.add_body("table", shape=[top, *feet], position=(0.3, 0.2, 0.01))
        height = table.center_of_mass[2] - 0.01  # its feet end at 0.01 m of its own frame
        world = mc.World(scene)
        world.step(240)
        assert world.body("table").asleep
        assert world.positions[1, 2] == pytest.approx(height, abs=1e-3)
        assert abs(world.distance("table", mc.Plane((0, 0, 1))).distance) < 1e-3


# ---- descriptions ----------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, 1e60, "round"])
def test_a_wrong_rounding_is_named(kind, value):
    with pytest.raises(mc.SceneError, match="rounding"):
        MADE[kind](value)


@every_kind
def test_a_running_world_takes_another_rounding(kind):
    """set_shape: it stands on what it has now."""
    world = stack(MADE[kind](0.0), 1, 1.5, "plane")
    world.set_shape(1, MADE[kind](0.125))
    world.step(400)
    assert world.scene.bodies[1].shapes[0].rounding == 0.125
    assert abs(world.distance(1, 0).distance) < 1e-3
    again = mc.Scene.from_dict(world.to_scene().to_dict())
    assert again.bodies[1].shapes[0].rounding == 0.125


def test_a_rounded_box_over_a_plane_has_events():
    """contact="event": a ball about each corner; on another box it is refused by name."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("it", shape=mc.Box((0.2, 0.2, 0.2), rounding=0.05), position=(0, 0, 0.45))
    world = mc.World(scene, contact="event", dt=1 / 60)
    world.step(60)
    assert world.positions[1, 2] == pytest.approx(0.25, abs=1e-6)
    scene.add_body("other", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 2.0))
    with pytest.raises(mc.SceneError, match="rounded box of body 'it'"):
        mc.World(scene, contact="event").step(2)
