"""What rows are over the velocities of trees."""

from libc.stdint cimport int32_t
from mcsim.reduced._links cimport Response, TreeKernels
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.wide._lanes cimport Wide

cdef class TreeResponses:
    cdef TreeMotion motion
    cdef const TreeKernels* kernels      # of the widest level
    cdef int rows                        # how many are found at once
    cdef Response* asked                 # (trees, rows): those of each tree that wait
    cdef int32_t* waiting                # (trees,): how many
    cdef int32_t* marks                  # (links of the largest tree,), and
    cdef Wide* room                      # room for its numbers
    cdef object kept

    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* jacobian, bint opposite,
                  double* force, int32_t* span, double* out, double* diagonal) noexcept nogil
    cdef void find(self) noexcept nogil
    cdef void answer(self, Py_ssize_t tree) noexcept nogil
