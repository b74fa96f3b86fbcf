"""Islands of bodies as a forest."""

from libc.stdint cimport int8_t, int32_t
from mcsim.constraints._stillness cimport Stillness
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold, Resistance

cdef class IslandForest:
    cdef Stillness stillness
    cdef object kept
    cdef int32_t* parent
    cdef int32_t* state                  # at the roots
    cdef int8_t* tied                    # it has joints
    # it stays awake in an island beside something restless: it touches that, or has joints
    cdef int8_t* beside
    cdef double* lively                  # kinetic measure of an island, by its root
    cdef double* usual
    cdef double long_rest                # for how long a body rests that sleeps beside something restless [s]

    cdef int32_t root(self, int32_t i) noexcept nogil
    cdef void unite(self, int32_t a, int32_t b) noexcept nogil
    cdef void rest_together(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef void touch_each_other(self, const Bodies* bodies, int32_t a, int32_t b, bint conveying) noexcept nogil
    cdef void neighbour(self, int32_t i, int32_t other) noexcept nogil
    cdef void tie(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef void tie_joint(self, const Bodies* bodies, const Joint* joints, const Joint* joint) noexcept nogil
    cdef void find_islands(self, const Bodies* bodies, const Joint* joints, Py_ssize_t joint_count,
                           const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count) noexcept nogil
    cdef bint may_sleep(self, const Bodies* bodies, int32_t i) noexcept nogil
    cdef void list_tied(self, const Bodies* bodies, const Joint* joints, Py_ssize_t count) noexcept nogil
