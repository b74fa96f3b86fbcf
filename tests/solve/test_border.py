"""The border of the joints' system: which rows meet, in how many rounds that is found, and how much is kept."""

import numpy as np
import pytest

from mcsim.solve.border import plan_border
from mcsim.solve.components import connected


def random_border(seed, bodies=40, joints=25, rows=30):
    """Bodies of rows, pairs of joints in the tree, and which bodies move: about two thirds."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(bodies + 1, 2, replace=False) - 1 for _ in range(joints)])
    ends = [[int(body) for body in rng.choice(bodies + 1, rng.choice([2, 4]), replace=False) - 1] for _ in range(rows)]
    return ends, pairs, rng.random(bodies) < 0.7


@pytest.mark.parametrize("seed", range(8))
def test_every_entry_is_found_once_and_has_its_place(seed):
    """Rows meet where a brute-force look at the tree's articulations says so; in a round, a row feels one column at
    most; rows of one articulation stand together."""
    ends, pairs, moves = random_border(seed)
    found = plan_border(ends, pairs, moves)
    assert sorted(found.order) == list(range(len(ends))) and np.all(np.diff(found.group) >= 0)
    of_body = connected(pairs, moves)
    acts_on = [{of_body[body] for body in ends[k] if body >= 0 and moves[body]} for k in found.order]
    n = len(ends)
    meet = np.array([[i == j or bool(acts_on[i] & acts_on[j]) for j in range(n)] for i in range(n)])
    probed = np.zeros((n, n), int)
    for k in range(found.rounds):
        entries = slice(found.round_begin[k], found.round_begin[k + 1])
        rows, columns = found.entry_row[entries], found.entry_column[entries]
        assert len(set(rows)) == len(rows) and np.all(found.round[columns] == k)
        assert np.all(meet[:, found.round == k].sum(axis=1) <= 1)
        probed[rows, columns] += 1
    assert np.array_equal(probed, meet)
    assert np.array_equal(found.first, meet.argmax(axis=1))
    places = np.concatenate([found.line[k] + np.arange(found.first[k], k + 1) for k in range(n)])
    assert np.array_equal(places, np.arange(found.length))
    for i, j in np.argwhere(meet):
        assert found.group[i] == found.group[j]


def test_a_train_of_gears_stays_linear():
    """Wheels on pivots of their own: two numbers a gear, three rounds. On one carrier every gear meets every other."""
    n = 300
    ends = [[-1, k, -1, k + 1] for k in range(n)]
    found = plan_border(ends, np.array([[-1, k] for k in range(n + 1)]), np.ones(n + 1, bool))
    assert found.length == 2 * n - 1 and found.rounds == 3
    found = plan_border(
        [[n, k, n, k + 1] for k in range(n - 1)], np.array([[n, k] for k in range(n)]), np.ones(n + 1, bool)
    )
    assert found.length == n * (n - 1) // 2 and found.rounds == n - 1


def test_nothing():
    found = plan_border([], np.zeros((0, 2), int), np.zeros(0, bool))
    assert found.rounds == found.length == 0
