"""Plain ball joints several at a time: which stand side by side."""

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records

from mcsim.core.arrays import aligned
from mcsim.wide import levels

LANES = 8
RECORD, ANGULAR, SPIN = 15, (3, 6), (9, 12)        # numbers of a JointRow; where those of sides a, b begin

# What the body shared by two joints is to the row's and to the column's: codes of solve/_tree.pyx.
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
        + vectors("anchor_a", "anchor_b", "arm_a", "arm_b", "error") + numbers("side_a", "side_b"),
        integers("value", "angular", "spin", "body") + numbers("sign"),
        integers("body") + [("slot", "i4"), ("slot_end", "i4"), ("reserved", "i4", 6)],
        integers("row", "vector", "arm", "reserved") + numbers("sign"))]


def lanes(count, width):
    """(blocks, width) which of `count` each lane takes; those left over repeat their block's first."""
    taken = np.arange(-(-count // width) * width).reshape(-1, width)
    return np.where(taken < count, taken, taken[:, :1])


def room(dtype, count):
    """(count,) records, all 0, at a multiple of 64 bytes, and at least one."""
    return aligned(-(-dtype.itemsize * (count + 1) // 8) * 8).view("i1")[:dtype.itemsize * (count + 1)].view(dtype)


def _alike(array):
    """A copy that begins at a multiple of 64 bytes too."""
    copy = room(array.dtype, len(array) - 1)
    copy[:] = array
    return copy


cdef inline void take_lane(char* to, int lane, const char* source, int from_lane, int integers, int numbers,
                           int width) noexcept nogil:
    """One lane of a record of `integers` times eight numbers and then `numbers` registers."""
    cdef int k
    for k in range(integers):
        (<int32_t*>to)[8 * k + lane] = (<const int32_t*>source)[8 * k + from_lane]
    to += 32 * integers
    source += 32 * integers
    for k in range(numbers):
        (<double*>to)[width * k + lane] = (<const double*>source)[width * k + from_lane]


cdef Py_ssize_t pack(char* out, const LaneStock* stock, const int8_t* idle, int width) noexcept nogil:
    """Lanes whose owner is not idle, side by side; those left over repeat their block's first. -> blocks"""
    cdef Py_ssize_t k
    cdef Py_ssize_t n = 0
    for k in range(stock.count):
        if not idle[stock.owner[k]]:
            take_lane(out + n // width * stock.size, n % width, stock.blocks + k // width * stock.size, k % width,
                      stock.integers, stock.numbers, width)
            n += 1
    for k in range(n, (n + width - 1) // width * width):
        take_lane(out + n // width * stock.size, k % width, out + n // width * stock.size, 0, stock.integers,
                  stock.numbers, width)
    return (n + width - 1) // width


cdef Py_ssize_t pack_bodies(PushBlock* out, PushSlot* slots, const LaneStock* stock, const PushSlot* all_slots,
                            Py_ssize_t slot_size, const int8_t* idle, int width) noexcept nogil:
    """The same of bodies. They stand by their number of slots, descending: so there is room."""
    cdef const PushBlock* source
    cdef PushBlock* block = out
    cdef char* slot
    cdef Py_ssize_t k, i, count
    cdef Py_ssize_t n = 0
    cdef int32_t first = 0
    cdef int lane
    for k in range(stock.count):
        source = <const PushBlock*>stock.blocks + k // width
        if idle[stock.owner[k]]:
            continue
        lane = n % width
        count = source.slot_end - source.slot
        if lane == 0:
            block = out + n // width
            block.slot = first
            block.slot_end = first = <int32_t>(first + count)
            memset(<char*>slots + block.slot * slot_size, 0, count * slot_size)
        block.body[lane] = source.body[k % width]
        for i in range(count):
            # A later block has no more slots than its block's first.
            take_lane(<char*>slots + (block.slot + i) * slot_size, lane,
                      <const char*>all_slots + (source.slot + i) * slot_size, k % width, 4, 1, width)
        n += 1
    for k in range(n, (n + width - 1) // width * width):
        block.body[k % width] = block.body[0]
        for i in range(block.slot, block.slot_end):
            slot = <char*>slots + i * slot_size
            take_lane(slot, k % width, slot, 0, 4, 1, width)
    return (n + width - 1) // width


def coupled(nodes, entries, plain):
    """Entries between two plain nodes that share one body: numbers of the entries, and of their columns."""
    column = np.repeat(np.arange(len(nodes)), nodes["entry_end"] - nodes["entry_begin"])
    found = np.flatnonzero(plain[column] & plain[entries["node"]] & np.isin(entries["code"], list(SIDES)))
    return found, column[found]


cdef class Balls:
    def __init__(self, nodes, entries, plain, moves, anchors):
        """nodes, entries: those of a JointTree; plain: (nodes,) bool, which are ball joints of three rows; moves:
        (bodies,) bool, which are dynamic; anchors: (nodes, 2, 3) joint points on a and b in their own axes."""
        self.kernels = <const BallKernels*>PyCapsule_GetPointer(levels.table("ball_kernels"), "mcsim.wide.balls")
        types = record_types(self.kernels.width)
        if [t.itemsize for t in types] != [self.kernels.sizes[k] for k in range(4)]:
            raise AssertionError("the records of ball joints differ from their kernels'")
        chosen = np.flatnonzero(plain)
        number = np.zeros(len(nodes), np.int64)
        number[chosen] = np.arange(len(chosen))
        arms = np.zeros((len(chosen) + 1, 2, 3))
        self.kept = [arms, self._joints(types[0], nodes, chosen, anchors),
                     self._couples(types[1], nodes, entries, plain),
                     *self._bodies(types[2], types[3], nodes, chosen, number, moves)]
        self.arms = doubles(arms)
        copies = [_alike(array) for array in self.kept[1:]]
        self.blocks, self.couples = <BallBlock*>records(copies[0]), <CoupleBlock*>records(copies[1])
        self.pushes, self.slots = <PushBlock*>records(copies[2]), <PushSlot*>records(copies[3])
        self.kept += copies
        column = coupled(nodes, entries, plain)[1]
        self.joints = self._stock(1, chosen, 8, 17)
        self.couplings = self._stock(2, column, 4, 1)
        self.bodies = self._stock(3, self.pushed, 1, 0)
        self.all_slots = <const PushSlot*>records(self.kept[4])

    cdef LaneStock _stock(self, int k, owner, int integer_count, int number_count) except *:
        cdef LaneStock stock
        owner = np.append(owner, 0).astype(np.int32)
        self.kept.append(owner)
        stock.blocks, stock.size = <const char*>records(self.kept[k]), self.kept[k].dtype.itemsize
        stock.owner, stock.count = integers(owner), len(owner) - 1
        stock.integers, stock.numbers = integer_count, number_count
        return stock

    def _joints(self, dtype, nodes, chosen, anchors):
        taken = lanes(len(chosen), self.kernels.width)
        node = chosen[taken]
        self.count = len(taken)
        blocks = room(dtype, len(taken))
        these, n = blocks[:len(taken)], self.kernels.width
        for name, value in (("row", nodes["row"]), ("record", RECORD * nodes["row"]), ("vector", nodes["offset"]),
                            ("diagonal", nodes["diagonal"]), ("body_a", nodes["body_a"]), ("body_b", nodes["body_b"])):
            these[name][:, :n] = value[node]
        these["arm"][:, :n] = 6 * taken
        these["anchor_a"], these["anchor_b"] = (anchors[node, side].transpose(0, 2, 1) for side in (0, 1))
        these["side_a"], these["side_b"] = ((nodes["sides"][node] & bit) != 0 for bit in (1, 2))
        return blocks

    def _couples(self, dtype, nodes, entries, plain):
        entry, column = coupled(nodes, entries, plain)
        taken = lanes(len(entry), self.kernels.width)
        self.couple_count = len(taken)
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
        return blocks

    def _bodies(self, block_type, slot_type, nodes, chosen, number, moves):
        """Bodies with as many joints stand together, so that few lanes are idle."""
        uses = [(int(nodes[name][node]), side, int(node)) for node in chosen
                for side, name in enumerate(("body_a", "body_b")) if nodes[name][node] >= 0]
        of = {}
        for body, side, node in uses:
            if moves[body]:
                of.setdefault(body, []).append((side, node))
        bodies = sorted(of, key=lambda body: (-len(of[body]), body))
        taken = lanes(len(bodies), self.kernels.width)
        self.push_count, self.pushed = len(taken), [of[body][0][1] for body in bodies]
        counts = [len(of[bodies[block[0]]]) for block in taken]
        blocks, slots = room(block_type, len(taken)), room(slot_type, sum(counts))
        first = 0
        for block, these, count in zip(blocks, taken, counts):
            block["slot"], block["slot_end"] = first, first + count
            for lane, which in enumerate(these):
                body = bodies[which]
                block["body"][lane] = body
                for slot, (side, node) in zip(slots[first:first + count], of[body]):
                    slot["row"][lane], slot["vector"][lane] = nodes["row"][node], nodes["offset"][node]
                    slot["arm"][lane] = 6 * number[node] + 3 * side
                    slot["sign"][lane] = 2.0 * side - 1.0
            first += count
        return blocks, slots

    cdef void choose(self, const int8_t* idle) noexcept nogil:
        """Pack the lanes of what is not idle. idle: of each node"""
        cdef int width = self.kernels.width
        self.count = pack(<char*>self.blocks, &self.joints, idle, width)
        self.couple_count = pack(<char*>self.couples, &self.couplings, idle, width)
        self.push_count = pack_bodies(self.pushes, self.slots, &self.bodies, self.all_slots,
                                      self.kernels.sizes[3], idle, width)

    cdef double write(self, const Bodies* bodies, JointRows* rows) noexcept nogil:
        return self.kernels.write(self.blocks, self.count, bodies, rows, self.arms)

    cdef double miss(self, const Bodies* bodies, JointRows* rows, double h, double fastest) noexcept nogil:
        return self.kernels.miss(self.blocks, self.count, bodies, rows, h, fastest)

    cdef void assemble(self, const Bodies* bodies, JointRows* rows, double* values) noexcept nogil:
        self.kernels.assemble(self.blocks, self.count, bodies, rows, values)
        self.kernels.couple(self.couples, self.couple_count, bodies, rows, values)

    cdef double residual(self, const Twist* twist, const JointRows* rows, double* vector) noexcept nogil:
        return self.kernels.residual(self.blocks, self.count, twist, rows, vector)

    cdef void push(self, const Bodies* bodies, Twist* twist, const double* x, bint by_rows) noexcept nogil:
        self.kernels.push(self.pushes, self.push_count, self.slots, bodies, twist, x, by_rows, self.arms)
