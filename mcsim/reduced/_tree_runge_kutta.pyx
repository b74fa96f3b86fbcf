"""Runge-Kutta on the coordinates of trees, y = (q, qd), by a method's tableau (core/_tableau.pyx).

The accelerations of each stage are found by others. Quaternions are turns from the step's start: integrate/_rk4.pyx, with
angular velocities in the turned axes.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._far_turns cimport turn_rate_from
from mcsim.core._math cimport quat, quat_log, quat_mul, turn_remainder, turn_spin, vec3
from mcsim.core._types cimport Vec3
from mcsim.core._tableau cimport add_error
from mcsim.reduced._turn cimport turn_by

include "_kernels.pxi"


cdef class TreeRungeKutta:
    """Of the trees of a motion that do not rest."""

    def __init__(self, Tableau tableau not None, TreeMotion motion not None):
        self.tableau, self.motion, self.size = tableau, motion, motion.tree.nq + motion.tree.nv
        kept, rates = np.zeros((2, self.size + 1)), np.zeros((tableau.slots, self.size + 1))
        self.kept = kept, rates
        self.first, self.turned, self.rates = doubles(kept[0]), doubles(kept[1]), doubles(rates)
        self.kept_errors = np.zeros((4, motion.tree.nv + 1))
        for i in range(4):
            self.error[i] = doubles(self.kept_errors[i])

    def moving(self):
        """(2 n,) int32: which numbers of a slot move, of links that nothing prescribes."""
        cdef const Link* link
        cdef Py_ssize_t i
        place = []
        for i in range(self.motion.tree.count):
            link = &self.motion.tree.links[i]
            if not link.prescribed:
                place += [link.q + n for n in range(link.freedoms)]
                place += [self.motion.tree.nq + link.v + n for n in range(link.freedoms)]
        return np.array(place, np.int32)

    def turns(self):
        """(nq + nv + 1,) of quaternions at their first three numbers: how far they have turned, as a view."""
        return self.kept[0][1]

    def all_rates(self):
        """(slots, nq + nv + 1), as a view."""
        return self.kept[1]

    cdef void take_scales(self, NewtonMethod implicit) noexcept nogil:
        """1 + |y| at the beginning of the step, of what moves."""
        cdef Py_ssize_t i
        for i in range(implicit.size):
            implicit.scale[i] = 1.0 + fabs(self.first[implicit.place[i]])

    cdef void begin(self) noexcept nogil:
        """A step begins at q and qd."""
        cdef Py_ssize_t nq = self.motion.tree.nq, nv = self.motion.tree.nv
        memcpy(self.first, self.motion.q, nq * sizeof(double))
        memcpy(self.first + nq, self.motion.qd, nv * sizeof(double))
        memset(self.turned, 0, nq * sizeof(double))

    cdef void take_back(self) noexcept nogil:
        """q and qd where it began."""
        cdef Py_ssize_t nq = self.motion.tree.nq, nv = self.motion.tree.nv
        memcpy(self.motion.q, self.first, nq * sizeof(double))
        memcpy(self.motion.qd, self.first + nq, nv * sizeof(double))

    cdef void stage(self, int k) noexcept nogil:
        """qdd is that of stage k, from 0 on."""
        cdef Py_ssize_t r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            self.find_rates(&self.rates[k * (self.size + 1)])
        self.motion.leave()

    cdef void move(self, int k, double h) noexcept nogil:
        """q and qd become those at which stage k begins; after the last one those of the step's end."""
        cdef const double* weights = &self.tableau.weights[k * self.tableau.slots]
        cdef Py_ssize_t r, i, nq = self.motion.tree.nq
        cdef Py_ssize_t span[4]
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            self.spans(span)
            for i in range(span[0], span[1]):
                self.motion.q[i] = self.first[i] + h * self.sum_rates(weights, i)
            for i in range(span[2], span[3]):
                self.motion.qd[i - nq] = self.first[i] + h * self.sum_rates(weights, i)
            self.turn_from_first(weights, h)
        self.motion.leave()

    cdef void read_back(self, int k) noexcept nogil:
        """Where the trees stand, as a displacement into slot k; what is prescribed goes on as it is there."""
        cdef double* out = &self.rates[k * (self.size + 1)]
        cdef const Link* link
        cdef Py_ssize_t r, i, nq = self.motion.tree.nq
        cdef int n
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            for i in range(self.motion.tree.first, self.motion.tree.end):
                link = &self.motion.tree.links[i]
                if link.prescribed:
                    continue
                for n in range(link.freedoms):
                    if link.quaternion < 0 or n < link.quaternion:
                        out[link.q + n] = self.motion.q[link.q + n] - self.first[link.q + n]
                    out[nq + link.v + n] = self.motion.qd[link.v + n] - self.first[nq + link.v + n]
                if link.quaternion >= 0:
                    self.read_turn(link.q + link.quaternion, out)
        self.motion.leave()

    cdef void read_turn(self, Py_ssize_t at, double* out) noexcept nogil:
        """Of the quaternion there, q = q0 exp(u)."""
        cdef const double* before = &self.first[at]
        cdef const double* now = &self.motion.q[at]
        cdef Vec3 u = quat_log(quat_mul(quat(before[0], -before[1], -before[2], -before[3]),
                                        quat(now[0], now[1], now[2], now[3])))
        self.turned[at] = out[at] = u.x
        self.turned[at + 1] = out[at + 1] = u.y
        self.turned[at + 2] = out[at + 2] = u.z

    cdef double farthest_turn(self) noexcept nogil:
        """Of quaternions, from where the step began [rad]."""
        cdef double farthest = 0.0
        cdef const double* u
        cdef Py_ssize_t i
        for i in range(self.motion.tree.count):
            if self.motion.tree.links[i].quaternion >= 0:
                u = &self.turned[self.motion.tree.links[i].q + self.motion.tree.links[i].quaternion]
                farthest = max(farthest, u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
        return sqrt(farthest)

    cdef void find_errors(self, bint across) noexcept nogil:
        """`error`, with the rates of the step's end as one stage more. across: of a step in which forces came to a bound,
        or left it."""
        cdef const double* weights
        cdef double* of_q
        cdef const Link* link
        cdef Py_ssize_t r, i
        cdef int k, n
        for k in range(4):
            memset(self.error[k], 0, self.motion.tree.nv * sizeof(double))
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            for i in range(self.motion.tree.first, self.motion.tree.end):
                link = &self.motion.tree.links[i]
                for k in range(0, 4, 2):
                    weights, of_q = self.tableau.fifth if k == 0 else self.tableau.third, &self.error[k][link.v]
                    if across:
                        weights = self.tableau.change
                    for n in range(link.freedoms):
                        of_q[n] = self.sum_rates(weights, link.q + n)
                        self.error[k + 1][link.v + n] = self.sum_rates(weights, self.motion.tree.nq + link.v + n)
                    if link.quaternion >= 0:
                        unwrite_turn_rate(&self.turned[link.q + link.quaternion], &of_q[link.quaternion])
                    elif link.kind == PLANAR:
                        turn_back(self.motion.q[link.q + 2], of_q)
        self.motion.leave()

    cdef void judge(self, double* errors) noexcept nogil:
        """Of `error`, what StepSize judges. Quaternions count by their turns; what turn_rate leaves out is an error of both
        estimates."""
        cdef const Link* link
        cdef const double* u
        cdef const double* w
        cdef double left_out
        cdef Py_ssize_t r, i, q, v, nq = self.motion.tree.nq
        cdef int n
        errors[0] = errors[1] = 0.0
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            for i in range(self.motion.tree.first, self.motion.tree.end):
                link = &self.motion.tree.links[i]
                for n in range(link.freedoms):
                    q, v = link.q + n, link.v + n
                    if link.quaternion >= 0 and n >= link.quaternion:
                        self.add_estimates(errors, 0, v, 0.0, self.turned[q])
                    else:
                        self.add_estimates(errors, 0, v, self.first[q], self.motion.q[q])
                    self.add_estimates(errors, 1, v, self.first[nq + v], self.motion.qd[v])
                if link.quaternion >= 0 and not self.tableau.multistep:
                    u, w = &self.turned[link.q + link.quaternion], &self.motion.qd[link.v + link.quaternion]
                    left_out = turn_remainder(vec3(u[0], u[1], u[2]), vec3(w[0], w[1], w[2]))
                    add_error(errors, left_out, left_out, 0.0, 0.0)
        self.motion.leave()

    cdef void add_estimates(self, double* errors, int k, Py_ssize_t v, double before, double after) noexcept nogil:
        add_error(errors, self.error[k][v], self.error[k + 2][v], before, after)

    cdef double sum_rates(self, const double* weights, Py_ssize_t i) noexcept nogil:
        """Of number i of (q, qd)."""
        cdef double sum = 0.0
        cdef int j
        for j in range(self.tableau.slots):
            if weights[j] != 0.0:
                sum += weights[j] * self.rates[j * (self.size + 1) + i]
        return sum

    cdef void spans(self, Py_ssize_t* span) noexcept nogil:
        """Where the coordinates of the trees that are entered begin and end in (q, qd), and their velocities."""
        cdef Py_ssize_t nq = self.motion.tree.nq
        cdef const Link* first = &self.motion.tree.links[self.motion.tree.first]
        cdef const Link* last = &self.motion.tree.links[self.motion.tree.end - 1]
        span[0], span[1] = first.q, last.q + (last.freedoms if last.quaternion < 0 else last.quaternion + 4)
        span[2], span[3] = nq + first.v, nq + last.v + last.freedoms

    cdef void find_rates(self, double* out) noexcept nogil:
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
            q, w, r = &self.motion.q[link.q], &self.motion.qd[link.v], &out[link.q]
            if link.quaternion >= 0:
                for k in range(link.quaternion):
                    r[k] = w[k]
                write_turn_rate(&self.turned[link.q + link.quaternion], &w[link.quaternion], self.tableau.multistep,
                                &r[link.quaternion])
            elif link.kind == PLANAR:
                sine_cosine(q[2], &s, &c)
                r[0] = c * w[0] - s * w[1]
                r[1] = s * w[0] + c * w[1]
                r[2] = w[2]
            else:
                for k in range(link.freedoms):
                    r[k] = w[k]
            memcpy(&out[self.motion.tree.nq + link.v], &self.motion.qdd[link.v], link.freedoms * sizeof(double))

    cdef void turn_from_first(self, const double* weights, double h) noexcept nogil:
        """Quaternions where they are turned to from where the step began, which `turned` keeps."""
        cdef Py_ssize_t i
        cdef int k, at
        for i in range(self.motion.tree.first, self.motion.tree.end):
            if self.motion.tree.links[i].quaternion >= 0:
                at = self.motion.tree.links[i].q + self.motion.tree.links[i].quaternion
                memcpy(&self.motion.q[at], &self.first[at], 4 * sizeof(double))
                for k in range(3):
                    self.turned[at + k] = h * self.sum_rates(weights, at + k)
                turn_by(&self.motion.q[at], 1.0, &self.turned[at])


cdef inline void write_turn_rate(const double* u, const double* w, bint far, double* out) noexcept nogil:
    """u' of q = q0 exp(u), and 0. far: u is of any length."""
    cdef Vec3 r = turn_rate_from(vec3(-u[0], -u[1], -u[2]), vec3(w[0], w[1], w[2]), far)
    out[0], out[1], out[2], out[3] = r.x, r.y, r.z, 0.0


cdef inline void unwrite_turn_rate(const double* u, double* out) noexcept nogil:
    """The inverse, in place."""
    cdef Vec3 w = turn_spin(vec3(-u[0], -u[1], -u[2]), vec3(out[0], out[1], out[2]))
    out[0], out[1], out[2] = w.x, w.y, w.z


cdef inline void turn_back(double angle, double* out) noexcept nogil:
    """x and y, by an angle."""
    cdef double s, c, x = out[0], y = out[1]
    sine_cosine(angle, &s, &c)
    out[0] = c * x + s * y
    out[1] = c * y - s * x
