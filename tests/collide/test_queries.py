"""Rays, slid shapes, overlaps and distances: against bisection along lines, sampling, MuJoCo and the oracle of
separations."""

import math

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from collide_oracle import (
    KINDS as SOLID,
    ROUNDED,
    SOLIDS as SHARP,
    Shape as OracleShape,
    best_separation,
    matrix,
    random_hull,
    random_quaternions,
    separation_along,
)
from mcsim.core.rotation import matrix as rotation

KINDS = (*SOLID, "plane")
FLAT = (1.0, 0.0, 0.0, 0.0)


def random_shape(rng, kind):
    a, b, c = rng.uniform(0.2, 0.8, 3)
    round_by = 0.25 * c
    return {
        "rounded box": lambda: mc.Box((a, b, c), rounding=round_by),
        "rounded cylinder": lambda: mc.Cylinder(a, b, rounding=round_by),
        "rounded cone": lambda: mc.Cone(a, b, rounding=round_by),
        "rounded hull": lambda: mc.ConvexHull(random_hull(rng).points, rounding=round_by),
        "sphere": lambda: mc.Sphere(a),
        "box": lambda: mc.Box((a, b, c)),
        "capsule": lambda: mc.Capsule(a, b),
        "cylinder": lambda: mc.Cylinder(a, b),
        "cone": lambda: mc.Cone(a, b),
        "ellipsoid": lambda: mc.Ellipsoid((a, b, c)),
        "tapered_capsule": lambda: mc.TaperedCapsule(a, b, abs(a - b) / 2 + c),
        "hull": lambda: mc.ConvexHull(random_hull(rng).points),
        "plane": lambda: mc.Plane((0, 0, 1)),
    }[kind]()


def oracle_shape(shape):
    """Its `distance` is a convex function of the place, negative inside and positive outside."""
    return OracleShape(shape.type, shape.size, getattr(shape, "vertices", None), shape.rounding)


def crossing(shape, pose, origins, directions, length=40.0):
    """(k,) where rays (k, 3) enter the shape, inf if they do not, 0 if they start inside; and how near to it they come.
    The height along a line is convex: its least value by golden section, its zero by bisection."""
    r = rotation(pose[1])
    o, d = (origins - pose[0]) @ r, directions @ r

    oracle = oracle_shape(shape)

    def f(t):
        return oracle.distance(o + t[:, None] * d)

    low, high = np.zeros(len(o)), np.full(len(o), length)
    for _ in range(90):
        third = 0.3819660112501051 * (high - low)
        left = f(low + third) < f(high - third)
        high, low = np.where(left, high - third, high), np.where(left, low, low + third)
    bottom = 0.5 * (low + high)
    least = np.minimum(f(bottom), f(np.zeros(len(o))))
    low, high = np.zeros(len(o)), bottom
    for _ in range(80):
        middle = 0.5 * (low + high)
        inside = f(middle) <= 0.0
        high, low = np.where(inside, middle, high), np.where(inside, low, middle)
    enter = np.where(f(np.zeros(len(o))) <= 0.0, 0.0, high)
    return np.where(least <= 0.0, enter, np.inf), least


def random_rays(rng, count, reach=4.0):
    origins = rng.normal(size=(count, 3))
    origins *= (reach / np.linalg.norm(origins, axis=1))[:, None]
    directions = rng.uniform(-0.8, 0.8, (count, 3)) - origins
    return origins, directions / np.linalg.norm(directions, axis=1)[:, None]


def world_of(shapes, positions=None, orientations=None, **keywords):
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, shape in enumerate(shapes):
        scene.add_body(
            shape=shape,
            kind="static" if isinstance(shape, mc.Plane) else "kinematic",
            position=(0, 0, 0) if positions is None else positions[i],
            orientation=FLAT if orientations is None else orientations[i],
            **keywords,
        )
    return mc.World(scene)


def placed(body):
    """Pose of a one-shape body's shape."""
    shape = body.shapes[0]
    return body.position + rotation(body.orientation) @ shape.position, mc.core.rotation.compose(
        (body.position, body.orientation), (shape.position, shape.orientation)
    )[1]


# ---- rays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rays_against_bisection(kind):
    """Where a ray enters a shape of any pose, whether it does, and the normal there."""
    rng = np.random.default_rng(KINDS.index(kind))
    met = 0.0
    for _ in range(12):
        world = world_of([random_shape(rng, kind)], rng.uniform(-0.3, 0.3, (1, 3)), random_quaternions(rng, 1))
        body = world.scene.bodies[0]
        shape, pose = body.shapes[0], placed(body)
        origins, directions = random_rays(rng, 250)
        enter, least = crossing(shape, pose, origins, directions, 1e4 if kind == "plane" else 40.0)
        hits = world.ray_casts(origins, directions * rng.uniform(0.01, 100.0, (250, 1)))
        clear = np.abs(least) > 1e-9
        assert clear.mean() > 0.95
        found = hits["body"] == 0
        np.testing.assert_array_equal(found[clear], np.isfinite(enter)[clear])
        met += found.mean() / 12
        np.testing.assert_allclose(hits["distance"][found], enter[found], rtol=0, atol=1e-6 if kind == "plane" else 2e-8)
        assert np.all(np.isinf(hits["distance"][~found])) and np.all(hits["shape"] == np.where(found, 0, -1))
        started = found & (hits["distance"] > 0.0)
        n, p = hits["normal"][started], hits["point"][started]
        np.testing.assert_allclose(p, origins[started] + hits["distance"][started, None] * directions[started], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-12)
        assert np.all(np.einsum("ij,ij->i", n, directions[started]) <= 0.0)
        r = rotation(pose[1])
        on = oracle_shape(shape).distance((p - pose[0]) @ r)
        out = oracle_shape(shape).distance((p + 1e-4 * n - pose[0]) @ r)
        assert np.abs(on).max() < 1e-14 * (10 + np.abs(p).max()) and np.abs(out - on - 1e-4).max() < 1e-10
    assert 0.1 < met < (1.0 if kind == "plane" else 0.95)


def test_distances_are_exact_to_rounding():
    """A plain ray on the axis of each shape."""
    for shape, size in (
        (mc.Sphere(0.3), 0.3),
        (mc.Box((1, 2, 0.3)), 0.3),
        (mc.Capsule(0.1, 0.2), 0.3),
        (mc.Plane((0, 0, 1)), 0.0),
        (mc.Cylinder(2, 0.3), 0.3),
        (mc.ConvexHull([(1, 0, 0), (-1, 1, 0), (-1, -1, 0), (0, 0, 0.3)]), 0.3),
    ):
        hit = world_of([shape]).ray_cast((0, 0, 5), (0, 0, -3))
        assert hit.body.name == "body0" and hit.shape == 0 and hit.distance == pytest.approx(5 - size, abs=1e-15)
        assert hit.point == pytest.approx((0, 0, size), abs=1e-15)


def test_rays_far_away():
    """A small sphere seen from 10 km: the distance is right to the last digits."""
    world = world_of([mc.Sphere(0.01)])
    hit = world.ray_cast((1e4, 0, 0.005), (-1, 0, 0))
    assert hit.distance == pytest.approx(1e4 - math.sqrt(1e-4 - 2.5e-5), abs=4e-12)
    assert world.ray_cast((1e4, 0, 0.010001), (-1, 0, 0)) is None


def test_grazing_and_parallel_rays():
    """A ray in a face or along an edge or tangent touches; one just beside does not. Zeros in the direction do no harm."""
    box = world_of([mc.Box((1, 1, 1))])
    assert box.ray_cast((-3, 1, 0), (1, 0, 0)).distance == 2.0
    assert box.ray_cast((-3, 1, 1), (1, 0, 0)).distance == 2.0
    assert box.ray_cast((-3, 1.0000001, 0), (1, 0, 0)) is None
    assert box.ray_cast((-3, 0, 0), (1, 0, -0.0)).normal == pytest.approx((-1, 0, 0))
    assert box.ray_cast((-3, 0, 0), (-1, 0, 0)) is None
    sphere = world_of([mc.Sphere(1.0)])
    assert sphere.ray_cast((-3, 1, 0), (1, 0, 0)).distance == 3.0
    assert sphere.ray_cast((-3, 1.0000001, 0), (1, 0, 0)) is None
    tube = world_of([mc.Cylinder(1.0, 1.0)])
    assert tube.ray_cast((1, 0, 3), (0, 0, -1)).distance == 2.0
    assert tube.ray_cast((1.0000001, 0, 3), (0, 0, -1)) is None
    assert tube.ray_cast((0, 0, 3), (0, 0, -1)).normal == pytest.approx((0, 0, 1))
    plane = world_of([mc.Plane((0, 0, 1))])
    assert plane.ray_cast((0, 0, 1), (1, 0, 0)) is None and plane.ray_cast((0, 0, 1), (0, 0, 1)) is None
    assert plane.ray_cast((0, 0, 0), (1, 0, 0)).distance == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_rays_from_inside(kind):
    """solid=True: at once, with no normal. solid=False: where it comes out, as far as from the other side."""
    rng = np.random.default_rng(10 + KINDS.index(kind))
    shape = random_shape(rng, kind)
    world = world_of([shape])
    origin = np.array((0.01, 0.02, -0.01)) + (shape.vertices.mean(axis=0) if shape.type == "hull" else 0.0)
    for direction in rng.normal(size=(20, 3)):
        direction /= np.linalg.norm(direction)
        if kind == "plane":
            direction[2] = abs(direction[2])
        hit = world.ray_cast(origin, direction)
        assert hit.distance == 0.0 and not hit.normal.any() and np.array_equal(hit.point, origin)
        out = world.ray_cast(origin, direction, solid=False)
        back = world.ray_cast(origin + 10 * direction, -direction, 10.0)
        if kind == "plane":
            assert out.distance == pytest.approx(0.01 / direction[2]) and out.normal == pytest.approx((0, 0, -1))
        else:
            assert out.distance == pytest.approx(10.0 - back.distance, abs=1e-12)
            assert out.normal == pytest.approx(-back.normal, abs=1e-9)
    if kind == "plane":
        assert world.ray_cast(origin, (0, 0, -1), solid=False) is None


def many_shapes(rng, count, spread=3.0):
    shapes = [random_shape(rng, SOLID[i % len(SOLID)]) for i in range(count)]
    positions = rng.uniform(-spread, spread, (count + 1, 3)) * ([[1]] * count + [[0]])
    return world_of([*shapes, mc.Plane((0.1, 0, 1), -3.0)], positions, [*random_quaternions(rng, count), FLAT])


def test_nearest_of_many_against_every_shape():
    """The tree finds what a look at every shape finds, one or all, and each shape's own distance."""
    rng = np.random.default_rng(5)
    world = many_shapes(rng, 60)
    origins, directions = random_rays(rng, 150, 7.0)
    table = np.array([crossing(body.shapes[0], placed(body), origins, directions, 1e3)[0] for body in world.scene.bodies])
    hits = world.ray_casts(origins, directions)
    np.testing.assert_allclose(hits["distance"], table.min(axis=0), rtol=1e-9, atol=1e-6)
    clear = np.isfinite(table.min(axis=0)) & (np.diff(np.sort(np.minimum(table, 1e6), axis=0)[:2], axis=0)[0] > 1e-6)
    np.testing.assert_array_equal(hits["body"][clear], table.argmin(axis=0)[clear])
    assert len(np.unique(hits["body"])) > 25
    for k in range(0, 150, 3):
        every = world.ray_cast(origins[k], directions[k], all=True)
        assert [hit.body.index for hit in every] == [int(i) for i in np.argsort(table[:, k]) if np.isfinite(table[i, k])]
        one = world.ray_cast(origins[k], directions[k])
        assert (one is None) == (not every)
        if every:
            assert one.body.index == every[0].body.index == hits["body"][k] and one.distance == hits["distance"][k]
            assert np.array_equal(one.normal, hits["normal"][k]) and one.distance == every[0].distance


def test_length_of_rays():
    """What is farther than max_distance is not hit; at it, it is. One length a ray, or one for all."""
    world = world_of([mc.Sphere(1.0), mc.Sphere(1.0)], [(4, 0, 0), (8, 0, 0)])
    assert world.ray_cast((0, 0, 0), (2, 0, 0), 2.999) is None
    assert world.ray_cast((0, 0, 0), (2, 0, 0), 3.0).distance == 3.0
    assert len(world.ray_cast((0, 0, 0), (1, 0, 0), 7.0, all=True)) == 2
    assert len(world.ray_cast((0, 0, 0), (1, 0, 0), 6.9, all=True)) == 1
    assert world.ray_cast((4, 0, 0), (1, 0, 0), 0.0).distance == 0.0
    hits = world.ray_casts((0, 0, 0), [(1, 0, 0)] * 3, [2.0, 4.0, math.inf])
    assert hits["body"].tolist() == [-1, 0, 0]
    assert world.ray_casts(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)


def test_equal_distances():
    """Of shapes at the same place the first counts, whatever the tree."""
    world = world_of([mc.Box((1, 1, 1)) for _ in range(40)])
    assert world.ray_cast((5, 0.1, 0.2), (-1, 0, 0)).body.index == 0
    assert [hit.body.index for hit in world.ray_cast((5, 0.1, 0.2), (-1, 0, 0), all=True)] == list(range(40))
    assert [body.index for body in world.overlap(mc.Sphere(0.1))] == list(range(40))


def test_mujoco_agrees():
    """mj_ray on scenes of the same primitives."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(8)
    kinds = ("sphere", "box", "capsule", "cylinder")
    for _ in range(4):
        shapes = [random_shape(rng, kinds[i % 4]) for i in range(24)]
        world = world_of(
            [*shapes, mc.Plane((0, 0, 1), -4.0)],
            rng.uniform(-3, 3, (25, 3)) * ([[1]] * 24 + [[0]]),
            [*random_quaternions(rng, 24), FLAT],
        )
        geoms = "".join(
            f'<geom type="{b.shapes[0].type}" size="{" ".join(map(str, b.shapes[0].size))}" '
            f'pos="{" ".join(map(str, b.position))}" quat="{" ".join(map(str, b.orientation))}"/>'
            for b in world.scene.bodies[:-1]
        )
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody>{geoms}<geom type="plane" size="0 0 1" pos="0 0 -4"/></worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        origins, directions = random_rays(rng, 200, 7.0)
        hits = world.ray_casts(origins, directions)
        geom = np.zeros(1, np.int32)
        for k in range(200):
            if origins[k, 2] < -3.9 or world.overlap(mc.Sphere(1e-9), origins[k]):
                continue
            distance = mujoco.mj_ray(model, data, origins[k], directions[k], None, 1, -1, geom)
            assert hits["body"][k] == geom[0]
            if geom[0] >= 0:
                assert hits["distance"][k] == pytest.approx(distance, abs=1e-9)


# ---- slid shapes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLID)
def test_shape_cast_against_overlap(kind):
    """Just before the hit the shape overlaps nothing, just after it what was hit; a miss overlaps nothing all along."""
    rng = np.random.default_rng(20 + KINDS.index(kind))
    world = many_shapes(rng, 30, 4.0)
    count, missed = amount(30, 60), 0
    origins, directions = random_rays(rng, count, 8.0)
    for origin, direction, q in zip(origins, directions, random_quaternions(rng, count)):
        shape = random_shape(rng, kind)
        start = {body.index for body in world.overlap(shape, origin, q)}
        hit = world.shape_cast(shape, origin, q, direction)
        if start:
            assert hit.distance == 0.0 and hit.body.index in start
            continue
        end = 20.0 if hit is None else hit.distance - 1e-6
        for t in np.concatenate([np.linspace(0.0, end, 40), end - np.geomspace(1e-6, 1e-1, 6)]):
            assert not world.overlap(shape, origin + t * direction, q)
        if hit is None:
            missed += 1
            continue
        assert hit.body.index in {b.index for b in world.overlap(shape, origin + (hit.distance + 1e-5) * direction, q)}
        assert np.linalg.norm(hit.normal) == pytest.approx(1.0) and hit.normal @ direction < 0.0
        body = world.scene.bodies[hit.body.index]
        pose = placed(body)
        assert abs(oracle_shape(body.shapes[0]).distance((hit.point - pose[0]) @ rotation(pose[1]))) < 1e-6
        assert world.shape_cast(shape, origin, q, direction, hit.distance - 1e-9) is None
    assert missed < 0.9 * count


def test_shape_cast_closed_forms():
    """Spheres, boxes and a plane."""
    world = world_of([mc.Sphere(1.0)])
    assert world.shape_cast(mc.Sphere(0.5), (5, 0.9, 0), FLAT, (-2, 0, 0)).distance == pytest.approx(5 - 1.2, abs=1e-12)
    assert world.shape_cast(mc.Sphere(0.5), (5, 1.5 + 1e-6, 0), FLAT, (-1, 0, 0)) is None
    assert world.shape_cast(mc.Sphere(0.5), (5, 1.5 - 1e-6, 0), FLAT, (-1, 0, 0)).distance == pytest.approx(5, abs=2e-3)
    assert world.shape_cast(mc.Sphere(0.5), (5, 0, 0), FLAT, (1, 0, 0)) is None
    world = world_of([mc.Box((1, 1, 1)), mc.Plane((0, 0, 1), -3)])
    hit = world.shape_cast(mc.Box((0.5, 0.5, 0.5)), (0.2, 0.1, 6), FLAT, (0, 0, -1))
    assert hit.distance == pytest.approx(4.5, abs=1e-12) and hit.normal == pytest.approx((0, 0, 1))
    assert hit.point[2] == pytest.approx(1)
    compound = [mc.Sphere(0.5, position=(3, 0, 0)), mc.Sphere(0.5, position=(0, 0, 1))]
    hit = world.shape_cast(compound, (0, 0, 6), FLAT, (0, 0, -1))
    assert hit.body.index == 0 and hit.distance == pytest.approx(5.5, abs=1e-12)
    hit = world.shape_cast(mc.Capsule(0.5, 0.5), (5, 0, 1), (math.sqrt(0.5), 0, math.sqrt(0.5), 0), (0, 0, -1))
    assert hit.body.index == 1 and hit.distance == pytest.approx(3.5, abs=1e-12) and hit.point[2] == pytest.approx(-3)
    hit = world.shape_cast(mc.Sphere(0.5), (0, 0, 1.4), FLAT, (1, 0, 0))
    assert hit.distance == 0.0 and hit.normal == pytest.approx((0, 0, 1))


# ---- overlaps and distances ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [SHARP, ROUNDED], ids=["sharp", "rounded"])
def test_overlap_and_distance_against_the_oracle(first):
    """The sign and the size of the separation of random pairs, from the oracle that shares nothing with mcsim."""
    rng = np.random.default_rng(30)
    overlapping = 0
    count = amount(36, 75)
    for k in range(count):
        second = SHARP if first is SHARP else SOLID
        a, b = random_shape(rng, first[k % len(first)]), random_shape(rng, second[rng.integers(len(second))])
        qa, qb = random_quaternions(rng, 2)
        offset = rng.normal(size=3) * rng.uniform(0.3, 0.9)
        world = world_of([a, b], [(0, 0, 0), offset], [qa, qb])
        pair = oracle_shape(a), matrix(qa), oracle_shape(b), matrix(qb), offset
        found = world.distance(0, 1)
        assert separation_along(*pair, found.normal) == pytest.approx(found.distance, abs=1e-9)
        assert best_separation(*pair) <= found.distance + 1e-9
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-9)
        other = world.distance(0, b, offset, qb)
        assert other.distance == pytest.approx(found.distance, abs=1e-9)
        cores_part = (
            found.distance > -a.rounding - b.rounding
        )  # else the depths of cores are nearly equal in many directions
        assert other.normal == pytest.approx(found.normal, abs=1e-5 if first is SHARP or cores_part else 1e-4)
        assert (1 in [body.index for body in world.overlap(a, (0, 0, 0), qa)]) == (found.distance <= 0.0)
        overlapping += found.distance <= 0.0
    assert 0.3 < overlapping / count < 0.8


def test_planes_and_distances():
    """A plane is what is below it, for a body and as a query."""
    world = world_of([mc.Plane((0, 0, 1)), mc.Sphere(0.5), mc.Plane((1, 0, 0), -5)], [(0, 0, 0), (0, 0, 2), (0, 0, 0)])
    near = world.distance(0, 1)
    assert near.distance == 1.5 and near.normal == pytest.approx((0, 0, 1)) and near.point_a == pytest.approx((0, 0, 0))
    back = world.distance(1, 0)
    assert back.distance == 1.5 and back.normal == pytest.approx((0, 0, -1)) and back.point_b == pytest.approx((0, 0, 0))
    assert world.distance(0, 2) is None
    assert [b.index for b in world.overlap(mc.Plane((0, 0, 1), 1.6))] == [0, 1, 2]
    assert [b.index for b in world.overlap(mc.Plane((0, 0, 1), 1.4))] == [0, 2]
    assert [b.index for b in world.overlap(mc.Box((1, 1, 1)), (0, 0, 5))] == []


# ---- what is seen ----------------------------------------------------------------------------------------------------


def test_filters():
    """Groups by mask, bodies by exclude, in every query."""
    scene = mc.Scene()
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Sphere(1.0), position=(4 * (i + 1), 0, 0), collision_group=1 << i)
    world = mc.World(scene)
    line = (0, 0, 0), (1, 0, 0)
    assert [h.body.index for h in world.ray_cast(*line, all=True)] == [0, 1, 2]
    assert [h.body.index for h in world.ray_cast(*line, all=True, mask=0b101)] == [0, 2]
    assert world.ray_cast(*line, mask=0b110).body.name == "b1"
    assert world.ray_cast(*line, mask=0) is None
    for excluded in ("b0", 0, world.body("b0"), scene.bodies[0], ["b0"], ["b0", 2]):
        assert world.ray_cast(*line, exclude=excluded).body.name == "b1"
    assert world.ray_casts(*line, exclude=["b0", "b1"])["body"][0] == 2
    assert world.shape_cast(mc.Sphere(0.1), line[0], FLAT, line[1], exclude="b0").body.name == "b1"
    assert world.shape_cast(mc.Sphere(0.1), line[0], FLAT, line[1], mask=4).body.name == "b2"
    assert [b.name for b in world.overlap(mc.Box((20, 1, 1)), mask=6, exclude="b1")] == ["b2"]


def test_shape_numbers_of_compounds():
    """The number is that of the shape in its body; all=True gives each shape of it."""
    scene = mc.Scene()
    scene.add_body("one", shape=mc.Sphere(0.5), position=(0, 9, 0))
    scene.add_body("two", shape=[mc.Sphere(0.5, position=(3 * i, 0, 0)) for i in range(3)])
    world = mc.World(scene)
    world.body("two").position[:] = (3, 0, 0)
    every = world.ray_cast((20, 0, 0), (-1, 0, 0), all=True)
    assert [(h.body.name, h.shape) for h in every] == [("two", 2), ("two", 1), ("two", 0)]
    assert world.ray_casts((20, 0, 0), (-1, 0, 0))["shape"].tolist() == [2]
    assert [b.name for b in world.overlap(mc.Box((9, 1, 1)))] == ["two"]
    assert world.distance("one", "two").distance == pytest.approx(8.0)


def test_queries_follow_what_is_written():
    """Views, set_pose, steps and restore: each query sees the present poses."""
    world = world_of([mc.Sphere(0.5)] * 40, np.arange(40)[:, None] * [2.0, 0, 0])

    def ahead():
        hit = world.ray_cast((7.0, 0, 100.0), (0, 0, -1))
        return None if hit is None else (hit.body.index, hit.distance)

    assert ahead() is None
    world.positions[5] = (7.0, 0, 50.0)
    assert ahead() == (5, 49.5)
    kept = world.snapshot()
    world.set_pose(5, (7.0, 0, 60.0))
    assert ahead() == (5, 39.5)
    world.restore(kept)
    assert ahead() == (5, 49.5)
    world.set_velocity(5, (0, 0, 60.0))
    world.step()
    assert ahead() == (5, pytest.approx(48.5))
    world.positions[:] = np.random.default_rng(0).uniform(-50, 50, (40, 3))  # all at once: the tree is built anew
    world.positions[5] = (7.0, 0, 80.0)
    assert ahead()[0] == 5
    world.orientations[5] *= 3.0  # the next step makes it a unit one
    assert ahead()[0] == 5
    world.positions[5] = math.nan
    assert ahead() is None
    assert not world.overlap(mc.Sphere(0.1), (7.0, 0, 80.0))


def test_looking_changes_nothing():
    """Bits are the same with and without queries, whatever they see; and what they see does not depend on what was seen."""
    look, blind = (mc.World(mc.load("rain", n=40)) for _ in range(2))
    rng = np.random.default_rng(4)
    for _ in range(40):
        look.step()
        blind.step()
        origins, directions = random_rays(rng, 20, 5.0)
        hits = look.ray_casts(origins, directions)
        look.overlap(mc.Sphere(0.5), origins[0])
        look.shape_cast(mc.Box((0.1, 0.2, 0.3)), origins[1], FLAT, directions[1])
        look.distance(1, 5)
        assert look.state_hash() == blind.state_hash()
    assert blind.ray_casts(origins, directions).tobytes() == hits.tobytes()


def test_empty_worlds():
    """Nothing there, nothing found."""
    for scene in (mc.Scene(), mc.Scene()):
        world = mc.World(scene)
        assert world.ray_cast((0, 0, 0), (0, 0, 1)) is None and world.ray_cast((0, 0, 0), (0, 0, 1), all=True) == []
        assert world.ray_casts((0, 0, 0), [(0, 0, 1)] * 2)["body"].tolist() == [-1, -1]
        assert world.overlap(mc.Sphere(1.0)) == [] and world.shape_cast(mc.Sphere(1.0), (0, 0, 0), FLAT, (1, 0, 0)) is None
        scene.add_body(mass=1.0, inertia=(1, 1, 1))
        scene.add_body(mass=1.0, inertia=(1, 1, 1))
        if len(world.body_names) == 2:
            assert world.distance(0, 1) is None


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 0)), "ray_cast: direction must not be zero"),
        (lambda w: w.ray_cast((0, 0, math.nan), (0, 0, 1)), r"ray_cast: origin\[2\] must be finite"),
        (lambda w: w.ray_cast((0, 0), (0, 0, 1)), "ray_cast: origin must be 3 numbers"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), -1.0), "max_distance must not be negative"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), math.nan), "max_distance must be a number"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), mask=1.5), "mask must be an integer"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), exclude="nobody"), "unknown body 'nobody'"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), exclude=3.5), "exclude must be a body or a list of bodies"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 1), solid="no"), "solid must be True or False"),
        (lambda w: w.ray_casts([(0, 0)], [(0, 0, 1)]), "ray_casts: origins must be"),
        (lambda w: w.ray_casts([(0, 0, 0)] * 2, [(0, 0, 1)] * 3), "directions must be as many as origins, 2; got 3"),
        (lambda w: w.ray_casts([(0, 0, 0)] * 2, [(0, 0, 1), (0, 0, 0)]), "directions must not be zero"),
        (lambda w: w.ray_casts([(0, 0, math.inf)], [(0, 0, 1)]), "origins must be finite"),
        (lambda w: w.ray_casts([(0, 0, 0)] * 2, (0, 0, 1), [1.0, math.nan]), "max_distance must not be negative"),
        (lambda w: w.ray_casts([(0, 0, 0)] * 2, (0, 0, 1), [1.0, 2.0, 3.0]), "one for each of 2 rays"),
        (lambda w: w.overlap("ball"), "overlap: shape must be"),
        (lambda w: w.overlap([]), "overlap: shape must not be an empty list"),
        (lambda w: w.overlap(mc.Sphere(1), (0, 0, 0), (1, 1, 0, 0)), "orientation must be a unit quaternion"),
        (
            lambda w: w.shape_cast(mc.Plane((0, 0, 1)), (0, 0, 0), FLAT, (0, 0, 1)),
            "shape_cast: shape must be one of: Sphere, Box",
        ),
        (lambda w: w.shape_cast(mc.Sphere(1), (0, 0, 0), FLAT, (0, 0, 0)), "shape_cast: direction must not be zero"),
        (lambda w: w.distance(0, "nobody"), "unknown body 'nobody'"),
    ],
)
def test_bad_input(call, message):
    """A SceneError that names the method and the argument."""
    with pytest.raises(mc.SceneError, match=message):
        call(world_of([mc.Sphere(1.0)]))


# ---- meshes and height fields ----------------------------------------------------------------------------------------


def surfaces(rng):
    """A mesh (a wavy sheet of 200 triangles) and the same as a height field, as worlds; and its corners (200, 3, 3)."""
    heights = 0.3 * rng.normal(size=(11, 11))
    x, y = np.meshgrid(np.linspace(-2, 2, 11), np.linspace(-2, 2, 11), indexing="ij")
    vertices = np.stack([x, y, heights], axis=-1).reshape(-1, 3)
    number = np.arange(121).reshape(11, 11)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    worlds = []
    for shape in (mc.Mesh(vertices, faces), mc.HeightField(heights, (0.4, 0.4))):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("ground", shape=shape, kind="static")
        scene.add_body("ball", shape=mc.Sphere(0.2), kind="kinematic", position=(0, 0, 9))
        worlds.append(mc.World(scene))
    return worlds, vertices[faces]


def test_rays_on_surfaces():
    """The nearest triangle by brute force (Moeller and Trumbore), from both sides; a surface has no inside."""
    rng = np.random.default_rng(40)
    worlds, corners = surfaces(rng)
    origins, directions = random_rays(rng, 300, 5.0)
    p, e, f = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    h = np.cross(directions[:, None], f)
    det = np.einsum("tj,rtj->rt", e, h)
    s = origins[:, None] - p
    u = np.einsum("rtj,rtj->rt", s, h) / det
    q = np.cross(s, e[None])
    v = np.einsum("rj,rtj->rt", directions, q) / det
    t = np.einsum("tj,rtj->rt", f, q) / det
    t = np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0), t, np.inf)
    edge = np.min(np.abs(np.stack([u, v, 1 - u - v])), axis=0)
    clear = np.where(np.isfinite(t), edge, 1.0).min(axis=1) > 1e-9
    for world in worlds:
        hits = world.ray_casts(origins, directions, exclude="ball")
        np.testing.assert_allclose(hits["distance"][clear], t.min(axis=1)[clear], rtol=0, atol=1e-9)
        found = np.isfinite(hits["distance"])
        assert 0.2 < found.mean() < 1.0 and np.all(np.einsum("ij,ij->i", hits["normal"], directions)[found] < 0.0)
        n = np.cross(e, f)[t.argmin(axis=1)]
        n /= np.linalg.norm(n, axis=1)[:, None]
        aligned = np.abs(np.einsum("ij,ij->i", n, hits["normal"]))
        assert np.all(aligned[found & clear] > 1 - 1e-9)
        assert len(world.ray_cast(origins[0], directions[0], all=True)) <= 1


def test_shapes_and_surfaces():
    """Slid shapes touch where overlaps begin; both kinds of surface agree; distances are those of the nearest triangle."""
    rng = np.random.default_rng(41)
    worlds, corners = surfaces(rng)
    origins, directions = random_rays(rng, 40, 4.0)
    for k, (origin, direction, q) in enumerate(zip(origins, directions, random_quaternions(rng, 40))):
        shape = random_shape(rng, SOLID[k % len(SOLID)])
        shapes = [world.shape_cast(shape, origin, q, direction, exclude="ball") for world in worlds]
        assert (shapes[0] is None) == (shapes[1] is None)
        for world, hit in zip(worlds, shapes):
            end = 12.0 if hit is None else hit.distance - 1e-6
            if hit is not None and hit.distance == 0.0:
                assert world.overlap(shape, origin, q, exclude="ball")
                continue
            for t in np.linspace(0.0, end, 25):
                assert not world.overlap(shape, origin + t * direction, q, exclude="ball")
            if hit is not None:
                assert world.overlap(shape, origin + (hit.distance + 1e-5) * direction, q, exclude="ball")
                assert hit.distance == pytest.approx(shapes[0].distance, abs=1e-6) and hit.normal @ direction < 0.0
                assert world.shape_cast(shape, origin, q, direction, hit.distance - 1e-9, exclude="ball") is None
    for world in worlds:
        assert [b.name for b in world.overlap(mc.Plane((0, 0, 1), -9.0))] == []
        assert [b.name for b in world.overlap(mc.Plane((0, 0, 1), 0.0))] == ["ground"]
        for centre in rng.uniform(-2, 2, (10, 3)) + (0, 0, 3):
            world.set_pose("ball", centre)
            near = world.distance("ground", "ball")
            points = corners[:, :1] + np.linspace(0, 1, 41)[None, :, None] * (corners[:, 1:2] - corners[:, :1])
            assert near.distance <= np.linalg.norm(points - centre, axis=-1).min() - 0.2 + 1e-12
            assert np.linalg.norm(near.point_b - near.point_a) == pytest.approx(near.distance)
            hit = world.shape_cast(mc.Sphere(0.2), centre, FLAT, -near.normal, exclude="ball")
            assert near.distance == pytest.approx(hit.distance, abs=1e-9)
            back = world.distance("ball", "ground")
            assert back.distance == near.distance and np.array_equal(back.normal, -near.normal)
