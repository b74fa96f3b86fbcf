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
from mcsim.reduced._motion cimport rotor_energy
from mcsim.reduced._tree_energy cimport ROUNDED

include "_kernels.pxi"

cdef enum:
    ROUNDS = 4                   # of a piece of a tree that one round was not enough for
    HALVINGS = 10                # of a substep, at most

# The part of the kinetic energy that guessed velocities may be off by, squared.
cdef double SPREAD = 1e-7

# The part of it that may have to be given back.
cdef double OFF = 1e-6

# Pieces grow where a piece twice as long can be expected to be good: errors are of third order.
cdef double GROWTH = 16.0


cdef inline Wide3 inwards(const LinkState* s, Wide3 a) noexcept nogil:
    """A vector in a link's axes."""
    return wide3(w_dot(s.x, a), w_dot(s.y, a), w_dot(s.z, a))


cdef inline Wide3 outwards(const LinkState* s, Wide3 a) noexcept nogil:
    return w_add_scaled(w_add_scaled(w_scale(a.x, s.x), a.y, s.y), a.z, s.z)


cdef inline Wide3 own_spin_momentum(const double* i, Wide3 w) noexcept nogil:
    """Inertia about the centre of mass, link axes, times w."""
    return wide3(i[0] * w.x + i[1] * w.y + i[2] * w.z, i[1] * w.x + i[3] * w.y + i[4] * w.z,
                 i[2] * w.x + i[4] * w.y + i[5] * w.z)


cdef inline double own_energy(const Link* link, Wide3 spin, Wide3 speed) noexcept nogil:
    """Kinetic energy of a twist in the link's axes."""
    cdef Wide3 v = w_add(speed, w_cross(spin, splat3(&link.com.x)))
    return 0.5 * (link.mass * w_dot(v, v) + w_dot(spin, own_spin_momentum(link.inertia, spin)))


cdef inline double energy_of(const Link* link, const LinkState* s, const Motion* m) noexcept nogil:
    """The same of a twist in the world's."""
    cdef Wide3 v = w_add(m.v, w_cross(m.w, s.com))
    return 0.5 * (link.mass * w_dot(v, v) + w_dot(m.w, w_times(&s.about_com, m.w)))


cdef class TreeFlight:
    """motion: TreeMotion, whose trees are moved."""

    def __init__(self, TreeMotion motion not None):
        size, trees = motion.tree.nq + motion.tree.nv + 1, motion.tree_count + 1
        numbers, means = np.zeros((3, size)), np.zeros((2, motion.tree.nv + 1))
        riders = np.zeros((motion.tree.count + 1) * sizeof(Rider) // 8)
        pieces = np.zeros(trees * sizeof(Piece) // 8 + 1)
        self.motion, self.noted, self.trees = motion, motion.noted, motion.trees
        self.tree = motion.tree
        self.kept = numbers, means, riders, pieces
        self.start, self.origin = doubles(numbers[0]), doubles(numbers[1])
        self.arrived = doubles(numbers[2])
        self.mean, self.given = doubles(means[0]), doubles(means[1])
        self.riders, self.pieces = <Rider*>doubles(riders), <Piece*>doubles(pieces)

    # ---- a substep ---------------------------------------------------------------------------------------------------

    cdef void fly(self, const int32_t* busy, double h, const double* forces) noexcept nogil:
        """All trees that move and are not busy (NULL: none is) through a substep of h, under `forces` on the bodies; the
        trees stand placed, factored and looked at, before and after."""
        cdef Py_ssize_t k
        cdef size_t nq = self.tree.nq, nv = self.tree.nv
        memcpy(self.origin, self.motion.q, nq * sizeof(double))
        memcpy(self.origin + nq, self.motion.qd, nv * sizeof(double))
        if self.motion.giving:
            self.motion.look()                       # the last solve has left given accelerations in the links' bias
        for k in range(self.motion.run_count if busy == NULL else 0):
            self.move_piece(self.motion.runs[2 * k], self.motion.runs[2 * k + 1], h, forces, 1)
        for k in range(self.motion.tree_count):
            if self.motion.resting[k]:
                continue
            if busy != NULL:
                if busy[k]:
                    continue
                self.move_piece(k, k + 1, h, forces, 1)
            if self.error(k) <= 1.0:
                self.settle(k)
            else:
                self.stand_at(k, self.origin)
                self.travel(k, h, forces)

    cdef void fly_apart(self, const int32_t* busy, double h, const double* forces) noexcept nogil:
        """Trees that are not busy have flown, and stand still where they began until bring_back: what is done to all
        trees in between is nothing to them."""
        cdef const Block* block
        cdef Py_ssize_t i, k, nq = self.tree.nq
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
        cdef Py_ssize_t i, k, nq = self.tree.nq
        for k in range(self.motion.tree_count):
            block = &self.trees[k]
            for i in range(block.first, block.first + block.count if not busy[k] else 0):
                qd[i] = self.arrived[nq + i]

    cdef void take(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Kernels work on these trees."""
        self.tree.first = self.trees[first].first_link if first < end else 0
        self.tree.end = self.trees[end - 1].end_link if first < end else 0

    cdef void put_in_place(self) noexcept nogil:
        """The trees that are worked on at q, and factored."""
        if self.motion.asking and not self.motion.failed:
            self.motion.ask()
        place(&self.tree, <const Wide*>self.motion.q)
        factor(&self.tree)

    cdef void stand_at(self, Py_ssize_t k, const double* state) noexcept nogil:
        """A tree back at q and qd."""
        cdef const Block* block = &self.trees[k]
        cdef Py_ssize_t i, nq = self.tree.nq
        for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
            self.motion.q[i] = state[i]
        for i in range(block.first, block.first + block.count):
            self.motion.qd[i] = state[nq + i]
        self.take(k, k + 1)
        self.put_in_place()
        move(&self.tree, <const Wide*>self.motion.q, <const Wide*>self.motion.qd)

    cdef void travel(self, Py_ssize_t k, double h, const double* forces) noexcept nogil:
        """One tree in as many pieces as it asks for."""
        cdef int32_t step, done = 0                  # of 2^HALVINGS
        cdef int level = 0
        cdef double error
        while done < 1 << HALVINGS:
            step = 1 << (HALVINGS - level)
            self.move_piece(k, k + 1, h / (1 << level), forces, ROUNDS)
            error = self.error(k)
            if not error <= 1.0 and level < HALVINGS:
                self.stand_at(k, self.start)
                level += 1
                continue
            self.settle(k)
            done += step
            if level > 0 and error * GROWTH <= 1.0 and done % (2 * step) == 0:
                level -= 1

    # ---- a piece -----------------------------------------------------------------------------------------------------

    cdef void move_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces, int rounds) noexcept nogil:
        """These trees by h, in at most so many rounds."""
        cdef Py_ssize_t nq = self.tree.nq
        cdef Py_ssize_t q = self.motion.first_q(first), q_end = self.motion.first_q(end)
        cdef Py_ssize_t v, v_end, i, k, _
        cdef bint met
        if first >= end:
            return
        v, v_end = self.trees[first].first, self.trees[end - 1].first + self.trees[end - 1].count
        self.take(first, end)
        memcpy(self.start + q, self.motion.q + q, (q_end - q) * sizeof(double))
        memcpy(self.start + nq + v, self.motion.qd + v, (v_end - v) * sizeof(double))
        for k in range(first, end):
            self.board(k, h, forces)
        accelerate(&self.tree, <const Wide*>self.motion.tau, <const Wide*>forces, <Wide*>self.motion.qdd)
        for i in range(v, v_end):
            self.mean[i] = self.motion.qd[i] + 0.5 * h * self.motion.qdd[i]
        for k in range(first, end):
            if self.pieces[k].loose:
                self.motion.push(k, self.mean, w_scale(-1.0, w_add_scaled(self.pieces[k].velocity, 0.5 * h,
                                                                   self.pieces[k].acceleration)))
        for _ in range(rounds):
            memcpy(self.motion.q + q, self.start + q, (q_end - q) * sizeof(double))
            self.motion.drift_links(self.tree.first, self.tree.end, 0.5 * h, self.mean)
            self.put_in_place()
            move(&self.tree, <const Wide*>self.motion.q, <const Wide*>self.mean)
            for k in range(first, end):
                self.set_forces(k, h, forces)
            self.set_joints(v, v_end, 0.5 * h, 0.5 * h)
            self.spin_rotors(False)
            respond_to_all(&self.tree, <const Wide*>self.given, <Wide*>self.mean)
            met = True
            for k in range(first, end):
                met = self.meets(k) and met
            if met:
                break
        for k in range(first, end):
            self.mirror(k, h, forces)
        memcpy(self.motion.q + q, self.start + q, (q_end - q) * sizeof(double))
        self.motion.drift_links(self.tree.first, self.tree.end, h, self.mean)
        self.center(first, end, h)
        self.put_in_place()
        for k in range(first, end):
            self.set_momenta(k)
        self.set_joints(v, v_end, h, 0.0)
        self.spin_rotors(True)
        respond_to_all(&self.tree, <const Wide*>self.given, <Wide*>self.motion.qd)
        for k in range(first, end):
            self.land(k, h)

    cdef void board(self, Py_ssize_t k, double h, const double* forces) noexcept nogil:
        """After move: what a piece of a tree begins with."""
        cdef const Block* block = &self.trees[k]
        cdef Piece* piece = &self.pieces[k]
        cdef const Link* link = &self.tree.links[block.first_link]
        cdef const LinkState* s
        cdef Rider* rider
        cdef Wide zero = 0.0
        cdef Wide3 momentum = wide3(zero, zero, zero)
        cdef Wide3 force, moment, com, v
        cdef const double* f
        cdef Py_ssize_t i
        cdef int j
        force, moment = momentum, momentum
        piece.loose = self.motion.is_loose(k)
        for j in range(3 if piece.loose else 0):         # what tau does along the root's axes
            force = w_add_scaled(force, self.motion.tau[link.v + j], splat3(&link.turn[3 * j]))
        piece.mass = piece.blur = piece.seen = 0.0
        piece.before = self.rotors(k, 0)
        piece.middle = piece.velocity = piece.acceleration = momentum
        for i in range(block.first_link, block.end_link):
            link, s, rider = &self.tree.links[i], &self.tree.states[i + 1], &self.riders[i]
            com = w_add(s.position, s.com)
            rider.com = com
            v = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
            piece.seen += link.mass * (w_dot(v, v) + h * h * w_dot(splat3(&link.weight.x), splat3(&link.weight.x)))
            piece.blur += link.mass * (fabs(link.pull.x * com.x) + fabs(link.pull.y * com.y) + fabs(link.pull.z * com.z))
            if piece.loose:
                piece.mass += link.mass
                moment = w_add_scaled(moment, link.mass, com)
                momentum = w_add_scaled(momentum, link.mass, v)
                force = w_add_scaled(force, link.mass, splat3(&link.weight.x))
                if forces != NULL:
                    f = forces + 6 * link.body
                    force = w_add(force, wide3(f[0], f[1], f[2]))
        piece.blur *= ROUNDED
        if piece.loose:
            piece.middle = w_scale(1.0 / piece.mass, moment)
            piece.velocity = w_scale(1.0 / piece.mass, momentum)
            piece.acceleration = w_scale(1.0 / piece.mass, force)
        for i in range(block.first_link, block.end_link):
            link, s, rider = &self.tree.links[i], &self.tree.states[i + 1], &self.riders[i]
            rider.spin = inwards(s, s.velocity.w)
            rider.speed = inwards(s, w_sub(s.velocity.v, piece.velocity))
            if not link.prescribed:
                piece.before += own_energy(link, rider.spin, rider.speed)

    cdef void set_forces(self, Py_ssize_t k, double h, const double* forces) noexcept nogil:
        """After move at guessed mean velocities: the links' bias as h/2 (p - f) - M V0, so that velocities are found. Of a
        loose tree the acceleration that all of it has is left out."""
        cdef const Link* link
        cdef LinkState* s
        cdef Force p, had
        cdef Wide3 shared
        cdef Wide zero = 0.0
        cdef Py_ssize_t i
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            link, s = &self.tree.links[i], &self.tree.states[i + 1]
            p = bias_force(link, s, <const Wide*>forces)
            shared = w_scale(link.mass, self.pieces[k].acceleration)
            p.f = w_add(p.f, shared)
            p.n = w_add(p.n, w_cross(s.com, shared))
            had = self.momentum(i)
            s.force.n = w_sub(w_scale(0.5 * h, p.n), had.n)
            s.force.f = w_sub(w_scale(0.5 * h, p.f), had.f)
            s.bias.w = s.bias.v = wide3(zero, zero, zero)

    cdef void set_momenta(self, Py_ssize_t k) noexcept nogil:
        """The links' bias as -M V1."""
        cdef LinkState* s
        cdef Force had
        cdef Wide zero = 0.0
        cdef Py_ssize_t i
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            s = &self.tree.states[i + 1]
            had = self.momentum(i)
            s.force.n, s.force.f = w_scale(-1.0, had.n), w_scale(-1.0, had.f)
            s.bias.w = s.bias.v = wide3(zero, zero, zero)

    cdef Force momentum(self, Py_ssize_t i) noexcept nogil:
        """Of what a link has brought along, about its origin, where it is now."""
        cdef const LinkState* s = &self.tree.states[i + 1]
        cdef Motion m
        m.w, m.v = outwards(s, self.riders[i].spin), outwards(s, self.riders[i].speed)
        return inertial_force(&self.tree.links[i], s, &m)

    cdef void set_joints(self, Py_ssize_t v, Py_ssize_t end, double elapsed, double part) noexcept nogil:
        """`given`: impulses of the joints' forces in this part of the time; of given joints their velocities by then."""
        cdef const Link* link
        cdef Py_ssize_t i, nq = self.tree.nq
        cdef int k
        for i in range(v, end):
            self.given[i] = part * self.motion.tau[i]
        for i in range(self.tree.first, self.tree.end):
            link = &self.tree.links[i]
            for k in range(link.freedoms if link.given else 0):
                self.given[link.v + k] = self.start[nq + link.v + k] + elapsed * self.motion.tau[link.v + k]

    cdef void spin_rotors(self, bint mirrored) noexcept nogil:
        """After set_joints: and the momenta that rotors have brought along, or their mirror images."""
        cdef const Link* link
        cdef double rate
        cdef Py_ssize_t i, v, nq = self.tree.nq
        cdef int k
        for i in range(self.tree.first, self.tree.end if self.motion.turns_rotors else self.tree.first):
            link = &self.tree.links[i]
            for k in range(link.freedoms if not link.given else 0):
                v = link.v + k
                rate = 2.0 * self.mean[v] - self.start[nq + v] if mirrored else self.start[nq + v]
                self.given[v] += link.armature[k] * rate

    cdef double rotors(self, Py_ssize_t k, int which) noexcept nogil:
        """The energy of a tree's rotors at a piece's start (0), of their mirror images (1), at the mean velocities (2), in
        the end (3) [J]."""
        cdef const Block* block = &self.trees[k]
        cdef const double* start = self.start + self.tree.nq
        cdef double rates[6]
        cdef double found = 0.0
        cdef const Link* link
        cdef Py_ssize_t i, v
        cdef int j
        for i in range(block.first_link, block.end_link if self.motion.turns_rotors else block.first_link):
            link = &self.tree.links[i]
            for j in range(link.freedoms):
                v = link.v + j
                rates[j] = (start[v] if which == 0 else 2.0 * self.mean[v] - start[v] if which == 1
                            else self.mean[v] if which == 2 else self.motion.qd[v])
            found += rotor_energy(link, rates)
        return found

    cdef bint meets(self, Py_ssize_t k) noexcept nogil:
        """Whether the velocities that came out are those that forces and places were found at."""
        cdef const LinkState* s
        cdef Piece* piece = &self.pieces[k]
        cdef Motion off
        cdef double kinetic = self.rotors(k, 2)
        cdef Py_ssize_t i
        piece.spread = 0.0
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            s = &self.tree.states[i + 1]
            off.w = w_sub(s.acceleration.w, s.velocity.w)
            off.v = w_sub(s.acceleration.v, s.velocity.v)
            piece.spread += energy_of(&self.tree.links[i], s, &off)
            kinetic += energy_of(&self.tree.links[i], s, &s.acceleration)
        return piece.spread <= SPREAD * kinetic

    cdef void mirror(self, Py_ssize_t k, double h, const double* forces) noexcept nogil:
        """After respond_to_all: V1, its energy, and the work of forces."""
        cdef const Block* block = &self.trees[k]
        cdef const Link* link
        cdef const LinkState* s
        cdef Rider* rider
        cdef Piece* piece = &self.pieces[k]
        cdef Wide3 v
        cdef const double* f
        cdef double work = 0.0
        cdef Py_ssize_t i
        piece.mirrored = self.rotors(k, 1)
        for i in range(block.first, block.first + block.count):
            work += self.motion.tau[i] * self.mean[i]
        for i in range(block.first_link, block.end_link):
            link, s, rider = &self.tree.links[i], &self.tree.states[i + 1], &self.riders[i]
            rider.spin = w_sub(w_scale(2.0, inwards(s, s.acceleration.w)), rider.spin)
            rider.speed = w_sub(w_scale(2.0, inwards(s, s.acceleration.v)), rider.speed)
            if not link.prescribed:
                piece.mirrored += own_energy(link, rider.spin, rider.speed)
            if forces != NULL:
                f = forces + 6 * link.body
                v = w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com))
                work += w_dot(v, wide3(f[0], f[1], f[2])) + w_dot(s.acceleration.w, wide3(f[3], f[4], f[5]))
        piece.gained = -piece.before - h * work

    cdef void center(self, Py_ssize_t first, Py_ssize_t end, double h) noexcept nogil:
        """At q1: loose trees to where their centres of mass have come."""
        cdef const Block* block
        cdef const Link* link
        cdef const LinkState* s
        cdef const Piece* piece
        cdef Wide zero = 0.0
        cdef Wide3 shift
        cdef double* q
        cdef bint placed = False
        cdef Py_ssize_t i, k
        cdef int j
        for k in range(first, end):
            piece, block = &self.pieces[k], &self.trees[k]
            if not piece.loose:
                continue
            if not placed:
                place(&self.tree, <const Wide*>self.motion.q)
                placed = True
            shift = wide3(zero, zero, zero)
            for i in range(block.first_link, block.end_link):
                link, s = &self.tree.links[i], &self.tree.states[i + 1]
                shift = w_add_scaled(shift, -link.mass / piece.mass, w_add(s.position, s.com))
            shift = w_add(shift, w_add_scaled(piece.middle, h, w_add_scaled(piece.velocity, 0.5 * h, piece.acceleration)))
            link = &self.tree.links[block.first_link]
            q = &self.motion.q[link.q]
            for j in range(3):
                q[j] += w_dot(shift, splat3(&link.turn[3 * j]))

    cdef void land(self, Py_ssize_t k, double h) noexcept nogil:
        """After respond_to_all at q1: what the piece has gained; of a loose tree its centre's velocity then."""
        cdef const Block* block = &self.trees[k]
        cdef const Link* link
        cdef LinkState* s
        cdef Piece* piece = &self.pieces[k]
        cdef Wide zero = 0.0
        cdef Wide3 momentum = wide3(zero, zero, zero)
        cdef Wide3 com, v
        cdef double lifted = 0.0
        cdef Py_ssize_t i
        piece.after = self.rotors(k, 3)
        for i in range(block.first_link, block.end_link):
            link, s = &self.tree.links[i], &self.tree.states[i + 1]
            com = w_add(s.position, s.com)
            if not link.prescribed:
                piece.after += energy_of(link, s, &s.acceleration)
            if piece.loose:
                v = w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com))
                momentum = w_add_scaled(momentum, link.mass, v)
            lifted -= link.mass * w_dot(w_sub(com, self.riders[i].com), splat3(&link.pull.x))
        if piece.loose:
            v = w_scale(1.0 / piece.mass, momentum)
            piece.after -= 0.5 * piece.mass * w_dot(v, v)
            piece.velocity = w_add_scaled(piece.velocity, h, piece.acceleration)
            self.motion.push(k, self.motion.qd, w_scale(-1.0, v))
        piece.gained += piece.after + lifted

    cdef double error(self, Py_ssize_t k) noexcept nogil:
        """Of a piece, as a part of what it may be, but for what rounding leaves."""
        cdef const Piece* piece = &self.pieces[k]
        cdef double kinetic = piece.before + piece.mirrored
        cdef double rounded = self.rounding(k)
        cdef double worst = max(piece.spread - rounded, 0.0) / SPREAD
        worst = max(worst, max(fabs(piece.mirrored - piece.after) - rounded, 0.0) / OFF)
        if not self.trees[k].led:
            worst = max(worst, max(fabs(piece.gained) - piece.blur - rounded, 0.0) / OFF)
        return worst / kinetic if kinetic > 0.0 else worst * INFINITY if worst != 0.0 else 0.0

    cdef double rounding(self, Py_ssize_t k) noexcept nogil:
        """What rounding makes of a tree's kinetic energy [J]. Velocities v are differences of those that the world
        sees, u, and of what gravity does to them: known to e u, as their energy is to m v e u + m (e u)^2 / 2. What
        rests on something has no other energy."""
        cdef const Piece* piece = &self.pieces[k]
        return ROUNDED * (sqrt((piece.before + piece.mirrored) * piece.seen) + ROUNDED * piece.seen)

    cdef void settle(self, Py_ssize_t k) noexcept nogil:
        """The energy is given back that nothing took, and taken that nothing gave; a loose tree's velocity is as the world
        sees it."""
        cdef const Block* block = &self.trees[k]
        cdef Piece* piece = &self.pieces[k]
        cdef double* qd = self.motion.qd
        cdef double kept
        cdef Py_ssize_t i
        if not block.led and fabs(piece.gained) > piece.blur:
            kept = 1.0 - piece.gained / piece.after if piece.after > 0.0 else 1.0
            if kept <= 0.0 and piece.gained - piece.after > self.rounding(k):
                self.noted.add(NOTE_ENERGY, self.tree.links[block.first_link].body, piece.gained - piece.after)
            kept = sqrt(max(kept, 0.0))
            for i in range(block.first, block.first + block.count):
                qd[i] *= kept
        if piece.loose:
            self.motion.push(k, self.motion.qd, piece.velocity)
        self.take(k, k + 1)
        move(&self.tree, <const Wide*>self.motion.q, <const Wide*>self.motion.qd)
