from cpython.pythread cimport PyThread_type_lock


cdef class Turn:
    cdef PyThread_type_lock lock
    cdef unsigned long owner                 # the thread that has it; 0: none
    cdef object message
    cdef readonly long long changes          # counts the beginnings and ends of blocks that may have changed the thing
    cdef readonly bint stepping              # whether a step has it
    cdef public object last                  # what is called before it is given back, once; or None

    cdef bint take(self) noexcept
    cdef void give(self) noexcept
    cdef bint mine(self) noexcept
    cdef int refuse(self, doing) except -1
