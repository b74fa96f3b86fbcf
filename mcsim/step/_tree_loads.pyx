"""What the joints of trees carry: no rows hold them, so their forces are found from those of all else, once they are
asked for.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.state._row cimport ROW_NORMAL, Row


cdef class TreeLoads:
    """wrenches: (bodies + 1, 6), the world's first; held: (joints + 1,) int32; carriers: [(link, joint)]."""

    def __init__(self, StepContext context not None, PlainRows plain not None, GeneralizedRows generalized not None,
                 TreeMotion motion not None, TreeSync body_sync not None, wrenches, held, carriers):
        self.context, self.plain, self.generalized = context, plain, generalized
        self.motion, self.body_sync, self.forces = motion, body_sync, TreeForces(motion)
        pairs = np.append(np.array(carriers, np.int32).reshape(-1), np.int32(0))
        on_bodies, on_joints = np.zeros((context.bodies.count + 1, 6)), np.zeros(motion.tree.nv + 1)
        self.kept = wrenches, held, pairs, on_bodies, on_joints
        self.wrench, self.held = <const Twist*>doubles(wrenches) + 1, integers(held)
        self.carriers, self.carrier_count = integers(pairs), len(carriers)
        self.on_bodies, self.carried = <Twist*>doubles(on_bodies) + 1, doubles(on_joints)
        self.recovered = self.carried_step = self.rows_step = -1

    def recover(self):
        """What the trees' joints carry at the end of the last substep, into their records; once a step, if q and qd
        are those it ended with: the forces across the joints at the accelerations there, under what its rows did."""
        cdef long long steps = self.context.steps
        if self.recovered == steps:
            return
        if self.carried_step == steps and self.body_sync.is_at(self.body_sync.begun) and self.body_sync.is_stale():
            self.body_sync.show(False, steps)                # a step has begun since, and was undone
            if self.motion.failed:                           # by a model of the user's that raises here, too
                self.motion.failure, self.motion.failed = None, False
                self.body_sync.shown[0] = NAN                # nothing is shown
        if self.body_sync.is_stale():
            return
        if self.carried_step == steps:
            memcpy(self.motion.trial, self.carried, self.motion.tree.nv * sizeof(double))
        elif self.rows_step == steps:
            self.sum()
        else:
            return
        self.recovered = steps
        self.give(0)

    def trust_records(self):
        """They have what the joints carry now."""
        self.recovered, self.carried_step = self.context.steps, -1

    def leave_other_places(self):
        """What the joints carried belongs to another place where q was written."""
        if self.carried_step != self.context.steps or not self.body_sync.is_at(self.body_sync.begun):
            self.recovered = self.context.steps

    cdef void keep(self) noexcept nogil:
        """Before a step lays out rows anew: what recover() asks of those of the last one, should this one be undone."""
        if (self.rows_step == self.context.steps and self.recovered != self.context.steps
                and not self.body_sync.is_stale()):
            self.sum()
            memcpy(self.carried, self.motion.trial, self.motion.tree.nv * sizeof(double))
            self.carried_step = self.context.steps
        self.rows_step = self.context.steps + 1

    cdef void sum(self) noexcept nogil:
        """What acts on the bodies, and on the joints themselves, at the end of the last substep, where any joint is to
        know."""
        cdef double h = self.context.settings.h
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int k
        if self.carrier_count == 0:
            return
        memcpy(self.on_bodies, self.wrench, self.context.bodies.count * sizeof(Twist))
        self.forces.begin_carry()
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind < ROW_NORMAL and self.held[row.source + 1] > self.held[row.source]:
                self.generalized.add_force(i, row.impulse / h, self.motion.trial)
                continue                                 # between a link and its parent: part of what the joint carries
            for k in range(6):
                if row.body_a >= 0:
                    (<double*>&self.on_bodies[row.body_a])[k] += row.jacobian[k] * row.impulse / h
                if row.body_b >= 0:
                    (<double*>&self.on_bodies[row.body_b])[k] += row.jacobian[6 + k] * row.impulse / h

    cdef void give(self, int32_t resting) noexcept nogil:
        """After sum: into the records of the joints of trees that are so marked."""
        cdef Py_ssize_t i
        cdef int32_t link
        if self.carrier_count == 0:
            return
        self.forces.carry(<const double*>self.on_bodies)
        for i in range(self.carrier_count):
            link = self.carriers[2 * i]
            if self.motion.resting[self.motion.blocks[self.motion.tree.links[link].body].tree] == resting:
                self.forces.give_wrench(link, self.context.settings.h, self.context.bodies,
                                        &self.context.joints[self.carriers[2 * i + 1]])

    cdef void give_last(self) noexcept nogil:
        """Of trees that fall asleep (resting: 2), as a step ends."""
        if self.rows_step == self.context.steps + 1:
            self.sum()
            self.give(2)
