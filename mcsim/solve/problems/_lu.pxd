"""LU factors of a sparse matrix in blocks whose pattern is symmetric."""

cimport cython

from mcsim.solve.problems._cholesky cimport Cholesky

@cython.final
cdef class Lu:
    cdef Cholesky plan                  # the pattern, and L with the diagonal's inverses in its values
    cdef object kept
    cdef double* upper                  # U', placed as L is
    cdef double* work                   # a block
    cdef double* panel                  # likewise
    cdef readonly Py_ssize_t skipped    # pivots that were zero, at the last factorization

    cdef void clear(self) noexcept nogil
    cdef void factor(self) noexcept nogil
    cdef void times_inverse(self, double* panel, const double* inverse, int m, int n) noexcept nogil
    cdef void solve(self, double* x) noexcept nogil


cdef int invert(double* a, double* out, int n) noexcept nogil
