"""Sequential impulses on J H^-1 J': the blocks of `_blocks.pxd` over generalized velocities.

A row's impulse changes its blocks by H^-1 J' of it, which a factorization of H gave once per pose; so the sweeps know
neither bodies nor trees (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5, Solving the Equations of
Motion, for A = J H^-1 J'; order and local solves as in `_si.pyx`).
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._types cimport GROW, OK
from mcsim.solve._blocks cimport MAX_BLOCK, block_step, row_residual
from mcsim.state._layout cimport (
    BLOCK_BILATERAL, BLOCK_CONE, BLOCK_FRICTION, BIASED, ROW_NORMAL, Row)
from mcsim.state._rows cimport is_wide

# A row that the tree holds by itself has J = 0 but for rounding: this part of what its bodies alone would have.
cdef double IMPLIED = 1e-14

# By how much of itself the diagonal of loops is raised, in the biased and the relax pass.
cdef double[2] PROXIMAL
PROXIMAL[0], PROXIMAL[1] = 1e-3, 1e-7

# A pivot below this part of its row's diagonal marks a row that others imply.
cdef double SMALLEST_PIVOT = 1e-14


cdef inline bint closes(const Row* row) noexcept nogil:
    """Whether it is one of those that are solved all at once: the own rows of joints that are not in the tree. A gear's is
    wide, and its first record stands for it."""
    return row.block_kind == BLOCK_BILATERAL or is_wide(row)


cdef class GeneralizedRows:
    def __init__(self):
        self._allot(64, 1024)
        self._allot_loops(6)

    def _allot(self, Py_ssize_t rows, Py_ssize_t numbers):
        reaches, values = np.zeros((rows, 2, sizeof(Reach) // 8), np.int64), np.zeros((2, numbers))
        self.kept = reaches, values
        self.capacity, self.room = rows, numbers
        self.reaches = <Reach*>records(reaches)
        self.jacobian, self.response = doubles(values[0]), doubles(values[1])

    def _allot_loops(self, Py_ssize_t loops):
        numbers, matrices = np.zeros((2, loops), np.int32), np.zeros((2, loops + 1, loops))
        self.kept_loops = numbers, matrices
        self.loop_capacity = loops
        self.loop, self.loop_begin = integers(numbers[0]), integers(numbers[1])
        self.loop_factors[0], self.loop_factors[1] = doubles(matrices[0]), doubles(matrices[1])
        self.loop_change = doubles(matrices[0, loops])

    def reserve(self):
        """Room for what the last rows asked for."""
        if self.wanted_loops > self.loop_capacity:
            self._allot_loops(self.wanted_loops + self.wanted_loops // 2)
        if self.wanted_rows > self.capacity or self.wanted_room > self.room:
            self._allot(max(self.capacity, self.wanted_rows + self.wanted_rows // 2),
                        max(self.room, self.wanted_room + self.wanted_room // 2))

    cdef int begin(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """-> OK or GROW"""
        cdef Py_ssize_t i
        self.used = 0
        self.wanted_rows = count
        self.wanted_room = 0
        self.wanted_loops = 0
        for i in range(count):
            self.wanted_loops += closes(&rows[i])
        if count > self.capacity or self.wanted_loops > self.loop_capacity:
            return GROW
        memset(self.reaches, 0, 2 * count * sizeof(Reach))
        return OK

    cdef int open(self, Py_ssize_t row, int side, int32_t first, int32_t count, double** jacobian,
                  double** response) noexcept nogil:
        """Room for a row's J and H^-1 J' on the block of `count` velocities from `first`. -> OK or GROW"""
        cdef Reach* reach = &self.reaches[2 * row + side]
        self.wanted_room += count
        if self.wanted_room > self.room:
            return GROW
        reach.begin = self.used
        reach.first = first
        reach.count = count
        jacobian[0] = self.jacobian + self.used
        response[0] = self.response + self.used
        self.used += count
        return OK

    def matrices(self, Py_ssize_t rows, Py_ssize_t width):
        """J and H^-1 J' (rows, width) of the rows, scipy.sparse CSR; to look at."""
        from scipy.sparse import csr_array  # here, since importing mcsim should stay light

        cdef Py_ssize_t i, k
        cdef const Reach* reach
        cdef int side
        begin, columns = [0], []
        for i in range(rows):
            for side in range(2):
                reach = &self.reaches[2 * i + side]
                columns.extend(range(reach.first, reach.first + reach.count))
            begin.append(len(columns))
        j = np.empty(len(columns))
        y = np.empty(len(columns))
        cdef double* to_j = doubles(j)
        cdef double* to_y = doubles(y)
        k = 0
        for i in range(rows):
            for side in range(2):
                reach = &self.reaches[2 * i + side]
                memcpy(to_j + k, self.jacobian + reach.begin, reach.count * sizeof(double))
                memcpy(to_y + k, self.response + reach.begin, reach.count * sizeof(double))
                k += reach.count
        return tuple(csr_array((values, columns, begin), shape=(rows, width)) for values in (j, y))

    # ---- a row and velocities ----------------------------------------------------------------------------------------

    cdef double rate(self, Py_ssize_t row, const double* velocity) noexcept nogil:
        """J qd"""
        cdef const Reach* reach
        cdef const double* j
        cdef const double* v
        cdef double s = 0.0
        cdef int side, k
        for side in range(2):
            reach = &self.reaches[2 * row + side]
            j = self.jacobian + reach.begin
            v = velocity + reach.first
            for k in range(reach.count):
                s += j[k] * v[k]
        return s

    cdef void apply(self, Py_ssize_t row, double impulse, double* velocity) noexcept nogil:
        """qd += H^-1 J' impulse"""
        cdef const Reach* reach
        cdef const double* y
        cdef double* v
        cdef int side, k
        for side in range(2):
            reach = &self.reaches[2 * row + side]
            y = self.response + reach.begin
            v = velocity + reach.first
            for k in range(reach.count):
                v[k] += y[k] * impulse

    cdef double coupling(self, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """J_x H^-1 J_y'"""
        cdef const Reach* a
        cdef const Reach* b
        cdef const double* j
        cdef const double* r
        cdef double s = 0.0
        cdef int p, q, k
        for p in range(2):
            a = &self.reaches[2 * x + p]
            for q in range(2):
                b = &self.reaches[2 * y + q]
                if a.count > 0 and a.count == b.count and a.first == b.first:
                    j = self.jacobian + a.begin
                    r = self.response + b.begin
                    for k in range(a.count):
                        s += j[k] * r[k]
        return s

    cdef double whole_coupling(self, const Row* rows, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """The same of rows with both their records, if they are wide."""
        cdef double s = self.coupling(x, y)
        if is_wide(&rows[x]):
            s += self.coupling(x + 1, y)
        if is_wide(&rows[y]):
            s += self.coupling(x, y + 1)
            if is_wide(&rows[x]):
                s += self.coupling(x + 1, y + 1)
        return s

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void finish(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Diagonals, and couplings of cones. Rows that the tree implies move nothing."""
        cdef Py_ssize_t i
        cdef double alone
        cdef Row* row
        cdef int k
        for i in range(count):
            row = &rows[i]
            alone = 0.0
            for k in range(12):
                alone += row.jacobian[k] * row.inv_mass_jacobian[k]
            row.diagonal = self.coupling(i, i)
            if not row.diagonal > IMPLIED * alone:
                row.diagonal = 0.0
                memset(&self.reaches[2 * i], 0, 2 * sizeof(Reach))
        for i in range(count):
            row = &rows[i]
            if row.block_kind == BLOCK_CONE and row.block == 2:
                row.coupling = self.coupling(i, i + 1)
            elif is_wide(row):
                row.diagonal += rows[i + 1].diagonal + 2.0 * self.coupling(i, i + 1)

    cdef void factor(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """K = J H^-1 J' + compliance of all rows that close loops, as L D L', for both passes. What is solved is K with its
        diagonal raised: with repeated solves the proximal point iteration, which leaves alone what rows of a closed loop
        say that others imply but for the errors of its position. Raised by e, no solve answers a residual by more than 1 /
        (2 sqrt e) of it: where rows contradict each other the biased pass would else ask for any speed."""
        cdef Py_ssize_t i, j, n = 0
        cdef double s
        cdef int p
        for i in range(count):
            if closes(&rows[i]):
                self.loop[n] = <int32_t>i
                n += 1
        self.loop_count = n
        for i in range(n):
            self.loop_begin[i] = <int32_t>i
            for j in range(i, -1, -1):
                s = self.whole_coupling(rows, self.loop[i], self.loop[j])
                for p in range(2):
                    self.loop_factors[p][i * n + j] = s
                if s != 0.0:
                    self.loop_begin[i] = <int32_t>j
        for p in range(2):
            self.factor_loops(rows, p)

    cdef void factor_loops(self, const Row* rows, int relaxed) noexcept nogil:
        """L D L' in place of K. Before loop_begin of a row K has zeros, and so has L."""
        cdef Py_ssize_t i, j, k, n = self.loop_count
        cdef const int32_t* begin = self.loop_begin
        cdef double* f = self.loop_factors[relaxed]
        cdef double s, diagonal
        for i in range(n):
            for j in range(begin[i], i + 1):
                s = f[i * n + j]
                if i == j:
                    s = s * (1.0 + PROXIMAL[relaxed]) + rows[self.loop[i]].compliance[relaxed]
                diagonal = s
                for k in range(max(begin[i], begin[j]), j):
                    s -= f[i * n + k] * f[k * n + k] * f[j * n + k]
                if i == j:
                    f[i * n + i] = s if s > SMALLEST_PIVOT * diagonal else 0.0
                else:
                    f[i * n + j] = s / f[j * n + j] if f[j * n + j] > 0.0 else 0.0

    cdef double solve_loops(self, Row* rows, double* velocity, int relaxed) noexcept nogil:
        """Impulses -K^-1 loop_change into the rows and the velocities. -> the largest correction [m/s, rad/s]"""
        cdef Py_ssize_t i, k, n = self.loop_count
        cdef const int32_t* begin = self.loop_begin
        cdef const double* f = self.loop_factors[relaxed]
        cdef double* x = self.loop_change
        cdef double largest = 0.0
        cdef Row* row
        for i in range(n):
            x[i] = -x[i]
            for k in range(begin[i], i):
                x[i] -= f[i * n + k] * x[k]
        for i in range(n - 1, -1, -1):
            if not f[i * n + i] > 0.0:
                x[i] = 0.0
                continue
            x[i] /= f[i * n + i]
            for k in range(i + 1, n):
                if begin[k] <= i:
                    x[i] -= f[k * n + i] * x[k]
        for i in range(n):
            row = &rows[self.loop[i]]
            row.impulse += x[i]
            self.apply(self.loop[i], x[i], velocity)
            if is_wide(row):
                row[1].impulse = row.impulse
                self.apply(self.loop[i] + 1, x[i], velocity)
            largest = max(largest, fabs(x[i]) * (row.diagonal + row.compliance[relaxed]))
        return largest

    # ---- passes ------------------------------------------------------------------------------------------------------

    cdef void warm_start(self, const Row* rows, Py_ssize_t count, double* velocity) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].impulse != 0.0:
                self.apply(i, rows[i].impulse, velocity)

    cdef double sweep(self, Row* rows, Py_ssize_t count, double* velocity, int relaxed, bint rub) noexcept nogil:
        """All loops at once, then one sweep over the other rows, over contacts' friction only if `rub`. -> the largest
        correction [m/s, rad/s]"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef double largest
        cdef Py_ssize_t i, k
        cdef int r, m
        for i in range(self.loop_count):
            k = self.loop[i]
            self.loop_change[i] = row_residual(&rows[k], self.rate(k, velocity), relaxed)
            if is_wide(&rows[k]):
                self.loop_change[i] += row_residual(&rows[k + 1], self.rate(k + 1, velocity), relaxed)
        largest = self.solve_loops(rows, velocity, relaxed)
        i = 0
        while i < count:
            m = rows[i].block
            if not closes(&rows[i]) and (rub or (rows[i].block_kind != BLOCK_CONE
                                                  and rows[i].block_kind != BLOCK_FRICTION)):
                for r in range(m):
                    w[r] = row_residual(&rows[i + r], self.rate(i + r, velocity), relaxed)
                block_step(rows, &rows[i], NULL, relaxed, w, delta)
                for r in range(m):
                    if delta[r] != 0.0:
                        self.apply(i + r, delta[r], velocity)
                        largest = max(largest, fabs(delta[r]) * (rows[i + r].diagonal
                                                                 + rows[i + r].compliance[relaxed]))
            i += m
        return largest

    cdef double worst(self, const Row* rows) noexcept nogil:
        """The largest error of position of rows that close loops [m, rad]."""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.loop_count):
            if rows[self.loop[i]].stabilized:
                largest = max(largest, fabs(rows[self.loop[i]].error))
        return largest

    cdef void close(self, Row* rows, double* velocity, double h) noexcept nogil:
        """Velocities that bring the errors of these rows, as they are written for the end of a drift of h, to 0: J times
        their change = -C / h, J and K those of the last refresh."""
        cdef Py_ssize_t i
        cdef const Row* row
        for i in range(self.loop_count):
            row = &rows[self.loop[i]]
            self.loop_change[i] = row.error / h if row.stabilized else 0.0
        self.solve_loops(rows, velocity, BIASED)

    cdef void look(self, const Row* rows, Py_ssize_t count, const double* velocity, double* rates) noexcept nogil:
        """J qd of all rows."""
        cdef Py_ssize_t i
        for i in range(count):
            rates[i] = self.rate(i, velocity)

    cdef int bounce(self, Row* rows, Py_ssize_t count, double* velocity, const double* approach, double threshold,
                    int sweeps) noexcept nogil:
        """Newton's law on the normal rows that bear: J qd = -e times what it was before (`approach`), where that was
        faster than the threshold [m/s]. -> how many bounced"""
        cdef Py_ssize_t i
        cdef Row* row
        cdef double old, change, d
        cdef int k, found = 0
        for k in range(sweeps):
            found = 0
            for i in range(count):
                row = &rows[i]
                if (row.kind != ROW_NORMAL or row.restitution == 0.0 or approach[i] > -threshold
                        or row.impulse == 0.0 or not row.diagonal > 0.0):
                    continue
                d = -(self.rate(i, velocity) + row.restitution * approach[i]) / row.diagonal
                old = row.impulse
                row.impulse = max(old + d, 0.0)
                change = row.impulse - old
                self.apply(i, change, velocity)
                found += 1
        return found
