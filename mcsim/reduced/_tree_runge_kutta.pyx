"""The classical method of fourth order on the coordinates of trees."""

from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport turn_rate, vec3
from mcsim.core._types cimport Vec3
from mcsim.reduced._turn cimport turn_by

include "_kernels.pxi"


cdef class TreeRungeKutta:
    """Of the trees of a motion."""

    def __init__(self, TreeMotion motion not None):
        self.motion = motion
        self.kept = np.zeros((4, motion.tree.nq + motion.tree.nv + 1))
        self.first, self.rate, self.sum = doubles(self.kept[0]), doubles(self.kept[1]), doubles(self.kept[2])
        self.turned = doubles(self.kept[3])

    cdef void rates(self, const double* forces, double* out) noexcept nogil:
        """dq/dt (nq,) and qdd (nv,) at q and qd; of a quaternion that of `turned`, and 0 for its fourth number."""
        cdef const Link* link
        cdef const double* q
        cdef const double* w
        cdef double* r
        cdef double s, c
        cdef Py_ssize_t i
        cdef int k
        self.motion.place()
        self.motion.factor()
        move(&self.motion.tree, <const Wide*>self.motion.q, <const Wide*>self.motion.qd)
        accelerate(&self.motion.tree, <const Wide*>self.motion.tau, <const Wide*>forces, <Wide*>self.motion.qdd)
        for i in range(self.motion.tree.count):
            link = &self.motion.tree.links[i]
            q, w, r = &self.motion.q[link.q], &self.motion.qd[link.v], &out[link.q]
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
        memcpy(out + self.motion.tree.nq, self.motion.qdd, self.motion.tree.nv * sizeof(double))

    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil:
        """Quaternions at `part` of these turns (nq,) from where the step began, which `turned` keeps."""
        cdef Py_ssize_t i
        cdef int k, at
        for i in range(self.motion.tree.count):
            if self.motion.tree.links[i].quaternion >= 0:
                at = self.motion.tree.links[i].q + self.motion.tree.links[i].quaternion
                memcpy(&self.motion.q[at], &self.first[at], 4 * sizeof(double))
                for k in range(3):
                    self.turned[at + k] = part * turns[at + k]
                turn_by(&self.motion.q[at], 1.0, &self.turned[at])

    cdef void advance(self, double h, const double* forces) noexcept nogil:
        """The classical method of fourth order on the coordinates themselves, quaternions as turns from the step's start:
        integrate/_rk4.pyx, with angular velocities in the turned axes."""
        cdef double at[4]
        cdef double weight[4]
        cdef Py_ssize_t i, nq = self.motion.tree.nq, size = nq + self.motion.tree.nv
        cdef double* value
        cdef int k
        at[0], at[1], at[2], at[3] = 0.0, 0.5 * h, 0.5 * h, h
        weight[0], weight[1], weight[2], weight[3] = h / 6.0, h / 3.0, h / 3.0, h / 6.0
        memcpy(self.first, self.motion.q, nq * sizeof(double))
        memcpy(self.first + nq, self.motion.qd, self.motion.tree.nv * sizeof(double))
        memset(self.sum, 0, size * sizeof(double))
        memset(self.turned, 0, nq * sizeof(double))
        for k in range(4):
            for i in range(size if k > 0 else 0):
                value = &self.motion.q[i] if i < nq else &self.motion.qd[i - nq]
                value[0] = self.first[i] + at[k] * self.rate[i]
            if k > 0:
                self.turn_from_first(self.rate, at[k])
            self.rates(forces, self.rate)
            for i in range(size):
                self.sum[i] += weight[k] * self.rate[i]
        for i in range(size):
            value = &self.motion.q[i] if i < nq else &self.motion.qd[i - nq]
            value[0] = self.first[i] + self.sum[i]
        self.turn_from_first(self.sum, 1.0)


cdef inline void write_turn_rate(const double* u, const double* w, double* out) noexcept nogil:
    """u' of q = q0 exp(u), and 0."""
    cdef Vec3 r = turn_rate(vec3(-u[0], -u[1], -u[2]), vec3(w[0], w[1], w[2]))
    out[0], out[1], out[2], out[3] = r.x, r.y, r.z, 0.0
