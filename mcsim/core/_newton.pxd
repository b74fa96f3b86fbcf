"""What implicit methods share: the Jacobian of rates, and linear equations."""

from libc.stdint cimport int32_t

cdef enum NewtonResult:
    NEWTON_GOES_ON = 0
    NEWTON_DONE = 1
    NEWTON_FAILED = 2

cdef class NewtonMethod:
    cdef object kept, kept_jacobian
    cdef Py_ssize_t size                 # numbers that move, of so many that a slot has
    cdef Py_ssize_t stride
    cdef int32_t* place                  # (size,) of them in a slot
    cdef double* slots                   # (slots, stride)
    cdef double tolerance
    cdef double* scale                   # (size,) 1 + |y|
    cdef double* jacobian                # (size, size) of the rates by what moves
    cdef double* change                  # what the next solution is found in
    cdef bint known, fresh               # there is a Jacobian; it is of the present step
    cdef double before                   # what a difference has moved
    cdef double last                     # how large the last change was
    cdef int rounds

    cdef jacobian_array(self)
    cdef int from_slot(self) noexcept nogil
    cdef int probe_slot(self) noexcept nogil
    cdef int found_slot(self) noexcept nogil
    cdef double start_probe(self, Py_ssize_t i) noexcept nogil
    cdef void end_probe(self, Py_ssize_t i, double step) noexcept nogil
    cdef void know(self) noexcept nogil
    cdef double distance(self, int a, int b) noexcept nogil
    cdef int judge_change(self, double size) noexcept nogil

# L U of the rows in another order, in place. -> whether it is regular
cdef bint factor_lu(double* a, Py_ssize_t n, int32_t* order) noexcept nogil
cdef void solve_lu(const double* a, Py_ssize_t n, const int32_t* order, double* x) noexcept nogil
