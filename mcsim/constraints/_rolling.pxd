"""Rolling without slipping: a sphere or disc of b, centre c, on the plane of a through p_a with normal n = z_a.

The lowest point is p = c - r e: of a sphere e = n, of a disc with axis d = z_b the unit vector along u = n - (n . d) d.
    holonomic row       C = n . (c - p_a) - r |u|           (|u| = 1 for a sphere)
    nonholonomic rows   t . s = 0,  t = x_a, y_a,           s = v_b + w_b x (p - x_b) - v_a - w_a x (p - x_a)
The rate of C is n . s: p moves on b only along the rim. So all three rows are those of a point that both bodies share,
and with x_a, y_a, z_a fixed on a,   J' v = (w_a x t) . s + t . (w_b x (p - x_b)' - w_a x (p - x_a)')
Source: J. Neimark, N. Fufaev, "Dynamics of Nonholonomic Systems", 1972.
"""

from mcsim.core._math cimport normalized
from mcsim.constraints._parts cimport *


ctypedef struct Touch:
    Vec3 arm                 # from the centre to the lowest point, -r e
    Vec3 arm_rate
    double depth             # how far the lowest point is below the centre, r |u|


cdef inline Touch touching(const JointFrames* f, const Joint* joint) noexcept nogil:
    """Where b touches the plane, and how that place moves. A disc that lies flat touches along its x."""
    cdef Touch touch
    cdef Vec3 n = f.axis_a[2]
    cdef Vec3 d = f.axis_b[2]
    cdef Vec3 n_rate = cross(f.spin_a, n)
    cdef Vec3 d_rate, u, u_rate, e
    cdef double lean, length
    if not joint.disc:
        touch.arm = scale(-joint.radius, n)
        touch.arm_rate = scale(-joint.radius, n_rate)
        touch.depth = joint.radius
        return touch
    lean = dot(n, d)
    d_rate = cross(f.spin_b, d)
    u = add_scaled(n, -lean, d)
    length = norm(u)
    if length < 1e-9:
        length = 1e-9
        e = f.axis_b[0]
    else:
        e = scale(1.0 / length, u)
    u_rate = add_scaled(add_scaled(n_rate, -(dot(n_rate, d) + dot(n, d_rate)), d), -lean, d_rate)
    touch.arm = scale(-joint.radius, e)
    touch.arm_rate = scale(-joint.radius / length, add_scaled(u_rate, -dot(e, u_rate), e))
    touch.depth = joint.radius * length
    return touch


cdef inline int constrain_rolling(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef Touch touch = touching(f, joint)
    cdef Vec3 slip = add(f.slip, cross(sub(f.spin_b, f.spin_a), touch.arm))
    cdef Vec3 rate_a = add(add(f.slip, cross(f.spin_a, f.arm_a)), touch.arm_rate)
    cdef Vec3 rate_b = add(cross(f.spin_b, f.arm_b), touch.arm_rate)
    cdef Vec3 turn = sub(cross(f.spin_b, rate_b), cross(f.spin_a, rate_a))
    cdef Vec3 t
    cdef int i
    for i in range(3):
        t = f.axis_a[(i + 2) % 3]              # the normal first, then the two tangents
        linear_row(&rows[i], t, add(f.arm_a, touch.arm), add(f.arm_b, touch.arm))
        rows[i].error = 0.0
        rows[i].curvature = dot(cross(f.spin_a, t), slip) + dot(t, turn)
    rows[0].error = dot(f.axis_a[2], f.offset) - touch.depth
    return 3


cdef inline void error_rolling(const JointFrames* f, const Joint* joint, double* position,
                               double* angle) noexcept nogil:
    position[0] = fabs(dot(f.axis_a[2], f.offset) - touching(f, joint).depth)
    angle[0] = 0.0


cdef inline bint holds_rolling(const Joint* joint, int i) noexcept nogil:
    return i == 0
