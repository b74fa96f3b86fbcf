"""LU factors of a sparse matrix in blocks whose pattern is symmetric."""

cimport cython
from libc.stdint cimport int32_t

from mcsim.solve.problems._cholesky cimport Cholesky

cdef extern from *:
    """
    /* to (m, n), column by column, += a' b; a (s, m), b (s, n) row by row. */
    static void mc_add_product(double* restrict to, const double* restrict a, const double* restrict b, int s, int m,
                               int n)
    {
        for (int r = 0; r < s; r++) for (int j = 0; j < n; j++) {
            const double g = b[r * n + j];
            for (int i = 0; i < m; i++) to[j * m + i] += a[r * m + i] * g;
        }
    }
    static void mc_block_add(double* restrict to, const double* restrict a, const double* restrict b, int s, int m,
                             int n)
    {
        if (s == 3 && m == 6 && n == 6) mc_add_product(to, a, b, 3, 6, 6);
        else mc_add_product(to, a, b, s, m, n);
    }
    /* c (s, n) = k b, all row by row; turned: k' b. */
    static inline void mc_three(double* restrict c, const double* restrict k, const double* restrict b, int n, int turned)
    {
        for (int r = 0; r < 3; r++) {
            const double f = turned ? k[r] : k[3 * r];
            const double g = turned ? k[3 + r] : k[3 * r + 1];
            const double h = turned ? k[6 + r] : k[3 * r + 2];
            for (int j = 0; j < n; j++) c[r * n + j] = (f * b[j] + g * b[n + j]) + h * b[2 * n + j];
        }
    }
    static void mc_times(double* restrict c, const double* restrict k, const double* restrict b, int s, int n,
                         int turned)
    {
        if (s == 3 && n == 6) mc_three(c, k, b, 6, turned);
        else if (s == 3) mc_three(c, k, b, n, turned);
        else for (int j = 0; j < n; j++) c[j] = k[0] * b[j];
    }
    """
    void add_product "mc_block_add"(double* to, const double* a, const double* b, int s, int m, int n) noexcept nogil
    void times "mc_times"(double* c, const double* k, const double* b, int s, int n, int turned) noexcept nogil


@cython.final
cdef class Lu:
    cdef Cholesky plan                  # the pattern, and L in its values, with the diagonal's U
    cdef object kept
    cdef double least
    cdef double* upper                  # U', placed as L is
    cdef int32_t* exchanged             # the row that each row of a diagonal block was exchanged with
    cdef readonly Py_ssize_t skipped    # pivots that were zero, at the last factorization

    cdef void clear(self) noexcept nogil
    cdef void add_one(self) noexcept nogil
    cdef void put(self, Py_ssize_t i, Py_ssize_t j, const double* block) noexcept nogil
    cdef void pivot(self, Py_ssize_t k) noexcept nogil
    cdef void factor(self) noexcept nogil
    cdef void divide(self, Py_ssize_t k, double* low, double* up, int m) noexcept nogil
    cdef void solve(self, double* x) noexcept nogil


cdef int invert(double* a, double* out, int n, double least) noexcept nogil
