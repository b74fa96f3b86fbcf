"""The calls of a step."""

from mcsim.state._closing_up cimport Rows
from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._sleepers cimport Sleepers
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._step cimport Step
from mcsim.step._step_parts cimport StepParts
from mcsim.step._tape cimport Tape
from mcsim.step._velocity_space cimport VelocitySpace

cdef class Pipeline:
    cdef readonly StepParts parts       # of which some are here, too
    cdef StateArrays arrays
    cdef StepContext context
    cdef readonly VelocitySpace space
    cdef Sleepers sleepers
    cdef Calls calls
    cdef StageTimes stage_times
    cdef readonly Step one              # a step
    cdef public Tape tape               # of the call that comes; None: nothing is written or kept
    cdef long long revision_seen        # of the collider's shapes
    cdef readonly long long steps_made  # in the last call of step
    cdef long long call_began           # after how many steps
    cdef double now                     # the time, of core/_whole.pxd

    cpdef void set_clock(self, long long steps, double start) noexcept
    cdef void tell_time(self) noexcept nogil
    cdef void gather(self) noexcept
    cdef bint write_tape(self, bint driven) noexcept nogil
    cdef int lay_rows(self, bint points) noexcept nogil
    cdef void give_back_joints(self) noexcept nogil
    cdef int follow_rows(self, double time) noexcept nogil
    cdef int advance(self, long long n) except -1
