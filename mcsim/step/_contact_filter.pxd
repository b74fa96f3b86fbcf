from libc.stdint cimport uint64_t
from mcsim.collide._collider cimport Collider
from mcsim.step._calls cimport Calls

cdef class ContactFilter:
    cdef Collider collider
    cdef Calls calls
    cdef object function                # (number of a body, of another) -> whether they meet
    cdef dict verdicts                  # key of a pair -> what it said
    cdef object kept                    # the array behind `met`
    cdef const uint64_t* met            # keys of the pairs that meet, ascending
    cdef Py_ssize_t met_count

    cdef bint is_known(self) noexcept nogil
    cdef int ask(self) noexcept with gil
