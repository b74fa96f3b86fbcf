"""Cholesky factors of a sparse symmetric positive definite matrix in blocks."""

cimport cython
from libc.stdint cimport int32_t, int64_t

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
