"""The stages of a step in their order, over the arrays of one world."""

from mcsim.collide._collider cimport Collider
from mcsim.core._types cimport Twist
from mcsim.integrate._rk4 cimport RungeKutta
from mcsim.solve._pgs cimport Delassus
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.state._layout cimport Anchor, Bodies, Joint, Row, Settings

# One timer a stage, in the order of pipeline.STAGES.
cdef enum:
    STAGE_COLLIDE = 0
    STAGE_PREPARE = 1
    STAGE_INTEGRATE = 2
    STAGE_WARM_START = 3
    STAGE_IMPACT = 4
    STAGE_SOLVE = 5
    STAGE_REFRESH = 6
    STAGE_RELAX = 7
    STAGE_STORE = 8
    STAGE_FINISH = 9
    STAGES = 10

cdef class Pipeline:
    cdef Bodies bodies
    cdef Settings settings
    cdef Joint* joints
    cdef Py_ssize_t joint_count
    cdef readonly Collider collider
    cdef Delassus matrix
    cdef object kept                    # the arrays that the pointers are into
    cdef Row* rows
    cdef double* factors
    cdef double* impacts
    cdef Anchor* anchors
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t anchor_capacity
    cdef readonly Py_ssize_t row_count
    cdef readonly Py_ssize_t joint_row_count
    cdef readonly Py_ssize_t failed_body
    cdef bint bounces
    cdef public long long steps         # done since the beginning
    cdef readonly long long impact_count
    cdef readonly double residual       # natural map after the last pass [N s, N m s]
    cdef readonly double correction     # what the last sweep took out [m/s, rad/s]
    cdef double stage_times[10]
    cdef double clock
    cdef object row_array
    cdef object backup
    cdef double* backup_pointers[4]
    cdef SmoothSolver smooth            # integrator="rk4"
    cdef RungeKutta runge_kutta
    cdef object smooth_arrays
    cdef Twist* wrench                  # forces on the bodies [N, N m]
    cdef Twist* acceleration

    cdef void lap(self, int stage) noexcept nogil
    cdef int check_state(self) noexcept nogil
    cdef int layout(self) noexcept nogil
    cdef void finish_rows(self) noexcept nogil
    cdef void solve(self, int relaxed, int iterations) noexcept nogil
    cdef void bounce(self) noexcept nogil
    cdef void substep(self, bint last) noexcept nogil
    cdef void accelerate(self, bint keep) noexcept nogil
    cdef void solve_bounded(self, int relaxed) noexcept nogil
    cdef void project_smooth(self) noexcept nogil
    cdef void substep_smooth(self, bint last) noexcept nogil
    cdef int step_once(self) noexcept nogil
    cdef void save_backup(self) noexcept nogil
    cdef Joint* joints_copied(self) noexcept nogil
    cdef void restore_backup(self) noexcept nogil
