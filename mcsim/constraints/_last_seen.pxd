"""Where bodies were last seen, to notice what was moved."""

from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._closing_up cimport Rows

cdef class LastSeen:
    cdef object kept
    cdef Vec3* position
    cdef Quat* orientation

    cdef edit(self, Rows rows, fresh)
    cdef bint displaced(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef void keep(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
