"""What holds for every type of shape that has an inside, whatever it is: found in the registry."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix
from mcsim.scene.mass import polyhedron
from plain_shapes import KINDS, plain_solid

every_solid = pytest.mark.parametrize("kind", KINDS)
every_world = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
LEANING = np.array([0.9, -0.3, 0.2, 0.25]) / np.linalg.norm([0.9, -0.3, 0.2, 0.25])
FINE = 256  # faces around a round shape
WIDTHS = 104  # where each is held against each corner


def triangles(shape, detail):
    """(t, 3, 3) the faces of its picture, in its own frame, without those that have no area."""
    facets = shape.facets(detail, 1e9)
    corners = np.concatenate([facets.vertices[facets.faces[:, k]] for k in ((0, 1, 2), (0, 2, 3))])
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return corners[area > 1e-12 * shape.reach**2]


def half_spaces(shape, detail):
    """Normals (t, 3) and offsets (t,) of its faces: of a round shape planes that cut it by 1 / detail² or so. Of a rounded
    polyhedron planes that touch it: triangles at its corners may be slender, and tilted."""
    corners = triangles(shape, detail)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    if shape.rounding > 0.0 and shape.type in ("box", "hull"):
        own = shape.vertices if shape.type == "hull" else shape.half_extents * list(itertools.product((-1, 1), repeat=3))
        return normals, (normals @ own.T).max(axis=1) + shape.rounding
    return normals, np.einsum("ti,ti->t", normals, corners[:, 0])


def directions(count, seed=0):
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def still(shape, **more):
    scene = mc.Scene()
    scene.add_body("it", shape=shape, kind="static", **more)
    return mc.World(scene)


@every_solid
def test_a_file_holds_it(kind):
    """Written and read it is equal, as are copies; what it is made of, placed and dense, is written out."""
    shape = plain_solid(
        kind,
        position=(0.5, 0.25, -1.0),
        orientation=(0.5, 0.5, -0.5, 0.5),
        density=20.0,
        material=mc.Material(friction=0.25),
    )
    scene = mc.Scene()
    scene.add_body("a", shape=[shape, plain_solid(kind, sensor=True)])
    again = mc.Scene.from_dict(scene.to_dict())
    assert again.to_dict() == scene.to_dict()
    assert again.bodies[0].shapes == scene.bodies[0].shapes and again.bodies[0].mass == scene.bodies[0].mass
    assert shape == copy.deepcopy(shape) == pickle.loads(pickle.dumps(shape))
    assert shape != plain_solid(kind) and hash(shape) == hash(copy.copy(shape))


@every_solid
def test_no_argument_may_be_missing_or_unknown(kind):
    scene = mc.Scene()
    scene.add_body("a", shape=plain_solid(kind))
    data = scene.to_dict()
    mc.Scene.from_dict(data)
    for field in set(data["bodies"][0]["shapes"][0]) - {"type", "rounding"}:  # which has a default
        less = copy.deepcopy(data)
        del less["bodies"][0]["shapes"][0][field]
        with pytest.raises(mc.SceneError, match=field):
            mc.Scene.from_dict(less)
    data["bodies"][0]["shapes"][0]["weight"] = 1.0
    with pytest.raises(mc.SceneError, match="weight"):
        mc.Scene.from_dict(data)


@every_solid
def test_mass_is_that_of_its_triangles(kind):
    """By the divergence theorem over finer and finer faces, whose error falls by 4 as they halve."""
    shape = plain_solid(kind)
    coarse, fine = (polyhedron(triangles(shape, detail), 1.0) for detail in (FINE, 2 * FINE))
    own, scale = shape.mass_properties(1.0), shape.volume * shape.reach**2
    assert (4 * fine.mass - coarse.mass) / 3 == pytest.approx(own.mass, rel=1e-7)
    assert (4 * fine.center - coarse.center) / 3 == pytest.approx(own.center, abs=1e-7 * shape.reach)
    assert (4 * fine.inertia - coarse.inertia) / 3 == pytest.approx(own.inertia, abs=1e-6 * scale)
    assert shape.volume == own.mass


@every_solid
def test_it_reaches_as_far_as_its_corners(kind):
    """reach of the description, and thickness: the least width across a face. Of what is rounded corners of the picture are
    near the farthest points, as near as its faces are to the surface."""
    shape = plain_solid(kind)
    corners = shape.facets(WIDTHS, 1e9).vertices
    miss = 0.01 * shape.rounding + 1e-12 * shape.reach
    assert shape.reach - miss <= np.linalg.norm(corners, axis=1).max() <= shape.reach * (1 + 1e-12)
    faces = half_spaces(plain_solid(kind.removeprefix("rounded ")), WIDTHS)[0]
    widths = np.ptp(corners @ faces.T, axis=0)
    assert widths.min() == pytest.approx(shape.thickness, rel=1e-3)


@every_solid
def test_it_is_as_far_from_a_plane_as_its_lowest_corner(kind):
    """The kernels' support against the largest of all corners; the corners of round shapes lie on them."""
    shape = plain_solid(kind)
    corners = shape.facets(FINE, 1e9).vertices @ matrix(LEANING).T + [0.5, -0.25, 1.0]
    world = still(shape, position=(0.5, -0.25, 1.0), orientation=LEANING)
    for n in (*directions(60), *np.eye(3), *-np.eye(3)):
        lowest = (corners @ n).min()
        found = world.distance(world.body("it"), mc.Plane(n, -3.0)).distance
        assert lowest + 3.0 - 2e-4 * shape.reach <= found <= lowest + 3.0 + 1e-12


@every_solid
def test_rays_meet_its_faces(kind):
    """Hits lie on the faces, to what these miss of a round shape, and the normal is that of a face; where a ray passes by,
    it passes by the faces, which lie inside."""
    shape = plain_solid(kind)
    normals, offsets = half_spaces(shape, FINE)
    world, miss = still(shape), 2e-4 * shape.reach
    targets = np.random.default_rng(1).uniform(-1.1, 1.1, (600, 3)) * shape.reach
    starts = 3.0 * shape.reach * directions(600, 2)
    ways = targets - starts
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    hits = world.ray_casts(starts, ways)
    met = hits["body"] >= 0
    assert 100 < met.sum() < 550
    heights = hits["point"][met] @ normals.T - offsets
    assert np.abs(heights.max(axis=1)).max() <= miss
    near = np.where(heights >= heights.max(axis=1)[:, None] - 2 * miss, hits["normal"][met] @ normals.T, -1.0)
    assert near.max(axis=1).min() > math.cos(0.1)
    assert np.einsum("ri,ri->r", hits["normal"][met], ways[met]).max() <= 0.0
    assert hits["point"][met] == pytest.approx(starts[met] + hits["distance"][met][:, None] * ways[met], abs=1e-12)
    for start, way in zip(starts[~met], ways[~met]):  # the line cut by the half spaces of all faces
        rate, height = normals @ way, normals @ start - offsets
        with np.errstate(divide="ignore", invalid="ignore"):
            at = -height / rate
        first, last = at[rate < 0].max(initial=-np.inf), at[rate > 0].min(initial=np.inf)
        assert first > last or (height[rate == 0] > 0).any()


@every_solid
def test_a_ray_comes_out_where_it_came_in(kind):
    """Both ways along a line through the inside, on the axes and aslant, however far it starts."""
    shape, centre = plain_solid(kind), plain_solid(kind).mass_properties(1.0).center
    world = still(shape)
    for d in (*directions(40, 3), *np.eye(3)):
        way = world.ray_cast(centre, d, solid=False).distance, world.ray_cast(centre, -d, solid=False).distance
        for far in (2.0, 1e3):
            hit = world.ray_cast(centre - far * d, d)
            assert hit.distance == pytest.approx(far - way[1], abs=1e-12 * far)
            assert world.ray_cast(centre + far * d, -d).distance == pytest.approx(far - way[0], abs=1e-12 * far)
        assert world.ray_cast(centre, d).distance == 0.0


@every_solid
def test_balls_are_as_far_as_from_its_faces(kind):
    """distance, overlap and cast of a small ball: its nearest point is on the faces, and none of them is nearer."""
    shape, radius = plain_solid(kind), 0.0625
    world, corners = still(shape), triangles(shape, FINE)
    normals, offsets = half_spaces(shape, FINE)
    for d in directions(30, 4):
        centre = 1.75 * shape.reach * d
        found = world.distance(world.body("it"), mc.Sphere(radius), position=centre)
        n = found.normal
        assert np.linalg.norm(found.point_b - found.point_a) == pytest.approx(found.distance, abs=1e-9)
        # No point of the shape is nearer: the plane through point_a with the normal has it all on one side.
        assert (corners.reshape(-1, 3) @ n).max() <= found.point_a @ n + 1e-9
        assert abs((normals @ found.point_a - offsets).max()) < 2e-4 * shape.reach
        hit = world.shape_cast(mc.Sphere(radius), centre, (1, 0, 0, 0), -n)
        assert hit.distance == pytest.approx(found.distance, abs=1e-7)
        assert world.overlap(mc.Sphere(radius), position=centre - (found.distance + 1e-3) * n)
        assert not world.overlap(mc.Sphere(radius), position=centre - (found.distance - 1e-3) * n)


@every_solid
@pytest.mark.parametrize("other", KINDS)
def test_two_of_them_part_by_their_distance(kind, other):
    """Moved along the normal by the depth they touch, by more they are apart, by less they overlap."""
    world = still(plain_solid(kind), orientation=LEANING)
    probe, rng = plain_solid(other), np.random.default_rng(5)
    for d in directions(12, 6):
        at, turn = 0.6 * rng.uniform() * d, rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        found = world.distance(world.body("it"), probe, position=at, orientation=turn)
        for more in (1e-4, -1e-4):
            there = at + (more - found.distance) * found.normal
            assert bool(world.overlap(probe, position=there, orientation=turn)) == (more < 0.0)


@every_solid
def test_what_is_in_it_is_sensed(kind):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("it", shape=plain_solid(kind, sensor=True), kind="static")
    centre = plain_solid(kind).mass_properties(1.0).center
    scene.add_body("in", shape=mc.Sphere(0.01), position=centre)
    scene.add_body("out", shape=mc.Sphere(0.01), position=centre + [2.0, 0, 0])
    world = mc.World(scene)
    world.step()
    assert [body.name for body in world.overlaps("it")] == ["in"]


@every_solid
def test_its_picture_is_closed_and_looks_outwards(kind):
    shape = plain_solid(kind)
    for detail in (8, 20):
        corners = triangles(shape, detail)
        assert np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() > 0.0
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert np.abs(areas.sum(axis=0)).max() < 1e-12  # of a closed surface
        middle = corners.mean(axis=(0, 1))
        assert (np.einsum("ti,ti->t", corners.mean(axis=1) - middle, areas) > 0.0).all()


def dropped(kind, make, size=1.0, weight=1.0, turn=LEANING, **keywords):
    """Three of a kind on each other, over a plane."""
    scene = mc.Scene(gravity=(0, 0, -9.0 * size))
    surface = mc.Material(friction=0.5, rolling_friction=0.02 * size, torsional_friction=0.002 * size)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=surface)
    shape = plain_solid(kind, size)
    for i in range(3):
        scene.add_body(
            shape=shape,
            density=1000.0 * weight / size**3,
            orientation=turn,
            material=surface,
            position=size * np.array([0.0625 * i, 0.03125 * i, 0.75 + 1.25 * i]),
        )
    return make(scene, dt=1 / 120, **keywords)


@every_world
@every_solid
def test_it_falls_and_comes_to_rest(kind, make):
    """Nothing gains energy, sinks in or goes on for ever."""
    world = dropped(kind, make)
    energy = world.energy().total
    for _ in range(20):
        world.step(60)
        assert world.energy().total <= energy * (1 + 1e-3)
        energy = world.energy().total
    assert all(world.body(i).asleep for i in range(1, 4))
    below = [world.distance(world.body(i), world.body("floor")).distance for i in range(1, 4)]
    assert min(below) > -2e-3


@every_world
@every_solid
def test_units_do_not_count(kind, make):
    """Lengths times 4 and masses times 8, exact in binary numbers: the same turns to the bit, lengths times 4."""
    worlds = [dropped(kind, make, size, weight) for size, weight in ((1.0, 1.0), (4.0, 8.0))]
    for world in worlds:
        world.step(120)
    assert np.array_equal(4.0 * worlds[0].positions, worlds[1].positions)
    assert np.array_equal(worlds[0].orientations, worlds[1].orientations)
    assert len(worlds[0].contacts) > 0


@every_solid
def test_a_snapshot_goes_the_same_way(kind):
    world, other = dropped(kind, mc.World), dropped(kind, mc.World)
    world.step(60)
    other.restore(world.snapshot())
    world.step(60)
    other.step(60)
    assert world.state_hash() == other.state_hash()


@every_solid
def test_on_every_ground_it_lies_alike(kind):
    """A plane, a box, a mesh and a height field of one height hold it at one height."""
    heights, plain = [], np.zeros((5, 5))
    square = [(-4, -4, 0), (4, -4, 0), (4, 4, 0), (-4, 4, 0)]
    for ground in (
        mc.Plane((0, 0, 1)),
        mc.Box((4, 4, 1), position=(0, 0, -1)),
        mc.Mesh(square, [(0, 1, 2), (0, 2, 3)]),
        mc.HeightField(plain, 2.0),
    ):
        scene = mc.Scene()
        scene.add_body("ground", shape=ground, kind="static")
        shape = plain_solid(kind)
        low = shape.facets(FINE, 1e9).vertices[:, 2].min()
        scene.add_body("it", shape=shape, position=(0.3, 0.2, 0.02 - low))
        world = mc.World(scene, dt=1 / 120)
        world.step(240)
        heights.append(world.distance(world.body("it"), mc.Plane((0, 0, 1))).distance)
        assert world.body("it").asleep
    assert np.abs(heights).max() < 1e-4


@every_solid
def test_the_events_of_contact_know_it_or_say_so(kind):
    """contact="event" takes it on a plane, or refuses it by its name."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("it", shape=plain_solid(kind), position=(0, 0, 2.0))
    try:
        mc.World(scene, contact="event").step(2)
    except mc.SceneError as error:
        assert f"the {kind} of body 'it'" in str(error) and "contact='rigid'" in str(error)
