"""Which pairs are tested: against brute force, through motion, restoring and filters, with thousands of shapes."""

import numpy as np
import pytest

from amounts import amount
from collide_oracle import KINDS, Shape, make_collider, random_quaternions, random_shape

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def scene(rng, count, spread):
    """A static plane, then shapes of all kinds, a fifth of them static or kinematic."""
    shapes = [Shape("plane")] + [random_shape(rng, KINDS[k % len(KINDS)]) for k in range(count)]
    kind = np.full(count + 1, 2)
    kind[::5] = 0
    kind[3::10] = 1
    kind[0] = 0
    position = rng.uniform(-spread, spread, (count + 1, 3)) + [0, 0, spread - 0.3]
    position[0] = 0.0
    q = random_quaternions(rng, count + 1)
    q[0] = IDENTITY
    return shapes, position, q, kind


def same(a, b):
    return a.tobytes() == b.tobytes()


def test_against_all_pairs():
    """Every pair alone in a collider of its own finds exactly what the whole scene finds, to the bit, but for inner edges
    of what stands (_inner_edges.pxd): those of a shape that touches something else that stands."""
    rng = np.random.default_rng(1)
    shapes, position, q, kind = scene(rng, 60, 2.0)
    found = make_collider(shapes).collide_once(position, q, kind, 0.05)
    assert len(found) > 50
    whole = {(m["shape_a"], m["shape_b"]): m for m in found}
    inner = 0
    for i in range(len(shapes)):
        for j in range(i + 1, len(shapes)):
            if (i, j) not in whole and (i + j) % amount(3, 1):
                continue
            pick = [i, j]
            alone = make_collider([shapes[i], shapes[j]]).collide_once(position[pick], q[pick], kind[pick], 0.05)
            expected = len(alone) if 2 in (kind[i], kind[j]) else 0
            if expected and (i, j) not in whole:
                inner += 1
                mover, stands = (i, j) if kind[i] == 2 else (j, i)
                assert kind[stands] != 2 and any(mover in pair and kind[sum(pair) - mover] != 2 for pair in whole)
                continue
            assert ((i, j) in whole) == bool(expected)
            if expected:
                assert same(alone["points"], whole[i, j]["points"]) and same(alone["normal"], whole[i, j]["normal"])
    assert inner < 5


def test_history_does_not_matter():
    """After any motion, jumps and standing still included, the contacts are those of a fresh collider."""
    rng = np.random.default_rng(2)
    shapes, position, q, kind = scene(rng, 120, 3.0)
    collider = make_collider(shapes)
    for step in range(60):
        collider.collide_once(position, q, kind, 0.02)
        collider.validate()
        moving = rng.random(len(shapes)) < (0.02, 0.3, 1.0)[step % 3]
        moving[0] = False
        reach = (1e-4, 0.05, 3.0)[step // 3 % 3]
        position[moving] += rng.normal(scale=reach, size=(moving.sum(), 3))
        if step % 7 == 0:
            q[moving] = random_quaternions(rng, moving.sum())
        if step == 20:
            kind[5:20] = 2 - kind[5:20]
    distance = (0.02, 0.5, 0.0, 0.02)
    for speculative in distance:
        collider.reset() if speculative == 0.5 else collider.set_manifolds(collider.get_manifolds()[:0])
        fresh = make_collider(shapes).collide_once(position, q, kind, speculative)
        assert same(collider.collide_once(position, q, kind, speculative), fresh) and len(fresh) > 20
        collider.validate()
    # The tree as it has grown, without a reset: the same contacts again. Patches keep corners from step to step, so these
    # begin anew.
    collider.set_manifolds(collider.get_manifolds()[:0])
    again = collider.collide_once(position, q, kind, 0.02)
    assert np.array_equal(again["key"], fresh["key"]) and same(again["points"]["position"], fresh["points"]["position"])


def test_restored_manifolds_give_the_same_bits():
    """Two colliders, one restored from the other in mid-run, go on alike."""
    rng = np.random.default_rng(3)
    shapes, position, q, kind = scene(rng, 80, 2.0)
    a, b = make_collider(shapes), make_collider(shapes)
    for step in range(20):
        position[1:] += rng.normal(scale=0.01, size=(len(shapes) - 1, 3))
        if step == 10:
            saved = a.get_manifolds()
            used = np.arange(4) < saved["point_count"][:, None]
            saved["points"]["normal_impulse"] = np.where(used, rng.uniform(size=used.shape), 0.0)
            a.set_manifolds(saved)
            b.set_manifolds(saved)
            assert same(a.get_manifolds(), saved)
        found = a.collide_once(position, q, kind, 0.02)
        if step >= 10:
            assert same(found, b.collide_once(position, q, kind, 0.02))


def test_who_collides_with_whom():
    """Same body, neither dynamic, groups and masks both ways, excluded pairs in any order."""
    cube = Shape("box", (0.5, 0.5, 0.5))
    here, upright = np.zeros((2, 3)), np.tile(IDENTITY, (2, 1))

    def count(kind=(2, 2), **keywords):
        return len(make_collider([cube, cube], **keywords).collide_once(here, upright, kind, 0.02))

    assert count() == 1
    assert count(bodies=[1, 1]) == 0
    assert [count((i, j)) for i in range(3) for j in range(3)] == [0, 0, 1, 0, 0, 1, 1, 1, 1]
    assert count(group=[1, 2], mask=[2, 1]) == 1
    assert count(group=[1, 2], mask=[2, 2]) == 0
    assert count(group=[1, 2], mask=[1, 1]) == 0
    assert count(excluded=[(1, 0)]) == 0 and count(excluded=[(0, 1), (0, 1)]) == 0
    assert count(excluded=[(0, 2), (1, 7)]) == 1
    plane = Shape("plane")
    assert len(make_collider([plane, cube]).collide_once(here, upright, [0, 2], 0.02)) == 1
    assert len(make_collider([plane, cube], excluded=[(1, 0)]).collide_once(here, upright, [0, 2], 0.02)) == 0
    assert len(make_collider([plane, cube], mask=[2, 1]).collide_once(here, upright, [0, 2], 0.02)) == 0
    assert len(make_collider([plane, plane]).collide_once(here, upright, [0, 2], 0.02)) == 0


@pytest.mark.parametrize("planes", [[0], [3], [5], [0, 2, 5]])
def test_manifolds_are_sorted_wherever_the_planes_are(planes):
    shapes = [Shape("box", (0.5, 0.5, 0.5)) for _ in range(6)]
    position = np.array([[0.9 * k, 0.0, 0.45] for k in range(6)])
    kind = np.full(6, 2)
    for k in planes:
        shapes[k], position[k], kind[k] = Shape("plane"), 0.0, 0
    found = make_collider(shapes).collide_once(position, np.tile(IDENTITY, (6, 1)), kind, 0.02)
    assert np.all(found["key"][1:] > found["key"][:-1])
    keys = [int(a) << 32 | int(b) for a, b in zip(found["shape_a"], found["shape_b"])]
    assert found["key"].tolist() == keys
    assert len(found) >= 6 - len(planes)


def test_buffers_grow():
    """Far more pairs than the first buffers hold: all of them are found, in one call."""
    n = 300
    found = make_collider([Shape("sphere", (1.0, 0, 0))] * n).collide_once(
        np.zeros((n, 3)), np.tile(IDENTITY, (n, 1)), np.full(n, 2), 0.02
    )
    assert len(found) == n * (n - 1) // 2
    assert np.all(found["key"][1:] > found["key"][:-1])


@pytest.mark.slow
def test_fifty_thousand_shapes():
    """Spread out, all at one place, and all in a line, with NaN among them: the tree stays balanced and quick."""
    n = 50_000
    rng = np.random.default_rng(4)
    sphere = Shape("sphere", (0.2, 0, 0))
    kind = np.zeros(n, int)
    kind[:10] = 2
    q = np.tile(IDENTITY, (n, 1))
    collider = make_collider([sphere] * n)
    spread = rng.uniform(-15, 15, (n, 3))
    found = collider.collide_once(spread, q, kind, 0.02)
    gap = np.linalg.norm(spread[:10, None] - spread, axis=2)
    expected = {(i, j) for i, j in zip(*np.nonzero(gap <= 0.42)) if i < j}
    assert {(m["shape_a"], m["shape_b"]) for m in found} == expected
    collider.validate()
    # Ten dynamic ones meet each other and all the static ones.
    assert len(collider.collide_once(np.zeros((n, 3)), q, kind, 0.02)) == 45 + 10 * (n - 10)
    line = np.zeros((n, 3))
    line[:, 0] = np.arange(n)
    assert len(collider.collide_once(line, q, kind, 0.02)) == 0
    line[::3] = np.nan
    line[1::3] = np.inf
    assert len(collider.collide_once(line, q, kind, 0.02)) == 0
    collider.validate()


def test_an_empty_world_and_one_shape():
    assert len(make_collider([]).collide_once(np.zeros((0, 3)), np.zeros((0, 4)), [], 0.02)) == 0
    collider = make_collider([Shape("sphere", (1.0, 0, 0))])
    for x in (0.0, 5.0, np.nan, 1.0):
        assert len(collider.collide_once([[x, 0, 0]], [IDENTITY], [2], 0.02)) == 0
        collider.validate()


def test_bad_arrays_are_refused():
    collider = make_collider([Shape("sphere", (1.0, 0, 0))] * 2)
    with pytest.raises(ValueError, match="2 bodies"):
        collider.collide_once(np.zeros((1, 3)), [IDENTITY], [2], 0.02)
    found = collider.collide_once(np.zeros((2, 3)), [IDENTITY] * 2, [2, 2], 0.02)
    with pytest.raises(ValueError, match="sorted"):
        collider.set_manifolds(np.concatenate([found, found]))
    found["point_count"] = 9
    with pytest.raises(ValueError, match="0 to 4"):
        collider.set_manifolds(found)
