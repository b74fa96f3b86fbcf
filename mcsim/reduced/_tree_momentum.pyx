"""The momentum of groups of trees that loops tie and nothing holds: what forces and rows give them, to rounding.

Leapfrog in the coordinates of a tree is of second order in its momentum too, which it keeps as little as any function of
them that is not linear: a ring of four balls on ball joints lost a tenth of it in ten seconds. So momenta are told from
what acts, and what velocities have of them beside that is taken out as a motion of the whole group as one rigid body,
which no joint and no loop within it feels:

    V = (P - sum m v) / sum m,    W = I^-1 (L - sum (I_i w_i + (x_i - c) x m_i v_i))

with c, I the group's centre of mass and its inertia about it. In a drift c goes by h P / sum m.
"""

import numpy as np

from libc.string cimport memcpy, memset

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, dot, scale, solve3, sub, vec3
from mcsim.reduced._motion cimport Block

include "_kernels.pxi"


cdef inline Vec3 plain(Wide3 a) noexcept nogil:
    return vec3(lane_of(&a.x, 0), lane_of(&a.y, 0), lane_of(&a.z, 0))


cdef inline void add_inertia(Mat3* total, const Wide6* own, double mass, Vec3 d) noexcept nogil:
    """That of a link about its centre, at d from the group's."""
    cdef double xx = lane_of(&own.xx, 0), xy = lane_of(&own.xy, 0), xz = lane_of(&own.xz, 0)
    cdef double yy = lane_of(&own.yy, 0), yz = lane_of(&own.yz, 0), zz = lane_of(&own.zz, 0)
    xy, xz, yz = xy - mass * d.x * d.y, xz - mass * d.x * d.z, yz - mass * d.y * d.z
    total.xx += xx + mass * (d.y * d.y + d.z * d.z)
    total.yy += yy + mass * (d.x * d.x + d.z * d.z)
    total.zz += zz + mass * (d.x * d.x + d.y * d.y)
    total.xy, total.yx = total.xy + xy, total.yx + xy
    total.xz, total.zx = total.xz + xz, total.zx + xz
    total.yz, total.zy = total.yz + yz, total.zy + yz


cdef class TreeMomentum:
    """Of the trees of a motion."""

    def __init__(self, TreeMotion motion not None):
        cdef Py_ssize_t n = motion.tree_count + 1
        group, numbers = np.full(n, -1, np.int32), np.zeros(n * (sizeof(Whole) // sizeof(double) + 9))
        rates = np.zeros(motion.tree.nv + 1)
        self.motion, self.kept = motion, (group, numbers, rates)
        self.group, self.now = integers(group), <Whole*>doubles(numbers)
        self.linear = <Vec3*>(self.now + n)
        self.angular, self.start, self.rates = self.linear + n, self.linear + 2 * n, doubles(rates)

    cdef bint find(self, const int32_t* bond, const int32_t* tied, const int32_t* held) noexcept nogil:
        """Which groups there are in this substep. bond: (trees,) what loops tie together; held: whether a loop holds a
        tree to what does not move. -> whether there are any"""
        cdef const Block* block
        cdef Py_ssize_t i, k
        cdef bint some = False
        cdef int32_t g
        for k in range(self.motion.tree_count):
            self.group[k] = bond[k] if tied[k] else -1
        for k in range(self.motion.tree_count):
            if not tied[k]:
                continue
            block = &self.motion.trees[k]
            g = bond[k]
            if (held[k] or block.count == 0 or self.motion.resting[k] or not self.motion.is_loose(k)
                    or self.motion.tree.links[block.first_link].quaternion < 0):
                self.group[g] = -1
                continue
            for i in range(block.first, block.first + 6):        # those of its free root
                if self.motion.tau[i] != 0.0:
                    self.group[g] = -1
        for k in range(self.motion.tree_count):
            if self.group[k] >= 0:
                self.group[k] = bond[k] if self.group[bond[k]] >= 0 else -1
                some = some or self.group[k] >= 0
        return some and not self.motion.turns_rotors

    cdef void measure(self) noexcept nogil:
        """After look: `now`."""
        cdef const Link* link
        cdef const LinkState* s
        cdef Whole* whole
        cdef Vec3 d, v
        cdef Py_ssize_t i, k
        memset(self.now, 0, self.motion.tree_count * sizeof(Whole))
        for k in range(self.motion.tree_count):
            for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link if self.group[k] >= 0 else 0):
                link, s, whole = &self.motion.tree.links[i], &self.motion.tree.states[i + 1], &self.now[self.group[k]]
                whole.mass += link.mass
                whole.centre = add_scaled(whole.centre, link.mass, plain(w_add(s.position, s.com)))
                v = plain(w_add(s.velocity.v, w_cross(s.velocity.w, s.com)))
                whole.linear = add_scaled(whole.linear, link.mass, v)
        for k in range(self.motion.tree_count):
            if self.group[k] == k:
                self.now[k].centre = scale(1.0 / self.now[k].mass, self.now[k].centre)
        for k in range(self.motion.tree_count):
            for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link if self.group[k] >= 0 else 0):
                link, s, whole = &self.motion.tree.links[i], &self.motion.tree.states[i + 1], &self.now[self.group[k]]
                d = sub(plain(w_add(s.position, s.com)), whole.centre)
                v = plain(w_add(s.velocity.v, w_cross(s.velocity.w, s.com)))
                whole.angular = add(whole.angular, add_scaled(plain(w_times(&s.about_com, s.velocity.w)), link.mass,
                                                              cross(d, v)))
                add_inertia(&whole.inertia, &s.about_com, link.mass, d)

    cdef void keep(self) noexcept nogil:
        """After look: they are to have what they have now."""
        cdef Py_ssize_t k
        self.measure()
        for k in range(self.motion.tree_count):
            self.linear[k], self.angular[k] = self.now[k].linear, self.now[k].angular
            self.start[k] = self.now[k].centre

    cdef void press(self, double h, const double* forces) noexcept nogil:
        """After measure: and what gravity and `forces` on bodies give them in h."""
        cdef const Link* link
        cdef const LinkState* s
        cdef Vec3 f
        cdef Py_ssize_t i, k
        cdef int32_t g
        for k in range(self.motion.tree_count):
            g = self.group[k]
            for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link if g >= 0 else 0):
                link, s = &self.motion.tree.links[i], &self.motion.tree.states[i + 1]
                f = scale(link.mass, link.weight)
                if forces != NULL:
                    f = add(f, vec3(forces[6 * link.body], forces[6 * link.body + 1], forces[6 * link.body + 2]))
                    self.angular[g] = add_scaled(self.angular[g], h, vec3(
                        forces[6 * link.body + 3], forces[6 * link.body + 4], forces[6 * link.body + 5]))
                self.linear[g] = add_scaled(self.linear[g], h, f)
                self.angular[g] = add_scaled(self.angular[g], h, cross(
                    sub(plain(w_add(s.position, s.com)), self.now[g].centre), f))

    cdef void strike(self, const double* before) noexcept nogil:
        """And what rows have given them, at the present pose, since their velocities were `before`."""
        cdef Py_ssize_t i, k
        cdef size_t size = self.motion.tree.nv * sizeof(double)
        cdef double* qd = self.motion.qd
        memcpy(self.rates, qd, size)
        for i in range(self.motion.tree.nv):
            qd[i] -= before[i]
        self.motion.look()
        self.measure()
        for k in range(self.motion.tree_count):
            self.linear[k] = add(self.linear[k], self.now[k].linear)
            self.angular[k] = add(self.angular[k], self.now[k].angular)
        memcpy(qd, self.rates, size)
        self.motion.look()

    cdef void move(self, double h) noexcept nogil:
        """After a drift of h, and place: centres of mass where their momentum has brought them."""
        cdef const Link* link
        cdef Vec3 way
        cdef double* q = self.motion.q
        cdef Py_ssize_t k
        cdef int32_t g
        cdef int i
        self.measure()
        for k in range(self.motion.tree_count):
            g = self.group[k]
            if g < 0:
                continue
            link = &self.motion.tree.links[self.motion.trees[k].first_link]
            way = sub(add_scaled(self.start[g], h / self.now[g].mass, self.linear[g]), self.now[g].centre)
            for i in range(3):
                q[link.q + i] += way.x * link.turn[3 * i] + way.y * link.turn[3 * i + 1] + way.z * link.turn[3 * i + 2]

    cdef void settle(self) noexcept nogil:
        """After measure: velocities with the momenta that they are to have."""
        cdef const Link* link
        cdef const AxisState* axis
        cdef Vec3 v, w, at_root
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t k
        cdef int32_t g
        cdef int i
        for k in range(self.motion.tree_count):
            g = self.group[k]
            if g < 0:
                continue
            link = &self.motion.tree.links[self.motion.trees[k].first_link]
            v = scale(1.0 / self.now[g].mass, sub(self.linear[g], self.now[g].linear))
            w = solve3(self.now[g].inertia, sub(self.angular[g], self.now[g].angular))
            at_root = add(v, cross(w, sub(plain(self.motion.tree.states[self.motion.trees[k].first_link + 1].position),
                                          self.now[g].centre)))
            for i in range(6):
                axis = &self.motion.tree.axes[link.v + i]
                qd[link.v + i] += dot(plain(axis.axis.w), w) + dot(plain(axis.axis.v), at_root)
