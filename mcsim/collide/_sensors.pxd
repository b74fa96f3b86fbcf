"""Sensors as the pipeline sees them."""

from libc.stdint cimport int32_t, uint64_t
from mcsim.core._touched cimport Touched
from mcsim.state._bodies cimport Bodies
from mcsim.collide._records cimport EventLog
from mcsim.collide._queries cimport Finder

cdef class Sensors(Finder):
    cdef int32_t* sensors                # shapes, ascending
    cdef int32_t sensor_count
    cdef uint64_t* inside                # sensor << 32 | shape, sorted: of the last step
    cdef Py_ssize_t inside_count
    cdef uint64_t* now                   # of this one
    cdef uint64_t* through               # what has passed through in this step
    cdef uint64_t* scratch
    cdef Py_ssize_t capacity             # of each of the four
    cdef EventLog log

    cdef int reserve(self, Py_ssize_t count) noexcept with gil
    cdef Py_ssize_t look_inside(self, const Bodies* bodies, Touched* moved) noexcept nogil
    cdef Py_ssize_t look_between(self, const Bodies* bodies, const Bodies* before, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t add_passing(self, int32_t i, const Bodies* bodies, const Bodies* before, Py_ssize_t count,
                                Py_ssize_t passed) noexcept nogil
    cdef bint passes(self, int32_t sensor, int32_t i, const Bodies* bodies, const Bodies* before) noexcept nogil
    cdef void note(self, uint64_t key, int began) noexcept nogil
    cdef void sense(self, const Bodies* bodies, const Bodies* before, Touched* moved) noexcept nogil
    cpdef void clear_events(self)
