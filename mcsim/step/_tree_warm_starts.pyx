"""How far warm starts of limits and contacts act on trees, as `_joint_warm_starts.pyx` tells it of bodies."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.state._row cimport ROW_LIMIT, ROW_NORMAL, ROW_ROLLING
from mcsim.wide._halves cimport gain, loss


cdef class TreeWarmStarts:
    """jointed: (bodies,) bool, whether joints move them."""

    def __init__(self, PlainRows plain not None, TreeMotion motion not None, GeneralizedRows generalized not None, jointed):
        cdef Py_ssize_t nv = motion.tree.nv
        cdef Py_ssize_t i
        self.plain, self.motion, self.generalized = plain, motion, generalized
        self.groups, self.count = WarmStarts(nv), nv
        self.numbers = np.zeros(max(1, nv), np.int32)
        for i in range(len(jointed)):
            self.numbers[motion.blocks[i].first:][:motion.blocks[i].count] = motion.blocks[i].first
        self.nodes = integers(self.numbers)
        hung = np.array(sorted({node_of(motion.blocks, <int32_t>i) for i in np.flatnonzero(jointed)} - {-1}), np.int32)
        watched, before, shares = np.zeros(nv + 1, np.int32), np.zeros(nv + 1), np.zeros((2, len(jointed) + 1))
        self.kept = hung, watched, before, shares
        self.body_count = len(jointed)
        self.gains, self.losses = doubles(shares[0]) + 1, doubles(shares[1]) + 1
        self.hung, self.hung_count = integers(hung) if len(hung) else NULL, len(hung)
        self.watched, self.before = integers(watched), doubles(before)
        self.reserve()

    def reserve(self):
        """Room for the plain rows."""
        self.kept_rates = np.zeros(max(1, self.plain.row_capacity))
        self.rates = doubles(self.kept_rates)

    cdef void start(self, bint second) noexcept nogil:
        """Before they act: the velocities, and the rates J qd of the rows that have some: of limits and normals, and,
        where bodies have joints, of all that weigh() asks for."""
        cdef Py_ssize_t i
        cdef int last = ROW_NORMAL if self.hung_count == 0 else ROW_ROLLING
        if second and self.hung_count == 0:
            return
        memcpy(self.before, self.motion.qd, self.count * sizeof(double))
        for i in range(self.plain.started_end):
            if self.plain.rows[i].carry != 0.0 and (
                    self.plain.rows[i].kind == ROW_LIMIT or ROW_NORMAL <= self.plain.rows[i].kind <= last):
                self.rates[i] = self.generalized.rate(i, self.motion.qd)

    cdef void weigh(self, bint second) noexcept nogil:
        """Impulses of limits and contacts start from those before, which after an impact, where a tree has turned
        meanwhile, or beside loops that were open, may be far from what they should be: where warm starts are worse than
        none, they act as far as they help (solve/_warm_starts.pyx). Of biases the work that they ask for counts. Not
        where all that hang together are bodies without joints: what is wrong there sweeps take out before what is
        right, which they would find slowly. After start(), and once they act."""
        cdef Py_ssize_t i, end = self.plain.started_end
        cdef double* qd = self.motion.qd
        cdef double warm, pull, part
        cdef int32_t node
        cdef bint some = False
        cdef const Block* blocks = self.motion.blocks
        cdef Row* row
        if self.hung_count == 0:
            return
        self.groups.begin()
        for i in range(end):
            row = &self.plain.rows[i]
            warm = self.warm_impulse(row, second)
            if warm != 0.0:
                some = True
                pull = row.bias[second] if warm * row.bias[second] < 0.0 else 0.0
                self.groups.add(node_of(blocks, row.body_a), node_of(blocks, row.body_b), warm, self.rates[i] + pull,
                                self.generalized.rate(i, qd) + pull + row.compliance[second] * warm)
        if not some:
            return
        self.groups.weigh()
        memset(self.watched, 0, self.count * sizeof(int32_t))
        for i in range(self.hung_count):
            self.watched[self.groups.root(self.hung[i])] = 1
        some = False
        for i in range(self.count):
            part = self.part_of(self.nodes[i])
            if part < 1.0:
                some = True
                qd[i] = self.before[i] + part * (qd[i] - self.before[i])
        for i in range(end if some else 0):
            row = &self.plain.rows[i]
            warm = self.warm_impulse(row, second)
            node = max(node_of(blocks, row.body_a), node_of(blocks, row.body_b))
            part = self.part_of(node) if warm != 0.0 and node >= 0 else 1.0
            if part < 1.0:
                row.impulse -= (1.0 - part) * warm
                if not second:
                    row.carry *= part

    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil:
        """What of its impulse is a warm start that has acted just now."""
        if row.kind != ROW_LIMIT and row.kind < ROW_NORMAL:
            return 0.0
        return row.impulse - row.carry if second else row.impulse

    cdef double part_of(self, int32_t node) noexcept nogil:
        """What of the warm starts is kept there."""
        return self.groups.part_if_worse(node) if self.watched[self.groups.root(node)] else 1.0

    cdef void pass_on(self) noexcept nogil:
        """What a contact's point gains beyond twice its warm start is no impact as far as others on one of its bodies
        have lost of theirs. Joints leave a body fewer motions than it has points, and then nothing but the springs
        decides how these share a load."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef double part
        cdef bint some = False
        memset(self.gains - 1, 0, (self.body_count + 1) * sizeof(double))
        memset(self.losses - 1, 0, (self.body_count + 1) * sizeof(double))
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind == ROW_NORMAL:
                some = some or gain(row) > 0.0
                self.gains[row.body_a] += gain(row)
                self.gains[row.body_b] += gain(row)
                self.losses[row.body_a] += loss(row)
                self.losses[row.body_b] += loss(row)
        for i in range(self.plain.joint_end, self.plain.row_count if some else 0):
            row = &self.plain.rows[i]
            if row.kind == ROW_NORMAL and gain(row) > 0.0:
                part = max(self.passed(row.body_a), self.passed(row.body_b))
                row.carry += 0.5 * part * gain(row)

    cdef double passed(self, int32_t body) noexcept nogil:
        """What part of the gains on a body others have lost."""
        if body < 0 or self.motion.blocks[body].count == 0:
            return 0.0
        return min(self.losses[body] / self.gains[body], 1.0)
