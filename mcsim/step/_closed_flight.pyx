"""Drifts of trees that loops tie, from momentum to momentum: a symplectic step (RATTLE) over the trees' coordinates.

    g = qd0 + h/2 H^-1 Q(q0) + what rows have changed      forces alone, velocity products have no part
    s such that  H(q0) g + J' lambda = momentum before the drift from q0 to q0 + h s,   C(q0 + h s) = 0, or C(q0)
    qd1 = velocities of the momentum after it + h/2 H^-1 Q(q1),   J qd1 = 0

with the momenta of reduced/_discrete_flight.pyx. Under "projection" velocities close nothing that was open as the drift
began: it stays on that level, C(q0), and q is projected after it. A leapfrog in q and qd, of accelerations with velocity
products, is of second order and its own adjoint too, but where H depends on q it is not symplectic: energies of
mechanisms that turn round and round drift in proportion to time, up or down.

s is found by rounds from what leapfrog has: each adds to s what of g is missing, and with the loops' rows of the start what
closes them. Springs have a part in that by the places of both ends (_drift_springs.pyx). A bond goes as leapfrog does where
rounds do not end, as where a body turns by more than 2 rad or close to a singular pose, where its loops yield or are
strained, and where given motions have a part in them.

Sources: H. Andersen, "Rattle", 1983; L. Jay, "Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian
systems", 1996.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.reduced._motion cimport Block

cdef enum:
    ROUNDS = 16                          # of a drift, at most
    FIRST_ROUNDS = 3                     # which need not come nearer

# What may be missing of the velocities, as a part of their kinetic energy: they are known to 1e-13.
cdef double MISSING = 1e-26

# How long loops may take to be closed, as a part of the substep.
cdef double CLOSED = 1.8e-12

# The square of how many times that much is good enough where rounds come no nearer.
cdef double GOOD = 1e8


cdef class ClosedFlight:
    """Of the trees of a space that loops tie."""

    def __init__(self, TreeSpace space not None, TreeLoops loops not None, TreeKicks kicks not None,
                 TreeMomentum momentum not None):
        count = space.motion.tree_count + 1
        numbers, rates, last = np.zeros((3, count), np.int32), np.zeros(space.motion.tree.nv + 1), np.zeros(count)
        self.space, self.motion, self.loops, self.kicks = space, space.motion, loops, kicks
        self.discrete, self.momentum = DiscreteFlight(space.motion), momentum
        self.springs = DriftSprings(loops.context, loops.plain, space.generalized)
        self.kept = numbers, rates, last
        self.able, self.trying, self.others = integers(numbers[0]), integers(numbers[1]), integers(numbers[2])
        self.guess, self.last = doubles(rates), doubles(last)

    def reserve(self, rows):
        """Room for as many rows."""
        self.kept_impulses = np.zeros(max(1, rows))
        self.impulses = doubles(self.kept_impulses)
        self.springs.reserve(rows)

    cdef bint flies(self) noexcept nogil:
        """Whether loops are closed, or kept on their level, by velocities that a drift's end tells."""
        return self.loops.closing or self.loops.projecting

    cdef bint choose(self) noexcept nogil:
        """Which bonds go this way. -> whether any does"""
        cdef Py_ssize_t k
        cdef bint some = False
        cdef int32_t bond
        for k in range(self.motion.tree_count):
            self.able[k] = self.loops.bond[k] == k and self.loops.rows.is_plain(k)
        for k in range(self.motion.tree_count):
            bond = self.loops.bond[k]
            if bond >= 0 and self.motion.resting[k]:
                self.able[bond] = 0
        for k in range(self.motion.tree_count):
            some = some or self.able[k] != 0
        return some

    cdef void begin(self, double h) noexcept nogil:
        """`aim`: g."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        cdef size_t size = self.motion.tree.nv * sizeof(double)
        cdef double* qd = self.motion.qd
        self.discrete.begin()
        memcpy(self.guess, qd, size)
        memset(qd, 0, size)
        for k in range(self.motion.tree_count):
            if self.loops.bond[k] < 0 or not self.able[self.loops.bond[k]]:
                continue
            block = &self.motion.trees[k]
            self.motion.narrow(k, k + 1)
            self.motion.look()
            self.motion.find_accelerations(self.space.forces)
            for i in range(block.first, block.first + block.count):
                self.discrete.aim[i] = self.kicks.started[i] + (self.guess[i] - self.kicks.kicked_to[i]) \
                    + 0.5 * h * self.motion.qdd[i]
        self.motion.narrow(0, self.motion.tree_count)
        memcpy(qd, self.guess, size)
        self.springs.find(self.loops.bonds, self.momentum.group)
        for i in range(self.loops.rows.count):
            self.impulses[i] = self.loops.plain.rows[self.loops.rows.row[i]].impulse
        for k in range(self.motion.tree_count):
            self.trying[k] = self.able[k]
            self.last[k] = INFINITY

    cdef void close(self, double h) noexcept nogil:
        """qd such that loops are closed after a drift of h that begins at the present momenta. Bodies are left where the
        last trial had them."""
        cdef Py_ssize_t k, n
        cdef bint all_there = True
        self.loops.keep_level()
        if self.choose():
            self.begin(h)
            for n in range(ROUNDS):
                if not self.try_drift(h, n):
                    break
        for k in range(self.motion.tree_count):
            if self.trying[k] and self.able[k]:
                self.give_up(k)
            all_there = all_there and (self.loops.bond[k] != k or self.able[k] != 0)
        if not all_there:
            self.loops.close(h, self.able)

    cdef bint try_drift(self, double h, Py_ssize_t n) noexcept nogil:
        """Round n. -> whether another one is needed"""
        cdef Py_ssize_t k
        cdef bint more = False
        cdef double missing
        self.loops.look_ahead(h)
        for k in range(self.motion.tree_count):
            if not self.trying[k]:
                continue
            missing = self.missing(k, h)
            if missing == INFINITY:
                self.give_up(k)
            elif missing <= 1.0 or (missing <= GOOD and n >= FIRST_ROUNDS and missing > 0.5 * self.last[k]):
                self.trying[k] = 0
            elif n >= FIRST_ROUNDS and not missing <= self.last[k]:
                self.give_up(k)
            else:
                self.last[k] = missing
                self.correct(k, h)
                more = True
        return more

    cdef double missing(self, Py_ssize_t bond, double h) noexcept nogil:
        """After look_ahead: by how much a bond is not there, squared, as a part of what may be missing."""
        cdef Py_ssize_t k
        cdef double off = 0.0, whole = 0.0
        cdef double wide
        if not self.loops.rows.is_plain(bond):
            return INFINITY
        wide = self.loops.rows.worst(self.loops.plain.rows, bond) / (CLOSED * h)
        for k in range(self.motion.tree_count):
            if self.loops.bond[k] == bond and not self.discrete.compare(k, h, self.motion.qd, &off, &whole):
                return INFINITY
        off += self.springs.weigh(bond)
        return max(wide * wide, off / (MISSING * whole) if whole > 0.0 else 0.0)

    cdef void correct(self, Py_ssize_t bond, double h) noexcept nogil:
        """After missing: another s, and g with what loops have given by it."""
        cdef const Block* block
        cdef double* qd = self.motion.qd
        cdef double* aim = self.discrete.aim
        cdef double* found = self.discrete.found
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count if self.loops.bond[k] == bond else block.first):
                found[i] = aim[i] - found[i]
                aim[i] -= qd[i]
        self.springs.act(bond, found, aim)
        self.loops.rows.close(self.loops.plain.rows, qd, h, bond, found)
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count if self.loops.bond[k] == bond else block.first):
                aim[i] += qd[i]
                qd[i] += found[i]

    cdef void give_up(self, Py_ssize_t bond) noexcept nogil:
        """It goes as leapfrog does."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        self.able[bond] = self.trying[bond] = 0
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count if self.loops.bond[k] == bond else block.first):
                self.motion.qd[i] = self.guess[i]
        self.loops.rows.put_back(self.loops.plain.rows, self.impulses, bond)
        self.springs.put_back(bond)

    cdef void land(self, double h) noexcept nogil:
        """After a drift of h, the trees placed and factored: velocities, with the second kick; leapfrog's of others."""
        cdef const Block* block
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            self.others[k] = self.loops.bond[k] >= 0 and not (self.flies() and self.able[self.loops.bond[k]])
        self.kicks.second(0.5 * h, self.others)
        for k in range(self.motion.tree_count):
            if self.loops.bond[k] < 0 or self.others[k]:
                continue
            block = &self.motion.trees[k]
            self.discrete.land(k, h)
            for i in range(block.first, block.first + block.count):
                self.discrete.aim[i] = qd[i]
                qd[i] = 0.0
            self.motion.narrow(k, k + 1)
            self.motion.look()
            self.motion.find_accelerations(self.space.forces)
            for i in range(block.first, block.first + block.count):
                qd[i] = self.discrete.aim[i] + 0.5 * h * self.motion.qdd[i]
        self.motion.narrow(0, self.motion.tree_count)
        self.springs.land(self.able)
        self.kicks.settle_second(0.5 * h)
