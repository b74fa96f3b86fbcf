"""What joins the joints that are solved directly to what is swept beside them: how far warm starts of impulses act."""

from mcsim.direct._articulations cimport Articulations
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.wide._contacts cimport WideContacts

cdef class WholeWarmStarts:
    cdef void start(self) noexcept nogil
    cdef void weigh(self, bint second) noexcept nogil

cdef class JointWarmStarts(WholeWarmStarts):
    cdef StepContext context
    cdef PlainRows plain
    cdef WideContacts wide
    cdef Articulations articulations

    cdef bint weigh_once(self, bint second) noexcept nogil
    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil
