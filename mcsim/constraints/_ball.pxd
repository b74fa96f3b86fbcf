"""Ball joint: one point of each body held together, all turning free.

    C = E_a' (p_b - p_a)                                                   3 rows, E_a the joint axes on a
    swing limit   limit - theta >= 0,   theta = angle(z_a, z_b),   theta' = u . (w_b - w_a),   u = z_a x z_b / |.|
    twist limit   psi = 2 atan2(q_z, q_w) of the swing-twist split q = q_swing q_twist,   psi' = z . w,
                  z = (z_a + z_b)/(1 + z_a.z_b)
    free coordinates: the rotation vector r = log(q) in a's joint axes; a spring's torque -k log(q q_rest*) is the
    gradient of k/2 |log(q q_rest*)|^2.

Source: swing-twist split: P. Dobrowolski, "Swing-twist decomposition in Clifford algebra", 2015; rows: any of Catto's
talks.
"""

from mcsim.core._rotation_vectors cimport rate_beside
from mcsim.core._trig cimport arctan2
from mcsim.core._math cimport dot, vec3, quat_log, quat_exp, quat_mul, quat_conj, normalized
from mcsim.constraints._parts cimport *
from mcsim.state._joint cimport JointAxis, MOTOR_NONE


cdef inline int constrain_ball(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_point(rows, f)
    return 3


cdef inline double ball_swing(const JointFrames* f, Vec3* axis) noexcept nogil:
    """The swing angle [rad] and the world axis about which it grows."""
    cdef Vec3 u = cross(f.axis_a[2], f.axis_b[2])
    cdef double s = norm(u)
    axis[0] = scale(1.0 / s, u) if s > 1e-9 else f.axis_a[0]
    return arctan2(s, dot(f.axis_a[2], f.axis_b[2]))


cdef inline void turning_drives(AxisGeometry* axes, const JointFrames* f, const JointAxis* own) noexcept nogil:
    """The three coordinates of a rotation vector, what their springs and motors are off, and the twist's limit.  Ball,
    free. own: the joint's axes, from the first of the three on, as axes."""
    cdef Vec3 spring = vec3(0.0, 0.0, 0.0)
    cdef Vec3 motor = vec3(0.0, 0.0, 0.0)
    cdef bint has_spring = False
    cdef bint has_motor = False
    cdef int i
    turning_axes(axes, f)
    for i in range(3):
        has_spring = has_spring or own[i].has_spring
        has_motor = has_motor or own[i].motor_mode != MOTOR_NONE
    if has_spring:
        spring = vec3(own[0].rest, own[1].rest, own[2].rest)
        spring = quat_log(quat_mul(f.relative, quat_conj(quat_exp(spring))))
    if has_motor:
        motor = vec3(own[0].motor_position, own[1].motor_position, own[2].motor_position)
        motor = quat_log(quat_mul(f.relative, quat_conj(quat_exp(motor))))
    for i in range(3):
        axes[i].spring_error = (&spring.x)[i]
        axes[i].motor_error = (&motor.x)[i]
    axes[2].limit_axis = twist_axis(f)
    axes[2].limit_position = 2.0 * arctan2(f.relative.z, f.relative.w)


cdef inline void rate_drives(AxisGeometry* axes, const JointFrames* f, Vec3 spin) noexcept nogil:
    """Of the three coordinates of a rotation vector, how fast what springs and motors are off changes beside the rate about
    each axis. spin: of b against a, world."""
    cdef Vec3 w = vec3(dot(f.axis_a[0], spin), dot(f.axis_a[1], spin), dot(f.axis_a[2], spin))
    cdef Vec3 spring = rate_beside(vec3(axes[0].spring_error, axes[1].spring_error, axes[2].spring_error), w)
    cdef Vec3 motor = rate_beside(vec3(axes[0].motor_error, axes[1].motor_error, axes[2].motor_error), w)
    cdef int i
    for i in range(3):
        axes[i].spring_rate, axes[i].motor_rate = (&spring.x)[i], (&motor.x)[i]


cdef inline void axes_ball(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    turning_drives(axes, f, joint.axes)


cdef inline void error_ball(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = 0.0
