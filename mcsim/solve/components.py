"""Articulations: dynamic bodies that joints hold together. What does not move separates them."""

from typing import Any, NamedTuple

import numpy as np

from mcsim.core._forest import group_numbers
from mcsim.solve.structures import Found, Structures

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


class Sorted(NamedTuple):
    """Joints, articulation by articulation.

    joint (k,): their numbers; of (k,): articulation of each; begin, end (m,): where the joints of those that have any
    stand; ends (k, 2): the places of their bodies among those of the articulation, -1 of what does not move or is left
    out; member (bodies,): bodies, articulation by articulation; first (m,): where the bodies of those stand in it.
    """

    joint: np.ndarray
    of: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    ends: np.ndarray
    member: np.ndarray
    first: np.ndarray


def sort_joints(pairs: np.ndarray, group: np.ndarray, moves: np.ndarray) -> Sorted:
    """pairs (k, 2): bodies; group (bodies + 1,): their articulations, as of `connected`; moves (bodies,) bool. Joints of
    equal articulations have the same `ends`."""
    of = group[pairs].max(axis=1, initial=NONE)
    joint = np.argsort(of, kind="stable")
    of = of[joint]
    member = np.argsort(group[:-1], kind="stable")
    place = np.zeros(len(group), np.int64)
    place[member] = np.arange(len(member)) - np.searchsorted(group[member], group[member])
    ends = np.where(np.append(moves, False)[pairs[joint]], place[pairs[joint]], NONE)
    begin = np.flatnonzero(np.diff(of, prepend=NONE - 1))
    return Sorted(joint, of, begin, np.append(begin[1:], len(of)), ends, member, np.searchsorted(group[member], of[begin]))


def branches(pairs: np.ndarray, group: np.ndarray, count: int) -> tuple[tuple[np.ndarray, ...], list[Found[np.ndarray]]]:
    """Each articulation as a tree, outwards from what does not move, or from its first body:
    (branch, begin, pins, end, body), branch (n, 4) int32: joint, the parent's place in the articulation or -1, the child's,
    whether that is b of the joint; those of articulation g from begin[g] to pins[g] are of one body each, `body`,
    from there to end[g] pins, further joints that hold a body to what does not move. Joints that close other loops
    are left out. And what was found out about structures for it, to be kept.

    pairs: (joints, 2) bodies, -1 the world; group: (bodies + 1,) the articulation of each, as of `connected`, or NONE
    of what is to be left out; count: articulations.
    """
    by = sort_joints(pairs, group, group[:-1] >= 0)
    sizes = np.bincount(group[group >= 0], minlength=count)
    all_of_them = np.arange(count)
    first, last = (np.searchsorted(by.of, all_of_them, side) for side in ("left", "right"))
    trees = []
    for begin, end, size in zip(first.tolist(), last.tolist(), sizes.tolist()):
        ends = by.ends[begin:end]
        trees.append(_TREES((ends.tobytes(), size), ends, size))
    lengths = np.array([len(tree.value) for tree in trees], np.int64)
    end = np.cumsum(lengths)
    found = np.concatenate([np.zeros((0, 5), np.int64), *(tree.value for tree in trees)])
    joint, body = found[:, 0], found[:, 4]
    joined, own = joint >= 0, body >= 0
    joint[joined] = by.joint[(joint + np.repeat(first, lengths))[joined]]
    start = np.searchsorted(group[by.member], all_of_them)
    body[own] = by.member[(body + np.repeat(start, lengths))[own]]
    body[~own] = 0
    return (found[:, :4].astype(np.int32), end - lengths, end - lengths + sizes, end, body.astype(np.int32)), trees


def _branches_of(pairs: np.ndarray, size: int) -> np.ndarray:
    """(n, 5) joint, parent, child, side, body, of one articulation of so many bodies, whose joints and bodies are counted
    from 0; the body of a pin is -1. pairs: the bodies of each joint, -1: what does not move."""
    ends: list[list[int]] = pairs.tolist()
    beside: list[list[tuple[int, int, int]]] = [[] for _ in range(size)]
    for j, (a, b) in enumerate(ends):
        if a >= 0:
            beside[a].append((j, b, 0))
        if b >= 0:
            beside[b].append((j, a, 1))
    own: list[tuple[int, int, int, int, int]] = []
    pins: list[tuple[int, int, int, int, int]] = []
    place = [-1] * size
    held = [max(a, b) for a, b in ends if min(a, b) < 0 <= max(a, b)]
    for first in [*held, *range(size)]:
        if place[first] >= 0:
            continue
        joint, side = next(((j, side) for j, other, side in beside[first] if other < 0), (-1, 0))
        place[first] = len(own)
        own.append((joint, -1, place[first], side, first))
        queue, used = [first], {joint}
        for body in queue:
            for j, other, side in beside[body]:
                if j in used:
                    continue
                used.add(j)
                if other < 0:
                    pins.append((j, -1, place[body], side, -1))
                elif place[other] < 0:
                    place[other] = len(own)
                    own.append((j, place[body], place[other], 1 - side, other))
                    queue.append(other)
    return np.array([*own, *pins], np.int64).reshape(-1, 5)


_TREES = Structures(_branches_of)


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
