"""How poses follow the velocities, and what mends their errors beside, by the stabilization's name."""

from libc.stdint cimport int32_t
from mcsim.constraints._islands cimport Islands
from mcsim.direct._articulations cimport Articulations
from mcsim.stabilize._displace cimport Displacement
from mcsim.step._chords cimport Chords
from mcsim.step._constraint_set cimport ConstraintSets, StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._sweeps cimport Sweeps

cdef class Drift:
    cdef StepContext context
    cdef Islands islands
    cdef Articulations closed           # joints that were moved as they were closed, or None

    cdef void move(self, Sweeps sweeps) noexcept nogil
    cdef void mend(self, Sweeps sweeps) noexcept nogil
    cdef void foresee(self) noexcept nogil
    cdef void move_on(self) noexcept nogil

cdef class Displaced(Drift):
    cdef PlainRows plain
    cdef Displacement displacement
    cdef Articulations articulations    # joints in turn with sweeps, or None

    cdef void begin(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void solve(self, Sweeps sweeps) noexcept nogil
    cdef void try_rows(self) noexcept nogil
    cdef void displace(self, double part) noexcept nogil

cdef class AlongChords(Displaced):
    cdef Chords chords

    cdef int share(self, int asked) noexcept nogil
    cdef void try_drift(self, bint first) noexcept nogil
