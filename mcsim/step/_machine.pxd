"""What works in a step, over the arrays of one world."""

from libc.stdint cimport int8_t, int32_t
from mcsim.direct._articulations cimport Articulations
from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport ConstraintSet, ConstraintSets, StepContext
from mcsim.step._drifts cimport Drift
from mcsim.step._further_sweeps cimport FurtherSweeps
from mcsim.step._integrator cimport Integrator
from mcsim.step._joint_warm_starts cimport WholeWarmStarts
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._sweeps cimport Sweeps
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.step._state_arrays cimport StateArrays
from mcsim.collide._tunnelling_guard cimport TunnellingGuard
from mcsim.collide._collider cimport Collider
from mcsim.collide._foresight cimport Foresight
from mcsim.collide._sensors cimport Sensors
from mcsim.constraints._islands cimport Islands
from mcsim.constraints._limits cimport Struck
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Twist
from mcsim.solve._held_spans cimport HeldSpans
from mcsim.solve._pgs cimport Delassus
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._settings cimport Settings
from mcsim.wide._contacts cimport WideContacts
from mcsim.wide._joints cimport WideJoints

cdef class Machine(StateArrays):
    cdef Settings settings
    cdef StepContext context            # what the sets share
    cdef PlainRows plain                # the rows that no other set has
    cdef ConstraintSet surfaces         # of compliant contacts; without them one that does nothing
    cdef ConstraintSets sets            # what brings rows
    cdef ConstraintSets as_rows         # the same where everything is a plain row: for those who look
    cdef Sweeps sweeping                # what solves the rows
    cdef readonly Integrator integrator  # moves velocities and poses
    cdef Drift drift
    cdef Articulations closed           # articulations that close their joints by themselves, or None
    cdef WholeWarmStarts joint_warm_starts
    cdef Delassus matrix                # or None
    cdef Calls calls
    cdef StageTimes stage_times
    cdef readonly Noted noted           # what steps could not do
    cdef readonly Collider collider
    cdef long long revision_seen        # of the collider's shapes
    cdef public Sensors sensors         # that look after every step, or None
    cdef object kept_sizes
    cdef double* sizes                  # of bodies: how far they reach from their centres, or their radius of gyration [m]
    cdef readonly Islands islands
    cdef Struck struck                  # joints that a blow may reach
    cdef TunnellingGuard tunnelling_guard
    cdef Foresight foresight            # of the blows of what bounces
    cdef Displacement displacement      # of the stabilizations that solve for positions
    cdef readonly Articulations articulations   # None: joints are solved row by row
    cdef Py_ssize_t body_room           # for how many bodies they are planned
    cdef readonly object laboratory              # solves the rows as a problem, or None
    cdef PoseCallbacks pose_callbacks           # the user's functions of poses
    cdef SmoothSolver probing           # what joints answer, where sweeps and the direct solver take turns; or None
    cdef HeldSpans held_motors          # with it: bounded rows of articulations with motors, or None
    cdef readonly WideContacts wide     # the contacts, where `contacts_in_lanes`; elsewhere they are rows
    cdef bint contacts_in_lanes
    cdef readonly WideJoints wide_joints        # or None: the joints' own rows
    cdef bint bounces
    cdef double too_dear                # products a joint of a factorization that is not made for its price, or 0
    cdef Restitution restitution        # what bounces
    cdef int wanted                     # joint_tree of the settings, where there is a joint to solve
    cdef bint replanning                # a joint broke
    cdef object wrenches
    cdef Twist* wrench                  # forces on the bodies [N, N m]
    cdef FurtherSweeps further
    cdef int least                      # sweeps of a pass that all take part in

    cdef bint closes(self) except -1
    cdef int find_contacts(self) noexcept nogil
    cdef bint grow_here(self) noexcept with gil
    cdef bint make_room(self) noexcept nogil
    cdef bint grow_collider(self) noexcept with gil
    cdef int check_moving(self) noexcept nogil
    cdef void carry_contacts(self) noexcept nogil
    cdef void follow_islands(self) noexcept nogil
    cdef void undo(self) noexcept nogil
    cdef void choose_joints(self, const int8_t* asleep) noexcept nogil
