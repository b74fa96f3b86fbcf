"""The energy of trees on which nothing acts but weights, limits and friction of joints: these only take of it."""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.reduced._motion cimport Block
from mcsim.state._row cimport ROW_JOINT_FRICTION, ROW_LIMIT

# What rounding leaves of an energy.
cdef double BLUR = 1e-13


cdef class BoundedEnergy:
    """Of one world's trees, substep by substep."""

    def __init__(self, StepContext context not None, PlainRows plain not None, TreeMotion motion not None):
        self.context, self.plain, self.motion = context, plain, motion
        self.kept = np.zeros(motion.tree_count + 1), np.zeros(motion.tree_count + 1, np.int32)
        self.before, self.bounded = doubles(self.kept[0]), integers(self.kept[1])

    cdef bint find(self, const double* forces, const int32_t* tied) noexcept nogil:
        """Trees on which nothing acts but weights and limits and friction of joints, which only take energy. -> whether
        there are any"""
        cdef const Block* block
        cdef Py_ssize_t i, k
        cdef bint some = False
        memset(self.bounded, 0, self.motion.tree_count * sizeof(int32_t))
        for i in range(self.plain.joint_end):
            if self.is_bound(&self.plain.rows[i]):
                some = True
                self.mark(self.plain.rows[i].body_a, True)
                self.mark(self.plain.rows[i].body_b, True)
        for i in range(self.plain.row_count if some else 0):
            if not self.is_bound(&self.plain.rows[i]):
                self.mark(self.plain.rows[i].body_a, False)
                self.mark(self.plain.rows[i].body_b, False)
        if not some:
            return False
        for i in range(6 * self.context.bodies.count if forces != NULL else 0):
            if forces[i] != 0.0:
                self.mark(<int32_t>(i // 6), False)
        some = False
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count):
                self.bounded[k] = self.bounded[k] and self.motion.tau[i] == 0.0
            self.bounded[k] = self.bounded[k] and not tied[k] and not block.led
            some = some or self.bounded[k]
        return some

    cdef void keep(self) noexcept nogil:
        """As the substep begins, of trees that are bounded."""
        cdef Py_ssize_t k
        self.motion.look()
        self.motion.account(0.0, True)
        for k in range(self.motion.tree_count):
            if self.bounded[k]:
                self.before[k] = self.motion.own_energy(k)

    cdef void settle(self) noexcept nogil:
        """As it ends. Bounds see the mean velocity of the drift to come, but act at its begin, so that what a limit bears,
        it gives first and takes in the end: by half a kick of velocity products each. A tree that turns by a radian
        meanwhile is not where it would be taken. What it has more in the end than it began with goes out of its motion, but
        for that of the centre of mass of a loose one: joints' limits and friction do no work on it but against it."""
        cdef Py_ssize_t k
        cdef double gained, energy
        self.motion.look()
        self.motion.account(0.0, True)
        for k in range(self.motion.tree_count):
            if self.bounded[k]:
                energy = self.motion.own_energy(k)
                gained = energy - self.before[k]
                if gained > BLUR * (fabs(energy) + self.motion.kinetic[k]):
                    self.motion.take_energy(k, gained, 0.0, self.motion.shared)

    cdef void mark(self, int32_t body, bint bounded) noexcept nogil:
        if body >= 0 and self.motion.blocks[body].count > 0:
            self.bounded[self.motion.blocks[body].tree] = bounded

    cdef bint is_bound(self, const Row* row) noexcept nogil:
        return row.kind == ROW_LIMIT or row.kind == ROW_JOINT_FRICTION
