"""The jointed bodies of a world and their joints, solved directly: the stages of a substep that concern them
(docs/theory/tree.md).

    begin      a warm start of the impulses acts; the poses are kept
    close      v += M^-1 J' lambda until the drift by v ends with closed joints: Newton's method with the J, and the
               factor of J M^-1 J', of the drift's start; the poses are those of the last trial. What that does not
               resolve flies: _flights.pyx
    refresh    J, C and the factor at the new poses
    relax      J v + rate = 0

Under another stabilization than "soft" the rows are those of the sweeps: `read` and `solve_rows` take them.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.direct._accounts cimport Accounted
from mcsim.direct._articulated cimport LOOP_GAP, MOST_CORRECTIONS, MOST_PROXIMAL, SOLVED, STRAIN, WIDEST_GAP
from mcsim.constraints._direct cimport read_joint_rows
from mcsim.constraints._joints cimport has_bounded_rows, has_position_motor
from mcsim.constraints._stiffness cimport load_joints
from mcsim.core._math cimport add, add_scaled, cross, dot, mat_vec, rotate_back, scale, sub
from mcsim.core._noted cimport NOTE_OPEN
from mcsim.core._types cimport Twist, Vec3
from mcsim.integrate._euler cimport try_poses
from mcsim.solve._drivers cimport MANY_DRIVERS, UNDRIVEN, meet_driver, tie_moving
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._joint cimport MOST_ASKED, Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE, JointRow, JointRows, Row
from mcsim.state._rows cimport copy_numbers, own_rows, row_diagonal, row_rate, rows_way, scale_numbers
from mcsim.wide._batches cimport Batch, BatchNode, BATCH_FREE, BATCH_LOOSE, BATCH_SWEPT

# Joints are closed at the end of a drift when they are open by less than CLOSED, or than NEAR where sweeps act too, in
# parts of the articulation's size.
cdef double CLOSED = 1e-9
cdef double NEAR = 5e-7

# Bounded rows are solved with the joints in them where there are position motors, where sweeps in turn with the
# joints would leave more than this of an error after so many passes, or where they fly. Of a coordinate that has the
# part p of its two bodies' J M^-1 J' a sweep leaves 1 - p.
cdef double MOST_LEFT = 0.2
cdef enum:
    PASSES = 8

# The proximal part of the diagonal where the rows are those of the sweeps.
cdef double USUAL_PROXIMAL = 1e-6


cdef class Articulations(Accounted):
    """Arguments as of Jointed."""

    # ---- the stages of a step ------------------------------------------------------------------------------------------

    cdef void begin_step(self) noexcept nogil:
        """Impulses of the last step, rows at the present poses; to be followed by `prepare`, once the sweeps' rows
        are laid out."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t c, j
        cdef int k
        for c in range(rows.awake_count):
            j = rows.awake[c]
            self.joints[j].constraint_count = rows.begin[j + 1] - rows.begin[j]
            for k in range(self.joints[j].constraint_count):
                rows.second[rows.begin[j] + k] = self.joints[j].impulse[k]
        self.tree.lanes = self.tree.balls is not None
        if self.batches is not None:
            self.batches.begin_step(rows, self.joints)
            self.batches.load(self.bodies)
            self.batches.write(self.bodies, rows)
        for c in range(self.alone_count):
            self.write_rows(self.alone[c])

    cdef void choose_flights(self, double h) noexcept nogil:
        """Which articulations fly in this step: those whose joints held impulses over the last substep, of length h, that
        strain a body; and which hold their bounded rows."""
        cdef const Joint* joint
        cdef Py_ssize_t c, g
        cdef bint flies, holds
        cdef bint changed = False
        load_joints(self.joints, &self.tree.rows, self.bodies, &self.loads, h)
        memset(self.strain, 0, self.articulation_count * sizeof(double))
        for c in range(self.loads.count):
            g = self.group[self.loads.chosen[c]]
            self.strain[g] = max(self.strain[g], self.loads.load[c])
        for c in range(self.awake_count):
            self.bounded[self.awake[c]] = 0
        for c in range(self.tree.rows.awake_count - 1, -1, -1):
            joint = &self.joints[self.tree.rows.awake[c]]
            if has_bounded_rows(joint):
                g = max(self.group[joint.body_a], self.group[joint.body_b])
                self.bounded[g] = max(self.bounded[g], 2 if has_position_motor(joint) else 1)
                self.asked[g] = self.tree.rows.awake[c]
        for c in range(self.awake_count):
            g = self.awake[c]
            flies = self.may_fly[g] and self.strain[g] * h * h > STRAIN
            holds = self.bounded[g] == 2 or (self.bounded[g] and (self.is_held(g) or flies))
            changed = changed or flies != self.flies[g] or flies != self.flew[g] or holds != self.holds[g]
            self.flies[g], self.holds[g] = flies, holds
        if changed:
            self.arrange()
            self.choose_lanes()
            self.begin_step()

    cdef bint is_held(self, Py_ssize_t g) noexcept nogil:
        """Whether a bounded row of an articulation is far harder to move than its two bodies alone, as was found within
        the last MOST_ASKED steps."""
        cdef Joint* joint = &self.joints[self.asked[g]]
        cdef double left, part
        cdef int _
        cdef bint held
        if joint.held == 0:
            if self.here[g]:
                self.write_rows(g)
            left = 1.0
            part = 1.0 - self.carried.least_part(g, self.joints, &self.tree.rows, self.bodies)
            for _ in range(PASSES * self.settings.iterations):
                left *= part
            held = left > MOST_LEFT
            joint.held = -MOST_ASKED if held else MOST_ASKED
        held = joint.held < 0
        joint.held += 1 if held else -1
        return held

    def least_parts(self):
        """(articulations,) what `Carried.least_part` says of each at the present poses."""
        found = np.ones(self.articulation_count)
        for g in range(self.articulation_count):
            self.write_rows(g)
            found[g] = self.carried.least_part(g, self.joints, &self.tree.rows, self.bodies)
        return found

    cdef void find_swept(self, Row* rows, Py_ssize_t count, const Manifold* manifolds,
                         Py_ssize_t manifold_count) noexcept nogil:
        """Which articulations have rows in the sweeps of this step: bounded ones, or contacts. rows: `count` of joints."""
        cdef Py_ssize_t c, g, i, j
        for c in range(self.awake_count):
            self.swept[self.awake[c]] = 0
        self.swept[self.articulation_count] = 0                  # of what is in none
        for i in range(count):
            if rows[i].block_kind != BLOCK_BORDER and rows[i].block_kind != BLOCK_TREE:
                self.sweep(rows[i].body_a)
                self.sweep(rows[i].body_b)
        for i in range(manifold_count):
            if manifolds[i].point_count > 0:
                self.sweep(manifolds[i].body_a)
                self.sweep(manifolds[i].body_b)
        for c in range(self.tree.rows.awake_count):
            j = self.tree.rows.awake[c]
            if self.joint_bounds.taken[j] == 2:
                self.sweep(self.joints[j].body_a)
                self.sweep(self.joints[j].body_b)
        self.some_swept = False
        for c in range(self.awake_count):
            g = self.awake[c]
            self.some_swept = self.some_swept or self.swept[g]
            self.near[g] = self.articulation[g].size * (NEAR if self.swept[g] else CLOSED)
        self.held_rows.list(self.group, self.holds, rows, count)
        if self.some_swept:
            self.tie(rows, count, manifolds, manifold_count)
        self.begin_account()

    cdef void sweep(self, int body) noexcept nogil:
        cdef int32_t g = self.group[body]
        self.swept[g if g >= 0 else self.articulation_count] = 1

    cdef void prepare(self) noexcept nogil:
        """The factors, once all rows are written."""
        cdef Py_ssize_t c
        for c in range(self.alone_count):
            self.factor(self.alone[c])
            if self.held_rows.count[self.alone[c]] > 0:
                self.probe(self.alone[c])
        if self.batches is not None:
            self.batches.factor(self.bodies)

    cdef void refresh(self) noexcept nogil:
        """Rows at the present poses, to which the border's rows are written already; to be followed by `prepare`."""
        cdef Py_ssize_t c
        if self.batches is not None and self.batches.write(self.bodies, &self.tree.rows) > self.least_enough:
            self.note_open_batches()
        for c in range(self.alone_count):
            self.write_rows(self.alone[c])
        self.note_open()

    cdef void begin(self) noexcept nogil:
        """What relaxed the last substep is the best warm start of what closes this one: both are half a substep's joint
        forces at the same pose. Of redundant rows a part of the impulses does nothing, until the bodies have moved:
        they start from 0. What flies has both halves from its flight alone."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t c, g
        for c in range(self.awake_count):
            self.keep_poses(self.awake[c])
            self.keep_start(self.awake[c])
        for c in range(self.alone_count):
            g = self.alone[c]
            if self.cold[g] or self.flies[g]:
                self.tree.scale_rows(&self.articulation[g], 0.0, rows.impulse)
            else:
                self.tree.copy_rows(&self.articulation[g], rows.second, rows.impulse)
                self.tree.push(&self.articulation[g], self.bodies, self.bodies.twist, rows.impulse)
        if self.batches is None:
            return
        self.batches.aim_for(self.near, self.swept, False)
        self.batches.keep(self.bodies)
        memcpy(rows.impulse + self.tree.own_numbers, rows.second + self.tree.own_numbers,
               self.batches.used * sizeof(double))
        self.clear_batches(self.base)
        self.batches.push(self.bodies.twist, rows, False)

    cdef void aim(self) noexcept nogil:
        """Biases for solves in turn with sweeps: what closes the joints, or what holds them where they are far from
        closed, and Newton's step may lead away, and where they fly."""
        cdef Py_ssize_t c, g
        cdef double far
        for c in range(self.alone_count):
            g = self.alone[c]
            if not self.swept[g]:
                continue
            far = self.articulation[g].size * (LOOP_GAP if self.articulation[g].loops else WIDEST_GAP)
            if self.flies[g] or self.drift(g) > far:
                self.aim_still(g)
            else:
                self.subtract_rates(g)
        if self.batches is not None:
            self.drift_batches(False, False)
            self.batches.aim(self.bodies.twist, &self.tree.rows, WIDEST_GAP / NEAR)

    cdef void solve(self, Twist* twist, bint relaxed) noexcept nogil:
        """After a sweep, the joints of what takes part in it."""
        cdef Py_ssize_t c, g
        for c in range(self.alone_count):
            g = self.alone[c]
            if self.swept[g]:
                self.solve_swept(g, twist, relaxed)
        if self.batches is not None:
            if relaxed:
                self.clear_batches(self.tree.rows.bias)
            self.batches.solve(twist, &self.tree.rows, BATCH_SWEPT)

    cdef void solve_swept(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil:
        if relaxed:
            self.aim_still(g)
        self.solve_one(g, twist)

    cdef void hold_bounded(self, Twist* twist, bint relaxed, bint solved) noexcept nogil:
        """Before a sweep, the bounded rows of articulations that hold them."""
        cdef Py_ssize_t c, g
        for c in range(self.alone_count):
            g = self.alone[c]
            if self.held_rows.count[g] > 0:
                if relaxed:
                    self.aim_still(g)
                self.hold_rows(g, twist, relaxed, solved)

    cdef void clear_batches(self, double* x) noexcept nogil:
        memset(x + self.tree.own_numbers, 0, self.batches.used * sizeof(double))

    cdef void close(self) noexcept nogil:
        """The drift of all articulations, at whose end their joints are closed."""
        cdef Py_ssize_t c
        if self.batches is not None:
            self.close_batches()
        for c in range(self.alone_count):
            self.close_one(self.alone[c])

    cdef void begin_relax(self) noexcept nogil:
        """Before the second pass. What is swept is to see the joints' forces from the start: a warm start of them
        acts, which a flight has had already. What is not swept is held at once."""
        cdef JointRows* rows = &self.tree.rows
        cdef const Articulation* a
        cdef Py_ssize_t c, g
        copy_numbers(rows, rows.impulse, rows.second)
        scale_numbers(rows, -1.0, rows.second)
        for c in range(self.alone_count):
            g = self.alone[c]
            a = &self.articulation[g]
            if self.flies[g]:
                self.tree.add_rows(a, self.flown, rows.impulse)
            elif self.swept[g] and not self.cold[g]:
                self.tree.push(a, self.bodies, self.bodies.twist, rows.impulse)
                self.tree.scale_rows(a, 2.0, rows.impulse)
            if not self.swept[g]:
                self.hold(g, self.bodies.twist)
        if self.batches is not None:
            memcpy(self.base + self.tree.own_numbers, rows.impulse + self.tree.own_numbers,
                   self.batches.used * sizeof(double))
            self.batches.push(self.bodies.twist, rows, True)
            self.clear_batches(rows.bias)
            self.batches.solve(self.bodies.twist, rows, BATCH_FREE)

    cdef void end_relax(self) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef JointRows* rows = &self.tree.rows
        for i in range(rows.run_count):
            for k in range(rows.run[2 * i], rows.run[2 * i + 1]):
                rows.second[k] += rows.impulse[k]
        self.settle_falling()

    cdef void give_batches(self) noexcept nogil:
        """Jacobians and impulses of batches, for those who look at joints one by one."""
        if self.batches is not None:
            self.batches.give_jacobians(&self.tree.rows)
            self.batches.give_impulses(&self.tree.rows)

    cdef double residual(self) noexcept nogil:
        """The largest (J v + bias) / (J M^-1 J') of a row [N s, N m s]."""
        cdef JointRows* rows = &self.tree.rows
        cdef const Articulation* a
        cdef const Node* node
        cdef const JointRow* row
        cdef Py_ssize_t c, k
        cdef int p
        cdef double off, diagonal
        cdef double largest = 0.0
        if self.batches is not None:
            largest = self.batches.residual(self.bodies.twist, rows)
        for c in range(self.alone_count):
            a = &self.articulation[self.alone[c]]
            for k in range(a.node, a.node_end):
                node = &self.tree.nodes[k]
                for p in range(node.row, node.row + row_count_of(node)):
                    row = &rows.row[p]
                    off = row_rate(row, &self.bodies.twist[node.body_a], &self.bodies.twist[node.body_b]) + rows.bias[p]
                    diagonal = row_diagonal(row, self.bodies.inv_mass[node.body_a], self.bodies.inv_mass[node.body_b])
                    if diagonal > 0.0:
                        largest = max(largest, fabs(off) / diagonal)
        return largest

    # ---- batches -----------------------------------------------------------------------------------------------------

    cdef void drift_batches(self, bint again, bint store) noexcept nogil:
        """The same of what stands side by side. again: after a correction, only of batches that were farther off than they
        may. store: the poses are asked for, not their errors alone."""
        cdef double h = self.settings.h
        cdef const Articulation* a
        cdef Py_ssize_t c
        for c in range(self.awake_count if not again else 0):
            if self.here[self.awake[c]]:
                self.drift_driven(self.awake[c])
        if self.batches.drift(self.bodies, &self.tree.rows, h, again, store):
            return
        for c in range(self.awake_count):                # a body turns far
            a = &self.articulation[self.awake[c]]
            if self.here[self.awake[c]]:
                try_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member, self.position + a.member,
                          self.orientation + a.member, h)
        self.batches.miss(self.bodies, &self.tree.rows, h, again)

    cdef void close_batches(self) noexcept nogil:
        """What close_one does, one correction of all that need it at a time. Those that are left fly, and so leave."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t first = self.tree.own_numbers
        cdef Py_ssize_t c, g
        cdef int _
        cdef bint some = False
        cdef bint fresh = False
        memcpy(self.kept_impulse + first, rows.impulse + first, self.batches.used * sizeof(double))
        for c in range(self.awake_count):
            g = self.awake[c]
            self.left[g] = 0
            if self.here[g] and self.swept[g]:
                self.keep_twists(g)
        self.batches.aim_for(self.near, self.swept, True)
        self.drift_batches(False, True)
        self.batches.aim_for(self.near, self.swept, False)
        for _ in range(MOST_CORRECTIONS):
            if not self.batches.any_loose():
                break
            self.corrections += 1
            self.batches.solve(self.bodies.twist, rows, BATCH_LOOSE)
            self.drift_batches(True, True)
        self.batches.find_loose(self.left)
        for c in range(self.awake_count):
            g = self.awake[c]
            fresh = fresh or (self.here[g] and self.strain[g] == 0.0)
        if fresh:                                        # whose impulses say how strained they are
            self.batches.give_impulses(rows)
        for c in range(self.awake_count):
            g = self.awake[c]
            if self.here[g] and not self.left[g]:
                self.left[g] = self.leaps(g)
            if self.here[g] and not self.left[g]:
                self.closed[g] = 1
                self.accept(g)
            some = some or self.left[g]
        if some:
            self.leave_batches()

    cdef void leave_batches(self) noexcept nogil:
        """What is left of close_batches stands alone from here on, as at the drift's start."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t first = self.tree.own_numbers
        cdef Py_ssize_t c, g, k
        cdef double* found = self.impulse + first
        memcpy(found, rows.impulse + first, self.batches.used * sizeof(double))
        memcpy(rows.impulse + first, self.kept_impulse + first, self.batches.used * sizeof(double))
        self.batches.give_impulses(rows)
        for c in range(self.awake_count):
            g = self.awake[c]
            if self.left[g]:
                self.tree.copy_rows(&self.articulation[g], rows.impulse, self.kept_impulse)
        memcpy(rows.impulse + first, found, self.batches.used * sizeof(double))
        self.batches.give_impulses(rows)
        for c in range(self.awake_count):
            g = self.awake[c]
            if not self.left[g]:
                continue
            self.flies[g] = 1
            self.tree.copy_rows(&self.articulation[g], self.kept_impulse, rows.impulse)
            for k in range(self.articulation[g].member, self.articulation[g].member_end if self.swept[g] else 0):
                self.bodies.twist[self.member[k]] = self.twist[k]
            self.undo_poses(g)
        self.arrange()
        self.batches.take(rows)
        self.batches.aim_for(self.near, self.swept, False)

    # ---- warm starts -------------------------------------------------------------------------------------------------

    cdef void tie(self, const Row* rows, Py_ssize_t count, const Manifold* manifolds,
                  Py_ssize_t manifold_count) noexcept nogil:
        """What hangs together in this step, and of it the bodies where some articulation is swept. One driven body, or
        what stands, may be at the end of it: work is measured as seen from there. Between two of which one moves warm
        starts are not weighed."""
        cdef const Joint* joint
        cdef Py_ssize_t c, g, i, k
        cdef int32_t r
        self.weighed_count = 0
        self.warm_starts.begin()
        for c in range(self.awake_count):
            g = self.awake[c]
            for k in range(self.articulation[g].member + 1, self.articulation[g].member_end):
                self.warm_starts.tie(self.member[k - 1], self.member[k])
        for i in range(count):
            tie_moving(self.warm_starts, self.bodies, rows[i].body_a, rows[i].body_b)
        for i in range(manifold_count):
            if manifolds[i].point_count > 0:
                tie_moving(self.warm_starts, self.bodies, manifolds[i].body_a, manifolds[i].body_b)
        for i in range(self.bodies.count):
            self.driver[i] = UNDRIVEN
        for i in range(count):
            meet_driver(self.driver, self.warm_starts, self.bodies, rows[i].body_a, rows[i].body_b)
        for i in range(manifold_count):
            if manifolds[i].point_count > 0:
                meet_driver(self.driver, self.warm_starts, self.bodies, manifolds[i].body_a, manifolds[i].body_b)
        for c in range(self.tree.rows.awake_count):
            joint = &self.joints[self.tree.rows.awake[c]]
            meet_driver(self.driver, self.warm_starts, self.bodies, joint.body_a, joint.body_b)
        memset(self.watched, 0, self.bodies.count)
        for c in range(self.awake_count):
            g = self.awake[c]
            if self.swept[g]:
                self.watched[self.warm_starts.root(self.member[self.articulation[g].member])] = 1
        for k in range(self.bodies.moving_count):
            r = self.bodies.moving[k]
            i = self.warm_starts.root(r)
            if self.bodies.inv_mass[r] > 0.0 and self.watched[i] and self.driver[i] != MANY_DRIVERS:
                self.weighed[self.weighed_count] = r
                self.weighed_count += 1

    cdef void begin_warm_start(self) noexcept nogil:
        """Before warm starts act."""
        cdef Py_ssize_t k
        for k in range(self.weighed_count):
            self.started[self.weighed[k]] = self.bodies.twist[self.weighed[k]]
            self.warm_starts.clear(self.weighed[k])

    cdef void finish_warm_start(self, bint second) noexcept nogil:
        """Joints whose impulses start from 0 answer the warm starts beside them, by J v + rate = 0. What of the joints'
        impulses is no warm start becomes their `base`."""
        cdef const Articulation* a
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t c, g
        for c in range(self.alone_count):
            g = self.alone[c]
            a = &self.articulation[g]
            if not self.swept[g]:
                continue
            self.tree.copy_rows(a, rows.impulse, self.base)
            if self.cold[g] or self.flies[g]:
                self.border.keep(1.0, a.border, a.border_end)
                self.hold(g, self.bodies.twist)
            else:
                self.tree.scale_rows(a, 0.5 if second else 0.0, self.base)
                self.border.keep(1.0 if second else 0.0, a.border, a.border_end)     # which has no warm start in the second

    cdef void give(self, int a, int b, double slope, double bend) noexcept nogil:
        """What a row adds of its bias and compliance (solve/_warm_starts.pyx)."""
        cdef int i = a if self.bodies.inv_mass[a] > 0.0 else b
        if self.bodies.inv_mass[i] > 0.0:
            self.warm_starts.give(i, slope, bend)

    cdef bint weigh(self) noexcept nogil:
        """How much of the warm starts is to be kept, once rows have given what they add: `kept_part`. -> whether any
        is less than 1"""
        cdef Py_ssize_t c, g, k
        cdef int i
        cdef double part
        cdef bint found = False
        cdef const Twist* before
        cdef Twist* twist
        cdef Vec3 dv, dw, w
        cdef Twist seen
        for c in range(self.awake_count):                # joints whose motion is given do work
            g = self.awake[c]
            if self.swept[g] and not self.here[g]:
                self.give_rates(g)
        for k in range(self.weighed_count):
            i = self.weighed[k]
            before = &self.started[i]
            twist = &self.bodies.twist[i]
            seen = self.seen(i)
            dv = scale(1.0 / self.bodies.inv_mass[i], sub(twist.v, before.v))
            w = rotate_back(self.bodies.orientation[i], sub(twist.w, before.w))
            dw = mat_vec(self.bodies.inertia[i], w)
            self.warm_starts.give(i, dot(dv, seen.v) + dot(dw, rotate_back(self.bodies.orientation[i], seen.w)),
                              dot(dv, sub(twist.v, before.v)) + dot(dw, w))
        for k in range(self.weighed_count):
            self.warm_starts.gather(self.weighed[k])
        for k in range(self.weighed_count):
            i = self.weighed[k]
            part = self.warm_starts.part_if_worse(i)
            self.kept_part[i] = part
            found = found or part < 1.0
        return found

    cdef void hold_doubtful(self) noexcept nogil:
        """Where warm starts are to be kept in part: the joints' is mended, by J v + rate = 0, so that the others' are
        weighed with the joints' answer to them. Then weigh begins anew."""
        cdef Py_ssize_t c, g, k
        for c in range(self.awake_count):
            g = self.awake[c]
            self.doubtful[g] = self.swept[g] and self.kept_part[self.member[self.articulation[g].member]] < 1.0
            if self.doubtful[g] and not self.here[g] and not self.cold[g] and not self.flies[g]:
                self.hold(g, self.bodies.twist)
        if self.batches is not None:
            self.clear_batches(self.tree.rows.bias)
            self.batches.aim_for(self.near, self.doubtful, False)
            self.batches.solve(self.bodies.twist, &self.tree.rows, BATCH_SWEPT)
            self.batches.aim_for(self.near, self.swept, False)
        for k in range(self.weighed_count):
            self.warm_starts.clear(self.weighed[k])

    cdef void keep_parts(self) noexcept nogil:
        """Of the warm starts: the bodies' twists and the joints' impulses."""
        cdef Py_ssize_t c, g, k
        cdef int i
        cdef double part
        cdef const Twist* before
        cdef Twist* twist
        for k in range(self.weighed_count):
            i = self.weighed[k]
            part = self.kept_part[i]
            if part < 1.0:
                twist = &self.bodies.twist[i]
                before = &self.started[i]
                twist.v = add_scaled(before.v, part, sub(twist.v, before.v))
                twist.w = add_scaled(before.w, part, sub(twist.w, before.w))
        for c in range(self.awake_count):
            g = self.awake[c]
            part = self.kept_part[self.member[self.articulation[g].member]] if self.swept[g] else 1.0
            if part < 1.0 and not self.here[g]:
                self.keep_part(g, part)
        if self.batches is not None:
            self.batches.keep_parts(&self.tree.rows, self.base, self.kept_part)

    cdef void keep_part(self, Py_ssize_t g, double part) noexcept nogil:
        """Of the warm start of an articulation's impulses."""
        cdef const Articulation* a = &self.articulation[g]
        self.tree.scale_rows(a, part, self.tree.rows.impulse)
        self.tree.scale_rows(a, 1.0 - part, self.base)
        self.tree.add_rows(a, self.base, self.tree.rows.impulse)
        self.border.keep_part(part, a.border, a.border_end)

    cdef Twist seen(self, int i) noexcept nogil:
        """A body's twist before the warm starts, as seen from what drives its group."""
        cdef Twist t = self.started[i]
        cdef int driver = self.driver[self.warm_starts.root(i)]
        cdef const Twist* by = &self.bodies.twist[driver]
        if driver >= 0:
            t.v = sub(t.v, add(by.v, cross(by.w, sub(self.bodies.position[i], self.bodies.position[driver]))))
            t.w = sub(t.w, by.w)
        return t

    cdef void give_rates(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef double slope = 0.0
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                slope += (rows.impulse[i] - self.base[i]) * rows.rate[i]
        self.warm_starts.give(self.member[a.member], slope, 0.0)

    cdef void forget_parts(self) noexcept nogil:
        """All warm starts are whole again."""
        cdef Py_ssize_t k
        for k in range(self.weighed_count):
            self.kept_part[self.weighed[k]] = 1.0

    # ---- for notes -------------------------------------------------------------------------------------------------------

    cdef void note_open(self) noexcept nogil:
        """Joints that a drift has left open; what is theirs is not accounted any more."""
        cdef Py_ssize_t c, g
        for c in range(self.alone_count):
            g = self.alone[c]
            if self.open[g] > self.most_open(g):
                self.note_joints(NOTE_OPEN, g)
                self.accounted[g] = 0

    cdef void note_open_batches(self) noexcept nogil:
        """The same of what stands side by side."""
        cdef const Batch* batch
        cdef const BatchNode* node
        cdef Py_ssize_t n
        cdef int lane, k, i
        cdef int32_t g
        cdef double largest
        for n in range(self.batches.count):
            batch = &self.batches.batches[n]
            for k in range(batch.shape.node_count):
                node = &batch.shape.nodes[k]
                for lane in range(batch.lanes):
                    g = batch.articulation[lane]
                    if self.batch_way(batch, k, lane) > self.most_open(g):
                        largest = 0.0
                        for i in range(node.size):
                            largest = max(largest,
                                          fabs(self.tree.rows.error[batch.first + (node.row + i) * batch.width + lane]))
                        self.noted.most(NOTE_OPEN, batch.source[8 * k + lane], largest)
                        self.accounted[g] = 0

    # ---- on the rows of the sweeps ---------------------------------------------------------------------------------------

    cdef void read(self, const Row* rows) noexcept nogil:
        """Jacobians and factor of rows as the sweeps have them. The smaller the proximal part, the more exact are the
        velocities; but torn joints must not be moved far."""
        cdef JointRows* own = &self.tree.rows
        cdef const Articulation* a
        cdef const Node* node
        cdef Py_ssize_t c, g, k
        cdef bint torn
        read_joint_rows(self.joints, rows, own)
        self.tree.lanes = False
        for c in range(self.alone_count):
            g = self.alone[c]
            a = &self.articulation[g]
            self.open[g] = 0.0
            for k in range(a.node, a.node_end):
                node = &self.tree.nodes[k]
                if node.joint >= 0:
                    self.open[g] = max(self.open[g], rows_way(&self.joints[node.joint], &own.row[node.row],
                                                              &own.error[node.row], row_count_of(node)))
            for k in range(a.border, a.border_end):
                if self.border.row(k) != NULL:
                    self.open[g] = max(self.open[g], self.border_way(k, self.border.row(k).error))
            torn = self.open[g] >= WIDEST_GAP * a.size
            self.proximal[g] = MOST_PROXIMAL if torn else USUAL_PROXIMAL
            self.cold[g] = a.loops > 0 or (a.border < a.border_end and torn)
            self.solved[g] = SOLVED * a.size / self.settings.h
            self.tree.factor(a, self.bodies, self.proximal[g], NULL)
            self.factor_border(g)

    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed) noexcept nogil:
        """J v + bias = 0 with the rows' biases; the rows' impulses change."""
        cdef JointRows* found = &self.tree.rows
        cdef Py_ssize_t c, j
        cdef Row* own
        cdef int i
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                found.bias[found.begin[j] + i] = own[i].bias[relaxed]
                found.impulse[found.begin[j] + i] = 0.0
        for j in range(self.border.count):
            self.border.bias[j] = 0.0 if self.border.row(j) == NULL else self.border.row(j).bias[relaxed]
        for c in range(self.alone_count):
            self.solve_one(self.alone[c], twist)
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                own[i].impulse += found.impulse[found.begin[j] + i]
