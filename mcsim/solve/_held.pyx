"""Bounded rows of articulations (limits, motors, springs, rotors, joint friction), solved exactly with the joints in them.

A sweep sees two bodies' masses in such a row. Where joints make it far harder to move than that, sweeps in turn with the
joints take as many rounds as the masses differ; and motors that carry each other need as many as an arm has joints, and
their square. Here P, the answer of all bodies with all joints holding, is in the matrix, found by probing, one solve of
the joints a row:

    A_ij = J_i P J_j',     w = (A + C) x + r,     lower <= impulse + x <= upper

r = J v + bias + C impulse the residuals with the joints solved, C the compliances; w as of a boxed linear complementarity
problem (problems/_dantzig.pyx). Rows that contradict each other are met in their order: a limit before a motor.

A row between two articulations, as of a rope from one to the other, is in neither's matrix: each has the answer of its own
joints alone. Sweeps take it.

Other velocities than the bodies' have classes of their own, with other rates and responses.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._dense cimport invert_symmetric
from mcsim.solve._blocks cimport row_apply, row_residual, row_velocity
from mcsim.solve._pivots cimport SMALLEST_PIVOT
from mcsim.solve.problems._dantzig cimport (INDEFINITE, NONE, ROW_DOUBLES, ROW_INTEGERS, give_room, solve_boxed,
                                            start_anew, take_rows)
from mcsim.state._joint cimport MOST_ASKED
from mcsim.state._row cimport BLOCK_BOUNDED, BLOCK_HELD, RELAXED, ROW_ARMATURE, ROW_JOINT_FRICTION, ROW_LIMIT
from mcsim.state._rows cimport is_of_drive

# An articulation with more rows than that leaves them to the sweeps: the matrix grows with their square, pivots with the
# cube.
cdef enum:
    MOST_HELD = 128
    PIVOTS = 20                          # a row, at most

# Sweeps would not do where they leave more than this of an error.
cdef double MOST_LEFT = 0.2

# What a row may be off and agree with others, in parts of |r| + |A||x|.
cdef double AGREES = 1e-9
# What is nothing in A, which is what is left of far larger masses.
cdef double PROBED = 1e-9


cdef bint is_slow(double part, int sweeps) noexcept nogil:
    """Whether so many sweeps would not do for what moves so small a part of what a sweep takes it to."""
    cdef double left = 1.0
    cdef int _
    for _ in range(sweeps):
        left *= 1.0 - part
    return left > MOST_LEFT


cdef inline bint holds_others(const Row* row) noexcept nogil:
    """Whether it is a limit, or friction that does not slip."""
    return row.kind == ROW_LIMIT or (row.kind == ROW_JOINT_FRICTION and row.lower < row.impulse < row.upper)


cdef class HeldRows:
    """Of so many articulations. Buffers only grow. noted: where it stands that there is no memory for them; None: it is
    told later."""

    def __init__(self, Py_ssize_t articulations, Noted noted):
        self.noted = noted
        counts, begin = np.zeros((2, articulations + 1), np.int32)
        matrix, driven = np.zeros(articulations + 1, np.int64), np.zeros(articulations + 1, np.int8)
        self.articulations, self.most_held = articulations, MOST_HELD
        self.count, self.begin, self.matrix = integers(counts), integers(begin), long_integers(matrix)
        first, flags = np.zeros(articulations + 1, np.int32), np.zeros((2, articulations + 1), np.int8)
        self.driven, self.first = <int8_t*>records(driven), integers(first)
        self.asks, self.slow = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])
        self.kept = (counts, begin, matrix, driven, first, flags)

    cdef Py_ssize_t owner(self, const Row* row, const int32_t* group) noexcept nogil:
        """The articulation in whose matrix a row may be; -1: there is none."""
        cdef int32_t a = group[row.body_a]
        cdef int32_t b = group[row.body_b]
        return max(a, b) if a < 0 or b < 0 or a == b else -1

    cdef void list(self, const int32_t* group, const int8_t* holds, const int8_t* any_number, Row* rows,
                   Py_ssize_t count) noexcept nogil:
        """The bounded ones of rows[:count] that belong to articulations which `holds` names; from here on sweeps pass
        them by. any_number: of which there may be more than fit in a matrix (NULL: of none)."""
        cdef Py_ssize_t g, i
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t values = 0
        cdef Py_ssize_t most = 0
        cdef int limits
        cdef bint some = False
        memset(self.count, 0, self.articulations * sizeof(int32_t))
        for g in range(self.articulations):
            some = some or holds[g]
        for i in range(count if some else 0):
            g = self.owner(&rows[i], group)
            if g >= 0 and holds[g] and rows[i].block_kind == BLOCK_BOUNDED:
                self.count[g] += 1
        for g in range(self.articulations):
            if not self.has_matrix(g) and not (any_number != NULL and any_number[g]):
                self.count[g] = 0
            self.begin[g], self.matrix[g] = <int32_t>total, values
            total += self.count[g]
            values += self.count[g] * self.count[g] if self.has_matrix(g) else 0
            most = max(most, self.count[g] if self.has_matrix(g) else 0)
        if total == 0:
            return
        if (total > self.row_capacity or values > self.value_capacity or most > self.most) and not self.has_room(
                total, values, most):
            memset(self.count, 0, self.articulations * sizeof(int32_t))
            return
        memset(self.integers, 0, self.articulations * sizeof(int32_t))        # how many of each are listed
        for limits in range(1, -1, -1):
            for i in range(count):
                g = self.owner(&rows[i], group)
                if (g >= 0 and self.count[g] > 0 and (rows[i].kind == ROW_LIMIT) == limits
                        and (rows[i].block_kind == BLOCK_BOUNDED or rows[i].block_kind == BLOCK_HELD)):
                    rows[i].block_kind = BLOCK_HELD
                    self.row[self.begin[g] + self.integers[g]] = <int32_t>i
                    self.integers[g] += 1

    cdef bint has_matrix(self, Py_ssize_t g) noexcept nogil:
        return self.count[g] <= self.most_held

    cdef void find_driven(self, const int32_t* group, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Into `driven`: the articulations with motors or rotors."""
        cdef Py_ssize_t g, i
        memset(self.driven, 0, self.articulations)
        for i in range(count):
            if is_of_drive(&rows[i]):
                g = self.owner(&rows[i], group)
                if g >= 0:
                    self.driven[g] = 1

    cdef void ask(self, Joint* joints) noexcept nogil:
        """At the begin of a step: of which articulations it is known whether sweeps would do for their bounded rows, and of
        which it is to be found, by Joint.held of their `first` joint that may have such rows."""
        cdef Joint* joint
        cdef Py_ssize_t g
        self.joints = joints
        for g in range(self.articulations):
            self.asks[g] = self.slow[g] = 0
            if self.first[g] >= 0:
                joint = &joints[self.first[g]]
                self.asks[g], self.slow[g] = joint.held == 0, joint.held < 0
                joint.held += (joint.held < 0) - (joint.held > 0)

    cdef void claim(self, Py_ssize_t g, bint may) noexcept nogil:
        """Into `driven`, once `find_driven` has found those with motors: whether an articulation's rows are to be listed.
        may: whether they may be held."""
        self.asks[g] = self.asks[g] and may and not self.driven[g]
        self.driven[g] = may and (self.driven[g] or self.slow[g] or self.asks[g])

    cdef void choose(self, Py_ssize_t g, Row* rows, int sweeps) noexcept nogil:
        """Once the matrix of an articulation is there, and if it is asked for: whether its rows are held, for the next
        MOST_ASKED steps, of which this is one. sweeps: in which others are to be solved."""
        if self.asks[g] and self.count[g] > 0:
            self.slow[g] = is_slow(self.least_part(g, rows), sweeps)
            self.joints[self.first[g]].held = 1 - MOST_ASKED if self.slow[g] else MOST_ASKED - 1
            if not self.slow[g]:
                self.release(g, rows)
        self.asks[g] = 0

    cdef void release(self, Py_ssize_t g, Row* rows) noexcept nogil:
        """An articulation's rows are left to the sweeps."""
        cdef Py_ssize_t k
        for k in range(self.begin[g], self.begin[g] + self.count[g]):
            rows[self.row[k]].block_kind = BLOCK_BOUNDED
        self.count[g] = 0

    cdef double rate(self, const Row* rows, Py_ssize_t i, const Twist* velocity) noexcept nogil:
        """J v of row i"""
        return row_velocity(&rows[i], velocity)

    cdef void find_rates(self, const Row* rows, const int32_t* row, Py_ssize_t count, const Twist* velocity,
                         double* rates) noexcept nogil:
        """The same of so many rows, by their numbers."""
        cdef Py_ssize_t i
        for i in range(count):
            rates[i] = self.rate(rows, row[i], velocity)

    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, Twist* velocity) noexcept nogil:
        """Its impulse on the velocities, without the joints' answer."""
        row_apply(&rows[i], impulse, velocity)

    cdef bint has_room(self, Py_ssize_t rows, Py_ssize_t values, Py_ssize_t most) noexcept with gil:
        """Make it, no less than there is."""
        rows, values = max(rows, self.row_capacity), max(values, self.value_capacity)
        most = max(most, self.most)
        try:
            row, diagonal, room = np.zeros(rows, np.int32), np.zeros(rows), np.zeros(values)
            numbers, factor = np.zeros((ROW_DOUBLES + 3, most)), np.zeros((most, most))
            work = np.zeros(max((ROW_INTEGERS + 1) * most, self.articulations), np.int32)
        except MemoryError:
            self.noted.without_memory = True
            return False
        self.kept = (*self.kept[:6], row, diagonal, room, numbers, factor, work)
        self.row, self.diagonal, self.values = integers(row), doubles(diagonal), doubles(room)
        self.numbers, self.factor, self.integers = doubles(numbers), doubles(factor), integers(work)
        self.row_capacity, self.value_capacity, self.most = rows, values, most
        return True

    cdef void begin_column(self, Py_ssize_t g, Py_ssize_t k, Row* rows, Twist* moved) noexcept nogil:
        """A unit impulse on row k of an articulation, on bodies at rest; the joints are to answer."""
        rows[self.row[self.begin[g] + k]].block_kind = BLOCK_HELD              # rows are written anew at every pose
        self.act(rows, self.row[self.begin[g] + k], 1.0, moved)

    cdef void end_column(self, Py_ssize_t g, Py_ssize_t k, const Row* rows, const Twist* moved) noexcept nogil:
        """What that moves. A is symmetric but for rounding: the mean of both. Of a row that the joints hold A is rounding,
        of which nothing may be made: 0."""
        cdef Py_ssize_t n = self.count[g]
        cdef const int32_t* row = self.row + self.begin[g]
        cdef double* diagonal = self.diagonal + self.begin[g]
        cdef double* a = self.values + self.matrix[g]
        cdef double* rates = self.numbers                # of no problem: none is solved yet
        cdef double rate
        cdef Py_ssize_t i
        self.find_rates(rows, row, n, moved, rates)
        diagonal[k] = rates[k] if rates[k] > SMALLEST_PIVOT * rows[row[k]].diagonal else 0.0
        for i in range(n):
            rate = rates[i]
            if i < k:
                rate = 0.5 * (rate + a[k * n + i]) if diagonal[i] > 0.0 else 0.0
            if diagonal[k] == 0.0:
                rate = 0.0
            if i < k:
                a[k * n + i] = rate
            a[i * n + k] = rate

    cdef void widen(self, Py_ssize_t g, const Row* rows, double* a) noexcept nogil:
        """Where joints' answers are slow, near singular poses, and end at different residuals, A need not be semidefinite.
        With A_ii no less than the sum of |A_ij| d_i / d_j, d_i^2 what the bodies alone answer, it is (S. Gershgorin, 1931):
        rows are taken to move more easily than they do, so steps are shorter than Newton's, and the next sweep goes on."""
        cdef Py_ssize_t n = self.count[g]
        cdef const int32_t* row = self.row + self.begin[g]
        cdef double own, other, total
        cdef Py_ssize_t i, j
        for i in range(n):
            own, total = rows[row[i]].diagonal, 0.0
            for j in range(n):
                other = rows[row[j]].diagonal
                if j != i and other > 0.0:
                    total += fabs(a[i * n + j]) * sqrt(own / other)
            a[i * n + i] = max(a[i * n + i], total)

    cdef double least_part(self, Py_ssize_t g, const Row* rows) noexcept nogil:
        """The least part of what a row moves by itself that it still moves where the rows of other joints hold,

            p_i = ((A^-1)_JJ^-1)_ii / A_ii,     J: the rows of its joint,     A = L D L',     A^-1 = sum_j Y_j' Y_j / D_j,

        Y = L^-1, of limits and of friction that does not slip. Those of one joint meet along the same few coordinates, and
        two of them that are all but parallel, as a swing limit and friction about an axis beside it, are no beam. Of rows
        along one coordinate the first counts."""
        cdef Py_ssize_t n = self.count[g]
        cdef const int32_t* number = self.row + self.begin[g]
        cdef const double* a = self.values + self.matrix[g]
        cdef double* d = self.numbers
        cdef double* y
        cdef double least = 1.0
        cdef Py_ssize_t i, j, k
        for i in range(n):
            d[i] = self.pivot(a, d, n, i) if holds_others(&rows[number[i]]) else 0.0
        for i in range(n):                               # Y' above the diagonal, L is below it
            y = self.factor + i * n
            y[i] = 1.0
            for j in range(i + 1, n if d[i] > 0.0 else 0):
                y[j] = 0.0
                for k in range(i, j if d[j] > 0.0 else 0):
                    y[j] -= self.factor[j * n + k] * y[k]
        for i in range(n):
            if d[i] > 0.0:
                least = min(least, self.part_beside(rows, number, a, d, n, i))
        return least

    cdef double part_beside(self, const Row* rows, const int32_t* number, const double* a, const double* d, Py_ssize_t n,
                            Py_ssize_t i) noexcept nogil:
        """p_i"""
        cdef double inverse[36]
        cdef Py_ssize_t own[6]
        cdef const double* x
        cdef const double* y
        cdef Py_ssize_t j, k
        cdef int p, q, m = 1
        own[0] = i
        for k in range(n):
            if k != i and m < 6 and d[k] > 0.0 and rows[number[k]].source == rows[number[i]].source:
                own[m] = k
                m += 1
        for p in range(m):
            for q in range(p + 1):
                x, y = self.factor + own[p] * n, self.factor + own[q] * n
                inverse[6 * p + q] = 0.0
                for j in range(max(own[p], own[q]), n):
                    if d[j] > 0.0:
                        inverse[6 * p + q] += x[j] * y[j] / d[j]
                inverse[6 * q + p] = inverse[6 * p + q]
        return inverse[0] / a[i * n + i] if invert_symmetric(inverse, m) else 0.0

    cdef double pivot(self, const double* a, const double* d, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
        """D_i, with row i of L into `factor`; 0: the row repeats others."""
        cdef double* line = self.factor + i * n
        cdef double left = a[i * n + i]
        cdef double x
        cdef Py_ssize_t j, k
        for j in range(i):
            x = a[i * n + j]
            for k in range(j):
                x -= line[k] * d[k] * self.factor[j * n + k]
            line[j] = x / d[j] if d[j] > 0.0 else 0.0
            left -= line[j] * line[j] * d[j]
        return left if left > PROBED * a[i * n + i] else 0.0

    cdef bint solve(self, Py_ssize_t g, Row* rows, Twist* twist, bint relaxed) noexcept nogil:
        """Their impulses, on velocities that the joints hold. -> whether any changed: then the joints are to answer"""
        cdef Boxed p
        cdef Py_ssize_t n = self.count[g]
        cdef const int32_t* number = self.row + self.begin[g]
        cdef double* a = self.values + self.matrix[g]
        cdef double* b = self.numbers + ROW_DOUBLES * n
        cdef double* lower = b + n
        cdef double* upper = lower + n
        cdef int32_t* order = self.integers + ROW_INTEGERS * n
        cdef double impulse
        cdef bint changed = False
        cdef int event
        cdef Row* row
        cdef Py_ssize_t i
        give_room(&p, n, self.numbers, self.factor, self.integers)
        self.find_rates(rows, number, n, twist, b)
        for i in range(n):
            row = &rows[number[i]]
            a[i * n + i] = self.diagonal[self.begin[g] + i] + row.compliance[relaxed]
            b[i] = row_residual(row, b[i], relaxed)
            lower[i], upper[i] = row.lower - row.impulse, row.upper - row.impulse
            p.x[i] = min(max(0.0, lower[i]), upper[i])
            order[i] = <int32_t>i
        p.a, p.b, p.lower, p.upper = a, b, lower, upper
        p.most, p.accuracy, p.quiet, p.nothing = PIVOTS * n, AGREES, 0.0, PROBED
        event = solve_boxed(&p, order)
        if event == INDEFINITE:
            self.widen(g, rows, a)
            start_anew(&p)
            event = take_rows(&p, order)
        self.unsolved = event != NONE
        for i in range(n):
            row = &rows[number[i]]
            impulse = min(max(row.impulse + p.x[i], row.lower), row.upper)
            if impulse != row.impulse:
                self.act(rows, number[i], impulse - row.impulse, twist)
                row.impulse = impulse
                changed = True
        return changed

    cdef bint respond(self, Py_ssize_t g, const Row* rows, Twist* x) noexcept nogil:
        """What rotors alone do against x, velocities that a blow has given to what the joints hold: J x + impulse / a = 0.
        No row's impulse changes. -> whether any did: then the joints are to answer"""
        cdef Boxed p
        cdef Py_ssize_t n = self.count[g]
        cdef const int32_t* number = self.row + self.begin[g]
        cdef double* a = self.values + self.matrix[g]
        cdef double* b = self.numbers + ROW_DOUBLES * n
        cdef double* bound = b + n
        cdef int32_t* order = self.integers + ROW_INTEGERS * n
        cdef bint found = False
        cdef const Row* row
        cdef Py_ssize_t i
        give_room(&p, n, self.numbers, self.factor, self.integers)
        for i in range(n):
            row = &rows[number[i]]
            a[i * n + i] = self.diagonal[self.begin[g] + i] + row.compliance[RELAXED]
            b[i], p.x[i], order[i] = self.rate(rows, number[i], x), 0.0, <int32_t>i
            bound[n + i] = INFINITY if row.kind == ROW_ARMATURE else 0.0
            bound[i] = -bound[n + i]
            found = found or row.kind == ROW_ARMATURE
        if not found:
            return False
        p.a, p.b, p.lower, p.upper = a, b, bound, bound + n
        p.most, p.accuracy, p.quiet, p.nothing = PIVOTS * n, AGREES, 0.0, PROBED
        take_rows(&p, order)
        for i in range(n):
            if p.x[i] != 0.0:
                self.act(rows, number[i], p.x[i], x)
        return True
