"""What springs, and under "reference" friction and motors, of joints do as forces in continuous time.

    springs     f = -(k e + c u)                    e = x - rest, u = J v: what their rows are for h -> 0
    friction    f = -F s / sqrt(s^2 + creep^2)      s = u
    motors      the same of max_force               s = u - the velocity that they are given

The wrench on the two bodies is J' f. Dry friction is the limit for creep -> 0 of the second line.
"""

from libc.math cimport sqrt

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport AXIS_ROWS, Joint, JointAxis
from mcsim.state._row cimport ROW_MOTOR, ROW_SPRING, Row
from mcsim.state._settings cimport Settings


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
            if not is_force(row, settings):
                continue
            axis = &joints[j].axes[row.index // AXIS_ROWS]
            a = <double*>&bodies.twist[row.body_a]
            b = <double*>&bodies.twist[row.body_b]
            u = 0.0
            for i in range(6):
                u += row.jacobian[i] * a[i] + row.jacobian[6 + i] * b[i]
            if row.kind == ROW_SPRING:
                f = -(axis.stiffness * row.error + axis.damping * u)
            elif row.kind == ROW_MOTOR:
                f = dry(axis.motor_max_force, u - axis.motor_velocity, settings)
            else:
                f = dry(axis.friction, u, settings)
            if keep:
                row.impulse = settings.h * f
            a = <double*>&force[row.body_a]
            b = <double*>&force[row.body_b]
            for i in range(6):
                a[i] += row.jacobian[i] * f
                b[i] += row.jacobian[6 + i] * f


cdef inline double dry(double most, double slip, const Settings* settings) noexcept nogil:
    return -most * slip / sqrt(slip * slip + settings.reference_creep * settings.reference_creep)


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
