"""Articulations: dynamic bodies that joints hold together. What does not move separates them."""

import numpy as np

NONE = -1


def connected(pairs, moves):
    """(bodies + 1,) int32: the articulation of each dynamic body, ascending by first body; -1 of others, and, last, the world.

    pairs: (k, 2) int, bodies that are held together, -1 the world; moves: (bodies,) bool, which are dynamic.
    """
    from scipy.sparse import coo_matrix                     # import mcsim stays light
    from scipy.sparse.csgraph import connected_components
    both = pairs[np.append(moves, False)[pairs].all(axis=1)]
    graph = coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(len(moves), len(moves)))
    return np.append(np.where(moves, connected_components(graph, directed=False)[1], NONE), NONE).astype(np.int32)


def free_articulations(pairs, moves):
    """(bodies,) int: the number of the articulation that each body belongs to, without gaps; -1 where it has no joint or hangs
    on what does not move. Arguments as of `connected`."""
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
