"""Plain ball joints several at a time: which stand side by side. No block has joints of two articulations."""

from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, records

from mcsim.core.arrays import aligned
from mcsim.wide import levels

LANES = 8
RECORD, ANGULAR, SPIN = 15, (3, 6), (9, 12)        # numbers of a JointRow; where those of sides a, b begin

# What the body shared by two joints is to the row's and to the column's: codes of solve/_tree_blocks.pxd.
SIDES = {1: (0, 0), 2: (0, 1), 4: (1, 0), 8: (1, 1)}


def record_types(width):
    """BallBlock, CoupleBlock, PushBlock and PushSlot as NumPy dtypes at a level with so many lanes."""
    def integers(*names):
        return [(name, "i4", LANES) for name in names]

    def vectors(*names):
        return [(name, "f8", (3, width)) for name in names]

    def numbers(*names):
        return [(name, "f8", width) for name in names]
    return [np.dtype(fields) for fields in (
        integers("row", "record", "vector", "diagonal", "body_a", "body_b", "arm", "reserved")
        + vectors("anchor_a", "anchor_b", "arm_a", "arm_b", "error") + numbers("side_a", "side_b", "push"),
        integers("value", "angular", "spin", "body") + numbers("sign"),
        integers("body") + [("slot", "i4"), ("slot_end", "i4"), ("reserved", "i4", 6)],
        integers("row", "vector", "arm", "reserved") + numbers("sign"))]


def lanes(groups, width):
    """(blocks, width) which of the numbered things each lane takes, and where the blocks of each group begin, one more for
    the end. Things of one group stand together, and no block has things of two; lanes left over repeat their block's
    first. groups: (n,) ascending numbers"""
    groups = np.asarray(groups, np.int64)
    count = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    blocks = -(-count // width)
    first, begin = np.cumsum(count) - count, np.concatenate([[0], np.cumsum(blocks)]).astype(np.int32)
    group = np.repeat(np.arange(len(count)), blocks)
    start = first[group] + width * (np.arange(len(group)) - begin[group])
    taken = start[:, None] + np.arange(width)
    return np.where(taken < (first + count)[group][:, None], taken, start[:, None]).astype(np.int64), begin


def room(dtype, count):
    """(count,) records, all 0, at a multiple of 64 bytes, and at least one."""
    return aligned(-(-dtype.itemsize * (count + 1) // 8) * 8).view("i1")[:dtype.itemsize * (count + 1)].view(dtype)


def coupled(nodes, entries, plain):
    """Entries between two plain nodes that share one body: numbers of the entries, and of their columns."""
    column = np.repeat(np.arange(len(nodes)), nodes["entry_end"] - nodes["entry_begin"])
    found = np.flatnonzero(plain[column] & plain[entries["node"]] & np.isin(entries["code"], list(SIDES)))
    return found, column[found]


cdef class DirectBalls:
    def __init__(self, nodes, entries, plain, moves, anchors, push, group):
        """nodes, entries: those of a JointTree; plain: (nodes,) bool, which are ball joints of three rows; moves:
        (bodies,) bool, which are dynamic; anchors: (nodes, 2, 3) joint points on a and b in their own axes; push:
        (nodes,) how fast they are closed at most [m/s]; group: (nodes,) ascending, the articulation of each."""
        self.kernels = <const BallKernels*>PyCapsule_GetPointer(levels.table("ball_kernels"), "mcsim.wide.direct_balls")
        types = record_types(self.kernels.width)
        if [t.itemsize for t in types] != [self.kernels.sizes[k] for k in range(4)]:
            raise AssertionError("the records of ball joints differ from their kernels'")
        chosen = np.flatnonzero(plain)
        number = np.zeros(len(nodes), np.int64)
        number[chosen] = np.arange(len(chosen))
        arms = np.zeros((len(chosen) + 1, 2, 3))
        joints, ball = self._joints(types[0], nodes, chosen, anchors, push, group)
        couples, couple = self._couples(types[1], nodes, entries, plain, group)
        pushes, slots, push = self._bodies(types[2], types[3], nodes, chosen, number, moves, group)
        self.kept = arms, joints, couples, pushes, slots
        self.begin = {"ball": ball, "couple": couple, "push": push}
        self.arms = doubles(arms)
        self.blocks, self.couples = <BallBlock*>records(joints), <CoupleBlock*>records(couples)
        self.pushes, self.slots = <PushBlock*>records(pushes), <PushSlot*>records(slots)

    def _joints(self, dtype, nodes, chosen, anchors, push, group):
        taken, begin = lanes(group[chosen], self.kernels.width)
        node = chosen[taken]
        blocks = room(dtype, len(taken))
        these, n = blocks[:len(taken)], self.kernels.width
        for name, value in (("row", nodes["row"]), ("record", RECORD * nodes["row"]), ("vector", nodes["offset"]),
                            ("diagonal", nodes["diagonal"]), ("body_a", nodes["body_a"]), ("body_b", nodes["body_b"])):
            these[name][:, :n] = value[node]
        these["arm"][:, :n] = 6 * taken
        these["anchor_a"], these["anchor_b"] = (anchors[node, side].transpose(0, 2, 1) for side in (0, 1))
        these["push"] = push[node]
        these["side_a"], these["side_b"] = ((nodes["sides"][node] & bit) != 0 for bit in (1, 2))
        return blocks, begin

    def _couples(self, dtype, nodes, entries, plain, group):
        entry, column = coupled(nodes, entries, plain)
        taken, begin = lanes(group[column], self.kernels.width)
        blocks = room(dtype, len(taken))
        these, n = blocks[:len(taken)], self.kernels.width
        sides = np.array([SIDES[code] for code in entries["code"][entry]], int).reshape(-1, 2)
        other = nodes["row"][entries["node"][entry]]
        ends = np.stack([nodes["body_a"][column], nodes["body_b"][column]], axis=1)
        for name, value in (("value", entries["value"][entry]),
                            ("angular", RECORD * other + np.array(ANGULAR)[sides[:, 0]]),
                            ("spin", RECORD * nodes["row"][column] + np.array(SPIN)[sides[:, 1]]),
                            ("body", np.take_along_axis(ends, sides[:, 1:], axis=1)[:, 0])):
            these[name][:, :n] = value[taken]
        these["sign"] = np.where(sides[:, 0] == sides[:, 1], 1.0, -1.0)[taken]
        return blocks, begin

    def _bodies(self, block_type, slot_type, nodes, chosen, number, moves, group):
        """Bodies with as many joints stand together, so that few lanes are idle."""
        ends = np.stack([nodes["body_a"][chosen], nodes["body_b"][chosen]], axis=1).ravel()
        found = np.flatnonzero((ends >= 0) & np.append(moves, False)[ends])
        found = found[np.argsort(ends[found], kind="stable")]            # body by body: 2 times a joint, 1 more for side b
        bodies, start, count = np.unique(ends[found], return_index=True, return_counts=True)
        of = group[chosen[found[start] // 2]]
        order = np.lexsort((bodies, -count, of))
        taken, begin = lanes(of[order], self.kernels.width)
        which = order[taken] if len(taken) else np.zeros((0, self.kernels.width), np.int64)
        deep = count[which[:, 0]]                                        # joints of the first, which has the most
        blocks, slots = room(block_type, len(taken)), room(slot_type, int(deep.sum()))
        these, n = blocks[:len(taken)], self.kernels.width
        these["slot"], these["slot_end"] = np.cumsum(deep) - deep, np.cumsum(deep)
        these["body"][:, :n] = bodies[which]
        many = count[which].ravel()
        k = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        joint = found[np.repeat(start[which].ravel(), many) + k]
        slot, lane = np.repeat(np.repeat(these["slot"], n), many) + k, np.repeat(np.tile(np.arange(n), len(taken)), many)
        node, side = chosen[joint // 2], joint % 2
        for name, value in (("row", nodes["row"][node]), ("vector", nodes["offset"][node]),
                            ("arm", 6 * number[node] + 3 * side), ("sign", 2.0 * side - 1.0)):
            slots[name][slot, lane] = value
        return blocks, slots, begin

    cdef BallBlock* block(self, Py_ssize_t k) noexcept nogil:
        return <BallBlock*>(<char*>self.blocks + k * self.kernels.sizes[0])

    cdef CoupleBlock* couple(self, Py_ssize_t k) noexcept nogil:
        return <CoupleBlock*>(<char*>self.couples + k * self.kernels.sizes[1])
