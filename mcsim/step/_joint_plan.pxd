"""Who solves which joints and contacts of a world."""

from mcsim.constraints._islands cimport Islands
from mcsim.direct._articulations cimport Articulations
from mcsim.stabilize._displace cimport Displacement
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._integrator cimport Integrator
from mcsim.step._locked_bodies cimport LockedBodies
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._state_arrays cimport StateArrays
from mcsim.wide._contacts cimport WideContacts
from mcsim.wide._joints cimport WideJoints

cdef class JointPlan:
    cdef StepContext context
    cdef StateArrays arrays
    cdef PlainRows plain
    cdef list base                      # sets that stand whatever is planned
    cdef ConstraintSets sets            # what brings rows
    cdef Integrator integrator
    cdef Restitution restitution
    cdef Islands islands
    cdef Displacement displacement      # of the stabilizations that solve for positions
    cdef object room
    cdef readonly WideContacts wide     # the contacts, where `contacts_in_lanes`; elsewhere they are rows
    cdef bint contacts_in_lanes
    cdef int least                      # sweeps of a pass that all take part in
    cdef readonly bint bounces
    cdef int wanted                     # joint_tree of the settings, where there is a joint to solve
    cdef double too_dear                # products a joint of a factorization that is not made for its price, or 0
    cdef Py_ssize_t body_room           # for how many bodies they are planned
    cdef readonly Articulations articulations   # None: joints are solved row by row
    cdef Articulations closed           # those that close their joints by themselves, or None
    cdef readonly WideJoints wide_joints        # or None: the joints' own rows
    cdef object locks                   # numbers of the locks that go into inverse masses
    cdef readonly LockedBodies locked   # or None: there are none

    cdef follow_edit(self, bint moved)
    cdef bint closes(self) except -1
    cdef void notes(self) noexcept nogil
