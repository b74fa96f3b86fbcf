"""Runge-Kutta on (pose, twist) by a method's tableau (core/_tableau.pyx), over the accelerations that someone else finds.

    y = (x, u, v, w),   x' = v,   (v', w') = a(y)

with orientations as turns u from the step's start, q = exp(u) q0 (core/_math.pxd, turn_rate), so that a steady spin is
followed at any rate.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._far_turns cimport turn_rate_from
from mcsim.core._math cimport add, add_scaled, mat_vec, norm, quat_conj, quat_exp, quat_log, quat_mul, quat_normalized, \
    scale, sub, turn_remainder, turn_spin
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.core._tableau cimport add_error
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
    """The buffers of a step of all bodies, by a method's tableau. dynamic: (bodies,) bool."""

    def __init__(self, Tableau tableau not None, dynamic):
        count = len(dynamic)
        position, turn = np.zeros((count + 1, 3)), np.zeros((count + 1, 3))
        twist, orientation = np.zeros((count + 1, 6)), np.zeros((count + 1, 4))
        rates = np.zeros((tableau.slots, count + 1, RATES))
        self.tableau, self.stride = tableau, (count + 1) * RATES
        self.kept = position, twist, turn, orientation, rates, dynamic
        self.position, self.orientation = <Vec3*>doubles(position), <Quat*>doubles(orientation)
        self.turn, self.twist, self.rates = <Vec3*>doubles(turn), <Twist*>doubles(twist), doubles(rates)
        self.kept_errors = np.zeros((4, count + 1, 6))
        for i in range(4):
            self.error[i] = <Twist*>doubles(self.kept_errors[i]) + 1

    def moving(self):
        """(12 n,) int32: which numbers of a slot move, all places before all velocities, as linear equations over them are
        solved soonest."""
        first = RATES * np.flatnonzero(self.kept[5])[:, None]
        halves = np.arange(RATES // 2), np.arange(RATES // 2, RATES)
        return np.concatenate([(first + half).ravel() for half in halves]).astype(np.int32)

    def all_rates(self):
        """(slots, 12 (bodies + 1)), as a view."""
        return self.kept[4].reshape(self.tableau.slots, -1)

    cdef void take_scales(self, NewtonMethod implicit) noexcept nogil:
        """1 + |y| at the beginning of the step, of what moves: turns begin at 0."""
        cdef Py_ssize_t i, k, body
        for i in range(implicit.size):
            body, k = implicit.place[i] // RATES, implicit.place[i] % RATES
            if k < 3:
                implicit.scale[i] = 1.0 + fabs((<double*>&self.position[body])[k])
            elif k < 6:
                implicit.scale[i] = 1.0
            else:
                implicit.scale[i] = 1.0 + fabs((<double*>&self.twist[body])[k - 6])

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t n = bodies.count
        memcpy(self.position, bodies.position, n * sizeof(Vec3))
        memcpy(self.orientation, bodies.orientation, n * sizeof(Quat))
        memcpy(self.twist, bodies.twist, n * sizeof(Twist))
        memset(self.turn, 0, n * sizeof(Vec3))

    cdef void stage(self, const Bodies* bodies, const Twist* acceleration, int k) noexcept nogil:
        cdef Twist* rate
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if bodies.kind[i] == STATIC:
                continue
            rate = <Twist*>&self.rates[k * self.stride + i * RATES]
            rate[0].v = bodies.twist[i].v
            rate[0].w = turn_rate_from(self.turn[i], bodies.twist[i].w, self.tableau.multistep)
            rate[1] = acceleration[i]

    cdef void sum_rates(self, const double* weights, Py_ssize_t i, Twist* out) noexcept nogil:
        """Of a body."""
        cdef const double* rate
        cdef double* sum = <double*>out
        cdef int j, m
        memset(sum, 0, RATES * sizeof(double))
        for j in range(self.tableau.slots):
            if weights[j] == 0.0:
                continue
            rate = &self.rates[j * self.stride + i * RATES]
            for m in range(RATES):
                sum[m] += weights[j] * rate[m]

    cdef void move(self, Bodies* bodies, int k, double h) noexcept nogil:
        cdef const double* weights = &self.tableau.weights[k * self.tableau.slots]
        cdef Twist rate[2]
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if bodies.kind[i] == STATIC:
                continue
            self.sum_rates(weights, i, rate)
            self.turn[i] = scale(h, rate[0].w)
            place(bodies, i, add_scaled(self.position[i], h, rate[0].v),
                  quat_mul(quat_exp(self.turn[i]), self.orientation[i]))
            bodies.twist[i].v = add_scaled(self.twist[i].v, h, rate[1].v)
            bodies.twist[i].w = add_scaled(self.twist[i].w, h, rate[1].w)

    cdef void take_back(self, Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if bodies.kind[i] != STATIC:
                place(bodies, i, self.position[i], self.orientation[i])
                bodies.twist[i] = self.twist[i]

    cdef void read_back(self, const Bodies* bodies, int k) noexcept nogil:
        """Where dynamic bodies stand, as a displacement into slot k."""
        cdef Twist* moved
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if bodies.kind[i] != DYNAMIC:
                continue
            moved = <Twist*>&self.rates[k * self.stride + i * RATES]
            moved[0].v = sub(bodies.position[i], self.position[i])
            moved[0].w = self.turn[i] = quat_log(quat_mul(bodies.orientation[i], quat_conj(self.orientation[i])))
            moved[1].v, moved[1].w = sub(bodies.twist[i].v, self.twist[i].v), sub(bodies.twist[i].w, self.twist[i].w)

    cdef double farthest_turn(self, const Bodies* bodies) noexcept nogil:
        """From where the step began [rad]."""
        cdef double farthest = 0.0
        cdef Py_ssize_t i
        for i in range(bodies.count):
            farthest = max(farthest, norm(self.turn[i]))
        return farthest

    cdef void find_errors(self, const Bodies* bodies, bint across) noexcept nogil:
        """As displacements and velocities at the step's end. across: of one in which forces came to a bound, or left it."""
        cdef const double* weights
        cdef Twist sums[2]
        cdef Py_ssize_t i
        cdef int k
        for i in range(bodies.count):
            for k in range(0, 4 if bodies.kind[i] == DYNAMIC else 0, 2):
                weights = self.tableau.fifth if k == 0 else self.tableau.third
                self.sum_rates(self.tableau.change if across else weights, i, sums)
                self.error[k][i] = sums[0]
                self.error[k][i].w = turn_spin(self.turn[i], sums[0].w)
                self.error[k + 1][i] = sums[1]

    cdef void judge(self, const Bodies* bodies, double* errors) noexcept nogil:
        """What turn_rate leaves out is an error of both estimates."""
        cdef const double* before
        cdef const double* after
        cdef double left_out
        cdef Py_ssize_t i
        cdef int m
        errors[0] = errors[1] = 0.0
        for i in range(bodies.count):
            if bodies.kind[i] != DYNAMIC:
                continue
            before, after = <double*>&self.position[i], <double*>&bodies.position[i]
            for m in range(3):
                self.add_estimates(errors, 0, i, m, before[m], after[m])
            after = <double*>&self.turn[i]
            for m in range(3, 6):
                self.add_estimates(errors, 0, i, m, 0.0, after[m - 3])
            before, after = <double*>&self.twist[i], <double*>&bodies.twist[i]
            for m in range(6):
                self.add_estimates(errors, 1, i, m, before[m], after[m])
            if not self.tableau.multistep:
                left_out = turn_remainder(self.turn[i], bodies.twist[i].w)
                add_error(errors, left_out, left_out, 0.0, 0.0)

    cdef void add_estimates(self, double* errors, int k, Py_ssize_t i, int m, double before, double after) noexcept nogil:
        add_error(errors, (<double*>&self.error[k][i])[m], (<double*>&self.error[k + 2][i])[m], before, after)
