"""The joints' bilateral rows met at once, on accelerations, velocities or displacements: the KKT system.

Per step:  while smooth.build(rows, count, bodies) == GROW: smooth.grow()
Per pose:  smooth.factor(rows);  then aim_... and solve, as often as wanted.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Bodies, Row, Settings

cdef class SmoothSolver:
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t body_capacity
    cdef Py_ssize_t entry_capacity
    cdef Py_ssize_t row_need
    cdef Py_ssize_t body_need
    cdef Py_ssize_t entry_need
    cdef readonly Py_ssize_t count       # joint rows
    cdef readonly Py_ssize_t taken       # records of them: a wide row has two
    cdef int32_t* row                    # (count,) which rows
    cdef int32_t* first_on               # (bodies,) the first of them on each dynamic body
    cdef Py_ssize_t* first               # (count,) first column of each line of the factor
    cdef Py_ssize_t* group_begin         # (count,) the articulation of a row: rows that no other's line reaches into
    cdef Py_ssize_t* group_end
    cdef Py_ssize_t* line                # (count,) where column 0 of a line would be in `value`
    cdef double* value                   # the factor's lower envelope
    cdef double* target                  # (count,) wanted J x
    cdef double* kept                    # (count,) targets put aside
    cdef double* shift                   # (count,) eps
    cdef double* step                    # (count,)
    cdef double* moved                   # (joints' rows,) J M^-1 J' with all joints holding; -1 = not known
    cdef double* force                   # (count,) multipliers of the last solve

    cdef Py_ssize_t reach(self, const Row* row, Py_ssize_t n, Py_ssize_t begin, const Bodies* bodies) noexcept nogil
    cdef int build(self, const Row* rows, Py_ssize_t row_count, const Bodies* bodies) noexcept nogil
    cdef int grow(self) except -1
    cdef void factor(self, const Row* rows) noexcept nogil

    cdef void find_groups(self) noexcept nogil
    cdef void choose_shifts(self, const Row* rows, const Bodies* bodies) noexcept nogil
    cdef void backsolve(self, double* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil

    # What J x is wanted to be: x accelerations less those of the gyroscopic torque ...
    cdef void aim_accelerations(self, const Row* rows, const Twist* twist, const Settings* settings) noexcept nogil
    # ... velocities: what it is for `twist` now, or 0; displacements: minus the errors.
    cdef void aim_rates(self, const Row* rows, const Twist* twist) noexcept nogil
    cdef void aim_still(self, const Row* rows) noexcept nogil
    cdef double aim_errors(self, const Row* rows) noexcept nogil

    # x += M^-1 J' force such that J x = target; row.impulse += s * force.
    cdef void solve(self, const Row* rows, Twist* x) noexcept nogil
    cdef void solve_range(self, const Row* rows, Twist* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void keep(self, Row* rows, double s) noexcept nogil

    # Bounded rows of joints (limits, friction, velocity motors), each with the whole articulation's response to it:
    # forget() after factor(), then sweeps. scratch: one twist a body. Answers the largest correction [m/s, rad/s].
    cdef void forget(self, Py_ssize_t row_count) noexcept nogil
    cdef double weigh(self, const Row* row, const Row* rows, Twist* scratch, Py_ssize_t begin,
                      Py_ssize_t end) noexcept nogil
    cdef double sweep(self, Row* rows, Py_ssize_t row_count, Twist* twist, Twist* scratch, int relaxed) noexcept nogil
