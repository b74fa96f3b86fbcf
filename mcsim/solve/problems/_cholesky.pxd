"""Cholesky factors of a sparse symmetric positive definite matrix in blocks."""

cimport cython
from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    /* c (m, n) -= a (m, k) b' (k, n), all column by column. */
    static inline void mc_product(double* restrict c, const double* restrict a, const double* restrict b, int m, int n,
                                  int k)
    {
        for (int j = 0; j < n; j++) {
            double* restrict to = c + j * m;
            for (int p = 0; p < k; p++) {
                const double f = b[p * n + j];
                const double* restrict from = a + p * m;
                for (int i = 0; i < m; i++) to[i] -= f * from[i];
            }
        }
    }
    static void mc_block_product(double* restrict c, const double* restrict a, const double* restrict b, int m, int n,
                                 int k)
    {
        if (m == 6 && n == 6 && k == 6) mc_product(c, a, b, 6, 6, 6);
        else if (m == 3 && n == 3 && k == 3) mc_product(c, a, b, 3, 3, 3);
        else mc_product(c, a, b, m, n, k);
    }
    /* x (m,) -= a (m, n) y (n,), column by column. */
    static inline void mc_away(double* restrict x, const double* restrict a, const double* restrict y, int m, int n)
    {
        for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) x[i] -= a[j * m + i] * y[j];
    }
    static inline void mc_block_away(double* restrict x, const double* restrict a, const double* restrict y, int m,
                                     int n)
    {
        if (m == 6 && n == 6) mc_away(x, a, y, 6, 6);
        else mc_away(x, a, y, m, n);
    }
    /* y (n,) -= a' (n, m) x (m,) */
    static inline void mc_gather(double* restrict y, const double* restrict a, const double* restrict x, int m, int n)
    {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int i = 0; i < m; i++) sum += a[j * m + i] * x[i];
            y[j] -= sum;
        }
    }
    static inline void mc_block_gather(double* restrict y, const double* restrict a, const double* restrict x, int m,
                                       int n)
    {
        if (m == 6 && n == 6) mc_gather(y, a, x, 6, 6);
        else mc_gather(y, a, x, m, n);
    }
    """
    void product "mc_block_product"(double* c, const double* a, const double* b, int m, int n, int k) noexcept nogil
    void away "mc_block_away"(double* x, const double* a, const double* y, int m, int n) noexcept nogil
    void gather "mc_block_gather"(double* y, const double* a, const double* x, int m, int n) noexcept nogil


@cython.final
cdef class Cholesky:
    cdef object kept                    # the arrays behind the pointers
    cdef readonly Py_ssize_t count      # nodes
    cdef readonly Py_ssize_t length     # numbers of the blocks
    cdef readonly Py_ssize_t skipped    # pivots that were not positive, at the last factorization
    cdef const int32_t* order           # (nodes,) the node at each place of the elimination
    cdef const int32_t* place           # (nodes,) the inverse of it
    cdef const int32_t* size            # (nodes,) numbers of the node at a place
    cdef const int64_t* begin           # (nodes,) where they begin in a vector
    cdef const int64_t* column          # (nodes + 1,) of a column's entries below the diagonal
    cdef const int32_t* row             # their places, ascending
    cdef const int64_t* diagonal        # (nodes,) where a block begins in the values, each column by column
    cdef const int64_t* below
    cdef double* value
    cdef double* inverse                # of the diagonal of L, in the order of a vector

    cdef void clear(self) noexcept nogil
    cdef double* block(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef bint upright(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void pivot(self, Py_ssize_t k) noexcept nogil
    cdef void factor(self) noexcept nogil
    cdef void solve(self, double* x) noexcept nogil
