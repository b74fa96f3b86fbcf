"""The joints' bilateral rows met at once, on accelerations, velocities or displacements: the KKT system.

Per step:  smooth.locate(joints, rows), once the rows are laid out
Per pose:  smooth.factor(rows, bodies);  then aim_... and solve, as often as wanted.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.solve._border cimport Border
from mcsim.solve._tree cimport Articulation, JointTree
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

cdef double PROXIMAL, PROXIMAL_CLOSED, PROXIMAL_ERRORS
cdef int MOST_ITERATIONS
cdef double PROGRESS

cdef class SmoothSolver:
    cdef readonly JointTree tree
    cdef readonly Border border          # gears and joints of the user's own
    cdef object kept
    cdef double proximal                 # one of these, for the next factor
    cdef bint looped_alone               # solves are of articulations with loops
    cdef const Bodies* bodies            # of the last factor
    cdef readonly Py_ssize_t count       # joint rows: the tree's, joint by joint, then the border's
    cdef readonly Py_ssize_t taken       # records of them: a wide row has two
    cdef Articulation* span              # (articulations,)
    cdef Py_ssize_t span_count
    cdef Py_ssize_t body_count
    cdef int32_t* group                  # (bodies,) the articulation of each, -1 of one that is not dynamic; the
                                         # world's before the first
    cdef int32_t* member                 # bodies, articulation by articulation
    cdef int32_t* row                    # (count,) which rows
    cdef double* target                  # (count,) wanted J x
    cdef double* nothing                 # (count,) zeros, a target
    cdef double* step                    # (count,) J x less what it should be
    cdef double* scale                   # (count,) of a row's error of 1, as an angle, since the first factor [rad]
    cdef Twist* response                 # (bodies,), the world's before the first: to one bounded row
    cdef double* moved                   # (joints' rows,) J M^-1 J' with all joints holding; -1 = not known
    cdef Py_ssize_t row_capacity
    cdef object kept_moved

    cdef int reserve(self, Py_ssize_t row_count) except -1
    cdef void locate(self, const Joint* joints, Row* rows) noexcept nogil
    cdef void factor(self, Row* rows, const Bodies* bodies) noexcept nogil
    cdef bint follow(self, const Row* rows) noexcept nogil
    cdef void factor_border(self, const Articulation* span) noexcept nogil

    cdef double part(self, Py_ssize_t i, double error) noexcept nogil

    # What J x is wanted to be: x accelerations less those of the gyroscopic torque ...
    cdef void aim_accelerations(self, const Row* rows, const Twist* twist, const Settings* settings) noexcept nogil
    # ... velocities: what it is for `twist` now, or 0; displacements: minus the errors.
    cdef void aim_rates(self, const Row* rows, const Twist* twist) noexcept nogil
    cdef void aim_still(self, const Row* rows) noexcept nogil
    cdef double aim_errors(self, const Row* rows) noexcept nogil
    cdef Py_ssize_t worst(self) noexcept nogil

    # x += M^-1 J' force such that J x = target; row.impulse += s * force.
    cdef void solve(self, const Row* rows, Twist* x) noexcept nogil
    cdef void keep(self, Row* rows, double s) noexcept nogil
    # The same to J x = 0, which leaves what `solve` has met as it was.
    cdef void forbid(self, const Row* rows, Twist* x) noexcept nogil

    cdef void solve_span(self, const Articulation* span, const Row* rows, Twist* x, const double* target) noexcept nogil
    cdef double miss(self, const Articulation* span, const Row* rows, const Twist* x, const double* target) noexcept nogil
    cdef void take_tree_step(self, const Articulation* span, Twist* x) noexcept nogil
    cdef void take_border_step(self, const Articulation* span, const Row* rows, Twist* x,
                               const double* target) noexcept nogil
    cdef void tree_rates(self, const Articulation* span, const Twist* x) noexcept nogil
    cdef void clear(self, const Articulation* span, Twist* x) noexcept nogil
    cdef void keep_span(self, const Articulation* span, Row* rows, double s) noexcept nogil

    # Bounded rows of joints (limits, friction, velocity motors), each with the whole articulation's response to it:
    # forget() after factor(), then sweeps. Answers the largest correction [m/s, rad/s].
    cdef void forget(self, Py_ssize_t row_count) noexcept nogil
    cdef int find_spans(self, const Row* row, const Articulation** found) noexcept nogil
    cdef double weigh(self, const Row* row, const Row* rows, const Articulation** spans, int count) noexcept nogil
    cdef double sweep(self, Row* rows, Py_ssize_t row_count, Twist* twist, int relaxed) noexcept nogil
