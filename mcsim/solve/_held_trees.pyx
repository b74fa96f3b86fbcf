"""Bounded rows of trees that have motors, or whose limits and friction hold each other so that sweeps would not do, over
generalized velocities, where the tree's joints hold by themselves: A is J H^-1 J'. Not beside loops, whose rows may
contradict each other and yield: there they are swept in turn with those.
What is solved stays so until something else changes the tree's velocities: to solve it again would change its last bits, as
often as sweeps over whatever else there is in the world go on.

Per step:   ask(...);   per pose:   prepare(...);   per sweep, before it:   hold(rows, velocity, relaxed)
"""

from libc.math cimport fabs
from libc.string cimport memcmp, memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._noted cimport Noted
from mcsim.solve._generalized cimport row_rate
from mcsim.state._row cimport BLOCK_HELD


cdef class HeldTrees(HeldRows):
    """generalized: the rows; trees: (bodies + 1,) of each its tree, -1 none, the world's first; blocks: (trees, 2) where
    the velocities of each begin and how many."""

    def __init__(self, GeneralizedRows generalized, trees, blocks, Py_ssize_t velocities, Noted noted not None):
        HeldRows.__init__(self, int(np.max(trees, initial=-1)) + 1, noted)
        group, left = np.array(trees, np.int32), np.zeros(velocities + 1)
        blocks = np.append(np.array(blocks, np.int32).reshape(-1), np.zeros(2, np.int32))
        self.kept_here = group, left, blocks
        self.generalized, self.group = generalized, integers(group) + 1
        self.left, self.blocks = doubles(left), integers(blocks)

    cdef Py_ssize_t owner(self, const Row* row, const int32_t* group) noexcept nogil:
        """What all trees answer is known: a row between two is in the matrix of the later one."""
        return max(group[row.body_a], group[row.body_b])

    cdef double rate(self, const Row* rows, Py_ssize_t i, const Twist* velocity) noexcept nogil:
        return self.generalized.rate(i, <const double*>velocity)

    cdef void find_rates(self, const Row* rows, const int32_t* row, Py_ssize_t count, const Twist* velocity,
                         double* rates) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            rates[i] = row_rate(&self.generalized.reaches[2 * row[i]], self.generalized.jacobian, <const double*>velocity)

    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, Twist* velocity) noexcept nogil:
        cdef double rate = fabs(impulse) * (rows[i].diagonal + rows[i].compliance[self.relaxed])
        self.generalized.apply(i, impulse, <double*>velocity)
        self.generalized.stir(i, fabs(impulse) * rate)
        self.largest = max(self.largest, rate)

    cdef void prepare(self, Row* rows, Py_ssize_t count, const int32_t* tied, int sweeps) noexcept nogil:
        """Which rows are held, and their matrices at the present pose. tied: (trees,) which of them loops tie. sweeps: in
        which others are to be solved."""
        cdef Py_ssize_t g
        self.find_driven(self.group, rows, count)
        for g in range(self.articulations):
            self.claim(g, not tied[g])
        self.list(self.group, self.driven, NULL, rows, count)
        for g in range(self.articulations):
            self.fill(g, rows)
            self.choose(g, rows, sweeps)

    cdef void fill(self, Py_ssize_t g, Row* rows) noexcept nogil:
        """J H^-1 J' of a tree's rows, of which one half is the other one's."""
        cdef const int32_t* row = self.row + self.begin[g]
        cdef double* diagonal = self.diagonal + self.begin[g]
        cdef double* a = self.values + self.matrix[g]
        cdef Py_ssize_t i, k, n = self.count[g]
        for k in range(n):
            rows[row[k]].block_kind = BLOCK_HELD         # rows are written anew at every pose
            diagonal[k] = rows[row[k]].diagonal
            a[k * n + k] = diagonal[k]
            for i in range(k):
                a[k * n + i] = a[i * n + k] = self.generalized.coupling(row[k], row[i]) if (
                    diagonal[k] > 0.0 and diagonal[i] > 0.0) else 0.0

    cdef Py_ssize_t hold(self, Row* rows, double* velocity, bint relaxed, bint fresh) noexcept nogil:
        """Their impulses, of trees whose velocities are not what they were left with; fresh: of all, a pass begins.
        `largest`: the largest correction [m/s, rad/s]. -> a tree whose rows pivots did not solve, -1: none"""
        cdef Py_ssize_t g, given_up = -1
        cdef int32_t first
        self.largest = 0.0
        for g in range(self.articulations):
            first = self.blocks[2 * g]
            if self.count[g] > 0 and (fresh or memcmp(self.left + first, velocity + first,
                                                      self.blocks[2 * g + 1] * sizeof(double)) != 0):
                self.hold_tree(g, rows, velocity, relaxed)
                if self.unsolved:
                    given_up = g
        return given_up

    cdef void hold_tree(self, Py_ssize_t g, Row* rows, double* velocity, bint relaxed) noexcept nogil:
        """Of one, whether it is as it was left or not."""
        cdef int32_t first = self.blocks[2 * g]
        self.relaxed, self.unsolved = relaxed, False
        if self.count[g] > 0:
            self.solve(g, rows, <Twist*>velocity, relaxed)
            memcpy(self.left + first, velocity + first, self.blocks[2 * g + 1] * sizeof(double))
