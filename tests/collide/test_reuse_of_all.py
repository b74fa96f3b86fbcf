"""Points of any two convex solids serve again while the two hardly move against each other, beside points made anew and
beside the oracle; what two boxes do is in test_reuse.py."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from collide_oracle import (
    Shape,
    make_collider,
    matrix,
    random_quaternions,
    random_shape,
    separation_along,
)
from test_reuse import turned

NEAR = 0.02
KINDS = ("box", "capsule", "cylinder", "cone", "ellipsoid", "tapered_capsule", "hull", "rounded box", "rounded cylinder")
cases = settings(max_examples=amount(10, 40), deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize(("kind_a", "kind_b"), [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:]])


def touching(rng, kind_a, kind_b):
    """Two solids that just overlap or just do not, in any attitude. -> shapes, positions, q"""
    shapes = [random_shape(rng, kind_a), random_shape(rng, kind_b)]
    q = random_quaternions(rng, 2)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    ra, rb = matrix(q[0]), matrix(q[1])
    offset = n * (shapes[0].support(n @ ra) + shapes[1].support(-(n @ rb)))
    for _ in range(6):  # in from where the planes at right angles to n part them, until they touch
        found = make_collider(shapes).collide_once([np.zeros(3), offset], q, [0, 2], 3.0)
        offset -= n * (points_of(found)["separation"].min() - rng.uniform(-0.004, 0.003))
    return shapes, np.array([np.zeros(3), offset]), q


def moved(rng, shapes, position, q, reach):
    """The second solid by at most `reach` against the first: half of it shifted, half of it turned."""
    shift, turn = rng.normal(size=(2, 3))
    shift *= 0.5 * reach / np.linalg.norm(shift)
    turn *= 0.5 * reach / shapes[1].extent() / np.linalg.norm(turn)
    return np.array([position[0], position[1] + shift]), np.array([q[0], turned(q[1], turn)])


def collide(collider, position, q):
    return collider.collide_once(position, q, [0, 2], NEAR)


def allowed(found):
    """How far the two may have moved; 0: they are looked at anew, or so far apart that they may have no contact then."""
    return np.sqrt(found["allowance"].min()) if len(found) and points_of(found)["separation"].max() < 0.9 * NEAR else 0.0


def was_reused(before, after):
    return len(before) == len(after) > 0 and before["origin"].tobytes() == after["origin"].tobytes()


def points_of(found):
    return np.concatenate([m["points"][: m["point_count"]] for m in found])


@both
@cases
@given(seed=seeds)
def test_carried_points_are_those_of_the_present_poses_within_the_bound(kind_a, kind_b, seed):
    """The normal parts the two as well as the best one, their overlap is that of points made anew, and each point lies on
    both surfaces: to the motion, which is at most a thousandth of the thinner solid."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng, kind_a, kind_b)
    collider = make_collider(shapes)
    before = collide(collider, position, q)
    reach = allowed(before) * rng.uniform(0.02, 0.1)
    if reach == 0.0:
        return
    position, q = moved(rng, shapes, position, q, reach)
    after = collide(collider, position, q)
    assert was_reused(before, after)
    ra, rb, offset = matrix(q[0]), matrix(q[1]), position[1]
    best = points_of(collide(make_collider(shapes), position, q))["separation"].min()
    n = after["normal"][0]
    assert np.isclose(np.linalg.norm(n), 1.0, atol=1e-14)
    assert separation_along(shapes[0], ra, shapes[1], rb, offset, n) >= best - reach
    assert abs(points_of(after)["separation"].min() - best) <= reach
    for p in points_of(after):
        for sign, shape, x, r in ((-1, shapes[0], position[0], ra), (1, shapes[1], position[1], rb)):
            surface = p["position"] + sign * 0.5 * p["separation"] * n - x
            assert shape.distance(surface @ r) <= reach + 1e-9


@both
@cases
@given(seed=seeds)
def test_a_common_motion_changes_nothing(kind_a, kind_b, seed):
    """Both moved as one: the same points in their axes, the same separations and features, whatever the motion."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng, kind_a, kind_b)
    collider = make_collider(shapes)
    before = collide(collider, position, q)
    if allowed(before) == 0.0:
        return
    angle, shift = rng.normal(size=3), rng.normal(scale=3.0, size=3)
    r = matrix(turned(np.array([1.0, 0.0, 0.0, 0.0]), angle))
    after = collide(collider, position @ r.T + shift, np.array([turned(x, angle) for x in q]))
    assert was_reused(before, after)
    old, new = points_of(before), points_of(after)
    assert np.array_equal(new["feature"], old["feature"])
    assert np.allclose(new["separation"], old["separation"], rtol=0, atol=1e-13)
    assert np.allclose(new["position"], old["position"] @ r.T + shift, rtol=0, atol=1e-13)
    assert np.allclose(after["normal"], before["normal"] @ r.T, rtol=0, atol=1e-13)
    assert np.array_equal(after["turns"], before["turns"])
    for line in ("line", "line_b"):
        if not np.any((after["turns"] == 6) | (after["turns"] == 7)) or line == "line":
            assert np.allclose(after[line], before[line] @ r.T, rtol=0, atol=1e-14)


@both
@cases
@given(seed=seeds)
def test_who_is_named_first_is_no_matter(kind_a, kind_b, seed):
    """The two in the other order: points serve again after the same motion, and are as alike as they were when made."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng, kind_a, kind_b)
    first, second = make_collider(shapes), make_collider(shapes[::-1])
    before = collide(first, position, q), collide(second, position[::-1], q[::-1])
    if min(map(allowed, before)) == 0.0:
        return
    assert np.isclose(allowed(before[0]), allowed(before[1]), rtol=1e-12)
    apart = np.abs(before[0]["normal"][0] + before[1]["normal"][0]).max()
    position, q = moved(rng, shapes, position, q, 0.1 * allowed(before[0]))
    after = collide(first, position, q), collide(second, position[::-1], q[::-1])
    assert was_reused(before[0], after[0]) and was_reused(before[1], after[1])
    assert np.allclose(after[0]["normal"][0], -after[1]["normal"][0], rtol=0, atol=2 * apart + 1e-14)
    made, carried = ([points_of(x)["separation"].min() for x in pair] for pair in (before, after))
    assert np.isclose(carried[0] - carried[1], made[0] - made[1], rtol=0, atol=1e-3 * allowed(before[0]))


@both
@cases
@given(seed=seeds)
def test_nothing_adds_up(kind_a, kind_b, seed):
    """Many small steps to a pose give the bits of one step there, also through get_manifolds and set_manifolds."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng, kind_a, kind_b)
    slow, fast, restored = (make_collider(shapes) for _ in range(3))
    for collider in (slow, fast):
        before = collide(collider, position, q)
    reach = 0.05 * allowed(before)
    if reach == 0.0:
        return
    there = moved(rng, shapes, position, q, reach)
    for _ in range(5):
        assert was_reused(before, collide(slow, *moved(rng, shapes, position, q, reach)))
    restored.set_manifolds(slow.get_manifolds())
    a, b, c = collide(slow, *there), collide(fast, *there), collide(restored, *there)
    for found in (a, b, c):
        found["touching"] = 0  # tells of the steps between
    assert was_reused(before, a) and a.tobytes() == b.tobytes() == c.tobytes()


@pytest.mark.parametrize("kind", ["cylinder", "hull"])
def test_all_parts_of_a_patch_serve_again(kind):
    """Two upright drums on each other, a little tilted: more than four points, in several manifolds."""
    ring = [(0.5 * np.cos(t), 0.5 * np.sin(t), z) for t in 2 * np.pi * np.arange(12) / 12 for z in (-0.4, 0.4)]
    drum = Shape("hull", points=ring) if kind == "hull" else Shape("cylinder", (0.5, 0.4, 0.0))
    rng = np.random.default_rng(4)
    q = np.array([[1.0, 0.0, 0.0, 0.0], turned(np.array([1.0, 0.0, 0.0, 0.0]), np.array([1e-3, 2e-3, 0.3]))])
    position = np.array([[0.0, 0.0, 0.0], [0.05, 0.02, 0.8005]])
    collider = make_collider([drum, drum])
    before = collide(collider, position, q)
    assert len(before) > 1 and allowed(before) > 0.0
    for _ in range(10):
        there = moved(rng, [drum, drum], position, q, 0.1 * allowed(before))
        after, fresh = collide(collider, *there), collide(make_collider([drum, drum]), *there)
        assert was_reused(before, after)
        assert abs(points_of(after)["separation"].min() - points_of(fresh)["separation"].min()) <= 0.1 * allowed(before)
        assert np.array_equal(after["thinning"], before["thinning"]) and np.array_equal(after["part"], before["part"])
