"""Bounded rows of trees in generalized coordinates, solved exactly with loops closed."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._held cimport HeldRows
from mcsim.state._row cimport Row

cdef class HeldTrees(HeldRows):
    cdef object kept_here
    cdef GeneralizedRows generalized
    cdef int32_t* group                  # (bodies,) of each its tree, -1: none; the world's before the first
    cdef double* left                    # (velocities,) as each tree's were left when its rows were solved last
    cdef int32_t* blocks                 # (trees, 2)
    cdef double largest                  # correction of the last hold() [m/s, rad/s]
    cdef bint relaxed                    # its pass

    cdef void find_rates(self, const Row* rows, const int32_t* row, Py_ssize_t count, const Twist* velocity,
                         double* rates) noexcept nogil
    cdef void fill(self, Py_ssize_t g, Row* rows) noexcept nogil
    cdef void prepare(self, Row* rows, Py_ssize_t count, const int32_t* tied, int sweeps) noexcept nogil
    cdef void hold_tree(self, Py_ssize_t g, Row* rows, double* velocity, bint relaxed) noexcept nogil
    cdef Py_ssize_t hold(self, Row* rows, double* velocity, bint relaxed, bint fresh) noexcept nogil
