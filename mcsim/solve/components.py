"""Articulations: dynamic bodies that joints hold together. What does not move separates them."""

from typing import Any

import numpy as np

from mcsim.core._forest import group_numbers

NONE = -1

# The record Articulation of _tree.pxd.
_RANGES = ("node", "border", "member", "driven", "linked", "ball", "couple", "push", "other", "column")
ARTICULATION_DTYPE = np.dtype(
    [(name + end, "i4") for name in _RANGES for end in ("", "_end")]
    + [(name, "i4") for name in ("loops", "triples", "held", "reserved")]
    + [(name, "f8") for name in ("size", "enough")]
)


def connected(pairs: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(bodies + 1,) int32: the articulation of each dynamic body, ascending by first body; -1 of others, and, last, the
    world.

    pairs: (k, 2) int, bodies that are held together, -1 the world; moves: (bodies,) bool, which are dynamic.
    """
    both = pairs[np.append(moves, False)[pairs].all(axis=1)]
    return np.append(np.where(moves, group_numbers(both, len(moves)), NONE), NONE).astype(np.int32)


def free_articulations(pairs: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(bodies,) int: the number of the articulation that each body belongs to, without gaps; -1 where it has no joint
    or hangs on what does not move. Arguments as of `connected`."""
    group = connected(pairs, moves)
    ends = group[pairs]
    held = ends[(ends == NONE).any(axis=1)]
    free = np.isin(group, np.setdiff1d(ends, held))[:-1]
    found = np.full(len(moves), NONE)
    found[free] = np.unique(group[:-1][free], return_inverse=True)[1]
    return found


def count_loops(pairs: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(k,) int: of each pair, how many more of them its articulation has than a tree: than dynamic bodies where it hangs
    on what is not dynamic, which is all one root, and than dynamic bodies but one where it is free."""
    group = connected(pairs, moves)
    ends = group[pairs]
    of = ends.max(axis=1)
    edges, bodies = (np.bincount(found[found != NONE], minlength=len(group)) for found in (of, group))
    held = np.zeros(len(group), bool)
    held[of[(ends == NONE).any(axis=1)]] = True
    return np.where(of != NONE, (edges - bodies + 1 - held)[of], 0)


def branches(pairs: np.ndarray, group: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """Each articulation as a tree, outwards from what does not move, or from its first body:
    (branch, begin, pins, end, body), branch (n, 4) int32: joint, the parent's place in the articulation or -1, the child's,
    whether that is b of the joint; those of articulation g from begin[g] to pins[g] are of one body each, `body`,
    from there to end[g] pins, further joints that hold a body to what does not move. Joints that close other loops
    are left out.

    pairs: (joints, 2) bodies, -1 the world; group: (bodies + 1,) the articulation of each, as of `connected`, or NONE
    of what is to be left out; count: articulations.
    """
    of, ends = group.tolist(), pairs.tolist()
    beside: list[list[tuple[int, int, int]]] = [[] for _ in of]
    for j, (a, b) in enumerate(ends):
        if of[a] >= 0:
            beside[a].append((j, b, 0))
        if of[b] >= 0:
            beside[b].append((j, a, 1))
    found: list[list[Any]] = [[] for _ in range(count)]
    pinned: list[list[Any]] = [[] for _ in range(count)]
    place = [-1] * len(of)
    held = [a if of[a] >= 0 else b for a, b in ends if (of[a] >= 0) != (of[b] >= 0)]
    for first in [*held, *np.flatnonzero(group >= 0).tolist()]:
        if place[first] >= 0:
            continue
        own = found[of[first]]
        start = next(((j, side) for j, other, side in beside[first] if of[other] < 0), (-1, 0))
        place[first] = len(own)
        own.append((start[0], -1, place[first], start[1]))
        queue, used = [first], {start[0]}
        for body in queue:
            for j, other, side in beside[body]:
                if j in used:
                    continue
                used.add(j)
                if of[other] < 0:
                    pinned[of[first]].append((j, -1, place[body], side))
                elif place[other] < 0:
                    place[other] = len(own)
                    own.append((j, place[body], place[other], 1 - side))
                    queue.append(other)
    sizes = np.array([(len(own), len(beside)) for own, beside in zip(found, pinned)], np.int64).reshape(-1, 2)
    end = np.cumsum(sizes.sum(axis=1))
    begin = end - sizes.sum(axis=1)
    branch = [entry for own, beside in zip(found, pinned) for entry in (*own, *beside)]
    body = np.zeros(len(branch), np.int32)
    places = np.array(place)
    placed = np.flatnonzero(places >= 0)
    body[begin[group[placed]] + places[placed]] = placed
    return np.array(branch, np.int32).reshape(-1, 4), begin, begin + sizes[:, 0], end, body


def find_articulations(group: np.ndarray, joint: np.ndarray, loops: np.ndarray, pairs: np.ndarray, border: Any) -> Any:
    """(articulations,) ARTICULATION_DTYPE with where nodes of the tree, rows of the border and bodies of each begin and
    end, how many loops it has, and whether it hangs on what is not dynamic; (bodies,) int32 the dynamic bodies,
    articulation by articulation.

    group: (bodies + 1,) articulation of each body, as of `connected`; joint: (nodes,) joint of each, or -1 - body for
    a hub; loops: (nodes,) of each; pairs: (joints, 2) bodies; border: (rows,) articulations. Nodes and border rows stand in
    the order of group.
    """
    members = np.argsort(group[:-1], kind="stable").astype(np.int32)
    members = members[np.count_nonzero(group[:-1] == NONE) :]
    ends = np.where((joint >= 0)[:, None], pairs[np.maximum(joint, 0)], (-1 - joint)[:, None])
    node = group[ends].max(axis=1)
    found = np.zeros(int(group.max()) + 1, ARTICULATION_DTYPE)
    for name, of in (("node", node), ("border", border), ("member", group[members])):
        found[name] = np.searchsorted(of, np.arange(len(found)), "left")
        found[name + "_end"] = np.searchsorted(of, np.arange(len(found)), "right")
    np.maximum.at(found["loops"], node, loops)
    found["held"][np.unique(node[(joint >= 0) & (group[ends].min(axis=1) == NONE)])] = 1
    return found, np.append(members, np.int32(0))
