"""Hinge (revolute) joint: one point together and the two hinge axes parallel.

    C = (E_a' (p_b - p_a),  z_b . x_a,  z_b . y_a)      d/dt z_b.x_a = (z_b x x_a) . (w_b - w_a), the same with y_a
    free coordinate: the twist angle 2 atan2(q_z, q_w),  its rate (z_a + z_b)/(1 + z_a.z_b) . (w_b - w_a)
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_hinge(Row* rows, const JointFrames* f) noexcept nogil:
    cdef int i
    constrain_point(rows, f)
    for i in range(2):
        constrain_right_angle(&rows[3 + i], f, f.axis_a[i], f.axis_b[2])
    return 5


cdef inline void axes_hinge(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    turn_axis(&axes[0], f)


cdef inline void error_hinge(const JointFrames* f, double* position, double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = axis_tilt(f)
