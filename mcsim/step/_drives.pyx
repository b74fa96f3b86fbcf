"""Where drives may contradict each other (docs/theory/si.md, what drives contradict).

Rows between what moves freely, and what one moving body carries, always have a solution: all moves with that body. So only
what two of them hold that do not move as one, or a joint with a prescribed motion, may be asked for what cannot be.
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport dot, is_zero, mat_vec, rotate_back, sub
from mcsim.core._types cimport Vec3
from mcsim.solve._drivers cimport MANY_DRIVERS, UNDRIVEN, meet_driver, tie_moving
from mcsim.state._joint cimport MOTION_NONE

# What is left out of the impulses may change velocities by this part, squared, of what a sweep's changes of them would do
# if each acted alone.
cdef double VAIN = 1.0 / (1 << 16)


cdef inline bint is_driven(const Joint* joint) noexcept nogil:
    """Whether some of its coordinates are prescribed."""
    cdef int i
    for i in range(joint.axis_count):
        if joint.axes[i].motion_mode != MOTION_NONE:
            return True
    return False


cdef class Drives:
    """count: how many bodies there are."""

    def __init__(self, Py_ssize_t count):
        drivers, numbers, before = np.zeros(max(count, 1), np.int32), np.zeros((2, count + 1)), np.zeros((count + 1, 6))
        self.kept = drivers, numbers, before
        self.groups = WarmStarts(count)
        self.driver, self.effect, self.times = integers(drivers), doubles(numbers[0]), doubles(numbers[1]) + 1
        self.before = <Twist*>doubles(before)
        self.any = False

    cdef bint find(self, const Bodies* bodies, const Manifold* manifolds, Py_ssize_t count, const Joint* joints,
                   const int32_t* awake, Py_ssize_t awake_count) noexcept nogil:
        """At the begin of a step. -> `any`"""
        cdef Py_ssize_t i
        self.any = False
        if not self.drives_any(bodies, joints, awake, awake_count):
            return False
        self.groups.begin()
        for i in range(bodies.count):
            self.driver[i] = UNDRIVEN
        for i in range(count):
            if manifolds[i].point_count > 0:
                tie_moving(self.groups, bodies, manifolds[i].body_a, manifolds[i].body_b)
        for i in range(awake_count):
            tie_moving(self.groups, bodies, joints[awake[i]].body_a, joints[awake[i]].body_b)
        for i in range(count):
            if manifolds[i].point_count > 0:
                meet_driver(self.driver, self.groups, bodies, manifolds[i].body_a, manifolds[i].body_b)
        for i in range(awake_count):
            meet_driver(self.driver, self.groups, bodies, joints[awake[i]].body_a, joints[awake[i]].body_b)
            if is_driven(&joints[awake[i]]):
                self.contest(bodies, joints[awake[i]].body_a, joints[awake[i]].body_b)
        for i in range(bodies.count):
            if bodies.inv_mass[i] > 0.0 and self.driver[self.groups.root(<int32_t>i)] == MANY_DRIVERS:
                self.any = True
        return self.any

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        """Before a sweep: sums are 0."""
        cdef Py_ssize_t i
        memcpy(self.before, bodies.twist, bodies.count * sizeof(Twist))
        for i in range(bodies.count):
            self.groups.clear(<int32_t>i)
            self.effect[i] = 0.0

    cdef void judge(self, const Bodies* bodies) noexcept nogil:
        """After it, `groups` having the sums of l D d and d D d over a body's rows: `times`."""
        cdef Py_ssize_t i
        cdef int32_t r
        cdef Vec3 dv, dw
        cdef double along, alone
        for i in range(bodies.count):
            self.groups.gather(<int32_t>i)
            if bodies.inv_mass[i] > 0.0:
                dv = sub(bodies.twist[i].v, self.before[i].v)
                dw = rotate_back(bodies.orientation[i], sub(bodies.twist[i].w, self.before[i].w))
                self.effect[self.groups.root(<int32_t>i)] += dot(dv, dv) / bodies.inv_mass[i] + dot(
                    dw, mat_vec(bodies.inertia[i], dw))
        for i in range(bodies.count):
            self.times[i] = 0.0
            r = self.groups.root(<int32_t>i)
            along, alone = self.groups.slope[r], self.groups.bend[r]
            if bodies.inv_mass[i] > 0.0 and self.driver[r] == MANY_DRIVERS and along > 0.0 and (
                    (along / alone) * (along / alone) * self.effect[r] < VAIN * alone):
                self.times[i] = along / alone

    cdef bint drives_any(self, const Bodies* bodies, const Joint* joints, const int32_t* awake,
                         Py_ssize_t awake_count) noexcept nogil:
        """Whether anything moves by itself."""
        cdef Py_ssize_t i, k
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if not bodies.inv_mass[i] > 0.0 and not (is_zero(bodies.twist[i].v) and is_zero(bodies.twist[i].w)):
                return True
        for k in range(awake_count):
            if is_driven(&joints[awake[k]]):
                return True
        return False

    cdef void contest(self, const Bodies* bodies, int a, int b) noexcept nogil:
        """The groups of both."""
        if bodies.inv_mass[a] > 0.0:
            self.driver[self.groups.root(a)] = MANY_DRIVERS
        if bodies.inv_mass[b] > 0.0:
            self.driver[self.groups.root(b)] = MANY_DRIVERS
