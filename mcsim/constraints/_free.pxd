"""Free joint: forbids nothing, and measures where b is, seen from a.

    free coordinates: E_a' (p_b - p_a) [m], and the rotation vector log(q) in a's joint axes [rad]
"""

from mcsim.constraints._parts cimport *


cdef inline void axes_free(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    for i in range(3):
        slide_axis(&axes[i], f, i)
    turning_axes(&axes[3], f)
