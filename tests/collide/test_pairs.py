"""The set of pairs, kept from call to call, beside all pairs by brute force, through any motion."""

import numpy as np
from hypothesis import given, settings, strategies as st

from amounts import amount
from collide_oracle import KINDS, Shape, make_collider, matrix, random_quaternions, random_shape

NEAR = 0.02


def boxes_of(shapes, position, q, margin):
    """(n, 3), (n, 3): lower and upper corners of the boxes about the shapes and their margins."""
    rotation = matrix(q)
    reach = [
        [shape.support(r.T @ (sign * axis)) for axis in np.eye(3)] for shape, r in zip(shapes, rotation) for sign in (-1, 1)
    ]
    reach = np.array(reach).reshape(len(shapes), 2, 3) + np.reshape(margin, (-1, 1, 1))
    return position - reach[:, 0], position + reach[:, 1]


def overlapping(lower, upper, kind):
    """All (i, j), i < j, whose boxes overlap and of which one at least is dynamic."""
    meet = np.all((lower[:, None] <= upper) & (lower <= upper[:, None]), axis=2)
    meet &= (kind == 2)[:, None] | (kind == 2)
    return {(i, j) for i, j in zip(*np.nonzero(np.triu(meet, 1)))}


@settings(max_examples=amount(5, 60), deadline=None, derandomize=True)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.lists(
        st.sampled_from(["still", "tremble", "walk", "one", "jump", "kinds", "forget", "not finite"]),
        min_size=3,
        max_size=12,
    ),
)
def test_pairs_are_those_of_brute_force_after_any_motion(seed, count, motions):
    """No pair of touching boxes is missing, none is there twice, none that is farther apart than the fat allows, and the
    contacts are those of each pair alone, but for those at inner edges of what stands."""
    rng = np.random.default_rng(seed)
    shapes = [random_shape(rng, KINDS[k % len(KINDS)]) for k in range(count)]
    kind = rng.choice([0, 1, 2, 2], count)
    position, q = rng.uniform(-1.5, 1.5, (count, 3)), random_quaternions(rng, count)
    collider = make_collider(shapes)
    for motion in motions:
        lost = np.zeros(count, bool)
        some = rng.random(count) < 0.5
        if motion in ("tremble", "walk"):
            position[some] += rng.normal(scale=1e-3 if motion == "tremble" else 0.1, size=(some.sum(), 3))
        elif motion == "one":
            position[rng.integers(count)] = rng.uniform(-1.5, 1.5, 3)
        elif motion == "jump":
            position, q = rng.uniform(-1.5, 1.5, (count, 3)), random_quaternions(rng, count)
        elif motion == "kinds":
            kind = rng.choice([0, 1, 2, 2], count)
        elif motion == "forget":
            collider.reset()
        elif motion == "not finite":
            lost[rng.integers(count)] = True
        there = np.where(lost[:, None], np.nan, position)
        found = collider.collide_once(there, q, kind, NEAR)
        collider.validate()
        pairs = [tuple(pair) for pair in collider.get_pairs().tolist()]
        assert pairs == sorted(set(pairs))
        lower, upper = boxes_of(shapes, there, q, np.full(count, 0.5 * NEAR - 1e-12))
        assert overlapping(lower, upper, kind) <= set(pairs)
        fat = 2.0 * (NEAR + 0.025 * (upper - lower).max(axis=1)) + 0.5 * NEAR + 1e-9
        assert set(pairs) <= overlapping(*boxes_of(shapes, there, q, fat), kind)
        boxes = collider.get_boxes()
        assert np.array_equal(np.isnan(boxes).any(axis=(1, 2)), lost)
        low, high = boxes_of(shapes, there, q, np.full(count, -1e-12))
        assert ((boxes[:, 0] <= low) & (high <= boxes[:, 1]))[~lost].all()
        assert set(pairs) == overlapping(boxes[:, 0], boxes[:, 1], kind)
        contacts = {(int(m["shape_a"]), int(m["shape_b"])) for m in found}
        touching = {pair for pair in pairs if touch(pair, shapes, there, q, kind)}
        assert contacts <= touching
        for pair in touching - contacts:  # an inner one: the moving shape touches others that stand
            (moving,), (standing,) = ([i for i in pair if (kind[i] == 2) == moves] for moves in (True, False))
            assert kind[standing] == 0
            assert any(moving in other and kind[sum(other) - moving] == 0 for other in contacts)


def touch(pair, shapes, position, q, kind):
    pick = list(pair)
    return len(make_collider([shapes[i] for i in pick]).collide_once(position[pick], q[pick], kind[pick], NEAR)) > 0


def test_reused_points_do_not_hide_pairs():
    """Boxes that tremble for long, then part by a hair more than the distance, and come back."""
    cube = Shape("box", (0.5, 0.5, 0.5))
    collider = make_collider([cube, cube])
    q = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    for height, points in (
        (1.0, 4),
        (1.0004, 4),
        (0.9996, 4),
        (1.0199, 4),
        (1.0201, 0),
        (1.0199, 4),
        (1.0201, 0),
        (1.0, 4),
    ):
        found = collider.collide_once([[0, 0, 0], [0, 0, height]], q, [0, 2], NEAR)
        assert found["point_count"].sum() == points and len(collider.get_pairs()) == 1
        assert np.allclose(found["points"]["separation"], height - 1.0, rtol=0, atol=1e-12)
