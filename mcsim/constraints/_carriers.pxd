"""What carries bodies."""

from libc.stdint cimport int32_t
from mcsim.constraints._stillness cimport Stillness
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold

cdef double REACH

cdef bint carries(const Manifold* m) noexcept nogil

cdef class Carriers:
    cdef Stillness stillness
    cdef object kept
    cdef int32_t* carried                # the sleepers whose carrier moves, ascending
    cdef Py_ssize_t carried_count
    cdef int32_t* hops                   # over how many contacts and joints a body has what carries it, FAR: it has none
    cdef Vec3* offered                   # whose velocity is that

    cdef void carry(self, Bodies* bodies, double h) noexcept nogil
    cdef bint may_be_carried(self, const Bodies* bodies) noexcept nogil
    cdef bint find_carriers(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                            Py_ssize_t count, int32_t* room) noexcept nogil
    cdef bint hand_on(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef bint offer(self, const Bodies* bodies, int32_t i, int32_t other) noexcept nogil
