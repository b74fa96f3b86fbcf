"""Bounded coordinates of joints as pairs of features, compiled: limits of angles, and drives."""

from libc.math cimport floor

import numpy as np

from mcsim.core._math cimport dot, mat_t_vec, mat_vec, scale, vec3
from mcsim.core._numbers cimport TWO_PI
from mcsim.core._trig cimport arctan2
from mcsim.core._types cimport Vec3
from mcsim.event._features cimport (DRIVE_ABOUT, DRIVE_ALONG, TURN, Bodies, Frame, Pairs, Poses, carried, numbers, turned)


cdef class TurnLimit(Pairs):
    """The angle of b's joint frame about the z axis of a's, against a bound: sign (angle - bound). frames (k, 2, 3, 3): the
    axes x, y, z of both in their bodies. Of angles that differ by turns the one nearest to `near` is meant."""

    cdef const Vec3* frames
    cdef const double* sign
    cdef const double* bound
    cdef readonly object near
    cdef double* last

    def __init__(self, common, frames, sign, bound):
        super().__init__(*common)
        self.frames, self.sign, self.bound = <const Vec3*> self.keep(frames, 18), self.keep(sign, 1), self.keep(bound, 1)
        self.near = np.zeros(self.count)
        self.last = <double*> numbers(self.near)

    cdef double angle(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        cdef const Vec3* own = self.frames + 6 * k
        cdef Vec3 x = mat_t_vec(s.R[self.body[2 * k]], mat_vec(s.R[self.body[2 * k + 1]], own[3]))
        cdef double found = arctan2(dot(x, own[1]), dot(x, own[0]))
        return found + TWO_PI * floor((self.last[k] - found) / TWO_PI + 0.5)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return self.sign[k] * (self.angle(k, s) - self.bound[k])

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], scale(self.sign[k], self.frames[6 * k + 2]))
        f.p = carried(s, self.body[2 * k + 1], vec3(0.0, 0.0, 0.0))
        f.form, f.speed = TURN, 0.0
        return f

    def follow(self, Poses poses):
        """Count turns from here on."""
        cdef Py_ssize_t k
        for k in range(self.count):
            self.last[k] = self.angle(k, &poses.s)


cdef class Drive(Pairs):
    """A force along, or a torque about, an axis of a, between a and a point of b, that wants a speed [m/s or rad/s] and
    gives at most `most` [N or N m] for it: a velocity motor, or a joint's friction, which wants none. It is Coulomb's
    friction under a load, without a normal."""

    cdef const Vec3* axis
    cdef const Vec3* point
    cdef const double* speed
    cdef const double* about

    def __init__(self, common, axis, point, speed, most, about):
        super().__init__(*common)
        self.axis, self.point = <const Vec3*> self.keep(axis, 3), <const Vec3*> self.keep(point, 3)
        self.speed, self.about = self.keep(speed, 1), self.keep(about, 1)
        self.load[:] = most

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return 0.0

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], self.axis[k])
        f.p = carried(s, self.body[2 * k + 1], self.point[k])
        f.form, f.speed = DRIVE_ABOUT if self.about[k] != 0.0 else DRIVE_ALONG, self.speed[k]
        return f
