"""Projected Gauss-Seidel on the assembled A = J M^-1 J' (Cottle, Pang and Stone, "The Linear Complementarity Problem",
1992, section 5.2, with the blocks of `_blocks.pxd` in place of single rows).

The velocities of the rows, u = J v, are followed instead of those of the bodies: after a block's impulses change by
delta, u += A[:, block] delta. Order and local solves are those of `_si`, so are the iterates, but for rounding.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc

from mcsim.core._types cimport GROW, MC_ASSERT, OK, Twist
from mcsim.solve._blocks cimport (
    FACTOR_STRIDE, MAX_BLOCK, block_step, row_apply, row_residual, row_velocity,
)
from mcsim.state._row cimport BLOCK_CONE, BLOCK_FRICTION, Row
from mcsim.state._rows cimport row_coupling


cdef void* resized(void* memory, Py_ssize_t count, Py_ssize_t size) except NULL:
    cdef void* grown = realloc(memory, (count if count > 0 else 1) * size)
    if grown == NULL:
        raise MemoryError(f"no room for {count} entries of the Delassus matrix")
    return grown


cdef inline Py_ssize_t roomy(Py_ssize_t need) noexcept nogil:
    """Half as much again, so that a scene that builds up does not ask at every step."""
    return need + need // 2


cdef class Delassus:
    """The sparse matrix and its buffers; they only grow. Scratch: a copy or a pickle of it starts empty."""

    def __dealloc__(self):
        free(self.row_begin)
        free(self.column)
        free(self.value)
        free(self.body_begin)
        free(self.body_row)
        free(self.velocity)
        free(self.start)

    def __reduce__(self):
        return Delassus, ()

    cdef int grow(self) except -1:
        cdef Py_ssize_t n
        if self.row_need > self.row_capacity or self.row_begin == NULL:
            n = roomy(self.row_need)
            self.row_begin = <int64_t*> resized(self.row_begin, n + 1, sizeof(int64_t))
            self.body_row = <int32_t*> resized(self.body_row, 2 * n, sizeof(int32_t))
            self.velocity = <double*> resized(self.velocity, n, sizeof(double))
            self.start = <double*> resized(self.start, n, sizeof(double))
            self.row_capacity = n
        if self.body_need > self.body_capacity or self.body_begin == NULL:
            n = roomy(self.body_need)
            self.body_begin = <int64_t*> resized(self.body_begin, n + 1, sizeof(int64_t))
            self.body_capacity = n
        if self.entry_need > self.entry_capacity:
            n = roomy(self.entry_need)
            self.column = <int32_t*> resized(self.column, n, sizeof(int32_t))
            self.value = <double*> resized(self.value, n, sizeof(double))
            self.entry_capacity = n
        return 0

    cdef int build(self, const Row* rows, Py_ssize_t count, Py_ssize_t body_count,
                   const double* inv_mass) noexcept nogil:
        """A row's columns are the rows on either of its bodies: two ascending lists, merged."""
        cdef Py_ssize_t i, entries
        self.row_count = 0
        self.entry_count = 0
        self.row_need = count
        self.body_need = body_count
        if self.row_begin == NULL or count > self.row_capacity or body_count > self.body_capacity:
            return GROW
        self.list_rows_by_body(rows, count, body_count, inv_mass)
        entries = 0
        for i in range(count):
            self.row_begin[i] = entries
            entries += self.merge_columns(rows + i, entries, inv_mass)
        self.row_begin[count] = entries
        self.entry_need = entries
        if entries > self.entry_capacity:
            return GROW
        self.row_count = count
        self.entry_count = entries
        return OK

    cdef void list_rows_by_body(self, const Row* rows, Py_ssize_t count, Py_ssize_t body_count,
                                const double* inv_mass) noexcept nogil:
        """A counting sort: the rows on body b are body_row[body_begin[b] : body_begin[b + 1]]."""
        cdef int64_t* begin = self.body_begin
        cdef Py_ssize_t i
        cdef int32_t a, b
        for i in range(body_count + 1):
            begin[i] = 0
        for i in range(count):
            a = rows[i].body_a
            b = rows[i].body_b
            MC_ASSERT(a >= -1 and a < body_count and b >= -1 and b < body_count and a != b)
            if a >= 0 and inv_mass[a] > 0.0:
                begin[a] += 1
            if b >= 0 and inv_mass[b] > 0.0:
                begin[b] += 1
        for i in range(body_count):
            begin[i + 1] += begin[i]
        # begin[b] is now the end of b's list; filling from the back brings it to its start.
        for i in range(count - 1, -1, -1):
            a = rows[i].body_a
            b = rows[i].body_b
            if a >= 0 and inv_mass[a] > 0.0:
                begin[a] -= 1
                self.body_row[begin[a]] = <int32_t> i
            if b >= 0 and inv_mass[b] > 0.0:
                begin[b] -= 1
                self.body_row[begin[b]] = <int32_t> i

    cdef Py_ssize_t merge_columns(self, const Row* row, Py_ssize_t entry, const double* inv_mass) noexcept nogil:
        """Write the row's columns from `entry` on as far as there is room; answers their number."""
        cdef int64_t x = 0, x_end = 0, y = 0, y_end = 0
        cdef Py_ssize_t first = entry
        cdef int32_t column
        if row.body_a >= 0 and inv_mass[row.body_a] > 0.0:
            x = self.body_begin[row.body_a]
            x_end = self.body_begin[row.body_a + 1]
        if row.body_b >= 0 and inv_mass[row.body_b] > 0.0:
            y = self.body_begin[row.body_b]
            y_end = self.body_begin[row.body_b + 1]
        while x < x_end or y < y_end:
            if y == y_end or (x < x_end and self.body_row[x] <= self.body_row[y]):
                column = self.body_row[x]
                x += 1
                if y < y_end and self.body_row[y] == column:
                    y += 1
            else:
                column = self.body_row[y]
                y += 1
            if entry < self.entry_capacity:
                self.column[entry] = column
            entry += 1
        return entry - first

    cdef void assemble(self, const Row* rows) noexcept nogil:
        """A_ij = J_max(i,j) M^-1 J_min(i,j)': one formula for both halves makes A symmetric to the bit."""
        cdef Py_ssize_t i, j
        cdef int64_t k
        for i in range(self.row_count):
            for k in range(self.row_begin[i], self.row_begin[i + 1]):
                j = self.column[k]
                self.value[k] = row_coupling(rows + j, rows + i) if j > i else row_coupling(rows + i, rows + j)

    cdef double sweep(self, Row* rows, const double* factors, int relaxed, bint rub) noexcept nogil:
        cdef double* u = self.velocity
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef double change, correction
        cdef double largest = 0.0
        cdef Py_ssize_t i = 0
        cdef int64_t k
        cdef int r, m
        while i < self.row_count:
            m = rows[i].block
            MC_ASSERT(m > 0 and m <= MAX_BLOCK)
            if not rub and (rows[i].block_kind == BLOCK_CONE or rows[i].block_kind == BLOCK_FRICTION):
                i += m
                continue
            for r in range(m):
                w[r] = row_residual(rows + i + r, u[i + r], relaxed)
            block_step(rows, rows + i, factors + i * FACTOR_STRIDE, relaxed, w, delta)
            for r in range(m):
                change = delta[r]
                if change != 0.0:
                    for k in range(self.row_begin[i], self.row_begin[i + 1]):
                        u[self.column[k]] += self.value[k] * change
                    correction = fabs(change) * (rows[i].diagonal + rows[i].compliance[relaxed])
                    if correction > largest:
                        largest = correction
                i += 1
        return largest

    cdef double solve(self, Row* rows, const double* factors, Twist* twist, int relaxed, bint rub,
                      int iterations) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t i
        cdef int _
        for i in range(self.row_count):
            self.velocity[i] = row_velocity(rows + i, twist)
            self.start[i] = rows[i].impulse
        for _ in range(iterations):
            largest = self.sweep(rows, factors, relaxed, rub)
        for i in range(self.row_count):
            if rows[i].impulse != self.start[i]:
                row_apply(rows + i, rows[i].impulse - self.start[i], twist)
        return largest

# ---- for the tests ---------------------------------------------------------------------------------------------------


def py_build(Delassus delassus, const Row[::1] rows, const double[::1] inv_mass):
    """Build the structure, growing as asked; answers how often it had to grow."""
    cdef int grown = 0
    cdef const Row* first = &rows[0] if rows.shape[0] else NULL
    cdef const double* masses = &inv_mass[0] if inv_mass.shape[0] else NULL
    while delassus.build(first, rows.shape[0], inv_mass.shape[0], masses) == GROW:
        delassus.grow()
        grown += 1
    return grown


def py_solve_pgs(Delassus delassus, Row[::1] rows, const double[:, :, ::1] factors, double[:, ::1] twist, int relaxed,
                 int iterations):
    """Assemble and solve; twist is (bodies + 1, 6) and its first row is the world's."""
    cdef double largest = 0.0
    if rows.shape[0]:
        with nogil:
            delassus.assemble(&rows[0])
            largest = delassus.solve(&rows[0], &factors[0, 0, 0], <Twist*> &twist[0, 0] + 1, relaxed, True,
                                   iterations)
    return largest
