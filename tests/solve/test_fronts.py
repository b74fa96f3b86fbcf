"""Fronts: the same solution as a dense one, the same fill as the order has, in the groups that they promise."""

import numpy as np
import pytest
from mcsim.solve._fronts import solve_blocks

from mcsim.solve.fronts import postorder
from mcsim.solve.ordering import plan


def random_graph(seed, bodies=40, joints=70):
    """(joints, 2) bodies with many loops, -1 the world; sizes 1 to 6; one body with a dozen joints."""
    random = np.random.default_rng(seed)
    pairs = np.array([random.choice(bodies + 1, 2, replace=False) - 1 for _ in range(joints)])
    pairs[:12, 0], pairs[:12, 1] = 0, random.choice(np.arange(1, bodies), 12, replace=False)
    return pairs, random.integers(1, 7, joints), np.ones(bodies, bool)


def net(n):
    """A net of n by n bodies, hung by two."""
    at = np.arange(n * n).reshape(n, n)
    pairs = [
        np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1),
        np.stack([at[:-1].ravel(), at[1:].ravel()], 1),
        [[-1, 0], [-1, n - 1]],
    ]
    pairs = np.concatenate(pairs)
    return pairs, np.full(len(pairs), 3), np.ones(n * n, bool)


def blocks_and_dense(found, seed=0):
    """Random given blocks that make a quasi-definite matrix, and that matrix."""
    random = np.random.default_rng(seed)
    values, dense = random.normal(size=found.value_count), np.zeros((found.length, found.length))
    for k in range(len(found.joint)):
        own = slice(found.offset[k], found.offset[k] + found.size[k])
        for e in range(found.entry_begin[k], found.entry_begin[k + 1]):
            i = found.entry_node[e]
            rows = slice(found.offset[i], found.offset[i] + found.size[i])
            block = values[found.entry_value[e] :][: found.size[i] * found.size[k]].reshape(found.size[i], -1)
            dense[rows, own], dense[own, rows] = block, block.T
        diagonal = values[found.diagonal[k] :][: found.size[k] ** 2].reshape(found.size[k], -1)
        diagonal += diagonal.T + (60.0 if found.joint[k] >= 0 else -60.0) * np.eye(found.size[k])
        dense[own, own] = diagonal
    return values, dense


@pytest.mark.parametrize("graph", [random_graph(0), random_graph(1), random_graph(2, 14, 50), net(3), net(9)])
def test_the_solution_is_that_of_the_dense_matrix(graph):
    """Hubs, which are negative, blocks of 1 to 6 and all widths of fronts included."""
    found = plan(*graph)
    values, dense = blocks_and_dense(found)
    right = np.random.default_rng(3).normal(size=found.length)
    assert np.allclose(solve_blocks(found, values, right), np.linalg.solve(dense, right), rtol=0, atol=1e-12)


def test_a_pivot_of_zero_is_skipped():
    """Two equal rows: the second is left out, the first has its answer."""
    found = plan(np.array([[0, 1], [0, 1], [1, 0]]), np.full(3, 2), np.ones(2, bool))
    values, _dense = blocks_and_dense(found)
    for k in range(3):
        values[found.diagonal[k] :][:4] = np.ravel(2 * np.eye(2))
        for e in range(found.entry_begin[k], found.entry_begin[k + 1]):
            values[found.entry_value[e] :][:4] = np.ravel(2 * np.eye(2))
    found_x = solve_blocks(found, values, np.tile([4.0, 6.0], 3))
    assert np.allclose(found_x.reshape(3, 2).sum(axis=0), [2, 3])


@pytest.mark.parametrize("graph", [random_graph(4), net(8)])
def test_fronts_hold_what_their_columns_reach(graph):
    """All rows of a child stand in the parent's front, own numbers once, and few zeros are added."""
    found = plan(*graph)
    fronts = found.fronts
    assert np.array_equal(np.cumsum(fronts.width)[:-1], fronts.begin[1:]) and fronts.width.sum() == found.length
    for s in range(len(fronts.begin)):
        rows = fronts.row[fronts.row_begin[s] : fronts.row_begin[s + 1]]
        assert np.all(np.diff(rows) > 0) and np.all(rows >= fronts.begin[s] + fronts.width[s])
        for c in fronts.child[fronts.child_begin[s] : fronts.child_begin[s + 1]]:
            below = fronts.row[fronts.row_begin[c] : fronts.row_begin[c + 1]]
            numbers = np.concatenate([fronts.begin[s] + np.arange(fronts.width[s]), rows])
            assert np.array_equal(numbers[fronts.parent_row[fronts.row_begin[c] : fronts.row_begin[c + 1]]], below)
    dense = blocks_and_dense(found)[1]
    lower = np.linalg.cholesky(dense + 1e3 * np.eye(len(dense))) if np.all(found.joint >= 0) else None
    if lower is not None:
        assert fronts.panel_count < 1.6 * np.count_nonzero(np.abs(lower) > 1e-14)


def test_postorder_keeps_the_fill():
    """Node 4's subtree, then 5's, each child directly before what it leads to."""
    columns = {0: {4}, 1: {5}, 2: {4}, 3: {5}, 4: {6}, 5: {6}, 6: set()}
    assert postorder([0, 1, 2, 3, 4, 5, 6], columns) == [0, 2, 4, 1, 3, 5, 6]
