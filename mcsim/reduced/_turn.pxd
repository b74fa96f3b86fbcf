"""Coordinates of joints after some time at given velocities."""

from mcsim.core._math cimport quat, quat_exp, quat_mul, quat_normalized, vec3
from mcsim.core._trig cimport sine_cosine
from mcsim.core._types cimport Quat
from mcsim.reduced._links cimport PLANAR, Link

cdef enum:
    MOST_COORDINATES = 7         # of a joint


cdef inline void turn_by(double* q, double h, const double* w) noexcept nogil:
    """q <- q exp(h w / 2): w in the turned axes."""
    cdef Quat r = quat_normalized(quat_mul(quat(q[0], q[1], q[2], q[3]), quat_exp(vec3(h * w[0], h * w[1], h * w[2]))))
    q[0], q[1], q[2], q[3] = r.w, r.x, r.y, r.z


cdef inline void drift_planar(double* q, double h, const double* w) noexcept nogil:
    """Velocities are in F_s, the position in F_p: turned by the angle half-way."""
    cdef double s, c
    sine_cosine(q[2] + 0.5 * h * w[2], &s, &c)
    q[0] += h * (c * w[0] - s * w[1])
    q[1] += h * (s * w[0] + c * w[1])
    q[2] += h * w[2]


cdef inline bint drifts_straight(const Link* link) noexcept nogil:
    """Whether a joint's velocities are the rates of its coordinates."""
    return link.quaternion < 0 and link.kind != PLANAR


cdef inline void drift_joint(const Link* link, double* q, double h, const double* w) noexcept nogil:
    """A joint's coordinates q after h at the velocities w."""
    cdef int k
    if link.quaternion >= 0:
        for k in range(link.quaternion):
            q[k] += h * w[k]
        turn_by(&q[link.quaternion], h, &w[link.quaternion])
    elif link.kind == PLANAR:
        drift_planar(q, h, w)
    else:
        for k in range(link.freedoms):
            q[k] += h * w[k]
