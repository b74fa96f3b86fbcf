"""Which rows close loops and gears, and K = J H^-1 J' of them: one dense matrix, factored within its envelope, and of large
bonds a sparse system of all joints (`_loop_fronts.pyx`). A bond is what loops tie to each other.

    fit                      once rows are listed
    find, factor_part        per pose, once the rows' J, H^-1 J' and diagonals are there
    look, rate_of            what rows see of velocities
    invert, act_all          what is to be done about `change`, and what that does

Only reserve() allocates.
"""

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._types cimport GROW, OK
from mcsim.solve._generalized cimport IMPLIED, closes
from mcsim.state._row cimport is_wide


cdef class LoopMatrix:
    """generalized: what the rows are over velocities; bonds: (bodies and one,) int32, what of them loops tie to each other,
    each with one number, else -1; the world's before the first. fronts: of the rows that are too many for a dense K."""

    def __init__(self, GeneralizedRows generalized not None, bonds not None, LoopFronts fronts):
        self.generalized, self.kept_bonds, self.fronts = generalized, bonds, fronts
        self.bonds = integers(bonds) + 1
        self._allot(6)
        self._allot_dense(6)

    def _allot(self, Py_ssize_t capacity):
        numbers, change = self.kept_rows = np.zeros((4, capacity), np.int32), np.zeros(capacity)
        self.capacity, self.change = capacity, doubles(change)
        self.row, self.bond = integers(numbers[0]), integers(numbers[1])
        self.own, self.coupled = integers(numbers[2]), integers(numbers[3])

    def _allot_dense(self, Py_ssize_t capacity):
        self.kept_matrices = matrices = np.zeros((3, capacity * capacity + 1))
        self.dense_capacity, self.matrix = capacity, doubles(matrices[0])
        self.factors[0], self.factors[1] = doubles(matrices[1]), doubles(matrices[2])

    def reserve(self):
        """Room for what the last rows asked for."""
        if self.wanted > self.capacity:
            self._allot(self.wanted + self.wanted // 2)
        if self.wanted_dense > self.dense_capacity:
            self._allot_dense(self.wanted_dense + self.wanted_dense // 2)

    cdef int fit(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Also whether K is sparse of large bonds: not where something not planned is tied to one. -> OK or GROW"""
        cdef Py_ssize_t i, own, in_fronts = 0
        self.wanted = 0
        self.sparse = self.fronts is not None
        for i in range(count):
            if not closes(&rows[i]):
                continue
            self.wanted += 1
            if not self.sparse:
                continue
            own = self.fronts.own_row(rows, i)
            in_fronts += own >= 0
            self.sparse = own >= 0 or not (self.fronts.touches(&rows[i]) or (
                is_wide(&rows[i]) and self.fronts.touches(&rows[i + 1])))
        self.wanted_dense = self.wanted - in_fronts if self.sparse else self.wanted
        return OK if self.wanted <= self.capacity and self.wanted_dense <= self.dense_capacity else GROW

    cdef Py_ssize_t own_row(self, const Row* rows, Py_ssize_t i) noexcept nogil:
        """Which of the rows of `fronts` a row is; -1: none."""
        return self.fronts.own_row(rows, i) if self.sparse else -1

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void find(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Which of the rows [0, count) they are, bond by bond, and K of them: first those of which it is dense, of the
        others all of a bond are taken to be coupled."""
        cdef Py_ssize_t i, j, n
        cdef double s
        self.list(rows, count)
        n = self.dense
        for i in range(n):
            self.coupled[i] = <int32_t>i
            for j in range(i, -1, -1):
                s = self.matrix[i * n + j] = self.whole_coupling(rows, self.row[i], self.row[j])
                if s != 0.0:
                    self.coupled[i] = <int32_t>j
        if n == self.count:
            return
        self.fronts.begin_pose()
        for i in range(n, self.count):
            self.coupled[i] = self.coupled[i - 1] if i > n and self.bond[i - 1] == self.bond[i] else <int32_t>i
            self.fronts.take_row(self.own[i], &rows[self.row[i]])
        self.fronts.assemble()

    cdef void list(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Which they are."""
        cdef Py_ssize_t i, j, n = 0
        cdef int32_t bond, own
        self.dense = 0
        for i in range(count):
            if not closes(&rows[i]):
                continue
            bond, own = self.bond_of(&rows[i]), <int32_t>self.own_row(rows, i)
            j = n
            while j > 0 and ((self.own[j - 1] >= 0 and own < 0)
                             or ((self.own[j - 1] >= 0) == (own >= 0) and self.bond[j - 1] > bond)):
                self.row[j], self.bond[j], self.own[j] = self.row[j - 1], self.bond[j - 1], self.own[j - 1]
                j -= 1
            self.row[j], self.bond[j], self.own[j] = <int32_t>i, bond, own
            self.dense += own < 0
            n += 1
        self.count = n

    cdef int32_t bond_of(self, const Row* row) noexcept nogil:
        cdef int32_t found = max(self.bonds[row.body_a], self.bonds[row.body_b])
        return max(found, max(self.bonds[row[1].body_a], self.bonds[row[1].body_b])) if is_wide(row) else found

    cdef void span_of(self, Py_ssize_t bond, Py_ssize_t* begin, Py_ssize_t* end) noexcept nogil:
        """Which of the loops are a bond's."""
        begin[0] = 0
        while begin[0] < self.count and self.bond[begin[0]] != bond:
            begin[0] += 1
        end[0] = begin[0]
        while end[0] < self.count and self.bond[end[0]] == bond:
            end[0] += 1

    cdef double whole_coupling(self, const Row* rows, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """J_x H^-1 J_y' of rows with both their records, if they are wide."""
        cdef double s = self.generalized.coupling(x, y)
        if is_wide(&rows[x]):
            s += self.generalized.coupling(x + 1, y)
        if is_wide(&rows[y]):
            s += self.generalized.coupling(x, y + 1)
            if is_wide(&rows[x]):
                s += self.generalized.coupling(x + 1, y + 1)
        return s

    cdef void factor_part(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil:
        """Rows [first, end) of K, its diagonal raised by a part, as L D L'. Before `coupled` of a row K has zeros, and so
        has L."""
        cdef Py_ssize_t i, j, k, n = self.dense
        cdef const int32_t* coupled = self.coupled
        cdef double* f = self.factors[relaxed]
        cdef double s, diagonal
        if first >= n:
            self.soften_part(rows, relaxed, proximal, first, end)
            return
        for i in range(first, end):
            for j in range(coupled[i], i + 1):
                s = self.matrix[i * n + j]
                if i == j:
                    s = s * (1.0 + proximal) + rows[self.row[i]].compliance[relaxed]
                diagonal = s
                for k in range(max(coupled[i], coupled[j]), j):
                    s -= f[i * n + k] * f[k * n + k] * f[j * n + k]
                if i == j:
                    f[i * n + i] = s if s > IMPLIED * diagonal else 0.0
                else:
                    f[i * n + j] = s / f[j * n + j] if f[j * n + j] > 0.0 else 0.0

    cdef void soften_part(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil:
        """The same of rows that go by `fronts`, which factors once it is to solve."""
        cdef Py_ssize_t i
        for i in range(first, end):
            self.fronts.soften(self.own[i], relaxed,
                               proximal * rows[self.row[i]].diagonal + rows[self.row[i]].compliance[relaxed])

    # ---- solves ------------------------------------------------------------------------------------------------------

    cdef void invert(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """`change` of rows [first, end): residuals to impulses, -K^-1 times."""
        cdef Py_ssize_t i, k, n = self.dense
        cdef const int32_t* coupled = self.coupled
        cdef const double* f = self.factors[relaxed]
        cdef double* x = self.change
        if first >= n:
            self.invert_sparse(relaxed, first, end)
            return
        for i in range(first, end):
            x[i] = -x[i]
            for k in range(coupled[i], i):
                x[i] -= f[i * n + k] * x[k]
        for i in range(end - 1, first - 1, -1):
            if not f[i * n + i] > 0.0:
                x[i] = 0.0
                continue
            x[i] /= f[i * n + i]
            for k in range(i + 1, end):
                if coupled[k] <= i:
                    x[i] -= f[k * n + i] * x[k]

    cdef void invert_sparse(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """As `invert`."""
        cdef Py_ssize_t i, piece = self.fronts.piece[self.own[first]]
        self.fronts.begin_solve(piece)
        for i in range(first, end):
            self.fronts.x[self.fronts.number[self.own[i]]] = -self.change[i]
        self.fronts.solve(piece, relaxed)
        for i in range(first, end):
            self.change[i] = self.fronts.x[self.fronts.number[self.own[i]]]

    # ---- velocities --------------------------------------------------------------------------------------------------

    cdef void look(self, Py_ssize_t begin, Py_ssize_t end, const double* x) noexcept nogil:
        """Rates of loops [begin, end) are to be those of x."""
        cdef Py_ssize_t i
        for i in range(max(begin, self.dense), end):
            if self.begins_piece(i, begin):
                self.fronts.look(self.fronts.piece[self.own[i]], x)

    cdef bint begins_piece(self, Py_ssize_t i, Py_ssize_t begin) noexcept nogil:
        """Whether loop i is the first from `begin` on of a piece of `fronts`."""
        return self.own[i] >= 0 and (i == begin or self.own[i - 1] < 0 or (
            self.fronts.piece[self.own[i - 1]] != self.fronts.piece[self.own[i]]))

    cdef double rate_of(self, const Row* rows, Py_ssize_t i, const double* velocity) noexcept nogil:
        """After look: J times velocities of loop i, of both its records if it is wide."""
        cdef Py_ssize_t k = self.row[i]
        if self.own[i] >= 0:
            return self.fronts.rate(self.own[i])
        return self.generalized.rate(k, velocity) + (
            self.generalized.rate(k + 1, velocity) if is_wide(&rows[k]) else 0.0)

    cdef void act_all(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end, double* x) noexcept nogil:
        """Impulses `change` of loops [begin, end)."""
        cdef Py_ssize_t i
        for i in range(begin, end):
            if self.own[i] >= 0:
                self.fronts.push(self.own[i], self.change[i])
            else:
                self.act(rows, i, self.change[i], x)
        for i in range(max(begin, self.dense), end):
            if self.begins_piece(i, begin):
                self.fronts.pass_on(self.fronts.piece[self.own[i]], x)

    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, double* x) noexcept nogil:
        """Loop i, both its records if it is wide."""
        self.generalized.apply(self.row[i], impulse, x)
        if is_wide(&rows[self.row[i]]):
            self.generalized.apply(self.row[i] + 1, impulse, x)
