"""Slider (prismatic) joint: no relative turning, and b's joint point on the line through a's along z_a.

    C = (x_a . (p_b - p_a),  y_a . (p_b - p_a),  2 vec(q))
    free coordinate: z_a . (p_b - p_a) [m]
"""

from libc.math cimport sqrt
from mcsim.core._math cimport quat_log
from mcsim.constraints._parts cimport *


cdef inline int constrain_slider(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    for i in range(2):
        constrain_offset(&rows[i], f, i)
    constrain_rotation(&rows[2], f)
    return 5


cdef inline void axes_slider(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    slide_axis(&axes[0], f, 2)


cdef inline void error_slider(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    cdef double x = dot(f.axis_a[0], f.offset)
    cdef double y = dot(f.axis_a[1], f.offset)
    position[0] = sqrt(x * x + y * y)
    angle[0] = norm(quat_log(f.relative))
