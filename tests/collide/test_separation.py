"""Every pair of shapes against the oracle: separation, normal, points on both surfaces, nothing missed."""

import itertools

import numpy as np
import pytest

from amounts import amount
from collide_oracle import (
    KINDS,
    Shape,
    best_separation,
    make_collider,
    matrix,
    one_contact,
    random_quaternions,
    random_shape,
    separation_along,
)

PAIRS = tuple(itertools.product(KINDS, KINDS))


def random_poses(rng, shapes_a, shapes_b, spacing=50.0):
    """Poses of many isolated pairs: deep overlaps, near contacts on both sides, and pairs apart.

    -> positions (2n, 3), quaternions (2n, 4): bodies 2k and 2k + 1 are pair k.
    """
    n = len(shapes_a)
    q = random_quaternions(rng, 2 * n)
    position = np.zeros((2 * n, 3))
    for k, (a, b) in enumerate(zip(shapes_a, shapes_b)):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        touching = a.support(d @ matrix(q[2 * k])) + b.support(-d @ matrix(q[2 * k + 1]))
        factor = (rng.uniform(0.02, 1.0), rng.uniform(0.8, 1.2), 1.0 - 10.0 ** rng.uniform(-12, -2))[k % 3]
        position[2 * k] = np.array([k % 40, k // 40, 0.3]) * spacing
        position[2 * k + 1] = position[2 * k] + d * touching * factor
    return position, q


def surfaces(m, a, b, pose_a, pose_b):
    """Signed distances of a manifold's two sets of surface points from their shapes. Points of what is rounded may be those
    of the cores, moved out along the normal: where a feature leans they are inside, by less than the radius."""
    k = m["point_count"]
    half, n = 0.5 * m["points"]["separation"][:k, None] * m["normal"], m["normal"]
    p = m["points"]["position"][:k]
    found = []
    for shape, q, out, pose in ((a, p - half, n, pose_a), (b, p + half, -n, pose_b)):
        whole, core = ((x - pose[0]) @ matrix(pose[1]) for x in (q, q - shape.rounding * out))
        whole, core = shape.distance(whole), shape.distance_of_core(core)
        found.append(np.where((-shape.rounding <= whole) & (whole <= 0.0) | (np.abs(core) < 1e-9), 0.0, whole))
    return found


def check(m, a, b, pose_a, pose_b, limit):
    """What holds for every manifold: attained separation, points within the limit and on both surfaces."""
    size = a.extent() + b.extent()
    count = m["point_count"]
    separation = m["points"]["separation"][:count]
    assert 1 <= count <= 24
    assert abs(np.linalg.norm(m["normal"]) - 1.0) < 1e-12
    assert np.all(separation <= limit)
    assert len(set(m["points"]["feature"][:count])) == count
    if a.kind != "plane":
        attained = separation_along(a, matrix(pose_a[1]), b, matrix(pose_b[1]), pose_b[0] - pose_a[0], m["normal"])
        assert abs(attained - separation.min()) < 3e-7 * size
    on_a, on_b = surfaces(m, a, b, pose_a, pose_b)
    assert np.abs(on_a).max() < 1e-7 * size and np.abs(on_b).max() < 1e-7 * size


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
@pytest.mark.sampled(3)
def test_separation_is_the_best_over_all_directions(kind_a, kind_b):
    """The answer is attained along its normal, and no direction does better: thousands of poses over all pairs."""
    rng = np.random.default_rng([KINDS.index(kind_a), KINDS.index(kind_b)])
    count = amount(12, 100)
    shapes_a = [random_shape(rng, kind_a) for _ in range(count)]
    shapes_b = [random_shape(rng, kind_b) for _ in range(count)]
    position, q = random_poses(rng, shapes_a, shapes_b)
    collider = make_collider([s for pair in zip(shapes_a, shapes_b) for s in pair])
    limit = 5.0
    found = collider.collide_once(position, q, np.full(2 * count, 2), limit)
    manifolds = [one_contact(found[found["key"] == key]) for key in np.unique(found["key"])]
    assert len(manifolds) == count
    for k, m in enumerate(manifolds):
        i, j = 2 * k, 2 * k + 1
        assert (m["body_a"], m["body_b"]) == (i, j)
        check(m, shapes_a[k], shapes_b[k], (position[i], q[i]), (position[j], q[j]), limit)
        if k % 2 == 0:  # the search is slow: not for every pose
            best = best_separation(shapes_a[k], matrix(q[i]), shapes_b[k], matrix(q[j]), position[j] - position[i])
            size = shapes_a[k].extent() + shapes_b[k].extent()
            assert m["points"]["separation"][: m["point_count"]].min() > best - 1e-7 * size


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
def test_contact_within_the_speculative_distance_is_never_missed(kind_a, kind_b):
    """Pairs moved along the true normal to just within and just beyond the distance."""
    rng = np.random.default_rng([7, KINDS.index(kind_a), KINDS.index(kind_b)])
    count = amount(15, 40)
    shapes_a = [random_shape(rng, kind_a) for _ in range(count)]
    shapes_b = [random_shape(rng, kind_b) for _ in range(count)]
    shapes = [s for pair in zip(shapes_a, shapes_b) for s in pair]
    position, q = random_poses(rng, shapes_a, shapes_b)
    kind = np.full(2 * count, 2)
    found = make_collider(shapes).collide_once(position, q, kind, 5.0)
    found = [one_contact(found[found["key"] == key]) for key in np.unique(found["key"])]
    normals = np.array([m["normal"] for m in found])
    deepest = np.array([m["points"]["separation"].min() for m in found])
    for gap in (0.019999, 0.020001):
        moved = position.copy()
        moved[1::2] += (gap - deepest)[:, None] * normals
        near = make_collider(shapes).collide_once(moved, q, kind, 0.02)
        # Moved along its normal an overlapping pair may meet another face first, so it can only be nearer than the gap.
        apart = deepest > 1e-6
        expected = set(np.flatnonzero(apart)) if gap < 0.02 else set()
        seen = set(near["body_a"][apart[near["body_a"] // 2]] // 2)
        assert seen == expected
        if gap < 0.02:
            assert len(set(near["key"])) == count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plane_first", [True, False])
def test_plane(kind, plane_first):
    """A plane against the support function: the depth of the lowest point, in closed form."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(amount(20, 60)):
        shape = random_shape(rng, kind)
        q = random_quaternions(rng, 2)
        normal = matrix(q[0])[:, 2]
        height = -shape.support(-normal @ matrix(q[1]))
        gap = rng.uniform(-0.3, 0.05)
        position = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
        position[1] = position[0] + normal * (gap - height) + np.cross(normal, rng.normal(size=3))
        plane = Shape("plane")
        order = [0, 1] if plane_first else [1, 0]
        shapes = [(plane, shape)[k] for k in order]
        kinds = [(0, 2)[k] for k in order]
        found = make_collider(shapes).collide_once(position[order], q[order], kinds, 0.06)
        m = one_contact(found)
        assert np.allclose(m["normal"], normal if plane_first else -normal, atol=1e-14)
        assert abs(m["points"]["separation"][: m["point_count"]].min() - gap) < 1e-7 * shape.extent()
        pose = [(position[k], q[k]) for k in order]
        check(m, shapes[0], shapes[1], pose[0], pose[1], 0.06) if plane_first else None
        on_a, on_b = surfaces(m, shapes[0], shapes[1], pose[0], pose[1])
        assert np.abs(on_a).max() < 1e-7 and np.abs(on_b).max() < 1e-7
        # and nothing beyond the distance
        position[1] += (0.0600001 - gap) * normal
        assert len(make_collider(shapes).collide_once(position[order], q[order], kinds, 0.06)) == 0


@pytest.mark.parametrize("kind_a, kind_b", PAIRS)
def test_swapping_and_moving_the_scene_change_nothing(kind_a, kind_b):
    """b before a gives the opposite normal; turning and shifting everything turns and shifts the answer."""
    rng = np.random.default_rng([11, KINDS.index(kind_a), KINDS.index(kind_b)])
    count = 25
    shapes_a = [random_shape(rng, kind_a) for _ in range(count)]
    shapes_b = [random_shape(rng, kind_b) for _ in range(count)]
    position, q = random_poses(rng, shapes_a, shapes_b, spacing=10.0)
    kind = np.full(2 * count, 2)
    shapes = [s for pair in zip(shapes_a, shapes_b) for s in pair]
    first = make_collider(shapes).collide_once(position, q, kind, 1.0)
    swap = np.arange(2 * count).reshape(-1, 2)[:, ::-1].ravel()
    swapped = make_collider([shapes[k] for k in swap]).collide_once(position[swap], q[swap], kind, 1.0)
    turn = random_quaternions(rng, 1)[0]
    shift = rng.normal(size=3) * 5.0
    turned_q = np.array([multiply(turn, one) for one in q])
    moved = make_collider(shapes).collide_once(position @ matrix(turn).T + shift, turned_q, kind, 1.0)
    for m, s, r in zip(*map(pairs_of, (first, swapped, moved)), strict=True):
        size = shapes_a[m["shape_a"] // 2].extent() + shapes_b[m["shape_a"] // 2].extent()
        depth = deepest(m)
        assert abs(deepest(s) - depth) < 2e-7 * size and abs(deepest(r) - depth) < 2e-7 * size
        # The normal is unique only for pairs apart.
        if depth > 1e-6 or "sphere" in (kind_a, kind_b) and depth > -0.01:
            assert np.allclose(s["normal"], -m["normal"], atol=2e-5)
            assert np.allclose(r["normal"], matrix(turn) @ m["normal"], atol=2e-5)


def pairs_of(found):
    """Of each pair the one manifold that its patch comes to."""
    return [one_contact(found[found["key"] == key]) for key in np.unique(found["key"])]


def deepest(m):
    return m["points"]["separation"][: m["point_count"]].min()


def multiply(a, b):
    """Hamilton product."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])
