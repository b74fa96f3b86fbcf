"""The contacts of a step."""

from libc.stdint cimport int32_t
from mcsim.collide._collider cimport Collider
from mcsim.collide._manifold_store cimport ManifoldStore
from mcsim.collide._foresight cimport Foresight
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._contact_filter cimport ContactFilter
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._sleepers cimport Sleepers
from mcsim.step._state_arrays cimport StateArrays

cdef class ContactSearch:
    cdef StepContext context
    cdef StateArrays arrays
    cdef PlainRows plain
    cdef Sleepers sleepers
    cdef Collider collider
    cdef ManifoldStore store
    cdef Foresight foresight            # of the blows of what bounces; or None
    cdef ContactFilter filter           # of the user's; or None

    cdef int find(self) noexcept nogil
    cdef int look(self) noexcept nogil
    cdef int collide(self) noexcept nogil
    cdef void carry(self) noexcept nogil
