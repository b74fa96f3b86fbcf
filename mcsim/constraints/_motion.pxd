"""Prescribed (rheonomic) motion: a free coordinate q of a joint that follows a function of time.

    C = q - q_t(t),     dC/dt = J v - q_t',     d2C/dt2 = J' v + J a - q_t''
One more bilateral row of the joint's own block. Three coordinates of a ball joint, and of a free one, are a rotation
vector r_t(t): with R = exp(r_t) the target, C = log(q_rel R*), and the target's angular velocity in a's joint axes is
    w_t = r' + b r x r' + c r x (r x r'),     b = (1 - cos s) / s^2,   c = (s - sin s) / s^3,   s = |r|
Source: the left Jacobian of SO(3): G. Chirikjian, "Stochastic Models, Information Theory, and Lie Groups", vol. 2,
2012, 10.86.
"""

from libc.math cimport sqrt
from mcsim.core._math cimport quat_log, quat_exp
from mcsim.core._trig cimport sine_cosine
from mcsim.state._joint cimport AXIS_MOTOR, JointAxis, MOTION_NONE, MOTION_FORMULA
from mcsim.state._joint_types cimport ROTATION
from mcsim.constraints._joint_table cimport curvature_by_type
from mcsim.constraints._parts cimport *


cdef inline void motion_target(const JointAxis* axis, double t, double ahead, double* q, double* u,
                               double* a) noexcept nogil:
    """The target's position, velocity and acceleration at time t + ahead; of a function, known at t, by its Taylor
    series."""
    cdef double rate, s, c
    t = t + ahead if axis.motion_mode == MOTION_FORMULA else ahead
    q[0] = axis.motion[0]
    u[0] = axis.motion[1]
    a[0] = axis.motion[2]
    q[0] += t * (u[0] + 0.5 * t * a[0])
    u[0] += t * a[0]
    if axis.motion_mode == MOTION_FORMULA:
        rate = 6.283185307179586 * axis.motion[4]
        sine_cosine(rate * t + axis.motion[5], &s, &c)
        q[0] += axis.motion[3] * s
        u[0] += axis.motion[3] * rate * c
        a[0] -= axis.motion[3] * rate * rate * s


cdef inline void rotation_rates(Vec3 r, Vec3 u, Vec3 a, Vec3* spin, Vec3* turn) noexcept nogil:
    """Of a rotation vector r with derivatives u, a: angular velocity, and its derivative (components in fixed axes)."""
    cdef double s2 = dot(r, r)
    cdef double s = sqrt(s2)
    cdef double b, c, db, dc, sine, cosine
    cdef Vec3 ru = cross(r, u)
    cdef Vec3 rru = cross(r, ru)
    if s < 1e-2:
        # Series; the next terms are below 1e-14. db, dc: derivatives by s, over s.
        b = 0.5 - s2 / 24.0 + s2 * s2 / 720.0
        c = 1.0 / 6.0 - s2 / 120.0 + s2 * s2 / 5040.0
        db = -1.0 / 12.0 + s2 / 180.0
        dc = -1.0 / 60.0 + s2 / 1260.0
    else:
        sine_cosine(s, &sine, &cosine)
        b = (1.0 - cosine) / s2
        c = (s - sine) / (s2 * s)
        db = (s * sine - 2.0 * (1.0 - cosine)) / (s2 * s2)
        dc = (s * (1.0 - cosine) - 3.0 * (s - sine)) / (s2 * s2 * s)
    db *= dot(r, u)
    dc *= dot(r, u)
    spin[0] = add_scaled(add_scaled(u, b, ru), c, rru)
    turn[0] = add_scaled(add_scaled(a, b, cross(r, a)), db, ru)
    turn[0] = add_scaled(add_scaled(turn[0], dc, rru), c, add(cross(u, ru), cross(r, cross(r, a))))


cdef inline double axis_curvature(const Joint* joint, int i, const AxisGeometry* axes,
                                  const JointFrames* f) noexcept nogil:
    """J' v of axis i: what the type's own file says, else (d' . relative velocity), d carried by a, of ways and rotation
    vectors, and that of the twist, whose axis lies between the two bodies' axes."""
    cdef double own
    if curvature_by_type(joint, f, axes, i, &own):
        return own
    if axes[i].linear:
        return offset_curvature(f, axes[i].axis)
    if i >= ROTATION[joint.type]:
        return dot(cross(f.spin_a, axes[i].axis), sub(f.spin_b, f.spin_a))
    return twist_curvature(f)


cdef inline int constrain_motions(Row* rows, double* rates, const Joint* joint, const AxisGeometry* axes,
                                  const JointFrames* f, double t, double ahead) noexcept nogil:
    """Rows of the axes that follow a motion, in the order of the axes. -> how many."""
    cdef Vec3 q, u, a, spin, turn, off
    # the rotation vector's first
    cdef int turning = ROTATION[joint.type]
    cdef int i, n = 0
    if turning < joint.axis_count and joint.axes[turning].motion_mode != MOTION_NONE:
        for i in range(3):
            motion_target(&joint.axes[turning + i], t, ahead, &(&q.x)[i], &(&u.x)[i], &(&a.x)[i])
        rotation_rates(q, u, a, &spin, &turn)
        off = quat_log(quat_mul(f.relative, quat_conj(quat_exp(q))))
    for i in range(joint.axis_count):
        if joint.axes[i].motion_mode == MOTION_NONE:
            continue
        axis_row(&rows[n], &axes[i], axes[i].axis, f)
        if i >= turning:
            rows[n].error = (&off.x)[i - turning]
            rates[n] = -(&spin.x)[i - turning]
            rows[n].curvature = -(&turn.x)[i - turning]
        else:
            motion_target(&joint.axes[i], t, ahead, &q.x, &u.x, &a.x)
            rows[n].error = axes[i].position - q.x
            rates[n] = -u.x
            rows[n].curvature = -a.x
        rows[n].curvature += axis_curvature(joint, i, axes, f)
        n += 1
    return n


cdef inline void store_motions(Joint* joint) noexcept nogil:
    """What moved each prescribed axis, to where a motor's impulse would be: the block's last rows, in the order of the
    axes."""
    cdef int end = joint.constraint_count
    cdef int i
    if end == 0:
        return
    for i in range(joint.axis_count - 1, -1, -1):
        if joint.axes[i].motion_mode != MOTION_NONE:
            end -= 1
            joint.axes[i].impulse[<int>AXIS_MOTOR] = joint.impulse[end]
