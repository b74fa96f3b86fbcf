"""What springs, and under "reference" friction and motors, of joints do as forces in continuous time.

    springs     f = -(k e + c u)                    e = x - rest, u = J v: what their rows are for h -> 0
    PD motors   f = -(k e + c (u - w)) within +-F   e = x - target, w the velocity that it is given; both by one law, with
                                                    the bounds of springs that pull or push alone (_spring_law.pxd)
    friction    f = -F s / sqrt(s^2 + creep^2)      s = u
    motors      the same of max_force               s = u - the velocity that they are given

The wrench on the two bodies is J' f. Dry friction is the limit for creep -> 0 of the second line. A motor for a position,
or without a bound, asks for an acceleration instead, with the force that this takes (solve/_held_motors.pyx):

    position    u' = -2 z w u - w^2 e               e = x - target, within max_force (_motors.pyx)
    velocity    u' = 0                              from u = the velocity that it is given

So does a rotor of inertia a, with the force f = -a u': its row has the compliance 1 / a.
"""

from libc.math cimport sqrt

from mcsim.constraints._spring_law cimport SpringLaw, is_slack, spring_law
from mcsim.core._numbers cimport TWO_PI
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport AXIS_ROWS, MOTOR_POSITION, Joint, JointAxis
from mcsim.state._row cimport BIASED, ROW_ARMATURE, ROW_JOINT, ROW_MOTOR, ROW_SPRING, Row
from mcsim.state._rows cimport rate
from mcsim.state._settings cimport Settings


cdef void add_joint_forces(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                           Row* rows, Twist* force, bint keep) noexcept nogil:
    cdef Py_ssize_t j
    cdef int i, k
    cdef Row* row
    cdef const JointAxis* axis
    cdef double* a
    cdef double* b
    cdef double u, f, slope = 0.0
    for j in range(count):
        for k in range(joints[j].row_count - joints[j].constraint_count):
            row = &rows[joints[j].row_begin + k]
            if not is_force(row, settings) or is_aimed(row, joints, settings):
                continue
            axis = &joints[j].axes[row.index // AXIS_ROWS]
            a = <double*>&bodies.twist[row.body_a]
            b = <double*>&bodies.twist[row.body_b]
            u = 0.0
            for i in range(6):
                u += row.jacobian[i] * a[i] + row.jacobian[6 + i] * b[i]
            f = force_along(row, axis, u, settings, &slope, &slope)
            if keep:
                row.impulse = settings.h * f
            a = <double*>&force[row.body_a]
            b = <double*>&force[row.body_b]
            for i in range(6):
                a[i] += row.jacobian[i] * f
                b[i] += row.jacobian[6 + i] * f


cdef double force_along(const Row* row, const JointAxis* axis, double u, const Settings* settings, double* by_position,
                        double* by_rate) noexcept nogil:
    cdef SpringLaw law
    cdef double f
    if row.kind == ROW_SPRING:
        if is_slack(axis, row.index, row.error):
            return 0.0
        law = spring_law(axis, row.index, row.error)
        f = -(law.stiffness * row.error + law.damping * (u - law.velocity))
        if law.least <= f <= law.most:
            by_position[0] -= law.stiffness
            by_rate[0] -= law.damping
        return min(max(f, law.least), law.most)
    if row.kind == ROW_MOTOR:
        return dry(axis.motor_max_force, u - axis.motor_velocity, settings, by_rate)
    return dry(axis.friction, u, settings, by_rate)


cdef inline double dry(double most, double slip, const Settings* settings, double* by_slip) noexcept nogil:
    cdef double square = settings.reference_creep * settings.reference_creep
    cdef double size = sqrt(slip * slip + square)
    by_slip[0] -= most * square / (size * size * size)
    return -most * slip / size


cdef Py_ssize_t mute_joint_forces(const Joint* joints, Py_ssize_t count, const Settings* settings,
                                  Row* rows) noexcept nogil:
    cdef Py_ssize_t j, muted = 0
    cdef int k
    cdef Row* row
    for j in range(count):
        for k in range(joints[j].row_count - joints[j].constraint_count):
            row = &rows[joints[j].row_begin + k]
            if is_force(row, settings):
                row.lower = 0.0
                row.upper = 0.0
                muted += 1
    return muted


cdef Py_ssize_t aim_accelerations(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                                  const Settings* settings) noexcept nogil:
    cdef const JointAxis* axis
    cdef double w
    cdef Py_ssize_t i, aimed = 0
    for i in range(count):
        if not begin_aim(&rows[i], joints, settings):
            continue
        aimed += 1
        rows[i].bias[BIASED] = rows[i].curvature
        axis = &joints[rows[i].source].axes[rows[i].index // AXIS_ROWS]
        if rows[i].kind == ROW_ARMATURE:
            free_rotor(&rows[i], -rows[i].curvature, BIASED)
            continue
        if axis.motor_mode == MOTOR_POSITION:
            w = TWO_PI * axis.motor_hertz
            rows[i].bias[BIASED] += w * (2.0 * axis.motor_damping_ratio * rate(&rows[i], twist) + w * rows[i].error)
        rows[i].upper = axis.motor_max_force
        rows[i].lower = -rows[i].upper
    return aimed


cdef Py_ssize_t aim_speeds(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                           const Settings* settings) noexcept nogil:
    cdef const JointAxis* axis
    cdef Py_ssize_t i, aimed = 0
    for i in range(count):
        if not begin_aim(&rows[i], joints, settings):
            continue
        if rows[i].kind == ROW_ARMATURE:
            free_rotor(&rows[i], rate(&rows[i], twist), BIASED)
            continue
        axis = &joints[rows[i].source].axes[rows[i].index // AXIS_ROWS]
        if axis.motor_mode == MOTOR_POSITION:
            continue
        rows[i].bias[BIASED] = -axis.motor_velocity
        rows[i].upper = axis.motor_max_force
        rows[i].lower = -rows[i].upper
        aimed += 1
    return aimed


cdef inline bint begin_aim(Row* row, const Joint* joints, const Settings* settings) noexcept nogil:
    """A row that nothing is asked of yet. -> whether something will be"""
    cdef bint aimed = is_aimed(row, joints, settings)
    if row.kind == ROW_JOINT or (settings.reference_creep == 0.0 and not aimed):
        return False
    row.lower = row.upper = 0.0
    if row.kind != ROW_ARMATURE:
        row.compliance[BIASED] = 0.0
    if not aimed:
        return False
    row.impulse = 0.0
    return True
