"""What rows are over the velocities of trees."""

from libc.stdint cimport int32_t, int64_t
from mcsim.reduced._links cimport Response, TreeKernels
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.state._row cimport Row
from mcsim.wide._lane_types cimport Wide

cdef class TreeResponses:
    cdef TreeMotion motion
    cdef const TreeKernels* kernels      # of the widest level
    cdef int rows                        # how many are found at once
    cdef int places                      # and room for as many of a tree as any kernel takes
    cdef Response* asked                 # (trees, places): those of each tree that wait
    cdef int32_t* waiting                # (trees,): how many
    cdef int32_t* marks                  # (links of the largest tree,), and
    cdef Wide* room                      # room for its numbers
    cdef int32_t* expected               # (trees + 1,): how many will be asked for
    cdef double* inverse                 # of each tree from begin on: H^-1, rows in_eights(size) apart, then q of then
    cdef int64_t* begin                  # (trees,): -1: the tree is too large for it
    cdef int32_t* inverted               # (trees,): whether it is in use
    cdef object kept, kept_inverses

    cdef void expect(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void invert(self, Py_ssize_t tree) noexcept nogil

    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* jacobian, bint opposite,
                  double* force, int32_t* span, double* out, double* diagonal) noexcept nogil
    cdef void find(self) noexcept nogil
    cdef void answer(self, Py_ssize_t tree) noexcept nogil
