"""Friction and limits of angles at new poses, and which joints a blow may reach. Of a step's joints most have no bounded
rows, or those alone; that takes few numbers, which are noted once a step. `_joints.pyx` has the rows themselves.
"""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._ball cimport ball_swing
from mcsim.constraints._parts cimport *
from mcsim.core._arrays cimport integers, records
from mcsim.core._trig cimport arctan2
from mcsim.state._joint_types cimport GEAR, HINGE, USER
from mcsim.state._row cimport ROW_JOINT_FRICTION, ROW_LIMIT


cdef class Struck:
    """joints: (j,) JOINT_DTYPE; group: (bodies + 1,) int32, with which others joints tie each together, -1 of what does not
    move, and, last, the world."""

    def __init__(self, joints, group):
        self.group_count, self.joint_count = int(group.max()) + 1, len(joints)
        of_joint = np.append(np.maximum(group[joints["body_a"]], group[joints["body_b"]]), np.int32(0))
        touched, struck = np.zeros(self.group_count + 1, np.int8), np.zeros(len(joints) + 1, np.int8)
        group = np.roll(group, 1)                            # from the world on
        self.kept = group, of_joint, touched, struck
        self.group, self.group_of = integers(group) + 1, integers(of_joint)
        self.touched, self.struck = <int8_t*>records(touched), <int8_t*>records(struck)

    cdef const int8_t* find(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil:
        """-> of each joint, until the next call"""
        cdef Py_ssize_t i
        memset(self.touched, 0, self.group_count * sizeof(int8_t))
        for i in range(count if self.joint_count > 0 else 0):
            if manifolds[i].point_count > 0:
                self.touch(self.group[manifolds[i].body_a])
                self.touch(self.group[manifolds[i].body_b])
        for i in range(self.joint_count):
            self.struck[i] = self.group_of[i] >= 0 and self.touched[self.group_of[i]]
        return self.struck

    cdef void touch(self, int32_t group) noexcept nogil:
        if group >= 0:
            self.touched[group] = 1


cdef void list_joint(JointLists* lists, const Joint* joints, Py_ssize_t j, const Row* rows, bint own) noexcept nogil:
    """A joint that is laid out, by what refreshing it takes."""
    cdef const Joint* joint = &joints[j]
    cdef bint limits = not own and (joint.type == BALL or joint.type == HINGE)
    cdef int i, kind
    if joint.broken:
        return
    if not own and joint.row_count == 0 and joint.type != GEAR and joint.type != USER:
        if counts_turns(joint):
            lists.turning[lists.turning_count].joint = <int32_t>j
            lists.turning[lists.turning_count].body_a = joint.body_a
            lists.turning[lists.turning_count].body_b = joint.body_b
            lists.turning_count += 1
        return
    for i in range(joint.row_count):
        kind = rows[joint.row_begin + i].kind
        limits = limits and (kind == ROW_LIMIT or kind == ROW_JOINT_FRICTION)
    if limits and not (joint.type == BALL and joint.active_limits & 0xf):
        list_limited(&lists.limited[lists.limited_count], joint, <int32_t>j)
        lists.limited_count += 1
    else:
        lists.whole[lists.whole_count] = <int32_t>j
        lists.whole_count += 1


cdef inline void list_limited(LimitedJoint* out, const Joint* joint, int32_t j) noexcept nogil:
    cdef int i
    out.axis = 2 if joint.type == BALL else 0
    out.joint = j
    out.body_a = joint.body_a
    out.body_b = joint.body_b
    out.row = joint.row_begin
    out.active = joint.active_limits
    out.counts = joint.type != BALL
    out.basis_a = joint.basis_a
    out.basis_b = joint.basis_b
    out.lower = joint.axes[out.axis].lower
    out.upper = joint.axes[out.axis].upper
    out.swing = joint.swing_limit
    out.position = joint.axes[out.axis].position
    out.rubbing = 0
    for i in range(joint.axis_count):
        if joint.axes[i].friction > 0.0:
            out.rubbing |= 1 << i
            out.friction[i] = joint.axes[i].friction


cdef inline void turn_limit(Row* row, double error, Vec3 direction, const Bodies* bodies) noexcept nogil:
    """What changes of a limit of an angle that is laid out."""
    angular_row(row, direction)
    apply_inverse_mass(row, bodies)
    row.error = error


cdef inline Row* turn_friction(Row* row, double bound, Vec3 direction, const Bodies* bodies) noexcept nogil:
    """The same of friction. -> the next row"""
    angular_row(row, direction)
    apply_inverse_mass(row, bodies)
    row.upper = bound
    row.lower = -bound
    return row + 1


cdef void refresh_limits(LimitedJoint* limited, Joint* joint, const Bodies* bodies, double h, Row* row) noexcept nogil:
    """The friction and limits of a ball joint or hinge at the present poses, as measure_axes, write_axis and
    write_limits have them."""
    cdef JointFrames f
    cdef Quat ja = quat_mul(bodies.orientation[limited.body_a], limited.basis_a)
    cdef Quat jb = quat_mul(bodies.orientation[limited.body_b], limited.basis_b)
    cdef Mat3 ra = quat_matrix(ja)
    cdef Mat3 rb = quat_matrix(jb)
    cdef Vec3 direction
    cdef double swing
    cdef int i
    f.axis_a[2] = mat_column(ra, 2)
    f.axis_b[2] = mat_column(rb, 2)
    if limited.counts and limited.rubbing:
        row = turn_friction(row, h * limited.friction[0], twist_axis(&f), bodies)
    elif limited.rubbing:
        for i in range(3):
            if limited.rubbing & (1 << i):
                row = turn_friction(row, h * limited.friction[i], mat_column(ra, i), bodies)
    if limited.counts or limited.active & (3 << 2 * limited.axis):
        f.relative = quat_mul(quat_conj(ja), jb)
        if f.relative.w < 0.0:
            f.relative.w = -f.relative.w
            f.relative.z = -f.relative.z
        direction = twist_axis(&f)
        limited.position = (counted_turns(2.0 * arctan2(f.relative.z, f.relative.w), limited.position) if limited.counts
                            else 2.0 * arctan2(f.relative.z, f.relative.w))
        if limited.counts:
            joint.axes[0].position = limited.position
        if limited.active & (1 << 2 * limited.axis):
            turn_limit(row, limited.position - limited.lower, direction, bodies)
            row += 1
        if limited.active & (2 << 2 * limited.axis):
            turn_limit(row, limited.upper - limited.position, neg(direction), bodies)
            row += 1
    if limited.active & SWING_BIT:
        f.axis_a[0] = mat_column(ra, 0)
        swing = ball_swing(&f, &direction)
        turn_limit(row, limited.swing - swing, neg(direction), bodies)
