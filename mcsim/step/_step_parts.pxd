"""What works in the step of one world."""

from mcsim.collide._collider cimport Collider
from mcsim.collide._sensors cimport Sensors
from mcsim.collide._tunnelling_guard cimport TunnellingGuard
from mcsim.constraints._islands cimport Islands
from mcsim.constraints._joint_lists cimport StruckJoints
from mcsim.core._noted cimport Noted
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._contact_search cimport ContactSearch
from mcsim.step._further_sweeps cimport FurtherSweeps
from mcsim.step._integrator cimport Integrator
from mcsim.step._joint_efforts cimport JointEfforts
from mcsim.step._joint_plan cimport JointPlan
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._room cimport Room
from mcsim.step._sleepers cimport Sleepers
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._sweeps cimport Sweeps
from mcsim.state._closing_up cimport Rows
from mcsim.step._velocity_space cimport VelocitySpace

cdef class StepParts:
    # What there is.
    cdef readonly StateArrays arrays
    cdef readonly JointEfforts efforts  # forces along joints' coordinates
    cdef readonly StepContext context
    cdef readonly Noted noted           # what steps could not do
    cdef readonly Collider collider
    cdef readonly Islands islands
    cdef readonly VelocitySpace space
    # What works on it.
    cdef readonly Room room
    cdef readonly JointPlan plan
    cdef Sleepers sleepers
    cdef ContactSearch search
    cdef readonly PlainRows plain       # the rows that no other set has
    cdef ConstraintSets sets            # what brings rows
    cdef ConstraintSets as_rows         # the same where everything is a plain row: for those who look
    cdef readonly Sweeps sweeping       # what solves the rows
    cdef FurtherSweeps further
    cdef readonly Integrator integrator  # moves velocities and poses
    cdef readonly Restitution restitution        # what bounces
    cdef readonly TunnellingGuard tunnelling_guard
    cdef StruckJoints struck                  # joints that a blow may reach
    cdef public Sensors sensors         # that look after every step, or None
    cdef readonly Calls calls
    cdef PoseCallbacks pose_callbacks   # the user's functions of poses
    cdef StageTimes stage_times
    cdef readonly object laboratory     # solves the rows as a problem, or None
    cdef bint replanning                # a joint broke
    cdef readonly bint bounces          # whether any shape has a restitution

    cdef edit(self, bodies, Rows rows, fresh, sizes, sleep, woken)
