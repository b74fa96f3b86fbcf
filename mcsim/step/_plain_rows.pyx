"""Rows of joints and contacts, one record a row: all that no other set has taken.

The joints' rows come first. Where another set solves the contacts, those of what bounces have rows here for the impacts
alone, from the moment on at which one of them may be struck in a step; so have all others, from the moment on at which one
is: they may have to hold what it strikes.
"""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._contacts cimport (ALL_CONTACTS, BOUNCING, MOST_ROWS, RESTING, accumulate_contacts, layout_contacts,
                                            refresh_contacts)
from mcsim.constraints._joints cimport bound_spring, is_shared, layout_joints, refresh_listed
from mcsim.constraints._motors cimport aim_motors
from mcsim.core._arrays cimport doubles, records
from mcsim.core._math cimport norm, sub
from mcsim.core._types cimport GROW, OK, Twist
from mcsim.solve._blocks cimport factor_blocks, row_apply
from mcsim.solve._impact cimport Impacts
from mcsim.solve._si cimport residual, sweep_changed, sweep_si, warm_start
from mcsim.stabilize._stabilize cimport stabilize_rows
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE, ROW_JOINT, ROW_JOINT_FRICTION, ROW_MOTOR, ROW_NORMAL, ROW_SPRING
from mcsim.step._constraint_set cimport FurtherPass, SweepPass
from mcsim.step._further_sweeps cimport mark_outweighed
from mcsim.wide._contact_frame cimport ContactAnchors
from mcsim.wide._halves cimport closes_itself, first_part, lasting, lasts_whole, second_half

from mcsim.state.fields import ROW_DTYPE


cdef class PlainRows(ConstraintSet):
    """bounces: whether any shape has a restitution; compliant: whether contacts are."""

    def __init__(self, StepContext context not None, bint bounces, bint compliant):
        self.context, self.bounces, self.compliant = context, bounces, compliant

    def reserve(self, rows, manifolds):
        """Room for at least `rows` rows and `manifolds` manifolds."""
        anchors = np.zeros((max(manifolds, 1), sizeof(ContactAnchors) // 8))
        if rows > self.row_capacity:
            self.arrays = (np.zeros(rows, ROW_DTYPE), np.zeros((rows, 2, 6)), np.zeros((2, rows)), anchors)
            self.row_capacity = rows
        else:
            self.arrays = (*self.arrays[:3], anchors)
        self.anchor_capacity = manifolds
        self.rows, self.anchors = <Row*>records(self.arrays[0]), <ContactAnchors*>doubles(anchors)
        self.factors, self.impacts = doubles(self.arrays[1]), doubles(self.arrays[2][0])
        self.changes = doubles(self.arrays[2][1])

    def take_room(self, PlainRows other):
        """The buffers of other rows, whose place these take."""
        self.arrays, self.row_capacity, self.anchor_capacity = other.arrays, other.row_capacity, other.anchor_capacity
        self.rows, self.factors, self.impacts, self.anchors = other.rows, other.factors, other.impacts, other.anchors
        self.changes = other.changes

    def now(self):
        """(row_count,) ROW_DTYPE, a view of the row buffer."""
        return self.arrays[0][:self.row_count]

    # ---- writing -----------------------------------------------------------------------------------------------------

    cdef int prepare(self) noexcept nogil:
        cdef Py_ssize_t n, joints
        joints = n = layout_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count,
                                   self.context.bodies, self.context.settings, self.rows,
                                   self.row_capacity, self.context.own, self.context.in_lanes, self.context.taken,
                                   self.context.struck, self.context.joint_lists)
        if joints < 0:
            return GROW
        if self.context.contacts:
            n = self.lay(ALL_CONTACTS, joints, self.context.bodies)
            if n < 0:
                return GROW
        elif self.bounces and joints + MOST_ROWS * (self.context.store.manifold_count + 1) > self.row_capacity:
            return GROW
        self.joint_end = self.started_end = joints
        self.row_count = self.impact_rows = self.resting_rows = n
        if not self.compliant:
            self.started_end = self.row_count
        self.context.joint_rows += joints
        self.context.contact_rows += self.row_count - joints
        if self.jointed is not None:
            self.jointed.border.begin_step(self.rows)
        self.motors = aim_motors(self.context.joints, self.rows, joints, self.context.bodies.twist, self.context.settings)
        return OK

    cdef Py_ssize_t lay(self, int which, Py_ssize_t begin, const Bodies* found) noexcept nogil:
        """Rows of some contacts at the present poses; found: the bodies as contacts were found. -> end, or -1: no room"""
        return layout_contacts(self.context.store.manifolds, self.context.store.resisted(),
                               self.context.store.manifold_count, NULL, self.context.bodies, self.context.settings,
                               self.anchors, self.rows, begin, self.row_capacity, found, which)

    cdef void write_contacts(self, Row* rows, int which) noexcept nogil:
        refresh_contacts(self.context.store.manifolds, self.context.store.resisted(), self.context.store.manifold_count,
                         self.context.bodies, self.context.settings, self.anchors, rows, which)

    cdef bint waits(self, Impacts impacts) noexcept nogil:
        """Whether no contact with a restitution may be struck at these velocities, so that none need have rows; and joints
        hold none of them before blows. A point moves against the other body no faster than both bodies' centres do, and
        by their turning; twice the way to it, for it goes on within the step."""
        cdef const Manifold* m
        cdef Py_ssize_t k
        for k in range(self.context.store.manifold_count):
            m = &self.context.store.manifolds[k]
            if m.restitution > 0.0 and m.point_count > 0 and (
                    impacts.is_held(m.body_a) or impacts.is_held(m.body_b)
                    or not self.fastest(m) < self.context.settings.restitution_threshold):
                return False
        return True

    cdef double fastest(self, const Manifold* m) noexcept nogil:
        """How fast a point of the manifold may close at most [m/s]."""
        cdef const Twist* a = &self.context.bodies.twist[m.body_a]
        cdef const Twist* b = &self.context.bodies.twist[m.body_b]
        cdef double reach_a = 0.0
        cdef double reach_b = 0.0
        cdef int i
        for i in range(m.point_count):
            reach_a = max(reach_a, norm(sub(m.points[i].position, self.context.bodies.position[m.body_a])))
            reach_b = max(reach_b, norm(sub(m.points[i].position, self.context.bodies.position[m.body_b])))
        return norm(sub(b.v, a.v)) + 2.0 * (norm(a.w) * reach_a + norm(b.w) * reach_b)

    cdef void add_bouncing(self) noexcept nogil:
        """Rows for impacts of the contacts with a restitution, in a step, at the present poses."""
        self.impact_rows = self.add_impacts(BOUNCING, self.joint_end, self.impact_rows)
        self.resting_rows = max(self.resting_rows, self.impact_rows)

    cdef void add_resting(self) noexcept nogil:
        """Likewise of those without one."""
        self.resting_rows = self.add_impacts(RESTING, self.impact_rows, self.resting_rows)

    cdef Py_ssize_t add_impacts(self, int which, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """They are refreshed if they are there, up to `end`. -> end"""
        cdef Bodies found
        cdef Py_ssize_t i
        if end > begin:
            self.write_contacts(self.rows, which)
            return end
        found = self.context.arrays.bodies_before()
        end = self.lay(which, begin, &found)                 # there is room: prepare() has seen to it
        for i in range(begin, end):
            self.rows[i].impulse = 0.0
        memset(self.impacts + begin, 0, (end - begin) * sizeof(double))
        return end

    cdef void aim_motors(self) noexcept nogil:      # no-cython-lint: a method hides no function
        """Position motors, from the state that a substep begins with."""
        if self.motors > 0:
            aim_motors(self.context.joints, self.rows, self.joint_end, self.context.bodies.twist, self.context.settings)

    cdef void write_joints(self, Row* rows) noexcept nogil:
        """The joints' rows at the present poses."""
        self.context.pose_callbacks.call(False)
        if self.context.balls_alone and self.joint_end == 0:
            return
        refresh_listed(self.context.joints, self.context.joint_lists, self.context.bodies, self.context.settings, rows,
                       self.context.own, self.context.in_lanes)

    cdef void write(self, Row* rows) noexcept nogil:
        """The same rows at the present poses."""
        self.write_joints(rows)
        if self.context.contacts:
            self.write_contacts(rows, ALL_CONTACTS)

    cdef void refresh(self) noexcept nogil:
        self.write(self.rows)

    cdef void finish(self, double part) noexcept nogil:
        if self.row_count > 0:
            stabilize_rows(self.rows, self.row_count, self.context.bodies, self.context.neighbours, part,
                           self.context.settings)
        factor_blocks(self.rows, self.joint_end, self.factors)

    # ---- halves of impulses --------------------------------------------------------------------------------------------

    cdef void warm_start(self) noexcept nogil:      # no-cython-lint: a method hides no function
        self.set_start_impulses()
        warm_start(self.rows, self.started_end, self.context.bodies.twist)

    cdef void set_start_impulses(self) noexcept nogil:
        """The impulses that a substep starts with. Where its forces act in two halves, so does what opposes or
        drives them: the second half is carried to the relax pass, and bounds are halved until the rows are
        refreshed for it. The second half of a shared impulse is as large as the first comes out: `carry` holds
        the ratio."""
        cdef Py_ssize_t i
        for i in range(self.started_end):
            self.start_row(i)

    cdef void start_row(self, Py_ssize_t i) noexcept nogil:
        cdef double first = self.context.settings.first_kick
        cdef double of_joints = first_part(ROW_JOINT, self.context.settings)
        cdef Row* row = &self.rows[i]
        if self.context.ended and i < self.joint_end:
            row.impulse = lasting(row, self.context.settings)
        row.carry = 0.0
        if self.is_direct(row) and self.jointed.is_cold(row.body_a, row.body_b):
            row.impulse = 0.0
        if closes_itself(row, self.context.settings):
            row.impulse *= first
        elif row.kind == ROW_JOINT:
            # Limits feel feedback through warm joints as they do among rows (settings.joint_warm_start).
            row.impulse *= self.context.settings.joint_warm_start
            row.carry = (1.0 - of_joints) * row.impulse
            row.impulse *= of_joints
        elif is_shared(row, self.context.joints, self.context.settings):
            row.carry = (1.0 - first) / first
            row.impulse *= first
            bound_spring(row, self.context.joints, self.context.settings, first)
        else:
            row.carry = (1.0 - first) * row.impulse
            row.impulse *= first
            if row.kind == ROW_MOTOR or row.kind == ROW_JOINT_FRICTION or row.kind == ROW_SPRING:
                row.lower *= first
                row.upper *= first

    cdef bint is_direct(self, const Row* row) noexcept nogil:
        """Whether it is solved with the joints that are solved directly."""
        return row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER

    cdef double take_carried(self, Row* row) noexcept nogil:
        """The impulse of a row that acts after the drift, at the new pose; `carry` is the first half from then on, or
        nothing yet where all lasts. A shared one is then done with: the relax pass leaves it alone."""
        cdef double impulse
        cdef bint whole = lasts_whole(self.context.settings)
        if closes_itself(row, self.context.settings):
            return 0.0
        if is_shared(row, self.context.joints, self.context.settings):
            impulse = row.carry * row.impulse
            row.impulse += impulse
            row.lower = row.impulse
            row.upper = row.impulse
            row.carry = 0.0 if whole else row.carry
            return impulse
        impulse = second_half(row.impulse, row.carry)
        row.carry = 0.0 if whole else row.impulse
        row.impulse += impulse
        return impulse

    cdef void return_shared(self) noexcept nogil:
        self.act_carried(True)

    cdef void return_carried(self) noexcept nogil:
        self.act_carried(False)

    cdef void act_carried(self, bint shared) noexcept nogil:
        cdef Py_ssize_t i
        cdef double impulse
        for i in range(self.started_end):
            if is_shared(&self.rows[i], self.context.joints, self.context.settings) != shared:
                continue
            impulse = self.take_carried(&self.rows[i])
            if impulse != 0.0:
                row_apply(&self.rows[i], impulse, self.context.bodies.twist)

    # ---- sweeps ------------------------------------------------------------------------------------------------------

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        return sweep_si(self.rows, self.row_count, self.factors, p.twist, p.relaxed, p.rub)

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:      # no-cython-lint: a method hides no function
        return residual(self.rows, self.row_count, twist, relaxed)

    cdef void mark_changes(self, const FurtherPass* p) noexcept nogil:
        mark_outweighed(self.rows, self.row_count, p.neighbours, NULL, p.changed)

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        return sweep_changed(self.rows, self.row_count, self.factors, p.twist, p.k, p.changed, p.neighbours, p.sizes,
                             p.speed, p.rate)

    cdef void note_impulses(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.row_count):
            self.changes[i] = self.rows[i].impulse

    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil:
        """Friction follows its load."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int body
        for i in range(self.row_count):
            row = &self.rows[i]
            self.changes[i] = row.impulse - self.changes[i]
            body = row.body_a if self.context.bodies.inv_mass[row.body_a] > 0.0 else row.body_b
            if self.changes[i] != 0.0 and body >= 0 and row.kind <= ROW_NORMAL:
                along[body] += row.diagonal * row.impulse * self.changes[i]
                alone[body] += row.diagonal * self.changes[i] * self.changes[i]

    cdef void leave_changes(self, const double* times) noexcept nogil:
        cdef double part
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.row_count):
            row = &self.rows[i]
            part = max(times[row.body_a], times[row.body_b])
            if part > 0.0:
                row.carry += part * self.changes[i]

    cdef void end_substep(self) noexcept nogil:
        if self.context.contacts:
            self.accumulate(ALL_CONTACTS)
        elif self.impact_rows > self.joint_end:
            self.accumulate(BOUNCING)
        if self.resting_rows > self.impact_rows:
            self.accumulate(RESTING)
        memset(self.impacts, 0, self.resting_rows * sizeof(double))

    cdef void accumulate(self, int which) noexcept nogil:
        accumulate_contacts(self.context.store.manifolds, self.context.store.resisted(), self.context.store.manifold_count,
                            self.context.settings, self.rows, self.impacts, which)
