"""Articulations against a search that follows joints from body to body."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from mcsim.core._forest import group_numbers
from mcsim.solve.components import connected, count_loops, free_articulations


@st.composite
def jointed_bodies(draw):
    """(pairs, moves)"""
    moves = np.array(draw(st.lists(st.booleans(), min_size=1, max_size=8)))
    body = st.integers(-1, len(moves) - 1)
    pairs = draw(st.lists(st.tuples(body, body).filter(lambda p: p[0] != p[1]), max_size=10))
    return np.array(pairs, int).reshape(-1, 2), moves


def reached(pairs, moves, start):
    """The dynamic bodies that hang together with `start`."""
    found = {start}
    while True:
        more = {int(b) for pair in pairs for b in pair if found & set(pair.tolist()) and b >= 0 and moves[b]} - found
        if not more:
            return found
        found |= more


@given(jointed_bodies())
@settings(max_examples=amount(100, 300), deadline=None, derandomize=True)
def test_articulations(scene):
    pairs, moves = scene
    group, free, loops = connected(pairs, moves), free_articulations(pairs, moves), count_loops(pairs, moves)
    assert len(group) == len(moves) + 1 and group[-1] == -1 and len(free) == len(moves)
    assert set(free) - {-1} == set(range(free.max() + 1))
    of_pair = np.zeros(len(pairs), int)
    for body in range(len(moves)):
        if not moves[body]:
            assert group[body] == free[body] == -1
            continue
        whole = reached(pairs, moves, body)
        assert set(np.flatnonzero(group == group[body])) == whole
        mine = np.isin(pairs, list(whole)).any(axis=1)
        held = not all(b >= 0 and moves[b] for b in pairs[mine].ravel())
        assert (free[body] >= 0) == (mine.any() and not held)
        if free[body] >= 0:
            assert set(np.flatnonzero(free == free[body])) == whole
        of_pair[mine] = mine.sum() - len(whole) + 1 - held
    assert np.array_equal(loops, of_pair)


def test_groups_are_those_of_scipy():
    """Numbered by their lowest members, whatever the order of the pairs; a pair that is of no members is refused."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(4)
    for count, links in ((1, 0), (30, 12), (30, 40), (400, 300)):
        pairs = rng.integers(0, count, (links, 2))
        graph = coo_array((np.ones(links), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
        assert np.array_equal(group_numbers(pairs, count), connected_components(graph, directed=False)[1])
    assert len(group_numbers(np.zeros((0, 2), int), 0)) == 0
    for wrong in ([[0, 3]], [[-1, 0]]):
        with pytest.raises(IndexError, match="pair 0 is not of the 3 members"):
            group_numbers(np.array(wrong), 3)
