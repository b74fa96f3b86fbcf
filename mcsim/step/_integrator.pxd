"""How a substep moves velocities and poses, over the constraint sets of a world."""

from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._drifts cimport Drift
from mcsim.step._joint_warm_starts cimport WholeWarmStarts
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._sweeps cimport Sweeps

cdef class Integrator:
    cdef StepContext context
    cdef PlainRows plain
    cdef ConstraintSets sets
    cdef Sweeps sweeping
    cdef Restitution restitution
    cdef StageTimes times
    cdef Calls calls
    cdef Drift drift
    cdef WholeWarmStarts joint_warm_starts

    cdef int set_time(self, double time) noexcept nogil
    cdef void begin_step(self) noexcept nogil
    cdef void substep(self, bint last) noexcept nogil
    cdef void end_substep(self) noexcept nogil
