"""Convex hulls: the polyhedron is closed, convex, whole, and its faces are what one would draw."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import spatial
from scipy.spatial.transform import Rotation

from amounts import amount
from mcsim.core._hull_faces import is_polyhedron
from mcsim.core.errors import SceneError
from mcsim.core.linear import dots, product
from mcsim.scene import ConvexHull
from mcsim.scene.hull import FLAT, _apart


def grid(*axes):
    return np.array(np.meshgrid(*axes)).reshape(3, -1).T.astype(float)


def check(hull, points):
    """Euler's formula, every edge in two faces in opposite directions, faces flat and convex, all points inside."""
    vertices, faces, size = hull.vertices, hull.faces, np.ptp(np.asarray(points), axis=0).max()
    assert len(vertices) - len(hull.edges) + len(faces) == 2
    directed = [(int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1))]
    assert len(set(directed)) == len(directed)
    assert {(b, a) for a, b in directed} == set(directed)
    assert {tuple(edge) for edge in hull.edges.tolist()} == {(a, b) for a, b in directed if a < b}
    for face, normal, offset in zip(faces, hull.face_normals, hull.face_offsets):
        corners = vertices[face]
        assert math.isclose(np.linalg.norm(normal), 1.0, rel_tol=1e-14)
        assert np.abs(corners @ normal - offset).max() <= 4 * FLAT * size
        sides = np.roll(corners, -1, axis=0) - corners
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ normal
        assert (turns > 0).all()  # convex, counter-clockwise from outside
    assert (hull.face_normals @ np.asarray(points).T <= hull.face_offsets[:, None] + 4 * FLAT * size).all()
    assert (product(hull.face_normals, vertices.T) <= hull.face_offsets[:, None]).all()
    assert hull.radius == np.linalg.norm(vertices, axis=1).max()
    for array in (vertices, hull.face_normals, hull.face_offsets, hull.edges, *faces):
        assert not array.flags.writeable


def counts(hull):
    return len(hull.vertices), len(hull.faces), len(hull.edges)


@pytest.mark.parametrize("turn", [None, (0.3, -1.1, 0.4)])
def test_a_box_has_six_faces(turn):
    """Points on its edges, in its faces and inside make no difference."""
    points = grid([-1, 0, 1], [-2, 0, 0.5, 2], [-3, 0, 3])
    points = points if turn is None else Rotation.from_rotvec(turn).apply(points)
    hull = ConvexHull(points)
    check(hull, points)
    assert counts(hull) == (8, 6, 12)
    assert sorted(map(len, hull.faces)) == [4] * 6


def test_noise_of_single_precision_makes_no_false_edges():
    points = Rotation.from_rotvec([1.0, 0.3, -0.2]).apply(grid([-1, 1], [-1, 1], [-1, 1])).astype(np.float32)
    hull = ConvexHull(points)
    check(hull, points)
    assert counts(hull) == (8, 6, 12)


def test_prisms_and_regular_solids():
    golden = (1 + math.sqrt(5)) / 2
    for n in (3, 5, 24, 100):
        angle = 2 * np.pi * np.arange(n) / n
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        points = np.vstack([np.column_stack([ring, np.full(n, z)]) for z in (-0.5, 0.5)])
        hull = ConvexHull(points)
        check(hull, points)
        assert counts(hull) == (2 * n, n + 2, 3 * n)
    icosahedron = [p for a in (-1, 1) for b in (-golden, golden) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
    dodecahedron = [*grid([-1, 1], [-1, 1], [-1, 1])] + [
        p for a in (-1 / golden, 1 / golden) for b in (-golden, golden) for p in ((0, a, b), (a, b, 0), (b, 0, a))
    ]
    for points, expected in ((icosahedron, (12, 20, 30)), (dodecahedron, (20, 12, 30))):
        hull = ConvexHull(points)
        check(hull, points)
        assert counts(hull) == expected


@settings(deadline=None, max_examples=amount(15, 80), derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(4, 120), st.sampled_from([0, 1, 2, 3]), st.sampled_from([0.0, 1.0, 1e4]))
def test_random_hulls(seed, n, digits, distance):
    """Also on coarse grids, where many points share planes and lines."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (n, 3)) * rng.uniform(0.3, 3, 3)
    points = (np.round(points, digits - 1) if digits else points) + distance
    try:
        hull = ConvexHull(points)
    except SceneError as error:
        assert "flat" in str(error) or "one place" in str(error)
        assert np.linalg.matrix_rank(points - points[0], tol=1e-6) < 3
        return
    check(hull, points)
    assert {tuple(v) for v in hull.vertices} <= {tuple(p) for p in points}


def rough(rng, family):
    """Points whose hull has many nearly redundant corners: what floating point makes of exact figures."""
    n = int(rng.integers(4, 60))
    t = np.arange(n) * 2 * np.pi / n
    ring = np.column_stack([np.cos(t), np.sin(t), 0 * t])
    if family == "rings":
        points = np.vstack([ring + [0, 0, z] for z in (0, 0.5, 1)])
    elif family == "globe":
        turns = np.linspace(0, np.pi, int(rng.integers(4, 6)))
        points = np.vstack([ring * np.sin(u) + [0, 0, np.cos(u)] for u in turns])
    elif family == "grid":
        axis = np.linspace(-1, 1, int(rng.integers(2, 7)))
        points = grid(axis, axis, axis)
    elif family == "on the lines between":
        ends, part = rng.normal(size=(8, 3)), rng.uniform(0, 1, (60, 1))
        a, b = ends[rng.integers(0, 8, 60)], ends[rng.integers(0, 8, 60)]
        points = np.vstack([ends, part * a + (1 - part) * b])
    elif family == "repeated":
        points = np.repeat(rng.normal(size=(8, 3)), 6, axis=0)
    else:  # as rough as the tolerance itself: the hardest
        points = np.round(rng.uniform(-3, 3, (n + 20, 3))) / 3
    points = points + rng.normal(size=points.shape) * 10.0 ** (
        rng.uniform(-7, -5) if family == "noisy" else rng.uniform(-17, -12)
    )
    turn = Rotation.random(random_state=rng).as_matrix()
    return points @ turn if rng.integers(2) else points


@pytest.mark.parametrize("family", ["rings", "globe", "grid", "on the lines between", "repeated", "noisy"])
def test_rough_points(family):
    """Dents, slivers and Qhull's triangles without area do not come through."""
    for seed in range(amount(10, 50) * (4 if family == "noisy" else 1)):
        points = rough(np.random.default_rng(seed), family)
        check(ConvexHull(points), points)


def test_only_what_is_next_to_a_kept_point_is_dropped():
    """A chain of close points keeps every second one, not its first alone."""
    chain = np.arange(6)[:, None] * [0.9, 0, 0]
    assert _apart(chain, np.arange(6), 1.0).tolist() == [0, 2, 4]


def test_too_many_points_are_refused_soon():
    points = np.random.default_rng(0).normal(size=(20000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    with pytest.raises(SceneError, match="points make a hull of 20000 vertices, at most 256 are allowed"):
        ConvexHull(points)


def test_the_result_is_the_same_every_time():
    points = np.random.default_rng(1).normal(size=(80, 3))
    a, b = ConvexHull(points), ConvexHull(points.tolist())
    assert a == b and hash(a) == hash(b)
    for x, y in zip((a.vertices, a.face_normals, a.edges, *a.faces), (b.vertices, b.face_normals, b.edges, *b.faces)):
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    "points, fragment",
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "at least 4"),
        ([[0, 0, 0]] * 5, "one place"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "flat"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.3, 0.2, 1e-7]], "flat"),
        ([[t, 2 * t, 3 * t] for t in range(6)], "flat"),
        ([[math.cos(a), math.sin(a), a / 500] for a in np.linspace(0, 500, 300)], "at most 256"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, math.nan]], r"points\[3\]\[2\] must be finite"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0]], r"points\[3\] must be 3 numbers"),
        ([[-1e308, 0, 0], [1e308, 0, 0], [0, 1e308, 0], [0, 0, 1.7e308]], "must be below"),
    ],
)
def test_points_that_make_no_hull(points, fragment):
    with pytest.raises(SceneError, match=fragment):
        ConvexHull(points)


def newell(corners):
    """The unit normal of a polygon by sums from the first corner to the last, as np.cross and np.add take them."""
    spokes = corners - corners.mean(axis=0)
    total = np.cross(spokes, np.roll(spokes, -1, axis=0)).sum(axis=0)
    return total / np.sqrt(dots(total[None], total[None])[0])


@settings(deadline=None, max_examples=amount(20, 120), derandomize=True)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["rings", "globe", "grid", "on the lines between", "repeated", "random", "sphere"]),
)
def test_faces_are_listed_by_one_rule_and_their_solid_is_that_of_scipy(seed, family):
    """Faces begin at their lowest number and are sorted, edges too; normals are Newell's to the bit; mass is volume."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(4, 200)), 3)) if family in ("random", "sphere") else rough(rng, family)
    if family == "sphere":
        points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    faces = [face.tolist() for face in hull.faces]
    assert faces == sorted(faces) and all(face[0] == min(face) for face in faces)
    assert hull.edges.tolist() == sorted(hull.edges.tolist()) and (hull.edges[:, 0] < hull.edges[:, 1]).all()
    centred = points - points.mean(axis=0)
    centred = centred / np.abs(centred).max()
    kept = [int(np.flatnonzero((points == vertex).all(axis=1))[0]) for vertex in hull.vertices]
    for face, normal in zip(hull.faces, hull.face_normals):
        assert newell(centred[kept][face]).tobytes() == normal.tobytes()
    theirs = spatial.ConvexHull(points)
    assert math.isclose(hull.volume, theirs.volume, rel_tol=1e-9)


@pytest.mark.parametrize("n", [4, 9, 40])
def test_loops_that_are_no_polyhedron_are_told(n):
    """One that is open, has a face turned round or twice, or a face with a dent."""
    points = np.random.default_rng(n).normal(size=(n, 3))
    hull = ConvexHull(points)
    points = np.ascontiguousarray(hull.vertices)

    def whole(faces):
        begin = np.cumsum([0, *map(len, faces)]).astype(np.int32)
        return is_polyhedron(points, begin, np.concatenate(faces).astype(np.int32))

    faces = hull.faces
    assert whole(faces)
    assert not whole(faces[1:])
    assert not whole([faces[0][::-1], *faces[1:]])
    assert not whole([*faces, faces[0]])
    box = ConvexHull(grid([-1, 1], [-1, 1], [-1, 1]))
    points, faces = box.vertices.copy(), box.faces
    assert whole(faces)
    points[0] = (0.5, 0.5, -1.0)  # in the plane of the lowest face, beyond its diagonal
    assert not whole(faces)
