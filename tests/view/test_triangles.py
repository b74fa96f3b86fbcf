"""shape.triangles() and world.shape_poses(): what a drawer outside mcsim takes."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrices, matrix

TURN = (0.5, 0.5, -0.5, 0.5)
FLAT = [
    mc.Box((1, 2, 3), position=(1, 2, 3), orientation=TURN),
    mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    mc.ConvexHull(list(itertools.product((0, 1), (0, 2), (0, 3)))),
    mc.ConvexHull([(np.cos(a), np.sin(a), z) for a in np.arange(7) for z in (0, 1)]),
]
ROUND = [
    mc.Sphere(1.5),
    mc.Sphere(1e-3, position=(4, 0, 0)),
    mc.Capsule(0.5, 1),
    mc.Capsule(0.5, 0),
    mc.Capsule(300.0, 2e3, orientation=TURN),
    mc.Cylinder(1, 0.2),
    mc.Cone(1, 0.2),
]
RAMP = mc.HeightField([[0, 1, 0], [2, 3, 0]], 0.5, position=(1, 0, 0))


def volume(vertices, triangles):
    """By the divergence theorem."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6


def directed_edges(triangles):
    """(3 t, 2): each edge from its first corner to its second."""
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


@pytest.mark.parametrize("detail", [3, 4, 7, 24])
@pytest.mark.parametrize("shape", FLAT + ROUND, ids=repr)
def test_solids_are_closed(shape, detail):
    """Each edge is met by two triangles, which go along it in opposite ways, and no triangle is without area."""
    vertices, triangles = shape.triangles(detail)
    assert triangles.dtype == np.int32 and triangles.shape[1] == 3 and vertices.shape[1] == 3
    assert set(triangles.ravel()) == set(range(len(vertices)))
    edges = directed_edges(triangles)
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))
    a, b, c = vertices[triangles].swapaxes(0, 1)
    assert (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-6 * shape.thickness**2 / detail**2).all()


@pytest.mark.parametrize("shape", FLAT, ids=repr)
def test_flat_solids_have_their_volume(shape):
    assert volume(*shape.triangles()) == pytest.approx(shape.volume, rel=1e-12)
    assert len(shape.triangles(3)[1]) == len(shape.triangles(99)[1])


@pytest.mark.parametrize("shape", ROUND, ids=repr)
def test_round_solids_come_to_their_volume(shape):
    """What is missing falls by four where the detail doubles."""
    missing = [shape.volume - volume(*shape.triangles(detail)) for detail in (32, 64, 128)]
    assert missing[0] > 0.0
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.05)
    assert missing[1] / missing[2] == pytest.approx(4.0, rel=0.05)
    assert missing[2] < 2e-3 * shape.volume


def test_a_box_has_eight_corners_and_twelve_triangles():
    vertices, triangles = mc.Box((1, 2, 3)).triangles()
    assert sorted(map(tuple, vertices)) == sorted(itertools.product((-1, 1), (-2, 2), (-3, 3)))
    assert triangles.shape == (12, 3)


def test_surfaces_are_what_they_are_made_of():
    mesh = mc.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], position=(1, 2, 3))
    vertices, triangles = mesh.triangles()
    assert np.array_equal(vertices, mesh.vertices) and np.array_equal(triangles, mesh.faces)
    vertices, triangles = RAMP.triangles()
    assert vertices.shape == (6, 3) and triangles.shape == (4, 3) and triangles.dtype == np.int32
    assert sorted(vertices[:, 2]) == [0, 0, 0, 1, 2, 3]


def test_a_plane_is_a_square_on_it():
    plane = mc.Plane((1, 2, 2), 0.5)
    vertices, triangles = plane.triangles(extent=6.0)
    a, b, c = vertices[triangles].swapaxes(0, 1)
    areas = np.cross(b - a, c - a) / 2
    assert areas.sum(axis=0) == pytest.approx((0, 0, 36.0))
    placed = vertices @ matrix(plane.orientation).T + plane.position
    assert placed @ plane.normal == pytest.approx(np.full(4, 0.5))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"detail": 2}, "detail must be from 3 to 1024, got 2"),
        ({"detail": 8.0}, "detail must be a whole number"),
        ({"extent": 0}, "extent must be positive"),
        ({"extent": np.nan}, "extent must be finite"),
    ],
)
def test_what_is_wrong_is_named(arguments, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.Sphere(1).triangles(**arguments)


def scene():
    scene = mc.Scene()
    scene.add_body("floor", shape=[mc.Plane((0, 0.6, 0.8), -1.0, position=(0, 0, 1)), RAMP], kind="static")
    scene.add_body(
        "club",
        shape=[mc.Box((0.1, 0.1, 0.5)), mc.Sphere(0.2, position=(0, 0.1, 0.6), orientation=TURN)],
        position=(1, 2, 3),
        orientation=(0.6, 0.8, 0, 0),
        angular_velocity=(1, 2, 3),
    )
    scene.add_body("ghost", mass=1, inertia=(1, 1, 1), position=(0, 5, 9))
    scene.add_body("ball", shape=mc.Sphere(0.3), position=(-2, 0, 4))
    return scene


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_shapes_are_where_their_bodies_have_them(make):
    """Against each shape's own place in the frame of its body, as frames() gives it; also after bodies came and went."""
    world = make(scene())

    def check():
        positions, orientations = world.shape_poses()
        frames, turns = world.frames()
        bodies = world.scene.bodies
        owners = [(i, shape) for i, body in enumerate(bodies) for shape in body.shapes]
        assert world.shape_bodies.tolist() == [i for i, _ in owners]
        assert positions.shape == (len(owners), 3) and orientations.shape == (len(owners), 4)
        for k, (i, shape) in enumerate(owners):
            outer = matrix(turns[i])
            assert positions[k] == pytest.approx(frames[i] + outer @ shape.position, abs=1e-12)
            assert matrix(orientations[k]) == pytest.approx(outer @ matrix(shape.orientation), abs=1e-12)

    check()
    world.step(20)
    check()
    world.remove_body("ball")
    world.add_body("post", shape=[mc.Cylinder(0.1, 1, position=(0, 0, 1)), mc.Sphere(0.2)], position=(9, 0, 3))
    world.set_shape("ghost", mc.Box((0.1, 0.2, 0.3), position=(0.5, 0, 0)))
    check()
    world.step(20)
    check()


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_boxes_of_the_broad_phase_hold_the_shapes(make):
    """Those of the last step hold each shape as it was before the step; there are none between a restored state and the
    next step."""
    world = make(scene())
    shapes = [shape for body in world.scene.bodies for shape in body.shapes]
    finite = np.array([shape.type != "plane" for shape in shapes])
    start = world.snapshot()
    assert world.shape_boxes().shape == (len(shapes), 2, 3)
    for _ in range(90):
        positions, orientations = world.shape_poses()
        world.step()
        found = world.shape_boxes()
        assert np.array_equal(np.isfinite(found).all(axis=(1, 2)), finite)
        for box, shape, position, turn in zip(found, shapes, positions, matrices(orientations)):
            if shape.type != "plane":
                corners = shape.triangles()[0] @ turn.T + position
                assert (box[0] <= corners).all() and (corners <= box[1]).all()
    world.restore(start)
    assert np.isnan(world.shape_boxes()).all()
    assert np.isnan(make(mc.load("stack", count=1), contact="event").shape_boxes()).all()


def test_poses_are_a_copy_and_change_nothing():
    world = mc.World(scene())
    before = world.state_hash()
    positions, orientations = world.shape_poses()
    positions[:], orientations[:], world.shape_bodies[:] = 7.0, 7.0, 0
    assert world.state_hash() == before
    other = mc.World(scene())
    for _ in range(3):
        world.step(10)
        other.step(10)
        world.shape_boxes()[:] = 7.0
    assert world.state_hash() == other.state_hash()


def test_all_points_of_a_world_in_one_go():
    """The lowest point of a resting world is on its floor, to what contacts give."""
    ready = mc.Scene()
    ready.add_body(shape=mc.Plane((0, 0, 1)), kind="static")
    ready.add_body(shape=mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), position=(0, 0, 0.3))
    ready.add_body(shape=[mc.Box((0.1, 0.2, 0.3), position=(0, 0, 0.1))], position=(3, 0, 0.4))
    world = mc.World(ready)
    world.step(600)
    positions, orientations = world.shape_poses()
    shapes = [shape for body in world.scene.bodies for shape in body.shapes]
    for shape, position, turn in list(zip(shapes, positions, matrices(orientations)))[1:]:
        assert (shape.triangles()[0] @ turn.T + position)[:, 2].min() == pytest.approx(0.0, abs=2e-3)
