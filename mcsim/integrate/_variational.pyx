"""Two symplectic steps of the free rigid body, both with the momentum in the world kept to rounding.

**variational**: the discrete rigid body of Moser and Veselov, by quaternion increments. With q+ = q (s, u), u = h/2 w,
s = sqrt(1 - |u|^2), and the discrete Lagrangian h/2 (m |x+ - x|^2 / h^2 + w' I w), the discrete Legendre transforms
give the spin momentum before and after, each in the body's own axes at that end:

    h/2 l = s I u + u x I u,          h/2 l+ = s I u - u x I u

One is the other seen from the turned body, so the momentum in the world is kept; the step is that of a discrete
Lagrangian, so it is symplectic; and a free body's energy l' I^-1 l / 2 is kept as well. l is given, u found by Newton's
method:

    d(s I u + u x I u) = s I + [u] I - [I u] - I u u' / s

A turn is at most |u| = 1; for a sphere momentum grows up to |u| = 1/sqrt(2), a turn of a quarter.

**rattle**: a composition of exact flows. With l in principal axes and moments I_1 <= I_2 <= I_3 the energy is

    |l|^2 / (2 I_2)  +  (1/I_1 - 1/I_2) l_1^2 / 2  +  (1/I_3 - 1/I_2) l_3^2 / 2

The first part turns the body about its momentum at |l|/I_2 and commutes with the others; the other two turn it about
its own axes 1 and 3 at (1/I_i - 1/I_2) l_i; they are composed as h/2, h, h/2. Explicit, for any speed, and exact for
spheres and symmetric bodies, where one part or both are 0.

Sources: J. Moser and A. Veselov, "Discrete versions of some classical integrable systems", 1991; J. Brüdigam and
Z. Manchester, "Linear-Time Variational Integrators in Maximal Coordinates", 2020, for the quaternion form; E. Hairer
and G. Vilmart, "Preprocessed discrete Moser-Veselov algorithm for the full dynamics of the rigid body", 2006, for what
it keeps. J. Touma and J. Wisdom, "Lie-Poisson integrators for rigid body dynamics in the solar system", 1994; A.
Dullweber, B. Leimkuhler and R. McLachlan, "Symplectic splitting methods for rigid body molecular dynamics", 1997, for
the composition.
"""

from libc.math cimport sqrt
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport (add_scaled, cross, dot, mat_vec, norm, quat, quat_conj, quat_exp, quat_mul,
                               quat_normalized, rotate, rotate_back, scale, solve3, sub, vec3)
from mcsim.core._types cimport Mat3
from mcsim.state._inertia cimport keep_momentum
from mcsim.state._bodies cimport DYNAMIC, STATIC

from mcsim.integrate.principal import principal_axes

cdef enum:
    MOST_ROUNDS = 30                   # steps of Newton's method, at most

cdef double LONGEST = 0.95             # |u| that Newton's method may come to
cdef double CLOSE_ENOUGH = 1e-11       # part of the momentum that may be missing at the end of it


cdef bint find_increment(Mat3 inertia, Vec3 momentum, Vec3* increment) noexcept nogil:
    """u from h/2 l = `momentum`, body axes; `increment` holds a first guess. -> whether there is one"""
    cdef Vec3 u = increment[0]
    cdef Vec3 a, r
    cdef Mat3 d
    cdef double s, part
    cdef double whole = norm(momentum)
    cdef double off = 0.0
    cdef double last
    cdef int k
    for k in range(MOST_ROUNDS):
        part = norm(u)
        if part > LONGEST:
            u = scale(LONGEST / part, u)
        s = sqrt(1.0 - dot(u, u))
        a = mat_vec(inertia, u)
        r = sub(add_scaled(cross(u, a), s, a), momentum)
        last = off
        off = norm(r)
        if off <= 1e-16 * whole or (k > 0 and off <= CLOSE_ENOUGH * whole and not off < 0.5 * last):
            break
        d.xx = s * inertia.xx + (u.y * inertia.zx - u.z * inertia.yx) - a.x * u.x / s
        d.xy = s * inertia.xy + (u.y * inertia.zy - u.z * inertia.yy) + a.z - a.x * u.y / s
        d.xz = s * inertia.xz + (u.y * inertia.zz - u.z * inertia.yz) - a.y - a.x * u.z / s
        d.yx = s * inertia.yx + (u.z * inertia.xx - u.x * inertia.zx) - a.z - a.y * u.x / s
        d.yy = s * inertia.yy + (u.z * inertia.xy - u.x * inertia.zy) - a.y * u.y / s
        d.yz = s * inertia.yz + (u.z * inertia.xz - u.x * inertia.zz) + a.x - a.y * u.z / s
        d.zx = s * inertia.zx + (u.x * inertia.yx - u.y * inertia.xx) + a.y - a.z * u.x / s
        d.zy = s * inertia.zy + (u.x * inertia.yy - u.y * inertia.xy) - a.x - a.z * u.y / s
        d.zz = s * inertia.zz + (u.x * inertia.yz - u.y * inertia.xz) - a.z * u.z / s
        u = sub(u, solve3(d, r))
    increment[0] = u
    return off <= CLOSE_ENOUGH * whole


cdef inline void turn_to(Bodies* bodies, Py_ssize_t i, Quat q, Vec3 momentum) noexcept nogil:
    """Orientation q, and the angular velocity that has the spin momentum, world axes, there."""
    bodies.orientation[i] = q
    keep_momentum(bodies, i, momentum)


cdef bint turn_variational(Bodies* bodies, Py_ssize_t i, double h) noexcept nogil:
    """A dynamic body after h. -> whether there is an increment"""
    cdef Quat q = bodies.orientation[i]
    cdef Vec3 w = rotate_back(q, bodies.twist[i].w)
    cdef Vec3 momentum = mat_vec(bodies.inertia[i], w)
    cdef Vec3 u = scale(0.5 * h, w)
    if not find_increment(bodies.inertia[i], scale(0.5 * h, momentum), &u):
        return False
    turn_to(bodies, i, quat_normalized(quat_mul(q, quat(sqrt(1.0 - dot(u, u)), u.x, u.y, u.z))), rotate(q, momentum))
    return True


cdef void turn_by_parts(Bodies* bodies, Py_ssize_t i, double h, Quat principal, Vec3 rates) noexcept nogil:
    """A dynamic body after h."""
    cdef Quat q = bodies.orientation[i]
    cdef Vec3 l = mat_vec(bodies.inertia[i], rotate_back(q, bodies.twist[i].w))
    cdef Vec3 momentum = rotate(q, l)
    cdef Quat part
    l = rotate_back(principal, l)
    q = quat_mul(quat_exp(scale(h * rates.x, momentum)), quat_mul(q, principal))
    part = quat_exp(vec3(0.5 * h * rates.y * l.x, 0.0, 0.0))
    q = quat_mul(q, part)
    l = rotate_back(part, l)
    part = quat_exp(vec3(0.0, 0.0, h * rates.z * l.z))
    q = quat_mul(q, part)
    l = rotate_back(part, l)
    q = quat_mul(q, quat_exp(vec3(0.5 * h * rates.y * l.x, 0.0, 0.0)))
    turn_to(bodies, i, quat_normalized(quat_mul(q, quat_conj(principal))), momentum)


cdef class FreeFlight:
    """The start of a drift of all bodies. inertia: (n, 3, 3) in body axes, kind: (n,)."""

    def __init__(self, inertia, kind):
        count = len(kind)
        moving = np.asarray(kind) == DYNAMIC
        principal, rates = np.zeros((count + 1, 4)), np.zeros((count + 1, 3))
        principal[:count][moving], moments = principal_axes(np.asarray(inertia)[moving])
        rates[:count][moving] = 1.0 / moments[:, (1, 0, 2)]
        rates[:, 1:] -= rates[:, :1]
        self.kept = (*(np.zeros((count + 1, width)) for width in (3, 4, 6)), principal, rates)
        self.position, self.orientation = <Vec3*>doubles(self.kept[0]), <Quat*>doubles(self.kept[1])
        self.twist = <Twist*>doubles(self.kept[2]) + 1
        self.principal, self.rates = <Quat*>doubles(principal), <Vec3*>doubles(rates)

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        memcpy(self.position, bodies.position, bodies.count * sizeof(Vec3))
        memcpy(self.orientation, bodies.orientation, bodies.count * sizeof(Quat))
        memcpy(self.twist, bodies.twist, bodies.count * sizeof(Twist))

    cdef Py_ssize_t fly(self, Bodies* bodies, double h, bint variational) noexcept nogil:
        cdef Py_ssize_t i
        memcpy(bodies.position, self.position, bodies.count * sizeof(Vec3))
        memcpy(bodies.orientation, self.orientation, bodies.count * sizeof(Quat))
        memcpy(bodies.twist, self.twist, bodies.count * sizeof(Twist))
        for i in range(bodies.count):
            if bodies.kind[i] == STATIC:
                continue
            bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
            if bodies.kind[i] != DYNAMIC:
                bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, bodies.twist[i].w)),
                                                                 bodies.orientation[i]))
            elif not variational:
                turn_by_parts(bodies, i, h, self.principal[i], self.rates[i])
            elif not turn_variational(bodies, i, h):
                return i
        return -1
