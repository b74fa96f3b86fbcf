"""What rows do to the velocities of trees."""

from libc.stdint cimport int32_t
from mcsim.reduced._links cimport Response, TreeKernels
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.wide._lanes cimport Wide

cdef class TreeResponses:
    cdef TreeMotion motion
    cdef const TreeKernels* kernels      # of the widest level
    cdef Py_ssize_t capacity, count
    cdef Response* asked                 # (capacity,)
    cdef int32_t* following              # of each the next of its tree; -1: none
    cdef int32_t* head                   # (trees,) the first and the last of each tree
    cdef int32_t* tail
    cdef int32_t* bearing                # (links of the largest tree,) and
    cdef Wide* room                      # room for its numbers
    cdef object kept, kept_rows

    cdef void begin(self) noexcept nogil
    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* force, double* out) noexcept nogil
    cdef void find(self) noexcept nogil
