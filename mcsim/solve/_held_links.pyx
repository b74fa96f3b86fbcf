"""Bounded rows of articulations without loops (limits, motors, springs, rotors, joint friction), solved exactly with the
joints in them. With the rows of the joints J_j, which hold, and the bounded ones J_b between the same pairs of bodies,

    M dv = J_j' x_j + J_b' x,    J_j dv = 0,    w = J_b dv + C x + r,    lower <= impulse + x <= upper,

r = J v + bias + C impulse before, w as of a boxed linear complementarity problem (problems/_dantzig.pyx): x makes
x' (A x / 2 + r) least, A = J_b P J_b' + C, P what bodies answer with the joints holding.

A row is free unless its impulse is at a bound and w keeps it there. Of free rows Newton's step makes all w zero: they are
more rows of their joints, and everything is eliminated body by body (_articulated_bodies.pyx), in a time that grows with
the number of joints and not with its square, as a matrix of the bounded rows' own would ask. Rows that it would carry out
of their bounds stay at these, and the others' step is found anew, until all stay inside; then, with w as it is there, some
may be free again (after J. Judice, F. Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems", 1994). Such a bold step is taken if x' (A x / 2 + w) falls by it, so that no choice comes twice.
If not, steps are cautious, of what is inside its bounds alone: each goes to the first bound on its way, where that row
stays, and when one reaches where it aims a single row becomes free (active sets: J. Nocedal, S. Wright, "Numerical
Optimization", 2006, section 16.5). Where the step of that one goes against its bound, the w that asked for it is what
rounding leaves beside large impulses: it stays until something has moved. It begins with the impulses that rows have, so
that where nothing changes one factor serves all sweeps at a pose.

Of rows that repeat others, but for SMALLEST_ANGLE, the pivot is skipped. Where such a row contradicts them by more than
that it goes to the bound that resists what it sees; without one what it repeats does, or else it yields. Limits stand
first in each joint and yield to nothing, then what has the wider bounds.

    begin_solve   w, and who is free;                           -> whether there is anything to do
    aim           the step;                                     -> whether there is one
    falls         whether a bold one is to be taken;
    part_inside   what part of a cautious one is
    take          that
"""

from libc.math cimport INFINITY, fabs, isinf
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.solve._blocks cimport clamp, row_residual, row_velocity
from mcsim.solve._link_blocks cimport (add_link, backward, between, decompose_inertia, decompose_rows, forward, half_row,
                                       own_inertia)
from mcsim.solve._pivots cimport SMALLEST_ANGLE
from mcsim.state._inertia cimport inertia_world
from mcsim.state._rows cimport is_linear
from mcsim.state._row cimport BLOCK_HELD, RELAXED, ROW_ARMATURE, ROW_LIMIT

# What is rounding of w, in parts of all that it is the sum of.
cdef double ROUNDING = 1e-11
# A step is taken that falls by this part of what its beginning promises.
cdef double FALLS = 1e-3
# Rows of which the squared cosine is nearer than this to 1 are along one coordinate.
cdef double ALIKE = 1e-9
cdef enum:
    MOST_ROUNDS = 20             # in which rows go to their bounds in a step
# As much as the room of what has no bounds [N s, N m s].
cdef double MOST_ROOM = 1e300


cdef inline double room_of(const Row* row) noexcept nogil:
    """How much a row can do; what has no bound comes before all others, and limits before that."""
    return INFINITY if row.kind == ROW_LIMIT else min(row.upper - row.lower, MOST_ROOM)


cdef class HeldLinks:
    """bodies: the links of all articulations; articulations: how many there are; `noted` is told later. Buffers only
    grow."""

    def __init__(self, ArticulatedBodies bodies not None, Py_ssize_t articulations):
        links, ends = np.zeros((bodies.link_count + 1) * sizeof(HeldLink) // 8), np.zeros((2, articulations + 1), np.int32)
        flags = np.zeros((2, articulations + 1), np.int8)
        self.bodies, self.articulations, self.kept = bodies, articulations, (links, ends, flags)
        self.links, self.begin, self.end = <HeldLink*>doubles(links), integers(ends[0]), integers(ends[1])
        self.fresh, self.pass_of = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])

    # ---- which rows --------------------------------------------------------------------------------------------------

    cdef bint takes(self, Py_ssize_t g, const Row* row) noexcept nogil:
        """Whether a row of a joint is between a link of articulation g and what that hangs on."""
        return self.bodies.begin[g] <= self.bodies.of_joint[row.source] < self.bodies.end[g]

    cdef bint list(self, const int8_t* holds, Row* rows, const int32_t* begin, const int32_t* count,
                   const int32_t* number) noexcept nogil:
        """The bounded rows of the articulations that `holds` names, of g those number[begin[g]:begin[g] + count[g]], of
        each link those that can do more before others. -> whether there is room"""
        cdef HeldLink* own
        cdef Py_ssize_t at, g, i, k
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t numbers = 0
        for g in range(self.articulations):
            self.begin[g], self.fresh[g] = <int32_t>total, 0
            if holds[g]:
                for k in range(self.bodies.begin[g], self.bodies.end[g]):
                    self.links[k].begin = self.links[k].end = 0
                for i in range(begin[g], begin[g] + count[g]):
                    self.links[self.bodies.of_joint[rows[number[i]].source]].end += 1
                for k in range(self.bodies.begin[g], self.bodies.end[g]):
                    own = &self.links[k]
                    own.stride = self.bodies.links[k].size + own.end
                    own.numbers = numbers
                    numbers += own.stride * (own.stride + 14)
                    own.begin = <int32_t>total
                    total += own.end
                    own.end = own.begin
            self.end[g] = <int32_t>total
        if (total > self.capacity or numbers > self.number_capacity) and not self.has_room(total, numbers):
            return False
        for g in range(self.articulations):
            for i in range(begin[g], begin[g] + count[g] if holds[g] else 0):
                k = self.bodies.of_joint[rows[number[i]].source]
                at = self.links[k].end
                while at > self.links[k].begin and room_of(&rows[number[i]]) > room_of(&rows[self.row[at - 1]]):
                    self.row[at] = self.row[at - 1]
                    at -= 1
                self.row[at], self.link[self.links[k].end] = number[i], <int32_t>k
                self.links[k].end += 1
        return True

    cdef bint has_room(self, Py_ssize_t rows, Py_ssize_t numbers) noexcept with gil:
        """Make it, no less than there is."""
        rows, numbers = max(rows, self.capacity), max(numbers, self.number_capacity)
        try:
            whole, flags = np.zeros((2, rows), np.int32), np.zeros((3, rows), np.int8)
            own, room = np.zeros((4, rows)), np.zeros(numbers)
        except MemoryError:
            self.noted.without_memory = True
            return False
        self.kept = (*self.kept[:3], whole, flags, own, room)
        self.row, self.link = integers(whole[0]), integers(whole[1])
        self.free, self.factored = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])
        self.numb = <int8_t*>records(flags[2])
        self.x, self.residual = doubles(own[0]), doubles(own[1])
        self.least, self.size, self.numbers = doubles(own[2]), doubles(own[3]), doubles(room)
        self.capacity, self.number_capacity = rows, numbers
        return True

    cdef void forget(self, Py_ssize_t g, Row* rows, const Bodies* bodies) noexcept nogil:
        """The factor of articulation g, whose rows are written at the present poses; sweeps are to pass them by."""
        cdef Py_ssize_t i, k
        self.fresh[g] = 0
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            self.links[k].turning = inertia_world(bodies, self.bodies.links[k].body)
        for i in range(self.begin[g], self.end[g]):
            rows[self.row[i]].block_kind = BLOCK_HELD

    # ---- the numbers of a link: halves of its rows on its body, L^-1 of them, and on what it hangs on; (n,) twice; S --

    cdef double* near(self, const HeldLink* own) noexcept nogil:
        return self.numbers + own.numbers

    cdef double* far(self, const HeldLink* own) noexcept nogil:
        return self.numbers + own.numbers + 6 * own.stride

    cdef double* rate(self, const HeldLink* own) noexcept nogil:
        return self.numbers + own.numbers + 12 * own.stride

    cdef double* impulses(self, const HeldLink* own) noexcept nogil:
        return self.numbers + own.numbers + 13 * own.stride

    cdef double* block(self, const HeldLink* own) noexcept nogil:
        return self.numbers + own.numbers + 14 * own.stride

    # ---- the factor --------------------------------------------------------------------------------------------------

    cdef void gather(self, Py_ssize_t k, const JointRow* joints, const Row* rows, bint relaxed) noexcept nogil:
        """The rows of a link that are in the factor, and their compliances in `impulses`."""
        cdef const Link* link = &self.bodies.links[k]
        cdef HeldLink* own = &self.links[k]
        cdef double* near = self.near(own)
        cdef double* far = self.far(own)
        cdef double* compliance = self.impulses(own)
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int n
        cdef int is_b
        for n in range(link.size):
            half_row(joints + link.row + n, link.child_is_b, near + 6 * n)
            half_row(joints + link.row + n, not link.child_is_b, far + 6 * n)
            compliance[n] = 0.0
        n = link.size
        for i in range(own.begin, own.end):
            self.factored[i] = self.free[i]
            if self.free[i]:
                row = &rows[self.row[i]]
                is_b = row.body_b == link.body
                memcpy(near + 6 * n, &row.jacobian[6 * is_b], 6 * sizeof(double))
                memcpy(far + 6 * n, &row.jacobian[6 - 6 * is_b], 6 * sizeof(double))
                compliance[n] = row.compliance[relaxed]
                n += 1
        own.size = n

    cdef void factor(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies,
                     bint relaxed) noexcept nogil:
        """At the poses of the rows, with those that are free now."""
        cdef const Link* link
        cdef HeldLink* own
        cdef HeldLink* parent
        cdef Py_ssize_t k
        cdef int n
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            own_inertia(bodies, self.bodies.links[k].body, &self.links[k].turning, self.links[k].inertia)
        for k in range(self.bodies.end[g] - 1, self.bodies.begin[g] - 1, -1):
            link, own = &self.bodies.links[k], &self.links[k]
            decompose_inertia(bodies, link.body, own.inertia)
            self.gather(k, joints, rows, relaxed)
            n = own.size
            if n == 0:
                continue
            decompose_rows(own.inertia, self.near(own), self.impulses(own), link.size, n, own.stride, self.block(own),
                           self.rate(own))
            if link.parent >= 0:
                parent = &self.links[link.parent]
                add_link(parent.inertia, self.block(own), self.far(own), n, own.stride)
        self.fresh[g], self.pass_of[g] = 1, relaxed

    cdef bint is_factored(self, Py_ssize_t g, bint relaxed) noexcept nogil:
        cdef Py_ssize_t i
        if not self.fresh[g] or self.pass_of[g] != relaxed:
            return False
        for i in range(self.begin[g], self.end[g]):
            if self.free[i] != self.factored[i]:
                return False
        return True

    # ---- solves --------------------------------------------------------------------------------------------------------

    cdef void push_bounded(self, const Link* link, HeldLink* own, const Row* row, double x) noexcept nogil:
        """The impulse of a row that is not in the factor, on what is asked of bodies."""
        cdef int is_b = row.body_b == link.body
        cdef int p
        for p in range(6):
            own.velocity[p] += x * row.jacobian[6 * is_b + p]
            if link.parent >= 0:
                self.links[link.parent].velocity[p] += x * row.jacobian[6 - 6 * is_b + p]

    cdef void substitute(self, Py_ssize_t g, const Row* rows, const int64_t* offset, const double* vector) noexcept nogil:
        """dv of all bodies, x of the free rows, for x of the others. vector: -(J v + bias) of the joints' rows, as of
        JointTree."""
        cdef const Link* link
        cdef HeldLink* own
        cdef double* near
        cdef double* far
        cdef double* rate
        cdef double* x
        cdef Py_ssize_t i, k
        cdef int n, p
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            memset(self.links[k].velocity, 0, 6 * sizeof(double))
        for i in range(self.begin[g], self.end[g]):
            if not self.free[i] and self.x[i] != 0.0:
                k = self.link[i]
                self.push_bounded(&self.bodies.links[k], &self.links[k], &rows[self.row[i]], self.x[i])
        for k in range(self.bodies.end[g] - 1, self.bodies.begin[g] - 1, -1):
            link, own = &self.bodies.links[k], &self.links[k]
            near, far, rate, x = self.near(own), self.far(own), self.rate(own), self.impulses(own)
            forward(own.inertia, own.velocity, 6, 6)
            n = link.size
            for i in range(n):
                rate[i] = vector[offset[link.node] + i]
            for i in range(own.begin, own.end):
                if self.free[i]:
                    rate[n] = -self.residual[i]
                    n += 1
            for i in range(n):
                rate[i] -= between(near + 6 * i, own.inertia, own.velocity)
            forward(self.block(own), rate, n, own.stride)
            if link.parent < 0:
                continue
            memcpy(x, rate, n * sizeof(double))
            # `far` is multiplied by L^-1 of the block, as the rates are.
            for i in range(n):
                for p in range(6):
                    self.links[link.parent].velocity[p] += self.block(own)[(own.stride + 1) * i] * x[i] * far[6 * i + p]
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            link, own = &self.bodies.links[k], &self.links[k]
            near, far, rate, x = self.near(own), self.far(own), self.rate(own), self.impulses(own)
            n = own.size
            for i in range(n):
                x[i] = rate[i]
                if link.parent >= 0:
                    for p in range(6):
                        x[i] -= far[6 * i + p] * self.links[link.parent].velocity[p]
            backward(self.block(own), x, n, own.stride)
            for i in range(n):
                for p in range(6):
                    own.velocity[p] += x[i] * near[6 * i + p]
            backward(own.inertia, own.velocity, 6, 6)
            n = link.size
            for i in range(own.begin, own.end):
                if self.free[i]:
                    self.x[i] = x[n]
                    n += 1

    cdef double change(self, const Row* row, Py_ssize_t k, double* size) noexcept nogil:
        """J dv of a row of link k. What it is the sum of is added to size."""
        cdef const Link* link = &self.bodies.links[k]
        cdef int is_b = row.body_b == link.body
        cdef double s = 0.0
        cdef double x
        cdef int p
        for p in range(6):
            x = row.jacobian[6 * is_b + p] * self.links[k].velocity[p]
            s += x
            size[0] += fabs(x)
            if link.parent >= 0:
                x = row.jacobian[6 - 6 * is_b + p] * self.links[link.parent].velocity[p]
                s += x
                size[0] += fabs(x)
        return s

    cdef void begin_cautious(self, Py_ssize_t g) noexcept nogil:
        """Before the first cautious step, and after each that moved something: w asks anew."""
        if self.end[g] > self.begin[g]:
            memset(self.numb + self.begin[g], 0, self.end[g] - self.begin[g])

    cdef bint begin_solve(self, Py_ssize_t g, const Row* rows, const Twist* twist, bint relaxed, double speed, double rate,
                          int release) noexcept nogil:
        """w of articulation g's bounded rows, on velocities that the joints hold, and which are free: those inside their
        bounds, and of those that w would take there ALL, the ONE that has farthest to go, or NONE. speed, rate: what is
        nothing in what they hold [m/s, rad/s]. -> whether any is to change"""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef Py_ssize_t last = -1
        cdef int p
        cdef bint found = False
        cdef double w, size, way
        cdef double most = 0.0
        for i in range(self.begin[g], self.end[g]):
            row = &rows[self.row[i]]
            w = row_residual(row, row_velocity(row, twist), relaxed)
            size = fabs(row.bias[relaxed]) + fabs(row.compliance[relaxed] * row.impulse)
            for p in range(6):
                size += fabs(row.jacobian[p] * (&twist[row.body_a].v.x)[p])
                size += fabs(row.jacobian[6 + p] * (&twist[row.body_b].v.x)[p])
            self.residual[i], self.size[i] = w, size
            self.least[i] = max(ROUNDING * size, speed if is_linear(row) else rate)
            self.free[i] = row.lower < row.impulse < row.upper
            if not self.free[i] and row.lower < row.upper and (
                    w < -self.least[i] if not row.impulse > row.lower else w > self.least[i]):
                self.free[i] = release == ALL
                way = w * w * row.mass[relaxed]
                if release == ONE and way > most and not self.numb[i]:
                    last, most = i, way
            found = found or (self.free[i] and fabs(w) > self.least[i])
        self.released = last
        if last >= 0:
            self.free[last] = 1
        return found or last >= 0

    cdef bint aim(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies, const int64_t* offset,
                  const double* vector, bint bold, bint relaxed) noexcept nogil:
        """Newton's step x of the free rows, and dv. bold: those that it would carry out of their bounds go to these, and
        the others' step is found anew. vector: as of `substitute`. -> whether there is one"""
        cdef Py_ssize_t i
        cdef bint found = False
        cdef int _
        for i in range(self.begin[g], self.end[g]):
            self.x[i] = 0.0
        for _ in range(MOST_ROUNDS):
            if not self.is_factored(g, relaxed):
                self.factor(g, joints, rows, bodies, relaxed)
            self.substitute(g, rows, offset, vector)
            if not self.fix(g, rows, bold):
                break
        for i in range(self.begin[g], self.end[g]):          # what only goes back to its bound is no step
            found = found or (self.x[i] != 0.0 and (not self.free[i] or fabs(self.residual[i]) > self.least[i]))
        return found

    cdef bint fix(self, Py_ssize_t g, const Row* rows, bint bold) noexcept nogil:
        """Of each joint the last free row whose step would leave its bounds, if `bold`, or that repeats others and
        contradicts them, goes to a bound: rows of one joint may be nearly one, and what the others then do is another
        thing. -> whether any does"""
        cdef Py_ssize_t i, k
        cdef bint found = False
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            for i in range(self.links[k].end - 1, self.links[k].begin - 1, -1):
                if self.free[i] and (bold or self.x[i] == 0.0) and self.fix_row(i, rows):
                    found = True
                    break
        return found

    cdef bint fix_row(self, Py_ssize_t i, const Row* rows) noexcept nogil:
        cdef const Row* row = &rows[self.row[i]]
        cdef double size = self.size[i]
        cdef double w = self.residual[i] + self.change(row, self.link[i], &size) if self.x[i] == 0.0 else 0.0
        cdef double most = SMALLEST_ANGLE * size
        if row.impulse + self.x[i] < row.lower or (w > most and row.lower > -INFINITY):
            return self.send(i, row, -1.0)
        if row.impulse + self.x[i] > row.upper or (w < -most and row.upper < INFINITY):
            return self.send(i, row, 1.0)
        return fabs(w) > most and self.send_twin(i, rows, -1.0 if w > 0.0 else 1.0)

    cdef bint send(self, Py_ssize_t i, const Row* row, double way) noexcept nogil:
        """To the lower bound, or the upper one. -> whether there is one"""
        cdef double bound = row.lower if way < 0.0 else row.upper
        if isinf(bound):
            return False
        self.free[i], self.x[i] = 0, bound - row.impulse
        return True

    cdef bint send_twin(self, Py_ssize_t i, const Row* rows, double way) noexcept nogil:
        """A free row of the same joint that row i repeats, and whose impulse goes as far back as that of row i goes its
        way: to its bound there. A limit lets go of what a motor pressed against it when the motor turns back. -> whether
        there is one"""
        cdef const Row* row = &rows[self.row[i]]
        cdef const Row* twin
        cdef double own, other, both
        cdef Py_ssize_t j
        cdef int p
        for j in range(self.links[self.link[i]].begin, i):
            twin = &rows[self.row[j]]
            own = other = both = 0.0
            for p in range(12):
                own += row.jacobian[p] * row.jacobian[p]
                other += twin.jacobian[p] * twin.jacobian[p]
                both += row.jacobian[p] * twin.jacobian[p]
            if self.free[j] and both * both > (1.0 - ALIKE) * own * other:
                if self.send(j, twin, -way if both > 0.0 else way):
                    return True
        return False

    cdef bint falls(self, Py_ssize_t g, const Row* rows, bint relaxed) noexcept nogil:
        """Whether the step stays inside the bounds and x' (A x / 2 + w) falls by it. Its slope goes from x' w to that
        with w as it is at its end."""
        cdef const Row* row
        cdef double first = 0.0
        cdef double last = 0.0
        cdef double size = 0.0
        cdef Py_ssize_t i
        for i in range(self.begin[g], self.end[g]):
            if self.x[i] != 0.0:
                row = &rows[self.row[i]]
                if not row.lower <= row.impulse + self.x[i] <= row.upper and self.free[i]:
                    return False
                first += self.x[i] * self.residual[i]
                last += self.x[i] * (self.residual[i] + self.change(row, self.link[i], &size)
                                     + row.compliance[relaxed] * self.x[i])
        return first < 0.0 and first + last <= FALLS * first

    cdef double part_inside(self, Py_ssize_t g, Row* rows) noexcept nogil:
        """What part of the step stays inside the bounds, 1 at most; the row that reaches its own first is put there."""
        cdef Row* row
        cdef double room
        cdef double part = 1.0
        cdef Py_ssize_t i
        cdef Py_ssize_t first = -1
        for i in range(self.begin[g], self.end[g]):
            row = &rows[self.row[i]]
            room = row.upper - row.impulse if self.x[i] > 0.0 else row.lower - row.impulse
            if self.x[i] != 0.0 and fabs(room) < part * fabs(self.x[i]):
                part, first = room / self.x[i], i
        if first >= 0:
            row = &rows[self.row[first]]
            row.impulse = row.upper if self.x[first] > 0.0 else row.lower
            self.x[first] = 0.0
            if first == self.released and part == 0.0:
                self.numb[first] = 1
        return part

    cdef void take(self, Py_ssize_t g, double part, Row* rows, Twist* twist, double* impulse) noexcept nogil:
        """`part` of the step, with what the joints answer. impulse: of the joints' rows. rows: NULL changes no impulse."""
        cdef const Link* link
        cdef const double* x
        cdef Row* row
        cdef Py_ssize_t i, k
        cdef int p
        for k in range(self.bodies.begin[g], self.bodies.end[g]):
            link = &self.bodies.links[k]
            for p in range(3):
                (&twist[link.body].v.x)[p] += part * self.links[k].velocity[p]
                (&twist[link.body].w.x)[p] += part * self.links[k].velocity[3 + p]
            x = self.impulses(&self.links[k])
            for p in range(link.size if rows != NULL else 0):
                impulse[link.row + p] += part * x[p]
        for i in range(self.begin[g], self.end[g] if rows != NULL else self.begin[g]):
            row = &rows[self.row[i]]
            row.impulse = clamp(row.impulse + part * self.x[i], row.lower, row.upper)

    cdef bint respond(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies,
                      const int64_t* offset, const double* vector, Twist* x) noexcept nogil:
        """What joints and rotors alone do against x, velocities that a blow has given: J x + impulse / a = 0. No impulse
        changes. vector: -J x of the joints' rows. -> whether there are rotors"""
        cdef Py_ssize_t i
        cdef bint found = False
        for i in range(self.begin[g], self.end[g]):
            self.free[i] = rows[self.row[i]].kind == ROW_ARMATURE
            self.residual[i], self.x[i] = row_velocity(&rows[self.row[i]], x), 0.0
            found = found or self.free[i]
        if not found:
            return False
        if not self.is_factored(g, RELAXED):
            self.factor(g, joints, rows, bodies, RELAXED)
        self.substitute(g, rows, offset, vector)
        self.take(g, 1.0, NULL, x, NULL)
        return True
