"""What springs of joints really move."""

from libc.stdint cimport int32_t, int8_t

from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart, ArticulationState
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row


cdef class MovedBySprings(ArticulationPart):
    cdef JointSolves solves
    cdef object kept
    cdef int8_t* asked                  # of each joint: one of its springs seems fast
    cdef int8_t* weighed                # of each articulation: its bodies' P is known

    cdef void find(self) noexcept nogil
    cdef bint seems_fast(self, Joint* joint) noexcept nogil
    cdef bint ask(self, int32_t body) noexcept nogil
    cdef double answer(self, int32_t body, const Row* row, int side) noexcept nogil
    cdef void take(self, Joint* joint) noexcept nogil
