"""Sequential impulses on J H^-1 J': the blocks of `_blocks.pxd` over generalized velocities.

A row's impulse changes its blocks by H^-1 J' of it, which a factorization of H gave once per pose; so the sweeps know
neither bodies nor trees (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5, Solving the Equations of
Motion, for A = J H^-1 J'; order and local solves as in `_si.pyx`).
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._dense cimport dot_many, in_eights
from mcsim.core._types cimport GROW, OK
from mcsim.solve._blocks cimport MAX_BLOCK, block_step, row_residual, scalar_step
from mcsim.solve._points cimport KEPT, keep_unfelt, points_of, points_step
from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport (BIASED, BLOCK_BOUNDED, BLOCK_CONE, BLOCK_HELD, RELAXED, ROW_LIMIT, ROW_NORMAL, Row,
                               is_wide)
from mcsim.state._rows cimport is_linear

from mcsim.core.arrays import aligned

# A row that the tree holds by itself has J = 0 but for rounding: this part of what its bodies alone would have.
cdef double IMPLIED = 1e-14

# The same of rows that given velocities have a part in: what can barely give way to those would be driven away at any
# speed.
cdef double NEARLY = 1e-2

# By how much of itself the diagonal of loops is raised, in the biased and the relax pass.
cdef double[2] PROXIMAL
PROXIMAL[0], PROXIMAL[1] = 1e-3, 1e-7

# The compliance of rows that yield, as a part of their diagonal.
cdef double YIELDING = 0.1

# A row that yields has at least this part of the diagonal that its bodies had without their trees: where a tree can
# hardly follow, as a rod with its arm in line, it is not to be hurled.
cdef double LIGHTEST = 0.1

# The part of the most that was asked for at a pose which a solve may leave undone; the same where given velocities have
# a part; and what it always may, in parts of the rows' `push`.
cdef double[2] CONTRARY
CONTRARY[0], CONTRARY[1] = 0.1, 0.01
cdef double CONTRARY_LED = 0.05
cdef double[2] LEAST
LEAST[0], LEAST[1] = 3e-3, 3e-7

cdef enum:
    HOLDS = 3                    # proximal steps of what loops answer to an impact

# A pivot below this part of its row's diagonal marks a row that others imply.
cdef double SMALLEST_PIVOT = 1e-14


cdef inline double free_diagonal(const Row* row) noexcept nogil:
    """J M^-1 J' of its bodies, had they no joints."""
    cdef double sum = 0.0
    cdef int k
    for k in range(12):
        sum += row.jacobian[k] * row.inv_mass_jacobian[k]
    return sum


cdef inline double central_diagonal(const Row* row) noexcept nogil:
    """The same if it went through the centres of both."""
    cdef double sum = 0.0
    cdef int k
    for k in range(3):
        sum += row.jacobian[k] * row.inv_mass_jacobian[k] + row.jacobian[6 + k] * row.inv_mass_jacobian[6 + k]
    return sum


cdef inline double closing_time(const Row* row) noexcept nogil:
    """That of its error, as fast as may be [s]."""
    return fabs(row.error) / row.push


cdef class GeneralizedRows:
    def __init__(self):
        self._allot(64, 1024)
        self._allot_loops(6)
        self.contrary = -1
        self.watch(0)

    def watch(self, Py_ssize_t velocities):
        """Which blocks of so many velocities rows stir."""
        energies, stirred = self.kept_stirred = np.zeros(velocities + 1), np.zeros(velocities + 1, np.int32)
        self.least, self.stirred = doubles(energies), integers(stirred)

    def _allot(self, Py_ssize_t rows, Py_ssize_t numbers):
        numbers = in_eights(numbers)
        reaches, values = np.zeros((rows, 2, sizeof(Reach) // 8), np.int64), aligned(16 * numbers).reshape(2, numbers)
        couplings = np.zeros((rows, KEPT))
        self.kept = reaches, values, couplings
        self.couplings = doubles(couplings)
        self.capacity, self.room = rows, numbers
        self.reaches = <Reach*>records(reaches)
        self.jacobian, self.response = doubles(values[0]), doubles(values[1])

    def _allot_loops(self, Py_ssize_t loops):
        numbers, matrices = np.zeros((7, loops), np.int32), np.zeros((3 * loops + 4, loops))
        self.kept_loops = numbers, matrices
        self.loop_capacity = loops
        self.loop, self.loop_begin = integers(numbers[0]), integers(numbers[1])
        self.loop_part, self.loop_open = integers(numbers[2]), integers(numbers[3])
        self.loop_led, self.loop_strained = integers(numbers[4]), integers(numbers[5])
        self.loop_bond = integers(numbers[6])
        self.loop_change, self.loop_asked = doubles(matrices[0]), doubles(matrices[1])
        self.loop_most[0], self.loop_most[1] = doubles(matrices[2]), doubles(matrices[3])
        self.loop_matrix = doubles(matrices[4:])
        self.loop_factors[0], self.loop_factors[1] = doubles(matrices[4 + loops:]), doubles(matrices[4 + 2 * loops:])

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
            for q in range(2):
                b = &self.reaches[2 * y + q]
                if a.count > 0 and a.count == b.count and a.first == b.first:
                    s += dot_many(self.jacobian + a.begin + a.span[0], self.response + b.begin + a.span[0],
                                  a.span[1] - a.span[0])
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
        """Couplings of cones and of the points of contacts, once diagonals are there. Rows that the tree implies move
        nothing."""
        cdef Py_ssize_t i, k
        cdef Row* row
        cdef int points
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
            elif row.kind == ROW_NORMAL:
                points = points_of(rows, i, count)
                for k in range(1, points):
                    self.couplings[KEPT * i + k - 1] = self.coupling(i, i + k)
                if points == MANIFOLD_POINTS:
                    keep_unfelt(row, self.couplings + KEPT * i)
            elif is_wide(row):
                row.diagonal += rows[i + 1].diagonal + 2.0 * self.coupling(i, i + 1)

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
                least = LIGHTEST * free_diagonal(row)
                if row.diagonal < least:
                    row.bias[BIASED] *= sqrt(row.diagonal / least)

    cdef void factor(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil:
        """K = J H^-1 J' + compliance of all rows that close loops, as L D L', for both passes. What is solved is K with
        its diagonal raised: with repeated solves the proximal point iteration, which leaves alone what rows of a closed
        loop say that others imply but for the errors of its position. Raised by e, no solve answers a residual by more
        than 1 / (2 sqrt e) of it."""
        cdef Py_ssize_t i, j, end, n = 0
        cdef int32_t bond
        cdef double s
        cdef int p
        for i in range(count):
            if not closes(&rows[i]):
                continue
            bond = self.bond_of(&rows[i])
            j = n
            while j > 0 and self.loop_bond[j - 1] > bond:
                self.loop[j], self.loop_bond[j] = self.loop[j - 1], self.loop_bond[j - 1]
                j -= 1
            self.loop[j], self.loop_bond[j] = <int32_t>i, bond
            n += 1
        self.loop_count = n
        for i in range(n):
            self.loop_begin[i] = <int32_t>i
            for j in range(i, -1, -1):
                s = self.loop_matrix[i * n + j] = self.whole_coupling(rows, self.loop[i], self.loop[j])
                if s != 0.0:
                    self.loop_begin[i] = <int32_t>j
        self.find_parts(rows, rate)
        i = 0
        while i < n:
            end = i + 1
            while end < n and self.loop_part[end] == i:
                end += 1
            for p in range(2):
                self.factor_loops(rows, p, PROXIMAL[0 if self.loop_led[i] else p], i, end)
            i = end

    cdef int32_t bond_of(self, const Row* row) noexcept nogil:
        cdef int32_t found = max(self.bonds[row.body_a], self.bonds[row.body_b])
        return max(found, max(self.bonds[row[1].body_a], self.bonds[row[1].body_b])) if is_wide(row) else found

    cdef void span_of(self, Py_ssize_t bond, Py_ssize_t* begin, Py_ssize_t* end) noexcept nogil:
        """Which of the loops are a bond's."""
        begin[0] = 0
        while begin[0] < self.loop_count and self.loop_bond[begin[0]] != bond:
            begin[0] += 1
        end[0] = begin[0]
        while end[0] < self.loop_count and self.loop_bond[end[0]] == bond:
            end[0] += 1

    cdef void find_parts(self, Row* rows, double rate) noexcept nogil:
        """Rows that are coupled hang together. They are biased by `rate` of their errors; where that asks one for more than
        its `push` they yield, and close so much slower, in the direction of their errors, that none is."""
        cdef Py_ssize_t i, k, first, end = self.loop_count
        cdef double needed = 0.0              # to close them all [s]
        cdef bint is_led = False
        cdef Row* row
        first = end
        for i in range(end - 1, -1, -1):
            row = &rows[self.loop[i]]
            first = min(first, self.loop_begin[i])
            if row.stabilized:
                needed = max(needed, closing_time(row))
            is_led = is_led or self.led(rows, self.loop[i]) or (is_wide(row) and self.led(rows, self.loop[i] + 1))
            if first < i:
                continue
            for k in range(i, end):
                self.loop_part[k] = <int32_t>i
                self.loop_led[k] = is_led
                self.loop_open[k] = 0
                self.loop_most[0][k] = self.loop_most[1][k] = 0.0
            if rate * needed > 1.0:
                for k in range(i, end):
                    row = &rows[self.loop[k]]
                    if row.stabilized:
                        row.bias[BIASED] -= (rate - 1.0 / needed) * row.error
                self.open_part(rows, BIASED, i, end)
            end = first = i
            needed = 0.0
            is_led = False

    cdef bint led(self, const Row* rows, Py_ssize_t row) noexcept nogil:
        """Whether velocities that are given have a part in a row: J is not 0 where H^-1 J' is, or time moves it."""
        cdef const Reach* reach
        cdef int side, k
        for side in range(2 if self.leading else 0):
            reach = &self.reaches[2 * row + side]
            for k in range(reach.span[0], reach.span[1]):
                if self.jacobian[reach.begin + k] != 0.0 and self.response[reach.begin + k] == 0.0:
                    return True
        return rows[row].rate != 0.0

    cdef void open_part(self, Row* rows, int relaxed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Rows yield, those of a joint in metres all alike and those in radians too: else where they come to rest would
        depend on their axes."""
        cdef Py_ssize_t i, k
        cdef double sum[2]
        cdef int count[2]
        cdef bint linear
        cdef int32_t source
        self.contrary = rows[self.loop[begin]].source
        while begin < end:
            source = rows[self.loop[begin]].source
            sum[0] = sum[1] = 0.0
            count[0] = count[1] = 0
            i = begin
            while i < end and rows[self.loop[i]].source == source:
                linear = is_linear(&rows[self.loop[i]])
                sum[linear] += max(rows[self.loop[i]].diagonal, LIGHTEST * free_diagonal(&rows[self.loop[i]]))
                count[linear] += 1
                i += 1
            for k in range(begin, i):
                linear = is_linear(&rows[self.loop[k]])
                self.loop_open[k] |= 1 << relaxed
                rows[self.loop[k]].compliance[relaxed] = YIELDING * sum[linear] / count[linear]
            begin = i

    cdef void factor_loops(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                           Py_ssize_t end) noexcept nogil:
        """Rows [first, end) of K, its diagonal raised by a part, as L D L'. Before loop_begin of a row K has zeros, and so
        has L."""
        cdef Py_ssize_t i, j, k, n = self.loop_count
        cdef const int32_t* begin = self.loop_begin
        cdef double* f = self.loop_factors[relaxed]
        cdef double s, diagonal
        for i in range(first, end):
            for j in range(begin[i], i + 1):
                s = self.loop_matrix[i * n + j]
                if i == j:
                    s = s * (1.0 + proximal) + rows[self.loop[i]].compliance[relaxed]
                diagonal = s
                for k in range(max(begin[i], begin[j]), j):
                    s -= f[i * n + k] * f[k * n + k] * f[j * n + k]
                if i == j:
                    f[i * n + i] = s if s > SMALLEST_PIVOT * diagonal else 0.0
                else:
                    f[i * n + j] = s / f[j * n + j] if f[j * n + j] > 0.0 else 0.0

    cdef void invert(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """loop_change of rows [first, end): residuals to impulses, -K^-1 times."""
        cdef Py_ssize_t i, k, n = self.loop_count
        cdef const int32_t* begin = self.loop_begin
        cdef const double* f = self.loop_factors[relaxed]
        cdef double* x = self.loop_change
        for i in range(first, end):
            x[i] = -x[i]
            for k in range(begin[i], i):
                x[i] -= f[i * n + k] * x[k]
        for i in range(end - 1, first - 1, -1):
            if not f[i * n + i] > 0.0:
                x[i] = 0.0
                continue
            x[i] /= f[i * n + i]
            for k in range(i + 1, end):
                if begin[k] <= i:
                    x[i] -= f[k * n + i] * x[k]

    cdef void solve_part(self, Row* rows, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """The same. Where by how much the diagonal is raised leaves more than a part undone, rows contradict each other,
        and yield to what they bear from now on at this pose."""
        cdef double* x = self.loop_change
        cdef double* kept = self.loop_asked
        cdef double* most = &self.loop_most[relaxed][first]
        cdef double left = 0.0
        cdef Py_ssize_t i
        cdef Row* row
        for i in range(first, end):
            kept[i] = x[i]
            most[0] = max(most[0], fabs(x[i]) / rows[self.loop[i]].push)
        self.invert(relaxed, first, end)
        if self.loop_open[first] & 1 << relaxed:
            return
        for i in range(first, end):
            row = &rows[self.loop[i]]
            left = max(left, PROXIMAL[0 if self.loop_led[first] else relaxed] * row.diagonal * fabs(x[i]) / row.push)
        if left > (CONTRARY_LED if self.loop_led[first] else CONTRARY[relaxed]) * most[0] and left > LEAST[relaxed]:
            self.open_part(rows, relaxed, first, end)
            for i in range(first, end):
                row = &rows[self.loop[i]]
                row.bias[relaxed] -= row.compliance[relaxed] * row.impulse
                x[i] = kept[i]
            self.factor_loops(rows, relaxed, 0.0, first, end)
            self.invert(relaxed, first, end)

    cdef double solve_loops(self, Row* rows, double* velocity, int relaxed, Py_ssize_t begin,
                            Py_ssize_t end) noexcept nogil:
        """Impulses -K^-1 loop_change into the rows and the velocities, of loops [begin, end). -> the largest correction
        [m/s, rad/s]"""
        cdef Py_ssize_t i, first = begin
        cdef double* x = self.loop_change
        cdef double largest = 0.0
        cdef Row* row
        for i in range(begin + 1, end + 1):
            if i == end or self.loop_part[i] != first:
                self.solve_part(rows, relaxed, first, i)
                first = i
        for i in range(begin, end):
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

    cdef double solve(self, Row* rows, double* velocity, int relaxed) noexcept nogil:
        """All loops. -> the largest correction [m/s, rad/s]"""
        cdef Py_ssize_t i, k
        for i in range(self.loop_count):
            k = self.loop[i]
            self.loop_change[i] = row_residual(&rows[k], self.rate(k, velocity), relaxed)
            if is_wide(&rows[k]):
                self.loop_change[i] += row_residual(&rows[k + 1], self.rate(k + 1, velocity), relaxed)
        return self.solve_loops(rows, velocity, relaxed, 0, self.loop_count)

    cdef double sweep(self, Row* rows, Py_ssize_t contacts, Py_ssize_t count, double* velocity, int relaxed, bint rub,
                      int left) noexcept nogil:
        """All loops at once, then one sweep over the other rows, over contacts' friction only if `rub`. Those of contacts,
        [contacts, count), between what moves go level by level, in the order that so many sweeps to come ask for: the last
        one as they stand, the one before it all the other way round, the ones before those likewise, but each level the
        other way round. -> the largest correction [m/s, rad/s]"""
        cdef double largest = self.solve(rows, velocity, relaxed)
        cdef bint down = left & 1
        cdef bint back = down != ((left & 2) != 0)       # within a level
        cdef Py_ssize_t i
        cdef Py_ssize_t begin = contacts
        cdef Py_ssize_t end = count
        cdef Py_ssize_t still = count
        if left & 3 == 0:
            return max(largest, self.sweep_rows(rows, 0, count, velocity, relaxed, rub))
        while still > contacts and self.level[rows[still - 1].source] == 0:
            still -= 1
        largest = max(largest, self.sweep_rows(rows, 0, contacts, velocity, relaxed, rub))
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
                self.stir(i, INFINITY)
            elif rows[i].block_kind != BLOCK_HELD and (rub or not rubs(&rows[i])):
                largest = max(largest, self.solve_block(rows, i, velocity, relaxed))
            i += rows[i].block
        return largest

    cdef void stir(self, Py_ssize_t row, double energy) noexcept nogil:
        """A row has changed velocities by this energy: impulse times change of rate, whether it is in metres or
        radians [J]."""
        cdef const Reach* reach = &self.reaches[2 * row]
        cdef int side
        for side in range(2):
            if reach[side].count > 0 and energy > self.least[reach[side].first]:
                self.stirred[reach[side].first] = 1

    cdef double solve_row(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil:
        """solve_block of a row alone within its bounds, as most are."""
        cdef const Reach* reach = &self.reaches[2 * i]
        cdef Row* row = &rows[i]
        cdef double delta, rate
        delta = scalar_step(row, row.lower, row.upper, row_residual(row, row_rate(reach, self.jacobian, velocity), relaxed),
                            relaxed)
        if delta == 0.0:
            return 0.0
        row_act(reach, self.response, delta, velocity)
        rate = fabs(delta) * (row.diagonal + row.compliance[relaxed])
        self.stir(i, fabs(delta) * rate)
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
        cdef Row* row
        cdef int i
        for i in range(count):
            row = &rows[first + i]
            u[i] = before[i] = row_residual(row, row_rate(&self.reaches[2 * (first + i)], self.jacobian, velocity), relaxed)
            x[i] = row.impulse
        self.point_products(rows, first, count, relaxed, a)
        points_step(count, a, self.couplings + KEPT * first, u, x, change)
        for i in range(count):
            if change[i] != 0.0:
                rows[first + i].impulse = x[i] + change[i]
                row_act(&self.reaches[2 * (first + i)], self.response, change[i], velocity)
                largest = max(largest, fabs(u[i] - before[i]))
                energy += change[i] * (u[i] - before[i])
        self.stir(first, energy)
        return largest

    cdef double solve_block(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil:
        """The block that begins at row i. -> the largest correction [m/s, rad/s]"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef double largest = 0.0
        cdef double energy = 0.0
        cdef double rate
        cdef int r, m = rows[i].block
        for r in range(m):
            w[r] = row_residual(&rows[i + r], row_rate(&self.reaches[2 * (i + r)], self.jacobian, velocity), relaxed)
        block_step(rows, &rows[i], NULL, relaxed, w, delta)
        for r in range(m):
            if delta[r] != 0.0:
                row_act(&self.reaches[2 * (i + r)], self.response, delta[r], velocity)
                rate = fabs(delta[r]) * (rows[i + r].diagonal + rows[i + r].compliance[relaxed])
                energy += fabs(delta[r]) * rate
                largest = max(largest, rate)
        if rubs(&rows[i]) and m > 1:                     # x' K x, for tangents may point anywhere
            energy += 2.0 * rows[i].coupling * delta[0] * delta[1]
        self.stir(i, energy)
        return largest

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

    cdef double worst(self, const Row* rows, Py_ssize_t bond) noexcept nogil:
        """How long it takes to close the rows that close a bond's loops [s]."""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.loop_count):
            if self.loop_bond[i] == bond and rows[self.loop[i]].stabilized and not self.loop_open[i]:
                largest = max(largest, closing_time(&rows[self.loop[i]]))
        return largest

    cdef void close(self, Row* rows, double* velocity, double h, Py_ssize_t bond) noexcept nogil:
        """Velocities that bring the errors of a bond's rows, as they are written for the end of a drift of h, to 0: J times
        their change = -C / h, J and K those of the last refresh."""
        cdef Py_ssize_t i, begin, end
        cdef const Row* row
        self.span_of(bond, &begin, &end)
        for i in range(begin, end):
            row = &rows[self.loop[i]]
            self.loop_change[i] = row.error / h if row.stabilized and not self.loop_open[i] else 0.0
        self.solve_loops(rows, velocity, BIASED, begin, end)

    cdef void hold_loops(self, const Row* rows, double* velocity, Py_ssize_t bond) noexcept nogil:
        """J velocity = 0 in all rows that close a bond's loops, by impulses that leave no trace but there: proximal steps,
        each of which leaves PROXIMAL of what it is given."""
        cdef Py_ssize_t i, k, first, begin, end
        cdef int _
        self.span_of(bond, &begin, &end)
        for _ in range(HOLDS):
            for i in range(begin, end):
                k = self.loop[i]
                self.loop_change[i] = self.rate(k, velocity) + (self.rate(k + 1, velocity) if is_wide(&rows[k]) else 0.0)
            first = begin
            for i in range(begin + 1, end + 1):
                if i == end or self.loop_part[i] != first:
                    self.invert(RELAXED, first, i)
                    first = i
            for i in range(begin, end):
                k = self.loop[i]
                self.apply(k, self.loop_change[i], velocity)
                if is_wide(&rows[k]):
                    self.apply(k + 1, self.loop_change[i], velocity)

    # ---- strain ------------------------------------------------------------------------------------------------------

    cdef bint note_strain(self, const Row* rows, double most, double widest) noexcept nogil:
        """A substep begins. -> whether loops yield, or it takes longer than `most` [s] to close them; if longer than
        `widest`, they are contrary."""
        cdef const Row* row
        cdef bint found = False
        cdef double error
        cdef Py_ssize_t i
        for i in range(self.loop_count):
            row = &rows[self.loop[i]]
            error = fabs(row.error) if row.stabilized else 0.0
            self.loop_strained[i] = self.loop_open[i] != 0 or error > most * row.push
            if error > widest * row.push:
                self.contrary = row.source
            found = found or self.loop_strained[i] != 0
        return found

    cdef bint strained(self, Py_ssize_t begin, Py_ssize_t* end) noexcept nogil:
        """Whether the part that begins there yields or did as the substep began, and given velocities have no part in it.
        end: where it ends."""
        cdef bint found = False
        end[0] = begin
        while end[0] < self.loop_count and self.loop_part[end[0]] == begin:
            found = found or self.loop_strained[end[0]] != 0 or self.loop_open[end[0]] != 0
            end[0] += 1
        return found and not self.loop_led[begin]
