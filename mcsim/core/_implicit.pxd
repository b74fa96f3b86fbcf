"""One step of an implicit Runge-Kutta method: Newton's method on the rates of all stages."""

from libc.stdint cimport int32_t

cdef enum NewtonResult:
    NEWTON_GOES_ON = 0
    NEWTON_DONE = 1
    NEWTON_FAILED = 2

cdef class ImplicitStages:
    cdef object kept
    cdef int stages
    cdef Py_ssize_t size                 # numbers that move, of so many that a slot has
    cdef Py_ssize_t stride
    cdef int32_t* place                  # (size,) of them in a slot
    cdef double* slots                   # (slots, stride)
    cdef const double* a                 # (stages, stages)
    cdef const double* begin_weights     # (stages,)
    cdef double tolerance
    cdef double* scale                   # (size,) 1 + |y|
    cdef double* jacobian                # (size, size) of the rates by what moves, at the beginning of the step
    cdef double* matrix                  # (stages size, stages size) 1 - h a x J, factored
    cdef double* filter                  # (size, size) 1 - h FILTER J, factored
    cdef double* change                  # (stages size,)
    cdef int32_t* order                  # pivots of matrix
    cdef int32_t* filter_order
    cdef double h                        # of the factors; 0: none
    cdef bint known, fresh               # there is a Jacobian; it is of the present step's beginning
    cdef double last                     # how large the last change was
    cdef int rounds

    cdef int of_stage(self, int k) noexcept nogil
    cdef int beginning(self) noexcept nogil
    cdef int probe(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef double start_probe(self, Py_ssize_t i) noexcept nogil
    cdef void end_probe(self, Py_ssize_t i, double step) noexcept nogil
    cdef bint start(self, double h) noexcept nogil
    cdef bint fill_and_factor(self, double h) noexcept nogil
    cdef int improve(self, double h) noexcept nogil
    cdef void estimate(self) noexcept nogil
