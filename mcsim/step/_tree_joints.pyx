"""Rows of joints in a world of trees: of those that close loops their own, of all what bounds and drives them."""

import numpy as np

from mcsim.constraints._joints cimport layout_joints, refresh_joints
from mcsim.core._arrays cimport doubles, integers


cdef class TreeJoints:
    """held: (joints + 1,) int32, is_kept of constraints/_joints.pyx: the trees' joints have no rows of their own. q: the
    coordinates; angles: joint, axis and place in q of those that are a joint's, arrays of numbers."""

    def __init__(self, StepContext context not None, PlainRows plain not None, held, q, angles):
        joints, axes, places = (np.append(numbers, 0).astype(np.int32) for numbers in angles)
        self.context, self.plain, self.kept = context, plain, (held, q, joints, axes, places)
        self.held, self.q, self.angle_count = integers(held), doubles(q), len(joints) - 1
        self.joint, self.axis, self.place = integers(joints), integers(axes), integers(places)

    cdef Py_ssize_t layout(self) noexcept nogil:
        """The first of the plain rows. -> how many, below 0: there is no room"""
        cdef Py_ssize_t n = layout_joints(
            self.context.joints, self.context.awake_joints, self.context.awake_joint_count, self.context.bodies,
            self.context.settings, self.plain.rows, self.plain.row_capacity, True, self.held, NULL, self.context.struck,
            NULL)
        self.plain.joint_end = self.context.joint_rows = n
        return n

    cdef void write(self) noexcept nogil:
        """The same rows at the present poses."""
        self.context.pose_callbacks.call(False)
        self.count_turns()
        refresh_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count, self.context.bodies,
                       self.context.settings, self.plain.rows, True, self.held)
        self.let_trees_hold()

    cdef void count_turns(self) noexcept nogil:
        """Angles are measured from poses to a turn; how many turns they have made q knows."""
        cdef Py_ssize_t i
        for i in range(self.angle_count):
            self.context.joints[self.joint[i]].axes[self.axis[i]].position = self.q[self.place[i]]

    cdef void let_trees_hold(self) noexcept nogil:
        """What is said of a joint's own rows, where it has none."""
        cdef Py_ssize_t j
        for j in range(self.context.joint_count):
            if self.held[j + 1] > self.held[j]:
                self.context.joints[j].constraint_count = 0
