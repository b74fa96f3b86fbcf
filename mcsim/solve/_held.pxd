"""Bounded rows of articulations, solved exactly with the joints in them."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Twist
from mcsim.solve.problems._dantzig cimport Boxed
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row

cdef enum:
    PASSES_TOGETHER = 64         # of `iterations` sweeps each, eight steps at the defaults: these should do for rows that
                                 # hold each other

cdef bint is_slow(double part, int sweeps) noexcept nogil

cdef class HeldRows:
    cdef Noted noted                     # of the world
    cdef Py_ssize_t articulations
    cdef object kept
    cdef int8_t* driven                  # (articulations,) whether they have motors
    cdef Joint* joints
    cdef int32_t* first                  # (articulations,) the first joint that may have bounded rows, -1: none, which
                                         # others fill in;
    cdef int8_t* asks                    # whether it is to be found if sweeps would do for these,
    cdef int8_t* slow                    # and whether it is known that they would not
    cdef int32_t* count                  # (articulations,) how many rows each has;
    cdef int32_t* begin                  # its first in `row`
    cdef int64_t* matrix                 # and where its matrix begins in `values`
    cdef int32_t* row                    # their numbers; limits first: they yield to nothing
    cdef double* diagonal                # of A, without compliance
    cdef double* values                  # A, (count, count) each
    cdef double* numbers                 # what one problem works in
    cdef double* factor
    cdef int32_t* integers
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t value_capacity
    cdef Py_ssize_t most                 # rows of one articulation
    cdef Py_ssize_t most_held            # and how many it may have in a matrix
    cdef bint unsolved                   # the last problem was given up

    cdef Py_ssize_t owner(self, const Row* row, const int32_t* group) noexcept nogil
    cdef void list(self, const int32_t* group, const int8_t* holds, const int8_t* any_number, Row* rows,
                   Py_ssize_t count) noexcept nogil
    cdef bint has_matrix(self, Py_ssize_t g) noexcept nogil
    cdef void find_driven(self, const int32_t* group, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void ask(self, Joint* joints) noexcept nogil
    cdef void claim(self, Py_ssize_t g, bint may) noexcept nogil
    cdef void choose(self, Py_ssize_t g, Row* rows, int sweeps) noexcept nogil
    cdef void release(self, Py_ssize_t g, Row* rows) noexcept nogil
    cdef double rate(self, const Row* rows, Py_ssize_t i, const Twist* velocity) noexcept nogil
    cdef void find_rates(self, const Row* rows, const int32_t* row, Py_ssize_t count, const Twist* velocity,
                         double* rates) noexcept nogil
    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, Twist* velocity) noexcept nogil
    cdef bint has_room(self, Py_ssize_t rows, Py_ssize_t values, Py_ssize_t most) noexcept with gil
    cdef void begin_column(self, Py_ssize_t g, Py_ssize_t k, Row* rows, Twist* moved) noexcept nogil
    cdef void end_column(self, Py_ssize_t g, Py_ssize_t k, const Row* rows, const Twist* moved) noexcept nogil
    cdef void widen(self, Py_ssize_t g, const Row* rows, double* a) noexcept nogil
    cdef double least_part(self, Py_ssize_t g, const Row* rows) noexcept nogil
    cdef double part_beside(self, const Row* rows, const int32_t* number, const double* a, const double* d, Py_ssize_t n,
                            Py_ssize_t i) noexcept nogil
    cdef double pivot(self, const double* a, const double* d, Py_ssize_t n, Py_ssize_t i) noexcept nogil
    cdef bint solve(self, Py_ssize_t g, Row* rows, Twist* twist, bint relaxed) noexcept nogil
    cdef bint respond(self, Py_ssize_t g, const Row* rows, Twist* x) noexcept nogil
