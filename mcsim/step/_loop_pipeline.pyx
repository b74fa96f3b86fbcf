"""Loops of a world in generalized coordinates: what closes them before and after a drift, and how far warm starts of limits and
contacts act. Trees that loops tie to each other are a bond, of which the rest of the world knows nothing: each bond is
closed by as many trials as it needs by itself.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._noted cimport NOTE_LOOPS, NOTE_OPEN
from mcsim.core._softness cimport soften
from mcsim.reduced._motion cimport Block
from mcsim.state._layout cimport (BIASED, RELAXED, ROW_JOINT, ROW_LIMIT, ROW_NORMAL, ROW_ROLLING, STABILIZE_BAUMGARTE,
                                  STABILIZE_SOFT, Row)

cdef enum:
    CLOSINGS = 4                 # trials of a drift with loops

# Loops that are open by more than this part of what may be closed in a substep are not to drive their trees.
cdef double OPEN = 1e-4

# Loops need no other trial whose closing takes less than this part of a substep.
cdef double CLOSED = 1.8e-12


cdef class LoopPipeline(TreePipeline):
    """Arguments as of ReducedPipeline."""

    def __init__(self, bodies, joints, collider, settings, bounces, sleep, plan):
        cdef Py_ssize_t nq = len(plan.q), nv = len(plan.qd)
        TreePipeline.__init__(self, bodies, joints, collider, settings, bounces, sleep, plan)
        self.levels_kept, energies = np.zeros((3, max(1, nq + nv))), np.zeros((2, self.motion.tree_count + 1))
        trials, watched = np.zeros(self.motion.tree_count + 1, np.int32), np.zeros(nv + 1, np.int32)
        self.kept_of_loops = energies, trials, watched
        self.watched = integers(watched)
        hung = {self.node(<int32_t>i) for i in range(bodies.count) if plan.jointed[i + 1]} - {-1}
        hung = self.kept_hung = np.array(sorted(hung), np.int32)
        self.hung, self.hung_count = integers(hung) if len(hung) else NULL, len(hung)
        self.levels, self.closest, self.places = (doubles(self.levels_kept[0]), doubles(self.levels_kept[1]),
                                                  doubles(self.levels_kept[2]))
        self.last_errors, self.errors_now, self.trying = doubles(energies[0]), doubles(energies[1]), integers(trials)
        self.runge = plan.runge
        self.looping = not np.all(plan.held)
        self.projecting = self.looping and plan.projection
        self.closing_loops = (self.looping and self.settings.stabilization == STABILIZE_SOFT and not self.runge
                              and not self.projecting)

    cdef void write_joints(self) noexcept nogil:
        """The joints' rows at the present poses."""
        self.plain.write_joints(self.plain.rows)

    cdef void refresh(self) noexcept nogil:
        """All rows at the present poses."""
        self.sweeping.refresh()

    cdef bint is_tied(self, const Row* row) noexcept nogil:
        """Whether a row acts on a tree that loops tie."""
        return self.looping and (self.bonds[row.body_a] >= 0 or self.bonds[row.body_b] >= 0)

    cdef double closing_rate(self) noexcept nogil:
        """What part of their errors loops are to lose in a second, as velocities [1/s]."""
        cdef double h = self.settings.h
        if self.closing_loops:
            return 1.0 / h
        if self.projecting:
            return 0.0
        if self.settings.stabilization == STABILIZE_BAUMGARTE:
            return self.settings.baumgarte / h
        if self.settings.stabilization == STABILIZE_SOFT:
            return soften(self.settings.joint_hertz, self.settings.joint_damping_ratio, h).bias_rate
        return 0.0

    cdef void aim_loops(self) noexcept nogil:
        """Loops are to be closed at the drift's end: C + h J qd + h^2/2 d2C/dt2 = 0, from which close_loops goes on. Under
        "projection", velocities do not close what is open: C is left out."""
        cdef Py_ssize_t i
        cdef double h = self.settings.h
        cdef double asked = 0.0 if self.projecting else 1.0 / h
        cdef Row* row
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT and row.stabilized:
                row.bias[BIASED] = asked * row.error + 0.5 * h * row.curvature + row.rate
                row.compliance[BIASED] = 0.0
                row.mass[BIASED] = row.mass[RELAXED]

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

    cdef void close_loops(self, double h) noexcept nogil:
        """Newton's method on the velocities of the drift, with the rows as they are at its start: RATTLE's first half (H.
        Andersen 1983); the relax pass is the other one. It ends where it makes errors larger, as it may where a mechanism
        is singular. Bodies are left where the last trial had them."""
        cdef double* q = self.motion.q
        cdef double error
        cdef Py_ssize_t g
        cdef bint more
        cdef int k
        self.begin_trials()
        for k in range(CLOSINGS):
            memcpy(self.levels, q, self.motion.tree.nq * sizeof(double))
            self.motion.drift(h)
            self.motion.place()
            self.motion.give_poses(True, self.bodies.position, self.bodies.orientation)
            self.write_joints()
            memcpy(q, self.levels, self.motion.tree.nq * sizeof(double))
            more = False
            for g in range(self.motion.tree_count):
                if not self.trying[g]:
                    continue
                error = self.generalized.worst(self.plain.rows, g)
                if not error < self.last_errors[g]:
                    self.copy(g, self.closest, NULL, self.motion.qd, False)
                if not error < self.last_errors[g] or error <= CLOSED * h or error > h:
                    self.trying[g] = 0
                    continue
                more = True
                self.last_errors[g] = error
                self.copy(g, self.closest, NULL, self.motion.qd, True)
                self.generalized.close(self.plain.rows, self.motion.qd, h, g)
            if not more:
                break

    cdef void project_loops(self, double h) noexcept nogil:
        """"projection": q onto the nearest place at which loops are closed, by Gauss-Newton steps in the metric of H, q -=
        H^-1 J' (J H^-1 J')^-1 C with all of them at the place where q is. Velocities do not feel it. It ends where errors
        do not shrink; what is open closes no faster than its push. Rows are refreshed, before and after."""
        cdef size_t nq = self.motion.tree.nq, nv = self.motion.tree.nv
        cdef double error
        cdef Py_ssize_t g, i
        cdef bint more, back
        cdef int k
        self.begin_trials()
        for k in range(CLOSINGS):
            more = back = False
            for g in range(self.motion.tree_count):
                if not self.trying[g]:
                    continue
                error = self.errors_now[g] = self.generalized.worst(self.plain.rows, g)
                if not error < self.last_errors[g]:
                    self.copy(g, self.closest, self.motion.q, NULL, False)
                    back = True
                if not error < self.last_errors[g] or error <= CLOSED * h or (k > 0 and self.last_errors[g] > h):
                    self.trying[g] = 0
                    continue
                more = True
                self.last_errors[g] = error
                self.copy(g, self.closest, self.motion.q, NULL, True)
            if more:
                memcpy(self.places, self.motion.q, nq * sizeof(double))
                memcpy(self.levels, self.motion.qd, nv * sizeof(double))
                memset(self.motion.qd, 0, nv * sizeof(double))
                for i in range(self.plain.joint_end):
                    self.impulses[i] = self.plain.rows[i].impulse
                for g in range(self.motion.tree_count):
                    if self.trying[g]:
                        self.generalized.close(self.plain.rows, self.motion.qd, max(1.0, self.errors_now[g] / h), g)
                for i in range(self.plain.joint_end):
                    self.plain.rows[i].impulse = self.impulses[i]
                self.motion.drift(1.0)
                for g in range(self.motion.tree_count):
                    if self.trying[g]:
                        self.copy(g, self.places, self.motion.q, NULL, True)
                memcpy(self.motion.q, self.places, nq * sizeof(double))
                memcpy(self.motion.qd, self.levels, nv * sizeof(double))
            if more or back:
                self.show(True)
                self.refresh()
            if not more:
                return

    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil:
        """What of its impulse is a warm start that has acted just now."""
        if row.kind != ROW_LIMIT and row.kind < ROW_NORMAL:
            return 0.0
        return row.impulse - row.carry if second else row.impulse

    cdef void begin_warm_starts(self, bint second) noexcept nogil:
        """Before they act: the velocities, and the rates J qd of the rows that have some. find_work asks for the first ones of
        limits and normals, what weighs warm starts, among bodies with joints alone, for all."""
        cdef Py_ssize_t i
        cdef int last = ROW_NORMAL if self.hung_count == 0 else ROW_ROLLING
        if second and self.hung_count == 0:
            return
        memcpy(self.levels, self.motion.qd, self.node_count * sizeof(double))
        for i in range(self.plain.started_end):
            if self.plain.rows[i].carry != 0.0 and (
                    self.plain.rows[i].kind == ROW_LIMIT or ROW_NORMAL <= self.plain.rows[i].kind <= last):
                self.rates[i] = self.row_rate(i, self.motion.qd)

    cdef void weigh_warm_starts(self, bint second) noexcept nogil:
        """Impulses of limits and contacts start from those before, which after an impact, where a tree has turned
        meanwhile, or beside loops that were open, may be far from what they should be: where warm starts are worse than none,
        they act as far as they help (solve/_warm_starts.pyx). Of biases the work that they ask for counts. Not where all that
        hang together are bodies without joints: what is wrong there sweeps take out before what is right, which they would
        find slowly. After begin_warm_starts, and once they act."""
        cdef Py_ssize_t i, end = self.plain.started_end
        cdef double* qd = self.motion.qd
        cdef double* before = self.levels
        cdef double warm, pull, part
        cdef bint some = False
        cdef Row* row
        if self.hung_count == 0:
            return
        self.warm_starts.begin()
        for i in range(end):
            row = &self.plain.rows[i]
            warm = self.warm_impulse(row, second)
            if warm != 0.0:
                some = True
                pull = row.bias[second] if warm * row.bias[second] < 0.0 else 0.0
                self.warm_starts.add(self.node(row.body_a), self.node(row.body_b), warm, self.rates[i] + pull,
                                 self.row_rate(i, qd) + pull + row.compliance[second] * warm)
        if not some:
            return
        self.warm_starts.weigh()
        memset(self.watched, 0, self.node_count * sizeof(int32_t))
        for i in range(self.hung_count):
            self.watched[self.warm_starts.root(self.hung[i])] = 1
        some = False
        for i in range(self.node_count):
            part = self.part_of(self.nodes[i])
            if part < 1.0:
                some = True
                qd[i] = before[i] + part * (qd[i] - before[i])
        for i in range(end if some else 0):
            row = &self.plain.rows[i]
            warm = self.warm_impulse(row, second)
            part = self.part_of(max(self.node(row.body_a), self.node(row.body_b)))
            if warm != 0.0 and part < 1.0:
                row.impulse -= (1.0 - part) * warm
                if not second:
                    row.carry *= part

    cdef double part_of(self, int32_t node) noexcept nogil:
        """What of the warm starts is kept there."""
        return self.warm_starts.part_if_worse(node) if self.watched[self.warm_starts.root(node)] else 1.0

    cdef double most_open(self, double* widest) noexcept nogil:
        """How long closing loops may take that are not strained [s]. widest: beyond which they are contrary. Under
        Runge-Kutta springs hold them, which are open and give back what they took: these are strained where they yield."""
        cdef double rate
        widest[0] = self.settings.h
        if self.runge and not self.projecting:
            rate = self.closing_rate()
            widest[0] = 1.0 / rate if rate > 0.0 else INFINITY
            return widest[0]
        return OPEN * widest[0]

    cdef bint note_strain(self) noexcept nogil:
        """Whether loops yield as the substep begins, or are open by more than they are to be."""
        cdef double widest
        cdef double most = self.most_open(&widest)
        return self.generalized.note_strain(self.plain.rows, most, widest)

    cdef void note_loops(self) noexcept nogil:
        """Joints that had to yield in the substep, or are open at its end."""
        cdef double widest, error
        cdef double most = self.most_open(&widest)
        cdef Py_ssize_t i, contrary = self.generalized.contrary
        cdef const Row* row
        self.generalized.contrary = -1
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            error = fabs(row.error) if row.kind == ROW_JOINT and row.stabilized else 0.0
            if row.kind == ROW_JOINT and (row.source == contrary or error > widest * row.push):
                self.noted.most(NOTE_LOOPS, row.source, error)
            elif error > most * row.push and (self.closing_loops or self.projecting):
                self.noted.most(NOTE_OPEN, row.source, error)
