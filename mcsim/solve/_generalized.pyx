"""Sequential impulses on J H^-1 J': the blocks of `_blocks.pxd` over generalized velocities.

A row's impulse changes its blocks by H^-1 J' of it, which a factorization of H gave once per pose; so the sweeps know
neither bodies nor trees (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 11.7, for A = J H^-1 J'; order
and local solves as in `_si.pyx`).
"""

from libc.math cimport fabs
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, records
from mcsim.core._types cimport GROW, MC_ASSERT, OK
from mcsim.solve._blocks cimport FACTOR_STRIDE, MAX_BLOCK, block_step, factor_matrix, row_residual
from mcsim.state._layout cimport (
    BLOCK_BILATERAL, BLOCK_CONE, BLOCK_FRICTION, BLOCK_WIDE, ROW_NORMAL, Row)

# A row that the tree holds by itself has J = 0 but for rounding: this part of what its bodies alone would have.
cdef double IMPLIED = 1e-14
cdef double PROXIMAL = 1e-7


cdef class GeneralizedRows:
    def __init__(self):
        self._allot(64, 1024)

    def _allot(self, Py_ssize_t rows, Py_ssize_t numbers):
        reaches, values = np.zeros((rows, 2, sizeof(Reach) // 8), np.int64), np.zeros((2, numbers))
        self.kept = reaches, values
        self.capacity, self.room = rows, numbers
        self.reaches = <Reach*>records(reaches)
        self.jacobian, self.response = doubles(values[0]), doubles(values[1])

    def reserve(self):
        """Room for what the last rows asked for."""
        if self.wanted_rows > self.capacity or self.wanted_room > self.room:
            self._allot(max(self.capacity, self.wanted_rows + self.wanted_rows // 2),
                        max(self.room, self.wanted_room + self.wanted_room // 2))

    cdef int begin(self, Py_ssize_t count) noexcept nogil:
        """-> OK or GROW"""
        self.used = 0
        self.wanted_rows = count
        self.wanted_room = 0
        if count > self.capacity:
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
            elif row.block_kind >= BLOCK_WIDE and row.block == 2:
                row.diagonal += rows[i + 1].diagonal + 2.0 * self.coupling(i, i + 1)

    cdef void factor(self, const Row* rows, Py_ssize_t count, double* factors) noexcept nogil:
        """Of bilateral blocks, for both passes; factors as of `_blocks.pxd`, factor_blocks. What they solve is K (1 + PROXIMAL
        on the diagonal) delta = -w: with repeated sweeps the proximal point iteration, which leaves alone what rows of a
        closed loop say that others imply but for the errors of its position."""
        cdef double k[MAX_BLOCK * MAX_BLOCK]
        cdef Py_ssize_t i = 0
        cdef int m, r, c, p
        while i < count:
            m = rows[i].block
            MC_ASSERT(m > 0 and m <= MAX_BLOCK)
            if rows[i].block_kind == BLOCK_BILATERAL:
                for r in range(m):
                    for c in range(r + 1):
                        k[MAX_BLOCK * r + c] = self.coupling(i + r, i + c)
                    k[MAX_BLOCK * r + r] *= 1.0 + PROXIMAL
                for p in range(2):
                    factor_matrix(k, &rows[i], factors + i * FACTOR_STRIDE, p)
            i += m

    # ---- passes ------------------------------------------------------------------------------------------------------

    cdef void warm_start(self, const Row* rows, Py_ssize_t count, double* velocity) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].impulse != 0.0:
                self.apply(i, rows[i].impulse, velocity)

    cdef double sweep(self, Row* rows, Py_ssize_t count, const double* factors, double* velocity, int relaxed,
                      bint rub) noexcept nogil:
        """One sweep over all rows, over contacts' friction only if `rub`. -> the largest correction [m/s, rad/s]"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef double largest = 0.0
        cdef Py_ssize_t i = 0
        cdef int r, m
        while i < count:
            m = rows[i].block
            if rub or (rows[i].block_kind != BLOCK_CONE and rows[i].block_kind != BLOCK_FRICTION):
                for r in range(m):
                    w[r] = row_residual(&rows[i + r], self.rate(i + r, velocity), relaxed)
                block_step(rows, &rows[i], factors + i * FACTOR_STRIDE, relaxed, w, delta)
                for r in range(m):
                    if delta[r] != 0.0:
                        self.apply(i + r, delta[r], velocity)
                        largest = max(largest, fabs(delta[r]) * (rows[i + r].diagonal
                                                                 + rows[i + r].compliance[relaxed]))
            i += m
        return largest

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
