"""Which bodies, joints and contacts take part in steps."""

from libc.stdint cimport int8_t, int32_t
from mcsim.collide._collider cimport Collider
from mcsim.collide._manifold_store cimport ManifoldStore
from mcsim.constraints._islands cimport Islands
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._velocity_space cimport VelocitySpace

cdef class Sleepers:
    cdef StepContext context
    cdef StateArrays arrays
    cdef Collider collider
    cdef ManifoldStore store
    cdef Islands islands
    cdef ConstraintSets sets
    cdef VelocitySpace space
    cdef object kept
    cdef int32_t* awake                 # joints that do not sleep, ascending

    cdef void follow(self) noexcept nogil
    cdef void follow_edit(self, bint slept) noexcept nogil
    cdef void choose(self, const int8_t* asleep) noexcept nogil
    cdef bint notice(self) noexcept nogil
    cdef void tell_moves(self) noexcept nogil
    cdef bint wake_touched(self) noexcept nogil
    cdef void drop_contacts(self) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef bint has_room(self) noexcept nogil
