"""Universal (Cardan) joint: one point together, and axis_a of a at right angles to axis_b of b.

    C = (E_a' (p_b - p_a),  a . b)          a = z_a (axis_a), b = x_b (axis_b);   d/dt a.b = (b x a) . (w_b - w_a)
    phi_1 = atan2(b . y_a, b . x_a)         turn of b about axis_a,   phi_1' = (a - b (a.b)) / (1 - (a.b)^2) . w
    phi_2 = atan2(a . y_b, a . z_b)         turn about axis_b,        phi_2' = (b - a (a.b)) / (1 - (a.b)^2) . w
"""

from mcsim.core._trig cimport arctan2
from mcsim.constraints._parts cimport *


cdef inline int constrain_universal(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_point(rows, f)
    constrain_right_angle(&rows[3], f, f.axis_a[2], f.axis_b[0])
    return 4


cdef inline void axes_universal(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef Vec3 a = f.axis_a[2]
    cdef Vec3 b = f.axis_b[0]
    cdef double ab = dot(a, b)
    cdef double s = 1.0 - ab * ab
    s = 1.0 / (s if s > 0.01 else 0.01)
    axes[0].axis = scale(s, add_scaled(a, -ab, b))
    axes[0].position = arctan2(dot(b, f.axis_a[1]), dot(b, f.axis_a[0]))
    axes[1].axis = scale(s, add_scaled(b, -ab, a))
    axes[1].position = arctan2(dot(a, f.axis_b[1]), dot(a, f.axis_b[2]))


cdef inline void error_universal(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = arctan2(fabs(dot(f.axis_a[2], f.axis_b[0])), norm(cross(f.axis_a[2], f.axis_b[0])))


cdef inline double curvature_universal(const JointFrames* f, const AxisGeometry* axes, int i) noexcept nogil:
    """The two axes also stay at right angles."""
    cdef Vec3 w = sub(f.spin_b, f.spin_a)
    cdef Vec3 a = f.axis_a[2]
    cdef Vec3 b = f.axis_b[0]
    cdef double narrowing = dot(cross(b, a), w)
    if i == 0:
        return dot(cross(f.spin_a, a), w) - narrowing * dot(b, w)
    return dot(cross(f.spin_b, b), w) - narrowing * dot(a, w)
