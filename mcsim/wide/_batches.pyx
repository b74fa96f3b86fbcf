"""Articulations of equal structure side by side: which do, and the way of their numbers there and back.

Articulations are alike if their joints, in the order of elimination, are of the same kinds and tie the same bodies,
numbered as they come. Those of ball joints and hinges without prescribed motions, bodies with many joints or loops are
taken, if they are small; one alone stands in the fewest lanes there are. So what an articulation gives to the bit does
not depend on how many others are like it.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.state._joint_types cimport BALL, HINGE

from mcsim.core.rotation import matrices
from mcsim.core.arrays import aligned
from mcsim.wide import levels

cdef enum:
    LANES = 8
    FIXED = 18
    RECORD = 15                  # numbers of a JointRow

MOST_NODES = 40                  # joints of an articulation that is taken

# What the body shared by two joints is to the row's and to the column's: codes of solve/_tree_blocks.pxd.
SIDES = {1: (0, 0), 2: (0, 1), 4: (1, 0), 8: (1, 1)}

NODE = np.dtype([(name, "i4") for name in ("size", "a", "b", "sides", "row", "diagonal", "entry", "entry_end")])
ENTRY = np.dtype([(name, "i4") for name in ("node", "value", "body", "row_side", "column_side", "update", "update_end",
                                            "reserved")])
UPDATE = np.dtype([(name, "i4") for name in ("target", "left", "rows", "columns")])


def eligible(joints, sizes):
    """(joints,) bool: ball joints and hinges without prescribed motions."""
    still = np.all(joints["axes"]["motion_mode"] == 0, axis=1)
    return still & (((joints["type"] == BALL) & (sizes == 3)) | ((joints["type"] == HINGE) & (sizes == 5)))


def local_ends(nodes, group, moves):
    """The bodies of articulations as they come: which of its articulation's each end of each node is, (nodes, 2), those
    that move first, then the other ends, one for each joint that has one; how many move, and how many there are, of each
    articulation, (articulations,); the bodies themselves, articulation by articulation. group: (nodes,) ascending, the
    number of each one's articulation from 0 on."""
    ends = np.stack([nodes["body_a"], nodes["body_b"]], axis=1).ravel()
    of = np.repeat(group, 2)
    moving = (ends >= 0) & np.append(moves, False)[ends]
    articulations = int(group[-1]) + 1 if len(group) else 0
    known, first, which = np.unique(ends[moving], return_index=True, return_inverse=True)
    rank = np.empty(len(known), np.int64)
    rank[np.argsort(first)] = np.arange(len(known))                      # as they come, articulation by articulation
    many = np.bincount(of[moving][first], minlength=articulations)
    other = np.bincount(of[~moving], minlength=articulations)
    local = np.empty(len(ends), np.int64)
    local[moving] = rank[which] - (np.cumsum(many) - many)[of[moving]]
    local[~moving] = many[of[~moving]] + np.arange(np.sum(other)) - (np.cumsum(other) - other)[of[~moving]]
    bodies = np.empty(int(np.sum(many) + np.sum(other)), np.int32)
    bodies[(np.cumsum(many + other) - many - other)[of] + local] = ends
    return local.reshape(-1, 2), many, many + other, bodies


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


def batched(nodes, entries, joints, sizes, moves, group, barred):
    """List of structures: (NODE, ENTRY, UPDATE, values, rows, bodies that move, [(bodies, joints, articulation)] of its
    articulations). group: (nodes,) articulation of each; barred: those that are not to be taken."""
    joint = np.maximum(nodes["joint"], 0)
    usable = eligible(joints, sizes)[joint] & (nodes["joint"] >= 0) & (nodes["shift"] == 0.0)
    numbers, count = np.unique(group, return_counts=True)
    good = (count <= MOST_NODES) & ~np.isin(numbers, np.union1d(group[~usable], barred))
    chosen, numbers, count = np.flatnonzero(np.repeat(good, count)), numbers[good], count[good]
    ends, moving, many, bodies = local_ends(nodes[chosen], np.repeat(np.arange(len(numbers)), count), moves)
    widths, sources, found = nodes["size"][chosen], nodes["joint"][chosen], {}
    first = body = 0
    for number, n, m, k in zip(numbers.tolist(), count.tolist(), moving.tolist(), many.tolist()):
        own = slice(first, first + n)
        shape = m, widths[own].tobytes(), ends[own].tobytes()
        found.setdefault(shape, []).append((bodies[body:body + k], sources[own], number, own))
        first, body = first + n, body + k
    batches = []
    for (m, *_), articulations in found.items():
        own = articulations[0][3]
        shape = [(size, *pair) for size, pair in zip(widths[own].tolist(), ends[own].tolist())]
        laid = lay_out(nodes, entries, chosen[own], shape, m)
        if laid is not None:
            batches.append((*laid, m, [member[:3] for member in articulations]))
    return batches


def fixed_numbers(joints):
    """(joints, 18): anchors on a and b; x and y on a, z on b, in the bodies' axes."""
    on_a, on_b = matrices(joints["basis_a"]), matrices(joints["basis_b"])
    return np.hstack([joints["anchor_a"], joints["anchor_b"], on_a[:, :, 0], on_a[:, :, 1], on_b[:, :, 2],
                      joints["length"][:, None], joints["push"]])


cdef void repeat_first(Batch* batch) noexcept nogil:
    """Into the lanes that are not filled."""
    cdef int lane, k
    for lane in range(batch.lanes, batch.width):
        batch.articulation[lane] = batch.articulation[0]
        for k in range(batch.shape.body_count + 3 * batch.shape.node_count):
            batch.body[LANES * k + lane] = batch.body[LANES * k]
        for k in range(FIXED * batch.shape.node_count):
            batch.fixed[k * batch.width + lane] = batch.fixed[k * batch.width]


cdef class BatchRoom:
    """Room for all batches of some structures, as batched() lists them. fixed: of all joints, fixed_numbers; row_begin:
    their first rows; widths: lanes of each level in use."""

    def __init__(self, flocks, fixed, row_begin, widths):
        for level, width in enumerate(widths):
            self.widths[<int>level] = width
        self.level_count, self.width = len(widths), max(widths)
        self.kept = []
        self.flock_count = len(flocks)
        self._keep_members(flocks, fixed)
        self._keep_batches(flocks, row_begin)

    def _keep_members(self, flocks, fixed):
        members = [member for flock in flocks for member in flock[6]]
        begin = np.cumsum([0] + [len(flock[6]) for flock in flocks]).astype(np.int32)
        bodies = np.concatenate([m[0] for m in members] + [[0]]).astype(np.int32)
        sources = np.concatenate([m[1] for m in members] + [[0]]).astype(np.int32)
        of = np.array([m[2] for m in members] + [0], np.int32)
        body_begin = np.cumsum([0] + [len(m[0]) for m in members]).astype(np.int32)
        joint_begin = np.cumsum([0] + [len(m[1]) for m in members]).astype(np.int32)
        anchors = np.ascontiguousarray(fixed[sources]) if len(fixed) else np.zeros((1, FIXED))
        self.kept += begin, bodies, sources, body_begin, joint_begin, anchors, of
        self.flock_begin, self.bodies, self.sources = integers(begin), integers(bodies), integers(sources)
        self.member_body, self.member_joint = integers(body_begin), integers(joint_begin)
        self.anchors, self.member_articulation = doubles(anchors), integers(of)

    def _keep_batches(self, flocks, row_begin):
        """Room for all batches; scratch for one."""
        begin = np.cumsum([0] + [(len(flock[6]) + self.width - 1) // self.width for flock in flocks]).astype(np.int32)
        total = int(begin[len(flocks)])
        shapes = np.zeros(sizeof(BatchShape) * (len(flocks) + 1), np.int8)
        batches = np.zeros(sizeof(Batch) * (total + 1), np.int8)
        numbers = row_begin.astype(np.int32)
        self.kept += begin, shapes, batches, numbers
        self.batch_begin, self.row_begin = integers(begin), integers(numbers)
        self.shapes = <BatchShape*>records(shapes)
        self.batches = <Batch*>records(batches)
        scratch = [self._room(max([n * k for n, k in sizes], default=1)) for sizes in (
            [(len(flock[0]), 30) for flock in flocks], [(len(flock[6][0][0]), 12) for flock in flocks],
            [(flock[4], 1) for flock in flocks])]
        for f, flock in enumerate(flocks):
            self._keep_flock(f, flock, scratch, int(begin[f]), int(begin[f + 1]))

    def _room(self, numbers):
        array = aligned(8 * self.width * max(numbers, 1))
        self.kept.append(array)
        return array

    def _keep_flock(self, Py_ssize_t f, flock, scratch, Py_ssize_t begin, Py_ssize_t end):
        nodes, entries, updates, values, rows, moving, members = flock
        cdef BatchShape* shape = &self.shapes[f]
        cdef Batch* batch
        cdef Py_ssize_t h
        cdef Py_ssize_t n = len(nodes)
        cdef Py_ssize_t bodies = len(members[0][0])
        cdef double* first
        cdef double* own[12]
        cdef int k
        entries, updates = (np.append(a, np.zeros(1, a.dtype)) for a in (entries, updates))
        self.kept += nodes, entries, updates
        shape.nodes, shape.entries = <const BatchNode*>records(nodes), <const BatchEntry*>records(entries)
        shape.updates = <const BatchUpdate*>records(updates)
        shape.node_count, shape.body_count, shape.moving_count = <int32_t>n, <int32_t>bodies, moving
        shape.row_count, shape.value_count = rows, values
        lengths = [FIXED * n, 12 * n, 7 * bodies, rows, values, values, 2, 1, 1, 1, 7 * moving, 12 * moving]
        first = doubles(self._room((end - begin) * sum(lengths)))
        for h in range(begin, end):
            batch = &self.batches[h]
            lanes = np.zeros((bodies + 3 * n, LANES), np.int32)
            self.kept.append(lanes)
            batch.shape = shape
            batch.body = integers(lanes)
            batch.record, batch.number = batch.body + LANES * bodies, batch.body + LANES * (bodies + n)
            batch.source = batch.body + LANES * (bodies + 2 * n)
            for k in range(12):
                own[k] = first
                first += self.width * <Py_ssize_t>lengths[k]
            batch.fixed, batch.arms, batch.masses, batch.scale = own[0], own[1], own[2], own[3]
            batch.values, batch.scaled, batch.loose, batch.swept = own[4], own[5], own[6], own[7]
            batch.near, batch.off, batch.start, batch.inertia = own[8], own[9], own[10], own[11]
            batch.spins, batch.motions, batch.x = doubles(scratch[0]), doubles(scratch[1]), doubles(scratch[2])

    cdef Py_ssize_t choose(self, const int8_t* here, Py_ssize_t first, Batch* chosen,
                           Py_ssize_t* level_begin) noexcept nogil:
        """Articulations that are here into batches, whose numbers begin at `first`. here: of each articulation. As many as
        fill the most lanes stand in those, what is left of a structure in the fewest that suffice: batches of more lanes
        stand before those of fewer. -> how many numbers they have"""
        cdef Py_ssize_t f, a
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t number = first
        cdef int level, top, width
        cdef int32_t there, filled, rest, n
        cdef Batch* batch
        top = self.level_count - 1
        level_begin[top + 1] = 0
        for level in range(top, -1, -1):
            width = self.widths[level]
            for f in range(self.flock_count):
                there = 0
                for a in range(self.flock_begin[f], self.flock_begin[f + 1]):
                    there += here[self.member_articulation[a]]
                filled = there // self.width * self.width
                rest = 0                                   # the level of those that are left
                while self.widths[rest] < there - filled:
                    rest += 1
                n = 0
                batch = NULL
                for a in range(self.flock_begin[f], self.flock_begin[f + 1]):
                    if not here[self.member_articulation[a]]:
                        continue
                    if level == (top if n < filled else rest):
                        if batch == NULL:
                            batch = &self.batches[self.batch_begin[f] + n // self.width]
                            batch.lanes, batch.width, batch.first = 0, width, number
                            number += batch.shape.row_count * width
                        self.fill(batch, a)
                        if batch.lanes == width:
                            chosen[count] = batch[0]
                            count += 1
                            batch = NULL
                    n += 1
                if batch != NULL:
                    repeat_first(batch)
                    chosen[count] = batch[0]
                    count += 1
            level_begin[level] = count
        return number - first

    cdef void fill(self, Batch* batch, Py_ssize_t a) noexcept nogil:
        """Articulation a into the next lane."""
        cdef int lane = batch.lanes
        cdef int k, i
        cdef int32_t joint
        cdef const double* fixed = self.anchors + FIXED * <Py_ssize_t>self.member_joint[a]
        batch.articulation[lane] = self.member_articulation[a]
        for k in range(batch.shape.body_count):
            batch.body[LANES * k + lane] = self.bodies[self.member_body[a] + k]
        for k in range(batch.shape.node_count):
            joint = self.sources[self.member_joint[a] + k]
            batch.source[LANES * k + lane] = joint
            batch.number[LANES * k + lane] = self.row_begin[joint]
            batch.record[LANES * k + lane] = RECORD * self.row_begin[joint]
            for i in range(FIXED):
                batch.fixed[(FIXED * k + i) * batch.width + lane] = fixed[FIXED * k + i]
        batch.lanes += 1


cdef class Batches:
    """nodes, entries: those of a JointTree; joints: JOINT_DTYPE; sizes: (joints,) rows of each; moves: (bodies,) bool,
    which are dynamic; group: (nodes,) articulation of each; barred: articulations that are not to be taken."""

    def __init__(self, nodes, entries, joints, sizes, moves, group, barred):
        self.level_count = 0
        for table in levels.tables("batch_kernels"):
            self.kernels[self.level_count] = <const BatchKernels*>PyCapsule_GetPointer(table, "mcsim.wide.batches")
            self.level_count += 1
        widths = [self.kernels[level].width for level in range(self.level_count)]
        flocks = batched(nodes, entries, joints, sizes, moves, group, barred)
        self.room = BatchRoom(flocks, fixed_numbers(joints), np.concatenate([[0], np.cumsum(sizes)]), widths)
        self.joints = np.zeros(len(joints) + 1, bool)
        self.joints[[joint for flock in flocks for _, own, _ in flock[6] for joint in own.tolist()]] = True
        self.articulations = np.array([number for flock in flocks for _, _, number in flock[6]], np.int32)
        width = max(widths)
        batches = [(len(flock[6]) + width - 1) // width for flock in flocks]
        self.number_count = width * sum(n * flock[4] for n, flock in zip(batches, flocks))
        self.kept = np.zeros(sizeof(Batch) * (sum(batches) + 1), np.int8)
        self.batches = <Batch*>records(self.kept)

    # ---- who is here -----------------------------------------------------------------------------------------------------

    cdef void choose(self, const int8_t* here, Py_ssize_t first) noexcept nogil:
        """As BatchRoom does."""
        self.used = self.room.choose(here, first, self.batches, self.level_begin)
        self.count = self.level_begin[0]

    cdef void aim_for(self, const double* near, const int8_t* swept, bint first) noexcept nogil:
        """How far each articulation's joints may be off, and whether it is swept. first: before the first correction,
        without which nothing passes that is not swept."""
        cdef Py_ssize_t n
        cdef int lane
        cdef int32_t a
        for n in range(self.count):
            for lane in range(self.batches[n].width):
                a = self.batches[n].articulation[lane]
                self.batches[n].near[lane] = near[a] if swept[a] or not first else -1.0
                self.batches[n].swept[lane] = swept[a]

    cdef bint any_loose(self) noexcept nogil:
        """Whether some joints were off at the last trial poses."""
        cdef Py_ssize_t n
        for n in range(self.count):
            if self.batches[n].loose[self.batches[n].width] > 0.0:
                return True
        return False

    cdef void find_loose(self, int8_t* loose) noexcept nogil:
        """loose <- 1 of each articulation here whose joints were off at the last trial poses."""
        cdef Py_ssize_t n
        cdef int lane
        for n in range(self.count):
            for lane in range(self.batches[n].lanes):
                if self.batches[n].loose[lane] > 0.0:
                    loose[self.batches[n].articulation[lane]] = 1

    # ---- the kernels -----------------------------------------------------------------------------------------------------

    cdef Py_ssize_t begin_of(self, int level) noexcept nogil:
        return self.level_begin[level + 1]

    cdef Py_ssize_t count_of(self, int level) noexcept nogil:
        return self.level_begin[level] - self.level_begin[level + 1]

    cdef void load(self, const Bodies* bodies) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].load(self.batches + self.begin_of(i), self.count_of(i), bodies)

    cdef double write(self, const Bodies* bodies, JointRows* rows) noexcept nogil:
        cdef double largest = 0.0
        cdef int i
        for i in range(self.level_count):
            largest = max(largest, self.kernels[i].write(self.batches + self.begin_of(i), self.count_of(i), bodies, rows))
        return largest

    cdef void keep(self, const Bodies* bodies) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].keep(self.batches + self.begin_of(i), self.count_of(i), bodies)

    cdef void factor(self, const Bodies* bodies) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].factor(self.batches + self.begin_of(i), self.count_of(i), bodies)

    cdef void solve(self, Twist* twist, JointRows* rows, int which) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].solve(self.batches + self.begin_of(i), self.count_of(i), twist, rows, which)

    cdef void push(self, Twist* twist, JointRows* rows, bint twice) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].push(self.batches + self.begin_of(i), self.count_of(i), twist, rows, twice)

    cdef void aim(self, const Twist* twist, JointRows* rows, double far) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].aim(self.batches + self.begin_of(i), self.count_of(i), twist, rows, far)

    cdef bint drift(self, Bodies* bodies, JointRows* rows, double h, bint again,
                    bint store) noexcept nogil:
        """Whether every body's turn is one piece; else `miss` is to follow, at poses found otherwise."""
        cdef int i
        for i in range(self.level_count):
            if not self.kernels[i].drift(self.batches + self.begin_of(i), self.count_of(i), bodies, rows, h, again,
                                         store):
                return False
        return True

    cdef void miss(self, const Bodies* bodies, JointRows* rows, double h, bint again) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].miss(self.batches + self.begin_of(i), self.count_of(i), bodies, rows, h, again)

    cdef double residual(self, const Twist* twist, const JointRows* rows) noexcept nogil:
        cdef double largest = 0.0
        cdef int i
        for i in range(self.level_count):
            largest = max(largest, self.kernels[i].residual(self.batches + self.begin_of(i), self.count_of(i), twist, rows))
        return largest

    cdef void energy(self, const Bodies* bodies, Vec3 gravity, double* kinetic, double* energy) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].energy(self.batches + self.begin_of(i), self.count_of(i), bodies, gravity, kinetic, energy)

    cdef void find_joined(self, const Bodies* bodies, const double* size, double part, int8_t* joined) noexcept nogil:
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].find_joined(self.batches + self.begin_of(i), self.count_of(i), bodies, size, part, joined)

    # ---- numbers ---------------------------------------------------------------------------------------------------------

    cdef void begin_step(self, JointRows* rows, const Joint* joints) noexcept nogil:
        """The impulses of the last step."""
        cdef Py_ssize_t n
        cdef int k, i, lane
        cdef const Batch* batch
        cdef const BatchNode* node
        for n in range(self.count):
            batch = &self.batches[n]
            for k in range(batch.shape.node_count):
                node = &batch.shape.nodes[k]
                for lane in range(batch.width):
                    for i in range(node.size):
                        rows.second[batch.first + (node.row + i) * batch.width + lane] = (
                            joints[batch.source[LANES * k + lane]].impulse[i])

    cdef void take(self, JointRows* rows) noexcept nogil:
        """Impulses from where those of the joints are."""
        cdef Py_ssize_t n, to
        cdef int k, i, lane
        cdef const Batch* batch
        cdef const BatchNode* node
        for n in range(self.count):
            batch = &self.batches[n]
            for k in range(batch.shape.node_count):
                node = &batch.shape.nodes[k]
                for lane in range(batch.width):
                    for i in range(node.size):
                        to = batch.first + (node.row + i) * batch.width + lane
                        rows.impulse[to] = rows.impulse[batch.number[LANES * k + lane] + i]
                        rows.second[to] = rows.second[batch.number[LANES * k + lane] + i]

    cdef void give_jacobians(self, JointRows* rows) noexcept nogil:
        """Without I^-1 J', to where those of the joints are."""
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].give(self.batches + self.begin_of(i), self.count_of(i), rows)

    cdef void keep_parts(self, JointRows* rows, const double* base, const double* part) noexcept nogil:
        """Of warm starts that have acted, what impulses are beyond `base`, `part` of each body is kept; the bodies'
        twists are left to the caller."""
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].keep_parts(self.batches + self.begin_of(i), self.count_of(i), rows, base, part)

    cdef void give_impulses(self, JointRows* rows) noexcept nogil:
        """Likewise."""
        cdef int i
        for i in range(self.level_count):
            self.kernels[i].give_impulses(self.batches + self.begin_of(i), self.count_of(i), rows)

    def lanes(self):
        """Lists, batch by batch, of the joints of each lane: (nodes, lanes) arrays."""
        cdef Py_ssize_t n
        cdef int k
        found = []
        for n in range(self.count):
            found.append(np.array([[self.batches[n].source[LANES * k + lane] for lane in range(self.batches[n].lanes)]
                                   for k in range(self.batches[n].shape.node_count)]))
        return found
