"""Free flight over a substep, repeatable from the same start: the drift of "rattle" and "variational"."""

from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies

cdef class FreeFlight:
    cdef object kept                     # the arrays that the pointers are into
    cdef Vec3* position                  # (bodies,) at the start
    cdef Quat* orientation
    cdef Quat* principal                 # (bodies,) principal axes in the body's
    cdef Vec3* rates                     # (bodies,) 1/I_2, 1/I_1 - 1/I_2, 1/I_3 - 1/I_2 of the moments, ascending
                                         # [1/(kg m2)]
    cdef Twist* twist                    # (bodies,) with a row -1 for the world; may be changed between flights

    # The present poses and twists are the start.
    cdef void begin(self, const Bodies* bodies) noexcept nogil

    # Poses and twists at the end of h, from the start. variational: by quaternion increments, else by exact turns about
    # principal axes. -> -1, or the body that turns too fast for an increment
    cdef Py_ssize_t fly(self, Bodies* bodies, double h, bint variational) noexcept nogil
