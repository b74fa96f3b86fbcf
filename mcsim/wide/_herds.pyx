"""Articulations of equal structure side by side: which do, and the way of their numbers there and back.

Articulations are alike if their joints, in the order of elimination, are of the same kinds and tie the same bodies,
numbered as they come. Those of ball joints and hinges without prescribed motions, bodies with many joints or loops are
taken, if there are two or more of a structure.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.state._layout cimport BALL, HINGE

from mcsim.core.rotation import matrices
from mcsim.core.arrays import aligned
from mcsim.wide import levels

cdef enum:
    LANES = 8
    FIXED = 15
    RECORD = 15                  # numbers of a JointRow

# What the body shared by two joints is to the row's and to the column's: codes of solve/_tree.pyx.
SIDES = {1: (0, 0), 2: (0, 1), 4: (1, 0), 8: (1, 1)}

NODE = np.dtype([(name, "i4") for name in ("size", "a", "b", "sides", "row", "diagonal", "entry", "entry_end")])
ENTRY = np.dtype([(name, "i4") for name in ("node", "value", "body", "row_side", "column_side", "update", "update_end",
                                            "reserved")])
UPDATE = np.dtype([(name, "i4") for name in ("target", "left", "rows", "columns")])


def eligible(joints, sizes):
    """(joints,) bool: ball joints and hinges without prescribed motions."""
    still = np.all(joints["axes"]["motion_mode"] == 0, axis=1)
    return still & (((joints["type"] == BALL) & (sizes == 3)) | ((joints["type"] == HINGE) & (sizes == 5)))


def structure(nodes, members, moves):
    """How many bodies of an articulation move, with (size, a, b) of each of its nodes; and the bodies: those that move,
    as they come, then the other ends, one for each joint that has one."""
    of, fixed, found = {}, [], []
    for k in members:
        ends = []
        for name in ("body_a", "body_b"):
            body = int(nodes[name][k])
            if body >= 0 and moves[body]:
                ends.append(of.setdefault(body, len(of)))
            else:
                fixed.append(body)
                ends.append(-len(fixed))
        found.append((int(nodes["size"][k]), *ends))
    count = len(of)
    shape = tuple((size, *(end if end >= 0 else count - 1 - end for end in ends)) for size, *ends in found)
    return (count, shape), [*of, *fixed]


def lay_out(nodes, entries, members, shape, moving):
    """NODE, ENTRY and UPDATE records of a structure, and how many numbers its blocks have; None: a coupling is of
    another kind. moving: how many of its bodies move."""
    at = {int(k): i for i, k in enumerate(members)}
    out, column, block, updates = np.zeros(len(members), NODE), [], {}, []
    values = row = 0
    for i, (k, (size, a, b)) in enumerate(zip(members, shape)):
        out[i] = (size, a, b, (a < moving) + 2 * (b < moving), row, values, len(column), 0)
        row += size
        values += size * size
        for e in range(nodes["entry_begin"][k], nodes["entry_end"][k]):
            if int(entries["code"][e]) not in SIDES:
                return None
            row_side, column_side = SIDES[int(entries["code"][e])]
            other = at[int(entries["node"][e])]
            block[other, i] = values
            column.append([other, values, (a, b)[column_side], row_side, column_side, 0, 0, 0])
            values += size * shape[other][0]
        out["entry_end"][i] = len(column)
    for i in range(len(members)):
        mine = range(out["entry"][i], out["entry_end"][i])
        for e in mine:
            right = column[e][0]
            column[e][5] = len(updates)
            for f in mine:
                left = column[f][0]
                if left >= right:
                    target = out["diagonal"][right] if left == right else block.get((left, right))
                    if target is None:
                        return None
                    updates.append((target, f, shape[left][0], shape[right][0]))
            column[e][6] = len(updates)
    return out, np.array([tuple(c) for c in column], ENTRY), np.array(updates, UPDATE), values, row


def herded(nodes, entries, joints, sizes, moves, group):
    """List of structures: (NODE, ENTRY, UPDATE, values, rows, bodies that move, [(bodies, joints)] of its
    articulations). group: (bodies + 1,) articulation of each body that moves, else -1."""
    joint = np.maximum(nodes["joint"], 0)
    ends = np.stack([nodes["body_a"], nodes["body_b"]], axis=1)
    of = np.where(nodes["joint"] >= 0, group[ends].max(axis=1, initial=-1), -1)
    usable = eligible(joints, sizes)[joint] & (nodes["joint"] >= 0) & (of >= 0)
    hubs = group[-1 - nodes["joint"][nodes["joint"] < 0]]
    bad = np.union1d(of[~usable], hubs)
    order = np.argsort(of, kind="stable")
    numbers, begin = np.unique(of[order], return_index=True)
    alike = {}
    for number, members in zip(numbers, np.split(order, begin[1:])):
        if number >= 0 and number not in bad:
            alike.setdefault(nodes["size"][members].tobytes(), []).append(members)
    found = {}
    for likely in alike.values():
        for members in likely if len(likely) > 1 else ():
            shape, bodies = structure(nodes, members, moves)
            found.setdefault(shape, []).append((members, bodies))
    herds = []
    for (moving, shape), articulations in found.items():
        if len(articulations) > 1:
            members = articulations[0][0]
            laid = lay_out(nodes, entries, members, shape, moving)
            if laid is not None:
                herds.append((*laid, moving, [(bodies, nodes["joint"][members]) for members, bodies in articulations]))
    return herds


def fixed_numbers(joints):
    """(joints, 15): anchors on a and b; x and y on a, z on b; in the bodies' axes."""
    on_a, on_b = matrices(joints["basis_a"]), matrices(joints["basis_b"])
    return np.hstack([joints["anchor_a"], joints["anchor_b"], on_a[:, :, 0], on_a[:, :, 1], on_b[:, :, 2]])


cdef class Herds:
    """nodes, entries: those of a JointTree without loops; joints: JOINT_DTYPE; sizes: (joints,) rows of each; moves:
    (bodies,) bool, which are dynamic; group: (bodies + 1,) articulation of each, -1 of others."""

    def __init__(self, nodes, entries, joints, sizes, moves, group):
        self.kernels = <const HerdKernels*>PyCapsule_GetPointer(levels.table("herd_kernels"), "mcsim.wide.herds")
        flocks = herded(nodes, entries, joints, sizes, moves, group)
        self.joints = np.zeros(len(joints) + 1, bool)
        taken = self.joints.view(np.int8)
        self.taken = <int8_t*>records(taken)
        self.kept = [taken]
        self.flock_count = len(flocks)
        self._keep_members(flocks, fixed_numbers(joints))
        self._keep_herds(flocks, np.concatenate([[0], np.cumsum(sizes)]))

    def _keep_members(self, flocks, fixed):
        members = [member for flock in flocks for member in flock[6]]
        begin = np.cumsum([0] + [len(flock[6]) for flock in flocks]).astype(np.int32)
        bodies = np.concatenate([m[0] for m in members] + [[0]]).astype(np.int32)
        sources = np.concatenate([m[1] for m in members] + [[0]]).astype(np.int32)
        self.joints[sources[:len(sources) - 1]] = True
        body_begin = np.cumsum([0] + [len(m[0]) for m in members]).astype(np.int32)
        joint_begin = np.cumsum([0] + [len(m[1]) for m in members]).astype(np.int32)
        anchors = np.ascontiguousarray(fixed[sources]) if len(fixed) else np.zeros((1, FIXED))
        self.kept += begin, bodies, sources, body_begin, joint_begin, anchors
        self.flock_begin, self.bodies, self.sources = integers(begin), integers(bodies), integers(sources)
        self.member_body, self.member_joint = integers(body_begin), integers(joint_begin)
        self.anchors = doubles(anchors)

    def _keep_herds(self, flocks, row_begin):
        """Room for all herds; scratch for one."""
        width = self.kernels.width
        begin = np.cumsum([0] + [-(-len(flock[6]) // width) for flock in flocks]).astype(np.int32)
        total = int(begin[len(flocks)])
        shapes = np.zeros(sizeof(HerdShape) * (len(flocks) + 1), np.int8)
        herds, used = np.zeros((2, sizeof(Herd) * (total + 1)), np.int8)
        numbers = row_begin.astype(np.int32)
        rate = aligned(8)
        self.kept += begin, shapes, herds, used, numbers
        self.herd_begin, self.row_begin = integers(begin), integers(numbers)
        self.shapes = <HerdShape*>records(shapes)
        self.all_herds, self.herds = <Herd*>records(herds), <Herd*>records(used)
        self.number_count = 0
        scratch = [self._room(max([n * k for n, k in sizes], default=1)) for sizes in (
            [(len(flock[0]), 30) for flock in flocks], [(len(flock[6][0][0]), 12) for flock in flocks],
            [(flock[4], 1) for flock in flocks])]
        for f, flock in enumerate(flocks):
            self._keep_flock(f, flock, scratch, int(begin[f]), int(begin[f + 1]))
        rate = aligned(8 * max(self.number_count, 1))
        total = aligned(8 * LANES * (len(used) // sizeof(Herd)))
        self.kept += rate, total
        self.rate, self.sum = doubles(rate), doubles(total)

    def _room(self, numbers):
        array = aligned(8 * self.kernels.width * max(numbers, 1))
        self.kept.append(array)
        return array

    def _keep_flock(self, Py_ssize_t f, flock, scratch, Py_ssize_t begin, Py_ssize_t end):
        nodes, entries, updates, values, rows, moving, members = flock
        cdef HerdShape* shape = &self.shapes[f]
        cdef Herd* herd
        cdef Py_ssize_t h
        cdef Py_ssize_t n = len(nodes)
        cdef Py_ssize_t bodies = len(members[0][0])
        entries, updates = (np.append(a, np.zeros(1, a.dtype)) for a in (entries, updates))
        self.kept += nodes, entries, updates
        shape.nodes, shape.entries = <const HerdNode*>records(nodes), <const HerdEntry*>records(entries)
        shape.updates = <const HerdUpdate*>records(updates)
        shape.node_count, shape.body_count, shape.moving_count = <int32_t>n, <int32_t>bodies, moving
        shape.row_count, shape.value_count = rows, values
        self.number_count += (end - begin) * rows * self.kernels.width
        for h in range(begin, end):
            herd = &self.all_herds[h]
            lanes = np.zeros((bodies + 3 * n, LANES), np.int32)
            self.kept.append(lanes)
            herd.shape = shape
            herd.body = integers(lanes)
            herd.record, herd.number = herd.body + LANES * bodies, herd.body + LANES * (bodies + n)
            herd.source = herd.body + LANES * (bodies + 2 * n)
            herd.fixed, herd.arms = doubles(self._room(FIXED * n)), doubles(self._room(12 * n))
            herd.masses, herd.scale = doubles(self._room(7 * bodies)), doubles(self._room(rows))
            herd.values, herd.scaled = doubles(self._room(values)), doubles(self._room(values))
            herd.loose = doubles(self._room(2))
            herd.start, herd.inertia = doubles(self._room(7 * moving)), doubles(self._room(12 * moving))
            herd.spins, herd.motions, herd.x = doubles(scratch[0]), doubles(scratch[1]), doubles(scratch[2])

    def lanes(self):
        """Lists, herd by herd, of the joints of each lane: (nodes, lanes) arrays."""
        cdef Py_ssize_t n
        cdef int k
        found = []
        for n in range(self.count):
            found.append(np.array([[self.herds[n].source[LANES * k + lane] for lane in range(self.herds[n].lanes)]
                                   for k in range(self.herds[n].shape.node_count)]))
        return found

    # ---- who is awake ------------------------------------------------------------------------------------------------

    cdef void choose(self, const int8_t* idle, Py_ssize_t first) noexcept nogil:
        """Articulations whose joints are not idle into herds, whose numbers begin at `first`. idle: of each joint."""
        cdef Py_ssize_t f, a, h
        cdef Herd* herd
        cdef int lane = 0
        self.count = 0
        self.first = first
        self.used = 0
        for f in range(self.flock_count):
            h = self.herd_begin[f]
            lane = 0
            for a in range(self.flock_begin[f], self.flock_begin[f + 1]):
                if idle[self.sources[self.member_joint[a]]]:
                    continue
                self.fill(&self.all_herds[h], lane, a)
                lane += 1
                if lane == self.kernels.width:
                    self.add(&self.all_herds[h], lane)
                    lane = 0
                    h += 1
            if lane > 0:
                self.add(&self.all_herds[h], lane)

    cdef void fill(self, Herd* herd, int lane, Py_ssize_t a) noexcept nogil:
        """Articulation a into a lane."""
        cdef int width = self.kernels.width
        cdef int k, i
        cdef int32_t joint
        cdef const double* fixed = self.anchors + FIXED * <Py_ssize_t>self.member_joint[a]
        for k in range(herd.shape.body_count):
            herd.body[LANES * k + lane] = self.bodies[self.member_body[a] + k]
        for k in range(herd.shape.node_count):
            joint = self.sources[self.member_joint[a] + k]
            herd.source[LANES * k + lane] = joint
            herd.number[LANES * k + lane] = self.row_begin[joint]
            herd.record[LANES * k + lane] = RECORD * self.row_begin[joint]
            for i in range(FIXED):
                herd.fixed[(FIXED * k + i) * width + lane] = fixed[FIXED * k + i]

    cdef void add(self, Herd* herd, int lanes) noexcept nogil:
        """A herd whose first lanes are filled; the others repeat the first."""
        cdef int width = self.kernels.width
        cdef int lane, k
        herd.lanes = lanes
        for lane in range(lanes, width):
            for k in range(herd.shape.body_count + 3 * herd.shape.node_count):
                herd.body[LANES * k + lane] = herd.body[LANES * k]
            for k in range(FIXED * herd.shape.node_count):
                herd.fixed[k * width + lane] = herd.fixed[k * width]
        herd.first = self.first + self.used
        self.used += herd.shape.row_count * width
        self.herds[self.count] = herd[0]
        self.count += 1

    # ---- impulses ----------------------------------------------------------------------------------------------------

    cdef void begin_step(self, JointRows* rows, const Joint* joints) noexcept nogil:
        """The impulses of the last step."""
        cdef int width = self.kernels.width
        cdef Py_ssize_t n
        cdef int k, i, lane
        cdef const Herd* herd
        cdef const HerdNode* node
        for n in range(self.count):
            herd = &self.herds[n]
            for k in range(herd.shape.node_count):
                node = &herd.shape.nodes[k]
                for lane in range(width):
                    for i in range(node.size):
                        rows.second[herd.first + (node.row + i) * width + lane] = (
                            joints[herd.source[LANES * k + lane]].impulse[i])

    cdef void take(self, JointRows* rows) noexcept nogil:
        """Impulses from where those of the joints are."""
        cdef int width = self.kernels.width
        cdef Py_ssize_t n, to
        cdef int k, i, lane
        cdef const Herd* herd
        cdef const HerdNode* node
        for n in range(self.count):
            herd = &self.herds[n]
            for k in range(herd.shape.node_count):
                node = &herd.shape.nodes[k]
                for lane in range(width):
                    for i in range(node.size):
                        to = herd.first + (node.row + i) * width + lane
                        rows.impulse[to] = rows.impulse[herd.number[LANES * k + lane] + i]
                        rows.second[to] = rows.second[herd.number[LANES * k + lane] + i]

    cdef void give(self, JointRows* rows) noexcept nogil:
        """Jacobians, without I^-1 J', and impulses to where those of the joints are."""
        self.kernels.give(self.herds, self.count, rows)
        self.kernels.give_impulses(self.herds, self.count, rows)

    cdef void give_impulses(self, JointRows* rows) noexcept nogil:
        """The impulses alone."""
        self.kernels.give_impulses(self.herds, self.count, rows)

    # ---- what the watch on their energy asks -------------------------------------------------------------------------

    cdef void keep_rates(self, const Twist* twist) noexcept nogil:
        """J v into `rate`."""
        self.kernels.rates(self.herds, self.count, twist, 1.0, False, self.rate - self.first)

    cdef void add_powers(self, const Twist* twist, const double* impulse, Joint* joints) noexcept nogil:
        """The sum of impulse J v / 2 of each articulation, into its first joint."""
        self.kernels.powers(self.herds, self.count, twist, impulse, self.sum)
        self.add_sums(joints)

    cdef void add_work(self, const double* impulse, Joint* joints) noexcept nogil:
        """The same with `rate` for J v."""
        self.kernels.products(self.herds, self.count, self.rate - self.first, impulse, self.sum)
        self.add_sums(joints)

    cdef void add_sums(self, Joint* joints) noexcept nogil:
        cdef Py_ssize_t n
        cdef int lane
        for n in range(self.count):
            for lane in range(self.herds[n].lanes):
                joints[self.herds[n].source[lane]].work += 0.5 * self.sum[LANES * n + lane]
