"""One step of an implicit Runge-Kutta method: Newton's method on the rates of all stages."""

from libc.stdint cimport int32_t

from mcsim.core._newton cimport NewtonMethod

cdef class ImplicitStages(NewtonMethod):
    cdef int stages
    cdef const double* a                 # (stages, stages)
    cdef const double* begin_weights     # (stages,)
    cdef double* matrix                  # (stages size, stages size) 1 - h a x J, factored
    cdef double* filter                  # (size, size) 1 - h FILTER J, factored
    cdef int32_t* order                  # pivots of matrix
    cdef int32_t* filter_order
    cdef double h                        # of the factors; 0: none

    cdef int of_stage(self, int k) noexcept nogil
    cdef int beginning(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void start_jacobian(self) noexcept nogil
    cdef bint start(self, double h) noexcept nogil
    cdef bint fill_and_factor(self, double h) noexcept nogil
    cdef int improve(self, double h) noexcept nogil
    cdef void estimate(self) noexcept nogil
