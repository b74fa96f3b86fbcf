"""Free joint: forbids nothing, and measures where b is, seen from a.

    free coordinates: E_a' (p_b - p_a) [m], and the rotation vector log(q) in a's joint axes [rad]

What drives and bounds the rotation vector is what does so of a ball joint.
"""

from mcsim.constraints._ball cimport turning_drives
from mcsim.constraints._parts cimport *


cdef inline void axes_free(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    for i in range(3):
        slide_axis(&axes[i], f, i)
    turning_drives(&axes[3], f, &joint.axes[3])
