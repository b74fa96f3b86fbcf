"""The symbolic part of a factorization by fronts, for joints in loops: which columns are taken together, and where they
go.

The order of elimination is taken along its tree from the leaves (a postorder has the same fill), so that columns with
the same rows stand together. Such a group, and a group with its last child where that adds few zeros, is eliminated as
one dense matrix, its front; what that leaves of its other rows is added to the parent's front (I. Duff and J. Reid,
"The multifrontal solution of indefinite sparse symmetric linear equations", 1983; C. Ashcraft and R. Grimes, "The
influence of relaxed supernode partitions on the multifrontal method", 1989).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

ZEROS = 0.05  # part of a merged group's numbers that may be zeros
NARROW = 6  # columns up to which a group may have
MORE_ZEROS = 0.1  # this part

FrontPlan = namedtuple(
    "FrontPlan",
    "begin width height panel row_begin row parent_row update child_begin child "
    "entry_row node_front node_column panel_count update_count largest",
)


def postorder(order: Sequence[int], columns: Mapping[int, set[int]]) -> list[int]:
    """The same elimination, every node directly after the subtrees that lead to it, the largest last. order: nodes;
    columns: node -> those that are left of its neighbours when it is eliminated. -> order"""
    place = {node: k for k, node in enumerate(order)}
    children: list[list[int]] = [[] for _ in order]
    roots: list[int] = []
    for k, node in enumerate(order):
        above = min((place[i] for i in columns[node]), default=None)
        (roots if above is None else children[above]).append(k)
    found, stack = [], roots[::-1]
    while stack:  # parents before children, then turned round
        k = stack.pop()
        found.append(k)
        stack.extend(sorted(children[k], key=lambda i: (len(columns[order[i]]), i)))
    return [order[k] for k in found[::-1]]


def plan_fronts(
    below: Sequence[Sequence[int]], size: np.ndarray, offset: np.ndarray, entry_begin: np.ndarray, entry_node: np.ndarray
) -> FrontPlan:
    """below: for each node in postorder, the ascending nodes of its column; size: numbers of each; offset: where they
    begin. entry_...: the blocks below the diagonal that are given, column by column. -> FrontPlan

    begin, width, height: first number, own numbers and all numbers of a front; panel: where its columns of L are kept;
    row_begin, row: the numbers that its other rows are; parent_row: their places in the parent's front; update: where
    what is left waits for the parent; entry_row: place of a given block in the front of its column; node_front,
    node_column: front of a node and place in it.
    """
    groups = _groups(below, size)
    count = len(groups)
    front = np.empty(len(size), np.int32)  # of a node
    for s, (first, last, _) in enumerate(groups):
        front[first:last] = s
    ends = np.append(offset, offset[-1] + size[-1])
    begin = np.array([offset[first] for first, _, _ in groups], np.int64)
    width = np.array([ends[last] - ends[first] for first, last, _ in groups], np.int32)
    lists = [_numbers(rows, size, offset) for _, _, rows in groups]
    height = width + np.array([len(rows) for rows in lists], np.int32)
    row_begin = np.concatenate([[0], np.cumsum(height - width)]).astype(np.int64)
    row = np.concatenate([*lists, np.zeros(0, np.int64)])
    parent_row = np.zeros(len(row), np.int32)
    children: list[list[int]] = [[] for _ in range(count)]
    update, top = np.zeros(count, np.int64), [0]
    lengths = (height - width).astype(np.int64) * (height - width + 1) // 2
    largest_update = 0
    for s, (_, _, rows) in enumerate(groups):
        update[s] = update[children[s][0]] if children[s] else top[0]
        top[0] = update[s] + lengths[s]
        largest_update = max(largest_update, top[0])
        if len(rows):
            parent = front[rows[0]]
            children[parent].append(s)
            parent_row[row_begin[s] : row_begin[s + 1]] = _places(lists[s], begin[parent], width[parent], lists[parent])
    owner = np.repeat(np.arange(len(size)), np.diff(entry_begin))
    entry_row = np.array(
        [_places(offset[i : i + 1], begin[s], width[s], lists[s])[0] for i, s in zip(entry_node, front[owner])], np.int32
    )
    panel = np.concatenate([[0], np.cumsum(width.astype(np.int64) * height)])
    child_begin = np.concatenate([[0], np.cumsum([len(c) for c in children])]).astype(np.int64)
    return FrontPlan(
        begin,
        width,
        height,
        panel[:-1].copy(),
        row_begin,
        row,
        parent_row,
        update,
        child_begin,
        np.array([c for found in children for c in found], np.int32),
        entry_row,
        front,
        (offset - begin[front]).astype(np.int32),
        int(panel[-1]),
        int(largest_update),
        int(height.max(initial=0)),
    )


def _numbers(nodes: Iterable[int], size: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """All numbers of some nodes."""
    return np.concatenate([np.arange(offset[i], offset[i] + size[i]) for i in nodes] + [np.zeros(0, np.int64)]).astype(
        np.int64
    )


def _places(numbers: np.ndarray, begin: int, width: int, rows: np.ndarray) -> np.ndarray:
    """Where ascending numbers stand in a front."""
    return np.where(numbers < begin + width, numbers - begin, width + np.searchsorted(rows, numbers)).astype(np.int32)


def _groups(below: Sequence[Sequence[int]], size: np.ndarray) -> list[tuple[int, int, Sequence[int]]]:
    """-> (first node, node after the last, other rows' nodes), one a front."""
    groups: list[tuple[int, int, Sequence[int]]] = []
    columns, rows, zeros = list[int](), list[int](), list[int]()  # numbers of own columns, of other rows, of added zeros
    for k, nodes in enumerate(below):
        groups.append((k, k + 1, nodes))
        columns.append(int(size[k]))
        rows.append(int(sum(size[i] for i in nodes)))
        zeros.append(0)
        while len(groups) > 1 and groups[-2][2] and groups[-2][2][0] < k + 1:  # the group before is a child
            wide = columns[-2] + columns[-1]
            none = zeros[-2] + zeros[-1] + columns[-2] * (columns[-1] + rows[-1] - rows[-2])
            if none > (MORE_ZEROS if wide <= NARROW else ZEROS) * wide * (wide + rows[-1]):
                break
            groups[-2:] = [(groups[-2][0], k + 1, nodes)]
            columns[-2:], rows[-2:], zeros[-2:] = [wide], [rows[-1]], [none]
    return groups
