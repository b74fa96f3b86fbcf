"""Rows over generalized velocities: J and H^-1 J' of each on the blocks that it addresses, what it sees of velocities and
does to them, and how rows are coupled.

A row's impulse changes its blocks by H^-1 J' of it, which a factorization of H gave once per pose; so whoever solves rows
knows neither bodies nor trees (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5, Solving the Equations
of Motion, for A = J H^-1 J').
"""

from libc.math cimport sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._dense cimport dot_many, in_eights
from mcsim.core._types cimport GROW, OK
from mcsim.state._row cimport BIASED, BLOCK_CONE, ROW_JOINT, ROW_LIMIT, ROW_NORMAL, Row, is_wide

from mcsim.core.arrays import aligned

# A row that the tree holds by itself has J = 0 but for rounding: this part of what its bodies alone would have. Of what
# a row has, a pivot below this part marks one that the rows before it imply.
cdef double IMPLIED = 1e-14

# The same of rows that given velocities have a part in: what can barely give way to those would be driven away at any
# speed.
cdef double NEARLY = 1e-2


cdef inline double central_diagonal(const Row* row) noexcept nogil:
    """J M^-1 J' of its bodies, had they no joints and went it through the centres of both."""
    cdef double sum = 0.0
    cdef int k
    for k in range(3):
        sum += row.jacobian[k] * row.inv_mass_jacobian[k] + row.jacobian[6 + k] * row.inv_mass_jacobian[6 + k]
    return sum


cdef class GeneralizedRows:
    def __init__(self):
        self._allot(64, 1024)
        self.watch(0)

    def watch(self, Py_ssize_t velocities):
        """Which blocks of so many velocities rows stir."""
        energies, stirred = self.kept_stirred = np.zeros(velocities + 1), np.zeros(velocities + 1, np.int32)
        self.least, self.stirred = doubles(energies), integers(stirred)

    def _allot(self, Py_ssize_t rows, Py_ssize_t numbers):
        numbers = in_eights(numbers)
        reaches, values = np.zeros((rows, 2, sizeof(Reach) // 8), np.int64), aligned(16 * numbers).reshape(2, numbers)
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
        """So many rows. -> OK or GROW"""
        self.used = 0
        self.wanted_rows = count
        self.wanted_room = 0
        if count > self.capacity:
            return GROW
        memset(self.reaches, 0, 2 * count * sizeof(Reach))
        return OK

    cdef int32_t* open(self, Py_ssize_t row, int side, int32_t first, int32_t count, double** jacobian,
                       double** response) noexcept nogil:
        """Room for a row's J and H^-1 J' on the block of `count` velocities from `first`. -> where from and up to
        where J is not 0, (2,) to be filled in; NULL: there is no room"""
        cdef Reach* reach = &self.reaches[2 * row + side]
        self.wanted_room += in_eights(count)
        if self.wanted_room > self.room:
            return NULL
        reach.begin = self.used
        reach.first = first
        reach.count = count
        jacobian[0] = self.jacobian + self.used
        response[0] = self.response + self.used
        self.used += in_eights(count)
        return reach.span

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
                memset(to_j + k, 0, reach.count * sizeof(double))
                memcpy(to_j + k + reach.span[0], self.jacobian + reach.begin + reach.span[0],
                       (reach.span[1] - reach.span[0]) * sizeof(double))
                memcpy(to_y + k, self.response + reach.begin, reach.count * sizeof(double))
                k += reach.count
        return tuple(csr_array((values, columns, begin), shape=(rows, width)) for values in (j, y))

    # ---- a row and velocities ----------------------------------------------------------------------------------------

    cdef double rate(self, Py_ssize_t row, const double* velocity) noexcept nogil:
        """J qd"""
        return row_rate(&self.reaches[2 * row], self.jacobian, velocity)

    cdef double side_rate(self, Py_ssize_t row, int side, const double* velocity) noexcept nogil:
        """J qd of one side alone."""
        return reach_rate(&self.reaches[2 * row + side], self.jacobian, velocity)

    cdef double side_diagonal(self, Py_ssize_t row, int side) noexcept nogil:
        """J H^-1 J' of one side alone."""
        return reach_rate(&self.reaches[2 * row + side], self.jacobian, self.response + self.reaches[2 * row + side].begin
                          - self.reaches[2 * row + side].first)

    cdef void apply(self, Py_ssize_t row, double impulse, double* velocity) noexcept nogil:
        """qd += H^-1 J' impulse"""
        row_act(&self.reaches[2 * row], self.response, impulse, velocity)

    cdef void apply_side(self, Py_ssize_t row, int side, double impulse, double* velocity) noexcept nogil:
        """The same of one side alone."""
        reach_act(&self.reaches[2 * row + side], self.response, impulse, velocity)

    cdef void add_force(self, Py_ssize_t row, double force, double* forces) noexcept nogil:
        """forces += J' force"""
        cdef const Reach* reach
        cdef int side, k
        for side in range(2):
            reach = &self.reaches[2 * row + side]
            for k in range(reach.span[0], reach.span[1]):
                forces[reach.first + k] += self.jacobian[reach.begin + k] * force

    cdef double coupling(self, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """J_x H^-1 J_y'"""
        cdef const Reach* a
        cdef const Reach* b
        cdef double s = 0.0
        cdef int p, q
        for p in range(2):
            a = &self.reaches[2 * x + p]
            for q in range(2 if a.count > 0 else 0):
                b = &self.reaches[2 * y + q]
                if a.count == b.count and a.first == b.first:
                    s += dot_many(self.jacobian + a.begin + a.span[0], self.response + b.begin + a.span[0],
                                  a.span[1] - a.span[0])
        return s

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void finish(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Couplings of cones and the diagonals of wide rows, once those of their records are there. Rows that the tree
        implies move nothing."""
        cdef Py_ssize_t i
        cdef Row* row
        for i in range(count):
            row = &rows[i]
            if not row.diagonal > (NEARLY if self.led(rows, i) else IMPLIED) * free_diagonal(row):
                row.diagonal = 0.0
                memset(&self.reaches[2 * i], 0, 2 * sizeof(Reach))
        for i in range(count):
            row = &rows[i]
            if row.block_kind == BLOCK_CONE and row.block >= 2:
                row.coupling = self.coupling(i, i + 1)
                if row.block == 3:
                    row[1].coupling = self.coupling(i + 1, i + 2)
                    row[2].coupling = self.coupling(i, i + 2)
        self.finish_loops(rows, count)

    cdef void finish_loops(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """The diagonals of wide rows alone."""
        cdef Py_ssize_t i
        for i in range(count):
            if is_wide(&rows[i]):
                rows[i].diagonal += rows[i + 1].diagonal + 2.0 * self.coupling(i, i + 1)

    cdef void ease(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Limits and contacts that are to be pushed apart are pushed no faster than with the energy that their bodies alone
        would need: where a tree can hardly follow, J being all but 0, any speed would ask for another one without bound.
        To hold what closes them asks for no more energy than is there."""
        cdef Py_ssize_t i
        cdef Row* row
        cdef double least
        for i in range(count):
            row = &rows[i]
            if (row.kind == ROW_LIMIT or row.kind == ROW_NORMAL) and row.bias[BIASED] < 0.0:
                least = least_diagonal(row)
                if row.diagonal < least:
                    row.bias[BIASED] *= sqrt(row.diagonal / least)

    cdef bint led(self, const Row* rows, Py_ssize_t row) noexcept nogil:
        """Whether velocities that are given have a part in a row: J is not 0 where H^-1 J' is, or time moves it."""
        cdef const Reach* reach
        cdef int side, k
        for side in range(2 if self.leading else 0):
            reach = &self.reaches[2 * row + side]
            for k in range(reach.span[0], reach.span[1]):
                if self.jacobian[reach.begin + k] != 0.0 and self.response[reach.begin + k] == 0.0:
                    return True
        return rows[row].kind == ROW_JOINT and rows[row].rate != 0.0

    # ---- what rows have done -----------------------------------------------------------------------------------------

    cdef void stir(self, Py_ssize_t row, double energy) noexcept nogil:
        """A row has changed velocities by this energy: impulse times change of rate, whether it is in metres or
        radians [J]."""
        cdef const Reach* reach = &self.reaches[2 * row]
        cdef int side
        for side in range(2):
            if reach[side].count > 0 and energy > self.least[reach[side].first]:
                self.stirred[reach[side].first] = 1

    cdef void find_loads(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end, double* loads) noexcept nogil:
        """What manifolds bear, as the change of velocity that it makes [m/s]. With x the impulses of one's points and A = J
        H^-1 J' of their rows, x' A x / sum x is that of the place where all of it goes through: by J H^-1 J' as the springs
        are, so a hand that is pressed beside its middle is no softer for its load. But no less than the two bodies would
        have by themselves, by which World counts: what joints bear up buckles no later for that. loads: by sources; of
        rows [begin, end)."""
        cdef Py_ssize_t i = begin, k, first
        cdef double impulse, work
        while i < end:
            if rows[i].kind != ROW_NORMAL:
                i += 1
                continue
            first = i
            impulse = work = 0.0
            while i < end and rows[i].kind == ROW_NORMAL and rows[i].source == rows[first].source:
                if rows[i].impulse > 0.0:
                    impulse += rows[i].impulse
                    work += rows[i].impulse * rows[i].impulse * rows[i].diagonal
                    for k in range(first, i):
                        if rows[k].impulse > 0.0:
                            work += 2.0 * rows[i].impulse * rows[k].impulse * self.coupling(i, k)
                i += 1
            if impulse > 0.0:
                loads[rows[first].source] = max(work / impulse, impulse * central_diagonal(&rows[first]))
