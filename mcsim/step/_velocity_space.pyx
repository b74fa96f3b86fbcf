"""The velocities of a world that its rows act on, six of each body: what a step asks of them, and what is read off them.
_tree_space.pyx has those of the coordinates of trees, by the same verbs.
"""

from libc.stdint cimport int8_t, int32_t

import numpy as np

from mcsim.constraints._forces cimport add_joint_forces
from mcsim.constraints._joints cimport layout_joints
from mcsim.core._arrays cimport doubles
from mcsim.integrate._euler cimport integrate_velocities
from mcsim.integrate._rk4 cimport smooth_forces
from mcsim.state._joint cimport Joint

from mcsim.solve.problems.from_rows import matrices


cdef class VelocitySpace:
    """The bodies' twists."""

    def __init__(self, StepContext context not None, StateArrays arrays not None, PlainRows plain not None):
        self.context, self.arrays, self.plain = context, arrays, plain
        self.wrenches = np.zeros((arrays.room + 1, 6))
        self.wrench = <Twist*>doubles(self.wrenches) + 1

    # ---- what is read off them ---------------------------------------------------------------------------------------

    def velocities(self):
        """(m,) all of them."""
        return self.arrays.kept[0].twist.reshape(-1).copy()

    def kicked(self):
        """(m,) what they are after the forces of a substep (compliant: of its half), and no impulses, at the state of
        the last prepare()."""
        cdef double part = self.context.settings.first_kick if self.context.settings.compliant else 1.0
        twist = self.arrays.kept[0].twist
        before = twist.copy()
        cdef bint driven
        with nogil:
            driven = self.context.efforts.begin()
            integrate_velocities(self.context.bodies, self.context.settings, part)
            self.context.efforts.end(driven)
        after = twist.reshape(-1).copy()
        twist[...] = before
        return after

    def row_matrices(self):
        """J and J times the inverse mass matrix, (rows, m) scipy.sparse, of the plain rows over them."""
        return matrices(self.plain.now(), 6 * self.context.bodies.count)

    def smooth_forces(self):
        """(bodies, 6) [N, N m] gravity, the user's forces, damping and springs about the centres of mass, world axes, at
        the state of the last prepare(). Without the gyroscopic torque."""
        cdef Joint* joints = self.arrays.joints_copied()
        layout_joints(joints, NULL, self.context.joint_count, self.context.bodies, self.context.settings, self.plain.rows,
                      self.plain.row_capacity, True, NULL, NULL, NULL, NULL)
        cdef bint driven = self.context.efforts.begin()
        smooth_forces(self.context.bodies, self.context.settings, self.wrench)
        self.context.efforts.end(driven)
        add_joint_forces(joints, self.context.joint_count, self.context.bodies, self.context.settings, self.plain.rows,
                         self.wrench, False)
        return self.wrenches[1:self.context.bodies.count + 1].copy()

    def measured(self):
        """-> (joints,) JOINT_DTYPE, a copy of the records, positions and velocities at the present state. The records
        themselves follow steps only: looking changes nothing."""
        return self.arrays.measured()

    def coordinates(self, Py_ssize_t joint):
        """-> positions, velocities, two lists: what `measured` has of one joint."""
        return self.arrays.coordinates(joint)

    def errors(self):
        """(joints, 2) [m, rad]"""
        return self.arrays.errors_by(self.arrays.kept[1])

    def spring_energy(self):
        """[J] of joints."""
        return self.arrays.spring_energy_by(self.arrays.records_copied())

    def recover(self):
        """What joints carried at the end of the last substep, into their records, where steps do not write it there."""

    def trust_records(self):
        """They have what the joints carry now."""

    # ---- what a step asks --------------------------------------------------------------------------------------------

    cdef bint wake_driven(self) noexcept nogil:
        """What has been given forces of joints since the last call wakes. -> whether anything has"""
        return False

    cdef void begin_step(self) noexcept nogil:
        """Before contacts are found."""

    cdef Py_ssize_t with_rows(self, int32_t* joints, Py_ssize_t count) noexcept nogil:
        """Of these joints, those that may have rows come first. -> how many these are"""
        return count

    cdef void rest(self) noexcept nogil:
        """Bodies woke, or fell asleep."""

    cdef void end_step(self) noexcept nogil:
        """Before it is told who falls asleep."""

    cdef void undo(self) noexcept nogil:
        """The bodies are as before the step again."""

    cdef const int8_t* jointed(self) noexcept nogil:
        """(bodies,) whether joints move each, so that it is not set back from what it passed through; NULL: none do."""
        return self.context.joined

    cdef void take_poses(self, const int8_t* chosen) noexcept nogil:
        """Some bodies were set back. chosen: (bodies,) which."""
