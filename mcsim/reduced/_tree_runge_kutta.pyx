"""The classical method of fourth order on the coordinates of trees.

    y' = f(y),  y = (q, qd):   k1 = f(y0),  k2 = f(y0 + h/2 k1),  k3 = f(y0 + h/2 k2),  k4 = f(y0 + h k3)
                               y1 = y0 + h/6 (k1 + 2 k2 + 2 k3 + k4)

The accelerations of each stage are found by others. Quaternions are turns from the step's start: integrate/_rk4.pyx, with
angular velocities in the turned axes.
"""

from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport turn_rate, vec3
from mcsim.core._types cimport Vec3
from mcsim.reduced._turn cimport turn_by

include "_kernels.pxi"


cdef class TreeRungeKutta:
    """Of the trees of a motion that do not rest."""

    def __init__(self, TreeMotion motion not None):
        self.motion = motion
        self.kept = np.zeros((4, motion.tree.nq + motion.tree.nv + 1))
        self.first, self.rate, self.sum = doubles(self.kept[0]), doubles(self.kept[1]), doubles(self.kept[2])
        self.turned = doubles(self.kept[3])

    cdef void begin(self) noexcept nogil:
        """A step begins at q and qd."""
        cdef Py_ssize_t nq = self.motion.tree.nq, nv = self.motion.tree.nv
        memcpy(self.first, self.motion.q, nq * sizeof(double))
        memcpy(self.first + nq, self.motion.qd, nv * sizeof(double))
        memset(self.sum, 0, (nq + nv) * sizeof(double))
        memset(self.turned, 0, nq * sizeof(double))

    cdef void stage(self, int k, double h) noexcept nogil:
        """qdd is that of stage k, from 0 on: q and qd become those of the next one, or of the step's end."""
        cdef double weight = h / 6.0 if k == 0 or k == 3 else h / 3.0
        cdef double part = h if k == 2 else 0.5 * h
        cdef Py_ssize_t r, end, nq = self.motion.tree.nq
        cdef const double* way = self.sum if k == 3 else self.rate
        cdef const Link* first
        cdef const Link* last
        if k == 3:
            part = 1.0
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            first = &self.motion.tree.links[self.motion.tree.first]
            last = &self.motion.tree.links[self.motion.tree.end - 1]
            self.find_rates()
            end = last.q + (last.freedoms if last.quaternion < 0 else last.quaternion + 4)
            self.advance(first.q, end, weight, way, part)
            self.advance(nq + first.v, nq + last.v + last.freedoms, weight, way, part)
            self.turn_from_first(way, part)
        self.motion.leave()

    cdef void find_rates(self) noexcept nogil:
        """dq/dt (nq,) and qdd (nv,); of a quaternion that of `turned`, and 0 for its fourth number."""
        cdef const Link* link
        cdef const double* q
        cdef const double* w
        cdef double* r
        cdef double s, c
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.motion.tree.first, self.motion.tree.end):
            link = &self.motion.tree.links[i]
            q, w, r = &self.motion.q[link.q], &self.motion.qd[link.v], &self.rate[link.q]
            if link.quaternion >= 0:
                for k in range(link.quaternion):
                    r[k] = w[k]
                write_turn_rate(&self.turned[link.q + link.quaternion], &w[link.quaternion], &r[link.quaternion])
            elif link.kind == PLANAR:
                sine_cosine(q[2], &s, &c)
                r[0] = c * w[0] - s * w[1]
                r[1] = s * w[0] + c * w[1]
                r[2] = w[2]
            else:
                for k in range(link.freedoms):
                    r[k] = w[k]
            memcpy(&self.rate[self.motion.tree.nq + link.v], &self.motion.qdd[link.v], link.freedoms * sizeof(double))

    cdef void advance(self, Py_ssize_t first, Py_ssize_t end, double weight, const double* way, double part) noexcept nogil:
        """Numbers [first, end) of (q, qd): the rates with their weight into the sum, and the way from the start."""
        cdef Py_ssize_t i, nq = self.motion.tree.nq
        cdef double* value
        for i in range(first, end):
            self.sum[i] += weight * self.rate[i]
            value = &self.motion.q[i] if i < nq else &self.motion.qd[i - nq]
            value[0] = self.first[i] + part * way[i]

    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil:
        """Quaternions at `part` of these turns (nq,) from where the step began, which `turned` keeps."""
        cdef Py_ssize_t i
        cdef int k, at
        for i in range(self.motion.tree.first, self.motion.tree.end):
            if self.motion.tree.links[i].quaternion >= 0:
                at = self.motion.tree.links[i].q + self.motion.tree.links[i].quaternion
                memcpy(&self.motion.q[at], &self.first[at], 4 * sizeof(double))
                for k in range(3):
                    self.turned[at + k] = part * turns[at + k]
                turn_by(&self.motion.q[at], 1.0, &self.turned[at])


cdef inline void write_turn_rate(const double* u, const double* w, double* out) noexcept nogil:
    """u' of q = q0 exp(u), and 0."""
    cdef Vec3 r = turn_rate(vec3(-u[0], -u[1], -u[2]), vec3(w[0], w[1], w[2]))
    out[0], out[1], out[2], out[3] = r.x, r.y, r.z, 0.0
