"""Kicks and drifts of trees in a substep with rows: the velocities that forces give before rows are solved, and the motion
from those with what rows have changed of them.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.reduced._motion cimport Block
from mcsim.state._row cimport BIASED, ROW_LIMIT, ROW_NORMAL, Row
from mcsim.step._tree_space cimport KICK_ROUNDS
from mcsim.step._tree_warm_starts cimport node_of

# The part of its kinetic energy that a tree with loops may gain in a substep: what contradicts itself drives trees at any
# speed that it finds.
cdef double MOST_GAIN = 0.01


cdef class TreeKicks:
    """Of the trees of a space, which rows act on."""

    def __init__(self, StepContext context not None, PlainRows plain not None, TreeSpace space not None,
                 TreeConstraints rows not None):
        self.context, self.plain, self.space, self.rows = context, plain, space, rows
        self.motion, self.poses, self.energies = space.motion, space.poses, space.energies
        self.generalized, self.tree_rows = rows.generalized, rows.tree_rows
        self.flight = TreeFlight(self.motion)
        states = self.kept = np.zeros((5, self.motion.tree.nv + 1))
        self.begun, self.started, self.kicked_to = doubles(states[0]), doubles(states[1]), doubles(states[2])
        self.at_most, self.change = doubles(states[3]), doubles(states[4])
        self.kept_balance = np.zeros(self.motion.tree_count + 1)
        self.balance = doubles(self.kept_balance)

    cdef void begin(self) noexcept nogil:
        """A substep begins."""
        memcpy(self.begun, self.motion.qd, self.motion.tree.nv * sizeof(double))

    cdef void first(self, double h, bint looked) noexcept nogil:
        """The forces that rows are to bear, and what velocity products make of velocities half-way: not where a tree is too
        fast for h, and rows would answer what is not there. With loops at the velocities that come out, loops closed.
        Their impulses are not guessed from those before: what rows that contradict each other have piled up would
        strike as soon as poses change. What limits and contacts are guessed to do comes after it, but where it balances
        what drives do (`start_drives`): until it is balanced it may be far faster than anything moves, and velocity
        products of it are nothing that the drift has. looked: as of TreeMotion.kick."""
        cdef Py_ssize_t i, nv = self.motion.tree.nv
        cdef bint balanced = False
        memcpy(self.started, self.motion.qd, nv * sizeof(double))
        self.motion.kick(h, self.space.forces, 1, looked)
        self.poses.leave_spins(h, self.context.bodies, self.tree_rows.tied, 0, self.motion.tree_count)
        if self.rows.loops.some:
            balanced = self.start_drives()
            for _ in range(KICK_ROUNDS):
                self.rows.loop_rows.solve(self.plain.rows, self.motion.qd, BIASED)
            self.motion.kick_some(h, self.space.forces, self.tree_rows.tied, True)
            memcpy(self.started, self.motion.trial, nv * sizeof(double))
        self.energies.begin_account(h, self.space.forces, self.tree_rows.tied if self.rows.loops.some else NULL)
        if balanced:
            memcpy(self.change, self.motion.qd, nv * sizeof(double))
            self.act_balanced(-1.0)
            for i in range(nv):                          # they act anew, in start
                self.started[i] += self.motion.qd[i] - self.change[i]
        self.start()

    cdef bint start_drives(self) noexcept nogil:
        """The impulses that springs, motors and friction of trees which loops tie start with act, and with them those of
        limits and contacts where these oppose them: where both together give less energy than drives alone. What a motor
        does that presses a link against its limit moves nothing, and as little are loops and velocity products to know
        of it. -> whether any do"""
        cdef Py_ssize_t i, k
        cdef size_t size = self.motion.tree.nv * sizeof(double)
        cdef bint some = False
        memcpy(self.change, self.motion.qd, size)
        self.start_rows(False, True)
        for k in range(self.motion.tree_count):
            self.balance[k] = 0.0
        self.sum_work(False, -1.0)
        memcpy(self.at_most, self.motion.qd, size)                           # in which nothing stands yet
        self.start_rows(True, True)
        self.sum_work(False, 1.0)
        self.sum_work(True, 1.0)
        for k in range(self.motion.tree_count):
            i = self.tree_rows.bond[k]
            if i < 0:
                continue
            if self.balance[i] < 0.0:
                some = True
            else:
                memcpy(self.motion.qd + self.motion.trees[k].first, self.at_most + self.motion.trees[k].first,
                       self.motion.trees[k].count * sizeof(double))
        return some

    cdef void sum_work(self, bint bounded, double part) noexcept nogil:
        """Into `balance`, of each bond: impulse times what has changed of J qd since `change`, of rows as of start_rows;
        half of that is the energy of the change."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int32_t bond
        for i in range(self.plain.started_end):
            row = &self.plain.rows[i]
            bond = max(self.tree_rows.bonds[row.body_a], self.tree_rows.bonds[row.body_b])
            if row.impulse != 0.0 and bond >= 0 and (row.kind == ROW_LIMIT or row.kind >= ROW_NORMAL) == bounded:
                self.balance[bond] += part * row.impulse * (self.generalized.rate(i, self.motion.qd)
                                                            - self.generalized.rate(i, self.change))

    cdef void act_balanced(self, double part) noexcept nogil:
        """What of limits' and contacts' impulses balances what drives do."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int32_t bond
        for i in range(self.plain.started_end):
            row = &self.plain.rows[i]
            bond = max(self.tree_rows.bonds[row.body_a], self.tree_rows.bonds[row.body_b])
            if row.impulse != 0.0 and bond >= 0 and self.balance[bond] < 0.0 and (
                    row.kind == ROW_LIMIT or row.kind >= ROW_NORMAL):
                self.generalized.apply(i, part * row.impulse, self.motion.qd)

    cdef void first_smooth(self, double h) noexcept nogil:
        """The same where accelerations, qdd, are all that forces and loops do."""
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i
        memcpy(self.started, self.motion.qd, self.motion.tree.nv * sizeof(double))
        for i in range(self.motion.tree.nv):
            qd[i] = qd[i] + h * self.motion.qdd[i]
        self.poses.leave_spins(h, self.context.bodies, self.tree_rows.tied, 0, self.motion.tree_count)
        if self.rows.loops.some:
            self.rows.loop_rows.aim_rates(self.plain.rows, self.motion.qd)
        self.start()
        if self.rows.loops.some:
            self.start_rows(False, True)

    cdef void start(self) noexcept nogil:
        """What rows start with acts, once forces have."""
        memcpy(self.kicked_to, self.motion.qd, self.motion.tree.nv * sizeof(double))
        self.start_rows(False, False)
        self.rows.warm_starts.start(False)
        if self.context.contact_rows > 0:
            self.find_work()
        self.start_rows(True, False)
        self.start_rows(True, True)
        self.rows.warm_starts.weigh(False)

    cdef void find_work(self) noexcept nogil:
        """Before the sweeps, of each tree: the kinetic energy that it has, and what its rows would have to do for what
        they ask, each by itself: w^2 / (2 J H^-1 J'), w = J qd + bias."""
        cdef const Row* row
        cdef Py_ssize_t i, k
        cdef int32_t a, b
        cdef double rate, work
        cdef bint known
        for k in range(self.motion.tree_count):
            if self.motion.trees[k].count > 0:
                self.at_most[self.motion.trees[k].first] = self.energies.kinetic[k]
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind > ROW_NORMAL or row.diagonal <= 0.0:
                continue
            known = row.carry != 0.0 and (row.kind == ROW_NORMAL or row.kind == ROW_LIMIT)
            rate = row.bias[BIASED] + (self.rows.warm_starts.rates[i] if known
                                       else self.generalized.rate(i, self.motion.qd))
            if (row.kind == ROW_LIMIT or row.kind == ROW_NORMAL) and rate > 0.0:
                continue
            work = 0.5 * rate * rate / row.diagonal
            a, b = node_of(self.motion.blocks, row.body_a), node_of(self.motion.blocks, row.body_b)
            if a >= 0:
                self.at_most[a] = self.at_most[a] + work
            if b >= 0 and b != a:
                self.at_most[b] = self.at_most[b] + work

    cdef void again(self, double h) noexcept nogil:
        """The first kick of h at the velocities that rows have made of it by now, and contacts aimed with it: an impact
        takes from a link what its path bent by. Of trees with contacts that the last sweep has stirred, and that are no
        faster than what they had and what rows asked for can make them: sweeps on their way may be, and what is aimed
        by such velocities makes them faster still. Not beside loops, whose account the first kick has begun."""
        cdef const Block* block
        cdef Py_ssize_t k
        cdef int32_t* stirred = self.generalized.stirred
        cdef bint some = False
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            if block.count == 0:
                continue
            if self.tree_rows.busy[k] <= 1 or self.tree_rows.tied[k]:
                stirred[block.first] = 0
            if not stirred[block.first]:
                continue
            if self.kick_tree(k, h):
                some = True
            else:
                stirred[block.first] = 0
        if some:
            self.poses.give_spins(self.context.bodies, self.tree_rows.tied, self.rows.contacts.swings)
            self.rows.contacts.aim(False)
        self.motion.narrow(0, self.motion.tree_count)

    cdef bint kick_tree(self, Py_ssize_t k, double h) noexcept nogil:
        """One of these. -> whether it is kicked anew: not where it is too fast, or its energy becomes quite another."""
        cdef const Block* block = &self.motion.trees[k]
        cdef Py_ssize_t i
        cdef double* qd = self.motion.qd
        cdef double* change = self.change
        cdef double before
        self.motion.narrow(k, k + 1)
        self.motion.look()
        self.energies.account_trees(k, k + 1, 0.0, True)
        if self.energies.kinetic[k] > self.at_most[block.first]:
            return False
        before = self.energies.kinetic[k]
        self.poses.give_twists(self.context.bodies.twist)
        self.motion.find_accelerations(self.space.forces)
        for i in range(block.first, block.first + block.count):
            change[i] = qd[i] - self.kicked_to[i]
            qd[i] = self.started[i] + change[i] + h * self.motion.qdd[i]
        self.poses.leave_spins(h, self.context.bodies, self.tree_rows.tied, k, k + 1)
        self.motion.look()
        self.energies.account_trees(k, k + 1, 0.0, True)
        if not fabs(self.energies.kinetic[k] - before) <= 0.5 * before:
            for i in range(block.first, block.first + block.count):
                qd[i] = self.kicked_to[i] + change[i]
            return False
        for i in range(block.first, block.first + block.count):
            self.kicked_to[i] = qd[i] - change[i]
        self.poses.give_twists(self.context.bodies.twist)
        self.poses.give_swings(self.rows.contacts.swings)
        self.poses.give_shared(k, k + 1, self.rows.contacts.shared)
        return True

    cdef void start_rows(self, bint bounded, bint tied) noexcept nogil:
        """The impulses that limits' and contacts' rows start with act, or those of all others, of trees that loops tie or
        of the rest; compliant contacts', in the end, as far as they help."""
        cdef const Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.started_end):
            row = &self.plain.rows[i]
            if row.impulse != 0.0 and (row.kind == ROW_LIMIT or row.kind >= ROW_NORMAL) == bounded and (
                    self.rows.loops.is_tied(row) == tied):
                self.generalized.apply(i, row.impulse, self.motion.qd)
        if self.rows.surfaces is not None and bounded and tied:
            self.rows.surfaces.begin_warm_start(BIASED)

    cdef void fly(self, double h) noexcept nogil:
        """The drift of all trees that no loop ties: as without rows, from the velocities that they began with and what rows
        have changed of them."""
        self.leave_changes(False)
        self.motion.look()
        if self.rows.loops.some:
            self.flight.fly_apart(self.tree_rows.tied, h, self.space.forces)
        else:
            self.flight.fly(NULL, h, self.space.forces)

    cdef void leave_changes(self, bint tied) noexcept nogil:
        """Of the velocities what they began with and what rows have changed of them; what no row acts on is as it began, to
        the bit. tied: also of trees that loops tie."""
        cdef const Block* block
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count):
                if not self.tree_rows.busy[k]:
                    qd[i] = self.begun[i]
                elif tied or not self.tree_rows.tied[k]:
                    qd[i] = self.started[i] + (qd[i] - self.kicked_to[i])

    cdef void second(self, double h, const int32_t* leaping) noexcept nogil:
        """Of trees that loops tie and leapfrog moves. What forces do at the velocities before it counts for all of
        these."""
        cdef Py_ssize_t k
        self.motion.kick_some(h, self.space.forces, leaping, False)
        for k in range(self.motion.tree_count):
            if self.tree_rows.tied[k] and not leaping[k]:
                self.motion.narrow(k, k + 1)
                self.motion.look()
        self.motion.narrow(0, self.motion.tree_count)
        self.energies.see_leads()
        self.energies.credit(0.5 * h, self.space.forces)

    cdef void settle_second(self, double h) noexcept nogil:
        """Of all that loops tie: what both kicks and the drift have given one beyond the work of forces is taken out of its
        velocities."""
        self.motion.look()
        self.energies.account(1.0, True)
        self.energies.credit(0.5 * h, self.space.forces)
        self.energies.tame(MOST_GAIN, self.tree_rows.tied, False)
        self.flight.bring_back_velocities(self.tree_rows.tied)
