"""The border of the joints' system: rows that its tree has no place for. See `_border.pyx`."""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Joint, Row

cdef class Border:
    cdef readonly Py_ssize_t count         # rows, wide ones counted once
    cdef readonly Py_ssize_t records       # Row records of them
    cdef readonly Py_ssize_t rounds        # of probing: rows of the largest articulation
    cdef object kept
    cdef Row* rows                         # all rows of the world; set whenever they may have moved
    cdef const Joint* joints
    cdef Py_ssize_t body_count
    cdef int32_t* joint                    # (count,) number of the joint
    cdef int32_t* index                    # (count,) which of its rows
    cdef int32_t* group_begin              # (count,) first row of the same articulation
    cdef int32_t* group_size               # (count,)
    cdef int64_t* block                    # (count,) where its articulation's matrix begins in `values`
    cdef double* values                    # G, then its factor
    cdef double* vector                    # (count,)
    cdef double* bias                      # (count,) of J v + bias = 0
    cdef double* impulse                   # (count,) put aside
    cdef Twist* scratch                    # (bodies,), the world's before the first

    cdef Row* row(self, Py_ssize_t k) noexcept nogil                       # NULL: its joint is broken

    # G, column by column: for each round the joints' solve, without biases, of what `push_round` leaves in `scratch`.
    cdef void push_round(self, Py_ssize_t round) noexcept nogil
    cdef void read_round(self, Py_ssize_t round) noexcept nogil
    cdef void factor(self, double proximal) noexcept nogil
    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil
    cdef void backsolve(self) noexcept nogil

    # The right side of a solve -> the largest |J v + bias| [m/s, rad/s]; then impulses against it, to be followed by
    # the joints' solve.
    cdef double residual(self, const Twist* twist) noexcept nogil
    cdef void finish(self, Twist* twist) noexcept nogil
    cdef void subtract_rates(self, const Twist* twist) noexcept nogil       # bias -= J v

    cdef void keep(self) noexcept nogil
    cdef void undo(self) noexcept nogil
