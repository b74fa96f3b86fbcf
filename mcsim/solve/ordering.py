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

from mcsim.solve.components import Sorted, connected, count_loops, sort_joints
from mcsim.solve.fronts import plan_fronts, postorder
from mcsim.solve.structures import Found, Structures

MOST_JOINTS = 6
MOST_COUNTED = 16  # neighbours up to which a node's fill is counted

# Entry codes, as in _tree_blocks.pxd.
SHARED = {("a", "a"): 1, ("a", "b"): 2, ("b", "a"): 4, ("b", "b"): 8}
HUB_AT = {"a": 16, "b": 32}

Plan = namedtuple(
    "Plan",
    "joint size sides shift offset diagonal entry_begin entry_node entry_value entry_code "
    "row_begin row_node row_entry group value_count length work fronts pieces",
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


# The plan of one articulation, whose joints and bodies are counted from 0: equal ones have it in common. In the order of
# elimination joint (or -1 - body of a hub), sides; below: of each node, how many of the others are coupled to it when it
# is eliminated; those, one node after the other, ascending, and the codes of their blocks, 0 where there is none given.
_Piece = namedtuple("_Piece", "joint sides below nodes codes")


def plan(
    bodies: np.ndarray,
    sizes: np.ndarray,
    moves: np.ndarray,
    group: np.ndarray | None = None,
    tied: np.ndarray | None = None,
    by_fronts: bool = False,
) -> Plan:
    """bodies (j, 2), sizes (j,), moves (n,) bool -> Plan, all arrays in the order of elimination.

    joint: number, or -1 - body for a hub; sides: bit 0, 1: bodies a, b count in the diagonal block; entries are column
    by column with ascending rows; row_...: the same entries row by row with ascending columns; group: the articulation of
    each node, ascending. Where one has loops (shift: 1 for its joints) the entries are the given blocks alone, and fronts
    is a FrontPlan; work: about how many products a factorization takes.
    group: (n + 1,) the articulation of each body, the last the world's (None: as `connected` numbers them). What order
    one's nodes have does not depend on the others. tied: (j,) bool, which joints are nodes (None: those that have rows).
    by_fronts: also what has no loops is laid out for fronts.
    """
    joints = np.flatnonzero(sizes > 0 if tied is None else tied)
    pairs = bodies[joints]
    if group is None:
        group = connected(pairs, moves)
    by = sort_joints(pairs, group, moves)
    joints = joints[by.joint]
    looped, widths = (count_loops(pairs, moves) > 0)[by.joint] | by_fronts, sizes[joints].astype(np.int64)
    ends = np.where((widths > 0)[:, None], by.ends, -1)  # what has no rows is coupled to none
    pieces = []
    for begin, end in zip(by.begin.tolist(), by.end.tolist()):
        own, tangled = ends[begin:end], bool(looped[begin:end].any())
        pieces.append(_PIECES((own.tobytes(), tangled), own, tangled))
    return _lay_out(pieces, by, joints, widths, looped)


def _piece(pairs: np.ndarray, tangled: bool) -> _Piece:
    """pairs: the bodies of each joint, -1: what does not move; tangled: whether some of them close loops."""
    ends: list[list[int]] = pairs.tolist()
    at: dict[int, list[tuple[int, str]]] = {}  # body -> joints on it
    for j, pair in enumerate(ends):
        for side, body in zip("ab", pair):
            if body >= 0:
                at.setdefault(body, []).append((j, side))
    hubs = sorted(body for body, found in at.items() if len(found) > MOST_JOINTS)
    hub_node = {body: len(ends) + k for k, body in enumerate(hubs)}
    codes = _couplings(at, hub_node)
    order, columns = _minimum_degree(len(ends) + len(hubs), codes, _waiting(ends, hub_node))
    order = postorder(order, columns) if tangled else order
    number = {node: k for k, node in enumerate(order)}
    joint: list[int] = []
    sides: list[int] = []
    nodes: list[list[int]] = []
    found: list[int] = []
    for node in order:
        below = sorted((number[i], i) for i in columns[node])
        nodes.append([k for k, _ in below])
        found.extend(codes.get((i, node), 0) for _, i in below)
        joint.append(node if node < len(ends) else -1 - hubs[node - len(ends)])
        pair = ends[node] if node < len(ends) else []
        sides.append(sum(bit for bit, body in zip((1, 2), pair) if body >= 0 and body not in hub_node))
    return _Piece(
        np.array(joint, np.int64),
        np.array(sides, np.int32),
        np.array([len(below) for below in nodes], np.int64),
        np.array([k for below in nodes for k in below], np.int64),
        np.array(found, np.int32),
    )


_PIECES = Structures(_piece)


def _couplings(at: Mapping[int, list[tuple[int, str]]], hub_node: Mapping[int, int]) -> dict[tuple[int, int], int]:
    """(node, node) -> code, in both directions."""
    codes = {}
    for body, found in at.items():
        if body in hub_node:
            for j, side in found:
                codes[hub_node[body], j] = codes[j, hub_node[body]] = HUB_AT[side]
            continue
        for i, side_i in found:
            for j, side_j in found:
                if i != j:
                    codes[i, j] = codes.get((i, j), 0) | SHARED[side_i, side_j]
    return codes


def _waiting(ends: list[list[int]], hub_node: Mapping[int, int]) -> dict[int, set[int]]:
    """node -> hubs that come before it, of the joints that move nothing but hubs."""
    waits: dict[int, set[int]] = {}
    for j, pair in enumerate(ends) if hub_node else ():
        moving = [body for body in pair if body >= 0]
        if moving and all(body in hub_node for body in moving):
            waits[j] = {hub_node[body] for body in moving}
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


def _lay_out(found: list[Found[_Piece]], by: Sorted, joints: np.ndarray, widths: np.ndarray, looped: np.ndarray) -> Plan:
    """The pieces one after the other. joints, with how many rows, and whether in loops: in the order of `by`."""
    pieces = [piece.value for piece in found]
    numbers = np.array([len(piece.joint) for piece in pieces], np.int64)
    first = np.cumsum(numbers) - numbers  # node of each piece

    def joined(name: str, dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype), *(getattr(piece, name) for piece in pieces)]).astype(dtype)

    inside, below, codes = joined("joint", np.int64), joined("below", np.int64), joined("codes", np.int32)
    is_joint, count = inside >= 0, len(inside)
    k = np.where(is_joint, inside + np.repeat(by.begin, numbers), 0)
    hub = np.where(is_joint, 0, -1 - inside + np.repeat(by.first, numbers))
    joint, size, shift = np.zeros(count, np.int32), np.full(count, 6, np.int32), np.zeros(count)
    if len(joints):
        size, shift = np.where(is_joint, widths[k], 6).astype(np.int32), (is_joint & looped[k]).astype(float)
    if count:
        joint = np.where(is_joint, joints[k], -1 - by.member[hub]).astype(np.int32)
    owner = np.repeat(np.arange(count), below)
    nodes = joined("nodes", np.int64) + np.repeat(first, [len(piece.nodes) for piece in pieces])
    heights = np.bincount(owner, weights=size[nodes], minlength=count)
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    given, belows = codes > 0, None
    if looped.any():  # fill has its place in the fronts
        belows = [rows.tolist() for rows in np.split(nodes, np.cumsum(below)[:-1])]
        owner, nodes, codes = owner[given], nodes[given], codes[given]
    entry_begin = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int64)
    lengths = size[nodes].astype(np.int64) * size[owner]
    starts = np.concatenate([[0], np.cumsum(size.astype(np.int64) * size)])
    values = np.concatenate([[0], np.cumsum(lengths)]) + starts[-1]
    by_row = np.lexsort((owner, nodes))
    row_begin = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))]).astype(np.int64)
    nodes = nodes.astype(np.int32)
    return Plan(
        joint,
        size,
        joined("sides", np.int32),
        shift,
        offsets[:-1].copy(),
        starts[:-1].astype(np.int64),
        entry_begin,
        nodes,
        values[:-1].astype(np.int64),
        codes,
        row_begin,
        owner[by_row].astype(np.int32),
        by_row.astype(np.int64),
        np.repeat(by.of[by.begin], numbers).astype(np.int32),
        int(values[-1]),
        int(offsets[-1]),
        float((size * heights * heights).sum()),
        None if belows is None else plan_fronts(belows, size, offsets[:-1], entry_begin, nodes),
        found,
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
