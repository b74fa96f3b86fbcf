"""A coordinate that is a quaternion, turned."""

from mcsim.core._math cimport quat, quat_exp, quat_mul, quat_normalized, vec3
from mcsim.core._types cimport Quat


cdef inline void turn_by(double* q, double h, const double* w) noexcept nogil:
    """q <- q exp(h w / 2): w in the turned axes."""
    cdef Quat r = quat_normalized(quat_mul(quat(q[0], q[1], q[2], q[3]), quat_exp(vec3(h * w[0], h * w[1], h * w[2]))))
    q[0], q[1], q[2], q[3] = r.w, r.x, r.y, r.z
