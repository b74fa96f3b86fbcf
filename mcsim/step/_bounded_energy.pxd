"""The energy of trees on which nothing acts but weights, limits and friction of joints."""

from libc.stdint cimport int32_t
from mcsim.reduced._motion cimport TreeMotion
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows

cdef class BoundedEnergy:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef object kept
    cdef double* before                  # (trees,) as the substep began [J]
    cdef int32_t* bounded                # (trees,): whether that is all

    cdef bint find(self, const double* forces, const int32_t* tied) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void mark(self, int32_t body, bint bounded) noexcept nogil
    cdef bint is_bound(self, const Row* row) noexcept nogil
