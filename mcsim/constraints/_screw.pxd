"""Screw (helical) joint: a cylindrical joint whose way follows its angle.

    C = (x_a . (p_b - p_a),  y_a . (p_b - p_a),  s z_b . x_a,  s z_b . y_a,  z_a . (p_b - p_a) - pitch psi)
    free coordinate: the twist angle psi, which counts its turns; pitch in m/rad
"""

from mcsim.constraints._parts cimport *
from mcsim.constraints._cylindrical cimport constrain_cylindrical, error_cylindrical


cdef inline int constrain_screw(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_cylindrical(rows, f, joint)
    constrain_geared(&rows[4], f, 2, joint.constant, counted_twist(f, &joint.axes[0]))
    return 5


cdef inline void error_screw(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    cdef double along = dot(f.axis_a[2], f.offset) - joint.constant * counted_twist(f, &joint.axes[0])
    error_cylindrical(f, joint, position, angle)
    position[0] = sqrt(position[0] * position[0] + along * along)


cdef inline void axes_screw(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    turn_axis(axes, f)
