"""A watch on the energy of articulations under the direct joint solver.

Joints do no work and limits take it, but their impulses over a finite step may give some: a limit whose sweeps have not
converged (a light body at the end of heavy ones) gives way as a spring does, and throws back what it took; a whip turns
too fast for the step that is to close its joints. The step keeps account of it where that may be: where there are
limits or contacts, and where joints are hard to close. The impulses L of a pass, of all rows and forces, take v to v';
the part of row i in the change of the kinetic energy is

    W_i = L_i (J_i v + J_i v') / 2

summed over the rows of an articulation's joints, limits and joint friction, and over both passes. In a motion that the
step resolves the joints' W swings about 0. What W grows beyond a small part of the articulation's kinetic energy is not
physics, and is taken out of the velocities at the substep's end:

    v <- u + s (v - u),   u the motion as one rigid body with the same momenta (0 where a joint holds the articulation)

u is a motion that the joints allow, so they stay closed, and both momenta are kept; of all changes that leave them so,
the energy of v - u is what there is to take.

Articulations with a prescribed motion or a kinematic body are let be: there joints do work. So are those with a joint
of the user's own, whose function may depend on more than poses. A gear makes one of what it ties together.
"""

from libc.math cimport sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, dot, mat_add, mat_vec, scale, sub, vec3
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.solve._blocks cimport larger, row_velocity
from mcsim.state._inertia cimport about_point, inertia_world, kinetic_energy, turn_of
from mcsim.state._layout cimport GEAR, ROW_JOINT_FRICTION, ROW_LIMIT
from mcsim.state._rows cimport rate as whole_rate, row_rate

# Work that joints may have done, as a part of the articulation's largest kinetic energy in the last seconds; and in how
# many.
cdef double ALLOWED = 0.01
cdef double MEMORY = 1.0

cdef enum:
    LOOKS = 8                # an articulation's energy is looked at in every so many steps, and where work asks for it


cdef inline bint counts(const Row* row) noexcept nogil:
    """Springs and motors may do work."""
    return row.kind == ROW_LIMIT or row.kind == ROW_JOINT_FRICTION


cdef class EnergyGuard:
    """pairs: (joints, 2) int, -1 the world; sizes: (joints,) bilateral rows; group: (bodies + 1,) the articulation of
    each dynamic body, -1 of others and the world; driven: (bodies,) bool, which the user moves; works: (joints,) bool,
    which have a prescribed motion; border: the gears' rows."""

    def __init__(self, pairs, sizes, group, driven, works, Border border not None):
        chosen = np.flatnonzero((sizes > 0) & (group[pairs] >= 0).any(axis=1))
        groups = group[pairs[chosen]]
        of_joint = groups.max(axis=1)
        held = of_joint[groups.min(axis=1) < 0]
        outside = of_joint[np.append(driven, False)[pairs[chosen]].any(axis=1) | works[chosen]]
        watched = np.setdiff1d(of_joint, outside)
        keep, inside = np.isin(of_joint, watched), np.flatnonzero(np.isin(group[:len(driven)], watched))
        numbers = [np.append(a, 0).astype(np.int32) for a in (
            *_grouped(chosen[keep], of_joint[keep], watched), *_grouped(inside, group[inside], watched),
            np.isin(watched, held), np.arange(len(watched)))]
        rates = np.zeros(int(np.sum(sizes)) + 1)
        self.count = len(watched)
        beside = np.zeros((2, border.count + 1))
        self.border, self.border_rate, self.border_impulse = border, doubles(beside[0]), doubles(beside[1])
        self.kept = [numbers, rates, None, beside]
        self.rate = doubles(rates)
        self.joints, self.joint_begin = integers(numbers[0]), integers(numbers[1])
        self.bodies, self.body_begin = integers(numbers[2]), integers(numbers[3])
        self.held, self.awake = integers(numbers[4]), integers(numbers[5])
        self.awake_count = self.count

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        """Watch those that do not sleep. asleep: of each body"""
        cdef Py_ssize_t k
        self.awake_count = 0
        for k in range(self.count):
            if not asleep[self.bodies[self.body_begin[k]]]:
                self.awake[self.awake_count] = <int32_t>k
                self.awake_count += 1

    cdef int reserve(self, Py_ssize_t rows) except -1:
        """Room for the bounded rows of all joints."""
        if rows > self.row_capacity:
            values = np.zeros((2, rows))
            self.bounded_rate, self.bounded_impulse = doubles(values[0]), doubles(values[1])
            self.kept[2] = values
            self.row_capacity = rows
        return 0

    cdef void begin(self, const Row* rows, Py_ssize_t count, const Twist* twist, bint fresh) noexcept nogil:
        """Before a pass over the first `count` rows, those of joints. fresh: impulses start from 0."""
        cdef Py_ssize_t i
        for i in range(count):
            if counts(&rows[i]):
                self.bounded_rate[i] = row_velocity(&rows[i], twist)
                self.bounded_impulse[i] = 0.0 if fresh else rows[i].impulse

    cdef void end(self, const Row* rows, Joint* joints, Py_ssize_t count, const Twist* twist) noexcept nogil:
        """After a pass: the work of limits and friction."""
        cdef Py_ssize_t i
        for i in range(count):
            if counts(&rows[i]):
                joints[rows[i].source].work += (0.5 * (rows[i].impulse - self.bounded_impulse[i])
                                                * (self.bounded_rate[i] + row_velocity(&rows[i], twist)))

    cdef void closed(self, const JointRows* rows, Joint* joints, const Twist* twist) noexcept nogil:
        """After the first pass, which began with J v = -rate: the work of the joints' own rows and of gears."""
        cdef Py_ssize_t c, j
        cdef int k
        cdef double rate
        cdef const Row* row
        for j in range(self.border.count):
            row = self.border.row(j)
            if row != NULL:
                joints[self.border_joint(joints, j)].work += 0.5 * row.impulse * whole_rate(row, twist)
        for c in range(rows.alone_count):
            j = rows.alone[c]
            for k in range(rows.begin[j], rows.begin[j + 1]):
                rate = row_rate(&rows.row[k], &twist[joints[j].body_a], &twist[joints[j].body_b])
                joints[j].work += 0.5 * rows.impulse[k] * (rate - rows.rate[k])

    cdef void begin_relax(self, const JointRows* rows, const Joint* joints, const Twist* twist) noexcept nogil:
        cdef Py_ssize_t c, j
        cdef int k
        cdef const Row* row
        for j in range(self.border.count):
            row = self.border.row(j)
            if row != NULL:
                self.border_rate[j] = whole_rate(row, twist)
                self.border_impulse[j] = row.impulse
        for c in range(rows.alone_count):
            j = rows.alone[c]
            for k in range(rows.begin[j], rows.begin[j + 1]):
                self.rate[k] = row_rate(&rows.row[k], &twist[joints[j].body_a], &twist[joints[j].body_b])

    cdef void relaxed(self, const JointRows* rows, Joint* joints) noexcept nogil:
        """After the second pass, which ends with J v = -rate."""
        cdef Py_ssize_t c, j
        cdef int k
        cdef const Row* row
        for j in range(self.border.count):
            row = self.border.row(j)
            if row != NULL:
                joints[self.border_joint(joints, j)].work += (
                    0.5 * (row.impulse - self.border_impulse[j]) * self.border_rate[j])
        for c in range(rows.alone_count):
            j = rows.alone[c]
            for k in range(rows.begin[j], rows.begin[j + 1]):
                joints[j].work += 0.5 * rows.second[k] * (self.rate[k] - rows.rate[k])

    cdef Py_ssize_t border_joint(self, const Joint* joints, Py_ssize_t k) noexcept nogil:
        """The joint whose articulation border row k belongs to."""
        cdef Py_ssize_t j = self.border.joint[k]
        return joints[j].geared[0] if joints[j].type == GEAR else j

    cdef void settle(self, Joint* joints, Bodies* bodies, double h, long long step) noexcept nogil:
        """At the end of a substep: take what the joints gave beyond what they may have given. The energy is looked at
        where the work asks for something, and now and then. step: its number in the last substep, else -1."""
        cdef Py_ssize_t c, i, k
        cdef double work, energy, allowed, taken
        cdef Joint* first
        cdef Twist whole
        cdef Vec3 center
        for c in range(self.awake_count):
            k = self.awake[c]
            work = 0.0
            for i in range(self.joint_begin[k], self.joint_begin[k + 1]):
                work += joints[self.joints[i]].work
            first = &joints[self.joints[self.joint_begin[k]]]
            first.lively *= 1.0 - h / MEMORY if h < MEMORY else 0.0
            allowed = ALLOWED * first.lively
            if work <= allowed and (step < 0 or (step + k) % LOOKS != 0):
                if work < -allowed:
                    first.work -= work + allowed
                continue
            energy = self.spare_energy(k, bodies, &whole, &center)
            first.lively = larger(energy - larger(work, 0.0), first.lively)
            allowed = ALLOWED * first.lively
            if work < -allowed:
                first.work -= work + allowed
            elif work > allowed and energy > 0.0:
                taken = work - allowed if work - allowed < energy else energy
                self.slow(k, bodies, &whole, center, sqrt(1.0 - taken / energy))
                first.work -= taken

    cdef void weigh(self, Joint* joints, const Bodies* bodies, double sign) noexcept nogil:
        """Count a change of the kinetic energy between two calls, the first with sign -1, as work."""
        cdef Py_ssize_t c, k, n
        cdef double energy
        for c in range(self.awake_count):
            k = self.awake[c]
            energy = 0.0
            for n in range(self.body_begin[k], self.body_begin[k + 1]):
                energy += kinetic_energy(bodies, self.bodies[n])
            joints[self.joints[self.joint_begin[k]]].work += sign * energy

    cdef double spare_energy(self, Py_ssize_t k, const Bodies* bodies, Twist* whole, Vec3* center) noexcept nogil:
        """The kinetic energy that articulation k has beside that of `whole`, its motion as one body about `center`."""
        cdef double mass = 0.0
        cdef double energy = 0.0
        cdef double m
        cdef Py_ssize_t n
        cdef int i
        cdef Mat3 inertia, total
        cdef Vec3 d, spin, momentum, turning
        cdef const Twist* t
        whole.v = whole.w = center[0] = momentum = turning = vec3(0.0, 0.0, 0.0)
        memset(&total, 0, sizeof(Mat3))
        for n in range(self.body_begin[k], self.body_begin[k + 1]):
            i = self.bodies[n]
            t = &bodies.twist[i]
            m = 1.0 / bodies.inv_mass[i]
            inertia = inertia_world(bodies, i)
            spin = mat_vec(inertia, t.w)
            energy += 0.5 * (m * dot(t.v, t.v) + dot(t.w, spin))
            if not self.held[k]:
                mass += m
                center[0] = add_scaled(center[0], m, bodies.position[i])
                momentum = add_scaled(momentum, m, t.v)
        if self.held[k]:
            return energy
        center[0] = scale(1.0 / mass, center[0])
        whole.v = scale(1.0 / mass, momentum)
        for n in range(self.body_begin[k], self.body_begin[k + 1]):
            i = self.bodies[n]
            t = &bodies.twist[i]
            m = 1.0 / bodies.inv_mass[i]
            inertia = inertia_world(bodies, i)
            d = sub(bodies.position[i], center[0])
            turning = add(turning, add_scaled(mat_vec(inertia, t.w), m, cross(d, sub(t.v, whole.v))))
            total = mat_add(total, about_point(inertia, m, d))
        whole.w = turn_of(total, turning)
        return energy - 0.5 * (mass * dot(whole.v, whole.v) + dot(whole.w, turning))

    cdef void slow(self, Py_ssize_t k, Bodies* bodies, const Twist* whole, Vec3 center, double part) noexcept nogil:
        """Keep `part` of the motion beside `whole`."""
        cdef Py_ssize_t n
        cdef int i
        cdef Vec3 v
        cdef Twist* t
        for n in range(self.body_begin[k], self.body_begin[k + 1]):
            i = self.bodies[n]
            t = &bodies.twist[i]
            v = add(whole.v, cross(whole.w, sub(bodies.position[i], center)))
            t.v = add_scaled(v, part, sub(t.v, v))
            t.w = add_scaled(whole.w, part, sub(t.w, whole.w))


def _grouped(members, groups, wanted):
    """members sorted by their group, and where each of the wanted groups begins, one more for the end."""
    order = np.argsort(groups, kind="stable")
    begin = np.searchsorted(groups[order], wanted)
    return members[order], np.append(begin, len(members))
