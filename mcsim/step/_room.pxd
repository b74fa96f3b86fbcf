"""Room for the rows and contacts of a world."""

from mcsim.collide._collider cimport Collider
from mcsim.solve._pgs cimport Delassus
from mcsim.stabilize._displace cimport Displacement
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._integrator cimport Integrator
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.wide._contacts cimport WideContacts

cdef class Room:
    cdef StepContext context
    cdef Collider collider
    cdef PlainRows plain
    cdef ConstraintSets sets
    cdef WideContacts wide
    cdef Displacement displacement
    cdef Delassus matrix                # or None
    cdef Restitution restitution
    cdef Integrator integrator

    cdef bint grow_in_step(self) noexcept with gil
