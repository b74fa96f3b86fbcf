"""Springs of joints as forces in continuous time: what their rows are for h -> 0.

    f = -(k e + c u)     e = x - rest, u = J v

The wrench on the two bodies is J' f.
"""

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport AXIS_ROWS, Joint, JointAxis
from mcsim.state._row cimport ROW_SPRING, Row
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
            if row.kind != ROW_SPRING:
                continue
            axis = &joints[j].axes[row.index // AXIS_ROWS]
            a = <double*>&bodies.twist[row.body_a]
            b = <double*>&bodies.twist[row.body_b]
            u = 0.0
            for i in range(6):
                u += row.jacobian[i] * a[i] + row.jacobian[6 + i] * b[i]
            f = -(axis.stiffness * row.error + axis.damping * u)
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
            if row.kind == ROW_SPRING:
                row.lower = 0.0
                row.upper = 0.0
                muted += 1
    return muted
