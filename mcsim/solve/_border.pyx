"""Rows beside the joints' tree, solved exactly with it: gears, which have up to four bodies, and joints of the user's.

With S the joints' solve, which gives twists that keep J v + b = 0, a unit impulse on border row i changes the twists by
R_i = S M^-1 J_i' (b = 0), and

    G mu = -(J_b v + bias),     G_ij = J_i R_j

is what the border rows see of each other through the joints (the Schur complement; the auxiliary constraints of D.
Baraff, "Linear-time dynamics using Lagrange multipliers", 1996). G is found by probing: one joints' solve a column, and
since rows of different articulations do not meet, one column of every articulation at a time. G is factored as L D L'.
Rows may say what the joints or rows before them have settled already, or contradict them: the diagonal is shifted by a
part of J_i M^-1 J_i', and each solve is one proximal step, as with loops (`_tree.pyx`).
"""

from itertools import combinations

from libc.math cimport fabs
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers
from mcsim.state._rows cimport is_wide, push, rate

from mcsim.solve.components import connected

cdef double SMALLEST_PIVOT = 1e-9


cdef class Border:
    """rows: list of (joint number, which of its rows, records, bodies); pairs: (j, 2) bodies of the joints in the tree;
    moves: (bodies,) bool, which are dynamic."""

    def __init__(self, rows, pairs, moves):
        together = [pair for *_, bodies in rows for pair in combinations(bodies, 2)]
        of_body = connected(np.concatenate([pairs, np.array(together, int).reshape(-1, 2)]), moves)
        group = np.array([max(of_body[list(bodies)]) for *_, bodies in rows], np.int64)
        order = np.argsort(group, kind="stable")
        begin = np.searchsorted(group[order], group[order], "left").astype(np.int32)
        size = (np.searchsorted(group[order], group[order], "right") - begin).astype(np.int32)
        first = np.unique(begin)
        lengths = size[first].astype(np.int64) ** 2
        block = (np.cumsum(lengths) - lengths)[np.searchsorted(first, begin)]
        joint, index = (np.array([row[k] for row in rows], np.int32)[order] for k in (0, 1))
        values, numbers = np.zeros(int(lengths.sum()) + 1), np.zeros((3, len(rows) + 1))
        twists = np.zeros((len(moves) + 1, 6))
        self.count = len(rows)
        self.records = sum(row[2] for row in rows)
        self.rounds = int(size.max()) if len(rows) else 0
        self.body_count = len(moves)
        if self.count == 0:
            return
        self.kept = joint, index, begin, size, block, values, numbers, twists
        self.joint, self.index = integers(joint), integers(index)
        self.group_begin, self.group_size = integers(begin), integers(size)
        self.block, self.values = long_integers(block), doubles(values)
        self.vector, self.bias, self.impulse = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.scratch = <Twist*>doubles(twists) + 1

    cdef Row* row(self, Py_ssize_t k) noexcept nogil:
        cdef const Joint* joint = &self.joints[self.joint[k]]
        return NULL if joint.row_count == 0 else self.rows + joint.row_begin + self.index[k]

    # ---- G -----------------------------------------------------------------------------------------------------------

    cdef void push_round(self, Py_ssize_t round) noexcept nogil:
        """A unit impulse on row number `round` of every articulation, on bodies at rest."""
        cdef Py_ssize_t k
        memset(self.scratch - 1, 0, (self.body_count + 1) * sizeof(Twist))
        for k in range(self.count):
            if k - self.group_begin[k] == round and self.row(k) != NULL:
                push(self.row(k), 1.0, self.scratch)

    cdef void read_round(self, Py_ssize_t round) noexcept nogil:
        cdef Py_ssize_t k, i
        for k in range(self.count):
            if round < self.group_size[k]:
                i = k - self.group_begin[k]
                self.values[self.block[k] + i * self.group_size[k] + round] = \
                    0.0 if self.row(k) == NULL else rate(self.row(k), self.scratch)

    cdef void factor(self, double proximal) noexcept nogil:
        """1 / d on the diagonal, 0 where a row is settled. The diagonal is shifted by `proximal` of J_i M^-1 J_i':
        each solve is one proximal step."""
        cdef Py_ssize_t k, i
        cdef double diagonal
        for k in range(self.count):
            diagonal = 0.0 if self.row(k) == NULL else self.row(k).diagonal
            i = k - self.group_begin[k]
            self.values[self.block[k] + i * self.group_size[k] + i] += proximal * diagonal
            self.factor_line(k, SMALLEST_PIVOT * diagonal)

    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil:
        cdef Py_ssize_t i = k - self.group_begin[k]
        cdef Py_ssize_t m = self.group_size[k]
        cdef double* g = self.values + self.block[k]
        cdef double* line = g + i * m
        cdef double s
        cdef double d = line[i]
        cdef Py_ssize_t j, n
        for j in range(i):
            s = 0.5 * (line[j] + g[j * m + i])
            for n in range(j):
                s -= line[n] * g[j * m + n]
            line[j] = s                                        # d_j L_ij until the line is done
        for j in range(i):
            s = line[j] * g[j * m + j]
            d -= s * line[j]
            line[j] = s
        line[i] = 1.0 / d if d > smallest else 0.0

    cdef void backsolve(self) noexcept nogil:
        """vector <- (L D L')^-1 vector"""
        cdef double* x = self.vector
        cdef Py_ssize_t k, first, m, i, n
        cdef const double* g
        for k in range(self.count):
            first = self.group_begin[k]
            i = k - first
            g = self.values + self.block[k] + i * self.group_size[k]
            for n in range(i):
                x[k] -= g[n] * x[first + n]
        for k in range(self.count - 1, -1, -1):
            first = self.group_begin[k]
            m = self.group_size[k]
            i = k - first
            g = self.values + self.block[k]
            x[k] *= g[i * m + i]
            for n in range(i + 1, m):
                x[k] -= g[n * m + i] * x[first + n]

    # ---- solving -----------------------------------------------------------------------------------------------------

    cdef double residual(self, const Twist* twist) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t k
        for k in range(self.count):
            self.vector[k] = 0.0 if self.row(k) == NULL else -(rate(self.row(k), twist) + self.bias[k])
            largest = max(largest, fabs(self.vector[k]))
        return largest

    cdef void finish(self, Twist* twist) noexcept nogil:
        cdef Py_ssize_t k
        cdef Row* row
        self.backsolve()
        for k in range(self.count):
            row = self.row(k)
            if row != NULL:
                row.impulse += self.vector[k]
                push(row, self.vector[k], twist)
                if is_wide(row):
                    row[1].impulse = row.impulse

    cdef void subtract_rates(self, const Twist* twist) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            if self.row(k) != NULL:
                self.bias[k] -= rate(self.row(k), twist)

    cdef void keep(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            if self.row(k) != NULL:
                self.impulse[k] = self.row(k).impulse

    cdef void undo(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef Row* row
        for k in range(self.count):
            row = self.row(k)
            if row != NULL:
                row.impulse = self.impulse[k]
                if is_wide(row):
                    row[1].impulse = row.impulse
