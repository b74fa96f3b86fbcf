"""K of the rows that close loops and gears."""

from libc.stdint cimport int32_t
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._loop_fronts cimport LoopFronts
from mcsim.state._row cimport Row

cdef class LoopMatrix:
    cdef object kept_rows, kept_matrices, kept_bonds
    cdef GeneralizedRows generalized
    cdef LoopFronts fronts               # of large bonds; None: there are none
    cdef bint sparse                     # whether those go by it in this step
    cdef Py_ssize_t capacity, count, wanted
    cdef Py_ssize_t dense                # how many of them come first, which go by `matrix`
    cdef Py_ssize_t dense_capacity, wanted_dense
    cdef const int32_t* bonds            # (bodies,)
    cdef int32_t* row                    # (count,) which rows they are, bond by bond; so are the others
    cdef int32_t* bond                   # of each its bond
    cdef int32_t* own                    # which of the rows of `fronts` it is; -1: none
    cdef int32_t* coupled                # the first of them that each is coupled with
    cdef double* matrix                  # (dense, dense) K
    cdef double* factors[2]              # (dense, dense) L D L' of it, for both passes
    cdef double* change                  # residuals in, impulses out

    cdef int fit(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t own_row(self, const Row* rows, Py_ssize_t i) noexcept nogil
    cdef void find(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void list(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef int32_t bond_of(self, const Row* row) noexcept nogil
    cdef void span_of(self, Py_ssize_t bond, Py_ssize_t* begin, Py_ssize_t* end) noexcept nogil
    cdef double whole_coupling(self, const Row* rows, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef void factor_part(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil
    cdef void soften_part(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil
    cdef void invert_sparse(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void invert(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef double rate_of(self, const Row* rows, Py_ssize_t i, const double* velocity) noexcept nogil
    cdef void look(self, Py_ssize_t begin, Py_ssize_t end, const double* x) noexcept nogil
    cdef bint begins_piece(self, Py_ssize_t i, Py_ssize_t begin) noexcept nogil
    cdef void act_all(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end, double* x) noexcept nogil
    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, double* x) noexcept nogil
