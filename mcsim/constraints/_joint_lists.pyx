"""The joints of a step by what refreshing them takes, and which of them a blow may reach."""

from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport integers, records
from mcsim.state._joint_types cimport GEAR, USER


cdef class StruckJoints:
    """joints: (j,) JOINT_DTYPE; group: (bodies + 1,) int32, with which others joints tie each together, -1 of what does not
    move, and, last, the world; room: for how many bodies, of which those that come have no joints."""

    def __init__(self, joints, group, Py_ssize_t room):
        self.group_count, self.joint_count = int(group.max()) + 1, len(joints)
        of_joint = np.append(np.maximum(group[joints["body_a"]], group[joints["body_b"]]), np.int32(0))
        touched, struck = np.zeros(self.group_count + 1, np.int8), np.zeros(len(joints) + 1, np.int8)
        group = np.append(np.roll(group, 1), np.full(room + 1 - len(group), -1, np.int32))     # from the world on
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


cdef void list_joint(JointLists* lists, const Joint* joints, Py_ssize_t j, bint own) noexcept nogil:
    """A joint that is laid out, by what refreshing it takes."""
    cdef const Joint* joint = &joints[j]
    if joint.broken:
        return
    if own or joint.row_count > 0 or joint.type == GEAR or joint.type == USER:
        lists.whole[lists.whole_count] = <int32_t>j
        lists.whole_count += 1
    elif counts_turns(joint):
        lists.turning[lists.turning_count].joint = <int32_t>j
        lists.turning[lists.turning_count].body_a = joint.body_a
        lists.turning[lists.turning_count].body_b = joint.body_b
        lists.turning_count += 1
