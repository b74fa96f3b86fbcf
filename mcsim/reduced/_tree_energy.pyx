"""The energies of trees: what they have, what steps have given them beyond the work of forces, and how that is taken out of
their velocities.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._noted cimport NOTE_ENERGY
from mcsim.reduced._motion cimport Block, rotor_energy

include "_kernels.pxi"

# What rounding leaves of a sum of energies, as a part of their magnitudes; and of a velocity that is a difference of
# others.
cdef double ROUNDED = 1e-14


cdef class TreeEnergy:
    """Of the trees of a motion, in J."""

    def __init__(self, TreeMotion motion not None):
        self.motion = motion
        sums, after = np.zeros((11, motion.tree_count + 1)), np.zeros(motion.tree.nv + 1)
        self.kept = sums, after
        self.kinetic, self.gained, self.handled = doubles(sums[0]), doubles(sums[1]), doubles(sums[2])
        self.total, self.lead = doubles(sums[3]), doubles(sums[4])
        self.shared, self.course = <Wide3*>doubles(sums[5:8]), <Wide3*>doubles(sums[8:11])
        self.after = doubles(after)

    cdef void begin_account(self, double h, const double* forces, const int32_t* told) noexcept nogil:
        """Of what the last kick, of h, gained beyond the work of forces. Where it is too fast it gains much by itself: a
        tree that it gives as much again is slowed at once, and goes on as one as forces say: qd + h qdd of a loose
        tree moves its centre of mass also by what its coordinates leave to velocity products. told: (trees,) of which
        that is noted, or NULL."""
        cdef size_t size = self.motion.tree.nv * sizeof(double)
        cdef Py_ssize_t k
        self.see_leads()
        memset(self.gained, 0, self.motion.tree_count * sizeof(double))
        memset(self.handled, 0, self.motion.tree_count * sizeof(double))
        memcpy(self.after, self.motion.qd, size)
        memcpy(self.motion.qd, self.motion.trial, size)
        self.motion.look()
        self.account(-1.0, True)
        self.credit(0.5 * h, forces)
        for k in range(self.motion.tree_count):
            self.course[k] = w_add_scaled(self.shared[k], h, self.fall(k, forces))
        memcpy(self.motion.qd, self.after, size)
        self.motion.look()
        self.account(1.0, True)
        self.credit(0.5 * h, forces)
        self.tame(0.5, told, True)

    cdef Wide3 fall(self, Py_ssize_t k, const double* forces) noexcept nogil:
        """The acceleration of a loose tree's centre of mass: of gravity, `forces` on its bodies and that on its root.
        0 of others, whose shared velocity is given."""
        cdef const Link* link = &self.motion.tree.links[self.motion.trees[k].first_link]
        cdef const double* f
        cdef Wide zero = 0.0
        cdef Wide mass = 0.0
        cdef Wide3 force = wide3(zero, zero, zero)
        cdef Py_ssize_t i
        if not self.motion.is_loose(k):
            return force
        for i in range(3):
            force = w_add_scaled(force, self.motion.tau[link.v + i], splat3(&link.turn[3 * i]))
        for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
            link = &self.motion.tree.links[i]
            mass += link.mass
            force = w_add_scaled(force, link.mass, wide3(link.weight.x, link.weight.y, link.weight.z))
            if forces != NULL:
                f = forces + 6 * link.body
                force = w_add(force, wide3(f[0], f[1], f[2]))
        return w_scale(1.0 / mass, force)

    cdef void account(self, double part, bint apart) noexcept nogil:
        """Of all trees."""
        self.account_trees(0, self.motion.tree_count, part, apart)

    cdef void account_trees(self, Py_ssize_t first, Py_ssize_t end, double part, bint apart) noexcept nogil:
        """After look: `gained` of these trees by this part of its kinetic energy, less that of prescribed bodies.
        apart: of its velocities beyond the shared one, which are the same from all frames."""
        cdef Wide zero = 0.0
        cdef Py_ssize_t k
        for k in range(first, end):
            self.shared[k] = self.motion.find_shared(k) if apart and not self.motion.resting[k] else wide3(zero, zero, zero)
            self.kinetic[k] = self.kinetic_energy(k, self.shared[k])
            self.gained[k] += part * self.kinetic[k]
            self.handled[k] += fabs(part) * self.kinetic[k]

    cdef double kinetic_energy(self, Py_ssize_t k, Wide3 shared) noexcept nogil:
        """After look: of a tree's velocities beyond this one [J]."""
        cdef const LinkState* s
        cdef const Link* link
        cdef Wide3 v, w
        cdef double found = 0.0
        cdef Py_ssize_t i
        if self.motion.resting[k]:
            return 0.0
        for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
            s = &self.motion.tree.states[i + 1]
            link = &self.motion.tree.links[i]
            w = s.velocity.w
            v = w_sub(w_add(s.velocity.v, w_cross(w, s.com)), shared)
            found += 0.5 * (link.mass * w_dot(v, v) + w_dot(w, w_times(&s.about_com, w)))
            if self.motion.turns_rotors:
                found += rotor_energy(link, &self.motion.qd[link.v])
        return found

    cdef double tree_power(self, Py_ssize_t k, const double* forces, Wide3 shared, double* weight) noexcept nogil:
        """After look: of joint forces and `forces` on a tree at these velocities beyond `shared`, and of gravity [W]."""
        cdef const LinkState* s
        cdef const Link* link
        cdef const Block* block = &self.motion.trees[k]
        cdef const double* f
        cdef const double* turn
        cdef Wide3 v
        cdef double found = 0.0
        cdef Py_ssize_t i
        weight[0] = 0.0
        for i in range(block.first, block.first + block.count):
            found += self.motion.tau[i] * self.motion.qd[i]
        for i in range(3 if self.motion.is_loose(k) else 0):
            turn = &self.motion.tree.links[block.first_link].turn[3 * i]
            found -= self.motion.tau[block.first + i] * w_dot(shared, splat3(turn))
        for i in range(block.first_link, block.end_link):
            s = &self.motion.tree.states[i + 1]
            link = &self.motion.tree.links[i]
            v = w_sub(w_add(s.velocity.v, w_cross(s.velocity.w, s.com)), shared)
            weight[0] += link.mass * w_dot(v, wide3(link.weight.x, link.weight.y, link.weight.z))
            if forces != NULL:
                f = forces + 6 * link.body
                found += w_dot(v, wide3(f[0], f[1], f[2])) + w_dot(s.velocity.w, wide3(f[3], f[4], f[5]))
        return found

    cdef void credit(self, double h, const double* forces) noexcept nogil:
        """After look: less what gravity, joint forces, `forces` and prescribed bodies, as in the last kick, do in h at
        these velocities, apart from the shared ones."""
        cdef double found, weight
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            found = self.tree_power(k, forces, self.motion.find_shared(k), &weight)
            self.gained[k] -= h * (found + weight + self.lead[k])
            self.handled[k] += h * (fabs(found) + fabs(weight) + fabs(self.lead[k]))

    cdef double height_energy(self, Py_ssize_t i, Vec3 gravity) noexcept nogil:
        """After look: of a link under this gravity [J]."""
        cdef const LinkState* s = &self.motion.tree.states[i + 1]
        return -self.motion.tree.links[i].mass * w_dot(w_add(s.position, s.com), wide3(gravity.x, gravity.y, gravity.z))

    cdef void sum_total(self, double part) noexcept nogil:
        """After look: `total` of every tree by this part of its kinetic energy and that of gravity, which are exact."""
        cdef Py_ssize_t i, k
        self.account(0.0, False)
        for k in range(self.motion.tree_count):
            self.total[k] = (self.total[k] if part > 0.0 else 0.0) + part * self.kinetic[k]
            for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
                self.total[k] += part * self.height_energy(i, self.motion.tree.links[i].weight)

    cdef void spend(self, double h, const double* forces) noexcept nogil:
        """After look: `total` less what joint forces and `forces` do in h at these velocities."""
        cdef Wide zero = 0.0
        cdef double weight
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            self.total[k] -= h * self.tree_power(k, forces, wide3(zero, zero, zero), &weight)

    cdef void see_leads(self) noexcept nogil:
        """After accelerate: the power of prescribed bodies, which are roots, on their trees, as seen from where they
        are."""
        cdef const LinkState* s
        cdef Force f
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            if self.motion.trees[k].led:
                s = &self.motion.tree.states[self.motion.trees[k].first_link + 1]
                f = articulated_force(&s.inertia, &s.acceleration)
                self.lead[k] = w_dot(s.velocity.w, w_add(f.n, s.force.n))

    cdef void tame(self, double part, const int32_t* told, bint others) noexcept nogil:
        """Velocities of trees that have gained more than this part of their kinetic energy lose what they gained, but
        for what rounding leaves of the sums. told: (trees,) of which that is noted, or NULL; others: whether it is done
        to the others too, and all stay on their course."""
        cdef bint noting
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            noting = told != NULL and told[k]
            if not (noting or others) or not self.gained[k] > part * self.kinetic[k] + ROUNDED * self.handled[k]:
                continue
            self.take_energy(k, self.gained[k], min(self.gained[k], self.kinetic[k]) if noting else 0.0,
                             self.course if others else self.shared)
            self.gained[k] = 0.0

    cdef void take_energy(self, Py_ssize_t k, double gained, double off, const Wide3* course) noexcept nogil:
        """Out of its motion, by slow_tree: what it has more [J], > 0, as far as it has that much."""
        self.slow_tree(k, sqrt(max(1.0 - gained / self.kinetic[k], 0.0)), off, course)

    cdef void slow_tree(self, Py_ssize_t k, double factor, double off, const Wide3* course) noexcept nogil:
        """Its velocities times a factor, not what is given of them, nor what it shares in the last account, which becomes
        that of its `course`. off: the energy that was wrong [J], for the notes."""
        cdef const Block* block = &self.motion.trees[k]
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i
        if off > 0.0:
            i = min(block.first_link + block.led, block.end_link - 1)
            self.motion.noted.add(NOTE_ENERGY, self.motion.tree.links[i].body, off)
        if self.motion.is_loose(k):
            self.motion.push(k, qd, w_scale(-1.0, self.shared[k]))
        for i in range(block.first + 6 * block.led, block.first + block.count):
            qd[i] *= factor
        if self.motion.is_loose(k):
            self.motion.push(k, qd, course[k])
