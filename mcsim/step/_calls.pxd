"""What in a step is called of Python: functions of time of the user's, and the handlers of signals."""

from libc.stdint cimport int64_t

cdef class Calls:
    cdef public object of_time                 # the user's functions, or None
    cdef object failure                 # what one of them, or a handler, raised
    cdef int status
    cdef int64_t looked                 # for signals
    cdef int64_t interval

    cdef void begin(self, int64_t now) noexcept nogil
    cdef int tell(self, double time) noexcept nogil
    cdef void ask(self, double time) noexcept with gil
    cdef bint is_interrupted(self) noexcept nogil
    cdef void look_for_signals(self) noexcept with gil
    cdef void fail(self, object error) except *
