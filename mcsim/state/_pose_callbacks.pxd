"""Functions of the user's that rows need at the present poses."""

from libc.stdint cimport int32_t

cdef class PoseCallbacks:
    cdef object function                # function(errors_only, joints), or None
    cdef bint wanted
    cdef readonly object failure        # what it raised first
    cdef int status

    cdef void call(self, bint errors_only) noexcept nogil
    cdef void call_one(self, int32_t joint, bint errors_only) noexcept nogil
    cdef void ask(self, bint errors_only, int joint) noexcept with gil
