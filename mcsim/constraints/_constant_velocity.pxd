"""Constant-velocity joint: one point together, and b bends against a without twist, so that both shafts turn alike.

    C = (E_a' (p_b - p_a),  psi),    psi = 2 atan2(q_z, q_w),    psi' = (z_a + z_b) / (1 + z_a . z_b) . (w_b - w_a)
With psi = 0 the bodies turn against each other about axes in the plane that bisects the angle between the two shafts,
z_a + z_b its normal: so both have one speed about their own shafts, at any bend below pi.
Source: K. Hunt, "Constant-velocity shaft couplings: a general theory", J. Engineering for Industry 95, 1973.
"""

from mcsim.core._trig cimport arctan2
from mcsim.constraints._parts cimport *


cdef inline int constrain_constant_velocity(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_point(rows, f)
    angular_row(&rows[3], twist_axis(f))
    rows[3].error = 2.0 * arctan2(f.relative.z, f.relative.w)
    rows[3].curvature = twist_curvature(f)
    return 4


cdef inline void error_constant_velocity(const JointFrames* f, const Joint* joint, double* position,
                                         double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = fabs(2.0 * arctan2(f.relative.z, f.relative.w))
