"""The joints' own rows for the direct solver: Jacobians and errors without the record of a swept row, and at trial
poses the errors alone.

Plain ball joints, the commonest, are not among them: wide/_balls.pxi takes those several at a time.

A row without a position error (rolling, knife edge) binds velocities: J v + rate + h/2 d2C/dt2 = 0 over a drift.
"""

from libc.math cimport fabs

from mcsim.constraints._constrain cimport constrain, holds_position
from mcsim.constraints._joints cimport measure_axes
from mcsim.constraints._motion cimport constrain_motions
from mcsim.constraints._parts cimport *
from mcsim.state._layout cimport JOINT_AXES
from mcsim.state._rows cimport copy_jacobian, own_rows, row_rate


cdef double write_joint_rows(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                             const Settings* settings, JointRows* rows) noexcept nogil:
    """Of the chosen joints: Jacobians, errors and rates at the present poses. -> the largest |error| [m, rad]"""
    cdef Row block[6]
    cdef double rates[6]
    cdef AxisGeometry axes[JOINT_AXES]
    cdef JointFrames f
    cdef Joint measured
    cdef double largest = 0.0
    cdef Py_ssize_t c
    cdef int i, j, k, m, n
    for c in range(count):
        j = chosen[c]
        k = rows.begin[j]
        n = rows.begin[j + 1] - k
        point_frames(&f, &joints[j], bodies)
        turn_frames(&f, &joints[j], bodies)
        rate_frames(&f, &joints[j], bodies)
        m = constrain(block, &joints[j], &f)
        for i in range(m):
            rates[i] = 0.0
        if m < n:
            measured = joints[j]
            measure_axes(&measured, &f, axes)
            constrain_motions(&block[m], &rates[m], &joints[j], axes, &f, settings.time, 0.0)
        for i in range(n):
            copy_jacobian(&block[i], &rows.row[k + i])
            rows.rate[k + i] = rates[i]
            if holds_position(&joints[j], i):
                rows.error[k + i] = block[i].error
                largest = max(largest, fabs(block[i].error))
            else:
                rows.error[k + i] = 0.5 * (block[i].curvature + gyroscopic_curvature(&block[i], &f))
    return largest


cdef double kept_part(const double* error, int n, double fastest) noexcept nogil:
    """The part of a joint's errors that closing at push_speed leaves: 0 unless the joint is wide open."""
    cdef double widest = 0.0
    cdef int i
    for i in range(n):
        widest = max(widest, fabs(error[i]))
    return 1.0 - fastest / widest if widest > fastest else 0.0


cdef double miss_joints(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                        const Settings* settings, JointRows* rows) noexcept nogil:
    """Of the chosen joints: bias <- J v' + bias of Newton's method on the velocity v that the drift to the present trial
    poses was made with:

        C(x(v)) is about C' + h J (v - v'),  so   J v' + bias = (C' - goal) / h

    with C' the error at the trial poses; J that of the rows, at the drift's start. The error of a prescribed motion is
    that at the drift's end also in time. The goal is 0, or as much of a wide gap as closing at push_speed leaves.
    -> the largest |C' - goal| [m, rad]
    """
    cdef Row block[6]
    cdef double rates[6]
    cdef AxisGeometry axes[JOINT_AXES]
    cdef JointFrames f
    cdef Joint measured
    cdef double h = settings.h
    cdef double rate = 1.0 / h
    cdef double largest = 0.0
    cdef double keep, off
    cdef Py_ssize_t c
    cdef const Joint* joint
    cdef int i, j, k, m, n
    for c in range(count):
        j = chosen[c]
        joint = &joints[j]
        k = rows.begin[j]
        n = rows.begin[j + 1] - k
        keep = kept_part(&rows.error[k], n, settings.push_speed * h)
        point_frames(&f, joint, bodies)
        turn_frames(&f, joint, bodies)
        still_frames(&f)
        m = constrain(block, joint, &f)
        if m < n:
            measured = joint[0]
            measure_axes(&measured, &f, axes)
            constrain_motions(&block[m], &rates[m], joint, axes, &f, settings.time, h)
        for i in range(n):
            if holds_position(joint, i):
                off = block[i].error - keep * rows.error[k + i]
                rows.bias[k + i] = rate * off
            else:
                off = h * (row_rate(&rows.row[k + i], &bodies.twist[joint.body_a], &bodies.twist[joint.body_b])
                           + rows.rate[k + i] + h * rows.error[k + i])
                rows.bias[k + i] = rate * off
            largest = max(largest, fabs(off))
    return largest


cdef void read_joint_rows(const Joint* joints, const Row* source, JointRows* rows) noexcept nogil:
    """Jacobians and errors from rows as the sweeps have them."""
    cdef Py_ssize_t j
    cdef const Row* own
    cdef int i, k
    for j in range(rows.joint_count):
        own = own_rows(source, &joints[j])
        k = rows.begin[j]
        for i in range(rows.begin[j + 1] - k):
            copy_jacobian(&own[i], &rows.row[k + i])
            rows.error[k + i] = own[i].error
            rows.rate[k + i] = own[i].rate
