"""Meshes and height fields against solids: distances by brute force, planes and boxes made of triangles, rays."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Qhull, Delaunay

import mcsim as mc
from amounts import amount
from mcsim.collide import Collider, Surfaces
from mcsim.core.rotation import matrix
from mcsim.state.arrays import BodyArrays, ShapeArrays, excluded_pairs
from mcsim.state.surfaces import surface_arrays

MISS = 4e-7  # by which a manifold of round shapes may miss the deepest point (_contact.pxd)
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SOLIDS = {
    "sphere": mc.Sphere(0.3),
    "box": mc.Box((0.3, 0.2, 0.25)),
    "capsule": mc.Capsule(0.2, 0.3),
    "cylinder": mc.Cylinder(0.3, 0.25),
    "cone": mc.Cone(0.3, 0.25),
    "ellipsoid": mc.Ellipsoid((0.3, 0.2, 0.25)),
    "tapered_capsule": mc.TaperedCapsule(0.25, 0.15, 0.2),
    "hull": mc.ConvexHull(np.random.default_rng(1).normal(size=(14, 3)) * 0.2),
    "rounded box": mc.Box((0.25, 0.15, 0.2), rounding=0.05),
    "rounded cylinder": mc.Cylinder(0.25, 0.2, rounding=0.05),
    "rounded cone": mc.Cone(0.25, 0.2, rounding=0.05),
    "rounded hull": mc.ConvexHull(np.random.default_rng(1).normal(size=(14, 3)) * 0.15, rounding=0.05),
}


def touch(ground, solid, position=(0, 0, 0), orientation=(1, 0, 0, 0), distance=0.02, solid_first=False, place=None):
    """The manifolds of one solid on one ground; normals from the ground to the solid."""
    scene = mc.Scene()
    ground_at = {} if place is None else {"position": place[0], "orientation": place[1]}
    parts = [
        ("ground", ground, "static", ground_at),
        ("solid", solid, "dynamic", {"position": position, "orientation": orientation}),
    ]
    for name, shape, kind, where in parts[::-1] if solid_first else parts:
        scene.add_body(name, shape=shape, kind=kind, **where)
    bodies, shapes = BodyArrays.from_scene(scene), ShapeArrays(scene)
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    collider = Collider(
        shapes.shapes,
        shapes.hulls,
        shapes.vertices,
        shapes.face_normals,
        shapes.face_offsets,
        shapes.face_begin,
        shapes.face_index,
        shapes.edges,
        excluded_pairs(scene, index),
        Surfaces(shapes.surfaces),
    )
    found = collider.collide_once(bodies.position, bodies.orientation, bodies.kind, distance)
    if solid_first:
        found["normal"] *= -1.0
    return found


def points_of(found):
    """(k, 3) positions, (k,) separations of all points."""
    mask = np.arange(4) < found["point_count"][:, None]
    return found["points"]["position"][mask], found["points"]["separation"][mask]


def nearest_on_triangles(p, corners):
    """The nearest point to p of each triangle (t, 3, 3), by the face if p is over it, else by the edges."""
    a, b, c = corners.swapaxes(0, 1)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    foot = p - np.sum(normal * (p - a), axis=1, keepdims=True) * normal
    over = np.ones(len(corners), bool)
    best, least = foot.copy(), np.full(len(corners), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        over &= np.sum(np.cross(v - u, foot - u) * normal, axis=1) >= 0
        t = np.clip(np.sum((p - u) * (v - u), axis=1) / np.sum((v - u) ** 2, axis=1), 0, 1)
        q = u + t[:, None] * (v - u)
        d = np.linalg.norm(p - q, axis=1)
        best[d < least], least = q[d < least], np.minimum(d, least)
    best[over] = foot[over]
    return best


def irregular_plane(seed=0, count=400, size=5.0):
    """A flat mesh of triangles of all sorts, wound at random."""
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.uniform(-size, size, (count, 2)), size * np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])])
    faces = Delaunay(p).simplices.astype(int)
    turned = rng.random(len(faces)) < 0.5
    faces[turned] = faces[turned][:, ::-1]
    return np.column_stack([p, np.zeros(len(p))]), faces


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


# ---- trees and neighbours --------------------------------------------------------------------------------------------


def test_the_tree_and_the_grid_find_every_triangle_in_a_box():
    rng = np.random.default_rng(3)
    field = mc.HeightField(rng.normal(size=(23, 17)), (0.5, 0.3))
    vertices, faces = field.triangles()
    surfaces = Surfaces([surface_arrays(mc.Mesh(vertices, faces)), surface_arrays(field)])
    arrays = surface_arrays(mc.Mesh(vertices, faces))
    for _ in range(200):
        middle, half = rng.uniform(-1, 1, 3) * (6, 3, 2), rng.uniform(0.01, 1.5, 3)
        lower, upper = middle - half, middle + half
        mesh, grid = surfaces.triangles_in(0, lower, upper), surfaces.triangles_in(1, lower, upper)
        for found, corners in ((mesh, arrays.vertices[arrays.corners]), (grid, vertices[faces])):
            assert len(set(found.tolist())) == len(found)
            meets = ((corners.min(axis=1) <= upper) & (corners.max(axis=1) >= lower)).all(axis=1)
            assert set(np.flatnonzero(meets)) <= set(found.tolist())


def test_rays():
    """Against all triangles one by one; those through corners and along edges slip through nowhere."""
    rng = np.random.default_rng(4)
    field = mc.HeightField(rng.uniform(0, 1, (14, 11)), (0.5, 0.4))
    vertices, faces = field.triangles()
    surfaces = Surfaces([surface_arrays(mc.Mesh(vertices, faces)), surface_arrays(field)])
    corners = vertices[faces]
    a, b, c = corners.swapaxes(0, 1)
    through_corners = 0
    for trial in range(400):
        origin = rng.uniform(-1, 1, 3) * (4, 3, 2) + (0, 0, 1)
        corner = rng.integers(len(vertices))
        target = vertices[corner] if trial % 2 else rng.uniform(-1, 1, 3) * (3, 2, 1)
        if trial % 8 == 0:
            origin[:2] = target[:2]
        direction = target - origin
        u, v, w = (np.cross(p - origin, q - origin) @ direction for p, q in ((a, b), (b, c), (c, a)))
        normal = np.cross(b - a, c - a)
        with np.errstate(all="ignore"):
            t = np.sum(normal * (a - origin), axis=1) / (normal @ direction)
        margin = 1e-12
        met = (
            ((np.minimum(np.minimum(u, v), w) > -margin) | (np.maximum(np.maximum(u, v), w) < margin)) & (t >= 0) & (t <= 2)
        )
        for i in range(2):
            hit = surfaces.first_on_ray(i, origin, direction, 2.0)
            if not met.any():
                assert hit is None
                continue
            # A ray that just touches a border, or a corner behind which the surface turns away, may go either way.
            around = (normal @ direction)[(faces == corner).any(axis=1)]
            if trial % 2 and ((np.abs(target[:2]) > (3.2, 1.9)).any() or (around > 0).any() and (around < 0).any()):
                continue
            assert hit[0] == pytest.approx(t[met].min(), abs=1e-9)
            assert hit[1] @ direction <= 0 and np.linalg.norm(hit[1]) == pytest.approx(1.0)
            through_corners += trial % 2
    assert through_corners > 50


def test_neighbours_are_those_who_share_an_edge():
    field = mc.HeightField(np.random.default_rng(0).normal(size=(9, 7)), 1.0)
    vertices, faces = field.triangles()
    faces = faces.copy()
    faces[::3] = faces[::3, ::-1]
    soup = vertices[faces].reshape(-1, 3)  # every triangle with corners of its own
    arrays = surface_arrays(mc.Mesh(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert len(arrays.vertices) == len(vertices)
    assert set(arrays.sheet) == {0}
    corners = arrays.vertices[arrays.corners]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert (up > 0).all() or (up < 0).all()  # wound alike
    edges = {}
    for t, row in enumerate(arrays.corners):
        for k in range(3):
            edges.setdefault(frozenset((row[k], row[(k + 1) % 3])), []).append((t, row[(k + 2) % 3]))
    for t, row in enumerate(arrays.corners):
        for k in range(3):
            others = [v for u, v in edges[frozenset((row[k], row[(k + 1) % 3]))] if u != t]
            assert arrays.opposite[t, k] == (others[0] if others else -1)
    for v in range(len(vertices)):
        beside = {w for edge in edges if v in edge for w in edge} - {v}
        assert beside == set(arrays.ring[arrays.ring_begin[v] : arrays.ring_begin[v + 1]])


def test_crowded_edges_and_doubled_faces():
    vertices = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)]
    arrays = surface_arrays(mc.Mesh(vertices, [(0, 1, 2), (0, 1, 3), (0, 1, 4), (2, 1, 0), (1, 1, 2)]))
    assert len(arrays.corners) == 3  # the doubled and the degenerate one are gone
    assert np.sum(arrays.opposite == -2) == 3
    assert len(set(arrays.sheet)) == 3


def test_a_moebius_strip_is_taken_as_it_is():
    n = 12
    edge = [
        ((2 + s * np.cos(a / 2)) * np.cos(a), (2 + s * np.cos(a / 2)) * np.sin(a), s * np.sin(a / 2))
        for a in np.arange(n) * 2 * np.pi / n
        for s in (-0.5, 0.5)
    ]
    faces = []
    for i in range(n):
        a, b = 2 * i, 2 * i + 1
        c, d = (2 * i + 2, 2 * i + 3) if i + 1 < n else (1, 0)
        faces += [(a, c, b), (b, c, d)]
    arrays = surface_arrays(mc.Mesh(edge, faces))
    assert len(arrays.corners) == 2 * n and set(arrays.sheet) == {0}
    assert (np.sum(arrays.opposite == -1, axis=1) == 1).all()


# ---- distances -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_balls_and_random_triangles(seed):
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(40, 3, 3)) + rng.normal(size=(40, 1, 3)) * 2
    mesh = mc.Mesh(corners.reshape(-1, 3), np.arange(120).reshape(-1, 3))
    place = (rng.normal(size=3), random_quaternion(rng))
    world = corners @ matrix(place[1]).T + place[0]
    count, tested = amount(30, 60), 0
    for _ in range(count):
        p = rng.normal(size=3) * 3
        nearest = nearest_on_triangles(p, world)
        distances = np.linalg.norm(nearest - p, axis=1)
        k = distances.argmin()
        radius = distances[k] + rng.uniform(-0.3, 0.3)
        if radius < 0.05:
            continue
        found = touch(mesh, mc.Sphere(radius), p, distance=0.4, place=place)
        _, separations = points_of(found)
        if len(separations) < 16 * 4:
            assert separations.min() == pytest.approx(distances[k] - radius, abs=1e-9)
        i = np.argmin(found["points"]["separation"][:, 0])
        assert np.allclose(found["normal"][i], (p - nearest[k]) / distances[k], atol=1e-6)
        tested += 1
    assert tested > count / 2


@pytest.mark.parametrize("wound", [1, -1])
def test_balls_over_hills(wound):
    """On a bumpy ground, mesh or height field: the nearest point counts, and all that a ball touches is the ground."""
    rng = np.random.default_rng(5)
    field = mc.HeightField(rng.uniform(0, 0.6, (20, 20)), 0.4)
    vertices, faces = field.triangles()
    for ground in (mc.Mesh(vertices, faces[:, ::wound]), field):
        for _ in range(amount(30, 80)):
            p = np.array([*rng.uniform(-3, 3, 2), 0.0])
            radius = rng.uniform(0.05, 0.5)
            p[2] = 0.3 + radius + rng.uniform(0.1, 0.4)
            nearest = nearest_on_triangles(p, vertices[faces])
            d = np.linalg.norm(nearest - p, axis=1)
            found = touch(ground, mc.Sphere(radius), p, distance=0.5)
            if d.min() - radius > 0.5:
                assert len(found) == 0
                continue
            _positions, separations = points_of(found)
            assert separations.min() == pytest.approx(d.min() - radius, abs=1e-9)
            assert (found["normal"][:, 2] > 0).all()


@pytest.mark.parametrize("kind", ["box", "capsule", "cylinder", "hull", "sphere", "rounded box", "rounded cylinder"])
@pytest.mark.parametrize("solid_first", [False, True])
@pytest.mark.sampled(3)
def test_a_convex_mesh_is_like_the_hull(kind, solid_first):
    """Apart: the distance and the direction of the hull. Hardly overlapping: its depth."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(30, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull, mesh = mc.ConvexHull(points), mc.Mesh(points, Qhull(points).simplices)
    compared = 0
    count = amount(30, 60)
    for _ in range(count):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        q = random_quaternion(rng)
        position = direction * rng.uniform(1.1, 1.6)
        theirs = touch(hull, SOLIDS[kind], position, q, distance=0.3, solid_first=solid_first)
        ours = touch(mesh, SOLIDS[kind], position, q, distance=0.3, solid_first=solid_first)
        if len(theirs) == 0:
            assert len(ours) == 0
            continue
        expected = points_of(theirs)[1].min()
        if expected < -0.02:
            continue
        separations = points_of(ours)[1]
        assert separations.min() == pytest.approx(expected, abs=MISS if expected > 0 else 0.2 * abs(expected) + MISS)
        i = np.argmin(
            np.where(np.arange(4) < ours["point_count"][:, None], ours["points"]["separation"], np.inf).min(axis=1)
        )
        if expected > 1e-3:
            assert ours["normal"][i] @ theirs["normal"][0] == pytest.approx(1.0, abs=1e-6)
        compared += 1
    assert compared > count / 4


# ---- planes made of triangles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("ground", ["mesh", "field"])
def test_a_flat_ground_has_the_contacts_of_a_plane(kind, ground):
    rng = np.random.default_rng(11)
    surface = mc.Mesh(*irregular_plane()) if ground == "mesh" else mc.HeightField(np.zeros((30, 30)), 0.3)
    for trial in range(amount(20, 40)):
        q = (1, 0, 0, 0) if trial % 3 == 0 else random_quaternion(rng)
        position = np.array([*rng.uniform(-2, 2, 2), rng.uniform(0.15, 0.6)])
        plane, flat = (touch(g, SOLIDS[kind], position, q, distance=0.05) for g in (mc.Plane((0, 0, 1)), surface))
        assert len(flat) == len(plane)
        if len(plane) == 0:
            continue
        assert np.allclose(flat["normal"], (0, 0, 1), atol=1e-12)
        (p, s), (u, t) = points_of(plane), points_of(flat)
        assert t.min() == pytest.approx(s.min(), abs=1e-12)
        if kind == "box":  # its low corners, and perhaps points between
            assert np.linalg.norm(p[:, None] - u[None], axis=2).min(axis=1).max() < 1e-9


def test_one_manifold_for_a_box_on_many_triangles():
    surface = mc.Mesh(*mc.HeightField(np.zeros((200, 200)), 0.02).triangles())
    found = touch(surface, mc.Box((0.5, 0.4, 0.1)), (0.003, 0.011, 0.0999))
    assert len(found) == 1 and found["point_count"][0] == 4
    corners = points_of(found)[0][:, :2] - (0.003, 0.011)
    assert np.allclose(np.abs(corners), (0.5, 0.4))


def test_a_box_in_a_corner_has_three_manifolds():
    corner = np.array([(0, 0, 0), (5, 0, 0), (5, 5, 0), (0, 5, 0), (0, 0, 5), (5, 0, 5), (0, 5, 5)], float)
    faces = [(0, 1, 2), (2, 0, 3), (0, 1, 5), (0, 5, 4), (0, 4, 6), (0, 6, 3)]
    found = touch(mc.Mesh(corner, faces), mc.Box((0.3, 0.2, 0.4)), (0.299, 0.199, 0.399))
    assert sorted(map(tuple, found["normal"].round(9).tolist())) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert (found["point_count"] == 4).all()
    assert np.allclose(points_of(found)[1], -0.001, atol=1e-12)
    assert found["part"].tolist() == [0, 1, 2]


def test_no_side_contacts_at_the_edge_of_a_block():
    """A box hangs over a cube's edge and has sunk in a little: nothing but the upper face holds it."""
    mesh = mc.Mesh(CUBE, Qhull(CUBE).simplices)
    for x in (0.2, 0.45, 0.55, 0.75):
        found = touch(mesh, mc.Box((0.3, 0.3, 0.1)), (x, 0.05, 0.599))
        assert np.allclose(found["normal"], (0, 0, 1), atol=1e-9), x
        assert points_of(found)[1].min() == pytest.approx(-0.001, abs=1e-9)


@pytest.mark.parametrize("kind", SOLIDS)
def test_deep_bodies_are_pushed_up_out_of_a_height_field(kind):
    field = mc.HeightField(0.1 * np.random.default_rng(2).normal(size=(30, 30)), 0.5)
    for depth in (0.1, 0.4, 0.55):
        found = touch(field, SOLIDS[kind], (0.1, 0.2, -depth))
        assert len(found) and (found["normal"][:, 2] > 0.5).all()
        assert points_of(found)[1].min() < -0.05


def test_a_large_mesh_and_the_height_field_that_it_was():
    field = mc.HeightField(np.random.default_rng(8).uniform(0, 0.05, (300, 300)), 0.1)
    vertices, faces = field.triangles()
    found = touch(mc.Mesh(vertices, faces), mc.Sphere(0.3), (0.03, 0.02, 0.32), distance=0.05)
    same = touch(field, mc.Sphere(0.3), (0.03, 0.02, 0.32), distance=0.05)
    assert points_of(found)[1].min() == pytest.approx(points_of(same)[1].min(), abs=1e-12)
