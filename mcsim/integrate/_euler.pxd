"""Semi-implicit Euler: the verbs that the pipeline calls."""

from mcsim.state._layout cimport Bodies, Settings
from mcsim.core._types cimport Quat, Vec3

cdef void integrate_velocities(Bodies* bodies, const Settings* settings) noexcept nogil
cdef void integrate_poses(Bodies* bodies, double h) noexcept nogil
cdef void update_inertia(Bodies* bodies) noexcept nogil
