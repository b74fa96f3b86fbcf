"""What springs of joints really move: a spring at a light carriage moves what hangs on the carriage.

Whether a spring is too fast for a substep (constraints/_axis_rows.pxd) is a matter of J P J', P how bodies answer with all
joints holding (constraints/_carried.pyx). It is no more than J M^-1 J', of the spring's two bodies alone, so P is asked
only where those would make it fast.
"""

from libc.math cimport sqrt
from libc.string cimport memset

import numpy as np

from mcsim.constraints._carried cimport along
from mcsim.constraints._coordinates cimport list_axes
from mcsim.constraints._fast_springs cimport FAST_SPRING
from mcsim.constraints._joints cimport has_bounded_rows
from mcsim.core._arrays cimport records
from mcsim.state._joint cimport AXIS_MOTOR, AXIS_SPRING, JOINT_AXES, MOTOR_PD, JointAxis, has_rotor
from mcsim.constraints._spring_law cimport SpringLaw, spring_law
from mcsim.state._rows cimport half_product


cdef inline bint has_spring(const JointAxis* axis) noexcept nogil:
    """Or a motor that is one."""
    return axis.has_spring or axis.motor_mode == MOTOR_PD


cdef inline double haste(const JointAxis* axis, int kept, double h) noexcept nogil:
    """h (c + h k)"""
    cdef SpringLaw law = spring_law(axis, kept, 0.0)
    return h * (law.damping + h * law.stiffness)


cdef class MovedBySprings(ArticulationPart):
    """JointAxis.moved of the joints of a world's articulations, once a step."""

    def __init__(self, ArticulationState state, JointSolves solves):
        self.state, self.solves = state, solves
        asked = np.zeros(state.tree.rows.joint_count + 1, np.int8)
        weighed = np.zeros(state.articulation_count + 1, np.int8)
        self.kept = asked, weighed
        self.asked, self.weighed = <int8_t*>records(asked), <int8_t*>records(weighed)
        self.take_state()

    cdef void find(self) noexcept nogil:
        """Rows of the joints are written."""
        cdef Joint* joint
        cdef Py_ssize_t c, g, j
        cdef bint some = False
        memset(self.weighed, 0, self.state.articulation_count)
        for c in range(self.tree.rows.awake_count):
            j = self.tree.rows.awake[c]
            joint = &self.joints[j]
            self.asked[j] = has_bounded_rows(joint) and self.seems_fast(joint)
            if self.asked[j]:
                some = self.ask(joint.body_a) or some
                some = self.ask(joint.body_b) or some
        if not some:
            return
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.weighed[g]:
                if self.state.here[g]:
                    self.solves.write_rows(g)
                self.state.carried.find_moved(g, self.joints, &self.tree.rows, self.bodies, self.asked, self.state.answers)
        for c in range(self.tree.rows.awake_count):
            j = self.tree.rows.awake[c]
            if self.asked[j]:
                self.take(&self.joints[j])

    cdef bint seems_fast(self, Joint* joint) noexcept nogil:
        """Whether a spring is fast for the two bodies of its joint alone. What springs move is not known from here on."""
        cdef Row axes[JOINT_AXES]
        cdef JointAxis* axis
        cdef double most
        cdef double h = self.settings.h
        cdef int i
        cdef bint found = False
        for i in range(joint.axis_count):
            joint.axes[i].moved = 0.0
            found = found or has_spring(&joint.axes[i])
        if not found:
            return False
        found = False
        for i in range(list_axes(joint, self.bodies, axes)):
            axis = &joint.axes[i]
            if has_spring(axis):
                most = max(haste(axis, AXIS_SPRING, h) if axis.has_spring else 0.0,
                           haste(axis, AXIS_MOTOR, h) if axis.motor_mode == MOTOR_PD else 0.0)
                found = found or most * axes[i].diagonal >= FAST_SPRING
        return found

    cdef bint ask(self, int32_t body) noexcept nogil:
        """For P of a body. -> whether joints hold it to others"""
        cdef int32_t g = self.state.group[body]
        if g >= 0:
            self.weighed[g] = self.articulation[g].node < self.articulation[g].node_end
        return g >= 0 and self.weighed[g]

    cdef double answer(self, int32_t body, const Row* row, int side) noexcept nogil:
        """J P J' of a body's half of a row."""
        cdef int32_t g = self.state.group[body]
        if g >= 0 and self.weighed[g]:
            return along(&row.jacobian[6 * side], self.state.answers + 36 * body)
        return half_product(&row.jacobian[6 * side], &row.inv_mass_jacobian[6 * side])

    cdef void take(self, Joint* joint) noexcept nogil:
        """What the joints of an articulation have not answered, by the answers of the two bodies. Where other joints hold
        them to each other these are not all, and |x + y|^2 <= (|x| + |y|)^2 in the metric of P. Rotors go along."""
        cdef Row axes[JOINT_AXES]
        cdef JointAxis* axis
        cdef double a, b
        cdef int i
        for i in range(list_axes(joint, self.bodies, axes)):
            axis = &joint.axes[i]
            if not axis.moved > 0.0:
                a, b = self.answer(joint.body_a, &axes[i], 0), self.answer(joint.body_b, &axes[i], 1)
                axis.moved = a + b
                if self.state.group[joint.body_a] >= 0 and self.state.group[joint.body_a] == self.state.group[joint.body_b]:
                    axis.moved += 2.0 * sqrt(max(a, 0.0) * max(b, 0.0))
            axis.moved = max(min(axis.moved, axes[i].diagonal), 0.0)
            if has_rotor(axis):
                axis.moved /= 1.0 + axis.armature * axis.moved
