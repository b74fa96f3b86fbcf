"""Slot (point on a line): b's joint point on the line through a's along z_a; b turns freely.

    C = (x_a . (p_b - p_a),  y_a . (p_b - p_a))
    free coordinates: z_a . (p_b - p_a) [m], and the rotation vector log(q) in a's joint axes [rad]
"""

from libc.math cimport sqrt
from mcsim.constraints._parts cimport *


cdef inline int constrain_slot(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    for i in range(2):
        constrain_offset(&rows[i], f, i)
    return 2


cdef inline void axes_slot(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    slide_axis(&axes[0], f, 2)
    turning_axes(&axes[1], f)


cdef inline void error_slot(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    cdef double x = dot(f.axis_a[0], f.offset)
    cdef double y = dot(f.axis_a[1], f.offset)
    position[0] = sqrt(x * x + y * y)
    angle[0] = 0.0
