"""The stages of a step in their order."""

from mcsim.collide._collider cimport Collider
from mcsim.collide._tunnelling_guard cimport TunnellingGuard
from mcsim.constraints._joint_lists cimport StruckJoints
from mcsim.core._noted cimport Noted
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._contact_search cimport ContactSearch
from mcsim.step._further_sweeps cimport FurtherSweeps
from mcsim.step._integrator cimport Integrator
from mcsim.step._joint_plan cimport JointPlan
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._room cimport Room
from mcsim.step._sleepers cimport Sleepers
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._step_parts cimport StepParts
from mcsim.step._velocity_space cimport VelocitySpace

# What a step answers beside core/_types.pxd, Status.
cdef enum:
    UNSEEN = 4           # there are other shapes than see_shapes() was called for
    NOT_DONE = 5         # `strict`: a step could not do something, and is undone
    NO_MEMORY = 6        # there was none for what a step needs: it is undone

cdef class Step:
    cdef StepParts parts                # of which these are those that last
    cdef StateArrays arrays
    cdef StepContext context
    cdef Noted noted
    cdef Collider collider
    cdef VelocitySpace space
    cdef Room room
    cdef JointPlan plan
    cdef Sleepers sleepers
    cdef ContactSearch search
    cdef PlainRows plain
    cdef ConstraintSets sets
    cdef FurtherSweeps further
    cdef Integrator integrator
    cdef Restitution restitution
    cdef TunnellingGuard guard
    cdef StruckJoints struck
    cdef Calls calls
    cdef PoseCallbacks pose_callbacks
    cdef StageTimes times
    cdef public bint strict             # a step that could not do something is undone

    cdef int make(self) noexcept nogil
    cdef int begin_step(self) noexcept nogil
    cdef int collide(self) noexcept nogil
    cdef int layout(self, ConstraintSets sets) noexcept nogil
    cdef void layout_again(self, ConstraintSets sets) noexcept nogil
    cdef int make_substeps(self) noexcept nogil
    cdef void hold_back(self) noexcept nogil
    cdef int judge_step(self) noexcept nogil
    cdef void end_step(self) noexcept nogil
    cdef void undo(self) noexcept nogil
