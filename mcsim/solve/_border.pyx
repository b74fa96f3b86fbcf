"""Rows beside the joints' tree, solved exactly with it: gears, which have up to four bodies, and joints of the user's.

With S the joints' solve, which gives twists that keep J v + b = 0, a unit impulse on border row i changes the twists by
R_i = S M^-1 J_i' (b = 0), and

    G mu = -(J_b v + bias),     G_ij = J_i R_j

is what the border rows see of each other through the joints (the Schur complement; the auxiliary constraints of D.
Baraff, "Linear-time dynamics using Lagrange multipliers", 1996). G is found by probing, one joints' solve for a round
of columns (`border.py`), and factored as L D L' within the envelope of its lower triangle: a train of gears on pivots
of their own costs time linear in its length. Rows may say what the joints or rows before them have settled already, or
contradict them: the diagonal is shifted by a part of itself, or a small one of J_i M^-1 J_i', and each solve is one
proximal step, as with loops (`_tree.pyx`). A pivot below 1e-9 of J_i M^-1 J_i' is skipped: its row gets no impulse.
"""

from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers
from mcsim.state._rows cimport is_linear, push, rate, set_impulse, way_of

from mcsim.solve.border import plan_border

# Part of the diagonal that stood there: below it, the tree and the rows before it settle the row.
cdef double SMALLEST_PIVOT = 1e-9


cdef class Border:
    """rows: list of (joint number, which of its rows, records, bodies); pairs: (j, 2) bodies of the joints in the tree;
    moves: (bodies,) bool, which are dynamic."""

    def __init__(self, rows, pairs, moves):
        plan = plan_border([bodies for *_, bodies in rows], pairs, moves)
        joint, index = (np.array([row[k] for row in rows], np.int32)[plan.order] for k in (0, 1))
        values, numbers, twists = np.zeros(plan.length), np.zeros((3, len(rows))), np.zeros((len(moves) + 1, 6))
        self.articulation, self.groups = plan.articulation, plan.group
        self.count = len(rows)
        self.records = sum(row[2] for row in rows)
        self.rounds, self.length = plan.rounds, plan.length
        self.body_count = len(moves)
        if self.count == 0:
            return
        self.kept = joint, index, plan, values, numbers, twists
        self.joint, self.index = integers(joint), integers(index)
        self.round, self.round_begin = integers(plan.round), long_integers(plan.round_begin)
        self.entry_row, self.entry_column = integers(plan.entry_row), integers(plan.entry_column)
        self.first, self.line, self.values = long_integers(plan.first), long_integers(plan.line), doubles(values)
        self.vector, self.bias, self.impulse = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.scratch = <Twist*>doubles(twists) + 1

    cdef Row* row(self, Py_ssize_t k) noexcept nogil:
        cdef const Joint* joint = &self.joints[self.joint[k]]
        return NULL if joint.row_count == 0 else self.rows + joint.row_begin + self.index[k]

    # ---- G -----------------------------------------------------------------------------------------------------------

    cdef void begin_step(self, Row* rows) noexcept nogil:
        """rows: where they stand in this step. Bodies that do not move, and the world, are at rest in `scratch`, whatever
        0 * inf the step before left there."""
        self.rows = rows
        if self.count > 0:
            memset(self.scratch - 1, 0, (self.body_count + 1) * sizeof(Twist))

    cdef void push_round(self, Py_ssize_t round, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """A unit impulse on each row of [begin, end) whose column is probed in this round, on bodies at rest: their
        twists in `scratch` are 0."""
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.round[k] == round and self.row(k) != NULL:
                push(self.row(k), 1.0, self.scratch)

    cdef void read_round(self, Py_ssize_t round, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """What it moves: the mean of G_ij and G_ji, of which one may come in another round."""
        cdef Py_ssize_t e, i, j
        cdef double moved
        if round == 0:
            for i in range(begin, end):
                memset(self.values + self.line[i] + self.first[i], 0, (i + 1 - self.first[i]) * sizeof(double))
        for e in range(self.round_begin[round], self.round_begin[round + 1]):
            i = self.entry_row[e]
            j = self.entry_column[e]
            if i < begin or i >= end:
                continue
            moved = 0.0 if self.row(i) == NULL else rate(self.row(i), self.scratch)
            self.values[self.line[max(i, j)] + min(i, j)] += moved if i == j else 0.5 * moved

    cdef double diagonal(self, Py_ssize_t k) noexcept nogil:
        """G_kk, before `factor`."""
        return self.values[self.line[k] + k]

    cdef void add_to_diagonal(self, Py_ssize_t k, double s) noexcept nogil:
        """Before `factor`."""
        self.values[self.line[k] + k] += s

    cdef void factor(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Of whole articulations' rows [begin, end): 1 / d on the diagonal, 0 where a row is settled."""
        cdef Py_ssize_t k
        for k in range(begin, end):
            self.factor_line(k, 0.0 if self.row(k) == NULL else SMALLEST_PIVOT * self.row(k).diagonal)

    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil:
        cdef double* line = self.values + self.line[k]
        cdef const double* above
        cdef double s
        cdef double d = line[k]
        cdef Py_ssize_t j, n
        for j in range(self.first[k], k):
            above = self.values + self.line[j]
            s = line[j]
            for n in range(max(self.first[k], self.first[j]), j):
                s -= line[n] * above[n]
            line[j] = s                                        # d_j L_kj until the line is done
        for j in range(self.first[k], k):
            s = line[j] * self.values[self.line[j] + j]
            d -= s * line[j]
            line[j] = s
        line[k] = 1.0 / d if d > smallest else 0.0

    cdef void backsolve(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """vector <- (L D L')^-1 vector, in the rows [begin, end) of whole articulations"""
        cdef double* x = self.vector
        cdef const double* line
        cdef Py_ssize_t k, n
        for k in range(begin, end):
            line = self.values + self.line[k]
            for n in range(self.first[k], k):
                x[k] -= line[n] * x[n]
        for k in range(begin, end):
            x[k] *= self.values[self.line[k] + k]
        for k in range(end - 1, begin - 1, -1):
            line = self.values + self.line[k]
            for n in range(self.first[k], k):
                x[n] -= line[n] * x[k]

    # ---- solving -----------------------------------------------------------------------------------------------------

    cdef double residual(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end, const Joint* joints) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t k
        for k in range(begin, end):
            self.vector[k] = 0.0 if self.row(k) == NULL else -(rate(self.row(k), twist) + self.bias[k])
            if self.row(k) != NULL:
                largest = max(largest, way_of(&joints[self.joint[k]], is_linear(self.row(k)), self.vector[k]))
        return largest

    cdef double opening(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end, const Joint* joints) noexcept nogil:
        """How fast the rows open, at most [m/s]."""
        cdef double fastest = 0.0
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.row(k) != NULL:
                fastest = max(fastest, way_of(&joints[self.joint[k]], is_linear(self.row(k)), rate(self.row(k), twist)))
        return fastest

    cdef void finish(self, Twist* twist, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        cdef Py_ssize_t k
        cdef Row* row
        self.backsolve(begin, end)
        for k in range(begin, end):
            row = self.row(k)
            if row != NULL:
                set_impulse(row, row.impulse + self.vector[k])
                push(row, self.vector[k], twist)

    cdef void subtract_rates(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.row(k) != NULL:
                self.bias[k] -= rate(self.row(k), twist)

    cdef void keep(self, double part, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """That part of the impulses, for keep_part or undo."""
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.row(k) != NULL:
                self.impulse[k] = part * self.row(k).impulse

    cdef void keep_part(self, double part, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Of what impulses are beyond those that are kept."""
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.row(k) != NULL:
                set_impulse(self.row(k), self.impulse[k] + part * (self.row(k).impulse - self.impulse[k]))

    cdef void undo(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(begin, end):
            if self.row(k) != NULL:
                set_impulse(self.row(k), self.impulse[k])
