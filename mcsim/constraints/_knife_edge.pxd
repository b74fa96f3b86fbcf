"""Knife edge (skate): the blade's point on b does not move across the blade. Nonholonomic: one velocity row, no error.

    d . (v_b + w_b x r_b - v_a - w_a x r_a) = 0,     d = z_b across the blade
With u the slip (the bracket) and r_a' = u + w_a x r_a:   J' v = (w_b x d) . u + d . (w_b x (w_b x r_b) - w_a x r_a')
Source: S. Chaplygin, "On the theory of motion of nonholonomic systems", 1911; J. Neimark, N. Fufaev 1972.
"""

from mcsim.constraints._parts cimport *


cdef inline int constrain_knife_edge(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef Vec3 d = f.axis_b[2]
    cdef Vec3 turn = sub(cross(f.spin_b, cross(f.spin_b, f.arm_b)),
                         cross(f.spin_a, add(f.slip, cross(f.spin_a, f.arm_a))))
    linear_row(rows, d, f.arm_a, f.arm_b)
    rows.error = 0.0
    rows.curvature = dot(cross(f.spin_b, d), f.slip) + dot(d, turn)
    return 1


cdef inline bint holds_knife_edge(const Joint* joint, int i) noexcept nogil:
    return False
