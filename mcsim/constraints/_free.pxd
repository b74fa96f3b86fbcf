"""Free joint: forbids nothing, and measures where b is, seen from a.

    free coordinates: E_a' (p_b - p_a) [m], and the rotation vector log(q) in a's joint axes [rad]
"""

from mcsim.core._math cimport quat_log
from mcsim.constraints._parts cimport *


cdef inline void axes_free(AxisGeometry* axes, const JointFrames* f) noexcept nogil:
    cdef Vec3 turn = quat_log(f.relative)
    cdef int i
    for i in range(3):
        slide_axis(&axes[i], f, i)
        axes[3 + i].axis = f.axis_a[i]
        axes[3 + i].position = (&turn.x)[i]
