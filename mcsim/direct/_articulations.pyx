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
from libc.string cimport memcpy

from mcsim.constraints._direct cimport read_joint_rows
from mcsim.core._math cimport dot
from mcsim.core._noted cimport NOTE_OPEN, Noted
from mcsim.core._types cimport Twist, Vec3
from mcsim.direct._accounts cimport EnergyAccount
from mcsim.direct._batch_drifts cimport BatchDrifts
from mcsim.direct._drifts cimport Drifts, Projections
from mcsim.direct._further_solves cimport FurtherSolves
from mcsim.direct._held_bounds cimport HeldBounds
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport (LOOP_GAP, MOST_PROXIMAL, SOLVED, WIDEST_GAP, ArticulationPart,
                                  ArticulationState)
from mcsim.direct._warm_start_parts cimport WarmStartParts
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE, JointRow, JointRows, Row
from mcsim.state._rows cimport copy_numbers, own_rows, row_diagonal, row_rate, rows_way, scale_numbers
from mcsim.state._settings cimport Settings
from mcsim.wide._batches cimport BATCH_FREE, BATCH_SWEPT

# Joints are closed at the end of a drift when they are open by less than this part of the articulation's size.
cdef double CLOSED = 1e-9

# The same where sweeps act too, which open them again.
cdef double NEAR = 5e-7

# How far a body may turn in a drift for its error to tell what closes the joints [rad].
cdef double TURNED = 0.5

# The proximal part of the diagonal where the rows are those of the sweeps.
cdef double USUAL_PROXIMAL = 1e-6


cdef class Articulations(ArticulationPart):
    """The stages of a substep. Arguments as of ArticulationState."""

    def __init__(self, bodies, joints, sizes, bint direct, bint bounds_in_lanes):
        self.state = ArticulationState(bodies, joints, sizes, direct, bounds_in_lanes)
        self.solves = JointSolves(self.state)
        self.bounds = HeldBounds(self.state, self.solves)
        self.projections = Projections(self.state, self.solves)
        self.drifts = Drifts(self.state, self.solves, self.projections)
        self.batch_drifts = BatchDrifts(self.state, self.drifts)
        self.account = EnergyAccount(self.state)
        self.start_parts = WarmStartParts(self.state, self.solves)
        self.further = FurtherSolves(self.state, self.solves, self.bounds)

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCallbacks calls,
                     Noted noted) noexcept:
        """The records of the pipeline, which outlives this."""
        cdef ArticulationPart part
        self.state.attach(bodies, joints, settings, calls, noted)
        for part in (self, self.solves, self.bounds, self.projections, self.drifts, self.batch_drifts, self.account,
                     self.start_parts, self.further):
            part.take_state()

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
        for c in range(self.state.alone_count):
            self.solves.write_rows(self.state.alone[c])

    cdef void find_swept(self, Row* rows, Py_ssize_t count, const Manifold* manifolds,
                         Py_ssize_t manifold_count) noexcept nogil:
        """Which articulations have rows in the sweeps of this step: bounded ones, or contacts. rows: `count` of joints."""
        cdef Py_ssize_t c, g, i, j
        for c in range(self.state.awake_count):
            self.state.swept[self.state.awake[c]] = 0
        self.state.swept[self.state.articulation_count] = 0                  # of what is in none
        self.state.find_touched(manifolds, manifold_count)
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
            if self.state.joint_bounds.taken[j] == 2:
                self.sweep(self.joints[j].body_a)
                self.sweep(self.joints[j].body_b)
        self.some_swept = False
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.some_swept = self.some_swept or self.state.swept[g]
            self.state.near[g] = self.articulation[g].size * (NEAR if self.state.swept[g] else CLOSED)
        self.bounds.list_rows(rows, count)
        if self.some_swept:
            self.start_parts.tie(rows, count, manifolds, manifold_count)
        self.account.begin_account()

    cdef void sweep(self, int body) noexcept nogil:
        cdef int32_t g = self.state.group[body]
        self.state.swept[g if g >= 0 else self.state.articulation_count] = 1

    cdef void prepare(self) noexcept nogil:
        """The factors, once all rows are written."""
        cdef Py_ssize_t c
        for c in range(self.state.alone_count):
            self.solves.factor(self.state.alone[c])
            if self.state.held_rows.count[self.state.alone[c]] > 0:
                self.bounds.factor(self.state.alone[c])
        if self.batches is not None:
            self.batches.factor(self.bodies)

    cdef void refresh(self) noexcept nogil:
        """Rows at the present poses, to which the border's rows are written already; to be followed by `prepare`."""
        cdef Py_ssize_t c
        if self.batches is not None and self.batches.write(self.bodies, &self.tree.rows) > self.state.least_enough:
            self.batch_drifts.note_open_batches()
        for c in range(self.state.alone_count):
            self.solves.write_rows(self.state.alone[c])
        self.note_open()

    cdef void begin(self) noexcept nogil:
        """What relaxed the last substep is the best warm start of what closes this one: both are half a substep's joint
        forces at the same pose. Of redundant rows a part of the impulses does nothing, until the bodies have moved:
        they start from 0. What flies has both halves from its flight alone."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t c, g
        for c in range(self.state.awake_count):
            self.state.keep_poses(self.state.awake[c])
            self.state.keep_start(self.state.awake[c])
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.state.cold[g] or self.state.flies[g]:
                self.tree.scale_rows(&self.articulation[g], 0.0, rows.impulse)
            else:
                self.tree.copy_rows(&self.articulation[g], rows.second, rows.impulse)
                self.tree.push(&self.articulation[g], self.bodies, self.bodies.twist, rows.impulse)
        if self.batches is None:
            return
        self.batches.aim_for(self.state.near, self.state.swept, False)
        self.batches.keep(self.bodies)
        memcpy(rows.impulse + self.tree.own_numbers, rows.second + self.tree.own_numbers,
               self.batches.used * sizeof(double))
        self.state.clear_batches(self.state.base)
        self.batches.push(self.bodies.twist, rows, False)

    cdef void aim(self) noexcept nogil:
        """Biases for solves in turn with sweeps: what closes the joints, or what holds them where they are far from
        closed, and Newton's step may lead away, and where they fly. Where bodies turn far in a substep, as half of a force
        alone turns what is light, a drift tells what closes them once the velocities go along with them."""
        cdef Py_ssize_t c, g
        cdef double far
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if not self.state.swept[g]:
                continue
            far = self.articulation[g].size * (LOOP_GAP if self.articulation[g].loops else WIDEST_GAP)
            if not self.state.flies[g] and self.turns_far(g):
                self.solves.aim_still(g)
                self.solves.solve_one(g, self.bodies.twist)
            if self.state.flies[g] or self.drifts.drift(g) > far:
                self.solves.aim_still(g)
            else:
                self.solves.subtract_rates(g)
        if self.batches is not None:
            self.batch_drifts.drift_batches(False, False)
            self.batches.aim(self.bodies.twist, &self.tree.rows, WIDEST_GAP / NEAR)

    cdef bint turns_far(self, Py_ssize_t g) noexcept nogil:
        """Whether a body of an articulation would turn by more than TURNED in the drift."""
        cdef const Articulation* a = &self.articulation[g]
        cdef double most = (TURNED / self.settings.h) * (TURNED / self.settings.h)
        cdef Py_ssize_t k
        cdef Vec3 w
        for k in range(a.member, a.member_end):
            w = self.bodies.twist[self.member[k]].w
            if dot(w, w) > most:
                return True
        return False

    cdef void solve(self, Twist* twist, bint relaxed) noexcept nogil:
        """After a sweep, the joints of what takes part in it."""
        cdef Py_ssize_t c, g
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.state.swept[g]:
                self.solve_swept(g, twist, relaxed)
        if self.batches is not None:
            if relaxed:
                self.state.clear_batches(self.tree.rows.bias)
            self.batches.solve(twist, &self.tree.rows, BATCH_SWEPT)

    cdef void solve_swept(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil:
        if relaxed:
            self.solves.aim_still(g)
        self.solves.solve_one(g, twist)

    cdef void close(self) noexcept nogil:
        """The drift of all articulations, at whose end their joints are closed."""
        cdef Py_ssize_t c
        if self.batches is not None:
            self.batch_drifts.close_batches()
        for c in range(self.state.alone_count):
            self.drifts.close_one(self.state.alone[c])

    cdef void begin_relax(self) noexcept nogil:
        """Before the second pass. What is swept is to see the joints' forces from the start: a warm start of them
        acts, which a flight has had already. What is not swept is held at once."""
        cdef JointRows* rows = &self.tree.rows
        cdef const Articulation* a
        cdef Py_ssize_t c, g
        copy_numbers(rows, rows.impulse, rows.second)
        scale_numbers(rows, -1.0, rows.second)
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            a = &self.articulation[g]
            if self.state.flies[g]:
                self.tree.add_rows(a, self.state.flown, rows.impulse)
            elif self.state.swept[g] and not self.state.cold[g]:
                self.tree.push(a, self.bodies, self.bodies.twist, rows.impulse)
                self.tree.scale_rows(a, 2.0, rows.impulse)
            if not self.state.swept[g]:
                self.solves.hold(g, self.bodies.twist)
        if self.batches is not None:
            memcpy(self.state.base + self.tree.own_numbers, rows.impulse + self.tree.own_numbers,
                   self.batches.used * sizeof(double))
            self.batches.push(self.bodies.twist, rows, True)
            self.state.clear_batches(rows.bias)
            self.batches.solve(self.bodies.twist, rows, BATCH_FREE)

    cdef void end_relax(self) noexcept nogil:
        cdef Py_ssize_t c, g, i, k
        cdef JointRows* rows = &self.tree.rows
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.bounds.ends_with_rotors(g):
                self.bounds.hold_rows(g, self.bodies.twist, True, True)
        for i in range(rows.run_count):
            for k in range(rows.run[2 * i], rows.run[2 * i + 1]):
                rows.second[k] += rows.impulse[k]
        self.account.settle_falling()

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
        for c in range(self.state.alone_count):
            a = &self.articulation[self.state.alone[c]]
            for k in range(a.node, a.node_end):
                node = &self.tree.nodes[k]
                for p in range(node.row, node.row + row_count_of(node)):
                    row = &rows.row[p]
                    off = row_rate(row, &self.bodies.twist[node.body_a], &self.bodies.twist[node.body_b]) + rows.bias[p]
                    diagonal = row_diagonal(row, self.bodies.inv_mass[node.body_a], self.bodies.inv_mass[node.body_b])
                    if diagonal > 0.0:
                        largest = max(largest, fabs(off) / diagonal)
        return largest

    cdef void note_open(self) noexcept nogil:
        """Joints that a drift has left open; what is theirs is not accounted any more."""
        cdef Py_ssize_t c, g
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.state.open[g] > self.state.most_open(g):
                self.solves.note_joints(NOTE_OPEN, g)
                self.state.accounted[g] = 0

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
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            a = &self.articulation[g]
            self.state.open[g] = 0.0
            for k in range(a.node, a.node_end):
                node = &self.tree.nodes[k]
                if node.joint >= 0:
                    self.state.open[g] = max(self.state.open[g], rows_way(&self.joints[node.joint], &own.row[node.row],
                                                                          &own.error[node.row], row_count_of(node)))
            for k in range(a.border, a.border_end):
                if self.border.row(k) != NULL:
                    self.state.open[g] = max(self.state.open[g], self.solves.border_way(k, self.border.row(k).error))
            torn = self.state.open[g] >= WIDEST_GAP * a.size
            self.state.proximal[g] = MOST_PROXIMAL if torn else USUAL_PROXIMAL
            self.state.cold[g] = a.loops > 0 or (a.border < a.border_end and torn)
            self.state.solved[g] = SOLVED * a.size / self.settings.h
            self.tree.factor(a, self.bodies, self.state.proximal[g], NULL)
            self.solves.factor_border(g, torn)
            if self.state.held_rows.count[g] > 0:
                self.bounds.factor(g)

    cdef void begin_pass(self) noexcept nogil:
        """Solves of the sweeps' rows, with other biases than before."""
        cdef Py_ssize_t c
        for c in range(self.state.alone_count):
            self.solves.forget_contrary(self.state.alone[c])

    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed, bint hold, bint solved, bint rotors) noexcept nogil:
        """J v + bias = 0 with the rows' biases, as far as those do not contradict each other; the rows' impulses change.
        twist: the bodies' velocities, or displacements, which may be left with what a velocity may be left with, times the
        substep. hold: with the bounded rows of articulations that hold them; solved: those alone, for the joints are;
        rotors: of those alone that end with rotors."""
        cdef JointRows* found = &self.tree.rows
        cdef double duration = 1.0 if twist == self.bodies.twist else self.settings.h
        cdef Py_ssize_t c, g, j
        cdef Row* own
        cdef int i
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                found.bias[found.begin[j] + i] = own[i].bias[relaxed] - self.state.contrary[found.begin[j] + i]
                found.impulse[found.begin[j] + i] = 0.0
        for j in range(self.border.count):
            self.border.bias[j] = 0.0 if self.border.row(j) == NULL else self.border.row(j).bias[relaxed]
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if not solved and self.solves.solve_until(g, twist, duration * self.state.solved[g]):
                self.solves.note_contrary(g, twist)
            if hold and self.state.held_rows.count[g] > 0 and (not rotors or self.bounds.ends_with_rotors(g)):
                self.bounds.hold_rows(g, twist, relaxed, True)
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                own[i].impulse += found.impulse[found.begin[j] + i]

    cdef void begin_blows(self, Py_ssize_t g) noexcept nogil:
        """Before impacts at the present poses (_impacts.pyx). What stands in a batch gets a factor of its own."""
        if self.state.here[g]:
            self.solves.write_rows(g)
            self.solves.factor(g)
        self.solves.keep_impulses(g)

    cdef void end_blows(self, Py_ssize_t g) noexcept nogil:
        """What joints do in impacts is no warm start of what they do next."""
        self.solves.undo_impulses(g)
