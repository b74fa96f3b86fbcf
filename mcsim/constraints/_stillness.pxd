"""How still bodies are."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._closing_up cimport Rows

cdef double NOTHING

cdef class Stillness:
    cdef object kept
    cdef double patience                 # [s]
    cdef bint watching                   # some body may sleep
    cdef double* size                    # of each body: its farthest point from the centre [m]
    cdef double* slow                    # below which they are still; 0 = never
    cdef double* speeds                  # of bodies in the last step [m/s]

    cdef edit(self, Rows rows, fresh, speeds)
    cdef bint alike(self, Vec3 u, Vec3 v, int32_t i) noexcept nogil
    cdef bint active(self, const Bodies* bodies, int32_t other, int32_t i) noexcept nogil
    cdef double pace(self, const Bodies* bodies, int32_t i, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil
    cdef bint measure(self, const Bodies* bodies, const Vec3* position, const Quat* orientation,
                      double dt) noexcept nogil
