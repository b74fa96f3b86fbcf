"""The velocities of a world that its rows act on: twists of bodies, or those of the coordinates of trees."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._state_arrays cimport StateArrays

cdef class VelocitySpace:
    cdef StateArrays arrays
    cdef StepContext context
    cdef PlainRows plain
    cdef object wrenches
    cdef Twist* wrench                  # forces on the bodies [N, N m]

    cdef bint wake_driven(self) noexcept nogil
    cdef void begin_step(self) noexcept nogil
    cdef Py_ssize_t with_rows(self, int32_t* joints, Py_ssize_t count) noexcept nogil
    cdef void rest(self) noexcept nogil
    cdef void end_step(self) noexcept nogil
    cdef void undo(self) noexcept nogil
    cdef const int8_t* jointed(self) noexcept nogil
    cdef void take_poses(self, const int8_t* chosen) noexcept nogil
