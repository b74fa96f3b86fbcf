"""Runge-Kutta on the coordinates of trees."""

from mcsim.core._newton cimport NewtonMethod
from mcsim.core._tableau cimport Tableau
from mcsim.reduced._motion cimport TreeMotion

cdef class TreeRungeKutta:
    cdef Tableau tableau
    cdef TreeMotion motion
    cdef Py_ssize_t size                 # nq + nv
    cdef object kept, kept_errors
    cdef double* first                   # (nq + nv,) where the step began
    cdef double* turned                  # (nq,) where quaternions begin, their turn from the step's start to a stage
    cdef double* rates                   # (slots, nq + nv + 1)
    cdef double* error[4]                # (nv,) of q, as velocities times a time, and of qd by the first estimate; the same
                                         # by the second

    cdef void begin(self) noexcept nogil
    cdef void take_back(self) noexcept nogil
    cdef void stage(self, int k) noexcept nogil
    cdef void move(self, int k, double h) noexcept nogil
    cdef void find_errors(self, bint across) noexcept nogil
    cdef void judge(self, double* errors) noexcept nogil
    cdef void add_estimates(self, double* errors, int k, Py_ssize_t v, double before, double after) noexcept nogil
    cdef void read_back(self, int k) noexcept nogil
    cdef void read_turn(self, Py_ssize_t at, double* out) noexcept nogil
    cdef double farthest_turn(self) noexcept nogil
    cdef void take_scales(self, NewtonMethod implicit) noexcept nogil
    cdef double sum_rates(self, const double* weights, Py_ssize_t i) noexcept nogil
    cdef void spans(self, Py_ssize_t* span) noexcept nogil
    cdef void find_rates(self, double* out) noexcept nogil
    cdef void turn_from_first(self, const double* weights, double h) noexcept nogil
