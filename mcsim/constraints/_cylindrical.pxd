"""Cylindrical joint: the axis z_b on the axis z_a; b slides along it and turns about it.

    C = (x_a . (p_b - p_a),  y_a . (p_b - p_a),  s z_b . x_a,  s z_b . y_a)
    free coordinates: z_a . (p_b - p_a) [m], and the twist angle 2 atan2(q_z, q_w) [rad]
"""

from libc.math cimport sqrt
from mcsim.constraints._parts cimport *


cdef inline int constrain_cylindrical(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    for i in range(2):
        constrain_offset(&rows[i], f, i)
    constrain_parallel(&rows[2], f)
    return 4


cdef inline void axes_cylindrical(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    slide_axis(&axes[0], f, 2)
    turn_axis(&axes[1], f)


cdef inline void error_cylindrical(const JointFrames* f, const Joint* joint, double* position,
                                   double* angle) noexcept nogil:
    cdef double x = dot(f.axis_a[0], f.offset)
    cdef double y = dot(f.axis_a[1], f.offset)
    position[0] = sqrt(x * x + y * y)
    angle[0] = axis_tilt(f)
