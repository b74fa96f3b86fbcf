"""What is too fast for its size is held at what it would pass through."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.collide._collider cimport Collider
from mcsim.collide._solid cimport Solid

# A ball in a shape on its way through one substep.
ctypedef struct Ball:
    Vec3 start                   # world [m]
    Vec3 end
    Vec3 middle                  # of the shape at the start
    double radius                # [m]

# What it meets there.
ctypedef struct Stop:
    double part                  # of its way that is free; 1: all of it
    Vec3 normal                  # from what it meets
    double too_far               # how far it must be set back along the normal [m]

cdef class TunnellingGuard:
    cdef Collider collider
    cdef Noted noted
    cdef object kept             # the arrays behind the pointers
    cdef Vec3* position          # of the bodies at the substep's start
    cdef Quat* orientation
    cdef int8_t* set_back        # of bodies, after end() of a step that is watched: 1 where it was set back
    cdef readonly bint watching  # in this step something moves farther than it is thick
    cdef readonly int held       # how often in this step a body was set back, at most once a substep
    cdef bint among_moving       # and it may be held at something in the tree of what moves

    cdef void watch(self, const Bodies* bodies, double dt) noexcept nogil
    cdef bint moving_walls(self, const Bodies* bodies) noexcept nogil
    cdef bint may_pass(self, int32_t i) noexcept nogil
    cdef void begin(self, const Bodies* bodies) noexcept nogil
    cdef void end(self, Bodies* bodies, const int8_t* joined) noexcept nogil
    cdef bint follow(self, int32_t i, Bodies* bodies) noexcept nogil
    cdef Stop first_stop(self, int32_t i, Ball* ball, const Bodies* bodies) noexcept nogil
    cdef Stop first_stop_as_it_is(self, int32_t i, Ball* ball, const Bodies* bodies) noexcept nogil
    cdef Vec3 seen_from(self, int32_t body, Vec3 p, const Bodies* bodies) noexcept nogil
    cdef void stop_at(self, int32_t i, int32_t j, Ball* ball, const Bodies* bodies, Stop* first) noexcept nogil
