"""Planar joint: b's joint point in the plane through a's at right angles to z_a, and z_b parallel to z_a.

    C = (z_a . (p_b - p_a),  s z_b . x_a,  s z_b . y_a)
    free coordinates: x_a . (p_b - p_a), y_a . (p_b - p_a) [m], and the twist angle 2 atan2(q_z, q_w) [rad]
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_planar(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_offset(&rows[0], f, 2)
    constrain_parallel(&rows[1], f)
    return 3


cdef inline void axes_planar(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    slide_axis(&axes[0], f, 0)
    slide_axis(&axes[1], f, 1)
    turn_axis(&axes[2], f)


cdef inline void error_planar(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    position[0] = fabs(dot(f.axis_a[2], f.offset))
    angle[0] = axis_tilt(f)
