"""Position solves: the rows solved on a displacement d [m, rad] in place of the velocities, in bodies' own masses,

    d = M^-1 J' p,     J d + bias = 0  (>= 0, p >= 0 for limits and contacts),     x += d.v,  q <- exp(d.w) q

so d is the smallest change of pose, measured by M, that mends the rows. With C the error of a row:

    split_impulse   bias = target(beta C)                      J and C at the pose before the drift; p is discarded
    projection      bias = target(C)                           J and C at the pose after it, anew in each round
    ggl             bias = target(C at the moved pose) - J d   J at the pose before the drift; p and d go on from
                                                               round to round

target is C itself for joints and for gaps (a row may not be closed past its gap); for overlaps C + slop, 0 at most, and
no faster than `push_speed`; split_impulse adds to gaps, and to overlaps that part, the h J v by which the drift itself
changes them. Motors, springs and friction take no part. The sweeps are the solvers' own, on rows whose impulses
and biases are borrowed meanwhile.

What becomes of the velocities: nothing, but that momentum is kept. A body's spin momentum stays while it is turned.
Impulses p move the two bodies of a row by -F / m_a and F / m_b, F the linear part of J'p, and so change the orbital
angular momentum by F x (v_b - v_a); the pair gets that back as a rigid turn, which is the change of least kinetic
energy that does it. Bodies at rest to each other stay as they are to the bit.

Sources: split impulse: E. Coumans, Bullet (m_splitImpulse); R. Tonge, "Iterative rigid body solvers", GDC 2013;
projection: the mass-orthogonal one of E. Eich, "Convergence results for a coordinate projection method applied to
mechanical systems with algebraic constraints", 1993;
ggl: C. W. Gear, B. Leimkuhler and G. K. Gupta, "Automatic integration of Euler-Lagrange equations with constraints",
1985.
"""

import numpy as np

from libc.string cimport memcpy, memset
from mcsim.core._arrays cimport doubles, records
from mcsim.core._math cimport (add, add_scaled, cross, mat_add, mat_vec, quat_exp, quat_mul, quat_normalized, scale,
                               sub, vec3)
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._inertia cimport about_point, inertia_world, refresh_inertia, spin_momentum, turn_of
from mcsim.state._layout cimport (BIASED, DYNAMIC, RELAXED, ROW_JOINT, ROW_NORMAL, Bodies, Row, Settings)
from mcsim.state._rows cimport fastest_push, rate, without_slop

from mcsim.state.fields import ROW_DTYPE


cdef inline double target(const Row* row, double error, double part, const Settings* settings) noexcept nogil:
    """How far the row is to be moved, with the sign of its error, if `part` of an error is to be mended."""
    cdef double fastest = fastest_push(row, settings) * settings.h
    if row.kind == ROW_JOINT:
        return part * error
    if error > 0.0:
        return error
    if row.kind == ROW_NORMAL:
        error = without_slop(row, error, settings)
    error *= part
    return error if error > -fastest else -fastest


cdef class Displacement:
    """The displacement of the bodies and what a solve for it borrows. Scratch: nothing of it outlives a substep."""

    def __init__(self, Py_ssize_t body_count):
        """body_count: at least the bodies of the world that it is used with."""
        cdef Py_ssize_t n = body_count + 1
        twists = np.zeros((2, n, 6))
        positions, orientations = np.zeros((n, 3)), np.zeros((n, 4))
        self.twist, self.carried = <Twist*>doubles(twists[0]) + 1, <Twist*>doubles(twists[1]) + 1
        self.start_position, self.start_orientation = <Vec3*>doubles(positions) + 1, <Quat*>doubles(orientations) + 1
        self.body_count = body_count
        self.kept = (twists, positions, orientations)

    cdef int reserve(self, Py_ssize_t rows) except -1:
        if rows > self.row_capacity:
            loans, trial = np.zeros((rows, sizeof(RowLoan) // 8)), np.zeros(rows, ROW_DTYPE)
            self.loans, self.trial = <RowLoan*>doubles(loans), <Row*>records(trial)
            self.kept = (*self.kept[:3], loans, trial)
            self.row_capacity = rows
        return 0

    cdef void begin(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """A row without a position error that is alone in its block is held at impulse 0; in a joint's block it stays
        at bias 0, so that the displacement does not move it."""
        cdef Py_ssize_t i
        cdef Row* row
        for i in range(count):
            row = &rows[i]
            self.loans[i].impulse = row.impulse
            self.loans[i].bias = row.bias[BIASED]
            self.loans[i].mass = row.mass[BIASED]
            self.loans[i].friction = row.friction
            row.impulse = 0.0
            row.bias[BIASED] = 0.0
            if not row.stabilized and row.kind != ROW_JOINT:
                row.mass[BIASED] = 0.0
                row.friction = 0.0
        self.clear(bodies)

    cdef void clear(self, const Bodies* bodies) noexcept nogil:
        """No displacement yet, from the present poses."""
        memset(self.twist - 1, 0, (self.body_count + 1) * sizeof(Twist))
        memset(self.carried - 1, 0, (self.body_count + 1) * sizeof(Twist))
        self.start_here(bodies)

    cdef void start_here(self, const Bodies* bodies) noexcept nogil:
        memcpy(self.start_position, bodies.position, bodies.count * sizeof(Vec3))
        memcpy(self.start_orientation, bodies.orientation, bodies.count * sizeof(Quat))

    cdef void aim_split(self, Row* rows, Py_ssize_t count, const Bodies* bodies,
                        const Settings* settings) noexcept nogil:
        cdef Py_ssize_t i
        cdef double coming                # what the drift will add to the error
        for i in range(count):
            if rows[i].stabilized:
                coming = settings.h * rate(&rows[i], bodies.twist)
                if rows[i].kind == ROW_JOINT or (rows[i].error <= 0.0 and coming < 0.0):
                    coming = 0.0
                rows[i].bias[BIASED] = target(&rows[i], rows[i].error, settings.baumgarte, settings) + coming

    cdef void aim_projection(self, Row* rows, Py_ssize_t count, const Settings* settings) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].stabilized:
                rows[i].bias[BIASED] = target(&rows[i], rows[i].error, 1.0, settings)
            else:
                # The refresh that follows makes this the relax pass's: a spring's impulse belongs to the pose before
                # the drift.
                self.loans[i].bias = rows[i].bias[RELAXED]

    cdef void aim_ggl(self, Row* rows, Py_ssize_t count, const Settings* settings) noexcept nogil:
        """A Newton step from the trial rows' errors, which are those at the moved poses."""
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].stabilized:
                rows[i].bias[BIASED] = (target(&rows[i], self.trial[i].error, 1.0, settings)
                                        - rate(&rows[i], self.twist))

    cdef void move(self, Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t i, k
        for k in range(self.body_count if self.chosen == NULL else self.count):
            i = k if self.chosen == NULL else self.chosen[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            bodies.position[i] = add(self.start_position[i], self.twist[i].v)
            bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(self.twist[i].w), self.start_orientation[i]))
            refresh_inertia(bodies, i)

    cdef void finish(self, Row* rows, Py_ssize_t count, Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t i
        self.carry_orbits(rows, count, bodies)
        self.carry_spins(bodies)
        for i in range(count):
            rows[i].impulse = self.loans[i].impulse
            rows[i].bias[BIASED] = self.loans[i].bias
            rows[i].mass[BIASED] = self.loans[i].mass
            rows[i].friction = self.loans[i].friction

    cdef void carry_spins(self, Bodies* bodies) noexcept nogil:
        """Keep each body's spin momentum L while it turned from its start; add what carry_orbits found."""
        cdef Py_ssize_t i, k
        cdef Vec3 momentum, w
        cdef Twist* t
        for k in range(self.body_count if self.chosen == NULL else self.count):
            i = k if self.chosen == NULL else self.chosen[k]
            t = &bodies.twist[i]
            if bodies.kind[i] != DYNAMIC:
                continue
            if t.w.x != 0.0 or t.w.y != 0.0 or t.w.z != 0.0:
                momentum = spin_momentum(bodies, i, self.start_orientation[i], t.w)
                w = mat_vec(bodies.inv_inertia_world[i], momentum)
                # One refinement: rounding in the inverse would add up.
                momentum = sub(momentum, mat_vec(inertia_world(bodies, i), w))
                t.w = add(w, mat_vec(bodies.inv_inertia_world[i], momentum))
            t.v = add(t.v, self.carried[i].v)
            t.w = add(t.w, self.carried[i].w)

    cdef void carry_orbits(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """Into `carried`: the turns that give each pair of bodies the angular momentum back that its displacement
        took."""
        cdef Py_ssize_t i = 0
        cdef int a, b
        cdef Vec3 f
        memset(self.carried - 1, 0, (self.body_count + 1) * sizeof(Twist))
        while i < count:
            a = rows[i].body_a
            b = rows[i].body_b
            f = vec3(0.0, 0.0, 0.0)
            while i < count and rows[i].body_a == a and rows[i].body_b == b:
                f = add_scaled(f, rows[i].impulse, vec3(rows[i].jacobian[6], rows[i].jacobian[7], rows[i].jacobian[8]))
                i += 1
            self.carry_orbit(bodies, a, b, f)

    cdef void carry_orbit(self, const Bodies* bodies, int a, int b, Vec3 f) noexcept nogil:
        """The same of one pair, which was displaced by -f / m_a and f / m_b."""
        cdef Vec3 lost
        if bodies.inv_mass[a] > 0.0 and bodies.inv_mass[b] > 0.0:
            lost = cross(f, sub(bodies.twist[a].v, bodies.twist[b].v))
            if lost.x != 0.0 or lost.y != 0.0 or lost.z != 0.0:
                self.turn_pair(bodies, a, b, lost)

    cdef void turn_pair(self, const Bodies* bodies, int a, int b, Vec3 momentum) noexcept nogil:
        """Turn two bodies as one about their common centre of mass, with this angular momentum.

        I w = momentum,  I = I_a + I_b + m (d.d 1 - d d'),  d = x_b - x_a,  m the reduced mass.
        """
        cdef Vec3 d = sub(bodies.position[b], bodies.position[a])
        cdef double m = 1.0 / (bodies.inv_mass[a] + bodies.inv_mass[b])
        cdef Mat3 spins = mat_add(inertia_world(bodies, a), inertia_world(bodies, b))
        cdef Vec3 w = turn_of(about_point(spins, m, d), momentum)
        cdef Vec3 swing = scale(m, cross(w, d))
        self.carried[a].v = add_scaled(self.carried[a].v, -bodies.inv_mass[a], swing)
        self.carried[b].v = add_scaled(self.carried[b].v, bodies.inv_mass[b], swing)
        self.carried[a].w = add(self.carried[a].w, w)
        self.carried[b].w = add(self.carried[b].w, w)
