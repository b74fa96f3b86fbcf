"""Functions of the user's that rows need at the present poses."""

cdef class PoseCalls:
    cdef object function                # function(errors_only), or None
    cdef bint wanted
    cdef readonly object failure        # what it raised first
    cdef int status

    cdef void call(self, bint errors_only) noexcept nogil
    cdef void ask(self, bint errors_only) noexcept with gil
