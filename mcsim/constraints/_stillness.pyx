"""How still bodies are: their speeds against what carries them, and how long they have been slow
(docs/theory/sleeping.md)."""

from libc.math cimport sqrt

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport add, cross, dot, is_zero, norm, scale, sub
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._closing_up cimport Rows

# Speeds, and what carriers differ by, of this part of those at which bodies are still are rounding.
cdef double NOTHING = 1e-7


cdef class Stillness:
    """bodies: state.arrays.BodyArrays. speeds (n,), or one [m/s]: slower than that a body is still (0: it never is);
    patience [s]."""

    def __init__(self, bodies, speeds, double patience):
        values = self.kept = np.zeros((3, bodies.room + 1))
        values[0, :bodies.count], values[1, :bodies.count] = bodies.reach, speeds
        self.size, self.slow, self.speeds = doubles(values[0]), doubles(values[1]), doubles(values[2])
        self.patience, self.watching = patience, np.any(values[1] > 0.0)

    cdef edit(self, Rows rows, fresh, speeds):
        """Follow bodies that went and came; fresh: BodyArrays of those that came, speeds: theirs."""
        cdef Py_ssize_t i
        rows.edit(self.kept[0], fresh.reach)
        rows.edit(self.kept[1], speeds)
        rows.edit(self.kept[2], 0.0)
        self.watching = False
        for i in range(rows.count):
            self.watching |= self.slow[i] > 0.0

    cdef bint alike(self, Vec3 u, Vec3 v, int32_t i) noexcept nogil:
        """Whether two carriers of body i are one, to rounding."""
        cdef Vec3 d = sub(u, v)
        cdef double most = NOTHING * self.slow[i]
        return dot(d, d) <= most * most

    cdef bint active(self, const Bodies* bodies, int32_t other, int32_t i) noexcept nogil:
        """Whether the other one, or the world, may move body i against its carrier: it is awake, or carried otherwise, or
        on its way past it."""
        cdef const Twist* t = &bodies.twist[other]
        cdef Vec3 r
        if bodies.kind[other] == DYNAMIC:
            return bodies.island[other] < 0 or not self.alike(bodies.carrier[other], bodies.carrier[i], i)
        r = sub(bodies.position[i], bodies.position[other])
        return not self.alike(add(t.v, cross(t.w, r)), bodies.carrier[i], i) or (
            not is_zero(t.w) and norm(t.w) * self.size[i] > NOTHING * self.slow[i])

    cdef double pace(self, const Bodies* bodies, int32_t i, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil:
        """The speed of a body's fastest point against its carrier, by its twist or by its way in the last step: some
        stabilizations move bodies beside their velocities."""
        cdef Vec3 u = bodies.carrier[i]
        cdef Quat q = bodies.orientation[i]
        cdef Quat p = orientation[i]
        cdef double turn = 2.0 * sqrt((q.w - p.w) * (q.w - p.w) + (q.x - p.x) * (q.x - p.x)
                                      + (q.y - p.y) * (q.y - p.y) + (q.z - p.z) * (q.z - p.z))
        return max(norm(sub(bodies.twist[i].v, u)) + norm(bodies.twist[i].w) * self.size[i],
                   (norm(sub(sub(bodies.position[i], position[i]), scale(dt, u))) + turn * self.size[i]) / dt)

    cdef bint measure(self, const Bodies* bodies, const Vec3* position, const Quat* orientation,
                      double dt) noexcept nogil:
        """How long each body has been still. -> whether one of them has been for long enough"""
        cdef double s
        cdef double part = dt / (dt + self.patience)
        cdef Py_ssize_t k
        cdef int32_t i
        cdef bint ready = False
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            s = self.pace(bodies, i, position, orientation, dt)
            self.speeds[i] = s
            bodies.still_speed[i] += part * (s - bodies.still_speed[i])
            bodies.still_time[i] = bodies.still_time[i] + dt if s < self.slow[i] else 0.0
            ready |= bodies.still_time[i] >= self.patience
        return ready
