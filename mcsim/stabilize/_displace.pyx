"""Position solves: the rows solved on a displacement d [m, rad] in place of the velocities, in bodies' own masses,

    d = M^-1 J' p,     J d + bias = 0  (>= 0, p >= 0 for limits and contacts),     x += d.v,  q <- exp(d.w) q

so d is the smallest change of pose, measured by M, that mends the rows. With C the error of a row:

    split_impulse   bias = target(beta C)                      J and C at the pose before the drift; p is discarded
    projection      bias = target(C)                           J and C at the pose after it, anew in each round
    ggl             bias = target(C at the moved pose) - J d   J at the pose after it; p and d go on from round to round

target is C itself for joints and for gaps (a row may not be closed past its gap); for overlaps C + slop, 0 at most, and
no faster than `push_speed`; split_impulse adds to gaps, and to overlaps that part, the h J v by which the drift itself
changes them. Motors, springs and friction take no part. The sweeps are the solvers' own, on rows whose impulses
and biases are borrowed meanwhile.

d is a step of Newton's method: J d is what it does to errors by straight lines, and what comes beside that grows with its
square. Where joints can hardly be closed, or contradict each other, J is all but singular and d as long as you please. So
d is taken for groups of bodies that rows tie together, of each as long that what comes beside J d is at most half of it,

    |C(x + s d) - C(x) - s J d|  <=  1/2 |s J d|,     |c|^2 the sum of c_i^2 / (J M^-1 J')_ii,

s = 1 wherever that holds, as it does in all but torn joints: then errors become smaller with every step.

What becomes of the velocities: nothing, but that momentum is kept. A body's spin momentum stays while it is turned.
Impulses p move the two bodies of a row by -F / m_a and F / m_b, F the linear part of J'p, and so change the orbital
angular momentum by F x (v_b - v_a); the pair gets that back as a rigid turn, which is the change of least kinetic
energy that does it. Rows that contradict or repeat each other press without moving anybody: there p has no bound, d
has. What moves bodies of masses m_i that hang together by d_i passes through none of their pairs as more than the sum
of m_i |d_i|, for a chain's impulses are sums over what hangs on them. Where some F is more, pairs do not tell what
they took, and what hangs together gets back as one rigid turn what it lost as a whole, the sum of m d x v, if nothing
else holds it. Bodies at rest to each other stay as they are to the bit.

Sources: split impulse: E. Coumans, Bullet (m_splitImpulse); R. Tonge, "Iterative rigid body solvers", GDC 2013;
projection: the mass-orthogonal one of E. Eich, "Convergence results for a coordinate projection method applied to
mechanical systems with algebraic constraints", 1993;
ggl: C. W. Gear, B. Leimkuhler and G. K. Gupta, "Automatic integration of Euler-Lagrange equations with constraints",
1985; step lengths: J. Dennis, R. Schnabel, "Numerical Methods for Unconstrained Optimization and Nonlinear
Equations", 1983, section 6.3.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from mcsim.core._forest cimport root_of
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport (add, add_scaled, cross, mat_add, mat_vec, norm, quat_exp, quat_mul, quat_normalized, scale,
                               sub, vec3)
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.stabilize._orbits cimport carry_orbit, end_of_pair
from mcsim.state._inertia cimport about_point, inertia_world, refresh_inertia, spin_momentum, turn_of
from mcsim.state._bodies cimport DYNAMIC, Bodies
from mcsim.state._row cimport BIASED, ROW_JOINT, ROW_NORMAL, Row, is_wide
from mcsim.state._settings cimport Settings
from mcsim.state._rows cimport rate, without_slop

from mcsim.state.fields import ROW_DTYPE


# What may come beside J d, in parts of it.
cdef double MOST_BENT = 0.5

# A displacement that bends more is made shorter at once, to this part of the length at which it would do.
cdef double SHORTER = 0.9

# The part of itself below which a displacement is none.
cdef double LEAST_PART = 1e-3

# How far a body is turned at most [rad].
cdef double MOST_TURN = 1.0

# By which errors that are equal differ, in parts of levers.
cdef double ROUNDING = 1e-10

# The same in parts of how far the bodies are from the origin: some fifty units in the last place.
cdef double FAR_ROUNDING = 1e-14


cdef inline double target(const Row* row, double error, double part, const Settings* settings) noexcept nogil:
    """How far the row is to be moved, with the sign of its error, if `part` of an error is to be mended."""
    cdef double fastest = row.push * settings.h
    if row.kind == ROW_JOINT:
        return part * error
    if error > 0.0:
        return error
    if row.kind == ROW_NORMAL:
        error = without_slop(row, error, settings)
    error *= part
    return error if error > -fastest else -fastest


cdef inline int32_t moving_end(const Row* row, const Bodies* bodies) noexcept nogil:
    """One of its bodies, that moves by itself if one does."""
    return row.body_a if bodies.inv_mass[row.body_a] > 0.0 else row.body_b


cdef inline double rounding(const Row* row, const Vec3* position) noexcept nogil:
    """Of the error of a row [m, rad]. position: of the bodies."""
    cdef const double* j = &row.jacobian[0]
    cdef double levers = norm(vec3(j[3], j[4], j[5])) + norm(vec3(j[9], j[10], j[11]))
    cdef double far = 0.0
    if row.body_a >= 0:
        far = max(far, norm(position[row.body_a]))
    if row.body_b >= 0:
        far = max(far, norm(position[row.body_b]))
    return ROUNDING * levers + FAR_ROUNDING * far * norm(vec3(j[6], j[7], j[8]))


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
        parent, together = np.zeros(n, np.int32), np.zeros((n, sizeof(Together) // 8))
        self.parent, self.together = integers(parent), <Together*>doubles(together)
        self.kept = (twists, positions, orientations, parent, together)

    cdef int reserve(self, Py_ssize_t rows) except -1:
        if rows > self.row_capacity:
            loans, trial = np.zeros((rows, sizeof(RowLoan) // 8)), np.zeros(rows, ROW_DTYPE)
            self.loans, self.trial = <RowLoan*>doubles(loans), <Row*>records(trial)
            self.kept = (*self.kept[:5], loans, trial)
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
            self.loans[i].lower, self.loans[i].upper = row.lower, row.upper
            self.loans[i].friction = row.friction
            self.loans[i].error = self.loans[i].asked = row.error
            row.impulse = 0.0
            row.bias[BIASED] = 0.0
            if not row.stabilized and row.kind != ROW_JOINT:
                row.mass[BIASED] = 0.0
                row.lower = row.upper = row.friction = 0.0
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
        self.tie_rows(rows, count, bodies)
        self.carry_orbits(rows, count, bodies)
        self.carry_spins(bodies)
        for i in range(count):
            rows[i].impulse = self.loans[i].impulse
            rows[i].bias[BIASED] = self.loans[i].bias
            rows[i].mass[BIASED] = self.loans[i].mass
            rows[i].lower, rows[i].upper = self.loans[i].lower, self.loans[i].upper
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

    # ---- groups of bodies ------------------------------------------------------------------------------------------------

    cdef int32_t root(self, int32_t i) noexcept nogil:
        return root_of(self.parent, i)

    cdef void begin_groups(self) noexcept nogil:
        """Each body alone."""
        cdef Py_ssize_t i
        for i in range(self.body_count):
            self.parent[i] = <int32_t>i
        memset(self.together, 0, self.body_count * sizeof(Together))

    cdef void tie(self, const Bodies* bodies, int a, int b) noexcept nogil:
        """Two bodies, of which one may be held: then so is the other's group."""
        cdef int32_t x, y
        if bodies.inv_mass[a] > 0.0 and bodies.inv_mass[b] > 0.0:
            x, y = self.root(a), self.root(b)
            self.parent[max(x, y)] = min(x, y)
            self.together[min(x, y)].held |= self.together[max(x, y)].held
        elif bodies.inv_mass[a] > 0.0:
            self.together[self.root(a)].held = 1
        elif bodies.inv_mass[b] > 0.0:
            self.together[self.root(b)].held = 1

    cdef void tie_rows(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """Those that rows with an impulse tie."""
        cdef Py_ssize_t i
        self.begin_groups()
        for i in range(count):
            if rows[i].impulse != 0.0:
                self.tie_row(&rows[i], bodies)

    cdef void tie_row(self, const Row* row, const Bodies* bodies) noexcept nogil:
        self.tie(bodies, row.body_a, row.body_b)
        if is_wide(row):
            self.tie(bodies, row[1].body_a, row[1].body_b)
            self.tie(bodies, moving_end(row, bodies), moving_end(row + 1, bodies))

    cdef int32_t group(self, const Row* row, const Bodies* bodies) noexcept nogil:
        """-1: of none"""
        cdef int32_t i = moving_end(row, bodies)
        if not bodies.inv_mass[i] > 0.0 and is_wide(row):
            i = moving_end(row + 1, bodies)
        return self.root(i) if bodies.inv_mass[i] > 0.0 else -1

    # ---- how long a displacement may be ----------------------------------------------------------------------------------

    cdef void keep_errors(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            self.loans[i].error = rows[i].error

    cdef void expect(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """Nobody turns by more than MOST_TURN: straight lines say nothing of that, nor could turns be counted."""
        cdef Py_ssize_t i
        cdef Together* t
        cdef double turn
        cdef bint any = False
        self.tie_rows(rows, count, bodies)
        for i in range(bodies.count):
            self.together[i].part = 1.0
        for i in range(bodies.count):
            turn = norm(self.twist[i].w)
            if not turn <= MOST_TURN:
                t = &self.together[self.root(<int32_t>i)]
                t.part = min(t.part, MOST_TURN / turn) if turn < INFINITY else 0.0
                any = True
        if any:
            self.scale_groups(rows, count, bodies)
        for i in range(count):
            self.loans[i].aimed = rate(&rows[i], self.twist) if rows[i].stabilized else 0.0

    cdef bint shorten(self, Row* rows, const Row* moved, Py_ssize_t count, const Bodies* bodies, bint last) noexcept nogil:
        """rows: whose impulses become smaller by as much; moved: they, or others at the moved poses. last: what is
        still too far is not moved at all."""
        cdef Py_ssize_t i
        cdef int32_t g
        cdef double weight, off
        cdef Together* t
        cdef bint any = False
        for i in range(bodies.count):
            t = &self.together[i]
            t.aimed = t.bent = t.rounding = 0.0
        for i in range(count):
            g = self.group(&rows[i], bodies) if rows[i].stabilized and rows[i].diagonal > 0.0 else -1
            if g < 0:
                continue
            weight = 1.0 / rows[i].diagonal
            t = &self.together[g]
            t.aimed += weight * self.loans[i].aimed * self.loans[i].aimed
            off = moved[i].error - self.loans[i].error - self.loans[i].aimed
            t.bent += weight * off * off
            off = rounding(&rows[i], self.start_position)
            t.rounding += weight * off * off
        for i in range(bodies.count):
            t = &self.together[i]
            t.part = 1.0
            if not t.bent <= MOST_BENT * MOST_BENT * t.aimed + t.rounding:
                t.part = 0.0 if last else SHORTER * MOST_BENT * sqrt(t.aimed / t.bent)
                if not t.part >= LEAST_PART:
                    t.part = 0.0
                any = True
        if any:
            self.scale_groups(rows, count, bodies)
        return any

    cdef void scale_groups(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """By their `part`."""
        cdef Py_ssize_t i
        cdef int32_t g
        cdef double part
        for i in range(count):
            g = self.group(&rows[i], bodies)
            if g >= 0 and self.together[g].part < 1.0:
                part = self.together[g].part
                self.loans[i].aimed = part * self.loans[i].aimed if part > 0.0 else 0.0
                rows[i].impulse = part * rows[i].impulse if part > 0.0 else 0.0
        for i in range(bodies.count):
            if not bodies.inv_mass[i] > 0.0:
                continue
            part = self.together[self.root(<int32_t>i)].part
            if part == 0.0:
                memset(&self.twist[i], 0, sizeof(Twist))
            elif part < 1.0:
                self.twist[i].v = scale(part, self.twist[i].v)
                self.twist[i].w = scale(part, self.twist[i].w)

    cdef void find_left(self, const Row* moved, Py_ssize_t count, const Bodies* bodies, double part) noexcept nogil:
        """In which groups less than half was done of what was to be, `part` of the joints' errors: by the sums of
        done asked and of asked^2, both by 1 / (J M^-1 J')."""
        cdef Py_ssize_t i
        cdef int32_t g
        cdef double weight
        for i in range(bodies.count):
            self.together[i].aimed = self.together[i].bent = 0.0
        for i in range(count):
            g = self.group(&moved[i], bodies) if moved[i].stabilized and moved[i].diagonal > 0.0 else -1
            if g >= 0 and moved[i].kind == ROW_JOINT:
                weight = part * self.loans[i].asked / moved[i].diagonal
                self.together[g].aimed += weight * part * self.loans[i].asked
                self.together[g].bent += weight * (self.loans[i].error - moved[i].error)
        for i in range(bodies.count):
            self.together[i].left = not self.together[i].bent >= 0.5 * self.together[i].aimed

    # ---- momentum --------------------------------------------------------------------------------------------------------

    cdef void carry_orbits(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """Into `carried`: the turns that give bodies that rows tie together the angular momentum back that their
        displacement took."""
        cdef Py_ssize_t i, k
        cdef Together* t
        cdef Vec3 f
        memset(self.carried - 1, 0, (self.body_count + 1) * sizeof(Twist))
        for i in range(bodies.count):
            if bodies.inv_mass[i] > 0.0:
                self.together[self.root(<int32_t>i)].moved += norm(self.twist[i].v) / bodies.inv_mass[i]
        i = 0
        while i < count:
            k = i
            i = end_of_pair(rows, i, count, &f)
            if bodies.inv_mass[rows[k].body_a] > 0.0 and bodies.inv_mass[rows[k].body_b] > 0.0:
                t = &self.together[self.root(rows[k].body_a)]
                if not norm(f) <= (1.0 + ROUNDING) * t.moved:
                    t.whole = 1
        i = 0
        while i < count:
            k = i
            i = end_of_pair(rows, i, count, &f)
            if not self.together[self.root(max(rows[k].body_a, rows[k].body_b))].whole:
                carry_orbit(self.carried, bodies, rows[k].body_a, rows[k].body_b, f)
        self.turn_groups(bodies)

    cdef void turn_groups(self, const Bodies* bodies) noexcept nogil:
        """Those that are to be turned as a whole, and that nothing holds,

            I w = -sum of m d x v,     I = sum of I_i + m (r.r 1 - r r'),     r from the common centre of mass,

        v as seen from one of them."""
        cdef Py_ssize_t i
        cdef Together* t
        cdef Vec3 r, w
        cdef double m
        for i in range(bodies.count):
            t = &self.together[self.root(<int32_t>i)]
            if t.whole and not t.held:
                m = 1.0 / bodies.inv_mass[i]
                t.mass += m
                t.center = add_scaled(t.center, m, bodies.position[i])
                t.lost = add_scaled(t.lost, m, cross(sub(bodies.twist[i].v, bodies.twist[self.root(<int32_t>i)].v),
                                                     self.twist[i].v))
        for i in range(bodies.count):
            t = &self.together[self.root(<int32_t>i)]
            if t.whole and not t.held:
                r = sub(bodies.position[i], scale(1.0 / t.mass, t.center))
                t.inertia = mat_add(t.inertia, about_point(inertia_world(bodies, i), 1.0 / bodies.inv_mass[i], r))
        for i in range(bodies.count):
            t = &self.together[self.root(<int32_t>i)]
            if t.whole and not t.held and (t.lost.x != 0.0 or t.lost.y != 0.0 or t.lost.z != 0.0):
                w = turn_of(t.inertia, t.lost)
                r = sub(bodies.position[i], scale(1.0 / t.mass, t.center))
                self.carried[i].v = cross(w, r)
                self.carried[i].w = w
