"""The joints of what further sweeps change."""

from libc.stdint cimport int32_t

from mcsim.core._types cimport Twist
from mcsim.direct._held_bounds cimport HeldBounds
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart
from mcsim.state._manifold cimport Manifold


cdef class FurtherSolves(ArticulationPart):
    cdef JointSolves solves
    cdef HeldBounds bounds

    cdef void share_masses(self, double* inv_mass) noexcept nogil
    cdef bint find_answers(self, const Manifold* manifolds, Py_ssize_t count, const double* share) noexcept nogil
    cdef double burdened(self, const Manifold* m) noexcept nogil
    cdef bint find_changed(self, int sweep, const int32_t* changed) noexcept nogil
    cdef void spread_changes(self, int sweep, int32_t* changed) noexcept nogil
    cdef void solve_changed(self, Twist* twist, const double* sizes, double speed, double rate, int sweep,
                            int32_t* changed) noexcept nogil
