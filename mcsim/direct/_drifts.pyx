"""One articulation's drift, at whose end its joints are closed, and bodies moved where that could not be
(docs/theory/tree.md).
"""

from libc.math cimport fabs

from mcsim.constraints._direct cimport miss_joints
from mcsim.constraints._joint_table cimport holds_position
from mcsim.constraints._joints cimport border_error, refresh_border
from mcsim.core._math cimport add_scaled, scale, vec3
from mcsim.core._noted cimport NOTE_FLIGHTS, NOTE_MOVED
from mcsim.core._types cimport Vec3
from mcsim.direct._flight_choice cimport FlightChoice
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport (LOOP_GAP, MOST_CORRECTIONS, WIDEST_GAP, ArticulationPart, ArticulationState,
                                  may_be_redundant)
from mcsim.integrate._euler cimport accept_poses, try_poses
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.stabilize._orbits cimport carry_orbit
from mcsim.state._inertia cimport energy_beside
from mcsim.state._row cimport JointRows, Row, is_wide
from mcsim.state._rows cimport kept_part, set_impulse

cdef enum:
    MOST_PROJECTIONS = 6         # moves of bodies at the end of a drift, for what corrections did not close

# Joints that are open wider than WIDEST_GAP are closed by moving bodies by this part of the size a substep.
cdef double FIRST_MOVE = 0.1

# Flights go in pieces for which h^2 times the strain is below this (STRAIN, where they begin, is 4), so that they follow
# the turning that joints' forces make, down to 2^-MOST_HALVINGS of a drift.
cdef double PIECE_STRAIN = 1.9
cdef enum:
    MOST_HALVINGS = 3            # of the drift, before Newton's method halves it further where it must

# Of corrections in succession at a drift's end, so many may be poor ones.
cdef enum:
    PATIENCE = 2

# A correction that leaves more than this part of the gap is a poor one.
cdef double PROGRESS = 0.5
# Closing joints takes what the drift's start is short of, and the solve at its end gives it back: (h w)^2 / 4 of a kinetic
# energy that turns by h w. Where it is more than this part of it, both may differ by as much, and the articulation flies.
cdef double LEAP = 1e-3

# The same of nets, where loops meet: their flights close joints less well.
cdef double NET_LEAP = 1e-2
# Where the kinetic energy falls below this part of what it was within a step, the account over the step (_accounts.pyx)
# does not wait for its end.
cdef double FALLEN = 0.25

# Functions of the user's are costly: with a border, bodies are moved while each move leaves less than this of the gap.
cdef double BORDER_PROGRESS = 0.5
# The proximal part of the diagonal becomes so many times as large for a step which led away.
cdef double SHORTER = 100.0
cdef enum:
    MOST_SHORTER = 3             # times in succession: from 1e-6 that is up to 1


cdef class Projections(ArticulationPart):
    """Bodies moved until an articulation's joints are closed."""

    def __init__(self, ArticulationState state, JointSolves solves):
        self.state = state
        self.solves = solves

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
        self.state.displacement.chosen, self.state.displacement.count = self.member + a.member, a.member_end - a.member
        self.refresh_one(g)
        self.solves.note_joints(NOTE_MOVED, g)
        for _ in range(MOST_PROJECTIONS):
            if not a.enough < self.state.open[g]:
                break
            last = self.state.open[g]
            self.state.keep_poses(g)
            self.project_once(g, FIRST_MOVE * a.size / last if last > widest else 1.0)
            if self.state.open[g] < last or not redundant:
                if last > widest or (a.border < a.border_end and self.state.open[g] > BORDER_PROGRESS * last):
                    break
                continue
            self.solves.undo(g)
            self.state.undo_poses(g)
            self.refresh_one(g)
            if a.border < a.border_end:
                break
            # It led away: once more with a greater proximal part, which makes it shorter.
            shorter *= SHORTER
            self.state.proximal[g] = shorter * self.state.proximal[g]
            self.tree.factor(a, self.bodies, self.state.proximal[g], NULL)
            self.solves.factor_border(g)

    cdef void project_once(self, Py_ssize_t g, double part) noexcept nogil:
        """By `part` of the errors."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef Vec3 force
        self.solves.keep(g)
        self.state.displacement.clear(self.bodies)
        self.tree.scale_rows(a, 0.0, rows.impulse)
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(row_count_of(node)):
                rows.bias[node.row + i] = (part * rows.error[node.row + i]
                                           if holds_position(&self.joints[node.joint], i) else 0.0)
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL:
                self.border.bias[k] = part * self.border.row(k).error
                set_impulse(self.border.row(k), 0.0)                 # what loads a gear moves nobody
        # One proximal step: Newton's next one goes on.
        self.tree.find_rates(a, self.state.displacement.twist, rows.bias, self.joints)
        self.tree.finish(a, self.bodies, self.state.displacement.twist, rows.impulse)
        if a.border < a.border_end:
            self.border.residual(self.state.displacement.twist, a.border, a.border_end, self.joints)
            self.border.finish(self.state.displacement.twist, a.border, a.border_end)
            self.tree.find_rates(a, self.state.displacement.twist, rows.bias, self.joints)
            self.tree.finish(a, self.bodies, self.state.displacement.twist, rows.impulse)
        self.state.displacement.move(self.bodies)
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            if node.joint < 0:
                continue
            force = vec3(0.0, 0.0, 0.0)
            for i in range(node.row, node.row + node.size):
                force = add_scaled(force, rows.impulse[i], rows.row[i].linear)
            carry_orbit(self.state.displacement.carried, self.bodies, node.body_a, node.body_b, force)
        self.carry_gears(g)
        self.state.displacement.carry_spins(self.bodies)
        self.solves.undo_impulses(g)
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
                carry_orbit(self.state.displacement.carried, self.bodies, row[i].body_a, row[i].body_b, scale(
                    row[i].impulse, vec3(linear[0], linear[1], linear[2])))

    cdef void refresh_one(self, Py_ssize_t g) noexcept nogil:
        """The border's rows too."""
        cdef const Articulation* a = &self.articulation[g]
        if a.border < a.border_end:
            self.solves.call_functions(g, False)
            refresh_border(self.joints, self.border.joint + a.border, a.border_end - a.border, self.bodies,
                           self.settings, self.border.rows)
        self.solves.write_rows(g)
        self.solves.factor(g)


cdef class Drifts(ArticulationPart):
    """The drift of one articulation, by Newton's method or in flight."""

    def __init__(self, ArticulationState state, JointSolves solves, Projections projections):
        self.state = state
        self.solves = solves
        self.projections = projections
        self.choice = FlightChoice(state, solves)

    cdef void take_state(self) noexcept:
        ArticulationPart.take_state(self)
        self.choice.take_state()

    cdef double drift(self, Py_ssize_t g) noexcept nogil:
        """The poses at the end of a drift by the present velocities, and J v + bias of its errors. -> how far it is off"""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef double h = self.settings.h
        cdef double off, largest
        cdef Py_ssize_t k
        cdef Row* row
        try_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member,
                  self.state.position + a.member, self.state.orientation + a.member, h)
        self.drift_driven(g)
        largest = miss_joints(self.joints, self.state.linked + a.linked, a.linked_end - a.linked, self.bodies,
                              self.settings, rows)
        if self.tree.lanes:
            largest = max(largest, self.tree.balls.kernels.miss(self.tree.balls.block(a.ball), a.ball_end - a.ball,
                                                                self.bodies, rows, h))
        self.solves.call_functions(g, True)
        for k in range(a.border, a.border_end):
            row = self.border.row(k)
            if row != NULL:
                off = border_error(self.joints, self.border.joint[k], self.border.index[k], self.bodies, self.settings, h)
                off -= kept_part(fabs(row.error) / row.push, h) * row.error
                self.border.bias[k] = off / h
                largest = max(largest, self.solves.border_way(k, off))
        return largest

    cdef void drift_driven(self, Py_ssize_t g) noexcept nogil:
        """The kinematic bodies at its joints."""
        cdef const Articulation* a = &self.articulation[g]
        try_poses(self.bodies, self.state.driven + a.driven, NULL, a.driven_end - a.driven,
                  self.state.driven_position + a.driven, self.state.driven_orientation + a.driven, self.settings.h)

    cdef void accept(self, Py_ssize_t g) noexcept nogil:
        """The last trial poses."""
        cdef const Articulation* a = &self.articulation[g]
        accept_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member,
                     self.state.orientation + a.member, self.settings.h)

    cdef void close_one(self, Py_ssize_t g) noexcept nogil:
        """Newton's method on the velocities until the drift ends with closed joints; what that does not reach flies, or
        where that cannot be, is held as it moves at the drift's start."""
        cdef const Articulation* a = &self.articulation[g]
        cdef bint redundant = may_be_redundant(a)
        cdef double first, off
        cdef int k
        self.state.closed[g] = 1
        if self.state.flies[g]:
            self.fly(g)
            return
        self.solves.keep(g)
        off = self.drift(g)
        for k in range(MOST_CORRECTIONS):
            if off <= self.state.near[g] and (self.state.swept[g] or k > 0):
                break
            first = off
            self.correct(g)
            off = self.drift(g)
            if k == 0 and redundant:
                off = self.shorten(g, off, first)
            if k >= PATIENCE and not off < PROGRESS * first:
                break
        if ((off <= self.state.near[g] or (redundant and off <= a.enough))
                and not (self.state.may_fly[g] and self.leaps(g))):
            self.accept(g)
        elif self.state.may_fly[g]:
            self.solves.undo(g)
            self.state.undo_poses(g)
            self.state.flies[g] = 1
            self.fly(g)
        else:
            if not off < LOOP_GAP * a.size:
                self.solves.undo(g)
                self.solves.hold(g, self.bodies.twist)
                off = self.drift(g)
            self.accept(g)
            self.state.closed[g] = off <= a.enough
        if not self.state.closed[g]:
            self.projections.project(g)

    cdef void correct(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        if may_be_redundant(a):
            self.solves.subtract_rates(g)
            self.solves.solve_one(g, self.bodies.twist)
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
            self.solves.undo(g)
            self.drift(g)
            self.state.proximal[g] = SHORTER * self.state.proximal[g]
            self.tree.factor(&self.articulation[g], self.bodies, self.state.proximal[g], NULL)
            self.solves.factor_border(g)
            self.correct(g)
            off = self.drift(g)
        return off

    cdef bint leaps(self, Py_ssize_t g) noexcept nogil:
        """Whether closing the joints gave too much of the kinetic energy, or strains it. What drives them from
        outside gives what it may."""
        cdef const Articulation* a = &self.articulation[g]
        cdef double before = 0.0
        cdef double found = 0.0
        cdef double most
        cdef Vec3 v
        cdef Py_ssize_t i, k
        if self.choice.is_strained(g):
            return True
        if self.state.given[g] or self.state.flights.motion.is_driven(a):
            return False
        v = self.state.flights.motion.velocity_of(a)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            before += energy_beside(self.bodies, i, self.state.twist[k] if self.state.swept[g] else self.state.start[k],
                                    self.state.orientation[k], v)
            found += energy_beside(self.bodies, i, self.bodies.twist[i], self.state.orientation[k], v)
        self.state.highest[g] = max(self.state.highest[g], found)
        self.state.falls[g] = found < FALLEN * self.state.highest[g]
        most = NET_LEAP if a.loops > 1 else LEAP
        return (found - before > most * before
                and found - before > most * (before + self.state.flights.motion.kicked(a, self.settings.h)))

    cdef void fly(self, Py_ssize_t g) noexcept nogil:
        """A flight from the poses and velocities at the drift's start. impulse <- half of the joints' impulses over it,
        and what held them before; flown <- the half alone, a warm start of what is to come."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t k
        cdef double off
        cdef long long given_up = self.state.flights.given_up
        cdef int coarsest = 0
        while (coarsest < MOST_HALVINGS and not a.loops
               and self.state.strain[g] * self.settings.h * self.settings.h > PIECE_STRAIN * (1 << 2 * coarsest)):
            coarsest += 1
        if not self.state.swept[g]:
            for k in range(a.member, a.member_end):
                self.bodies.twist[self.member[k]] = self.state.start[k]
            self.tree.scale_rows(a, 0.0, rows.impulse)
        self.tree.copy_rows(a, rows.impulse, self.state.flown)              # of the sweeps
        self.tree.copy_rows(a, rows.second, rows.impulse)
        off = self.state.flights.fly(a, self.settings.h, coarsest, self.state.swept[g])
        self.state.closed[g] = off <= a.enough
        if self.state.flights.given_up > given_up:
            self.noted.add(NOTE_FLIGHTS, self.member[a.member], self.state.flights.given_up - given_up)
        self.tree.add_rows(a, self.state.flown, self.state.flights.sum)
        self.tree.add_rows(a, self.state.flights.held, self.state.flights.sum)
        self.tree.copy_rows(a, rows.impulse, self.state.flown)
        self.tree.copy_rows(a, self.state.flights.sum, rows.impulse)
