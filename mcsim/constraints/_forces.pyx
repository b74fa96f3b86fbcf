"""Springs and position motors of joints as forces in continuous time: what their rows are for h -> 0.

    spring           f = -(k e + c u)                                       e = x - rest, u = J v
    position motor   f = -m (w^2 e + 2 z w u), |f| <= max_force             e = x - target, w = 2 pi hertz

m is the mass that the motor moves with its joint holding, from the compliance of its row (docs/theory/motor.md). The
wrench on the two bodies is J' f.
"""

from mcsim.constraints._joints cimport motor_point, motor_stiffness
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport (
    AXIS_ROWS, BIASED, MOTOR_POSITION, ROW_MOTOR, ROW_SPRING, Bodies, Joint, JointAxis, Row, Settings)

cdef double TWO_PI = 6.283185307179586


cdef inline bint is_force(const Joint* joint, const Row* row) noexcept nogil:
    """A spring's row or a position motor's."""
    return row.kind == ROW_SPRING or (
        row.kind == ROW_MOTOR and joint.axes[row.index // AXIS_ROWS].motor_mode == MOTOR_POSITION)


cdef double row_force(const Row* row, const JointAxis* axis, double u, const Settings* settings) noexcept nogil:
    """The force of a spring's or position motor's row [N or N m]. The row's compliance is that of its first pass, a
    part of the substep."""
    cdef double w, f, moved
    if row.kind == ROW_SPRING:
        return -(axis.stiffness * row.error + axis.damping * u)
    moved = row.compliance[BIASED] * settings.first_kick * motor_stiffness(axis, motor_point(axis, settings), settings)
    if not moved > 0.0:
        return 0.0
    w = TWO_PI * axis.motor_hertz
    f = -(w * w * row.error + 2.0 * axis.motor_damping_ratio * w * u) / moved
    return min(max(f, -axis.motor_max_force), axis.motor_max_force)


cdef void add_joint_forces(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                           Row* rows, Twist* force, bint keep) noexcept nogil:
    cdef Py_ssize_t j
    cdef int i, k
    cdef Row* row
    cdef const JointAxis* axis
    cdef double* a
    cdef double* b
    cdef double u, f
    for j in range(count):
        for k in range(joints[j].row_count - joints[j].constraint_count):
            row = &rows[joints[j].row_begin + k]
            if not is_force(&joints[j], row):
                continue
            axis = &joints[j].axes[row.index // AXIS_ROWS]
            a = <double*>&bodies.twist[row.body_a]
            b = <double*>&bodies.twist[row.body_b]
            u = 0.0
            for i in range(6):
                u += row.jacobian[i] * a[i] + row.jacobian[6 + i] * b[i]
            f = row_force(row, axis, u, settings)
            if keep:
                row.impulse = settings.h * f
            a = <double*>&force[row.body_a]
            b = <double*>&force[row.body_b]
            for i in range(6):
                a[i] += row.jacobian[i] * f
                b[i] += row.jacobian[6 + i] * f


cdef Py_ssize_t mute_joint_forces(const Joint* joints, Py_ssize_t count, Row* rows) noexcept nogil:
    cdef Py_ssize_t j, muted = 0
    cdef int k
    cdef Row* row
    for j in range(count):
        for k in range(joints[j].row_count - joints[j].constraint_count):
            row = &rows[joints[j].row_begin + k]
            if is_force(&joints[j], row):
                row.lower = 0.0
                row.upper = 0.0
                muted += 1
    return muted
