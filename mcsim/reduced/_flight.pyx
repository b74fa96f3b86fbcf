"""Trees that no row acts on, through a substep: an implicit midpoint step on the links' own velocities, which keeps the
energy of every tree.

Let V be the twists of a tree's links, each in its own axes, and V = A(q) qd. In these axes the inertias M are constant.
A piece of length h goes from q0, qd0 to q1, qd1, with the mean velocities s of its joints:

    qm = q0 + h/2 s,   q1 = q0 + h s                                    drifts of the joints' coordinates
    A(qm)' (2 M (A(qm) s - V0) + h (p - f)) = h tau                     p = V x* M V, which does no work; f forces, gravity
    V1 = 2 A(qm) s - V0                                                 the mirror image of V0
    qd1 = H(q1)^-1 A(q1)' M V1                                          the nearest velocities that joints allow at q1

Without forces A(qm) s is the projection of V0, in the metric of M, onto what joints allow at qm; so V1 has the energy of
V0 wherever qm is, and what the last line takes of it is of fourth order in h: kinetic energy never grows, whatever h is.
Forces do the work h (f . A(qm) s + tau . s). What that differs from the energy of gravity at q1 and q0, what p has done
because it was found at guessed velocities, and what the last line took are known exactly, of third order, and vanish as
the square of the velocities: qd1 is scaled by the one factor that gives them back. So T + V of each tree changes by the
work of forces alone, to rounding.

s is found by rounds, each with a factorization at its qm, from qd0 + h/2 qdd(q0, qd0): one is enough where motions are
resolved. Where the rounds do not meet, or more than a small part of the kinetic energy had to be given back, the piece
is divided in two; after it pieces grow again. All is decided for each tree by itself.

A rotor of inertia a that goes with a velocity of a joint is one more body with one number for its twist: to V belongs
qd, to M belongs a, and A has a row of its own for it.

A loose tree, whose root nothing holds, is seen from its centre of mass, which moves as forces say: exactly, and so its
energies do not depend on who looks. What hangs on a prescribed body is moved alike, but its energy is not looked at, for
such bodies do work.

Sources: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2006, IV.4 (projection) and VIII.5 (rigid
bodies); P. Betsch, S. Leyendecker, "The discrete null space method for the energy consistent integration of constrained
mechanical systems", 2006.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._noted cimport NOTE_ENERGY
from mcsim.reduced._piece cimport account_of
from mcsim.reduced._tree_energy cimport ROUNDED
from mcsim.reduced._turn cimport drift_joint

include "_kernels.pxi"
include "_piece.pxi"

cdef enum:
    ROUNDS = 4                   # of a piece of a tree that one round was not enough for
    HALVINGS = 10                # of a substep, at most

# The part of the kinetic energy that guessed velocities may be off by, squared.
cdef double SPREAD = 1e-7

# The part of it that may have to be given back.
cdef double OFF = 1e-6

# Pieces grow where a piece twice as long can be expected to be good: errors are of third order.
cdef double GROWTH = 16.0


cdef void drift_by_itself(const Link* link, double* q, double h, const double* w) noexcept nogil:
    drift_joint(link, q, h, w)


cdef class TreeFlight:
    """motion: TreeMotion, whose trees are moved."""

    def __init__(self, TreeMotion motion not None):
        size, trees = motion.tree.nq + motion.tree.nv + 1, motion.tree_count + 1
        numbers, means = np.zeros((3, size)), np.zeros((2, motion.tree.nv + 1))
        riders = np.zeros((motion.tree.count + 1) * sizeof(Rider) // 8)
        pieces = np.zeros(trees * sizeof(Piece) // 8 + 1)
        self.motion, self.noted, self.trees = motion, motion.noted, motion.trees
        self.kept_alive = numbers, means, riders, pieces
        self.start, self.origin = doubles(numbers[0]), doubles(numbers[1])
        self.arrived = doubles(numbers[2])
        self.pieces = <Piece*>doubles(pieces)
        self.flight.tree, self.flight.trees, self.flight.turns_rotors = motion.tree, motion.trees, motion.turns_rotors
        self.flight.q, self.flight.qd = <Wide*>motion.q, <Wide*>motion.qd
        self.flight.tau, self.flight.qdd = <Wide*>motion.tau, <Wide*>motion.qdd
        self.flight.start = <Wide*>self.start
        self.flight.mean, self.flight.given = <Wide*>doubles(means[0]), <Wide*>doubles(means[1])
        self.flight.drift = drift_by_itself
        self.flight.riders, self.flight.pieces = <Rider*>doubles(riders), self.pieces

    # ---- a substep ---------------------------------------------------------------------------------------------------

    cdef void fly(self, const int32_t* busy, double h, const double* forces) noexcept nogil:
        """All trees that move and are not busy (NULL: none is) through a substep of h, under `forces` on the bodies; the
        trees stand placed, factored and looked at, before and after."""
        cdef Py_ssize_t k
        cdef size_t nq = self.flight.tree.nq, nv = self.flight.tree.nv
        memcpy(self.origin, self.motion.q, nq * sizeof(double))
        memcpy(self.origin + nq, self.motion.qd, nv * sizeof(double))
        if self.motion.giving:
            self.motion.look()                       # the last solve has left given accelerations in the links' bias
        for k in range(self.motion.run_count if busy == NULL else 0):
            self.move_piece(self.motion.runs[2 * k], self.motion.runs[2 * k + 1], h, forces)
        for k in range(self.motion.tree_count):
            if self.motion.resting[k]:
                continue
            if busy != NULL:
                if busy[k]:
                    continue
                self.move_piece(k, k + 1, h, forces)
            self.travel(k, h, forces)

    cdef void fly_apart(self, const int32_t* busy, double h, const double* forces) noexcept nogil:
        """Trees that are not busy have flown, and stand still where they began until bring_back: what is done to all
        trees in between is nothing to them."""
        cdef const Block* block
        cdef Py_ssize_t i, k, nq = self.flight.tree.nq
        self.fly(busy, h, forces)
        for k in range(self.motion.tree_count):
            if busy[k]:
                continue
            block = &self.trees[k]
            for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
                self.arrived[i] = self.motion.q[i]
            for i in range(block.first, block.first + block.count):
                self.arrived[nq + i] = self.motion.qd[i]
                self.origin[nq + i] = 0.0
            if not self.motion.resting[k]:
                self.stand_at(k, self.origin)

    cdef void bring_back(self, const int32_t* busy) noexcept nogil:
        cdef Py_ssize_t k
        cdef Py_ssize_t i
        for k in range(self.motion.tree_count):
            if busy[k]:
                continue
            if self.motion.resting[k]:                   # it is there, but for what a drift at no velocity rounds
                for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
                    self.motion.q[i] = self.arrived[i]
            else:
                self.stand_at(k, self.arrived)

    cdef void bring_back_velocities(self, const int32_t* busy) noexcept nogil:
        """Once more: these alone, where trees have been kicked since."""
        cdef const Block* block
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i, k, nq = self.flight.tree.nq
        for k in range(self.motion.tree_count):
            block = &self.trees[k]
            for i in range(block.first, block.first + block.count if not busy[k] else 0):
                qd[i] = self.arrived[nq + i]

    cdef void put_in_place(self) noexcept nogil:
        """The trees that are worked on at q, and factored."""
        self.ask()
        place(&self.flight.tree, self.flight.q)
        factor(&self.flight.tree)

    cdef void ask(self) noexcept nogil:
        """What the users' joints say at q."""
        if self.motion.asking and not self.motion.failed:
            self.motion.ask()

    cdef void stand_at(self, Py_ssize_t k, const double* state) noexcept nogil:
        """A tree back at q and qd."""
        cdef const Block* block = &self.trees[k]
        cdef Py_ssize_t i, nq = self.flight.tree.nq
        for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
            self.motion.q[i] = state[i]
        for i in range(block.first, block.first + block.count):
            self.motion.qd[i] = state[nq + i]
        choose_trees(&self.flight, k, k + 1)
        self.put_in_place()
        move(&self.flight.tree, self.flight.q, self.flight.qd)

    cdef void travel(self, Py_ssize_t k, double h, const double* forces) noexcept nogil:
        """One tree, which has moved by all of h in one round, to the end of it: where that is not good, anew from the
        beginning, in as many pieces as it asks for. What a piece has begun with is there for the next one that begins in
        the same place, and the first round of one that is as long as the last was its only one."""
        cdef Account account
        cdef Travel way
        cdef Wide step
        cdef int went, made
        self.set_out(&way)
        while True:
            account = account_of(<const double*>&self.pieces[k], 1, 0)
            made = way.rounds
            went = self.go_on(&way, &account, self.trees[k].led)
            step = h / (1 << way.level)
            if went != NOT_GOOD:
                self.settle(k, &account)
                if went == ARRIVED:
                    return
            elif self.motion.asking:                     # models of the user's are asked there again
                self.stand_at(k, self.start)
            if went != NOT_GOOD or self.motion.asking:
                begin_piece(&self.flight, k, k + 1, &step, <const Wide*>forces)
                made = 0
            elif way.level > 0:
                guess_means(&self.flight, k, k + 1, &step)
                made = 0
            choose_trees(&self.flight, k, k + 1)
            self.make_rounds(k, step, forces, made, way.rounds)
            self.end_piece(k, k + 1, step, forces, way.level == HALVINGS)

    # ---- what becomes of a piece -------------------------------------------------------------------------------------

    cdef void set_out(self, Travel* way) noexcept nogil:
        """A substep begins with all of it, in one round."""
        way.done, way.level, way.rounds = 0, 0, 1

    cdef int go_on(self, Travel* way, const Account* account, bint led) noexcept nogil:
        """A piece has been made, and what comes next is in `way`. led: as of Block. -> NOT_GOOD: from the piece's start
        again; ON_THE_WAY: the next one; ARRIVED: the substep is over"""
        cdef double error = self.error(account, led)
        cdef int32_t step
        if way.rounds == 1:
            if error <= 1.0:
                return ARRIVED
            way.rounds = ROUNDS
            way.level = 1 if self.meets(account) else 0      # where one round was enough, the same again is no better
            return NOT_GOOD
        if not error <= 1.0 and way.level < HALVINGS:
            way.level += 1
            return NOT_GOOD
        step = 1 << (HALVINGS - way.level)
        way.done += step
        if way.level > 0 and error * GROWTH <= 1.0 and way.done % (2 * step) == 0:
            way.level -= 1
        return ARRIVED if way.done >= 1 << HALVINGS else ON_THE_WAY

    cdef bint meets(self, const Account* account) noexcept nogil:
        """Whether the velocities that came out of a round are those that forces and places were found at."""
        return account.spread <= SPREAD * account.kinetic

    cdef double error(self, const Account* account, bint led) noexcept nogil:
        """Of a piece, as a part of what it may be, but for what rounding leaves."""
        cdef double kinetic = account.before + account.mirrored
        cdef double rounded = self.rounding(account)
        cdef double worst = max(account.spread - rounded, 0.0) / SPREAD
        worst = max(worst, max(fabs(account.mirrored - account.after) - rounded, 0.0) / OFF)
        if not led:
            worst = max(worst, max(fabs(account.gained) - account.lifting * ROUNDED - rounded, 0.0) / OFF)
        return worst / kinetic if kinetic > 0.0 else worst * INFINITY if worst != 0.0 else 0.0

    cdef bint is_hopeless(self, Account account, bint led) noexcept nogil:
        """Once velocities are mirrored: whether those that were guessed are off by so much that a piece is not good,
        whatever comes of it."""
        account.after, account.gained = account.mirrored, 0.0
        return self.error(&account, led) > 1.0

    cdef bint asks_for_rounds(self, Travel* way, const Account* account, bint led) noexcept nogil:
        """Once velocities are mirrored, of a piece of one round: whether it goes on with more, as go_on would have it begin
        anew with."""
        if way.rounds > 1 or self.meets(account) or not self.is_hopeless(account[0], led):
            return False
        way.rounds, way.level = ROUNDS, 0
        return True

    cdef double rounding(self, const Account* account) noexcept nogil:
        """What rounding makes of a tree's kinetic energy [J]. Velocities v are differences of those that the world
        sees, u, and of what gravity does to them: known to e u, as their energy is to m v e u + m (e u)^2 / 2. What
        rests on something has no other energy."""
        return ROUNDED * (sqrt((account.before + account.mirrored) * account.seen) + ROUNDED * account.seen)

    cdef double kept(self, const Account* account, bint led, double* lost) noexcept nogil:
        """What the velocities at a piece's end are multiplied by, so that the energy is given back that nothing took, and
        taken that nothing gave. lost: of that what is not there [J]."""
        cdef double kept = 1.0
        lost[0] = 0.0
        if not led and fabs(account.gained) > account.lifting * ROUNDED:
            kept = 1.0 - account.gained / account.after if account.after > 0.0 else 1.0
            if kept <= 0.0 and account.gained - account.after > self.rounding(account):
                lost[0] = account.gained - account.after
            kept = sqrt(max(kept, 0.0))
        return kept

    cdef void settle(self, Py_ssize_t k, const Account* account) noexcept nogil:
        """After a piece that is good; a loose tree's velocity is as the world sees it."""
        cdef double lost
        cdef Wide kept = self.kept(account, self.trees[k].led, &lost)
        if lost > 0.0:
            self.noted.add(NOTE_ENERGY, self.flight.tree.links[self.trees[k].first_link].body, lost)
        settle(&self.flight, k, &kept)
        choose_trees(&self.flight, k, k + 1)
        move(&self.flight.tree, self.flight.q, self.flight.qd)

    # ---- a piece -----------------------------------------------------------------------------------------------------

    cdef void move_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces) noexcept nogil:
        """These trees by h, in one round."""
        cdef Wide step = h
        if first >= end:
            return
        begin_piece(&self.flight, first, end, &step, <const Wide*>forces)
        self.make_round(first, end, h, forces)
        self.end_piece(first, end, h, forces, False)

    cdef void make_rounds(self, Py_ssize_t k, double h, const double* forces, int made, int rounds) noexcept nogil:
        """Of one tree's piece, of which so many are made, up to so many."""
        cdef Account account
        while made < rounds:
            self.make_round(k, k + 1, h, forces)
            made += 1
            account = account_of(<const double*>&self.pieces[k], 1, 0)
            if self.meets(&account):
                return

    cdef void make_round(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces) noexcept nogil:
        cdef Wide step = h
        begin_round(&self.flight, first, end, &step)
        self.ask()
        end_round(&self.flight, first, end, &step, <const Wide*>forces)

    cdef void end_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces, bint last) noexcept nogil:
        """To the end of it those trees whose pieces may be good; last: whatever they are, there is no shorter one. Trees
        with models of the user's come there together, for all models are asked at a time."""
        cdef Wide step = h
        cdef Py_ssize_t k = first, stop
        cdef bint every = last or self.motion.asking
        mirror_all(&self.flight, first, end, &step, <const Wide*>forces)
        while k < end:
            stop = k
            while stop < end and (every or not self.is_hopeless(account_of(<const double*>&self.pieces[stop], 1, 0),
                                                                self.trees[stop].led)):
                stop += 1
            if stop > k:
                go_on_to_end(&self.flight, k, stop, &step)
                self.ask()
                come_down(&self.flight, k, stop, &step)
            if stop < end:                               # it is judged by what is known of it
                self.pieces[stop].after, self.pieces[stop].gained = self.pieces[stop].mirrored, 0.0
            k = stop + 1
