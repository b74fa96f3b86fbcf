"""Loops of a world in generalized coordinates: what closes them before and after a drift. Trees that loops tie to each
other are a bond, of which the rest of the world knows nothing: each bond is closed by as many trials as it needs by
itself.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._noted cimport NOTE_LOOPS, NOTE_OPEN
from mcsim.integrate._euler cimport update_inertia
from mcsim.reduced._motion cimport Block
from mcsim.state._row cimport BIASED, RELAXED, ROW_JOINT, Row
from mcsim.state._rows cimport is_linear
from mcsim.state._settings cimport STABILIZE_BAUMGARTE, STABILIZE_SOFT
from mcsim.step._drifted cimport DRIFTED

from mcsim.direct._state import ENOUGH

# Loops that are open by more than this part of what may be closed in a substep are not to drive their trees.
cdef double OPEN = 1e-4

# Loops need no other trial whose closing takes less than this part of a substep.
cdef double CLOSED = 1.8e-12

# The same of a smooth motion, whose loops are closed as far as numbers go [s].
cdef double ROUNDED = 1e-16

cdef double enough = ENOUGH


cdef class TreeLoops:
    """rows: those that close loops. plan: as of TreeConstraints."""

    def __init__(self, StepContext context not None, PlainRows plain not None, TreePoses poses not None,
                 TreeSync body_sync not None, TreeJoints joints not None, TreeRows tree_rows not None,
                 LoopRows rows not None, plan):
        cdef TreeMotion motion = poses.motion
        bond, bonds = tree_rows.of_trees[2], tree_rows.of_bodies
        self.context, self.plain, self.motion, self.poses, self.rows = context, plain, motion, poses, rows
        self.body_sync, self.joints, self.tree_rows = body_sync, joints, tree_rows
        states = np.zeros((3, max(1, motion.tree.nq + motion.tree.nv)))
        errors, trials = np.zeros((2, motion.tree_count + 1)), np.zeros(motion.tree_count + 1, np.int32)
        self.kept = bond, bonds, states, errors, trials
        self.bond, self.bonds = integers(bond), integers(bonds) + 1
        self.levels, self.closest, self.places = doubles(states[0]), doubles(states[1]), doubles(states[2])
        self.last_errors, self.errors_now, self.trying = doubles(errors[0]), doubles(errors[1]), integers(trials)
        self.some = not np.all(plan.held)
        self.smooth = self.some and plan.smooth
        self.projecting = self.some and plan.projection
        self.closing = (self.some and context.settings.stabilization == STABILIZE_SOFT and not self.smooth
                        and not self.projecting)
        self.reserve()

    def reserve(self):
        """Room for the plain rows."""
        self.kept_numbers = np.zeros((2, max(1, self.plain.row_capacity)))
        self.impulses, self.opened = doubles(self.kept_numbers[0]), doubles(self.kept_numbers[1])

    cdef bint is_tied(self, const Row* row) noexcept nogil:
        """Whether a row acts on a tree that loops tie."""
        return self.some and (self.bonds[row.body_a] >= 0 or self.bonds[row.body_b] >= 0)

    cdef double closing_rate(self) noexcept nogil:
        """What part of their errors loops are to lose in a second, as velocities [1/s]."""
        cdef double h = self.context.settings.h
        if self.closing:
            return 1.0 / h
        if self.projecting or self.smooth:
            return 0.0
        return self.context.settings.baumgarte / h if self.context.settings.stabilization == STABILIZE_BAUMGARTE else 0.0

    cdef void aim(self) noexcept nogil:
        """Loops are to be closed at the drift's end: C + h J qd + h^2/2 d2C/dt2 = 0, from which close goes on. Under
        "projection" velocities do not close what is open, and loops stay at their level: C is left out. What
        accelerations hold closed yields to no velocity."""
        cdef Py_ssize_t i
        cdef double h = self.context.settings.h
        cdef double asked = 0.0 if self.projecting else 1.0 / h
        cdef Row* row
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT and row.stabilized:
                row.bias[BIASED] = asked * row.error + 0.5 * h * row.curvature + row.rate
                row.compliance[BIASED] = 0.0
                row.mass[BIASED] = row.mass[RELAXED]
                if self.smooth:
                    row.compliance[RELAXED] = 0.0

    cdef void begin_trials(self) noexcept nogil:
        """All bonds are to be closed."""
        cdef Py_ssize_t g
        for g in range(self.motion.tree_count):
            self.trying[g] = self.bond[g] == g
            self.last_errors[g] = INFINITY

    cdef void copy(self, Py_ssize_t bond, double* kept, double* q, double* qd, bint keeping) noexcept nogil:
        """Into `kept`, or from there. q, qd: NULL where they stay."""
        cdef const Block* block
        cdef double* of_rates = kept + self.motion.tree.nq
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            if self.bond[k] != bond:
                continue
            block = &self.motion.trees[k]
            for i in range(self.motion.first_q(k), self.motion.first_q(k + 1) if q != NULL else 0):
                if keeping:
                    kept[i] = q[i]
                else:
                    q[i] = kept[i]
            for i in range(block.first, block.first + block.count if qd != NULL else 0):
                if keeping:
                    of_rates[i] = qd[i]
                else:
                    qd[i] = of_rates[i]

    cdef void keep_level(self) noexcept nogil:
        """By what loops are open where a drift begins, and stay so: under "projection", whose velocities mend nothing, all
        that they are; else nothing."""
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            self.opened[i] = self.plain.rows[i].error if self.projecting else 0.0

    cdef void look_ahead(self, double h) noexcept nogil:
        """Bodies as they are after a drift, and rows' errors, of loops from the level on that they are to be on; q is where
        it begins."""
        cdef double* q = self.motion.q
        cdef Row* row
        cdef Py_ssize_t i
        memcpy(self.levels, q, self.motion.tree.nq * sizeof(double))
        self.motion.drift(h)
        self.motion.place()
        self.poses.give_poses(True, self.context.bodies.position, self.context.bodies.orientation)
        self.joints.write()
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT and row.stabilized:
                row.error = row.error - self.opened[i]
        memcpy(q, self.levels, self.motion.tree.nq * sizeof(double))

    cdef void close(self, double h, const int32_t* done) noexcept nogil:
        """Newton's method on the velocities of the drift, with the rows as they are at its start: RATTLE's first half (H.
        Andersen 1983); the relax pass is the other one. It ends where it makes errors larger, as it may where a mechanism
        is singular. Bodies are left where the last trial had them. done: (trees,) of bonds, by their first, which are
        closed."""
        cdef double error
        cdef Py_ssize_t g
        cdef bint more
        self.begin_trials()
        for g in range(self.motion.tree_count):
            if done[g]:
                self.trying[g] = 0
        for _ in range(CLOSINGS):
            self.look_ahead(h)
            more = False
            for g in range(self.motion.tree_count):
                if not self.trying[g]:
                    continue
                error = self.rows.worst(self.plain.rows, g)
                if not error < self.last_errors[g]:
                    self.copy(g, self.closest, NULL, self.motion.qd, False)
                if not error < self.last_errors[g] or error <= CLOSED * h or error > h:
                    self.trying[g] = 0
                    continue
                more = True
                self.last_errors[g] = error
                self.copy(g, self.closest, NULL, self.motion.qd, True)
                self.rows.close(self.plain.rows, self.motion.qd, h, g, NULL)
            if not more:
                break

    cdef void project(self, Sweeps sweeping, double h, int rounds) noexcept nogil:
        """"projection": q onto the nearest place at which loops are closed, by at most so many Gauss-Newton steps in the
        metric of H, q -= H^-1 J' (J H^-1 J')^-1 C with all of them at the place where q is. Velocities do not feel it. It
        ends where errors do not shrink; what is open closes no faster than its push. Rows are those of the present place,
        before and after: all of them where there are sweeps, else those that `write` writes."""
        cdef size_t nq = self.motion.tree.nq, nv = self.motion.tree.nv
        cdef double error, closed
        cdef Py_ssize_t g
        cdef bint more, back
        cdef int k
        self.begin_trials()
        closed = ROUNDED if self.smooth else CLOSED * h
        for k in range(rounds):
            more = back = False
            for g in range(self.motion.tree_count):
                if not self.trying[g]:
                    continue
                error = self.errors_now[g] = self.rows.worst(self.plain.rows, g)
                if not error < self.last_errors[g]:
                    self.copy(g, self.closest, self.motion.q, NULL, False)
                    back = True
                if not error < self.last_errors[g] or error <= closed or (k > 0 and self.last_errors[g] > h):
                    self.trying[g] = 0
                    continue
                more = True
                self.last_errors[g] = error
                self.copy(g, self.closest, self.motion.q, NULL, True)
            if more:
                memcpy(self.places, self.motion.q, nq * sizeof(double))
                memcpy(self.levels, self.motion.qd, nv * sizeof(double))
                memset(self.motion.qd, 0, nv * sizeof(double))
                self.find_way(h)
                self.motion.drift(1.0)
                for g in range(self.motion.tree_count):
                    if self.trying[g]:
                        self.copy(g, self.places, self.motion.q, NULL, True)
                memcpy(self.motion.q, self.places, nq * sizeof(double))
                memcpy(self.motion.qd, self.levels, nv * sizeof(double))
            if more or back:
                self.body_sync.show(True, self.context.steps)
                if sweeping is not None:
                    sweeping.refresh()
                else:
                    self.write()
            if not more:
                return

    cdef void write(self) noexcept nogil:
        """Of all rows those that close loops, at the present place: what they are over the trees' velocities, and their
        errors. Contacts, and surfaces that move on with them, know nothing of it."""
        update_inertia(self.context.bodies)
        self.joints.write()
        self.tree_rows.project_loops()

    cdef void find_way(self, double h) noexcept nogil:
        """The displacement of the bonds that are being tried, as velocities; of smooth motions to rounding errors, by the
        solver of their accelerations."""
        cdef Py_ssize_t g, i
        if self.smooth:
            self.rows.find_rigid(self.plain.rows, self.plain.joint_end, 0.0)
            self.rows.aim_errors(self.trying, self.errors_now, h, self.plain.rows)
            self.rows.meet(self.plain.rows, self.motion.qd)
            return
        for i in range(self.plain.joint_end):
            self.impulses[i] = self.plain.rows[i].impulse
        for g in range(self.motion.tree_count):
            if self.trying[g]:
                self.rows.close(self.plain.rows, self.motion.qd, max(1.0, self.errors_now[g] / h), g, NULL)
        for i in range(self.plain.joint_end):
            self.plain.rows[i].impulse = self.impulses[i]

    cdef double most_open(self, double* widest) noexcept nogil:
        """How long closing loops may take that are not strained [s]. widest: beyond which they are contrary. What is fed
        back into accelerations closes them as slowly as that."""
        cdef double gain = self.context.settings.error_gain
        widest[0] = self.context.settings.h
        if self.smooth and not self.projecting:
            widest[0] = 1.0 / sqrt(gain) if gain > 0.0 else INFINITY
            return widest[0]
        return OPEN * widest[0]

    cdef bint note_strain(self) noexcept nogil:
        """Whether loops yield as the substep begins, or are open by more than they are to be."""
        cdef double widest
        cdef double most = self.most_open(&widest)
        return self.rows.note_strain(self.plain.rows, most, widest)

    cdef void note_open(self) noexcept nogil:
        """Joints that had to yield in the substep, or are open at its end. What has yielded and is closed all the same, as
        well as `World` closes joints, has done what was asked."""
        cdef double widest, error, largest
        cdef double most = self.most_open(&widest)
        cdef Py_ssize_t i
        cdef const Row* row
        cdef bint contrary = self.rows.any_contrary()
        cdef bint drifts = self.smooth and not self.projecting and self.context.settings.error_gain == 0.0
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind != ROW_JOINT:
                continue
            error = fabs(row.error) if row.stabilized else 0.0
            if contrary and self.rows.is_open(self.plain.rows, row.source, self.context.joints, enough, &largest):
                self.context.noted.most(NOTE_LOOPS, row.source, largest)
            elif error > widest * row.push:
                self.context.noted.most(NOTE_LOOPS, row.source, error)
            elif (error > most * row.push and (self.closing or self.projecting)) or (drifts and error > DRIFTED * (
                    0.5 * self.context.joints[row.source].length if is_linear(row) else 1.0)):
                self.context.noted.most(NOTE_OPEN, row.source, error)
        self.rows.forget_contrary()
