"""Point on a plane: b's joint point in the plane through a's at right angles to z_a; b turns freely.

    C = z_a . (p_b - p_a)
    free coordinates: x_a . (p_b - p_a), y_a . (p_b - p_a) [m], and the rotation vector log(q) in a's joint axes [rad]
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_point_on_plane(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_offset(rows, f, 2)
    return 1


cdef inline void axes_point_on_plane(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    slide_axis(&axes[0], f, 0)
    slide_axis(&axes[1], f, 1)
    turning_axes(&axes[2], f)


cdef inline void error_point_on_plane(const JointFrames* f, const Joint* joint, double* position,
                                      double* angle) noexcept nogil:
    position[0] = fabs(dot(f.axis_a[2], f.offset))
    angle[0] = 0.0
