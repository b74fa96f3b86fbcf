"""The stages of a step in their order, over the arrays of one world."""

from libc.stdint cimport int32_t, int64_t
from mcsim.step._warm_starts cimport WarmStarts
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Row

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

cdef enum:
    SWEEPS_A_LOOK = 16   # from one look at the clock to the next

# What Pipeline.step answers beside core/_types.pxd, Status.
cdef enum:
    UNSEEN = 4           # there are other shapes than see_shapes() was called for
    NOT_DONE = 5         # `strict`: a step could not do something, and is undone

cdef class Pipeline(WarmStarts):
    cdef bint swept                     # rows beside those of the direct solver exist
    cdef readonly Py_ssize_t joint_row_count    # of all joints, also where their own rows stand apart
    cdef readonly Py_ssize_t contact_row_count
    cdef Py_ssize_t impact_rows         # end of the rows on which impacts act
    cdef public long long steps         # done since the beginning
    cdef readonly long long steps_made  # in the last call of step
    cdef long long call_began           # after how many steps
    cdef public bint strict             # a step that could not do something is undone
    cdef public double start            # time before the first step [s]
    cdef readonly long long sweeps      # of the last step, over all rows
    cdef public double tolerance        # sweeps end at this residual; negative: they are counted
    cdef object failure                 # what one of them raised
    cdef int call_status
    cdef int asked                      # sweeps of each pass of this step
    cdef readonly long long impact_count
    cdef double first_residual          # likewise after the biased one, of compliant contacts
    cdef readonly double residual       # natural map after the last pass [N s, N m s]
    cdef readonly double correction     # what the last sweep took out [m/s, rad/s]
    cdef int64_t stage_ticks[10]        # of core/_clock.pxd
    cdef int64_t clock
    cdef int64_t looked                 # for signals
    cdef int64_t look_interval

    cdef int advance(self, long long n) except -1
    cdef void lap(self, int stage) noexcept nogil
    cdef bint is_interrupted(self) noexcept nogil
    cdef void look_for_signals(self) noexcept with gil
    cdef int set_time(self, double time) noexcept nogil
    cdef void call_user(self, double time) noexcept with gil
    cdef int collide(self) noexcept nogil
    cdef int layout(self, bint own, bint wide) noexcept nogil
    cdef int layout_wide(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void measure(self, int relaxed) noexcept nogil
    cdef void settle(self, Twist* twist, int relaxed) noexcept nogil
    cdef bint solved(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void write_joints(self, Row* rows) noexcept nogil
    cdef void write_rows(self, Row* rows) noexcept nogil
    cdef void finish_rows(self, double part) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil
    cdef void drift(self) noexcept nogil
    cdef void move_on(self, const int32_t* chosen, Py_ssize_t count) noexcept nogil
    cdef void drift_on_split_impulses(self) noexcept nogil
    cdef void try_rows(self, bint asked) noexcept nogil
    cdef void displace(self, double part) noexcept nogil
    cdef void drift_by_ggl(self) noexcept nogil
    cdef void project_positions(self) noexcept nogil
    cdef void solve_positions(self) noexcept nogil
    cdef void weigh_guesses(self, bint second) noexcept nogil
    cdef bint weigh_once(self, bint second) noexcept nogil
    cdef double guess_of(self, const Row* row, bint second) noexcept nogil
    cdef void return_carried(self, bint shared) noexcept nogil
    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil
    cdef void solve_tree(self, Twist* twist, int relaxed) noexcept nogil
    cdef void bounce(self, bint held) noexcept nogil
    cdef void show_joint_rows(self) noexcept nogil
    cdef void substep(self, bint last) noexcept nogil
    cdef void store_contacts(self) noexcept nogil
    cdef void hold_back(self) noexcept nogil
    cdef void note_step(self) noexcept nogil
    cdef int step_once(self) noexcept nogil
