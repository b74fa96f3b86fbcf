"""The record of a kernel's iterations."""

cimport cython
from libc.stdint cimport int64_t

from mcsim.solve.problems._system cimport System


@cython.final
cdef class Recorder:
    cdef System system
    cdef int model
    cdef object kept
    cdef object residuals               # (count, 6), times (count,)
    cdef object times
    cdef double* record                 # their memory
    cdef double* time
    cdef double* best_impulse           # (rows,)
    cdef double* best_velocity
    cdef Py_ssize_t count, made, best   # iterations that may come, that were kept, and the best of them, -1: none
    cdef double tolerance, least, most, length
    cdef int64_t began

    cdef bint keep(self, const double* impulse, const double* velocity) noexcept nogil
