"""The energy of groups of trees on which nothing acts but weights, contacts, limits and friction."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.wide._lane_types cimport Wide3

cdef double BLUR

cdef class BoundedEnergy:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef TreeEnergy energies
    cdef object kept, kept_numbers
    # Of trees, as the substep began: their parts of their groups' kinetic energy and of that of gravity [J].
    cdef double* before
    cdef double* height
    # Of groups, at their first trees: kinetic energy, what they have gained and what they may [J].
    cdef double* kinetic
    cdef double* gained
    cdef double* may
    # Of groups that nothing holds: mass, velocity of the centre of mass and its acceleration.
    cdef double* mass
    cdef Wide3* shared
    cdef Vec3* mean
    cdef int32_t* group                  # (trees,) towards the first of the trees that rows join; -1: no row acts on it
    cdef int32_t* bounded                # (trees,): whether that is all that acts on it, on its group
    cdef int32_t* held                   # (trees,): whether anything that does not move holds it, its group
    cdef int32_t* touching               # (trees,): whether contacts act on it, its group

    cdef bint find(self, const double* forces, const int32_t* tied) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef bint settle(self) noexcept nogil
    cdef void find_shared(self) noexcept nogil
    cdef double kinetic_of(self, Py_ssize_t k) noexcept nogil
    cdef double height_of(self, Py_ssize_t k) noexcept nogil
    cdef int32_t join(self, const Row* row, int32_t body, int32_t other) noexcept nogil
    cdef bint only_takes(self, const Row* row) noexcept nogil
