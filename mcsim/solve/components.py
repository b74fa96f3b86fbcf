"""Articulations: dynamic bodies that joints hold together. What does not move separates them."""

import numpy as np

NONE = -1

# The record Span of _smooth.pxd.
SPAN_DTYPE = np.dtype([(name, "i4") for name in ("node", "node_end", "border", "border_end", "member", "member_end")])


def connected(pairs, moves):
    """(bodies + 1,) int32: the articulation of each dynamic body, ascending by first body; -1 of others, and, last, the
    world.

    pairs: (k, 2) int, bodies that are held together, -1 the world; moves: (bodies,) bool, which are dynamic.
    """
    from scipy.sparse import coo_matrix                     # import mcsim stays light
    from scipy.sparse.csgraph import connected_components
    both = pairs[np.append(moves, False)[pairs].all(axis=1)]
    graph = coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(len(moves), len(moves)))
    return np.append(np.where(moves, connected_components(graph, directed=False)[1], NONE), NONE).astype(np.int32)


def free_articulations(pairs, moves):
    """(bodies,) int: the number of the articulation that each body belongs to, without gaps; -1 where it has no joint
    or hangs on what does not move. Arguments as of `connected`."""
    group = connected(pairs, moves)
    ends = group[pairs]
    held = ends[(ends == NONE).any(axis=1)]
    free = np.isin(group, np.setdiff1d(ends, held))[:-1]
    found = np.full(len(moves), NONE)
    found[free] = np.unique(group[:-1][free], return_inverse=True)[1]
    return found


def looped(pairs, moves):
    """(k,) bool: the pairs of articulations with more of them than a tree has: more than dynamic bodies."""
    group = connected(pairs, moves)
    ends = group[pairs].max(axis=1)
    edges, bodies = (np.bincount(of[of != NONE], minlength=len(group)) for of in (ends, group))
    return (ends != NONE) & (edges > bodies)[ends]


def find_spans(group, joint, pairs, border):
    """(articulations + 1,) SPAN_DTYPE: where nodes of the tree, rows of the border and bodies of each articulation
    begin and end, the last those of all; (bodies,) int32 the dynamic bodies, articulation by articulation.

    group: (bodies + 1,) articulation of each body, as of `connected`; joint: (nodes,) joint of each, or -1 - body for
    a hub; pairs: (joints, 2) bodies; border: (rows,) articulations. Nodes and border rows stand in the order of group.
    """
    members = np.argsort(group[:-1], kind="stable").astype(np.int32)
    members = members[np.count_nonzero(group[:-1] == NONE):]
    ends = np.where((joint >= 0)[:, None], pairs[np.maximum(joint, 0)], (-1 - joint)[:, None])
    spans = np.zeros(int(group.max()) + 2, SPAN_DTYPE)
    for name, found in (("node", group[ends].max(axis=1)), ("border", border), ("member", group[members])):
        for field, side in ((name, "left"), (name + "_end", "right")):
            spans[field][:-1] = np.searchsorted(found, np.arange(len(spans) - 1), side)
        spans[name + "_end"][-1] = len(found)
    return spans, np.append(members, np.int32(0))
