"""Aligned, concentric, touching, tiny, huge and thin shapes: still exact where the answer is unique, always sane."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from amounts import amount
from collide_oracle import (
    KINDS,
    Shape,
    best_separation,
    make_collider,
    matrix,
    one_contact,
    random_hull,
    random_quaternions,
    rounded,
    separation_along,
    solid_of,
)
from test_separation import check, multiply

PAIRS = tuple(itertools.combinations_with_replacement(KINDS, 2))
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
AXIS_ALIGNED = np.roll(Rotation.create_group("O").as_quat(), 1, axis=1)
EIGHTH_TURN = np.array([np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)])


def round_shape(rng, kind):
    """Sizes from a short list, so that edges and faces coincide."""
    x, y, z = rng.choice([0.25, 0.5, 1.0], 3)
    if kind == "hull":
        return Shape("hull", points=[(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    if kind == "rounded hull":
        return rounded(round_shape(rng, "hull"), 0.25 * z)
    return solid_of(kind, x, y, z)


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
@pytest.mark.sampled(2)
def test_aligned_poses_are_exact(kind_a, kind_b):
    """Axes at right angles or at 45 degrees, offsets that make features coincide, and the same a hair's breadth off."""
    rng = np.random.default_rng([3, KINDS.index(kind_a), KINDS.index(kind_b)])
    for case in range(amount(12, 60)):
        a, b = round_shape(rng, kind_a), round_shape(rng, kind_b)
        q = AXIS_ALIGNED[rng.integers(0, 24, 2)].copy()
        if case % 3 == 0:
            q[1] = multiply(EIGHTH_TURN, q[1])
        offset = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0], 3) * rng.choice([-1, 1], 3)
        if case % 2:
            offset[rng.integers(0, 3, 2)] = 0.0
        if case % 4 == 0:
            offset += rng.normal(size=3) * 10.0 ** rng.uniform(-16, -6)
        position = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0] + offset])
        found = make_collider([a, b]).collide_once(position, q, [2, 2], 20.0)
        m = one_contact(found)
        size = a.extent() + b.extent()
        assert abs(np.linalg.norm(m["normal"]) - 1.0) < 1e-12 and np.all(np.isfinite(m["points"]["position"]))
        depth = m["points"]["separation"][: m["point_count"]].min()
        relative = position[1] - position[0]
        assert abs(separation_along(a, matrix(q[0]), b, matrix(q[1]), relative, m["normal"]) - depth) < 3e-7 * size
        assert depth > best_separation(a, matrix(q[0]), b, matrix(q[1]), relative, cones=6) - 1e-7 * size


def scaled(shape, factor):
    points = None if shape.points is None else shape.points * factor
    return Shape(shape.kind, shape.size * factor, points, shape.rounding * factor)


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_tiny_and_huge(kind_a, kind_b, scale):
    """Sizes a thousand times smaller or larger than usual, and one against the other."""
    rng = np.random.default_rng([5, KINDS.index(kind_a), KINDS.index(kind_b)])
    for case in range(12):
        a, b = round_shape(rng, kind_a), round_shape(rng, kind_b)
        a = scaled(a, scale)
        b = scaled(b, scale if case % 2 else 1.0)
        q = random_quaternions(rng, 2)
        d = random_quaternions(rng, 1)[0, 1:]
        d /= np.linalg.norm(d)
        touching = a.support(d @ matrix(q[0])) + b.support(-d @ matrix(q[1]))
        position = np.array([[0.0, 0.0, 0.0], d * touching * rng.uniform(0.9, 1.0)])
        m = make_collider([a, b]).collide_once(position, q, [2, 2], 5.0 * max(scale, 1.0))
        m = [one_contact(m)]
        check(m[0], a, b, (position[0], q[0]), (position[1], q[1]), 5.0 * max(scale, 1.0))


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
def test_long_thin_shapes(kind_a, kind_b):
    """Extents that differ a thousandfold within one shape."""
    rng = np.random.default_rng([9, KINDS.index(kind_a), KINDS.index(kind_b)])
    for _ in range(amount(8, 25)):
        shapes = []
        for kind in (kind_a, kind_b):
            x, y, z = 10.0 ** rng.uniform(-2, 1, 3)
            if kind.endswith("hull"):
                points = random_hull(rng, 16).points * [x, y, z]
                shapes.append(Shape("hull", points=points, rounding=0.0 if kind == "hull" else 0.25 * z))
            else:
                shapes.append(solid_of(kind, x, y, z))
        a, b = shapes
        q = random_quaternions(rng, 2)
        d = random_quaternions(rng, 1)[0, 1:]
        d /= np.linalg.norm(d)
        touching = a.support(d @ matrix(q[0])) + b.support(-d @ matrix(q[1]))
        position = np.array([[0.0, 0.0, 0.0], d * touching * rng.uniform(0.1, 1.1)])
        m = make_collider([a, b]).collide_once(position, q, [2, 2], 20.0)
        m = [one_contact(m)]
        check(m[0], a, b, (position[0], q[0]), (position[1], q[1]), 20.0)
        depth = m[0]["points"]["separation"][: m[0]["point_count"]].min()
        best = best_separation(a, matrix(q[0]), b, matrix(q[1]), position[1], cones=6)
        assert depth > best - 1e-7 * (a.extent() + b.extent())


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
def test_concentric(kind_a, kind_b):
    """Equal centres: a unit normal and no more depth than the two extents."""
    rng = np.random.default_rng(13)
    for turned in (False, True):
        a, b = round_shape(rng, kind_a), round_shape(rng, kind_b)
        q = random_quaternions(rng, 2) if turned else np.array([IDENTITY, IDENTITY])
        m = make_collider([a, b]).collide_once(np.zeros((2, 3)), q, [2, 2], 0.02)
        m = [one_contact(m)]
        count = m[0]["point_count"]
        assert abs(np.linalg.norm(m[0]["normal"]) - 1.0) < 1e-12
        assert np.all(np.isfinite(m[0]["points"]["position"]))
        depth = m[0]["points"]["separation"][:count].min()
        best = best_separation(a, matrix(q[0]), b, matrix(q[1]), np.zeros(3))
        attained = separation_along(a, matrix(q[0]), b, matrix(q[1]), np.zeros(3), m[0]["normal"])
        tolerance = 1e-6 * (a.extent() + b.extent())
        assert abs(depth - attained) < tolerance and depth > best - tolerance


def test_nearly_parallel_edges():
    """Two boxes edge on edge, crossing at ever smaller angles: the true separation all the way."""
    half = np.array([1.0, 0.5, 0.5])
    a = b = Shape("box", half)
    lying = np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0])
    for angle in (0.3, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0.0):
        for gap in (0.01, 1e-4, -1e-4, -0.01):
            q = np.array([lying, multiply(np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]), lying)])
            position = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.sqrt(2.0) + gap]])
            m = make_collider([a, b]).collide_once(position, q, [2, 2], 0.02)
            m = one_contact(m)
            depth = m["points"]["separation"][: m["point_count"]].min()
            assert abs(separation_along(a, matrix(q[0]), b, matrix(q[1]), position[1], m["normal"]) - depth) < 1e-7
            assert depth > best_separation(a, matrix(q[0]), b, matrix(q[1]), position[1]) - 1e-7
            if gap > 0.0:
                assert abs(depth - gap) < 1e-7


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_a_pose_that_is_not_finite_collides_with_nothing(bad):
    """Also with a plane, also as the plane; the others keep their contacts, and it comes back when it is finite."""
    shapes = [Shape("plane")] + [Shape("box", (0.5, 0.5, 0.5))] * 4 + [Shape("cylinder", (0.5, 0.5, 0.0))]
    collider = make_collider(shapes)
    position = np.array([[0, 0, 0], [0, 0, 0.5], [0, 0, 1.5], [0, 0, 2.5], [0, 0, 3.5], [0, 0, 4.5]], float)
    q = np.tile(IDENTITY, (6, 1))
    kind = [0, 2, 2, 2, 2, 2]
    whole = collider.collide_once(position, q, kind, 0.02)
    assert len(set(whole["key"])) == 5
    for field, component in ((0, 0), (0, 2), (1, 1), (1, 3)):
        for body in (2, 5, 0):
            p, r = position.copy(), q.copy()
            (p, r)[field][body, component] = bad
            found = collider.collide_once(p, r, kind, 0.02)
            assert not np.any((found["body_a"] == body) | (found["body_b"] == body))
            assert np.all(np.isfinite(found["points"]["separation"]))
            others = whole[(whole["body_a"] != body) & (whole["body_b"] != body)]
            assert set(others["key"]) <= set(found["key"])
    again = collider.collide_once(position, q, kind, 0.02)
    assert again["points"]["position"].tobytes() == whole["points"]["position"].tobytes()


def test_a_ruling_ends_at_an_apex():
    """Two cones side by side whose rulings run to apexes: beside one the other has no height there. It had one that was no
    number, at most poses of the kind where rounding makes the radius at the apex less than nothing."""
    cone = Shape("cone", (0.3, 0.5, 0.0))
    offset = [0.39509338460927357, -0.7312193915911102, -2.7293241247987927e-05]
    turns = [
        [0.3521912579300663, 0.7445543691457337, 0.2978324869973852, -0.48259291220716033],
        [-0.29085004966726086, -0.7085893781236959, 0.37146805250061926, 0.5247083263968876],
    ]
    for near in (0.5, 1.0):
        found = make_collider([cone, cone]).collide_once([[0, 0, 0], offset], turns, [0, 2], near)
        points = found["points"][0][: found["point_count"][0]]
        assert len(points) > 0 and np.isfinite(points["position"]).all() and np.isfinite(points["separation"]).all()
