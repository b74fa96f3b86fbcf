"""The border of the joints' system: rows that its tree has no place for. See `_border.pyx`."""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Twist
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row

cdef class Border:
    cdef readonly Py_ssize_t count         # rows, wide ones counted once
    cdef readonly Py_ssize_t records       # Row records of them
    cdef readonly Py_ssize_t rounds        # of probing
    cdef readonly Py_ssize_t length        # numbers of the factor
    cdef readonly object articulation      # (bodies + 1,) of each body, the last the world; as of `connected`, with what
                                           # the border ties together
    cdef readonly object groups            # (count,) articulation of each row, ascending
    cdef object kept
    cdef Row* rows                         # all rows of the world; set whenever they may have moved
    cdef const Joint* joints
    cdef Py_ssize_t body_count
    cdef int32_t* joint                    # (count,) number of the joint
    cdef int32_t* index                    # (count,) which of its rows
    cdef int32_t* round                    # (count,) in which the column is probed
    cdef int64_t* round_begin              # (rounds + 1,) the entries of G that each round finds
    cdef int32_t* entry_row
    cdef int32_t* entry_column
    cdef int64_t* first                    # (count,) first column of each line of the factor
    cdef int64_t* line                     # (count,) where column 0 of a line would be in `values`
    cdef double* values                    # G, lower triangle, then its factor
    cdef double* vector                    # (count,)
    cdef double* bias                      # (count,) of J v + bias = 0
    cdef double* impulse                   # (count,) put aside
    cdef Twist* scratch                    # (bodies,), the world's before the first

    cdef Row* row(self, Py_ssize_t k) noexcept nogil                       # NULL: its joint is broken

    cdef void begin_step(self, Row* rows) noexcept nogil                   # once they are laid out

    # G, column by column: for each round the joints' solve, without biases, of what `push_round` leaves in `scratch`.
    # Here and below: of the rows [begin, end), those of whole articulations.
    cdef void push_round(self, Py_ssize_t round, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void read_round(self, Py_ssize_t round, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void factor(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil
    cdef double diagonal(self, Py_ssize_t k) noexcept nogil
    cdef void add_to_diagonal(self, Py_ssize_t k, double s) noexcept nogil
    cdef void backsolve(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil

    # The right side of a solve -> the largest |J v + bias| [m/s, rad/s]; then impulses against it, to be followed by
    # the joints' solve.
    cdef double residual(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end, const Joint* joints) noexcept nogil
    cdef double opening(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end, const Joint* joints) noexcept nogil
    cdef void finish(self, Twist* twist, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void subtract_rates(self, const Twist* twist, Py_ssize_t begin, Py_ssize_t end) noexcept nogil   # bias -= J v

    cdef void keep(self, double part, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void keep_part(self, double part, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void undo(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
