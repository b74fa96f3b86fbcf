"""Shapes that come, go, change, rest and wake while a collider runs: always what a fresh one finds, to the bit."""

import time

import numpy as np
import pytest

from amounts import amount
from collide_oracle import KINDS, Shape, make_collider, random_quaternions, random_shape, shape_arrays

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
STATIC, KINEMATIC, DYNAMIC = 0, 1, 2


class Twin:
    """A collider and all that is needed to make it anew."""

    def __init__(self, rng, count, spread):
        self.rng, self.spread = rng, spread
        self.shapes, self.bodies = [], np.zeros(0, int)
        self.group, self.mask = np.zeros(0, int), np.zeros(0, int)
        self.excluded = np.zeros((0, 2), int)
        self.position, self.orientation, self.kind = np.zeros((0, 3)), np.zeros((0, 4)), np.zeros(0, int)
        self.resting = np.zeros(0, bool)  # of bodies
        self.collider = make_collider([])
        self.found = self.collider.get_manifolds()
        self.add(count)

    def add(self, count):
        """`count` bodies of one to three shapes; one in twenty is a plane."""
        rng, first = self.rng, len(self.kind)
        kind = rng.choice([STATIC, KINEMATIC, DYNAMIC], count, p=[0.2, 0.1, 0.7])
        shapes, bodies = [], []
        for k in range(count):
            if rng.random() < 0.05:
                kind[k] = STATIC
                shapes.append(Shape("plane"))
                bodies.append(first + k)
                continue
            for _ in range(rng.integers(1, 4)):
                shapes.append(random_shape(rng, KINDS[rng.integers(len(KINDS))]))
                bodies.append(first + k)
        group, mask = rng.choice([1, 2], len(shapes)), rng.choice([-1, 3, 2], len(shapes))
        self.collider.add_shapes(*shape_arrays(shapes, bodies, group=group, mask=mask))
        self.shapes += shapes
        self.bodies = np.append(self.bodies, bodies).astype(int)
        self.group, self.mask = np.append(self.group, group), np.append(self.mask, mask)
        self.kind = np.append(self.kind, kind)
        self.resting = np.append(self.resting, np.zeros(count, bool))
        place = rng.uniform(-self.spread, self.spread, (count, 3))
        place[[k for k in range(count) if shapes[bodies.index(first + k)].kind == "plane"], 2] = -self.spread
        self.position = np.vstack([self.position, place])
        self.orientation = np.vstack([self.orientation, random_quaternions(rng, count)])

    def remove(self, count):
        gone = np.zeros(len(self.kind), bool)
        gone[self.rng.choice(len(gone), min(count, len(gone)), replace=False)] = True
        number = np.where(gone, -1, np.cumsum(~gone) - 1)
        out = gone[self.bodies]
        new = self.collider.remove_shapes(out, number)
        assert np.array_equal(new[~out], np.arange((~out).sum())) and np.all(new[out] == -1)
        self.shapes = [shape for shape, away in zip(self.shapes, out) if not away]
        self.bodies = number[self.bodies[~out]]
        self.group, self.mask = self.group[~out], self.mask[~out]
        self.kind, self.resting = self.kind[~gone], self.resting[~gone]
        self.position, self.orientation = self.position[~gone], self.orientation[~gone]
        self.excluded = number[self.excluded]
        self.excluded = self.excluded[np.all(self.excluded >= 0, axis=1)]
        # What must have become of the manifolds.
        kept = ~(out[self.found["shape_a"]] | out[self.found["shape_b"]])
        self.found = self.found[kept]
        for field, map_ in (("shape_a", new), ("shape_b", new), ("body_a", number), ("body_b", number)):
            self.found[field] = map_[self.found[field]]
        self.found["key"] = self.found["shape_a"].astype(np.uint64) << np.uint64(32) | self.found["shape_b"].astype(
            np.uint64
        )
        assert self.collider.get_manifolds().tobytes() == self.found.tobytes()

    def exclude(self, count):
        self.excluded = self.rng.integers(0, len(self.kind), (count, 2)) if len(self.kind) else self.excluded[:0]
        self.collider.set_excluded(self.excluded)
        expected = {tuple(sorted(pair)) for pair in self.excluded.tolist()}
        assert {tuple(pair) for pair in self.collider.get_excluded().tolist()} == expected

    def refilter(self, count):
        numbers = self.rng.choice(len(self.shapes), min(count, len(self.shapes)), replace=False)
        records = self.collider.get_shapes()[numbers]
        self.group[numbers] = records["group"] = self.rng.choice([1, 2], len(numbers))
        self.mask[numbers] = records["mask"] = self.rng.choice([-1, 3, 2], len(numbers))
        self.collider.change_shapes(numbers, records)

    def replace(self, count):
        """Other shapes in the place of some, but for planes. Their manifolds go."""
        solid = [i for i, shape in enumerate(self.shapes) if shape.kind != "plane"]
        numbers = self.rng.permutation(solid)[:count].astype(int)
        shapes = [random_shape(self.rng, KINDS[self.rng.integers(len(KINDS))]) for _ in numbers]
        group, mask = self.rng.choice([1, 2], len(numbers)), self.rng.choice([-1, 3, 2], len(numbers))
        records = shape_arrays(shapes, self.bodies[numbers], group=group, mask=mask)
        self.collider.replace_shapes(numbers, *records)
        for i, shape in zip(numbers, shapes):
            self.shapes[i] = shape
        self.group[numbers], self.mask[numbers] = group, mask
        self.found = self.found[~np.isin(self.found["shape_a"], numbers) & ~np.isin(self.found["shape_b"], numbers)]
        assert self.collider.get_manifolds().tobytes() == self.found.tobytes()

    def move(self, part, reach):
        moving = ~self.resting & (self.rng.random(len(self.kind)) < part)
        self.position[moving] += self.rng.normal(scale=reach, size=(moving.sum(), 3))

    def rest(self, part):
        """Who sleeps; a body that sleeps does not move, and keeps its kind."""
        self.resting = (self.kind != STATIC) & (self.rng.random(len(self.kind)) < part)
        self.collider.set_resting(self.resting[self.bodies])

    def turn_kind(self):
        awake = np.flatnonzero(~self.resting)
        if len(awake):
            self.kind[awake[self.rng.integers(len(awake))]] = self.rng.choice([STATIC, KINEMATIC, DYNAMIC])

    def check(self):
        """Against a fresh collider of all shapes awake, less the pairs in which nothing moves by itself."""
        fresh = make_collider(self.shapes, self.bodies, group=self.group, mask=self.mask, excluded=self.excluded)
        fresh.set_manifolds(self.found)
        state = self.position, self.orientation, self.kind, 0.02
        every = fresh.collide_once(*state)
        mover = (self.kind != STATIC) & ~self.resting
        self.found = every[mover[every["body_a"]] | mover[every["body_b"]]]
        assert self.collider.collide_once(*state).tobytes() == self.found.tobytes()
        self.collider.validate()


@pytest.mark.parametrize("seed", [4, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_any_order_of_changes(seed):
    rng = np.random.default_rng(seed)
    twin = Twin(rng, 40, 2.5)
    deeds = (
        lambda: twin.add(rng.integers(1, 6)),
        lambda: twin.remove(rng.integers(1, 5)),
        lambda: twin.exclude(20),
        lambda: twin.refilter(5),
        lambda: twin.move(1.0, 0.02),
        lambda: twin.move(0.2, 3.0),
        lambda: twin.move(0.1, 1e-3),
        lambda: twin.rest(rng.choice([0.0, 0.3, 0.9])),
        twin.turn_kind,
    )
    changes, touching = amount(30, 150), 0
    for _ in range(changes):
        for _ in range(rng.integers(1, 4)):
            deeds[rng.integers(len(deeds))]()
        twin.check()
        touching += len(twin.found)
    assert touching > 15 * changes


def test_shapes_in_the_place_of_others():
    """Some at a time, between other changes: crowded, so that most touch."""
    rng = np.random.default_rng(4)
    twin = Twin(rng, 40, 1.5)
    others = (
        lambda: twin.add(rng.integers(1, 4)),
        lambda: twin.remove(rng.integers(1, 4)),
        lambda: twin.refilter(5),
        lambda: twin.move(0.2, 0.5),
        lambda: twin.rest(rng.choice([0.0, 0.3, 0.9])),
        twin.turn_kind,
    )
    changes, touching = amount(20, 60), 0
    for _ in range(changes):
        twin.replace(rng.integers(0, 6))
        if rng.random() < 0.5:
            twin.check()
        others[rng.integers(len(others))]()
        twin.check()
        touching += len(twin.found)
    assert touching > 15 * changes


def test_everything_goes_and_comes_back():
    rng = np.random.default_rng(9)
    twin = Twin(rng, 30, 1.5)
    for _ in range(5):
        twin.check()
        assert len(twin.found) > 10
        twin.remove(1000)
        twin.check()
        assert len(twin.found) == 0 and twin.collider.shape_count == 0
        twin.add(30)


def test_one_by_one_in_a_row():
    """The worst order for a tree that only looks at surfaces: validate() holds the two sides of each node together."""
    collider = make_collider([])
    sphere = Shape("sphere", (0.2, 0, 0))
    n = 300
    position = np.zeros((n, 3))
    position[:, 0] = np.arange(n)
    q, kind = np.tile(IDENTITY, (n, 1)), np.full(n, 2)
    for k in range(n):
        collider.add_shapes(*shape_arrays([sphere], [k]))
        collider.collide_once(position, q, kind, 0.02)
        if k % 20 == 0:
            collider.validate()
    collider.validate()
    gone = np.arange(n) < n - 20
    collider.remove_shapes(gone, np.where(gone, -1, np.cumsum(~gone) - 1))
    collider.validate()


def test_a_change_of_material_or_form_is_seen():
    cube = Shape("box", (0.5, 0.5, 0.5))
    collider = make_collider([cube, cube], friction=0.25)
    state = [[0, 0, 0], [0, 0, 1.0]], [IDENTITY] * 2, [0, 2], 0.02
    assert collider.collide_once(*state)["friction"] == [0.25]
    records = collider.get_shapes()
    records["friction"] = 0.75
    assert not collider.change_shapes([0, 1], records).any()
    assert collider.collide_once(*state)["friction"] == [0.75]
    records["size"][0] = (0.5, 0.5, 0.45)
    assert collider.change_shapes([0], records[:1]).all()
    assert len(collider.collide_once(*state)) == 0  # the lower one's top is 5 cm down now
    records["size"][0] = (0.5, 0.5, 0.495)
    collider.change_shapes([0], records[:1])
    assert collider.collide_once(*state)["points"]["separation"][0] == pytest.approx(0.005)


def test_what_may_not_stand_in_the_place_of_another_is_refused():
    plane, cube = Shape("plane"), Shape("box", (0.5, 0.5, 0.5))
    collider = make_collider([plane, cube, cube])
    before = collider.get_shapes().tobytes()
    for numbers, shapes, bodies in (
        ([0], [cube], [0]),
        ([1], [plane], [1]),
        ([1], [cube], [2]),
        ([1, 1], [cube, cube], [1, 1]),
        ([3], [cube], [3]),
        ([1], [cube, cube], [1, 1]),
    ):
        with pytest.raises(ValueError):
            collider.replace_shapes(numbers, *shape_arrays(shapes, bodies))
    assert collider.get_shapes().tobytes() == before


def test_a_static_body_that_is_moved_by_hand_is_noticed():
    cube = Shape("box", (0.5, 0.5, 0.5))
    collider = make_collider([cube, cube])
    q = [IDENTITY] * 2
    assert len(collider.collide_once([[5, 0, 0], [0, 0, 0]], q, [0, 2], 0.02)) == 0
    assert len(collider.collide_once([[1, 0, 0], [0, 0, 0]], q, [0, 2], 0.02)) == 1
    assert len(collider.collide_once([[5, 0, 0], [0, 0, 0]], q, [0, 2], 0.02)) == 0
    turned = [0.5**0.5, 0, 0, 0.5**0.5]
    assert len(collider.collide_once([[1.1, 0, 0], [0, 0, 0]], q, [0, 2], 0.02)) == 0
    assert len(collider.collide_once([[1.1, 0, 0], [0, 0, 0]], [[0.924, 0, 0, 0.383], IDENTITY], [0, 2], 0.02)) == 1
    assert len(collider.collide_once([[1.1, 0, 0], [0, 0, 0]], [turned, IDENTITY], [0, 2], 0.02)) == 0


def test_what_is_refused_changes_nothing():
    rng = np.random.default_rng(5)
    twin = Twin(rng, 20, 1.5)
    twin.check()
    good = shape_arrays([random_shape(rng, "hull")], [3])
    records = twin.collider.get_shapes()

    def bad(field, value):
        array = good[0].copy()
        array[field] = value
        return array

    with pytest.raises(ValueError, match="names hull 1 of 1"):
        twin.collider.add_shapes(bad("hull", 1), *good[1:])
    with pytest.raises(ValueError, match="body"):
        twin.collider.add_shapes(bad("body", -1), *good[1:])
    with pytest.raises(ValueError, match="beyond the pools"):
        twin.collider.add_shapes(good[0], good[1], good[2][:1], *good[3:])
    n, bodies = len(twin.shapes), len(twin.kind)
    same = np.arange(bodies)
    with pytest.raises(ValueError, match="one flag"):
        twin.collider.remove_shapes(np.zeros(n + 1, bool), same)
    with pytest.raises(ValueError, match="body that goes"):
        twin.collider.remove_shapes(np.zeros(n, bool), np.where(same == 2, -1, same))
    with pytest.raises(ValueError, match="in order"):
        twin.collider.remove_shapes(np.zeros(n, bool), same[::-1].copy())
    with pytest.raises(ValueError, match="needs its number"):
        twin.collider.change_shapes([n], records[:1])
    for field in ("body", "type", "hull"):
        other = records[:1].copy()
        other[field] += 1
        with pytest.raises(ValueError, match=f"keeps its {field}"):
            twin.collider.change_shapes([0], other)
    with pytest.raises(ValueError, match="one flag"):
        twin.collider.set_resting([True])
    assert twin.collider.get_shapes().tobytes() == records.tobytes()
    twin.check()


@pytest.mark.slow
def test_one_more_costs_no_rebuild():
    """Adding one body to 20,000 at rest, and a step after it: far below what building the tree takes."""
    n = 20_000
    rng = np.random.default_rng(6)
    cube = Shape("box", (0.2, 0.2, 0.2))
    position = rng.uniform(-30, 30, (n + 200, 3))
    q, kind = np.tile(IDENTITY, (n + 200, 1)), np.full(n + 200, 2)
    collider = make_collider([cube] * n)
    collider.collide_once(position, q, kind, 0.02)
    collider.set_resting(np.ones(n, bool))
    collider.collide_once(position, q, kind, 0.02)
    one = shape_arrays([cube], [n])
    took = []
    for k in range(200):
        one[0]["body"] = n + k
        begin = time.perf_counter()
        collider.add_shapes(*one)
        took.append(time.perf_counter() - begin)
    collider.collide_once(position, q, kind, 0.02)
    collider.validate()
    assert np.median(took) < 1e-3
