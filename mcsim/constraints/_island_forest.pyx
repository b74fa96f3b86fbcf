"""Which bodies touch or are joined, as a forest of which each tree is an island, and what is known of each
(docs/theory/sleeping.md).
"""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._carriers cimport carries
from mcsim.constraints._stillness cimport NOTHING
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._forest cimport root_of, unite_groups
from mcsim.core._math cimport dot, is_zero
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._joint cimport MOTION_NONE, MOTOR_PD, MOTOR_VELOCITY
from mcsim.state._joint_types cimport GEAR, USER

# An island does not sleep while its kinetic energy is more than this times what it is at speeds at which its bodies are
# still.
cdef double GROWTH = 1.5

# Times `patience` that bodies rest before they sleep beside something restless: it may soon rest too, and all sleep then.
cdef double LONGER = 4.0

# What is known of an island, or of what joints tie together, at its root.
cdef enum:
    RESTS = 1                    # what its carrier's velocity is of, or what sleeps, touches it
    RESTLESS = 2                 # some body moves
    DRIVEN = 4                   # something drives it, however slowly
    BESIDE = 8                   # something restless touches it


cdef class IslandForest:
    """Of the bodies whose stillness that is."""

    def __init__(self, Stillness stillness not None, Py_ssize_t count):
        self.stillness, self.long_rest = stillness, LONGER * stillness.patience
        numbers, values = np.zeros((2, count + 1), np.int32), np.zeros((2, count + 1))
        flags = np.zeros((2, count + 1), np.int8)
        self.kept = numbers, values, flags
        self.parent, self.state = integers(numbers[0]), integers(numbers[1])
        self.lively, self.usual = doubles(values[0]), doubles(values[1])
        self.beside, self.tied = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])

    cdef int32_t root(self, int32_t i) noexcept nogil:
        return root_of(self.parent, i)

    cdef void unite(self, int32_t a, int32_t b) noexcept nogil:
        """Of two dynamic bodies one island."""
        cdef int32_t known = self.state[self.root(a)] | self.state[self.root(b)]
        unite_groups(self.parent, a, b)
        self.state[self.root(a)] = known

    cdef void rest_together(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil:
        """Two dynamic bodies are one island. Where their carriers differ, one is driven past the other."""
        self.unite(a, b)
        if not self.stillness.alike(bodies.carrier[a], bodies.carrier[b], a):
            self.state[self.root(a)] |= DRIVEN

    cdef void touch_each_other(self, const Bodies* bodies, int32_t a, int32_t b, bint conveying) noexcept nogil:
        """A contact: of two bodies that rest one island; carried by what goes with them, kept awake by what else moves or
        drives."""
        cdef int32_t swap
        if bodies.kind[a] != DYNAMIC:
            swap = a
            a = b
            b = swap
        if bodies.kind[a] != DYNAMIC:
            return
        if bodies.kind[b] != DYNAMIC:
            self.state[self.root(a)] |= DRIVEN if conveying or self.stillness.active(bodies, b, a) else RESTS
            return
        if conveying:
            self.state[self.root(a)] |= DRIVEN
            self.state[self.root(b)] |= DRIVEN
        if self.state[self.root(a)] & RESTLESS or self.state[self.root(b)] & RESTLESS:
            self.neighbour(a, b)
            self.neighbour(b, a)
        else:
            self.rest_together(bodies, a, b)

    cdef void neighbour(self, int32_t i, int32_t other) noexcept nogil:
        """Of a body that may rest, and another."""
        if not self.state[self.root(i)] & RESTLESS and self.state[self.root(other)] & RESTLESS:
            self.beside[i] = True
            self.state[self.root(i)] |= BESIDE

    cdef void tie(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil:
        """What is joined rests together, or not."""
        cdef bint moves_a = a >= 0 and bodies.kind[a] == DYNAMIC
        cdef bint moves_b = b >= 0 and bodies.kind[b] == DYNAMIC
        if moves_a and moves_b:
            self.rest_together(bodies, a, b)
        elif (moves_a and self.stillness.active(bodies, b, a)) or (moves_b and self.stillness.active(bodies, a, b)):
            self.state[self.root(a if moves_a else b)] |= DRIVEN

    cdef void tie_joint(self, const Bodies* bodies, const Joint* joints, const Joint* joint) noexcept nogil:
        cdef int k
        cdef bint driven = joint.type == USER
        cdef int32_t body
        if joint.type == GEAR:
            for k in range(2):
                self.tie(bodies, joints[joint.geared[k]].body_a, joints[joint.geared[k]].body_b)
            self.tie(bodies, joints[joint.geared[0]].body_b, joints[joint.geared[1]].body_b)
            return
        self.tie(bodies, joint.body_a, joint.body_b)
        for k in range(joint.axis_count):
            driven |= joint.axes[k].motion_mode != MOTION_NONE
            driven |= joint.axes[k].motor_velocity != 0.0 and (
                joint.axes[k].motor_mode == MOTOR_VELOCITY or joint.axes[k].motor_mode == MOTOR_PD)
        if driven:
            body = joint.body_b if joint.body_b >= 0 and bodies.kind[joint.body_b] == DYNAMIC else joint.body_a
            if body >= 0 and bodies.kind[body] == DYNAMIC:
                self.state[self.root(body)] |= DRIVEN

    cdef void find_islands(self, const Bodies* bodies, const Joint* joints, Py_ssize_t joint_count,
                           const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count) noexcept nogil:
        """`parent`, `state`, `beside`: what sleeps already is an island, and stands. `lively`, `usual`: at the roots."""
        cdef Py_ssize_t k
        cdef int32_t i, r
        cdef double s, mass
        memset(self.state, 0, bodies.count * sizeof(int32_t))
        for k in range(bodies.count):
            self.parent[k] = <int32_t>k
            if bodies.island[k] >= 0:
                self.parent[k] = <int32_t>bodies.island[k]
                self.state[self.parent[k]] = RESTS
        for k in range(joint_count):
            if joints[k].broken == 0:
                self.tie_joint(bodies, joints, &joints[k])
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] == DYNAMIC and bodies.still_time[i] < self.stillness.patience:
                self.state[self.root(i)] |= RESTLESS
            if not is_zero(bodies.force[i].v) or not is_zero(bodies.force[i].w):
                self.state[self.root(i)] |= DRIVEN
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            self.beside[i] = self.tied[i]
        for k in range(count):
            if carries(&manifolds[k]):
                self.touch_each_other(bodies, manifolds[k].body_a, manifolds[k].body_b,
                                      resistances != NULL and conveys(&resistances[k]))
        memset(self.lively, 0, bodies.count * sizeof(double))
        memset(self.usual, 0, bodies.count * sizeof(double))
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            r = self.root(i)
            mass = 1.0 / bodies.inv_mass[i]
            self.lively[r] += mass * self.stillness.speeds[i] * self.stillness.speeds[i]
            s = bodies.still_speed[i] + NOTHING * self.stillness.slow[i]
            self.usual[r] += mass * s * s

    cdef bint may_sleep(self, const Bodies* bodies, int32_t i) noexcept nogil:
        cdef int32_t r = self.root(i)
        cdef int32_t state = self.state[r]
        if not state & RESTS or state & (RESTLESS | DRIVEN) or self.lively[r] > GROWTH * self.usual[r]:
            return False
        return not state & BESIDE or (not self.beside[i] and bodies.still_time[i] >= self.long_rest)
    cdef void list_tied(self, const Bodies* bodies, const Joint* joints, Py_ssize_t count) noexcept nogil:
        """The bodies that have joints."""
        cdef Py_ssize_t k
        memset(self.tied, 0, bodies.count)
        for k in range(count):
            if joints[k].broken == 0:
                if joints[k].body_a >= 0:
                    self.tied[joints[k].body_a] = True
                if joints[k].body_b >= 0:
                    self.tied[joints[k].body_b] = True


cdef inline bint conveys(const Resistance* r) noexcept nogil:
    """Whether a surface moves over its body."""
    return dot(r.surface_velocity, r.surface_velocity) > 0.0
