"""Contact points: how many, where, which features, and what they inherit from the step before."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from collide_oracle import Shape, make_collider, matrix, one_contact, random_hull, random_quaternions
from test_separation import multiply, surfaces

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
LYING = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])  # z axis turned to -y
PLANE = Shape("plane")
CUBE = Shape("box", (0.5, 0.5, 0.5))
HULL_CUBE = Shape("hull", points=[(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
CYLINDER = Shape("cylinder", (0.5, 0.5, 0.0))
CAPSULE = Shape("capsule", (0.5, 1.0, 0.0))
HEXAGON = [(0.5 * np.cos(t), 0.5 * np.sin(t), z) for t in np.arange(6) * np.pi / 3 for z in (-0.5, 0.5)]
PRISM = Shape("hull", points=HEXAGON)


def tilt(x, y):
    q = np.array([1.0, 0.5 * x, 0.5 * y, 0.0])
    return q / np.linalg.norm(q)


def pair(a, b, offset, qa=IDENTITY, qb=IDENTITY, limit=0.02, collider=None):
    """The manifold of b at `offset` from a; a is static."""
    collider = collider or make_collider([a, b])
    found = collider.collide_once([np.zeros(3), offset], [qa, qb], [0, 2], limit)
    return one_contact(found)


def points(m):
    return m["points"][: m["point_count"]]


@pytest.mark.parametrize("gap", [0.0, 1e-12, -1e-12, 1e-3, -1e-3])
@pytest.mark.parametrize("a", [CUBE, HULL_CUBE, CYLINDER, PRISM])
@pytest.mark.parametrize("b", [CUBE, HULL_CUBE, CYLINDER, PRISM])
def test_equal_faces_give_the_points_that_span_them(a, b, gap):
    """One on the other, perfectly aligned: four points, or more where a face has more corners, the face's normal,
    everywhere the same separation."""
    m = pair(a, b, np.array([0.0, 0.0, 1.0 + gap]))
    square = all(shape in (CUBE, HULL_CUBE) for shape in (a, b))
    assert m["point_count"] == 4 if square else 4 <= m["point_count"] <= 24
    assert np.allclose(m["normal"], [0, 0, 1], atol=1e-12)
    assert np.allclose(points(m)["separation"], gap, atol=1e-10)
    p = points(m)["position"]
    assert np.allclose(p[:, 2], 0.5 + 0.5 * gap, atol=1e-9)
    # They span the common face: its area about the middle, on all four sides.
    angle = np.sort(np.arctan2(p[:, 1], p[:, 0]))
    assert np.max(np.diff(np.append(angle, angle[0] + 2 * np.pi))) < 0.7 * np.pi
    assert np.all(np.hypot(p[:, 0], p[:, 1]) > 0.42)


def test_pyramid_of_boxes():
    """Rows of cubes, each on two below: four points with the face's normal on every pair, and no other pairs."""
    base = 8
    centres = [(1.05 * (j - 0.5 * (base - i - 1)), 0.0, 0.5 + i) for i in range(base) for j in range(base - i)]
    shapes = [PLANE] + [CUBE] * len(centres)
    found = make_collider(shapes).collide_once(
        np.vstack([np.zeros(3), centres]), np.tile(IDENTITY, (len(shapes), 1)), [0] + [2] * len(centres), 0.02
    )
    assert len(found) == base + base * (base - 1)
    assert np.all(found["point_count"] == 4)
    assert np.allclose(np.abs(found["normal"]), [0, 0, 1], atol=1e-14)
    assert np.allclose(found["points"]["separation"], 0.0, atol=1e-13)
    assert np.all(found["key"][1:] > found["key"][:-1])


@pytest.mark.parametrize(
    "floor", [PLANE, Shape("box", (5.0, 5.0, 0.5)), Shape("hull", points=HULL_CUBE.points * [9, 9, 1])]
)
@pytest.mark.parametrize(
    "shape, q, height, count",
    [
        (CUBE, IDENTITY, 0.5, 4),
        (HULL_CUBE, IDENTITY, 0.5, 4),
        (PRISM, IDENTITY, 0.5, 6),
        (CYLINDER, IDENTITY, 0.5, 16),
        (CYLINDER, LYING, 0.5, 2),
        (CAPSULE, LYING, 0.5, 2),
        (CAPSULE, IDENTITY, 1.5, 1),
        (PRISM, LYING, np.sqrt(3) / 4, 4),
        (Shape("sphere", (0.5, 0, 0)), IDENTITY, 0.5, 1),
    ],
)
def test_resting_on_a_floor(floor, shape, q, height, count):
    """Standing and lying shapes have the points they need to rest, and keep their features while they tremble."""
    top = 0.0 if floor is PLANE else 0.5
    rng = np.random.default_rng(1)
    features = None
    for _ in range(20):
        trembling = multiply(tilt(*rng.normal(scale=1e-7, size=2)), q)
        m = pair(floor, shape, np.array([0.1, 0.2, top + height - 1e-3]) + rng.normal(scale=1e-7, size=3), qb=trembling)
        assert m["point_count"] == count
        assert np.allclose(m["normal"], [0, 0, 1], atol=1e-5)
        assert np.allclose(points(m)["separation"], -1e-3, atol=1e-6)
        assert features is None or list(points(m)["feature"]) == features
        features = list(points(m)["feature"])


def test_lying_side_by_side():
    """Round sides along each other: two points, at the ends of the common length."""
    for a in (CAPSULE, Shape("cylinder", (0.5, 1.0, 0.0))):
        for b in (CAPSULE, Shape("cylinder", (0.25, 0.6, 0.0))):
            m = pair(a, b, np.array([a.size[0] + b.size[0] - 0.01, 0.0, 0.3]))
            assert m["point_count"] == 2
            assert np.allclose(m["normal"], [1, 0, 0], atol=1e-9)
            assert np.allclose(
                np.sort(points(m)["position"][:, 2]), [max(-1.0, 0.3 - b.size[1]), min(1.0, 0.3 + b.size[1])], atol=1e-6
            )
            turned = np.array([np.cos(0.005), np.sin(0.005), 0.0, 0.0])
            m = pair(a, b, np.array([a.size[0] + b.size[0] - 0.01, 0.0, 0.3]), qb=turned)
            assert m["point_count"] >= 2
            offset = np.array([a.size[0] + b.size[0] - 0.01, 0.0, 0.3])
            on_a, on_b = surfaces(m, a, b, (np.zeros(3), IDENTITY), (offset, turned))
            assert np.abs(on_a).max() < 1e-6 and np.abs(on_b).max() < 1e-6


def test_edge_on_face_and_crossed_edges():
    """A cube on its edge has the edge's two ends; two crossed edges have one point."""
    on_edge = np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0])
    m = pair(PLANE, CUBE, np.array([0.0, 0.0, np.sqrt(0.5)]), qb=on_edge)
    assert m["point_count"] == 2 and np.allclose(np.abs(points(m)["position"][:, 0]), 0.5)
    m = pair(Shape("box", (3.0, 3.0, 0.5)), CUBE, np.array([0.0, 0.0, 0.5 + np.sqrt(0.5)]), qb=on_edge)
    assert m["point_count"] == 2 and np.allclose(np.abs(points(m)["position"][:, 0]), 0.5)
    across = multiply(np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), on_edge)
    m = pair(CUBE, CUBE, np.array([0.0, 0.0, np.sqrt(2.0) - 1e-3]), qa=on_edge, qb=across, limit=0.0)
    assert m["point_count"] == 1 and np.allclose(m["normal"], [0, 0, 1], atol=1e-12)
    assert points(m)["feature"][0] >> 56 == 3


def test_a_patch_keeps_the_deepest_and_the_area():
    """A cube turned by 45 degrees on another: its eight corners, around the middle, the deepest among them."""
    rng = np.random.default_rng(5)
    eighth = np.array([np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)])
    for _ in range(50):
        q = multiply(tilt(*rng.normal(scale=2e-3, size=2)), eighth)
        corners = HULL_CUBE.points @ matrix(q).T
        m = pair(CUBE, CUBE, np.array([0.0, 0.0, 1.0]), qb=q)
        exact = pair(HULL_CUBE, HULL_CUBE, np.array([0.0, 0.0, 1.0]), qb=q)
        assert 4 < m["point_count"] <= 9 and np.abs(corners).max() > 0.5
        assert abs(points(m)["separation"].min() - points(exact)["separation"].min()) < 1e-9
        p = points(m)["position"]
        angle = np.sort(np.arctan2(p[:, 1], p[:, 0]))
        assert np.max(np.diff(np.append(angle, angle[0] + 2 * np.pi))) < np.pi


def with_impulses(collider, found):
    """Number every impulse of the accepted manifolds."""
    found = found.copy()
    rng = np.random.default_rng(2)
    for name in ("normal_impulse", "total_normal_impulse", "friction_impulse", "total_friction_impulse"):
        found["points"][name] = rng.uniform(1.0, 2.0, found["points"][name].shape)
    found["friction_impulse"] = rng.uniform(1.0, 2.0, found["friction_impulse"].shape)
    found["twist_impulse"] = rng.uniform(1.0, 2.0, len(found))
    collider.set_manifolds(found)
    return found


@pytest.mark.parametrize("kind", ["box", "hull", "cylinder", "capsule"])
@pytest.mark.parametrize("floor", [PLANE, Shape("box", (3.0, 3.0, 0.5))])
def test_impulses_follow_their_features(kind, floor):
    """A body that slides and turns a little keeps every impulse at its point; totals start at zero."""
    shape, q = {
        "box": (CUBE, IDENTITY),
        "hull": (random_hull(np.random.default_rng(4), 30), IDENTITY),
        "cylinder": (CYLINDER, LYING),
        "capsule": (CAPSULE, LYING),
    }[kind]
    down = np.array([0.0, 0.0, -1.0])
    height = shape.support(down @ matrix(q)) + (0.0 if floor is PLANE else 0.5) - 0.01
    collider = make_collider([floor, shape])
    before = with_impulses(collider, collider.collide_once([np.zeros(3), [0, 0, height]], [IDENTITY, q], [0, 2], 0.02))
    turned = multiply(np.array([np.cos(0.01), 0, 0, np.sin(0.01)]), q)
    after = collider.collide_once([np.zeros(3), [0.02, 0.03, height]], [IDENTITY, turned], [0, 2], 0.02)
    assert list(points(after[0])["feature"]) == list(points(before[0])["feature"])
    for name in ("normal_impulse", "friction_impulse"):
        assert np.array_equal(points(after[0])[name], points(before[0])[name])
    assert np.array_equal(after["friction_impulse"], before["friction_impulse"])
    assert np.array_equal(after["twist_impulse"], before["twist_impulse"])
    assert not after["points"]["total_normal_impulse"].any() and not after["points"]["total_friction_impulse"].any()


def test_impulses_survive_a_corner_changing_hands():
    """Equal cubes, edges on edges: whichever cube's corner is inside by a hair, the corner keeps its impulse."""
    collider = make_collider([CUBE, CUBE])
    before = collider.collide_once([[0, 0, 0], [1e-3, 1e-3, 1.0]], [IDENTITY] * 2, [0, 2], 0.02)
    before = with_impulses(collider, before)
    after = collider.collide_once([[0, 0, 0], [-1e-3, -1e-3, 1.0]], [IDENTITY] * 2, [0, 2], 0.02)
    assert set(points(after[0])["feature"]) != set(points(before[0])["feature"])
    for p in points(after[0]):
        nearest = np.argmin(np.linalg.norm(points(before[0])["position"] - p["position"], axis=1))
        assert p["normal_impulse"] == points(before[0])["normal_impulse"][nearest]


def test_new_pairs_start_without_impulses():
    collider = make_collider([CUBE, CUBE, CUBE])
    with_impulses(collider, collider.collide_once([[0, 0, 0], [0, 0, 1.0], [5, 0, 0]], [IDENTITY] * 3, [2] * 3, 0.02))
    found = collider.collide_once([[0, 0, 0], [0, 0, 1.0], [1, 0, 0]], [IDENTITY] * 3, [2] * 3, 0.02)
    assert [tuple(k) for k in found[["shape_a", "shape_b"]].tolist()] == [(0, 1), (0, 2), (1, 2)]
    assert found["points"]["normal_impulse"][0].any()
    assert not found["points"]["normal_impulse"][1:].any() and not found["friction_impulse"][1:].any()


def test_materials_combine():
    collider = make_collider([CUBE, CUBE], friction=[0.9, 0.4], restitution=[0.1, 0.7])
    m = collider.collide_once([[0, 0, 0], [0, 0, 1.0]], [IDENTITY] * 2, [0, 2], 0.02)[0]
    assert m["friction"] == np.sqrt(0.9 * 0.4) and m["restitution"] == 0.7


def test_a_shape_is_placed_in_its_body():
    """A compound's shapes collide where body pose and local pose put them, and never with each other."""
    rng = np.random.default_rng(8)
    q_local, q_body = random_quaternions(rng, 2)
    p_local, p_body = rng.normal(size=(2, 3))
    q = multiply(q_body, q_local)
    p = p_body + matrix(q_body) @ p_local
    collider = make_collider(
        [CUBE, CUBE, CYLINDER],
        bodies=[0, 0, 1],
        local=[(p_local, q_local), (p_local + 0.1, q_local), (np.zeros(3), IDENTITY)],
    )
    found = collider.collide_once([p_body, p + [0.3, 0.2, 0.7]], [q_body, IDENTITY], [2, 2], 0.02)
    assert list(found["shape_a"]) == [0, 1] and list(found["shape_b"]) == [2, 2]
    alone = make_collider([CUBE, CYLINDER]).collide_once([p, p + [0.3, 0.2, 0.7]], [q, IDENTITY], [2, 2], 0.02)
    assert np.allclose(found["points"]["position"][0], alone["points"]["position"][0], atol=1e-9)
    assert np.allclose(found["normal"][0], alone["normal"][0], atol=1e-9)


@settings(max_examples=amount(50, 150), deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
    st.floats(-0.02, 0.02),
    st.floats(-0.02, 0.02),
    st.floats(-np.pi, np.pi),
    st.sampled_from(
        [(CUBE, CUBE), (CUBE, HULL_CUBE), (HULL_CUBE, PRISM), (CYLINDER, CUBE), (CYLINDER, PRISM), (CYLINDER, CYLINDER)]
    ),
)
def test_points_of_tilted_stacks(shift, x, y, turn, shapes):
    """However a face lies on a face: points within the distance, on both surfaces, one of them the deepest."""
    a, b = shapes
    q = multiply(tilt(x, y), np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]))
    offset = np.array([0.4 * shift[0], 0.4 * shift[1], 1.0 + 0.005 * shift[2]])
    m = pair(a, b, offset, qb=q, limit=0.05)
    count = m["point_count"]
    assert 1 <= count <= 24 and len(set(points(m)["feature"])) == count
    on_a, on_b = surfaces(m, a, b, (np.zeros(3), IDENTITY), (offset, q))
    assert np.abs(on_a).max() < 3e-7 and np.abs(on_b).max() < 3e-7
    attained = m["normal"] @ offset - b.support(-m["normal"] @ matrix(q)) - a.support(m["normal"])
    assert abs(points(m)["separation"].min() - attained) < 3e-7
