"""Rows over the velocities of trees: what they are there, and which trees they act on and tie to each other."""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._forces cimport is_aimed
from mcsim.core._arrays cimport integers
from mcsim.core._forest cimport root_of, unite_groups
from mcsim.core._types cimport GROW, OK
from mcsim.reduced._motion cimport Block
from mcsim.solve._generalized cimport Reach, closes
from mcsim.state._row cimport ROW_JOINT, Row, is_wide


cdef class TreeRows:
    """Of the plain rows of one world."""

    def __init__(self, StepContext context not None, PlainRows plain not None, TreeMotion motion not None,
                 GeneralizedRows generalized not None):
        self.context, self.plain, self.motion, self.generalized = context, plain, motion, generalized
        self.responses = TreeResponses(motion)
        self.of_trees = np.zeros((3, motion.tree_count + 1), np.int32)
        self.of_bodies = np.full(context.bodies.count + 1, -1, np.int32)
        self.busy, self.tied, self.bond = (integers(self.of_trees[0]), integers(self.of_trees[1]),
                                           integers(self.of_trees[2]))
        self.bonds = integers(self.of_bodies) + 1

    def matrices(self):
        """J and H^-1 J' of the rows over qd."""
        return self.generalized.matrices(self.plain.row_count, self.motion.tree.nv)

    cdef int project(self) noexcept nogil:
        """What the rows are over the velocities of the trees, and their diagonals. -> OK or GROW"""
        cdef const Block* blocks = self.motion.blocks
        cdef Row* row
        cdef Py_ssize_t i
        cdef int status = self.generalized.begin(self.plain.row_count)
        if status != OK:
            return status
        self.responses.expect(self.plain.rows, self.plain.row_count)
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            row.diagonal = 0.0
            if row.body_a >= 0 and row.body_b >= 0 and blocks[row.body_a].first == blocks[row.body_b].first and (
                    blocks[row.body_a].count > 0) and blocks[row.body_b].count > 0:
                status = self.project_row(i, 0, row.body_a, row.body_b) or status
                continue
            if row.body_a >= 0 and blocks[row.body_a].count > 0:
                status = self.project_row(i, 0, row.body_a, -1) or status
            if row.body_b >= 0 and blocks[row.body_b].count > 0:
                status = self.project_row(i, 1, -1, row.body_b) or status
        self.responses.find()
        return status

    cdef void project_loops(self) noexcept nogil:
        """The same of the rows that close loops, and of motors that ask for accelerations, at another pose: all others stay
        as they are, to the bit."""
        cdef Py_ssize_t i
        self.responses.expect(self.plain.rows, self.plain.joint_end)
        for i in range(self.plain.joint_end):
            if closes(&self.plain.rows[i]) or is_aimed(&self.plain.rows[i], self.context.joints, self.context.settings):
                self.project_again(i)
                if is_wide(&self.plain.rows[i]):
                    self.project_again(i + 1)
        self.responses.find()
        self.generalized.finish_loops(self.plain.rows, self.plain.joint_end)

    cdef void project_again(self, Py_ssize_t i) noexcept nogil:
        cdef Row* row = &self.plain.rows[i]
        cdef const Block* a = &self.motion.blocks[row.body_a]
        cdef const Block* b = &self.motion.blocks[row.body_b]
        cdef bint has_a = row.body_a >= 0 and a.count > 0
        cdef bint has_b = row.body_b >= 0 and b.count > 0
        row.diagonal = 0.0
        if has_a and has_b and a.first == b.first:
            self.ask_again(i, 0, row.body_a, row.body_b)
            return
        if has_a:
            self.ask_again(i, 0, row.body_a, -1)
        if has_b:
            self.ask_again(i, 1, -1, row.body_b)

    cdef void ask_again(self, Py_ssize_t i, int side, int32_t body_a, int32_t body_b) noexcept nogil:
        """Where its numbers stood; a row that the tree implies has none."""
        cdef Row* row = &self.plain.rows[i]
        cdef Reach* reach = &self.generalized.reaches[2 * i + side]
        if reach.count > 0:
            self.responses.ask(&self.motion.blocks[body_a if body_a >= 0 else body_b], body_a, body_b, &row.jacobian[0],
                               False, self.generalized.jacobian + reach.begin, reach.span,
                               self.generalized.response + reach.begin, &row.diagonal)

    cdef int project_row(self, Py_ssize_t i, int side, int32_t body_a, int32_t body_b) noexcept nogil:
        """Over one tree, with those of its bodies that are on it. -> OK or GROW"""
        cdef Row* row = &self.plain.rows[i]
        cdef const Block* block = &self.motion.blocks[body_a if body_a >= 0 else body_b]
        cdef double* j
        cdef double* y
        cdef int32_t* span = self.generalized.open(i, side, block.first, block.count, &j, &y)
        if span == NULL:
            return GROW
        self.responses.ask(block, body_a, body_b, &row.jacobian[0], body_a >= 0 and body_b >= 0 and row.kind != ROW_JOINT,
                           j,
                           span, y, &row.diagonal)
        return OK

    cdef void find_busy(self) noexcept nogil:
        """Which trees rows act on (1), also those of contacts (3), and which of them rows that close loops tie, to each
        other: they have a bond, its first tree."""
        cdef Py_ssize_t i = 0, k
        cdef bint ties
        cdef int32_t first
        cdef int r, m
        memset(self.busy, 0, self.motion.tree_count * sizeof(int32_t))
        memset(self.tied, 0, self.motion.tree_count * sizeof(int32_t))
        for k in range(self.motion.tree_count):
            self.bond[k] = <int32_t>k
        while i < self.plain.row_count:
            m = self.plain.rows[i].block
            ties = closes(&self.plain.rows[i])
            first = -1
            for r in range(m):
                first = self.engage(self.plain.rows[i + r].body_a, ties, 1 if i < self.plain.joint_end else 3, first)
                first = self.engage(self.plain.rows[i + r].body_b, ties, 1 if i < self.plain.joint_end else 3, first)
            i += m
        for k in range(self.motion.tree_count):
            self.bond[k] = root_of(self.bond, <int32_t>k) if self.tied[k] else -1
        for i in range(self.context.bodies.count):
            self.bonds[i] = self.bond[self.motion.blocks[i].tree] if self.motion.blocks[i].count > 0 else -1

    cdef int32_t engage(self, int32_t body, bint ties, int32_t rows, int32_t first) noexcept nogil:
        """first: a tree that this one is tied to, -1: none yet. -> the same for the next one"""
        cdef int32_t a
        if body < 0 or self.motion.blocks[body].count == 0:
            return first
        a = self.motion.blocks[body].tree
        self.busy[a] |= rows
        if not ties:
            return first
        self.tied[a] = 1
        if first >= 0:
            unite_groups(self.bond, a, first)
        return a

    cdef bint is_stirred(self, int32_t body) noexcept nogil:
        """Whether the last sweep has stirred a body's tree."""
        return (body >= 0 and self.motion.blocks[body].count > 0
                and self.generalized.stirred[self.motion.blocks[body].first] != 0)
