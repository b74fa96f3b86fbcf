"""Drifts that keep energy and momenta at any step, for articulations whose joints' forces turn bodies back and forth
faster than a substep resolves (docs/theory/tree.md).

A piece of a drift takes a body from x0, R0 with the velocities v-, w- to x1, R1 with v+, w+. With L the joints' impulses
over the piece, and J^ their Jacobian with all arms and axes the mean of what they are at both ends:

    M (v+ - v-) = J^' L                     R1 I W+ - R0 I W- = the moments of J^' L,     W angular velocity in body axes
    x1 = x0 + h (v- + v+) / 2               R1 = R0 cay(h (W- + W+) / 2)
    C(x1, R1) = 0

cay is Cayley's turn: cay(t) turns about t by 2 atan(|t| / 2). A vector r fixed in the body then moves by
R1 r - R0 r = t x (R0 r + R1 r) / 2, so J^ times the mean velocity is exactly (C1 - C0) / h for every error C that is
bilinear in arms and axes, as those of points and right angles are, and for a product s u of two such, whose
difference is that of u times the mean of s and that of s times the mean of u, as those of parallel axes are. The work
of the joints is L . J^ (mean velocity) = 0: kinetic energy is kept exactly, and so are both momenta, since the two
impulses of a row act at one point. No step makes that unstable: what turns too fast for it goes on turning, more
slowly, with the energy that it has.

Newton's method solves for the mean velocities u and L. By both equations, with G what is left of the momenta,

    2 (M + h K(L) / 4) du - J^' dL = -G,      h J^ du = -C1,      K(L) the stiffness of constraints/_stiffness.pyx

K+ in place of K leaves the matrix definite; it is made anew with each step.

Gravity and the user's forces act at both ends of a piece, half each: of a constant force the energy is exact too, since
the work of its impulses is f . (v- + v+) h / 2 = f . (x1 - x0). Where contacts, limits or drives have been solved
against the half of the forces that acts before the drift, it stays in the velocities, balanced by their impulses, and
the flight has no forces of its own. At the end of a piece J v = 0 is asked for, which the motion found meets but for
what the joints' forces change within the piece: what that projection takes of the kinetic energy is the measure of a
piece's error. A piece that takes too much, or for which Newton's method finds no end, is divided in two; after it
pieces grow again.

Sources: J. Simo, K. Wong, "Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
momentum", 1991; O. Gonzalez, "Mechanical systems subject to holonomic constraints: differential-algebraic formulations
and conservative integration", 1999; P. Betsch, P. Steinmann, "Constrained integration of rigid body dynamics", 2001.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memset

import numpy as np

from mcsim.constraints._joint_table cimport holds_position
from mcsim.constraints._parts cimport still_frames
from mcsim.constraints._stiffness cimport add_stiffness
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport (add, add_scaled, cross, dot, inverse_symmetric, mat_vec, norm, quat, quat_mul,
                               quat_normalized, rotate, rotate_back, scale, sub, vec3)
from mcsim.core._types cimport Twist
from mcsim.direct._flight_rows cimport constrain_flight, is_point
from mcsim.integrate._euler cimport try_poses
from mcsim.state._inertia cimport inertia_world, keep_momentum, refresh_inertia
from mcsim.state._row cimport JointRow, JointRows, Row
from mcsim.state._rows cimport Off, add_error, copy_jacobian, is_linear, no_error, row_rate, rows_way, time_to_close


# A piece is found when its joints are closed, and its momenta kept, to this part of the articulation's size.
cdef double CLOSED = 5e-9
cdef enum:
    MOST_CORRECTIONS = 20        # of a piece
    PATIENCE = 2                 # of them in succession after which those that are left would not do, at their rate
    SOON = 3                     # to go on is worth so many more where what is found would do
    HALVINGS = 20                # of a drift, at most
    MOST_PIECES = 2000           # of a drift; beyond them only those are halved where Newton's method fails
    LAST_HALVINGS = 12           # to a drift halved so often
    MOST_OF_ONE_LOOP = 256       # the pieces with a loop, for one that cannot be closed takes them all,
    MOST_OF_LOOPS = 64           # and in a net, where a piece is dear
    LAST_OF_LOOPS = 3            # LAST_HALVINGS there
# The part of their kinetic energy that the projection of a piece's velocities may take.
cdef double LOSS = 1e-6

# How many times as much a piece twice as long is held to take: errors are of third order, so 2^3.
cdef double GROWTH = 8.0

# Newton's matrix is made anew where a step with the old one left more than this part of what was off.
cdef double RENEW = 0.3

# The same with loops, where the matrix is dear.
cdef double LOOP_RENEW = 0.65
# With loops, near singular poses, where Newton's method is slow, this is enough of the momenta, in parts of the size. What
# it gives of energy `limit` takes.
cdef double LOOSE = 1e-3
# It diverges, in parts of the size too.
cdef double BEYOND = 1e6
# Redundant rows: part of the diagonal of J M^-1 J' that is added to it. Newton's method repairs what it does.
cdef double PROXIMAL = 1e-8


cdef inline Vec3 mean(Vec3 a, Vec3 b) noexcept nogil:
    return scale(0.5, add(a, b))


cdef inline double foretell(double wrong, double last, int corrections) noexcept nogil:
    """What so many corrections are to leave of what is wrong, as the one after `last` has done; 0 where there was none."""
    cdef double left = wrong
    cdef int _
    if not last > 0.0:
        return 0.0
    if not wrong < last:
        return INFINITY
    for _ in range(corrections):
        left *= wrong / last
    return left


cdef inline void mean_frames(const JointFrames* a, const JointFrames* b, bint point, JointFrames* f) noexcept nogil:
    cdef int i
    f.arm_a = mean(a.arm_a, b.arm_a)
    f.arm_b = mean(a.arm_b, b.arm_b)
    f.offset = mean(a.offset, b.offset)
    f.way = vec3(0.0, 0.0, 0.0)
    if point:
        return
    f.point_a = mean(a.point_a, b.point_a)
    f.point_b = mean(a.point_b, b.point_b)
    for i in range(3):
        f.axis_a[i] = mean(a.axis_a[i], b.axis_a[i])
        f.axis_b[i] = mean(a.axis_b[i], b.axis_b[i])
    for i in range(2):
        f.tilt[i] = 0.5 * (a.tilt[i] + b.tilt[i])
    f.rise = 0.5 * (a.rise + b.rise)                 # and s1 - s0 = -b (w1 - w0) with
    f.bend = 0.5 * a.rise * b.rise
    f.relative = quat(0.5 * (a.relative.w + b.relative.w), 0.5 * (a.relative.x + b.relative.x),
                      0.5 * (a.relative.y + b.relative.y), 0.5 * (a.relative.z + b.relative.z))
    still_frames(f)


cdef class Flights:
    """tree: the joints' own; members, driven: the bodies that articulations name; bodies: how many there are. attach: the
    records of the pipeline, and the poses of `driven` at the drift's start, kept by who asks for flights."""

    def __init__(self, JointTree tree not None, members, driven, Py_ssize_t bodies):
        count = tree.rows.joint_count
        members, driven = (np.append(of, 0).astype(np.int32) for of in (members, driven))
        fliers, twists = np.zeros((bodies + 1) * sizeof(Flier) // 8), np.zeros((bodies + 1, 6))
        frames = np.zeros((count + 1) * sizeof(JointFrames) // 8)
        numbers, inertia = np.zeros((5, tree.row_count + 1)), np.zeros((bodies + 1, 9))
        self.kept = members, driven, fliers, twists, frames, numbers, inertia
        self.inertia = <Mat3*>doubles(inertia)
        self.tree, self.flight_rows = tree, FlightRows(tree)
        self.motion = WholeMotion(self.flight_rows, members, driven)
        self.member, self.driven = integers(members), integers(driven)
        self.fliers, self.twists = <Flier*>doubles(fliers) + 1, <Twist*>doubles(twists) + 1
        self.frames = <JointFrames*>doubles(frames)
        self.opening, self.residual, self.warm = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.sum, self.held = doubles(numbers[3]), doubles(numbers[4])

    cdef void attach(self, Bodies* bodies, const Joint* joints, const Settings* settings, const Vec3* driven_position,
                     const Quat* driven_orientation) noexcept:
        self.bodies, self.joints, self.settings = bodies, joints, settings
        self.flight_rows.attach(bodies, joints, settings)
        self.motion.attach(bodies, joints, settings)
        self.driven_position, self.driven_orientation = driven_position, driven_orientation

    # ---- a drift -------------------------------------------------------------------------------------------------------

    cdef double fly(self, const Articulation* a, double h, int coarsest, bint swept) noexcept nogil:
        """Poses and velocities at the end of a drift that lasts h and begins at the present ones, in 2^coarsest pieces at
        least. tree.rows.impulse: warm-started with half of the joints' impulses; at the end what may warm-start the
        next drift. `sum` has what they were, `held` those beside. The first half of the forces has acted, the second
        is to come. swept: the velocities at the start do not go along with the joints. -> how far these are open at
        the end"""
        cdef double* impulse = self.tree.rows.impulse
        cdef double length, ahead, end, off, before, taken
        cdef int32_t done = 0                        # of 2^HALVINGS
        cdef int32_t step
        cdef int level = coarsest
        # Beyond this level pieces are divided only if they fail. Where loops meet, in a net, no division helps: what they
        # lose are strikes of joints that come taut.
        cdef int deepest = 0 if a.loops > 1 else HALVINGS
        cdef int pieces = 0
        cdef int most = MOST_OF_LOOPS if a.loops > 1 else MOST_OF_ONE_LOOP if a.loops else MOST_PIECES
        cdef int finest = HALVINGS                   # where Newton's method fails at this level a piece is given up
        cdef Py_ssize_t k
        cdef bint exact
        cdef bint lanes = self.tree.lanes
        self.tree.lanes = False
        self.forced = not swept
        self.begin_drift(a, h, swept)
        self.tree.scale_rows(a, 1.0 / (1 << coarsest), impulse)
        while True:
            step = 1 << (HALVINGS - level)
            length = h / (1 << level)
            ahead = h * done / (1 << HALVINGS)
            end = h * (done + step) / (1 << HALVINGS)
            pieces += 1
            exact = pieces < most and level < deepest
            if pieces == most:
                finest = min(finest, LAST_OF_LOOPS if a.loops > 1 else LAST_HALVINGS)
            self.begin_piece(a, length, ahead, h)
            before = self.motion.kinetic(a) + self.motion.kicked(a, length)
            self.kick(a, 0.5 * length)
            off = self.try_piece(a, length, end)
            if off < 0.0 and level >= finest:                # what follows is given up earlier
                finest -= 1
                self.given_up += 1
                off = self.drift_held(a, length, ahead, end)
            taken = 0.0
            if off >= 0.0:
                taken = self.end_piece(a, length, end)
            if off < 0.0 or (exact and taken > LOSS * before):
                self.restart(a, ahead)
                level += 1
                self.tree.scale_rows(a, 0.5, impulse)
                continue
            self.tree.add_rows(a, impulse, self.sum)
            done += step
            if done == 1 << HALVINGS:
                break
            if level > coarsest and done % (2 * step) == 0 and not (exact and GROWTH * taken > LOSS * before):
                level -= 1
                self.tree.scale_rows(a, 2.0, impulse)
        # What is swept has its joints held with the rest of the step: the last piece's velocities before that.
        for k in range(a.member, a.member_end if swept or a.loops else a.member):
            self.bodies.twist[self.member[k]] = self.twists[self.member[k]]
        self.kick(a, -0.5 * h)
        self.tree.scale_rows(a, <double>(1 << level), impulse)
        self.pieces += pieces
        self.tree.lanes = lanes
        return off

    cdef void begin_drift(self, const Articulation* a, double h, bint swept) noexcept nogil:
        self.place_driven(a, 0.0)                    # another articulation's drift may have moved them already
        self.tree.scale_rows(a, 0.0, self.sum)
        self.tree.scale_rows(a, 0.0, self.held)
        self.kick(a, -0.5 * h)
        self.flight_rows.write_rows(a, 0.0)
        if swept:
            self.tree.factor(a, self.bodies, PROXIMAL, NULL)
            self.flight_rows.hold(a, self.held)

    cdef double end_piece(self, const Articulation* a, double h, double ahead) noexcept nogil:
        """The second half of a piece's forces, and velocities that go along with the joints; those before are put
        aside. -> the kinetic energy that takes [J]"""
        cdef Py_ssize_t k
        cdef double energy
        cdef Twist whole
        cdef Vec3 center, turning
        turning = whole.v = vec3(0.0, 0.0, 0.0)
        self.kick(a, 0.5 * h)
        for k in range(a.member, a.member_end):
            self.twists[self.member[k]] = self.bodies.twist[self.member[k]]
        energy = self.motion.kinetic(a)
        if not a.held:
            self.motion.find_whole(a, &whole, &center, &turning)
        self.flight_rows.write_rows(a, ahead)
        self.tree.factor(a, self.bodies, PROXIMAL, NULL)
        self.flight_rows.hold(a, self.held)
        self.motion.restore(a, whole.v, turning)
        return energy - self.motion.kinetic(a)

    # ---- a piece -------------------------------------------------------------------------------------------------------

    cdef void begin_piece(self, const Articulation* a, double h, double ahead, double end) noexcept nogil:
        """Keep poses, velocities, frames and the warm start. Errors are closed in proportion to the time until the drift's
        `end`, and no faster than joints may be: what a piece must close, they do work for."""
        cdef JointRows* rows = &self.tree.rows
        cdef Row block[6]
        cdef double rates[6]
        cdef double kept
        cdef Off off
        cdef Py_ssize_t k
        cdef int i, j, n, at
        cdef Flier* flier
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            flier.position = self.bodies.position[i]
            flier.orientation = self.bodies.orientation[i]
            flier.velocity = self.bodies.twist[i].v
            flier.spin = self.bodies.twist[i].w
        for k in range(a.node, a.node_end):
            j = self.tree.nodes[k].joint
            if j < 0:
                continue
            at = rows.begin[j]
            n = self.flight_rows.measure(j, ahead, &self.frames[j], block, rates)
            off = no_error()
            for i in range(n):
                if holds_position(&self.joints[j], i):
                    add_error(&off, is_linear(&block[i]), block[i].error)
            kept = 1.0 - h / max(end - ahead, time_to_close(&self.joints[j], &off))
            for i in range(n):
                self.opening[at + i] = kept * block[i].error
        self.tree.copy_rows(a, rows.impulse, self.warm)

    cdef void restart(self, const Articulation* a, double ahead) noexcept nogil:
        """What begin_piece has kept."""
        cdef Py_ssize_t k
        cdef int i
        cdef const Flier* flier
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            self.bodies.position[i] = flier.position
            self.bodies.orientation[i] = flier.orientation
            self.bodies.twist[i].v = flier.velocity
            self.bodies.twist[i].w = flier.spin
            refresh_inertia(self.bodies, i)
        self.place_driven(a, ahead)
        self.tree.copy_rows(a, self.warm, self.tree.rows.impulse)

    cdef double try_piece(self, const Articulation* a, double h, double ahead) noexcept nogil:
        """Newton's method from the present velocities, half a piece's forces in them. -> how far the joints are open at
        the end; below 0: it does not converge.

        What a correction leaves of what was off before it foretells what further ones would leave (E. Hairer, G. Wanner,
        "Solving Ordinary Differential Equations II", 1996, IV.8). At poses that are near singular Newton's method is of
        first order. So what is enough with loops is taken unless SOON more come to the end; and what those that are left
        would not bring there, or is farther off than it was, PATIENCE times, is given up."""
        cdef double tolerance = CLOSED * a.size
        cdef double needed = LOOSE * a.size if a.loops else tolerance
        cdef double off, wrong
        cdef double last = 0.0
        cdef double least = INFINITY
        cdef double energy = self.motion.kinetic(a)
        cdef bint renew = True
        cdef int poor = 0
        cdef int n
        cdef Py_ssize_t k
        cdef int i
        cdef Flier* flier
        cdef Twist whole
        cdef Vec3 center, turning
        turning = whole.v = vec3(0.0, 0.0, 0.0)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            flier.start = self.bodies.twist[i]
            flier.turning = rotate_back(flier.orientation, flier.start.w)
            flier.momentum = rotate(flier.orientation, mat_vec(self.bodies.inertia[i], flier.turning))
        if not a.held:
            self.motion.find_whole(a, &whole, &center, &turning)
        for n in range(MOST_CORRECTIONS):
            self.corrections += 1
            self.move(a, h, ahead)
            off = self.write_mean_rows(a, h, ahead)
            wrong = max(off, self.weigh(a, h, renew))
            if wrong <= tolerance or (a.loops and off <= a.enough and wrong <= needed
                                      and foretell(wrong, last, SOON) > tolerance):
                self.accept(a, whole.v, turning)
                self.limit(a, energy, h)
                return off
            poor = 0 if wrong < least and foretell(wrong, last, MOST_CORRECTIONS - 1 - n) <= needed else poor + 1
            if poor > PATIENCE or not wrong < BEYOND * a.size:
                return -1.0
            self.correct(a, h, renew)
            renew = (n == 0 or wrong > (LOOP_RENEW if a.loops else RENEW) * last
                     or (not a.loops and self.tree.is_doubtful(a)))
            last, least = wrong, min(wrong, least)
        return -1.0

    cdef void move(self, const Articulation* a, double h, double ahead) noexcept nogil:
        """Poses at the end of a piece with the mean velocities in `twist`."""
        cdef Py_ssize_t k
        cdef int i
        cdef const Flier* flier
        cdef Vec3 half
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            half = scale(0.5 * h, self.bodies.twist[i].w)
            self.bodies.position[i] = add_scaled(flier.position, h, self.bodies.twist[i].v)
            self.bodies.orientation[i] = quat_normalized(quat_mul(quat(1.0, half.x, half.y, half.z), flier.orientation))
        self.place_driven(a, ahead)

    cdef void place_driven(self, const Articulation* a, double ahead) noexcept nogil:
        """Kinematic bodies, which keep their velocities; others may hang on them too, and find the same bits."""
        try_poses(self.bodies, self.driven + a.driven, NULL, a.driven_end - a.driven, self.driven_position + a.driven,
                  self.driven_orientation + a.driven, ahead)

    cdef double write_mean_rows(self, const Articulation* a, double h, double ahead) noexcept nogil:
        """The Jacobian of the mean frames, what is left of the joints' errors at the end as `residual`, and the sums of
        impulses and stiffnesses of each body. -> how far the joints are open"""
        cdef JointRows* rows = &self.tree.rows
        cdef const Joint* joint
        cdef JointRow* row
        cdef JointFrames end, middle
        cdef Row block[6]
        cdef double rates[6]
        cdef double opened[6]
        cdef double largest = 0.0
        cdef double x
        cdef Vec3 force, moment_a, moment_b
        cdef Py_ssize_t k
        cdef int i, j, n, at
        for k in range(a.member, a.member_end):
            i = self.member[k]
            memset(&self.fliers[i].sum, 0, sizeof(Twist))
            memset(&self.fliers[i].stiffness, 0, sizeof(Mat3))
        for k in range(a.node, a.node_end):
            j = self.tree.nodes[k].joint
            if j < 0:
                continue
            joint = &self.joints[j]
            at = rows.begin[j]
            n = self.flight_rows.measure(j, ahead, &end, block, rates)
            for i in range(n):
                opened[i] = block[i].error
            mean_frames(&self.frames[j], &end, is_point(joint, n), &middle)
            constrain_flight(block, joint, &middle, n, self.settings.time, ahead, rates)
            force = moment_a = moment_b = vec3(0.0, 0.0, 0.0)
            for i in range(n):
                row = &rows.row[at + i]
                copy_jacobian(&block[i], row)
                if holds_position(joint, i):
                    self.residual[at + i] = (opened[i] - self.opening[at + i]) / h
                else:
                    self.residual[at + i] = rates[i] + row_rate(row, &self.bodies.twist[joint.body_a],
                                                                &self.bodies.twist[joint.body_b])
                x = 2.0 * rows.impulse[at + i]
                force = add_scaled(force, x, row.linear)
                moment_a = add_scaled(moment_a, x, row.angular_a)
                moment_b = add_scaled(moment_b, x, row.angular_b)
            largest = max(largest, h * rows_way(joint, &rows.row[at], &self.residual[at], n))
            self.add_impulse(joint.body_a, scale(-1.0, force), scale(-1.0, moment_a), middle.arm_a)
            self.add_impulse(joint.body_b, force, moment_b, middle.arm_b)
        return largest

    cdef void add_impulse(self, int i, Vec3 force, Vec3 moment, Vec3 arm) noexcept nogil:
        cdef Flier* flier = &self.fliers[i]
        flier.sum.v = add(flier.sum.v, force)
        flier.sum.w = add(flier.sum.w, moment)
        add_stiffness(&flier.stiffness, force, arm)

    cdef double weigh(self, const Articulation* a, double h, bint renew) noexcept nogil:
        """What the momenta ask of the mean velocities with the present impulses, as `step`; (I + h K+ / 4)^-1 stands
        for I^-1 of the bodies from here on. -> how far that moves anything"""
        cdef double largest = 0.0
        cdef double part = 0.25 * h
        cdef Py_ssize_t k
        cdef int i
        cdef Flier* flier
        cdef Twist* mean_twist
        cdef Mat3 inertia
        cdef Vec3 turning, left
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            mean_twist = &self.bodies.twist[i]
            flier.step.v = add_scaled(sub(flier.start.v, mean_twist.v), 0.5 * self.bodies.inv_mass[i], flier.sum.v)
            turning = add_scaled(scale(-1.0, flier.turning), 2.0, rotate_back(flier.orientation, mean_twist.w))
            left = rotate(self.bodies.orientation[i], mat_vec(self.bodies.inertia[i], turning))
            left = sub(add(flier.momentum, flier.sum.w), left)
            if renew:
                inertia = inertia_world(self.bodies, i)
                inertia.xx += part * flier.stiffness.xx
                inertia.yy += part * flier.stiffness.yy
                inertia.zz += part * flier.stiffness.zz
                inertia.xy += part * flier.stiffness.xy
                inertia.xz += part * flier.stiffness.xz
                inertia.yz += part * flier.stiffness.yz
                self.inertia[i] = inertia
                self.bodies.inv_inertia_world[i] = inverse_symmetric(inertia)
            flier.step.w = scale(0.5, mat_vec(self.bodies.inv_inertia_world[i], left))
            largest = max(largest, h * max(norm(flier.step.v), a.size * norm(flier.step.w)))
        return largest

    cdef void correct(self, const Articulation* a, double h, bint renew) noexcept nogil:
        """One step of Newton's method, by what write_mean_rows and weigh have found."""
        cdef JointRows* rows = &self.tree.rows
        cdef const Joint* joint
        cdef Twist* twist
        cdef Py_ssize_t k
        cdef int i, j
        for k in range(a.node, a.node_end):
            j = self.tree.nodes[k].joint
            if j >= 0:
                joint = &self.joints[j]
                for i in range(rows.begin[j], rows.begin[j + 1]):
                    self.residual[i] += row_rate(&rows.row[i], &self.fliers[joint.body_a].step,
                                                 &self.fliers[joint.body_b].step)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            twist = &self.bodies.twist[i]
            twist.v = add(twist.v, self.fliers[i].step.v)
            twist.w = add(twist.w, self.fliers[i].step.w)
        if renew:
            self.tree.factor(a, self.bodies, PROXIMAL, self.inertia)
        self.tree.take_rates(a, self.residual)
        self.tree.finish(a, self.bodies, self.bodies.twist, rows.impulse)

    cdef void accept(self, const Articulation* a, Vec3 velocity, Vec3 turning) noexcept nogil:
        """The velocities at the end, by the momenta and the impulses found. velocity, turning: as of restore."""
        cdef Py_ssize_t k
        cdef int i
        cdef const Flier* flier
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            self.bodies.twist[i].v = add_scaled(flier.start.v, self.bodies.inv_mass[i], flier.sum.v)
            keep_momentum(self.bodies, i, add(flier.momentum, flier.sum.w))
        self.motion.restore(a, velocity, turning)

    cdef void limit(self, const Articulation* a, double energy, double h) noexcept nogil:
        """Joints do no work. By what the kinetic energy has become more than `energy`, by errors that were closed and
        by what is left of Newton's method, the motion r beside u, that with the momenta that are conserved, is made
        slower: v = u + s r. The forces' work is that along the way dx that was gone, and their impulses have
        done it along the mean of the velocities:

            T(u) + s^2 T(r) = energy + f . (dx - h (v- + u + s r) / 2)

        and what kinematic bodies do is theirs.
        """
        cdef double found = self.motion.kinetic(a)
        cdef double way = 0.0                        # f . (dx - h (v- + u) / 2)
        cdef double rest = 0.0                       # h f . r / 2
        cdef double conserved, beside                # T(u), T(r)
        cdef double s
        cdef Py_ssize_t k
        cdef int i
        cdef Twist kept
        cdef Vec3 center, force, v
        cdef Twist* t
        cdef const Flier* flier
        conserved = self.motion.find_kept(a, &kept, &center)
        beside = found - conserved
        for k in range(a.member, a.member_end):
            i = self.member[k]
            flier = &self.fliers[i]
            t = &self.bodies.twist[i]
            v = add(kept.v, cross(kept.w, sub(self.bodies.position[i], center)))
            force = add_scaled(self.bodies.force[i].v, self.bodies.gravity_scale[i] / self.bodies.inv_mass[i],
                               self.settings.gravity) if self.forced else vec3(0.0, 0.0, 0.0)
            way += dot(force, sub(self.bodies.position[i], flier.position))
            way -= 0.5 * h * dot(force, add(flier.start.v, v))
            rest += 0.5 * h * dot(force, sub(t.v, v))
        energy += self.motion.driven_work(a)
        energy += way - conserved                    # what is left for s^2 T(r) + s rest
        if not beside > 0.0:
            return
        s = rest * rest + 4.0 * beside * energy
        s = max((sqrt(s) - rest if s > 0.0 else -rest) / (2.0 * beside), 0.0)
        if s < 1.0:
            self.motion.stretch(a, s, kept, center)

    cdef double drift_held(self, const Articulation* a, double h, double ahead, double end) noexcept nogil:
        """A piece for which Newton's method finds no end, with the velocities held at its start: J v = 0 there.
        -> how far the joints are open at its end"""
        cdef Py_ssize_t k
        cdef int i
        self.restart(a, ahead)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            self.bodies.twist[i] = self.fliers[i].start
        self.flight_rows.write_rows(a, ahead)
        self.tree.factor(a, self.bodies, PROXIMAL, NULL)
        self.flight_rows.hold(a, self.held)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            self.fliers[i].start.w = rotate(self.fliers[i].orientation, mat_vec(self.bodies.inertia[i], rotate_back(
                self.fliers[i].orientation, self.bodies.twist[i].w)))
        self.move(a, h, end)
        for k in range(a.member, a.member_end):
            keep_momentum(self.bodies, self.member[k], self.fliers[self.member[k]].start.w)
        self.tree.scale_rows(a, 0.0, self.tree.rows.impulse)
        return self.flight_rows.write_rows(a, end)

    cdef void kick(self, const Articulation* a, double h) noexcept nogil:
        """Gravity and the user's forces over the time h, where they act within the drift."""
        cdef Py_ssize_t k
        cdef int i
        cdef Twist* twist
        cdef const Twist* force
        for k in range(a.member, a.member_end if self.forced else a.member):
            i = self.member[k]
            twist = &self.bodies.twist[i]
            force = &self.bodies.force[i]
            twist.v = add_scaled(add_scaled(twist.v, h * self.bodies.gravity_scale[i], self.settings.gravity),
                                 h * self.bodies.inv_mass[i], force.v)
            twist.w = add_scaled(twist.w, h, mat_vec(self.bodies.inv_inertia_world[i], force.w))
