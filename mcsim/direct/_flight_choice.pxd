"""Which articulations fly."""

from mcsim.direct._held_bounds cimport HeldBounds
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart


cdef class FlightChoice(ArticulationPart):
    cdef JointSolves solves

    cdef bint choose(self, HeldBounds bounds, double h) noexcept nogil
    cdef bint is_strained(self, Py_ssize_t g) noexcept nogil
    cdef void weigh(self, Py_ssize_t g) noexcept nogil
