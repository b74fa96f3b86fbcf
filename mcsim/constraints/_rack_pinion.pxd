"""Rack and pinion: the rack a goes along its x_a by `radius` for each radian that the pinion b turns about z from a.

    C = x_a . (p_b - p_a) + radius psi,     psi the twist angle of b seen from a, which counts its turns
An impulse x_a at p_b with radius z about it is the one impulse x_a at p_b + radius (x_a x z), where the teeth meet.
free coordinate: psi [rad]
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_rack_pinion(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_geared(rows, f, 0, -joint.constant, counted_twist(f, &joint.axes[0]))
    return 1


cdef inline void error_rack_pinion(const JointFrames* f, const Joint* joint, double* position,
                                   double* angle) noexcept nogil:
    position[0] = fabs(dot(f.axis_a[0], f.offset) + joint.constant * counted_twist(f, &joint.axes[0]))
    angle[0] = 0.0


cdef inline void axes_rack_pinion(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    turn_axis(axes, f)
