"""Gauss-Seidel on the assembled Delassus matrix A = J M^-1 J' (CSR over rows, without compliance).

Per step, when the set of rows changed:     while delassus.build(rows, count, bodies, inv_mass) == GROW: delassus.grow()
Per substep, after the rows were refreshed: delassus.assemble(rows)
Per pass, with the warm start in the twists: delassus.solve(rows, factors, twist, relaxed, rub, iterations)

Only grow() needs the GIL, allocates or raises. inv_mass says which bodies couple rows: those above 0.
"""

from libc.stdint cimport int32_t, int64_t

from mcsim.core._types cimport Twist
from mcsim.state._row cimport Row

cdef class Delassus:
    cdef readonly Py_ssize_t row_count
    cdef readonly Py_ssize_t entry_count     # stored entries of A
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t body_capacity
    cdef Py_ssize_t entry_capacity
    cdef Py_ssize_t row_need                 # what the last build asked for
    cdef Py_ssize_t body_need
    cdef Py_ssize_t entry_need
    cdef int64_t* row_begin                  # (rows + 1,) into column and value
    cdef int32_t* column                     # (entries,) ascending in each row
    cdef double* value                       # (entries,)
    cdef int64_t* body_begin                 # (bodies + 1,) into body_row
    cdef int32_t* body_row                   # (2 rows,) the rows on each body, ascending
    cdef double* velocity                    # (rows,) u = J v, kept up during a solve
    cdef double* start                       # (rows,) impulses at the start of a solve

    # Which rows share a body of finite mass. OK, or GROW: call grow() and build again.
    cdef int build(self, const Row* rows, Py_ssize_t count, Py_ssize_t body_count,
                   const double* inv_mass) noexcept nogil
    cdef int grow(self) except -1

    cdef void list_rows_by_body(self, const Row* rows, Py_ssize_t count, Py_ssize_t body_count,
                                const double* inv_mass) noexcept nogil
    cdef Py_ssize_t merge_columns(self, const Row* row, Py_ssize_t entry, const double* inv_mass) noexcept nogil

    # The values of A for the rows as they are now.
    cdef void assemble(self, const Row* rows) noexcept nogil

    # `iterations` sweeps, over contacts' friction only if `rub`, then v += M^-1 J' (change of impulses). Answers as
    # sweep_si does, for the last sweep.
    cdef double solve(self, Row* rows, const double* factors, Twist* twist, int relaxed, bint rub,
                      int iterations) noexcept nogil
    cdef double sweep(self, Row* rows, const double* factors, int relaxed, bint rub) noexcept nogil
