"""One articulation at a time: rows, factor and solves of its joints, the drift at whose end they are closed, and bodies
moved where that could not be (docs/theory/tree.md). What one does depends on no other.

Gears and joints of the user's own stand beside the tree, as its border (solve/_border.pyx): their rows are always those
of the sweeps' buffer, and every solve takes them with the tree.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memset

from mcsim.direct._jointed cimport Jointed
from mcsim.constraints._carried cimport along
from mcsim.constraints._joint_table cimport holds_position
from mcsim.constraints._direct cimport miss_joints, write_joint_rows
from mcsim.constraints._joints cimport border_error, refresh_border
from mcsim.constraints._stiffness cimport add_joint_stiffness, load
from mcsim.core._math cimport add_scaled, cross, scale, sub, vec3
from mcsim.core._noted cimport NOTE_FLIGHTS, NOTE_MOVED, NOTE_PIVOTS
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.integrate._euler cimport accept_poses, try_poses
from mcsim.solve._si cimport note_change
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._inertia cimport answer_along, energy_beside, refresh_inertia
from mcsim.state._joint_types cimport USER
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport JointRows, Row, is_wide
from mcsim.state._rows cimport is_linear, kept_part, row_rate, rows_way, way_of
from mcsim.wide._blocks cimport FAR_OUTWEIGHED, OUTWEIGHED
from mcsim.wide._batches cimport BATCH_SWEPT

# A direct solve of joints with loops is repeated until what it finds is below this times its size in a substep, or so
# often.
cdef double SOLVED = 1e-16
cdef enum:
    MOST_REPEATS = 6
    BORDER_REPEATS = 3
    MOST_PROJECTIONS = 6

# What follows is in parts of the articulation's size.
# Beside sweeps, what a drift would open wider is held in its velocities instead: with loops, and without.
cdef double LOOP_GAP = 2e-3
cdef double WIDEST_GAP = 0.4
# Joints that are open wider than that are closed by moving bodies by this a substep.
cdef double FIRST_MOVE = 0.1

# Articulations fly where h^2 trace(I^-1 K+) of a body is above this, the limit of stability of a drift under the joints'
# forces at its start for one direction, in pieces for which it is below PIECE_STRAIN, so that they follow that turning,
# down to 2^-MOST_HALVINGS of a drift.
cdef double STRAIN = 4.0
cdef double PIECE_STRAIN = 1.9
cdef enum:
    MOST_HALVINGS = 3

# Of corrections in succession at a drift's end, so many may be poor ones; each beyond them leaves less than this of the
# gap.
cdef enum:
    PATIENCE = 2
cdef double PROGRESS = 0.5
# Closing joints takes what the drift's start is short of, and the solve at its end gives it back: (h w)^2 / 4 of a kinetic
# energy that turns by h w. Where it is more than this, both may differ by as much, and the articulation flies. Flights
# of nets, where loops meet, close joints less well.
cdef double LEAP = 1e-3
cdef double NET_LEAP = 1e-2
# Where the kinetic energy falls below this part of what it was within a step, the account over the step (_accounts.pyx)
# does not wait for its end.
cdef double FALLEN = 0.25

# With loops, which nets drive to singular poses, where no correction is quick: proximal steps go on while each
# leaves less than this of the residual, until that would open the joints by less than this part of what they are
# open by.
cdef double PROXIMAL_PROGRESS = 0.1
cdef double GAP_TOLERANCE = 0.1
# Functions of the user's are costly: with a border, bodies are moved while each move leaves less than this of the gap.
cdef double BORDER_PROGRESS = 0.5
# The proximal part of the diagonal is the gap, in parts of the size, within these bounds (N. Yamashita, M. Fukushima,
# 2001, on the rate of Levenberg's and Marquardt's method at singular solutions); it is SHORTER times that for a step
# which led away.
cdef double LEAST_PROXIMAL = 1e-6
cdef double MOST_PROXIMAL = 1e-2
cdef double SHORTER = 100.0
cdef enum:
    MOST_SHORTER = 3


cdef inline bint may_be_redundant(const Articulation* a) noexcept nogil:
    return a.loops > 0 or a.border < a.border_end


cdef class Articulated(Jointed):
    """Arguments as of Jointed."""

    # ---- one articulation ------------------------------------------------------------------------------------------------

    cdef void write_rows(self, Py_ssize_t g) noexcept nogil:
        """Jacobians and errors at the present poses."""
        cdef const Articulation* a = &self.articulation[g]
        self.open[g] = write_joint_rows(self.joints, self.linked + a.linked, a.linked_end - a.linked, self.bodies,
                                        self.settings, &self.tree.rows)
        if self.tree.lanes:
            self.open[g] = max(self.open[g], self.tree.balls.kernels.write(
                self.tree.balls.block(a.ball), a.ball_end - a.ball, self.bodies, &self.tree.rows, self.tree.balls.arms))

    cdef void factor(self, Py_ssize_t g) noexcept nogil:
        """Of the tree, then of the border. The proximal part of rows that may be redundant is as the joints are open:
        Newton's step along a direction of stiffness s is then not longer than it is true."""
        cdef const Articulation* a = &self.articulation[g]
        cdef bint redundant = may_be_redundant(a)
        cdef double gap
        cdef Py_ssize_t k
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL:
                self.open[g] = max(self.open[g], self.border_way(k, self.border.row(k).error))
        gap = self.open[g] / a.size
        self.proximal[g] = min(max(gap, LEAST_PROXIMAL), MOST_PROXIMAL)
        self.solved[g] = SOLVED * a.size / self.settings.h
        self.cold[g] = a.loops > 0 or (redundant and self.open[g] > a.enough)
        if redundant and self.open[g] > a.enough:
            self.solved[g] = GAP_TOLERANCE * min(self.open[g], LOOP_GAP * a.size) / self.settings.h
        self.tree.factor(a, self.bodies, self.proximal[g], NULL)
        self.factor_border(g)

    cdef void factor_border(self, Py_ssize_t g) noexcept nogil:
        """By probing."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef double solved = self.solved[g]
        cdef Py_ssize_t k, n
        if a.border == a.border_end:
            return
        self.tree.copy_rows(a, rows.impulse, self.impulse)            # those of probing are no measure
        self.solved[g] = 0.0
        for k in range(self.border.rounds):
            for n in range(a.member, a.member_end):
                memset(&self.border.scratch[self.member[n]], 0, sizeof(Twist))
            self.border.push_round(k, a.border, a.border_end)
            self.solve_tree(g, self.border.scratch, self.nothing)
            self.border.read_round(k, a.border, a.border_end)
        self.solved[g] = solved
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL:
                self.border.add_to_diagonal(k, self.proximal[g] * self.border.row(k).diagonal)
        self.border.factor(a.border, a.border_end)
        self.tree.copy_rows(a, self.impulse, rows.impulse)

    cdef double border_way(self, Py_ssize_t k, double error) noexcept nogil:
        """|error| of a row of the border as a way [m]."""
        return way_of(&self.joints[self.border.joint[k]], is_linear(self.border.row(k)), error)

    cdef void solve_one(self, Py_ssize_t g, Twist* twist) noexcept nogil:
        """J v + bias = 0"""
        self.solve_all(g, twist, self.tree.rows.bias, self.solved[g], BORDER_REPEATS)

    cdef void solve_all(self, Py_ssize_t g, Twist* twist, const double* bias, double enough, int most) noexcept nogil:
        """J v + bias = 0, the border's rows with the tree's, by `most` proximal steps at most as solve_tree takes them,
        until the border's leave `enough` [m/s]."""
        cdef const Articulation* a = &self.articulation[g]
        cdef int k
        cdef double found, last = 0.0
        self.solve_tree(g, twist, bias)
        for k in range(most if a.border < a.border_end else 0):
            found = self.border.residual(twist, a.border, a.border_end, self.joints)
            if found <= enough or (k > 0 and not found < PROXIMAL_PROGRESS * last):
                break
            self.border.finish(twist, a.border, a.border_end)
            self.solve_tree(g, twist, bias)
            last = found

    cdef void solve_tree(self, Py_ssize_t g, Twist* twist, const double* bias) noexcept nogil:
        """J v + bias = 0 of the tree; with loops until the proximal steps have converged, and where the factor is in doubt
        until rounding is left."""
        cdef const Articulation* a = &self.articulation[g]
        cdef int k
        cdef double found, last = 0.0
        cdef bint repeats = self.tree.is_doubtful(a)
        for k in range(MOST_REPEATS if repeats else 1):
            found = self.tree.find_rates(a, twist, bias, self.joints)
            if repeats and (found < self.solved[g] or (k > 1 and not found < PROXIMAL_PROGRESS * last)):
                break
            self.tree.finish(a, self.bodies, twist, self.tree.rows.impulse)
            last = found

    cdef void hold(self, Py_ssize_t g, Twist* twist) noexcept nogil:
        """J v + rate = 0"""
        self.aim_still(g)
        self.solve_one(g, twist)

    # ---- impacts ---------------------------------------------------------------------------------------------------------

    cdef void begin_blows(self, Py_ssize_t g) noexcept nogil:
        """Before impacts at the present poses (_impacts.pyx). What stands in a batch gets a factor of its own."""
        if self.here[g]:
            self.write_rows(g)
            self.factor(g)
        self.keep_impulses(g)

    cdef void end_blows(self, Py_ssize_t g) noexcept nogil:
        """What joints do in impacts is no warm start of what they do next."""
        self.undo_impulses(g)

    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil:
        """J x = 0 by impulses of the joints, to rounding: x answers an impulse of any size, in any unit."""
        cdef double solved = self.solved[g]
        self.aim_border_still(g)
        self.solved[g] = 0.0
        self.solve_all(g, x, self.nothing, 0.0, MOST_REPEATS)
        self.solved[g] = solved

    cdef void aim_still(self, Py_ssize_t g) noexcept nogil:
        """Biases of J v + rate = 0."""
        self.tree.copy_rows(&self.articulation[g], self.tree.rows.rate, self.tree.rows.bias)
        self.aim_border_still(g)

    cdef void aim_border_still(self, Py_ssize_t g) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.articulation[g].border, self.articulation[g].border_end):
            self.border.bias[k] = 0.0

    cdef void subtract_rates(self, Py_ssize_t g) noexcept nogil:
        """bias <- bias - J v: what a drift has found, as a bias that solves at other velocities can go on with."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                rows.bias[i] -= row_rate(&rows.row[i], &self.bodies.twist[node.body_a], &self.bodies.twist[node.body_b])
        self.border.subtract_rates(self.bodies.twist, a.border, a.border_end)

    # ---- the drift -------------------------------------------------------------------------------------------------------

    cdef double drift(self, Py_ssize_t g) noexcept nogil:
        """The poses at the end of a drift by the present velocities, and J v + bias of its errors. -> how far it is off"""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef double h = self.settings.h
        cdef double off, largest
        cdef Py_ssize_t k
        cdef Row* row
        try_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member, self.position + a.member,
                  self.orientation + a.member, h)
        self.drift_driven(g)
        largest = miss_joints(self.joints, self.linked + a.linked, a.linked_end - a.linked, self.bodies, self.settings,
                              rows)
        if self.tree.lanes:
            largest = max(largest, self.tree.balls.kernels.miss(self.tree.balls.block(a.ball), a.ball_end - a.ball,
                                                                self.bodies, rows, h))
        self.call_functions(g, True)
        for k in range(a.border, a.border_end):
            row = self.border.row(k)
            if row != NULL:
                off = border_error(self.joints, self.border.joint[k], self.border.index[k], self.bodies, self.settings, h)
                off -= kept_part(fabs(row.error) / row.push, h) * row.error
                self.border.bias[k] = off / h
                largest = max(largest, self.border_way(k, off))
        return largest

    cdef void drift_driven(self, Py_ssize_t g) noexcept nogil:
        """The kinematic bodies at its joints."""
        cdef const Articulation* a = &self.articulation[g]
        try_poses(self.bodies, self.driven + a.driven, NULL, a.driven_end - a.driven, self.driven_position + a.driven,
                  self.driven_orientation + a.driven, self.settings.h)

    cdef void call_functions(self, Py_ssize_t g, bint errors_only) noexcept nogil:
        """Those of the joints of the user's own that are in it."""
        cdef Py_ssize_t k
        cdef int last = -1
        for k in range(self.articulation[g].border, self.articulation[g].border_end):
            if self.border.joint[k] != last:
                last = self.border.joint[k]
                if self.joints[last].type == USER:
                    self.calls.call_one(self.joints[last].user, errors_only)

    cdef void accept(self, Py_ssize_t g) noexcept nogil:
        """The last trial poses."""
        cdef const Articulation* a = &self.articulation[g]
        accept_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member, self.orientation + a.member,
                     self.settings.h)

    cdef void close_one(self, Py_ssize_t g) noexcept nogil:
        """Newton's method on the velocities until the drift ends with closed joints; what that does not reach flies, or
        where that cannot be, is held as it moves at the drift's start."""
        cdef const Articulation* a = &self.articulation[g]
        cdef bint redundant = may_be_redundant(a)
        cdef double first, off
        cdef int k
        self.closed[g] = 1
        if self.flies[g]:
            self.fly(g)
            return
        self.keep(g)
        off = self.drift(g)
        for k in range(MOST_CORRECTIONS):
            if off <= self.near[g] and (self.swept[g] or k > 0):
                break
            first = off
            self.correct(g)
            off = self.drift(g)
            if k == 0 and redundant:
                off = self.shorten(g, off, first)
            if k >= PATIENCE and not off < PROGRESS * first:
                break
        if (off <= self.near[g] or (redundant and off <= a.enough)) and not (self.may_fly[g] and self.leaps(g)):
            self.accept(g)
        elif self.may_fly[g]:
            self.undo(g)
            self.undo_poses(g)
            self.flies[g] = 1
            self.fly(g)
        else:
            if not off < LOOP_GAP * a.size:
                self.undo(g)
                self.hold(g, self.bodies.twist)
                off = self.drift(g)
            self.accept(g)
            self.closed[g] = off <= a.enough
        if not self.closed[g]:
            self.project(g)

    cdef void correct(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        self.corrections += 1
        if may_be_redundant(a):
            self.subtract_rates(g)
            self.solve_one(g, self.bodies.twist)
        else:
            self.tree.take_rates(a, self.tree.rows.bias)
            self.tree.finish(a, self.bodies, self.bodies.twist, self.tree.rows.impulse)

    cdef double shorten(self, Py_ssize_t g, double off, double before) noexcept nogil:
        """A first correction that led away, from `before` to `off`, again with a greater proximal part, which makes
        it shorter (D. Marquardt, 1963). -> how far the joints are off"""
        cdef int _
        for _ in range(MOST_SHORTER):
            if off <= max(before, self.articulation[g].enough):
                break
            self.undo(g)
            self.drift(g)
            self.proximal[g] *= SHORTER
            self.tree.factor(&self.articulation[g], self.bodies, self.proximal[g], NULL)
            self.factor_border(g)
            self.correct(g)
            off = self.drift(g)
        return off

    cdef bint is_strained(self, Py_ssize_t g) noexcept nogil:
        """Whether the impulses that this drift has found strain a body, of what had none before, whose strain is not known
        from the last substep: it has just begun to move, or to be held."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef double h = self.settings.h
        cdef Vec3 force
        if self.strain[g] != 0.0:
            return False
        for k in range(a.member, a.member_end):
            memset(&self.loads.stiffness[self.member[k] + 1], 0, sizeof(Mat3))
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            force = vec3(0.0, 0.0, 0.0)
            for i in range(node.row, node.row + row_count_of(node)):
                force = add_scaled(force, rows.impulse[i], rows.row[i].linear)
            if node.joint >= 0:
                add_joint_stiffness(&self.joints[node.joint], scale(2.0 / h, force), self.bodies, self.loads.stiffness)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            self.strain[g] = max(self.strain[g], load(&self.bodies.inv_inertia_world[i], &self.loads.stiffness[i + 1]))
        return self.strain[g] * h * h > STRAIN

    cdef bint leaps(self, Py_ssize_t g) noexcept nogil:
        """Whether closing the joints gave too much of the kinetic energy, or strains it. What drives them from
        outside gives what it may."""
        cdef const Articulation* a = &self.articulation[g]
        cdef double before = 0.0
        cdef double found = 0.0
        cdef double most
        cdef Vec3 v
        cdef Py_ssize_t i, k
        if self.is_strained(g):
            return True
        if self.given[g] or self.flights.is_driven(a):
            return False
        v = self.flights.velocity_of(a)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            before += energy_beside(self.bodies, i, self.twist[k] if self.swept[g] else self.start[k],
                                    self.orientation[k], v)
            found += energy_beside(self.bodies, i, self.bodies.twist[i], self.orientation[k], v)
        self.highest[g] = max(self.highest[g], found)
        self.falls[g] = found < FALLEN * self.highest[g]
        most = NET_LEAP if a.loops > 1 else LEAP
        return (found - before > most * before
                and found - before > most * (before + self.flights.kicked(a, self.settings.h)))

    cdef void fly(self, Py_ssize_t g) noexcept nogil:
        """A flight from the poses and velocities at the drift's start. impulse <- half of the joints' impulses over it,
        and what held them before; flown <- the half alone, a warm start of what is to come."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t k
        cdef double off
        cdef long long given_up = self.flights.given_up
        cdef int coarsest = 0
        while (coarsest < MOST_HALVINGS and not a.loops
               and self.strain[g] * self.settings.h * self.settings.h > PIECE_STRAIN * (1 << 2 * coarsest)):
            coarsest += 1
        if not self.swept[g]:
            for k in range(a.member, a.member_end):
                self.bodies.twist[self.member[k]] = self.start[k]
            self.tree.scale_rows(a, 0.0, rows.impulse)
        self.tree.copy_rows(a, rows.impulse, self.flown)              # of the sweeps
        self.tree.copy_rows(a, rows.second, rows.impulse)
        off = self.flights.fly(a, self.settings.h, coarsest, self.swept[g])
        self.closed[g] = off <= a.enough
        if self.flights.given_up > given_up:
            self.noted.add(NOTE_FLIGHTS, self.member[a.member], self.flights.given_up - given_up)
        self.tree.add_rows(a, self.flown, self.flights.sum)
        self.tree.add_rows(a, self.flights.held, self.flights.sum)
        self.tree.copy_rows(a, rows.impulse, self.flown)
        self.tree.copy_rows(a, self.flights.sum, rows.impulse)

    cdef void keep_start(self, Py_ssize_t g) noexcept nogil:
        """Velocities before the joints' impulses."""
        cdef Py_ssize_t k
        for k in range(self.articulation[g].member, self.articulation[g].member_end):
            self.start[k] = self.bodies.twist[self.member[k]]

    cdef void keep_twists(self, Py_ssize_t g) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.articulation[g].member, self.articulation[g].member_end):
            self.twist[k] = self.bodies.twist[self.member[k]]

    cdef void keep(self, Py_ssize_t g) noexcept nogil:
        """Twists and impulses before a solve that may have to be undone."""
        self.keep_twists(g)
        self.keep_impulses(g)

    cdef void keep_impulses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        self.tree.copy_rows(a, self.tree.rows.impulse, self.kept_impulse)
        self.border.keep(1.0, a.border, a.border_end)

    cdef void undo_impulses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        self.tree.copy_rows(a, self.kept_impulse, self.tree.rows.impulse)
        self.border.undo(a.border, a.border_end)

    cdef void undo(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.bodies.twist[self.member[k]] = self.twist[k]
        self.undo_impulses(g)

    cdef void keep_poses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.position[k] = self.bodies.position[self.member[k]]
            self.orientation[k] = self.bodies.orientation[self.member[k]]
        for k in range(a.driven, a.driven_end):
            self.driven_position[k] = self.bodies.position[self.driven[k]]
            self.driven_orientation[k] = self.bodies.orientation[self.driven[k]]

    cdef void undo_poses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.bodies.position[self.member[k]] = self.position[k]
            self.bodies.orientation[self.member[k]] = self.orientation[k]
            refresh_inertia(self.bodies, self.member[k])
        for k in range(a.driven, a.driven_end):
            self.bodies.position[self.driven[k]] = self.driven_position[k]
            self.bodies.orientation[self.driven[k]] = self.driven_orientation[k]

    # ---- bounded rows with the joints in them ---------------------------------------------------------------------------

    cdef void probe(self, Py_ssize_t g) noexcept nogil:
        """What bounded rows that are held see of each other through the joints; rows and factor are written."""
        cdef const Articulation* a = &self.articulation[g]
        cdef Twist* moved = self.probed
        cdef const Row* row
        cdef Py_ssize_t k, n
        self.keep_impulses(g)
        for k in range(self.held_rows.count[g]):
            for n in range(self.held_rows.count[g]):     # what does not move takes 0 * inf, if there is any
                row = &self.border.rows[self.held_rows.row[self.held_rows.begin[g] + n]]
                memset(&moved[row.body_a], 0, sizeof(Twist))
                memset(&moved[row.body_b], 0, sizeof(Twist))
            for n in range(a.member, a.member_end):
                memset(&moved[self.member[n]], 0, sizeof(Twist))
            self.held_rows.begin_column(g, k, self.border.rows, moved)
            self.answer(g, moved)
            self.held_rows.end_column(g, k, self.border.rows, moved)
        self.undo_impulses(g)

    cdef void hold_rows(self, Py_ssize_t g, Twist* twist, bint relaxed, bint solved) noexcept nogil:
        """Bounded rows that are held, and what the joints answer. solved: the joints are, as biases ask now."""
        if not solved:
            self.solve_one(g, twist)
        if self.held_rows.solve(g, self.border.rows, twist, relaxed):
            self.solve_one(g, twist)
        if self.held_rows.unsolved:
            self.noted.most(NOTE_PIVOTS, self.member[self.articulation[g].member], self.held_rows.count[g])

    # ---- bodies moved ----------------------------------------------------------------------------------------------------

    cdef void project(self, Py_ssize_t g) noexcept nogil:
        """Move the bodies, by their masses, until the joints are closed: J dx = -C, Newton's method with fresh
        Jacobians. For what the drift could not do, or where a scene begins with open joints. Momentum is kept
        (Displacement)."""
        cdef const Articulation* a = &self.articulation[g]
        cdef bint redundant = may_be_redundant(a)
        cdef double last
        cdef double shorter = 1.0
        cdef double widest = WIDEST_GAP * a.size
        cdef int _
        self.moved += 1
        self.displacement.chosen, self.displacement.count = self.member + a.member, a.member_end - a.member
        self.refresh_one(g)
        self.note_joints(NOTE_MOVED, g)
        for _ in range(MOST_PROJECTIONS):
            if not a.enough < self.open[g]:
                break
            last = self.open[g]
            self.keep_poses(g)
            self.project_once(g, FIRST_MOVE * a.size / last if last > widest else 1.0)
            if self.open[g] < last or not redundant:
                if last > widest or (a.border < a.border_end and self.open[g] > BORDER_PROGRESS * last):
                    break
                continue
            self.undo(g)
            self.undo_poses(g)
            self.refresh_one(g)
            if a.border < a.border_end:
                break
            # It led away: once more with a greater proximal part, which makes it shorter.
            shorter *= SHORTER
            self.proximal[g] *= shorter
            self.tree.factor(a, self.bodies, self.proximal[g], NULL)
            self.factor_border(g)

    cdef double most_open(self, Py_ssize_t g) noexcept nogil:
        """How far the joints may be open at the end of a substep, by either of what a drift is content with [m]."""
        return max(self.articulation[g].enough, self.near[g])

    cdef void note_joints(self, int kind, Py_ssize_t g) noexcept nogil:
        """Those of an articulation that are open farther than is enough, as rows are written."""
        cdef const Articulation* a = &self.articulation[g]
        cdef const Node* node
        cdef double most = self.most_open(g)
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            if rows_way(&self.joints[node.joint], &self.tree.rows.row[node.row], &self.tree.rows.error[node.row],
                        row_count_of(node)) > most:
                for i in range(node.row, node.row + row_count_of(node)):
                    self.noted.most(kind, node.joint, fabs(self.tree.rows.error[i]))
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL and self.border_way(k, self.border.row(k).error) > most:
                self.noted.most(kind, self.border.joint[k], fabs(self.border.row(k).error))

    cdef void refresh_one(self, Py_ssize_t g) noexcept nogil:
        """The border's rows too."""
        cdef const Articulation* a = &self.articulation[g]
        if a.border < a.border_end:
            self.call_functions(g, False)
            refresh_border(self.joints, self.border.joint + a.border, a.border_end - a.border, self.bodies, self.settings,
                           self.border.rows)
        self.write_rows(g)
        self.factor(g)

    cdef void project_once(self, Py_ssize_t g, double part) noexcept nogil:
        """By `part` of the errors."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef Vec3 force
        self.keep(g)
        self.displacement.clear(self.bodies)
        self.tree.scale_rows(a, 0.0, rows.impulse)
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(row_count_of(node)):
                rows.bias[node.row + i] = (part * rows.error[node.row + i] if holds_position(&self.joints[node.joint], i)
                                           else 0.0)
        for k in range(a.border, a.border_end):
            self.border.bias[k] = 0.0 if self.border.row(k) == NULL else part * self.border.row(k).error
        # One proximal step: Newton's next one goes on.
        self.tree.find_rates(a, self.displacement.twist, rows.bias, self.joints)
        self.tree.finish(a, self.bodies, self.displacement.twist, rows.impulse)
        if a.border < a.border_end:
            self.border.residual(self.displacement.twist, a.border, a.border_end, self.joints)
            self.border.finish(self.displacement.twist, a.border, a.border_end)
            self.tree.find_rates(a, self.displacement.twist, rows.bias, self.joints)
            self.tree.finish(a, self.bodies, self.displacement.twist, rows.impulse)
        self.displacement.move(self.bodies)
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            if node.joint < 0:
                continue
            force = vec3(0.0, 0.0, 0.0)
            for i in range(node.row, node.row + node.size):
                force = add_scaled(force, rows.impulse[i], rows.row[i].linear)
            self.displacement.carry_orbit(self.bodies, node.body_a, node.body_b, force)
        self.carry_gears(g)
        self.displacement.carry_spins(self.bodies)
        self.undo_impulses(g)
        self.refresh_one(g)

    cdef void carry_gears(self, Py_ssize_t g) noexcept nogil:
        """The same of the two halves of each gear."""
        cdef Py_ssize_t k
        cdef const Row* row
        cdef const double* linear
        cdef int i
        for k in range(self.articulation[g].border, self.articulation[g].border_end):
            row = self.border.row(k)
            for i in range(2 if row != NULL and is_wide(row) else 0):
                linear = &row[i].jacobian[6]
                self.displacement.carry_orbit(self.bodies, row[i].body_a, row[i].body_b, scale(
                    row[i].impulse, vec3(linear[0], linear[1], linear[2])))

    # ---- further sweeps --------------------------------------------------------------------------------------------------

    cdef void share_masses(self, double* inv_mass) noexcept nogil:
        """The inverse of what each body weighs for what pushes it: with joints, all that they hold together."""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef double total
        for c in range(self.awake_count):
            g = self.awake[c]
            a = &self.articulation[g]
            total = 0.0
            self.heaviest[g] = INFINITY
            for k in range(a.member, a.member_end):
                if inv_mass[self.member[k]] > 0.0:
                    total += 1.0 / inv_mass[self.member[k]]
                    self.heaviest[g] = min(self.heaviest[g], inv_mass[self.member[k]])
            for k in range(a.member, a.member_end):
                if inv_mass[self.member[k]] > 0.0:
                    inv_mass[self.member[k]] = 1.0 / total

    cdef bint find_answers(self, const Manifold* manifolds, Py_ssize_t count, const double* share) noexcept nogil:
        """How bodies answer, with all joints holding, where contacts push what is OUTWEIGHED times lighter than
        something that joints hold it to; where friction or limits of these are swept several at a time,
        FAR_OUTWEIGHED times (docs/theory/si.md). share: as share_masses() has left it. -> whether any does"""
        cdef Py_ssize_t c, g, j, k, n
        cdef int32_t i
        cdef bint found = False
        for c in range(self.awake_count):
            self.again[self.awake[c]] = 0
            self.lightest[self.awake[c]] = OUTWEIGHED * self.heaviest[self.awake[c]]
        for c in range(self.tree.rows.awake_count):
            j = self.tree.rows.awake[c]
            if self.joint_bounds.taken[j] == 2:
                g = max(self.group[self.joints[j].body_a], self.group[self.joints[j].body_b])
                self.lightest[g] = FAR_OUTWEIGHED * self.heaviest[g]
        for n in range(count):
            for k in range(2 if manifolds[n].point_count > 0 else 0):
                i = manifolds[n].body_b if k else manifolds[n].body_a
                g = self.group[i]
                if g >= 0 and share[i] > 0.0 and self.bodies.inv_mass[i] > self.lightest[g]:
                    self.again[g] = found = True
        for c in range(self.awake_count if found else 0):
            g = self.awake[c]
            if self.again[g]:
                if self.here[g]:
                    self.write_rows(g)
                self.carried.answers(g, self.joints, &self.tree.rows, self.bodies, self.answers)
        return found

    cdef double burdened(self, const Manifold* m) noexcept nogil:
        """J M^-1 J' by J P J' of a contact's first normal, P of find_answers(): how many times its own mass joints make it
        move."""
        cdef Vec3 point = m.points[0].position
        cdef double own = 0.0
        cdef double held = 0.0
        cdef double alone
        cdef Twist jacobian
        cdef int32_t i
        cdef int k
        for k in range(2):
            i = m.body_b if k else m.body_a
            if not self.bodies.inv_mass[i] > 0.0:
                continue
            alone = answer_along(self.bodies, i, point, m.normal)
            own += alone
            if self.group[i] >= 0 and self.again[self.group[i]]:
                jacobian.v, jacobian.w = m.normal, cross(sub(point, self.bodies.position[i]), m.normal)
                held += along(&jacobian.v.x, self.answers + 36 * i)
            else:
                held += alone
        return own / held if held > 0.0 else 1.0

    cdef bint find_changed(self, int sweep, const int32_t* changed) noexcept nogil:
        """Which articulations have a body that the sweep has changed, into `again`. -> whether any"""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef bint found = False
        for c in range(self.awake_count):
            g = self.awake[c]
            a = &self.articulation[g]
            self.again[g] = 0
            for k in range(a.member, a.member_end):
                if self.swept[g] and changed[self.member[k]] == sweep:
                    self.again[g] = found = True
                    break
        return found

    cdef void spread_changes(self, int sweep, int32_t* changed) noexcept nogil:
        """Bodies of articulations that have been solved since the sweep, and of which one has changed: all may have."""
        cdef Py_ssize_t c, g, k
        if not self.find_changed(sweep, changed):
            return
        for c in range(self.awake_count):
            g = self.awake[c]
            for k in range(self.articulation[g].member, self.articulation[g].member_end if self.again[g] else 0):
                changed[self.member[k]] = sweep

    cdef void solve_changed(self, Twist* twist, const double* sizes, double speed, double rate, int sweep,
                            int32_t* changed) noexcept nogil:
        """The joints of what a further sweep has changed; bodies whose velocities that changes by more than speed +
        rate size are noted in `changed`, too."""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef int32_t i
        if not self.find_changed(sweep, changed):
            return
        for c in range(self.awake_count):
            if self.again[self.awake[c]]:
                self.keep_twists(self.awake[c])
        for c in range(self.alone_count):
            g = self.alone[c]
            if self.again[g]:
                self.aim_still(g)
                if self.held_rows.count[g] > 0:
                    self.hold_rows(g, twist, True, True)
                self.solve_one(g, twist)
        if self.batches is not None:
            memset(self.tree.rows.bias + self.tree.own_numbers, 0, self.batches.used * sizeof(double))
            self.batches.aim_for(self.near, self.again, False)
            self.batches.solve(twist, &self.tree.rows, BATCH_SWEPT)
            self.batches.aim_for(self.near, self.swept, False)
        for c in range(self.awake_count):
            g = self.awake[c]
            a = &self.articulation[g]
            for k in range(a.member, a.member_end if self.again[g] else 0):
                i = self.member[k]
                note_change(twist, &self.twist[k], i, sizes, speed + rate * sizes[i], sweep, changed)
