"""Backward differentiation formulas of variable order."""

from libc.stdint cimport int32_t

from mcsim.core._newton cimport NewtonMethod

# Slots of rates and displacements.
cdef enum:
    BACKWARD_PLACE = 0                   # where f is asked for, as a displacement from the base
    BACKWARD_FOUND = 1                   # f there
    BACKWARD_FROM = 2                    # f where the Jacobian is of
    BACKWARD_ERROR = 3                   # of the present step
    BACKWARD_BASE = 4                    # f at the base
    BACKWARD_SLOTS = 5                   # how many there are
    BACKWARD_ORDERS = 5                  # the highest

cdef class BackwardDifferences(NewtonMethod):
    cdef int order                       # 0: it has no past
    cdef int equal                       # steps of this length and order
    cdef double h                        # of the differences [s]
    cdef double since                    # the base [s]
    cdef double* differences             # (BACKWARD_ORDERS + 3, size)
    cdef double* other                   # the same, to change them in
    cdef double* psi                     # (size,)
    cdef double* d                       # (size,) what the step differs from what was foreseen by
    cdef double* matrix                  # (size, size) 1 - c J, factored
    cdef int32_t* pivots
    cdef double c                        # of the factors; 0: none

    cdef void forget(self) noexcept nogil
    cdef void start(self, double most) noexcept nogil
    cdef void change_step(self, double h) noexcept nogil
    cdef void foresee(self) noexcept nogil
    cdef bint prepare(self) noexcept nogil
    cdef int improve(self) noexcept nogil
    cdef void estimate(self) noexcept nogil
    cdef bint accepts(self, double error) noexcept nogil
    cdef void take(self) noexcept nogil
    cdef double error_of(self, int order, const double* difference) noexcept nogil
    cdef void go_on(self, double error) noexcept nogil
    cdef void fail(self) noexcept nogil
