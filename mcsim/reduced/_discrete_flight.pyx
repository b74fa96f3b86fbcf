"""The momenta of trees before and after a drift, told from the poses at its two ends: the discrete Legendre transforms of a
discrete Lagrangian, which make a drift that begins and ends with them symplectic.

A drift of h takes the coordinates from q0 to q1 = q0 + h s. The bodies of the trees are taken as if each of them moved by
itself, with the discrete Lagrangian

    L(q0, q1) = sum of  m |x1 - x0|^2 / (2 h)  +  F(u) / h,        u = log(R0' R1),  a = |u|

    F(u) = u' I u / 2  +  m |u x r|^2 (1 - (sin(a/2) / (a/2))^2) / 2

x: centres of mass, R: orientations; in the links' axes r: the way from the link's origin to the centre of mass, I: the
inertia about that. The second part of F is by how much longer an arc about the origin is than its chord, which
the first part of L has: so what turns about an axis that stands still turns as fast as it should, and so does a ball. The
derivatives of L by q0 and q1 are the momenta there, by the Jacobians A(q0), A(q1) of the bodies' velocities: A' [p; l] with
p = m (x1 - x0) / h and, with G = dF/du, in the links' axes,

    before the drift  l = (G + u x G / 2 + c u x (u x G)) / h,      after it  l = (G - u x G / 2 + c u x (u x G)) / h

with c = (1 - a/2 cot(a/2)) / a^2: the inverse differentials of the exponential. Momenta in space are kept to rounding. A
rotor of inertia b on a joint has the momentum b s at both ends.

    H(q0) qd0 = A(q0)' [p; l] before,         qd1 = H(q1)^-1 A(q1)' [p; l] after

are then the way from velocities to velocities: where s is found, `compare` says what it still lacks, and `land` gives the
velocities at its end. Coordinates of turning need no care, for only poses have a part.

Sources: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2006, section VI.6 (variational integrators);
P. Betsch, S. Leyendecker, "The discrete null space method for the energy consistent integration of constrained mechanical
systems", 2006, for bodies whose momenta are seen through joints; N. Bou-Rabee, J. Marsden, "Hamilton-Pontryagin integrators
on Lie groups", 2009, for u.
"""

from libc.math cimport sqrt
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._trig cimport arctan2
from mcsim.core.arrays import aligned
from mcsim.reduced._motion cimport Block, rotor_energy

include "_kernels.pxi"
include "_piece.pxi"

# The cosine of half the turn up to which a drift is told by its ends: 2 rad.
cdef double LEAST_COSINE = 0.5403

# Below this sine of half a turn, c is 1/12 to rounding, and an arc is its chord.
cdef double SMALL = 1e-5


cdef inline bint find_momentum(const Link* link, const LinkState* here, const LinkState* start, const LinkState* end,
                               double h, double side, Force* out) noexcept nogil:
    """Of a link between its poses at the start and the end of a drift of h, about its origin, world axes, as one of them,
    `here`, has it. side: 1 before it, -1 after it. -> whether it has turned by no more than the poses tell"""
    cdef Wide3 i, u, w, l, arm
    cdef Wide s, sine, angle, c, part
    cdef Wide shrunk = splat(1.0) / h
    s = 0.5 * sqrt(max(1.0 + w_dot(start.x, end.x) + w_dot(start.y, end.y) + w_dot(start.z, end.z), 0.0))
    if s < LEAST_COSINE:
        return False
    u = wide3(w_dot(start.z, end.y) - w_dot(start.y, end.z), w_dot(start.x, end.z) - w_dot(start.z, end.x),
              w_dot(start.y, end.x) - w_dot(start.x, end.y))
    u = w_scale(0.25 / s, u)
    sine = sqrt(w_dot(u, u))
    c = 1.0 / 12.0
    if sine > SMALL:
        angle = 2.0 * arctan2(sine, s)
        c = (1.0 - 0.5 * angle * s / sine) / (angle * angle)
        u = w_scale(angle / sine, u)
    else:
        u = w_scale(2.0, u)
    i = own_spin_momentum(link.inertia, u)
    if sine > SMALL:
        arm = splat3(&link.com.x)
        w = w_cross(u, arm)
        part = 2.0 * sine / angle
        i = w_add_scaled(i, link.mass * (1.0 - part * part), w_cross(arm, w))
        i = w_add_scaled(i, link.mass * w_dot(w, w) * part * (part - s) / (angle * angle), u)
    w = w_cross(u, i)
    l = w_add_scaled(w_add_scaled(i, 0.5 * side, w), c, w_cross(u, w))
    out.f = w_scale(shrunk * link.mass, w_sub(w_add(end.position, end.com), w_add(start.position, start.com)))
    out.n = w_add(outwards(here, w_scale(shrunk, l)), w_cross(here.com, out.f))
    return True


cdef inline void set_bias(LinkState* s, const Force* had) noexcept nogil:
    """So that velocities are found which have this momentum."""
    cdef Wide3 nothing = wide3(splat(0.0), splat(0.0), splat(0.0))
    s.force.n, s.force.f = w_scale(splat(-1.0), had.n), w_scale(splat(-1.0), had.f)
    s.bias.w = s.bias.v = nothing


cdef class DiscreteFlight:
    """motion: TreeMotion, whose trees are looked at."""

    def __init__(self, TreeMotion motion not None):
        cdef Py_ssize_t count = motion.tree.count, nv = motion.tree.nv
        room = aligned((count + 1) * sizeof(LinkState)), aligned(max(1, nv) * sizeof(AxisState))
        numbers = np.zeros((3, nv + 1)), np.zeros(motion.tree.nq + 1)
        self.motion, self.kept = motion, (room, numbers)
        self.still = motion.tree
        self.still.states, self.still.axes = <LinkState*>doubles(room[0]), <AxisState*>doubles(room[1])
        self.aim, self.found = doubles(numbers[0][0]), doubles(numbers[0][1])
        self.given, self.start = doubles(numbers[0][2]), doubles(numbers[1])

    cdef void begin(self) noexcept nogil:
        """A drift begins where the trees stand, placed and factored."""
        memcpy(self.still.states, self.motion.tree.states, (self.still.count + 1) * sizeof(LinkState))
        memcpy(self.still.axes, self.motion.tree.axes, self.still.nv * sizeof(AxisState))
        memcpy(self.start, self.motion.q, self.still.nq * sizeof(double))

    cdef void set_joints(self, Py_ssize_t k, const double* rates, double* given) noexcept nogil:
        """The momenta of rotors at these rates; of what is given, the rates themselves."""
        cdef const Link* link
        cdef Py_ssize_t i
        cdef int j
        for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
            link = &self.still.links[i]
            for j in range(link.freedoms):
                given[link.v + j] = rates[link.v + j] * (1.0 if link.given else link.armature[j])

    cdef bint compare(self, Py_ssize_t k, double h, const double* rates, double* off, double* whole) noexcept nogil:
        """Of a tree that has come, by a drift of h at these rates, to where it is placed now: `found`. off, whole: to which
        the kinetic energies of `aim` less `found`, and of `found` and what gravity does in h, are added. -> whether the
        poses tell it"""
        cdef const Block* block = &self.motion.trees[k]
        cdef const Link* link
        cdef const LinkState* reached
        cdef LinkState* s
        cdef Motion apart
        cdef Force had
        cdef Wide3 weight
        cdef double change
        cdef Py_ssize_t i
        cdef int j
        self.still.first, self.still.end = block.first_link, block.end_link
        move(&self.still, self.start, self.aim)
        for i in range(block.first_link, block.end_link):
            link, s, reached = &self.still.links[i], &self.still.states[i + 1], &self.motion.tree.states[i + 1]
            if not find_momentum(link, s, s, reached, h, 1.0, &had):
                return False
            set_bias(s, &had)
        self.set_joints(k, rates, self.given)
        respond_to_all(&self.still, self.given, self.found)
        for i in range(block.first_link, block.end_link):
            link, s = &self.still.links[i], &self.still.states[i + 1]
            apart.w, apart.v = w_sub(s.acceleration.w, s.velocity.w), w_sub(s.acceleration.v, s.velocity.v)
            weight = splat3(&link.weight.x)
            off[0] += energy_of(link, s, &apart)
            whole[0] += energy_of(link, s, &s.acceleration) + 0.5 * link.mass * h * h * w_dot(weight, weight)
            whole[0] += rotor_energy(link, &self.found[link.v])
            for j in range(link.freedoms if not link.given else 0):
                change = self.found[link.v + j] - self.aim[link.v + j]
                off[0] += 0.5 * link.armature[j] * change * change
        return True

    cdef void land(self, Py_ssize_t k, double h) noexcept nogil:
        """qd of a tree at the end of a drift of h, which it began as `begin` found it and made at the rates qd; it stands
        placed and factored. It has been compared there."""
        cdef const Block* block = &self.motion.trees[k]
        cdef LinkState* s
        cdef Force had
        cdef Py_ssize_t i
        self.motion.narrow(k, k + 1)
        self.motion.enter(0)
        for i in range(block.first_link, block.end_link):
            s = &self.motion.tree.states[i + 1]
            find_momentum(&self.still.links[i], s, &self.still.states[i + 1], s, h, -1.0, &had)
            set_bias(s, &had)
        self.set_joints(k, self.motion.qd, self.given)
        respond_to_all(&self.motion.tree, self.given, self.motion.qd)
        self.motion.leave()
        self.motion.narrow(0, self.motion.tree_count)
