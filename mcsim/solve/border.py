"""The symbolic part of the joints' border: which of its rows meet, in which order they stand, and how they are probed.

Two rows meet if both act on one articulation of the tree. A row's line of the factor begins at the first row that it
meets; all fill stays behind that (A. George and J. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
1981, chapter 4). Columns of which no row meets two are probed in one round (A. Curtis, M. Powell, J. Reid, "On the
estimation of sparse Jacobian matrices", 1974): a train of gears takes three.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mcsim.core._forest import group_numbers
from mcsim.scene.joints import TYPES
from mcsim.solve.components import connected
from mcsim.state.fields import JOINT_TYPES

BorderPlan = namedtuple(
    "BorderPlan", "order group articulation first line length round rounds entry_row entry_column round_begin"
)

WORLD = -1
FREE, GEAR, USER, LOCK = (JOINT_TYPES.index(name) for name in ("free", "gear", "user", "lock"))

# Of each type of joint: whether none of its rows binds turning alone, and the number of its first coordinate that turns.
FREELY = np.array([TYPES[kind].turns_freely for kind in JOINT_TYPES])
TURNING = np.array(
    [next((i for i, part in enumerate(TYPES[kind].coordinates) if part != "way"), 6) for kind in JOINT_TYPES]
)


def border_rows(joints: np.ndarray) -> list[tuple[int, int, int, list[int]]]:
    """(joint, row, records, bodies) of the rows that stand beside the tree. joints: (j,) JOINT_DTYPE."""
    found = []
    for j in np.flatnonzero(np.isin(joints["type"], (GEAR, USER)) & (joints["broken"] == 0)):
        ends = joints[joints["geared"][j]] if joints["type"][j] == GEAR else joints[j : j + 1]
        if np.any(ends["broken"]):
            continue
        bodies = [int(body) for end in ends for body in (end["body_a"], end["body_b"])]
        rows = 1 if joints["type"][j] == GEAR else int(joints["user_size"][j])
        found += [(int(j), i, len(ends), bodies) for i in range(rows)]
    return found


def ties(joints: np.ndarray, sizes: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(j,) bool: which joints are in the tree: those that have rows of their own, and of those that leave all free what has
    rotors, for these carry what hangs on them, unless that closes a loop. joints: (j,) JOINT_DTYPE; sizes: (j,) rows of
    each; moves: (n,) bool, which bodies are dynamic."""
    found = sizes > 0
    carries = (joints["type"] == FREE) & (joints["broken"] == 0) & np.any(joints["axes"]["armature"] > 0.0, axis=1)
    carries &= ~found
    if not carries.any():
        return found
    still = len(moves)  # all that does not move, as one
    pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
    pairs = np.where(np.append(moves, False)[pairs], pairs, still)
    group = group_numbers(pairs[found], still + 1)
    parent = list(range(len(group)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for j in np.flatnonzero(carries):
        a, b = (root(int(group[body])) for body in pairs[j])
        found[j] = a != b
        parent[max(a, b)] = min(a, b)
    return found


def holds_direction(joints: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(j,) bool: which have a row of their own that binds turning alone, as that of a prescribed angle does."""
    first = TURNING[joints["type"]]
    turned = (joints["axes"]["motion_mode"] != 0) & (np.arange(joints["axes"].shape[1]) >= first[:, None])
    freely = FREELY[joints["type"]] | ((joints["type"] == LOCK) & (joints["locks"] >> 3 == 0))
    return (sizes > 0) & (~freely | turned.any(axis=1))


def plan_border(bodies: Sequence[Sequence[int]], pairs: np.ndarray, moves: np.ndarray) -> BorderPlan:
    """bodies: list of the bodies of each row; pairs: (j, 2) bodies of the joints in the tree; moves: (n,) bool, which
    are dynamic. -> BorderPlan

    order: (rows,) in which they stand, by articulations, else as they came; what follows is in that order. group:
    articulation of each row; articulation: (n + 1,) of each body, the last the world, with what the border ties
    together. first: first row that a row meets; line: where column 0 of its line would be; length: of all lines. round:
    in which a column is probed, of `rounds`; entry_row, entry_column: what round k finds, from round_begin[k] on.
    """
    together = np.array([pair for ends in bodies for pair in combinations(ends, 2)], int).reshape(-1, 2)
    articulation = connected(np.concatenate([pairs, together]), moves)
    group = np.array([max(articulation[list(ends)]) for ends in bodies], np.int64)
    order = np.argsort(group, kind="stable")
    alone = connected(pairs, moves)
    acts_on = [{int(alone[body]) for body in bodies[k]} - {-1} for k in order]
    on: dict[int, list[int]] = {}  # articulation of the tree -> rows
    for k, places in enumerate(acts_on):
        for place in places:
            on.setdefault(place, []).append(k)
    meets = [sorted({k}.union(*(on[place] for place in places))) for k, places in enumerate(acts_on)]
    turns = _rounds(acts_on, meets)
    first = np.array([rows[0] for rows in meets], np.int64)
    widths = np.arange(len(order)) + 1 - first
    line = np.cumsum(widths) - widths - first
    row = np.array([i for rows in meets for i in rows], np.int32)
    column = np.repeat(np.arange(len(order), dtype=np.int32), [len(rows) for rows in meets])
    by_round = np.argsort(turns[column], kind="stable")
    rounds = int(turns.max(initial=-1)) + 1
    begin = np.searchsorted(turns[column][by_round], np.arange(rounds + 1)).astype(np.int64)
    return BorderPlan(
        order,
        group[order],
        articulation,
        first,
        line,
        int(widths.sum()),
        turns,
        rounds,
        row[by_round],
        column[by_round],
        begin,
    )


def _rounds(acts_on: Sequence[set[int]], meets: Sequence[Sequence[int]]) -> np.ndarray:
    """(rows,) int32: the first round in which no column is probed that some row meets together with this one."""
    taken: dict[int, set[int]] = {}  # articulation of the tree -> rounds that move it
    found = np.zeros(len(acts_on), np.int32)
    for k, places in enumerate(acts_on):
        near = places.union(*(acts_on[i] for i in meets[k]))
        used = set().union(*(taken.get(place, ()) for place in near))
        found[k] = next(r for r in range(len(used) + 1) if r not in used)
        for place in places:
            taken.setdefault(place, set()).add(int(found[k]))
    return found
