"""The classical method of fourth order on the coordinates of trees."""

from mcsim.reduced._motion cimport TreeMotion

cdef class TreeRungeKutta:
    cdef TreeMotion motion
    cdef object kept
    cdef double* first                   # (nq + nv,) each: a step's start, a stage's rates, their sum
    cdef double* rate
    cdef double* sum
    cdef double* turned                  # (nq,) where quaternions begin, their turn from the step's start to a stage

    cdef void rates(self, const double* forces, double* out) noexcept nogil
    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil
    cdef void advance(self, double h, const double* forces) noexcept nogil
