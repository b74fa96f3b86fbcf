"""What is written into a world before each step of a call, and kept after some of them."""

from libc.stdint cimport int32_t
from mcsim.constraints._islands cimport Islands
from mcsim.state._bodies cimport Bodies

cdef class Tape:
    cdef object kept                     # the arrays that the pointers are into
    cdef double** targets                # (count,) each one number of the world's
    cdef Py_ssize_t count
    cdef const int32_t* moved            # (count, 2) the bodies that each moves; -1: none
    cdef const double* values            # (steps, count)
    cdef const double** sources          # (sources_count,) arrays of the world's
    cdef double** out                    # (sources_count,) each (rows, its size)
    cdef Py_ssize_t* sizes               # (sources_count,) numbers of each
    cdef Py_ssize_t source_count, steps, rows
    cdef long long every                 # steps, of which the last is kept
    cdef readonly Py_ssize_t done        # steps

    cdef bint write(self, Bodies* bodies, Islands islands) noexcept nogil
    cdef void end_step(self) noexcept nogil
