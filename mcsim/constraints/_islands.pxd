"""Islands of bodies that touch or are joined, and which of them sleep."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._layout cimport Bodies, Joint, Manifold, Resistance

cdef class Islands:
    cdef double patience                 # [s]
    cdef bint watching                   # some body may sleep
    cdef readonly object touch           # (n,) near, of each body
    cdef readonly Py_ssize_t sleepers
    cdef object kept
    cdef double* size                    # of each body: its farthest point from the centre [m]
    cdef int8_t* asleep
    cdef int32_t* parent
    cdef int32_t* state
    cdef double* lively                  # kinetic measure of an island, by its root
    cdef double* usual
    cdef double* speeds                  # of bodies in the last step [m/s]
    cdef double* slow                    # below which they are still; 0 = never
    cdef double* near                    # bodies whose surfaces are nearer than this may touch [m]
    cdef int32_t* moving
    cdef Vec3* position                  # of what did not move, where it was last seen
    cdef Quat* orientation

    cdef bint active(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef int32_t root(self, int32_t i) noexcept nogil
    cdef void unite(self, const Bodies* bodies, int32_t a, int32_t b, bint contact) noexcept nogil
    cdef void unite_joint(self, const Bodies* bodies, const Joint* joints, const Joint* joint) noexcept nogil
    cdef void drive(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef bint displaced(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef double pace(self, const Bodies* bodies, int32_t i, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil
    cdef bint measure(self, const Bodies* bodies, const Vec3* position, const Quat* orientation,
                      double dt) noexcept nogil
    cdef void list_moving(self, Bodies* bodies) noexcept nogil
    cdef void keep_sight(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef bint wake(self, Bodies* bodies, int64_t island) noexcept nogil
    cdef bint wake_near(self, Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef void look(self, const Bodies* bodies) noexcept nogil
    cdef void look_at_moving(self, const Bodies* bodies) noexcept nogil
    cdef bint notice(self, Bodies* bodies) noexcept nogil
    cdef bint wake_touched(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count, double ahead) noexcept nogil
    cdef Py_ssize_t drop_sleeping(self, const Bodies* bodies, Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef bint settle(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                     const Resistance* resistances, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil
