"""The discrete free rigid body in maximal coordinates (Moser-Veselov), by quaternion increments.

With q+ = q (s, u), u = h/2 w, s = sqrt(1 - |u|^2), and the discrete Lagrangian h/2 (m |x+ - x|^2 / h^2 + w' I w), the discrete
Legendre transforms give the spin momentum before and after, each in the body's own axes at that end:

    h/2 l = s I u + u x I u,          h/2 l+ = s I u - u x I u

One is the other seen from the turned body, so the momentum in the world is kept; the step is that of a discrete Lagrangian,
so it is symplectic, and a free body's energy wavers within O(h^2) for good. l is given, u found by Newton's method:

    d(s I u + u x I u) = s I + [u] I - [I u] - I u u' / s

A turn is at most |u| = 1; for a sphere momentum grows up to |u| = 1/sqrt(2), a turn of a quarter.
Sources: J. Moser and A. Veselov, "Discrete versions of some classical integrable systems", 1991; J. Bruedigam and
Z. Manchester, "Linear-Time Variational Integrators in Maximal Coordinates", 2020, for the quaternion form.
"""

from libc.math cimport sqrt
from libc.string cimport memcpy

import numpy as np

from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_vec, norm, quat, quat_exp, quat_matrix, quat_mul,
                               quat_normalized, rotate, rotate_back, rotate_symmetric, scale, solve3, sub)
from mcsim.core._types cimport Mat3
from mcsim.integrate._euler cimport integrate_poses
from mcsim.state._layout cimport DYNAMIC, STATIC

cdef enum:
    MOST_ROUNDS = 30

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


cdef bint turn_variational(Bodies* bodies, Py_ssize_t i, double h) noexcept nogil:
    """Orientation, world inertia and angular velocity of a dynamic body after h. -> whether that was possible"""
    cdef Vec3 w = bodies.twist[i].w
    cdef Quat q = bodies.orientation[i]
    cdef Vec3 u, momentum, momentum_world
    if w.x == 0.0 and w.y == 0.0 and w.z == 0.0:
        return True
    w = rotate_back(q, w)
    momentum = mat_vec(bodies.inertia[i], w)
    momentum_world = rotate(q, momentum)
    u = scale(0.5 * h, w)
    if not find_increment(bodies.inertia[i], scale(0.5 * h, momentum), &u):
        return False
    q = quat_normalized(quat_mul(q, quat(sqrt(1.0 - dot(u, u)), u.x, u.y, u.z)))
    bodies.orientation[i] = q
    bodies.inv_inertia_world[i] = rotate_symmetric(quat_matrix(q), bodies.inv_inertia[i])
    w = mat_vec(bodies.inv_inertia_world[i], momentum_world)
    # One refinement, as in _euler.pyx: the rounding of q and I^-1 has the same sign in many steps.
    momentum = rotate(q, mat_vec(bodies.inertia[i], rotate_back(q, w)))
    bodies.twist[i].w = add(w, mat_vec(bodies.inv_inertia_world[i], sub(momentum_world, momentum)))
    return True


cdef class FreeFlight:
    """The start of a drift of all bodies."""

    def __init__(self, Py_ssize_t count):
        self.kept = tuple(np.zeros((count + 1, width)) for width in (3, 4, 6))
        cdef double[:, ::1] x = self.kept[0]
        cdef double[:, ::1] q = self.kept[1]
        cdef double[:, ::1] t = self.kept[2]
        self.position = <Vec3*>&x[0, 0]
        self.orientation = <Quat*>&q[0, 0]
        self.twist = <Twist*>&t[0, 0] + 1

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        memcpy(self.position, bodies.position, bodies.count * sizeof(Vec3))
        memcpy(self.orientation, bodies.orientation, bodies.count * sizeof(Quat))
        memcpy(self.twist, bodies.twist, bodies.count * sizeof(Twist))

    cdef Py_ssize_t fly(self, Bodies* bodies, double h, bint variational) noexcept nogil:
        cdef Py_ssize_t i
        memcpy(bodies.position, self.position, bodies.count * sizeof(Vec3))
        memcpy(bodies.orientation, self.orientation, bodies.count * sizeof(Quat))
        memcpy(bodies.twist, self.twist, bodies.count * sizeof(Twist))
        if not variational:
            integrate_poses(bodies, h)
            return -1
        for i in range(bodies.count):
            if bodies.kind[i] == STATIC:
                continue
            bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
            if bodies.kind[i] != DYNAMIC:
                bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, bodies.twist[i].w)),
                                                                 bodies.orientation[i]))
            elif not turn_variational(bodies, i, h):
                return i
        return -1
