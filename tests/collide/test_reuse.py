"""Points of two boxes that serve again while the boxes hardly move against each other, beside points made anew."""

import numpy as np
from hypothesis import given, settings, strategies as st

from amounts import amount
from collide_oracle import Shape, make_collider, matrix, random_quaternions

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
NEAR = 0.02
ALLOWANCE = 0.05 * NEAR
cases = settings(max_examples=amount(50, 150), deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def turned(q, angle):
    """Quaternions of the rotations q followed by the rotation vector `angle` in the world."""
    size = np.linalg.norm(angle)
    w, v = np.cos(size / 2), np.sin(size / 2) * angle / max(size, 1e-300)
    u, x = q[0], q[1:]
    return np.concatenate([[w * u - v @ x], w * x + u * v + np.cross(v, x)])


def touching(rng):
    """Two boxes that touch: upright ones with a little tilt on each other, or any two. -> shapes, positions, q"""
    half = rng.uniform(0.5, 0.8, (2, 3))
    shapes = [Shape("box", h) for h in half]
    q = np.array([IDENTITY, turned(IDENTITY, rng.normal(scale=0.01, size=3))])
    offset = np.array([*rng.uniform(-0.6, 0.6, 2), half[:, 2].sum() + rng.uniform(-0.01, 0.01)])
    if rng.random() < 0.5:
        q = random_quaternions(rng, 2)
        ra, rb = matrix(q[0]), matrix(q[1])
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        offset = n * (shapes[0].support(n @ ra) + shapes[1].support(n @ rb)) * rng.uniform(0.9, 1.0)
    return shapes, np.array([[0.0, 0.0, 0.0], offset]), q


def moved(rng, position, q, reach):
    """The second box by at most `reach` against the first: half of it shifted, half of it turned (radius 1.4 m)."""
    shift, turn = rng.normal(size=(2, 3))
    shift *= 0.5 * reach / np.linalg.norm(shift)
    turn *= 0.5 * reach / 1.4 / np.linalg.norm(turn)
    return np.array([position[0], position[1] + shift]), np.array([q[0], turned(q[1], turn)])


def collide(collider, position, q):
    return collider.collide_once(position, q, [0, 2], NEAR)


def was_reused(before, after):
    return (
        len(before) == len(after) == 1
        and before["allowance"][0] > 0
        and before["origin"].tobytes() == after["origin"].tobytes()
    )


def used(m):
    return m["points"][0][: m["point_count"][0]]


def overlap_of(m):
    return used(m)["separation"].min()


@cases
@given(seeds)
def test_small_motions_reuse_the_points_within_the_bound(seed):
    """The least separation is that of fresh points up to twice the motion; where the normal is the same axis, up to the
    motion times the slopes; and each point lies on both surfaces to that."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng)
    collider = make_collider(shapes)
    before = collide(collider, position, q)
    reach = ALLOWANCE * rng.uniform(0.01, 0.2)
    position, q = moved(rng, position, q, reach)
    after = collide(collider, position, q)
    fresh = collide(make_collider(shapes), position, q)
    if not was_reused(before, after):
        assert len(after) == len(fresh) and (
            len(after) == 0 or np.array_equal(used(after), used(fresh)) or before["allowance"][0] > 0
        )
        return
    assert len(fresh) == 1
    assert abs(overlap_of(after) - overlap_of(fresh)) <= 2 * reach
    assert np.isclose(np.linalg.norm(after["normal"]), 1.0, atol=1e-14)
    if after["origin"]["owner"][0] == fresh["origin"]["owner"][0] < 2 and after["normal"][0] @ fresh["normal"][0] > 0.99:
        assert np.allclose(after["normal"], fresh["normal"], rtol=0, atol=1e-15)
    n = after["normal"][0]
    for p in used(after):
        for sign, shape, x, r in ((-1, shapes[0], position[0], matrix(q[0])), (1, shapes[1], position[1], matrix(q[1]))):
            surface = p["position"] + sign * 0.5 * p["separation"] * n - x
            assert shape.distance(surface @ r) <= 2 * reach + 1e-9
    worst = max(np.linalg.norm(used(fresh)["position"] - p["position"], axis=1).min() for p in used(after))
    tilt = np.abs(matrix(q[0]).T @ matrix(q[1]) - np.eye(3)).max()
    if len(used(after)) == len(used(fresh)) == 4 and tilt < 0.1:
        assert worst <= 2 * reach


@cases
@given(seeds)
def test_beyond_the_allowance_points_are_made_anew(seed):
    """After a larger motion, along or across, the contacts are those of a fresh collider, to the bit."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng)
    collider = make_collider(shapes)
    collide(collider, position, q)
    shift = rng.normal(size=3)
    position[1] += 1.01 * ALLOWANCE * shift / np.linalg.norm(shift)
    after, fresh = collide(collider, position, q), collide(make_collider(shapes), position, q)
    assert after["points"].tobytes() == fresh["points"].tobytes() and after["normal"].tobytes() == fresh["normal"].tobytes()


@cases
@given(seeds)
def test_a_common_motion_changes_nothing(seed):
    """Both boxes moved as one: the same points in their axes, the same separations, whatever the motion."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng)
    collider = make_collider(shapes)
    before = collide(collider, position, q)
    angle, shift = rng.normal(size=3), rng.normal(scale=3.0, size=3)
    r = matrix(turned(IDENTITY, angle))
    after = collide(collider, position @ r.T + shift, np.array([turned(x, angle) for x in q]))
    assert len(before) == len(after)
    if len(before) and before["allowance"][0] > 0:
        assert was_reused(before, after)
        assert np.array_equal(used(after)["feature"], used(before)["feature"])
        assert np.allclose(used(after)["separation"], used(before)["separation"], rtol=0, atol=1e-13)
        assert np.allclose(used(after)["position"], used(before)["position"] @ r.T + shift, rtol=0, atol=1e-13)
        assert np.allclose(after["normal"], before["normal"] @ r.T, rtol=0, atol=1e-14)


@cases
@given(seeds)
def test_nothing_adds_up(seed):
    """Many small steps to a pose give the bits of one step there, also through get_manifolds and set_manifolds."""
    rng = np.random.default_rng(seed)
    shapes, position, q = touching(rng)
    there = moved(rng, position, q, 0.2 * ALLOWANCE)
    slow, fast, restored = (make_collider(shapes) for _ in range(3))
    for collider in (slow, fast):
        before = collide(collider, position, q)
    if len(before) == 0 or before["allowance"][0] == 0 or used(before)["separation"].max() > NEAR - ALLOWANCE:
        return
    for _ in range(10):
        between = moved(rng, position, q, 0.2 * ALLOWANCE)
        assert was_reused(before, collide(slow, *between))
    restored.set_manifolds(slow.get_manifolds())
    a, b, c = collide(slow, *there), collide(fast, *there), collide(restored, *there)
    assert was_reused(before, a) and a.tobytes() == b.tobytes() == c.tobytes()


def test_a_corner_over_a_face_is_exact():
    """A small tilted box over a large one, turned and slid a little: its low corner's height is that of geometry."""
    rng = np.random.default_rng(5)
    small, large = Shape("box", (0.5, 0.5, 0.5)), Shape("box", (9.0, 9.0, 1.0))
    q = np.array([IDENTITY, turned(turned(IDENTITY, np.array([0.3, 0.0, 0.0])), np.array([0.0, 0.4, 0.0]))])
    corners = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    position = np.array([[0, 0, -1.0], [0.1, 0.2, -(corners @ matrix(q[1]).T)[:, 2].min() - 0.003]])
    for flip in (1, -1):  # the small box second, then first
        collider = make_collider([large, small][::flip])
        before = collider.collide_once(position[::flip], q[::flip], [0, 2][::flip], NEAR)
        for _ in range(20):
            p, r = moved(rng, position, q, 0.02 * ALLOWANCE)  # as the small one sees the large one's far end
            after = collider.collide_once(p[::flip], r[::flip], [0, 2][::flip], NEAR)
            low = p[1] + (corners @ matrix(r[1]).T)[(corners @ matrix(r[1]).T)[:, 2].argmin()]
            assert was_reused(before, after) and abs(overlap_of(after) - low[2]) < 1e-9
            assert np.allclose(used(after)["position"][0], [low[0], low[1], 0.5 * low[2]], rtol=0, atol=1e-6)


def test_a_farther_look_makes_points_anew():
    """Points are looked for anew when speeds ask for a larger distance, although nothing has moved."""
    boxes = [Shape("box", (0.5, 0.5, 0.5))] * 2
    q = np.array([IDENTITY, turned(IDENTITY, np.array([0.05, 0.0, 0.0]))])
    collider = make_collider(boxes)
    near = collider.collide_once([[0, 0, 0], [0, 0, 1.02]], q, [0, 2], NEAR)
    far = collider.collide_once([[0, 0, 0], [0, 0, 1.02]], q, [0, 2], 0.5)
    assert len(used(near)) == 2 and len(used(far)) == 4


def test_an_owner_of_the_normal_that_does_not_exist_is_refused():
    collider = make_collider([Shape("box", (0.5, 0.5, 0.5))] * 2)
    found = collide(collider, [[0, 0, 0], [0, 0, 1.0]], [IDENTITY] * 2)
    for owner in (-1, 4):
        found["origin"]["owner"] = owner
        try:
            collider.set_manifolds(found)
        except ValueError as error:
            assert "owner" in str(error)
        else:
            raise AssertionError("taken")
