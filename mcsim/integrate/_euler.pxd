"""Semi-implicit Euler: the verbs that the pipeline calls."""

from libc.stdint cimport int32_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Settings
from mcsim.core._types cimport Quat, Vec3

cdef void integrate_velocities(Bodies* bodies, const Settings* settings, double part) noexcept nogil
cdef void try_poses(Bodies* bodies, const int32_t* chosen, const int32_t* places, Py_ssize_t count,
                    const Vec3* position, const Quat* orientation, double h) noexcept nogil
cdef void accept_poses(Bodies* bodies, const int32_t* chosen, const int32_t* places, Py_ssize_t count,
                       const Quat* orientation, double h) noexcept nogil
cdef void integrate_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, double h,
                          int threads) noexcept nogil
cdef void update_inertia(Bodies* bodies) noexcept nogil
