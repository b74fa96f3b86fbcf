"""The motion of an articulation as one rigid body, and beside it."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.direct._flight_rows cimport FlightRows
from mcsim.solve._tree cimport Articulation, JointTree
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._settings cimport Settings

cdef class WholeMotion:
    cdef JointTree tree
    cdef FlightRows rows
    cdef object kept
    cdef const int32_t* member
    cdef const int32_t* driven
    cdef Bodies* bodies
    cdef const Joint* joints
    cdef const Settings* settings

    cdef void attach(self, Bodies* bodies, const Joint* joints, const Settings* settings) noexcept
    cdef Vec3 velocity_of(self, const Articulation* a) noexcept nogil
    cdef double kinetic(self, const Articulation* a) noexcept nogil
    cdef double kicked(self, const Articulation* a, double h) noexcept nogil
    cdef Mat3 find_whole(self, const Articulation* a, Twist* whole, Vec3* center, Vec3* turning) noexcept nogil
    cdef double find_kept(self, const Articulation* a, Twist* kept, Vec3* center) noexcept nogil
    cdef void restore(self, const Articulation* a, Vec3 velocity, Vec3 turning) noexcept nogil
    cdef void stretch(self, const Articulation* a, double s, Twist kept, Vec3 center) noexcept nogil
    cdef void give_back(self, const Articulation* a, double energy, double kinetic, double h) noexcept nogil
    cdef bint is_driven(self, const Articulation* a) noexcept nogil
    cdef double driven_work(self, const Articulation* a) noexcept nogil
    cdef const Twist* driver(self, int i, const Twist* still) noexcept nogil
