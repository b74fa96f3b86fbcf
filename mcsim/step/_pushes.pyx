"""The work of contacts (wide/_contact_work.pyx) as constraint sets, which stand before all others and bring no rows: of
contacts that stand in lanes, and of those that are plain rows.

    warm_start        what velocities are before warm starts
    begin_pass        and after them, before the biased pass; which groups are pushed apart
    close             what they are after it: the work of each group
    return_carried    what may not go on is taken back, before second halves act; in lanes with these
"""

import numpy as np

from libc.stdint cimport int32_t
from mcsim.core._arrays cimport integers
from mcsim.core._types cimport OK
from mcsim.solve._blocks cimport row_apply, row_velocity
from mcsim.state._row cimport BIASED, ROW_NORMAL, Row
from mcsim.step._constraint_set cimport ConstraintSet, StepContext, SweepPass
from mcsim.step._plain_rows cimport PlainRows
from mcsim.wide._contacts cimport WideContacts
from mcsim.wide._contact_work cimport ContactWork, WorkSums, part_without_work
from mcsim.wide._groups cimport HELD, find_groups


cdef class PushedLanes(ConstraintSet):
    cdef StepContext context
    cdef WideContacts wide

    def __init__(self, StepContext context not None, WideContacts wide not None):
        self.context, self.wide = context, wide

    cdef void warm_start(self) noexcept nogil:
        self.wide.work.begin(self.context.bodies)

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        if not p.relaxed and p.twist == self.context.bodies.twist:
            self.wide.work.start(self.context.bodies)

    cdef void close(self) noexcept nogil:
        self.wide.weigh_pushes(self.context.bodies.twist)


cdef class PushedRows(ConstraintSet):
    """bodies: how many there may be; speed [m/s], rate [1/s]: what a body of size r is pushed by may be left undone below
    speed + rate r."""

    cdef StepContext context
    cdef PlainRows plain
    cdef ContactWork work
    cdef object kept             # the arrays behind the pointers
    cdef int32_t* groups         # of find_groups
    cdef int32_t* going
    cdef double speed, rate

    def __init__(self, StepContext context not None, PlainRows plain not None, Py_ssize_t bodies, double speed,
                 double rate):
        self.context, self.plain, self.speed, self.rate = context, plain, speed, rate
        self.work = ContactWork(bodies)
        self.kept = np.zeros((2, bodies + 1), np.int32)
        self.groups, self.going = integers(self.kept[0]), integers(self.kept[1])

    cdef int prepare(self) noexcept nogil:
        cdef Py_ssize_t count = self.context.store.manifold_count
        self.work.begin_step(self.context.store.manifolds, count, self.context.bodies)
        find_groups(self.groups, self.going, self.context.store.manifolds, count, self.context.bodies,
                    self.context.joints, self.context.awake_joints, self.context.awake_joint_count)
        return OK

    cdef int32_t group_of(self, const Row* row) noexcept nogil:
        """Of a normal row; -1 of others, and where joints have a part in it."""
        cdef int32_t group
        if row.kind != ROW_NORMAL:
            return -1
        group = self.groups[row.body_a if self.context.bodies.inv_mass[row.body_a] > 0.0 else row.body_b]
        return -1 if self.going[group] == HELD else group

    cdef bint is_pushed(self, int32_t group) noexcept nogil:
        return group >= 0 and self.work.pushing[group] == self.work.number

    cdef void warm_start(self) noexcept nogil:
        self.work.begin(self.context.bodies)

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        """Which groups are pushed apart, once warm starts have acted."""
        cdef const Row* row
        cdef int32_t group
        cdef Py_ssize_t i
        if p.relaxed or p.twist != self.context.bodies.twist:
            return
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            group = self.group_of(row)
            if group >= 0 and -row.bias[BIASED] - row.compliance[BIASED] * row.impulse > self.speed + self.rate * row.size:
                self.work.pushing[group] = self.work.last = self.work.number
        self.work.start(self.context.bodies)

    cdef void close(self) noexcept nogil:
        """After the biased pass."""
        cdef const Row* row
        cdef WorkSums* s
        cdef int32_t group
        cdef Py_ssize_t i
        cdef double begun, change
        if not self.work.pushes():
            return
        for i in range(self.plain.joint_end, self.plain.row_count):
            group = self.group_of(&self.plain.rows[i])
            if self.is_pushed(group):
                s = &self.work.sums[group]
                s.along = s.bend = s.given = 0.0
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            group = self.group_of(row)
            if self.is_pushed(group):
                s = &self.work.sums[group]
                begun, change = row_velocity(row, self.work.started), row.impulse - row.carry
                s.along += change * begun
                s.bend += change * (row_velocity(row, self.context.bodies.twist) - begun)
                s.given += row.carry * (row_velocity(row, self.work.kicked) + begun)

    cdef void return_carried(self) noexcept nogil:
        """What may not go on is taken back at the new poses, before second halves act."""
        cdef Row* row
        cdef int32_t group
        cdef Py_ssize_t i
        cdef double change
        if not self.work.pushes():
            return
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            group = self.group_of(row)
            if self.is_pushed(group):
                change = (1.0 - part_without_work(&self.work.sums[group])) * (row.carry - row.impulse)
                if change != 0.0:
                    row.impulse += change
                    row_apply(row, change, self.context.bodies.twist)
