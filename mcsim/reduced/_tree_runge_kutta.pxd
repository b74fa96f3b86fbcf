"""The classical method of fourth order on the coordinates of trees."""

from mcsim.reduced._motion cimport TreeMotion

cdef class TreeRungeKutta:
    cdef TreeMotion motion
    cdef object kept
    cdef double* first                   # (nq + nv,) each: a step's start, a stage's rates, their sum
    cdef double* rate
    cdef double* sum
    cdef double* turned                  # (nq,) where quaternions begin, their turn from the step's start to a stage

    cdef void begin(self) noexcept nogil
    cdef void stage(self, int k, double h) noexcept nogil
    cdef void find_rates(self) noexcept nogil
    cdef void advance(self, Py_ssize_t first, Py_ssize_t end, double weight, const double* way, double part) noexcept nogil
    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil
