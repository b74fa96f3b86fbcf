"""Distance joint: a rod, a rope or a spring between p_a and p_b.

    rod   C = |p_b - p_a| - length,      C' = n . (velocity of p_b - velocity of p_a),   n = (p_b - p_a) / |p_b - p_a|
    free coordinate: the distance |p_b - p_a| [m]; a rope is its upper limit
The arms go to p_b on both bodies: as n is along p_b - p_a, the same row as with a's arm to p_a. With u the velocity of
p_b less that of p_a, J' v = n . (w_b x (w_b x r_b) - w_a x (w_a x (p_a - x_a))) + (u.u - (n.u)^2) / |p_b - p_a|.
"""

from libc.math cimport isinf
from mcsim.constraints._parts cimport *


cdef inline Vec3 rod_direction(const JointFrames* f, double length) noexcept nogil:
    """n; a's joint z where the two points coincide and there is none."""
    return scale(1.0 / length, f.offset) if length > 1e-12 else f.axis_a[2]


cdef inline double curvature_distance(const JointFrames* f, const AxisGeometry* axes, int i) noexcept nogil:
    """J' v of the distance."""
    cdef double length = norm(f.offset)
    cdef Vec3 n = rod_direction(f, length)
    cdef Vec3 u = add(f.slip, cross(f.spin_a, f.offset))
    cdef double along = dot(n, u)
    cdef Vec3 a = sub(cross(f.spin_b, cross(f.spin_b, f.arm_b)),
                      cross(f.spin_a, cross(f.spin_a, sub(f.arm_a, f.offset))))
    return dot(n, a) + ((dot(u, u) - along * along) / length if length > 1e-12 else 0.0)


cdef inline int constrain_distance(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef double length = norm(f.offset)
    if isinf(joint.constant):
        return 0
    linear_row(rows, rod_direction(f, length), f.arm_a, f.arm_b)
    rows.error = length - joint.constant
    rows.curvature = curvature_distance(f, NULL, 0)
    return 1


cdef inline void axes_distance(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    axes[0].position = norm(f.offset)
    axes[0].axis = rod_direction(f, axes[0].position)
    axes[0].linear = 1


cdef inline void error_distance(const JointFrames* f, const Joint* joint, double* position,
                                double* angle) noexcept nogil:
    position[0] = 0.0 if isinf(joint.constant) else fabs(norm(f.offset) - joint.constant)
    angle[0] = 0.0
