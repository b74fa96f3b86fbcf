"""The energy of groups of trees on which nothing acts but weights, contacts, limits and friction: these only take of it."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._forest cimport root_of, unite_groups
from mcsim.core._types cimport Twist, Vec3
from mcsim.core._math cimport add_scaled, scale, sub, vec3
from mcsim.reduced._links cimport Link
from mcsim.reduced._motion cimport Block
from mcsim.state._row cimport RELAXED, ROW_JOINT_FRICTION, ROW_LIMIT, ROW_NORMAL
from mcsim.wide._lane_types cimport Wide3
from mcsim.wide._lanes cimport w_add_scaled, w_scale, wide3

# What rounding leaves of an energy.
cdef double BLUR = 1e-13
# What a group with contacts may gain in a substep, in parts of its kinetic energy: little more than discs that wobble do.
cdef double MOST_GAIN = 0.3


cdef class BoundedEnergy:
    """Of one world's groups of trees that rows join, substep by substep."""

    def __init__(self, StepContext context not None, PlainRows plain not None, TreeEnergy energies not None):
        cdef TreeMotion motion = energies.motion
        self.context, self.plain, self.motion, self.energies = context, plain, motion, energies
        self.kept = np.zeros((12, motion.tree_count + 1))
        self.kept_numbers = np.zeros((4, motion.tree_count + 1), np.int32)
        self.before, self.height, self.mass = doubles(self.kept[0]), doubles(self.kept[1]), doubles(self.kept[2])
        self.kinetic, self.gained, self.may = doubles(self.kept[3]), doubles(self.kept[4]), doubles(self.kept[5])
        self.shared, self.mean = <Wide3*>doubles(self.kept[6:9]), <Vec3*>doubles(self.kept[9:12])
        self.group, self.bounded = integers(self.kept_numbers[0]), integers(self.kept_numbers[1])
        self.held, self.touching = integers(self.kept_numbers[2]), integers(self.kept_numbers[3])

    cdef bint find(self, const double* forces, const int32_t* tied) noexcept nogil:
        """Groups on which nothing else acts. -> whether there are any"""
        cdef const Block* block
        cdef const Row* row
        cdef int32_t a, b, first
        cdef Py_ssize_t i, k
        cdef bint some = False
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            self.group[k], self.touching[k] = -1, False
            self.held[k] = block.count == 0 or not self.motion.is_loose(k)
            self.bounded[k] = not tied[k] and not block.led
            for i in range(block.first, block.first + block.count):
                self.bounded[k] = self.bounded[k] and self.motion.tau[i] == 0.0
            some = some or self.bounded[k]
        if not some:                                         # as of a robot that is driven
            return False
        some = False
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            a, b = self.join(row, row.body_a, row.body_b), self.join(row, row.body_b, row.body_a)
            if a >= 0 and b >= 0:
                unite_groups(self.group, a, b)
        for i in range(6 * self.context.bodies.count if forces != NULL else 0):
            if forces[i] != 0.0 and self.motion.blocks[i // 6].count > 0:
                self.bounded[self.motion.blocks[i // 6].tree] = False
        for k in range(self.motion.tree_count):
            if self.group[k] >= 0:
                first = self.group[k] = root_of(self.group, <int32_t>k)
                self.bounded[first] = self.bounded[first] and self.bounded[k]
                self.held[first] = self.held[first] or self.held[k]
                self.touching[first] = self.touching[first] or self.touching[k]
        for k in range(self.motion.tree_count):
            self.bounded[k] = self.group[k] >= 0 and self.bounded[self.group[k]]
            some = some or self.bounded[k]
        return some

    cdef void keep(self) noexcept nogil:
        """As the substep begins, after look."""
        cdef Py_ssize_t k
        self.find_shared()
        for k in range(self.motion.tree_count):
            if self.bounded[k]:
                self.before[k], self.height[k] = self.kinetic_of(k), self.height_of(k)

    cdef bint settle(self) noexcept nogil:
        """As it ends, after look: a group that has gained too much loses that out of its motion, but for that of the centre
        of mass of one that nothing holds. -> whether any has

        Rows see the mean velocity of the drift to come, but act at its begin, so that what a limit bears, it gives first
        and takes in the end. A tree that turns by a radian meanwhile is not where it would be taken: where limits and
        friction of joints alone act, the energy, kinetic and of gravity, is what it was, or less. Points of a contact are
        also others at the end, so that discs that wobble give and take up to a quarter of their kinetic energy a substep,
        and what overlaps is lifted out: with contacts kinetic energy grows by no more than MOST_GAIN of it and by what
        weights have done on trees that have sunk."""
        cdef double energy, lift, factor
        cdef int32_t g
        cdef Py_ssize_t k
        cdef bint some = False
        self.find_shared()
        memset(self.kinetic, 0, self.motion.tree_count * sizeof(double))
        memset(self.gained, 0, self.motion.tree_count * sizeof(double))
        memset(self.may, 0, self.motion.tree_count * sizeof(double))
        for k in range(self.motion.tree_count):
            if self.bounded[k]:
                g = self.group[k]
                energy = self.kinetic_of(k)
                lift = self.height_of(k) - self.height[k]
                self.kinetic[g] += energy
                self.gained[g] += energy - self.before[k] + (min(lift, 0.0) if self.touching[g] else lift)
                self.may[g] += (MOST_GAIN * self.before[k] if self.touching[g] else 0.0) + BLUR * (
                    fabs(self.height[k]) + energy)
        for k in range(self.motion.tree_count):
            g = self.group[k]
            if not self.bounded[k] or self.gained[g] <= self.may[g]:
                continue
            factor = sqrt(max(1.0 - self.gained[g] / self.kinetic[g], 0.0))
            self.energies.shared[k] = self.shared[g]
            self.energies.slow_tree(k, factor, 0.0, self.energies.shared)
            some = True
        return some

    cdef void find_shared(self) noexcept nogil:
        """After look: of every group that nothing holds the velocity of its centre of mass, and the acceleration: it falls
        as a whole, and its energy is as it is seen from there."""
        cdef const Link* link
        cdef const Block* block
        cdef double mass
        cdef int32_t g
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            self.mass[k] = 0.0
            self.shared[k] = wide3(0.0, 0.0, 0.0)
            self.mean[k] = vec3(0.0, 0.0, 0.0)
        for k in range(self.motion.tree_count):
            g = self.group[k]
            if not self.bounded[k] or self.held[g]:
                continue
            block = &self.motion.trees[k]
            mass = 0.0
            for i in range(block.first_link, block.end_link):
                link = &self.motion.tree.links[i]
                mass += link.mass
                self.mean[g] = add_scaled(self.mean[g], link.mass, link.weight)
            self.mass[g] += mass
            self.shared[g] = w_add_scaled(self.shared[g], mass, self.motion.find_shared(k))
        for k in range(self.motion.tree_count):
            if self.mass[k] > 0.0:
                self.shared[k] = w_scale(1.0 / self.mass[k], self.shared[k])
                self.mean[k] = scale(1.0 / self.mass[k], self.mean[k])

    cdef double kinetic_of(self, Py_ssize_t k) noexcept nogil:
        """After look: a tree's part of its group's kinetic energy [J]."""
        return self.energies.kinetic_energy(k, self.shared[self.group[k]])

    cdef double height_of(self, Py_ssize_t k) noexcept nogil:
        """After look: of a tree's links under the gravity that their group sees [J]."""
        cdef double found = 0.0
        cdef Py_ssize_t i
        for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
            found += self.energies.height_energy(i, sub(self.motion.tree.links[i].weight, self.mean[self.group[k]]))
        return found

    cdef int32_t join(self, const Row* row, int32_t body, int32_t other) noexcept nogil:
        """A row acts on a body, and on the other one. -> its tree; -1: it has none"""
        cdef int32_t k
        cdef const Twist* twist
        if body < 0 or self.motion.blocks[body].count == 0:
            return -1
        k = self.motion.blocks[body].tree
        if self.group[k] < 0:
            self.group[k] = k
        self.bounded[k] = self.bounded[k] and self.only_takes(row)
        self.touching[k] = self.touching[k] or row.kind >= ROW_NORMAL
        if other < 0 or self.motion.blocks[other].count == 0:
            self.held[k] = True
            if other >= 0:
                twist = &self.context.bodies.twist[other]
                self.bounded[k] = self.bounded[k] and (twist.v.x == 0.0 and twist.v.y == 0.0 and twist.v.z == 0.0 and
                                                       twist.w.x == 0.0 and twist.w.y == 0.0 and twist.w.z == 0.0)
        return k

    cdef bint only_takes(self, const Row* row) noexcept nogil:
        """Whether a row does no work but against motion."""
        if row.kind >= ROW_NORMAL:
            return not self.context.settings.compliant and (row.kind == ROW_NORMAL or row.bias[RELAXED] == 0.0)
        return row.kind == ROW_LIMIT or row.kind == ROW_JOINT_FRICTION
