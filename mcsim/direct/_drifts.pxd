"""One articulation's drift, and bodies moved."""

from mcsim.direct._flight_choice cimport FlightChoice
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart


cdef class Projections(ArticulationPart):
    cdef JointSolves solves

    cdef void project(self, Py_ssize_t g) noexcept nogil
    cdef void project_once(self, Py_ssize_t g, double part) noexcept nogil
    cdef void carry_gears(self, Py_ssize_t g) noexcept nogil
    cdef void refresh_one(self, Py_ssize_t g) noexcept nogil


cdef class Drifts(ArticulationPart):
    cdef JointSolves solves
    cdef Projections projections
    cdef readonly FlightChoice choice   # whether it flies

    cdef double drift(self, Py_ssize_t g) noexcept nogil
    cdef void drift_driven(self, Py_ssize_t g) noexcept nogil
    cdef void accept(self, Py_ssize_t g) noexcept nogil
    cdef void close_one(self, Py_ssize_t g) noexcept nogil
    cdef void correct(self, Py_ssize_t g) noexcept nogil
    cdef double shorten(self, Py_ssize_t g, double off, double before) noexcept nogil
    cdef bint leaps(self, Py_ssize_t g) noexcept nogil
    cdef void fly(self, Py_ssize_t g) noexcept nogil
