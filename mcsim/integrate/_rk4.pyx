"""Classical Runge-Kutta of fourth order on (pose, twist), over the accelerations that someone else finds.

    y = (x, u, v, w),   x' = v,   (v', w') = a(y)
    k1 = f(y),  k2 = f(y + h/2 k1),  k3 = f(y + h/2 k2),  k4 = f(y + h k3),   y+ = y + h/6 (k1 + 2 k2 + 2 k3 + k4)

with orientations as turns u from the substep's start, q = exp(u) q0 (core/_math.pxd, turn_rate), so that a steady spin is
followed at any rate.
Source: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.1.
"""

from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport add, add_scaled, mat_vec, quat_exp, quat_mul, quat_normalized, scale, turn_rate
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.state._inertia cimport gyroscopic_acceleration, refresh_inertia, spin_momentum
from mcsim.state._bodies cimport DYNAMIC, STATIC


cdef void smooth_forces(const Bodies* bodies, const Settings* settings, Twist* force) noexcept nogil:
    """f = m (g - c v) + user,   tau = user - c' I w;   c, c' the damping rates. 0 unless dynamic."""
    cdef Py_ssize_t i
    cdef double mass
    for i in range(bodies.count):
        if bodies.kind[i] != DYNAMIC:
            memset(&force[i], 0, sizeof(Twist))
            continue
        mass = 1.0 / bodies.inv_mass[i]
        force[i] = bodies.force[i]
        force[i].v = add_scaled(force[i].v, mass * bodies.gravity_scale[i], settings.gravity)
        force[i].v = add_scaled(force[i].v, -mass * bodies.linear_damping[i], bodies.twist[i].v)
        if bodies.angular_damping[i] != 0.0:
            force[i].w = add_scaled(force[i].w, -bodies.angular_damping[i],
                                    spin_momentum(bodies, i, bodies.orientation[i], bodies.twist[i].w))


cdef void add_gyroscopic(const Bodies* bodies, Twist* acceleration) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(bodies.count):
        if bodies.kind[i] == DYNAMIC:
            acceleration[i].w = add(acceleration[i].w, gyroscopic_acceleration(bodies, i))


cdef void free_accelerations(const Bodies* bodies, const Twist* force, Twist* acceleration) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(bodies.count):
        acceleration[i].v = scale(bodies.inv_mass[i], force[i].v)
        acceleration[i].w = mat_vec(bodies.inv_inertia_world[i], force[i].w)


cdef void add_twists(Py_ssize_t count, double s, const Twist* acceleration, Twist* twist) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        twist[i].v = add_scaled(twist[i].v, s, acceleration[i].v)
        twist[i].w = add_scaled(twist[i].w, s, acceleration[i].w)


cdef inline void place(Bodies* bodies, Py_ssize_t i, Vec3 position, Quat orientation) noexcept nogil:
    """A body's pose, and its world inertia with it."""
    bodies.position[i] = position
    bodies.orientation[i] = quat_normalized(orientation)
    if bodies.kind[i] == DYNAMIC:
        refresh_inertia(bodies, i)


cdef void displace(Bodies* bodies, const Twist* move) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(bodies.count):
        if bodies.kind[i] == DYNAMIC:
            place(bodies, i, add(bodies.position[i], move[i].v), quat_mul(quat_exp(move[i].w), bodies.orientation[i]))


cdef class RungeKutta:
    """The buffers of a step of all bodies."""

    def __init__(self, Py_ssize_t count):
        position, twist, turn = (np.zeros((2, count + 1, width)) for width in (3, 6, 3))
        orientation = np.zeros((count + 1, 4))
        self.kept = (position, twist, turn, orientation)
        self.position, self.position_rate = <Vec3*>doubles(position[0]), <Vec3*>doubles(position[1])
        self.orientation = <Quat*>doubles(orientation)
        self.turn, self.turn_rate = <Vec3*>doubles(turn[0]), <Vec3*>doubles(turn[1])
        self.twist, self.twist_rate = <Twist*>doubles(twist[0]), <Twist*>doubles(twist[1])

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t n = bodies.count
        memcpy(self.position, bodies.position, n * sizeof(Vec3))
        memcpy(self.orientation, bodies.orientation, n * sizeof(Quat))
        memcpy(self.twist, bodies.twist, n * sizeof(Twist))
        memset(self.position_rate, 0, n * sizeof(Vec3))
        memset(self.turn, 0, n * sizeof(Vec3))
        memset(self.turn_rate, 0, n * sizeof(Vec3))
        memset(self.twist_rate, 0, n * sizeof(Twist))

    cdef void stage(self, Bodies* bodies, const Twist* acceleration, int k, double h) noexcept nogil:
        """Stage k = 0 ... 3 ends: the bodies stand at the start of the next, or after the last at the end of the
        step."""
        cdef double weight = 1.0 / 3.0 if k == 1 or k == 2 else 1.0 / 6.0
        cdef double reach = h if k >= 2 else 0.5 * h
        cdef Vec3 v, u
        cdef Twist t
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if bodies.kind[i] == STATIC:
                continue
            v = bodies.twist[i].v
            u = turn_rate(self.turn[i], bodies.twist[i].w)
            self.position_rate[i] = add_scaled(self.position_rate[i], weight, v)
            self.turn_rate[i] = add_scaled(self.turn_rate[i], weight, u)
            self.twist_rate[i].v = add_scaled(self.twist_rate[i].v, weight, acceleration[i].v)
            self.twist_rate[i].w = add_scaled(self.twist_rate[i].w, weight, acceleration[i].w)
            t = acceleration[i]
            if k == 3:
                v = self.position_rate[i]
                u = self.turn_rate[i]
                t = self.twist_rate[i]
            self.turn[i] = scale(reach, u)
            place(bodies, i, add_scaled(self.position[i], reach, v), quat_mul(quat_exp(self.turn[i]), self.orientation[i]))
            bodies.twist[i].v = add_scaled(self.twist[i].v, reach, t.v)
            bodies.twist[i].w = add_scaled(self.twist[i].w, reach, t.w)
