"""Articulations keep their energy: an account over each step (docs/theory/tree.md, energy).

Joints that nothing moves from outside do no work. So of a tree of joints that nothing touches, damps or drives

    T1 - f . x1 = T0 - f . x0           f: weights and the user's forces

from a step's begin to its end, at any step and however strained it is. What closing the joints has given or taken
meanwhile goes out of the motion as it is, or back into it. No measure of strain or of a step's error says where that may be
left out: closings in series that each take 1e-6 of the energy have taken it all after a million of them, and finer
substeps make more of them.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t

from mcsim.core._math cimport add_scaled, dot, is_zero, norm, sub
from mcsim.core._noted cimport NOTE_ENERGY
from mcsim.core._types cimport Twist, Vec3
from mcsim.direct._state cimport STRAIN, ArticulationPart, ArticulationState
from mcsim.solve._tree cimport Articulation
from mcsim.state._inertia cimport kinetic_energy
from mcsim.wide._batches cimport Batch

# [1/s] The part of the kinetic energy that articulations may lose or gain unsaid.
cdef double LEAK = 0.1

# The part of the whole energy that rounding may change.
cdef double ROUNDING = 1e-12
# What has loops is left to RATTLE, whose energy swings about the true one, below this part of the strain where
# articulations fly: of nets, where loops meet, gains alone can be told from what joints that come taut take.
cdef double WATCHED = 0.0625
# Velocities go along with the joints if they open them by less than this part of the fastest.
cdef double JOINED = 1e-6


cdef class EnergyAccount(ArticulationPart):
    """The energy of the articulations on which nothing but gravity and the user's forces does work."""

    def __init__(self, ArticulationState state):
        self.state = state

    cdef void begin_account(self) noexcept nogil:
        """The energy, at a step's begin, of what nothing touches, drives or damps. Where velocities tear joints, since a
        hand has struck it, these answer as plastic impacts do; and to close what is open takes work: both are left out.
        Rows are written."""
        cdef Py_ssize_t c, g
        cdef bint standing = False
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.state.accounted[g] = self.may_account(g)
            self.state.highest[g] = self.state.falls[g] = 0
            if self.state.here[g]:
                standing = standing or self.state.accounted[g]
            elif self.state.accounted[g]:
                self.state.accounted[g] = self.state.open[g] <= self.state.most_open(g) and self.is_joined(g)
                if self.state.accounted[g]:
                    self.sum_energy(g, &self.state.kinetic[g], &self.state.energy[g])
        if standing:
            self.leave_out_open_batches()
            self.batches.energy(self.bodies, self.settings.gravity, self.state.kinetic, self.state.energy)

    cdef bint may_account(self, Py_ssize_t g) noexcept nogil:
        """Whether weights and the user's forces alone do work on it."""
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        cdef int32_t i
        if self.state.swept[g] or self.state.given[g] or self.state.flights.motion.is_driven(a):
            return False
        if a.loops > 0 and self.state.strain[g] * self.settings.h * self.settings.h < WATCHED * STRAIN:
            return False
        for k in range(a.member, a.member_end):
            i = self.member[k]
            if (self.bodies.linear_damping[i] != 0.0 or self.bodies.angular_damping[i] != 0.0
                    or not is_zero(self.bodies.force[i].w)):
                return False
        return True

    cdef bint is_joined(self, Py_ssize_t g) noexcept nogil:
        """Whether its velocities go along with its joints."""
        cdef const Articulation* a = &self.articulation[g]
        cdef Vec3 v = self.state.flights.motion.velocity_of(a)
        cdef const Twist* t
        cdef double fastest = 0.0
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            t = &self.bodies.twist[self.member[k]]
            fastest = max(fastest, norm(sub(t.v, v)) + a.size * norm(t.w))
        return max(self.tree.find_rates(a, self.bodies.twist, self.tree.rows.rate, self.joints),
                   self.border.opening(self.bodies.twist, a.border, a.border_end, self.joints)) <= JOINED * fastest

    cdef void leave_out_open_batches(self) noexcept nogil:
        """The same of what stands side by side, and whether it is closed."""
        cdef const Batch* batch
        cdef Py_ssize_t g, n
        cdef int lane, k
        self.batches.find_joined(self.bodies, self.state.sizes, JOINED, self.state.left)
        for n in range(self.batches.count):
            batch = &self.batches.batches[n]
            for lane in range(batch.lanes):
                g = batch.articulation[lane]
                self.state.accounted[g] = self.state.accounted[g] and self.state.left[g]
                for k in range(batch.shape.node_count if self.state.accounted[g] else 0):
                    if self.state.batch_way(batch, k, lane) > self.state.most_open(g):
                        self.state.accounted[g] = 0

    cdef void sum_energy(self, Py_ssize_t g, double* kinetic, double* energy) noexcept nogil:
        """Of the bodies of an articulation: T, and T less the work of gravity and the user's forces on the way from the
        origin [J]."""
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        cdef int32_t i
        kinetic[0] = energy[0] = 0.0
        for k in range(a.member, a.member_end):
            i = self.member[k]
            kinetic[0] += kinetic_energy(self.bodies, i)
            energy[0] -= dot(self.bodies.position[i], add_scaled(
                self.bodies.force[i].v, self.bodies.gravity_scale[i] / self.bodies.inv_mass[i], self.settings.gravity))
        energy[0] += kinetic[0]

    cdef void settle_falling(self) noexcept nogil:
        """At a substep's end, of what is about to turn back: at the end of the step the motion could not pay any more for
        what it has gained on the way up."""
        cdef Py_ssize_t c, g
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.state.falls[g] and self.state.accounted[g]:
                self.sum_energy(g, &self.state.last_kinetic[g], &self.state.last_energy[g])
                self.settle_one(g)
            self.state.falls[g] = 0

    cdef void settle_energy(self) noexcept nogil:
        """At a step's end: joints do no work. What the energy has become more or less goes into the motion as it is, but
        for what a net loses, where loops meet: its joints come taut as in plastic impacts. Much of it is noted; at rest the
        measure is what a step's forces would give without joints."""
        cdef Py_ssize_t c, g
        cdef bint standing = False
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            standing = standing or (self.state.here[g] and self.state.accounted[g])
        if standing:
            self.batches.energy(self.bodies, self.settings.gravity, self.state.last_kinetic, self.state.last_energy)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.state.accounted[g]:
                if not self.state.here[g]:
                    self.sum_energy(g, &self.state.last_kinetic[g], &self.state.last_energy[g])
                self.settle_one(g)

    cdef void settle_one(self, Py_ssize_t g) noexcept nogil:
        """By `last_kinetic` and `last_energy`."""
        cdef const Articulation* a = &self.articulation[g]
        cdef double kinetic = self.state.last_kinetic[g]
        cdef double energy = self.state.last_energy[g]
        cdef double off = energy - self.state.energy[g]
        cdef double most
        if off < 0.0 and a.loops > 1:
            return
        most = LEAK * self.settings.dt * (kinetic + self.state.kinetic[g]) + ROUNDING * fabs(energy)
        if (fabs(off) > most
                and fabs(off) > most + LEAK * self.settings.dt * self.state.flights.motion.kicked(a, self.settings.dt)):
            self.noted.add(NOTE_ENERGY, self.member[a.member], fabs(off))
        if fabs(off) > ROUNDING * fabs(energy):
            self.state.flights.motion.give_back(a, -off, kinetic, self.settings.h)
