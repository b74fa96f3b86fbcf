"""The joints' own rows for the direct solver: Jacobians and errors without the record of a swept row, and at trial
poses the errors alone.

Plain ball joints, the commonest, are not among them: wide/_direct_balls.pxi takes those several at a time.

A row without a position error (rolling, knife edge) binds velocities: J v + rate + h/2 d2C/dt2 = 0 over a drift.
"""

from mcsim.constraints._joint_table cimport constrain, holds_position
from mcsim.constraints._coordinates cimport measure_axes
from mcsim.constraints._motion cimport constrain_motions
from mcsim.constraints._parts cimport *
from mcsim.core._math cimport vec3
from mcsim.state._joint cimport JOINT_AXES
from mcsim.state._joint_types cimport BALL, HINGE
from mcsim.state._row cimport JointRow
from mcsim.state._rows cimport (Off, add_error, copy_jacobian, is_linear_row, joint_way, kept_part, no_error, own_rows,
                                row_rate, time_to_close)


cdef inline bint is_plain_ball(const Joint* joint, int rows) noexcept nogil:
    """A ball joint without a prescribed motion, the commonest: it needs no axes on b."""
    return joint.type == BALL and rows == 3


cdef void point_along_world(Row* block, const Joint* joint, const JointFrames* f, int n) noexcept nogil:
    """The three rows of the point of a plain ball joint or hinge along the world's axes, as wide/_direct_balls.pxi and
    wide/_batches.pxi have them: impulses then mean the same wherever such a joint is solved."""
    cdef int i
    if not (joint.type == BALL and n == 3 or joint.type == HINGE and n == 5):
        return
    for i in range(3):
        linear_row(&block[i], vec3(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0), f.arm_a,
                   f.arm_b)
        block[i].error = (&f.offset.x)[i]


cdef double write_joint_rows(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                             const Settings* settings, JointRows* rows) noexcept nogil:
    """Of the chosen joints: Jacobians, errors and rates at the present poses. -> the largest |error| [m]"""
    cdef JointFrames f
    cdef double largest = 0.0
    cdef Off off
    cdef Py_ssize_t c
    cdef int i, j, k, n
    for c in range(count):
        j = chosen[c]
        k = rows.begin[j]
        n = rows.begin[j + 1] - k
        point_frames(&f, &joints[j], bodies)
        write_rows(&joints[j], &f, bodies, settings, rows, k, n, NULL)
        off = no_error()
        for i in range(n):
            if holds_position(&joints[j], i):
                add_error(&off, is_linear_row(&rows.row[k + i]), rows.error[k + i])
        largest = max(largest, joint_way(&joints[j], &off))
    return largest


cdef void write_rows(const Joint* joint, JointFrames* f, const Bodies* bodies, const Settings* settings,
                     JointRows* rows, int k, int n, double* curvature) noexcept nogil:
    """The n rows of a joint from k on, its point_frames at hand. curvature: where to put d2C/dt2, or NULL."""
    cdef Row block[6]
    cdef double rates[6]
    cdef AxisGeometry axes[JOINT_AXES]
    cdef Joint measured
    cdef double bend
    cdef int i, m
    turn_frames(f, joint, bodies)
    rate_frames(f, joint, bodies)
    m = constrain(block, joint, f)
    for i in range(m):
        rates[i] = 0.0
    if m < n:
        measured = joint[0]
        measure_axes(&measured, f, axes)
        constrain_motions(&block[m], &rates[m], joint, axes, f, settings.time, 0.0)
    if curvature == NULL:
        point_along_world(block, joint, f, n)
    for i in range(n):
        bend = block[i].curvature + gyroscopic_curvature(&block[i], f)
        copy_jacobian(&block[i], &rows.row[k + i])
        rows.rate[k + i] = rates[i]
        rows.error[k + i] = block[i].error if holds_position(joint, i) else 0.5 * bend
        if curvature != NULL:
            curvature[k + i] = bend


cdef void write_bent_rows(const Joint* joints, const Bodies* bodies, const Settings* settings, JointRows* rows,
                          double* curvature, double* held) noexcept nogil:
    """The same rows but those of plain ball joints, with d2C/dt2 and whether they have a position error."""
    cdef JointFrames f
    cdef Py_ssize_t c, j
    cdef int i, k, n
    for c in range(rows.awake_count):
        j = rows.awake[c]
        k = rows.begin[j]
        n = rows.begin[j + 1] - k
        if n == 0 or is_plain_ball(&joints[j], n):
            continue
        point_frames(&f, &joints[j], bodies)
        write_rows(&joints[j], &f, bodies, settings, rows, k, n, curvature)
        for i in range(n):
            held[k + i] = holds_position(&joints[j], i)


cdef double closing_time(const Joint* joint, const JointRow* rows, const double* error, int n) noexcept nogil:
    """How long it takes to close the n rows of a joint as fast as may be [s]."""
    cdef Off off = no_error()
    cdef int i
    for i in range(n):
        if holds_position(joint, i):
            add_error(&off, is_linear_row(&rows[i]), error[i])
    return time_to_close(joint, &off)


cdef double miss_joints(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                        const Settings* settings, JointRows* rows) noexcept nogil:
    """Of the chosen joints: bias <- J v' + bias of Newton's method on the velocity v that the drift to the present trial
    poses was made with:

        C(x(v)) is about C' + h J (v - v'),  so   J v' + bias = (C' - goal) / h

    with C' the error at the trial poses; J that of the rows, at the drift's start. The error of a prescribed motion is
    that at the drift's end also in time. The goal is 0, or as much of a wide gap as closing at the joint's `push` leaves.
    -> the largest |C' - goal| [m]
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
    cdef Off left
    cdef Py_ssize_t c
    cdef const Joint* joint
    cdef int i, j, k, m, n
    for c in range(count):
        j = chosen[c]
        joint = &joints[j]
        k = rows.begin[j]
        n = rows.begin[j + 1] - k
        keep = kept_part(closing_time(joint, &rows.row[k], &rows.error[k], n), h)
        point_frames(&f, joint, bodies)
        turn_frames(&f, joint, bodies)
        still_frames(&f)
        foresee_way(&f, joint, bodies, h)
        m = constrain(block, joint, &f)
        if m < n:
            measured = joint[0]
            measure_axes(&measured, &f, axes)
            constrain_motions(&block[m], &rates[m], joint, axes, &f, settings.time, h)
        point_along_world(block, joint, &f, n)
        left = no_error()
        for i in range(n):
            if holds_position(joint, i):
                off = block[i].error - keep * rows.error[k + i]
                rows.bias[k + i] = rate * off
            else:
                off = h * (row_rate(&rows.row[k + i], &bodies.twist[joint.body_a], &bodies.twist[joint.body_b])
                           + rows.rate[k + i] + h * rows.error[k + i])
                rows.bias[k + i] = rate * off
            add_error(&left, is_linear_row(&rows.row[k + i]), off)
        largest = max(largest, joint_way(joint, &left))
    return largest


cdef void read_joint_rows(const Joint* joints, const Row* source, JointRows* rows) noexcept nogil:
    """Jacobians and errors from rows as the sweeps have them."""
    cdef Py_ssize_t c, j
    cdef const Row* own
    cdef int i, k
    for c in range(rows.awake_count):
        j = rows.awake[c]
        own = own_rows(source, &joints[j])
        k = rows.begin[j]
        for i in range(rows.begin[j + 1] - k):
            copy_jacobian(&own[i], &rows.row[k + i])
            rows.error[k + i] = own[i].error
            rows.rate[k + i] = own[i].rate
