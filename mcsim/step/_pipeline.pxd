"""The stages of a step in their order, over the arrays of one world."""

from libc.stdint cimport int64_t
from mcsim.step._constraint_set cimport ConstraintSets
from mcsim.step._machine cimport Machine

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

cdef class Pipeline(Machine):
    cdef public long long steps         # done since the beginning
    cdef readonly long long steps_made  # in the last call of step
    cdef long long call_began           # after how many steps
    cdef public bint strict             # a step that could not do something is undone
    cdef public double start            # time before the first step [s]
    cdef readonly long long impact_count
    cdef int64_t stage_ticks[10]        # of core/_clock.pxd
    cdef int64_t clock

    cdef int advance(self, long long n) except -1
    cdef void lap(self, int stage) noexcept nogil
    cdef int set_time(self, double time) noexcept nogil
    cdef int collide(self) noexcept nogil
    cdef int layout(self, ConstraintSets sets) noexcept nogil
    cdef void weigh_burdens(self) noexcept nogil
    cdef void write_joints(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void bounce(self, bint held) noexcept nogil
    cdef void show_joint_rows(self) noexcept nogil
    cdef void substep(self, bint last) noexcept nogil
    cdef void return_halves(self) noexcept nogil
    cdef void store_contacts(self) noexcept nogil
    cdef void hold_back(self) noexcept nogil
    cdef void note_step(self) noexcept nogil
    cdef int step_once(self) noexcept nogil
