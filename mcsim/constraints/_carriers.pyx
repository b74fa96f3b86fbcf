"""What carries bodies: the velocity of what does not move by itself and is nearest over contacts and joints
(docs/theory/sleeping.md)."""

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add_scaled, is_zero
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._joint_types cimport GEAR

# Bodies whose surfaces are nearer than this part of the distance from which on they have contacts touch.
cdef double REACH = 0.25

# Over so many contacts and joints what carries a body is away: it has none.
cdef enum:
    FAR = 0x40000000


cdef class Carriers:
    """Of the bodies whose stillness that is."""

    def __init__(self, Stillness stillness not None, Py_ssize_t count):
        self.stillness = stillness
        self.kept = np.zeros((2, count + 1), np.int32), np.zeros((count + 1, 3))
        self.carried, self.hops = integers(self.kept[0][0]), integers(self.kept[0][1])
        self.offered = <Vec3*>doubles(self.kept[1])

    cdef void carry(self, Bodies* bodies, double h) noexcept nogil:
        """What sleeps goes on with what carries it, as that does."""
        cdef Py_ssize_t k
        cdef int32_t i
        for k in range(self.carried_count):
            i = self.carried[k]
            bodies.position[i] = add_scaled(bodies.position[i], h, bodies.carrier[i])

    cdef bint may_be_carried(self, const Bodies* bodies) noexcept nogil:
        """Whether a carrier may be another than 0: a kinematic body is on its way, or something was carried."""
        cdef Py_ssize_t k
        cdef int32_t i
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if not is_zero(bodies.carrier[i] if bodies.kind[i] == DYNAMIC else bodies.twist[i].v):
                return True
        return self.carried_count > 0

    cdef bint find_carriers(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                            Py_ssize_t count, int32_t* room) noexcept nogil:
        """Of each body that is awake, after a step with these contacts: over the fewest contacts and joints, where they are
        as many the one that it had. room: for two numbers a contact. -> whether there may be others than 0"""
        cdef Py_ssize_t k, n
        cdef Py_ssize_t pairs = 0
        cdef int32_t i
        cdef bint found = self.may_be_carried(bodies)
        cdef bint back = False
        if not found:
            return False
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            self.hops[i] = FAR
            self.offered[i] = bodies.carrier[i]
        for k in range(count):
            if carries(&manifolds[k]):
                room[2 * pairs], room[2 * pairs + 1] = manifolds[k].body_a, manifolds[k].body_b
                pairs += 1
        while found:
            found = False
            for n in range(pairs):
                k = pairs - 1 - n if back else n
                found |= self.hand_on(bodies, room[2 * k], room[2 * k + 1])
            for k in range(joint_count):
                if joints[k].broken == 0 and joints[k].type != GEAR:
                    found |= self.hand_on(bodies, joints[k].body_a, joints[k].body_b)
            back = not back
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] == DYNAMIC and not self.stillness.alike(self.offered[i], bodies.carrier[i], i):
                bodies.carrier[i] = self.offered[i]
                bodies.still_time[i] = 0.0
                bodies.still_speed[i] = 0.0
        return True

    cdef bint hand_on(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil:
        """-> whether one of two that touch, or are joined, has found another carrier by the other"""
        return self.offer(bodies, a, b) | self.offer(bodies, b, a)

    cdef bint offer(self, const Bodies* bodies, int32_t i, int32_t other) noexcept nogil:
        """To body i what carries the other, or the world."""
        cdef Vec3 u
        cdef int32_t hops = 1
        if i < 0 or bodies.kind[i] != DYNAMIC or bodies.island[i] >= 0:
            return False
        if bodies.kind[other] != DYNAMIC:
            u = bodies.twist[other].v
        elif bodies.island[other] >= 0:
            u = bodies.carrier[other]
        else:
            u = self.offered[other]
            hops = self.hops[other] + 1
        if hops > self.hops[i] or hops > FAR or (hops == self.hops[i] and (
                self.stillness.alike(self.offered[i], bodies.carrier[i], i)
                or not self.stillness.alike(u, bodies.carrier[i], i))):
            return False
        self.hops[i] = hops
        self.offered[i] = u
        return True


cdef bint carries(const Manifold* m) noexcept nogil:
    """Whether a contact of the last step holds its bodies together."""
    cdef int k
    for k in range(m.point_count):
        if m.points[k].separation <= REACH * m.near or m.points[k].total_normal_impulse > 0.0:
            return True
    return False
