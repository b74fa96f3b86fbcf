"""Hinge (revolute) joint: one point together and the two hinge axes parallel.

    C = (E_a' (p_b - p_a),  s z_b . x_a,  s z_b . y_a)      s = 2 / (1 + z_a . z_b), see constrain_parallel
    free coordinate: the twist angle 2 atan2(q_z, q_w),  its rate (z_a + z_b)/(1 + z_a.z_b) . (w_b - w_a)
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_hinge(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_point(rows, f)
    constrain_parallel(&rows[3], f)
    return 5


cdef inline void axes_hinge(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    turn_axis(&axes[0], f)


cdef inline void error_hinge(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = axis_tilt(f)
