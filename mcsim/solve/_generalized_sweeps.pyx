"""Sweeps over rows of generalized velocities, sequential impulses on J H^-1 J': the order of rows, and the local solves of
`_blocks.pxd` and `_points.pxd`, as in `_si.pyx`. Rows that close loops are passed by: they are solved all at once
(`_loop_rows.pyx`).

    couple       per pose, once the rows' J, H^-1 J' and diagonals are there
    sweep        over all rows; solve_points, solve_block: of one block alone

Only reserve() allocates.
"""

from libc.math cimport INFINITY, fabs

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve._blocks cimport MAX_BLOCK, block_step, row_residual, scalar_step
from mcsim.solve._generalized cimport Reach, closes, row_act, row_rate
from mcsim.solve._points cimport KEPT, keep_unfelt, points_of, points_step
from mcsim.state._row cimport BLOCK_BOUNDED, BLOCK_HELD, ROW_NORMAL


cdef class GeneralizedSweeps:
    """generalized: what the rows are over velocities."""

    def __init__(self, GeneralizedRows generalized not None):
        self.generalized = generalized
        self.reserve(0)

    def reserve(self, Py_ssize_t rows):
        """Room for so many rows."""
        if self.couplings == NULL or rows > self.capacity:
            self.kept = np.zeros((rows + 1, KEPT))
            self.couplings, self.capacity = doubles(self.kept), rows

    cdef void couple(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Couplings of the points of contacts, whose rows [begin, end) are."""
        cdef Py_ssize_t i, k
        cdef int points
        for i in range(begin, end):
            if rows[i].kind != ROW_NORMAL:
                continue
            points = points_of(rows, i, end)
            for k in range(1, points):
                self.couplings[KEPT * i + k - 1] = self.generalized.coupling(i, i + k)
            if points == MANIFOLD_POINTS:
                keep_unfelt(&rows[i], self.couplings + KEPT * i)

    cdef double sweep(self, Row* rows, Py_ssize_t contacts, Py_ssize_t count, double* velocity, int relaxed, bint rub,
                      int left) noexcept nogil:
        """One over all rows but those that close loops, over contacts' friction only if `rub`. Those of contacts,
        [contacts, count), between what moves go level by level, in the order that so many sweeps to come ask for: the last
        one as they stand, the one before it all the other way round, the ones before those likewise, but each level the
        other way round. -> the largest correction [m/s, rad/s]"""
        cdef double largest
        cdef bint down = left & 1
        cdef bint back = down != ((left & 2) != 0)       # within a level
        cdef Py_ssize_t i
        cdef Py_ssize_t begin = contacts
        cdef Py_ssize_t end = count
        cdef Py_ssize_t still = count
        if left & 3 == 0:
            return self.sweep_rows(rows, 0, count, velocity, relaxed, rub)
        while still > contacts and self.level[rows[still - 1].source] == 0:
            still -= 1
        largest = self.sweep_rows(rows, 0, contacts, velocity, relaxed, rub)
        end = still
        while begin < end:
            if down:
                i = end - 1
                while i > begin and self.level[rows[i - 1].source] == self.level[rows[end - 1].source]:
                    i -= 1
                largest = max(largest, self.sweep_level(rows, i, end, velocity, relaxed, rub, back))
                end = i
            else:
                i = begin + 1
                while i < end and self.level[rows[i].source] == self.level[rows[begin].source]:
                    i += 1
                largest = max(largest, self.sweep_level(rows, begin, i, velocity, relaxed, rub, back))
                begin = i
        return max(largest, self.sweep_rows(rows, still, count, velocity, relaxed, rub))

    cdef double sweep_level(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed, bint rub,
                            bint back) noexcept nogil:
        """Contacts of [begin, end), manifold by manifold from the last one `back` to the first."""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        if not back:
            return self.sweep_rows(rows, begin, end, velocity, relaxed, rub)
        while end > begin:
            i = self.manifold_of(rows, begin, end)
            largest = max(largest, self.sweep_rows(rows, i, end, velocity, relaxed, rub))
            end = i
        return largest

    cdef Py_ssize_t manifold_of(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """-> where the rows of the manifold begin that end before `end`"""
        cdef Py_ssize_t i = end - 1
        while i > begin and rows[i - 1].source == rows[i].source:
            i -= 1
        return i

    cdef double sweep_rows(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed,
                           bint rub) noexcept nogil:
        """Those of [begin, end), in their order."""
        cdef double largest = 0.0
        cdef Py_ssize_t i = begin
        cdef int n
        while i < end:
            n = points_of(rows, i, end)
            if n > 1:
                largest = max(largest, self.solve_points(rows, i, n, velocity, relaxed))
                i += n
                continue
            if rows[i].block_kind == BLOCK_BOUNDED:
                largest = max(largest, self.solve_row(rows, i, velocity, relaxed))
            elif closes(&rows[i]):
                self.generalized.stir(i, INFINITY)
            elif rows[i].block_kind != BLOCK_HELD and (rub or not rubs(&rows[i])):
                largest = max(largest, self.solve_block(rows, i, velocity, relaxed))
            i += rows[i].block
        return largest

    cdef double solve_row(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil:
        """solve_block of a row alone within its bounds, as most are."""
        cdef const Reach* reach = &self.generalized.reaches[2 * i]
        cdef Row* row = &rows[i]
        cdef double delta, rate
        rate = row_rate(reach, self.generalized.jacobian, velocity)
        delta = scalar_step(row, row.lower, row.upper, row_residual(row, rate, relaxed), relaxed)
        if delta == 0.0:
            return 0.0
        row_act(reach, self.generalized.response, delta, velocity)
        rate = fabs(delta) * (row.diagonal + row.compliance[relaxed])
        self.generalized.stir(i, fabs(delta) * rate)
        return rate

    cdef void point_products(self, const Row* rows, Py_ssize_t first, int count, int relaxed,
                             double (*a)[MANIFOLD_POINTS]) noexcept nogil:
        """J H^-1 J' + compliance of the normals of a manifold; a diagonal of 0: the point does nothing. (count, count)"""
        cdef const Row* row
        cdef int i, k
        for i in range(count):
            row = &rows[first + i]
            a[i][i] = row.diagonal + row.compliance[relaxed] if row.mass[relaxed] > 0.0 else 0.0
            for k in range(i):
                a[i][k] = a[k][i] = self.couplings[KEPT * (first + k) + i - k - 1]

    cdef double solve_points(self, Row* rows, Py_ssize_t first, int count, double* velocity, int relaxed) noexcept nogil:
        """solve_block of the normals of a manifold."""
        cdef double a[MANIFOLD_POINTS][MANIFOLD_POINTS]
        cdef double u[MANIFOLD_POINTS]
        cdef double x[MANIFOLD_POINTS]
        cdef double change[MANIFOLD_POINTS]
        cdef double before[MANIFOLD_POINTS]
        cdef double largest = 0.0
        cdef double energy = 0.0
        cdef double rate, moved
        cdef Row* row
        cdef int i
        for i in range(count):
            row = &rows[first + i]
            rate = row_rate(&self.generalized.reaches[2 * (first + i)], self.generalized.jacobian, velocity)
            u[i] = before[i] = row_residual(row, rate, relaxed)
            x[i] = row.impulse
        self.point_products(rows, first, count, relaxed, a)
        points_step(count, a, self.couplings + KEPT * first, u, x, change)
        for i in range(count):
            if change[i] != 0.0:
                rows[first + i].impulse = x[i] + change[i]
                row_act(&self.generalized.reaches[2 * (first + i)], self.generalized.response, change[i], velocity)
                moved = fabs(u[i] - before[i])           # 0 where changes cancel but for rounding: sweeps are not done then
                largest = max(largest, moved if moved > 0.0 else fabs(change[i]) * a[i][i])
                energy += change[i] * (u[i] - before[i])
        self.generalized.stir(first, energy)
        return largest

    cdef double solve_block(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil:
        """The block that begins at row i. -> the largest correction [m/s, rad/s]"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef double largest
        cdef double energy = 0.0
        cdef double rate
        cdef int r, m = rows[i].block
        for r in range(m):
            rate = row_rate(&self.generalized.reaches[2 * (i + r)], self.generalized.jacobian, velocity)
            w[r] = row_residual(&rows[i + r], rate, relaxed)
        largest = rows[i].diagonal * block_step(rows, &rows[i], NULL, relaxed, w, delta)
        for r in range(m):
            if delta[r] != 0.0:
                row_act(&self.generalized.reaches[2 * (i + r)], self.generalized.response, delta[r], velocity)
                rate = fabs(delta[r]) * (rows[i + r].diagonal + rows[i + r].compliance[relaxed])
                energy += fabs(delta[r]) * rate
                largest = max(largest, rate)
        if rubs(&rows[i]) and m > 1:                     # x' K x, for tangents may point anywhere
            energy += 2.0 * rows[i].coupling * delta[0] * delta[1]
        self.generalized.stir(i, energy)
        return largest
