"""The symbolic part of the direct joint solver: nodes, their order of elimination, and where each block stands.

Nodes are the joints with bilateral rows, and hubs: dynamic bodies with more than MOST_JOINTS of them. Two joints are
neighbours if they share a dynamic body that is no hub; a joint and a hub if the hub is one of its bodies. The order is
that of minimum fill, then minimum degree (W. Tinney and J. Walker, 1967): a tree is taken from its leaves and leaves no
fill; all its branches, and both ends of a chain, by turns: a solve waits less, since those do not need each other. A
joint whose block would be without mass before its hub is eliminated, waits for it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from mcsim.solve.components import connected, count_loops
from mcsim.solve.fronts import plan_fronts, postorder

MOST_JOINTS = 6
MOST_COUNTED = 16  # neighbours up to which a node's fill is counted

# Entry codes, as in _tree_blocks.pxd.
SHARED = {("a", "a"): 1, ("a", "b"): 2, ("b", "a"): 4, ("b", "b"): 8}
HUB_AT = {"a": 16, "b": 32}

Plan = namedtuple(
    "Plan",
    "joint size sides shift offset diagonal entry_begin entry_node entry_value entry_code "
    "row_begin row_node row_entry group value_count length work fronts",
)

# The records Node, Entry and Reached of _tree.pxd.
NODE_DTYPE = np.dtype(
    [
        ("joint", "i4"),
        ("size", "i4"),
        ("sides", "i4"),
        ("body_a", "i4"),
        ("body_b", "i4"),
        ("row", "i4"),
        ("offset", "i8"),
        ("diagonal", "i8"),
        ("entry_begin", "i8"),
        ("entry_end", "i8"),
        ("row_begin", "i8"),
        ("row_end", "i8"),
        ("shift", "f8"),
    ]
)
ENTRY_DTYPE = np.dtype([("node", "i4"), ("code", "i4"), ("value", "i8")])
REACHED_DTYPE = np.dtype([("node", "i4"), ("reserved", "i4"), ("entry", "i8")])


def plan(bodies: np.ndarray, sizes: np.ndarray, moves: np.ndarray, group: np.ndarray | None = None) -> Plan:
    """bodies (j, 2), sizes (j,), moves (n,) bool -> Plan, all arrays in the order of elimination.

    joint: number, or -1 - body for a hub; sides: bit 0, 1: bodies a, b count in the diagonal block; entries are column
    by column with ascending rows; row_...: the same entries row by row with ascending columns; group: the articulation of
    each node, ascending. Where one has loops (shift: 1 for its joints) the entries are the given blocks alone, and fronts
    is a FrontPlan; work: about how many products a factorization takes.
    group: (n + 1,) the articulation of each body, the last the world's (None: as `connected` numbers them). What order
    one's nodes have does not depend on the others.
    """
    joints = np.flatnonzero(sizes > 0)
    dynamic = np.append(moves, False)  # the last is the world's: index -1
    if group is None:
        group = connected(bodies[joints], moves)
    at: dict[int, list[tuple[int, str]]] = {}  # dynamic body -> joints on it
    moving = dynamic.tolist()
    for j, ends in zip(joints.tolist(), bodies[joints].tolist()):
        for side, body in zip("ab", ends):
            if moving[body]:
                at.setdefault(body, []).append((j, side))
    hubs = sorted(body for body, found in at.items() if len(found) > MOST_JOINTS)
    key = {j: k for k, j in enumerate(joints.tolist())}  # joint -> node
    hub_node = {body: len(key) + k for k, body in enumerate(hubs)}
    count = len(key) + len(hubs)
    codes = _couplings(at, hub_node, key)
    waits = _waiting(joints, bodies, dynamic, hub_node, key)
    order, columns = _minimum_degree(count, codes, waits)
    loops = set(joints[count_loops(bodies[joints], moves) > 0].tolist())
    of = group[bodies[joints]].max(axis=1, initial=-1).tolist() + [int(group[body]) for body in hubs]
    members: dict[int, list[int]] = {}
    for node in order:
        members.setdefault(of[node], []).append(node)
    tangled = {of[key[j]] for j in loops}
    order = [node for g in sorted(members) for node in (postorder(members[g], columns) if g in tangled else members[g])]
    return _lay_out(
        order,
        columns,
        codes,
        joints,
        hubs,
        bodies,
        sizes,
        dynamic,
        hub_node,
        loops,
        np.array([of[node] for node in order], np.int32),
    )


def _couplings(
    at: Mapping[int, list[tuple[int, str]]], hub_node: Mapping[int, int], key: Mapping[int, int]
) -> dict[tuple[int, int], int]:
    """(node, node) -> code, in both directions."""
    codes = {}
    for body, found in at.items():
        if body in hub_node:
            for j, side in found:
                codes[hub_node[body], key[j]] = codes[key[j], hub_node[body]] = HUB_AT[side]
            continue
        for i, side_i in found:
            for j, side_j in found:
                if i != j:
                    pair = key[i], key[j]
                    codes[pair] = codes.get(pair, 0) | SHARED[side_i, side_j]
    return codes


def _waiting(
    joints: np.ndarray, bodies: np.ndarray, dynamic: np.ndarray, hub_node: Mapping[int, int], key: Mapping[int, int]
) -> dict[int, set[int]]:
    """node -> hubs that come before it, of the joints that move nothing but hubs."""
    waits: dict[int, set[int]] = {}
    for j, ends in zip(joints.tolist(), bodies[joints].tolist()) if hub_node else ():
        moving = [b for b in ends if dynamic[b]]
        if moving and all(b in hub_node for b in moving):
            waits[key[j]] = {hub_node[b] for b in moving}
    return waits


def _fill(neighbours: Sequence[set[int]], k: int) -> int:
    """How many pairs of a node's neighbours are not neighbours; of a node with many, all pairs."""
    mine = neighbours[k]
    n = len(mine)
    if n > MOST_COUNTED:
        return n * (n - 1) // 2
    return (n * (n - 1) - sum(len(mine & neighbours[i]) for i in mine)) // 2


def _minimum_degree(
    count: int, codes: Mapping[tuple[int, int], int], waits: Mapping[int, set[int]]
) -> tuple[list[int], dict[int, set[int]]]:
    """-> order (node by node), columns: node -> its neighbours when it is eliminated."""
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for i, j in codes:
        neighbours[i].add(j)
    keys, height = {}, [0] * count

    def entry(k: int) -> tuple[int, int, int, int]:
        fill = _fill(neighbours, k)
        keys[k] = fill, len(neighbours[k]), 0 if fill else height[k]
        return *keys[k], k

    heap = [entry(k) for k in range(count) if k not in waits]
    heapify(heap)
    released: dict[int, list[int]] = {}
    for node, hubs in waits.items():
        for hub in hubs:
            released.setdefault(hub, []).append(node)
    done, order, columns = [False] * count, [], {}
    while heap:
        *key, k = heappop(heap)
        if done[k] or tuple(key) != keys[k]:
            continue
        done[k] = True
        order.append(k)
        front = columns[k] = neighbours[k]
        for i in front:
            mine = neighbours[i]
            height[i] = max(height[i], height[k] + 1)
            mine.discard(k)
            if len(front) > 1:
                mine |= front
                mine.discard(i)
        for i in front:
            if not waits.get(i):
                heappush(heap, entry(i))
        for i in released.get(k, ()):
            waits[i].discard(k)
            if not waits[i]:
                heappush(heap, entry(i))
    return order, columns


def _lay_out(
    order: list[int],
    columns: Mapping[int, set[int]],
    codes: Mapping[tuple[int, int], int],
    joints: np.ndarray,
    hubs: list[int],
    bodies: np.ndarray,
    sizes: np.ndarray,
    dynamic: np.ndarray,
    hub_node: Mapping[int, int],
    loops: set[int],
    group: np.ndarray,
) -> Plan:
    count = len(order)
    place = {node: k for k, node in enumerate(order)}
    joint, size, sides, shift = (np.zeros(count, t) for t in (np.int32, np.int32, np.int32, float))
    numbers, rows, ends, moving = joints.tolist(), sizes.tolist(), bodies.tolist(), dynamic.tolist()
    for k, node in enumerate(order):
        if node >= len(joints):
            joint[k], size[k] = -1 - hubs[node - len(joints)], 6
            continue
        j = numbers[node]
        joint[k], size[k] = j, rows[j]
        shift[k] = float(j in loops)
        for bit, body in zip((1, 2), ends[j]):
            if moving[body] and body not in hub_node:
                sides[k] |= bit
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    begins = [0]
    below_it: list[int] = []
    code: list[int] = []
    belows = [sorted(place[i] for i in columns[node]) for node in order]
    widths = size.tolist()
    heights = [sum(widths[i] for i in below) for below in belows]
    work = float(sum(width * height * height for width, height in zip(widths, heights)))
    for node, below in zip(order, belows):
        if loops:  # fill has its place in the fronts
            below = [i for i in below if (order[i], node) in codes]
        below_it.extend(below)
        code.extend(codes.get((order[i], node), 0) for i in below)
        begins.append(len(below_it))
    entry_begin, nodes = np.array(begins, np.int64), np.array(below_it, np.int32)
    owner = np.repeat(np.arange(count), np.diff(entry_begin))
    lengths = size[nodes].astype(np.int64) * size[owner]
    diagonal_lengths = size.astype(np.int64) * size
    starts = np.concatenate([[0], np.cumsum(diagonal_lengths)])
    values = np.concatenate([[0], np.cumsum(lengths)]) + starts[-1]
    by_row = np.lexsort((owner, nodes))
    row_begin = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))]).astype(np.int64)
    fronts = plan_fronts(belows, size, offsets[:-1], entry_begin, nodes) if loops else None
    return Plan(
        joint,
        size,
        sides,
        shift,
        offsets[:-1].copy(),
        starts[:-1].astype(np.int64),
        entry_begin,
        nodes,
        values[:-1].astype(np.int64),
        np.array(code, np.int32),
        row_begin,
        owner[by_row].astype(np.int32),
        by_row.astype(np.int64),
        group,
        int(values[-1]),
        int(offsets[-1]),
        work,
        fronts,
    )


def node_records(found: Plan, bodies: np.ndarray, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plan -> NODE_DTYPE, ENTRY_DTYPE, REACHED_DTYPE arrays."""
    nodes, entries = np.zeros(len(found.joint), NODE_DTYPE), np.zeros(len(found.entry_node), ENTRY_DTYPE)
    reached = np.zeros(len(found.entry_node), REACHED_DTYPE)
    for name in ("joint", "size", "sides", "offset", "diagonal", "shift"):
        nodes[name] = getattr(found, name)
    joint = np.maximum(found.joint, 0)
    is_joint = found.joint >= 0
    if len(bodies):
        nodes["body_a"], nodes["body_b"] = (np.where(is_joint, bodies[joint, side], -1) for side in (0, 1))
        nodes["row"] = np.where(is_joint, begin[joint], 0)
    nodes["entry_begin"], nodes["entry_end"] = found.entry_begin[:-1], found.entry_begin[1:]
    nodes["row_begin"], nodes["row_end"] = found.row_begin[:-1], found.row_begin[1:]
    entries["node"], entries["code"], entries["value"] = found.entry_node, found.entry_code, found.entry_value
    reached["node"], reached["entry"] = found.row_node, found.row_entry
    return nodes, entries, reached
