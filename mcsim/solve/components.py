"""Articulations: dynamic bodies that joints hold together. What does not move separates them."""

import numpy as np

NONE = -1

# The record Articulation of _tree.pxd.
_RANGES = ("node", "border", "member", "driven", "linked", "ball", "couple", "push", "other", "column")
ARTICULATION_DTYPE = np.dtype([(name + end, "i4") for name in _RANGES for end in ("", "_end")]
                              + [(name, "i4") for name in ("loops", "triples", "held", "reserved")]
                              + [(name, "f8") for name in ("size", "enough")])


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


def count_loops(pairs, moves):
    """(k,) int: of each pair, how many more of them its articulation has than a tree: than dynamic bodies where it hangs
    on what is not dynamic, which is all one root, and than dynamic bodies but one where it is free."""
    group = connected(pairs, moves)
    ends = group[pairs]
    of = ends.max(axis=1)
    edges, bodies = (np.bincount(found[found != NONE], minlength=len(group)) for found in (of, group))
    held = np.zeros(len(group), bool)
    held[of[(ends == NONE).any(axis=1)]] = True
    return np.where(of != NONE, (edges - bodies + 1 - held)[of], 0)


def find_articulations(group, joint, loops, pairs, border):
    """(articulations,) ARTICULATION_DTYPE with where nodes of the tree, rows of the border and bodies of each begin and
    end, how many loops it has, and whether it hangs on what is not dynamic; (bodies,) int32 the dynamic bodies, articulation by articulation.

    group: (bodies + 1,) articulation of each body, as of `connected`; joint: (nodes,) joint of each, or -1 - body for
    a hub; loops: (nodes,) of each; pairs: (joints, 2) bodies; border: (rows,) articulations. Nodes and border rows stand in
    the order of group.
    """
    members = np.argsort(group[:-1], kind="stable").astype(np.int32)
    members = members[np.count_nonzero(group[:-1] == NONE):]
    ends = np.where((joint >= 0)[:, None], pairs[np.maximum(joint, 0)], (-1 - joint)[:, None])
    node = group[ends].max(axis=1)
    found = np.zeros(int(group.max()) + 1, ARTICULATION_DTYPE)
    for name, of in (("node", node), ("border", border), ("member", group[members])):
        for field, side in ((name, "left"), (name + "_end", "right")):
            found[field] = np.searchsorted(of, np.arange(len(found)), side)
    np.maximum.at(found["loops"], node, loops)
    found["held"][np.unique(node[(joint >= 0) & (group[ends].min(axis=1) == NONE)])] = 1
    return found, np.append(members, np.int32(0))
