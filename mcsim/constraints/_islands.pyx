"""Islands of bodies that touch or are joined, and which of them sleep (docs/theory/sleeping.md).

A sleeping body is not moved, its contacts are not looked for and its joints not solved, until something that moves
touches its island, or the user changes it. `island` of a body is -1 while it is awake, else the lowest number among
those that fell asleep with it: they wake together.

An island falls asleep when all its bodies have been slower than `slow` for `patience`, it lies on something that
stands still, nothing drives it, and it is not about to fall: with s the speed of a body's fastest point and s* the same
smoothed over that time, the sum of m s^2 is at most GROWTH times that of m s*^2. What falls from an unstable balance
grows like e^(c t), s*/s = 1 / (1 + c patience), and is let go on; what rattles keeps the ratio near 1. Mechanisms that
touch nothing never sleep: a pendulum is slow at its turning points, too.

Sources: E. Catto, "Simulation Islands", 2023 (islands kept asleep, woken by touch); union by lowest number with path
halving: R. Tarjan, J. van Leeuwen, 1984.
"""

from libc.math cimport sqrt
from libc.string cimport memcmp, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport dot, norm, sub
from mcsim.core._types cimport Twist
from mcsim.state._carrier cimport opening_speed
from mcsim.state._layout cimport DYNAMIC, GEAR, KINEMATIC, MOTION_NONE, MOTOR_VELOCITY, STATIC, USER

cdef double GROWTH = 1.5

# Speeds of this part of those at which bodies are still are rounding.
cdef double NOTHING = 1e-7

# Bodies whose surfaces are nearer than this part of the distance from which on they have contacts touch.
cdef double REACH = 0.25

# What is known of an island, at its root.
cdef enum:
    RESTS = 1                    # something that stands still carries it
    RESTLESS = 2                 # some body moves, or is driven


cdef class Islands:
    def __init__(self, bodies, speeds, double patience, nearest):
        """bodies: state.arrays.BodyArrays. speeds (n,), or one [m/s]: slower than that a body is still (0: it never
        is); patience [s]; nearest (n,), or one [m]: from no farther on than that each has contacts."""
        count = bodies.count
        numbers = np.zeros((3, count + 1), np.int32)
        values = np.zeros((6, count + 1))
        seen = np.zeros((count + 1, 3)), np.zeros((count + 1, 4))
        values[0, :count], values[4, :count], values[5, :count] = bodies.reach, speeds, nearest
        values[5] *= REACH
        self.touch = values[5, :count]
        asleep = np.zeros(count + 1, np.int8)
        self.kept = numbers, values, seen, asleep
        self.asleep = <int8_t*>records(asleep)
        self.parent, self.state, self.moving = integers(numbers[0]), integers(numbers[1]), integers(numbers[2])
        self.size, self.lively, self.usual = doubles(values[0]), doubles(values[1]), doubles(values[2])
        self.speeds, self.slow, self.near = doubles(values[3]), doubles(values[4]), doubles(values[5])
        self.position, self.orientation = <Vec3*>doubles(seen[0]), <Quat*>doubles(seen[1])
        self.patience, self.watching = patience, np.any(values[4] > 0.0)

    def get_seen(self, kind, island):
        """(n, 7) position and orientation of each body that something would wake if it were moved, as they were last seen; 0
        of those awake, which are not looked at. kind, island (n,): of the bodies."""
        seen = np.hstack([part[:len(kind)] for part in self.kept[2]])
        seen[(kind == DYNAMIC) & (island < 0)] = 0.0
        return seen

    def set_seen(self, seen):
        """What get_seen() gave."""
        self.kept[2][0][:len(seen)], self.kept[2][1][:len(seen)] = seen[:, :3], seen[:, 3:]

    cdef bint active(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil:
        """Whether the body may move others: it is awake, or kinematic and on its way."""
        cdef const Twist* t = &bodies.twist[i]
        if bodies.kind[i] == DYNAMIC:
            return bodies.island[i] < 0
        return bodies.kind[i] == KINEMATIC and (dot(t.v, t.v) > 0.0 or dot(t.w, t.w) > 0.0)

    cdef void list_moving(self, Bodies* bodies) noexcept nogil:
        """bodies.moving: what is not static and does not sleep, ascending; `asleep`, body by body."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        self.sleepers = 0
        for i in range(bodies.count):
            if bodies.kind[i] != STATIC and bodies.island[i] < 0:
                self.moving[count] = <int32_t>i
                count += 1
            self.asleep[i] = bodies.island[i] >= 0
            self.sleepers += self.asleep[i]
        bodies.moving = self.moving
        bodies.moving_count = count

    # ---- waking ------------------------------------------------------------------------------------------------------

    cdef bint wake(self, Bodies* bodies, int64_t island) noexcept nogil:
        """-> whether such an island slept"""
        cdef Py_ssize_t i
        cdef bint found = False
        if island < 0:
            return False
        for i in range(island, bodies.count):           # it bears the number of its first body
            if bodies.island[i] == island:
                bodies.island[i] = -1
                bodies.still_time[i] = 0.0
                bodies.still_speed[i] = 0.0
                found = True
        return found

    cdef bint wake_near(self, Bodies* bodies, Py_ssize_t i) noexcept nogil:
        """All islands that come near body i, where it is or where it was."""
        cdef Py_ssize_t k
        cdef double far
        cdef bint woken = False
        for k in range(bodies.count):
            if bodies.island[k] < 0:
                continue
            far = self.size[i] + self.size[k] + self.near[k]
            if (norm(sub(bodies.position[k], bodies.position[i])) <= far
                    or norm(sub(bodies.position[k], self.position[i])) <= far):
                woken |= self.wake(bodies, bodies.island[k])
        return woken

    cdef bint displaced(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil:
        return (memcmp(&bodies.position[i], &self.position[i], sizeof(Vec3)) != 0
                or memcmp(&bodies.orientation[i], &self.orientation[i], sizeof(Quat)) != 0)

    cdef void keep_sight(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil:
        self.position[i] = bodies.position[i]
        self.orientation[i] = bodies.orientation[i]

    cdef void look(self, const Bodies* bodies) noexcept nogil:
        """Where everything is now."""
        cdef Py_ssize_t i
        for i in range(bodies.count):
            self.keep_sight(bodies, i)

    cdef void look_at_moving(self, const Bodies* bodies) noexcept nogil:
        """Where kinematic bodies have come to by themselves."""
        cdef Py_ssize_t k
        for k in range(bodies.moving_count):
            if bodies.kind[bodies.moving[k]] == KINEMATIC:
                self.keep_sight(bodies, bodies.moving[k])

    cdef bint notice(self, Bodies* bodies) noexcept nogil:
        """Between two step calls the user may have written anything into poses, velocities and forces. Wakes what was
        pushed, moved, or lies where something was taken away or put. -> whether anything woke"""
        cdef Py_ssize_t i
        cdef const double* twist
        cdef const double* force
        cdef bint woken = False
        cdef bint pushed
        cdef int k
        for i in range(bodies.count):
            if bodies.island[i] >= 0:
                twist = <const double*>&bodies.twist[i]
                force = <const double*>&bodies.force[i]
                pushed = self.displaced(bodies, i)
                for k in range(6):
                    pushed |= twist[k] != 0.0 or force[k] != 0.0
                if pushed:
                    woken |= self.wake_near(bodies, i)
                    woken |= self.wake(bodies, bodies.island[i])
            elif bodies.kind[i] != DYNAMIC and self.displaced(bodies, i):
                if self.sleepers > 0:
                    woken |= self.wake_near(bodies, i)
                self.keep_sight(bodies, i)
        return woken

    cdef bint wake_touched(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count,
                           double ahead) noexcept nogil:
        """Islands that something active touches, or will within the time ahead. -> whether any woke"""
        cdef Py_ssize_t i
        cdef const Manifold* m
        cdef bint woken = False
        for i in range(count):
            m = &manifolds[i]
            if (bodies.island[m.body_a] >= 0 or bodies.island[m.body_b] >= 0) and (
                    self.active(bodies, m.body_a) or self.active(bodies, m.body_b)) and touches(
                    m, bodies, ahead):
                woken |= self.wake(bodies, bodies.island[m.body_a])
                woken |= self.wake(bodies, bodies.island[m.body_b])
        return woken

    cdef Py_ssize_t drop_sleeping(self, const Bodies* bodies, Manifold* manifolds, Py_ssize_t count) noexcept nogil:
        """Leave out the manifolds with a sleeping body, which are near but do not touch. -> how many are left"""
        cdef Py_ssize_t i
        cdef Py_ssize_t kept = 0
        for i in range(count):
            if bodies.island[manifolds[i].body_a] < 0 and bodies.island[manifolds[i].body_b] < 0:
                if kept < i:
                    manifolds[kept] = manifolds[i]
                kept += 1
        return kept

    # ---- falling asleep ----------------------------------------------------------------------------------------------

    cdef int32_t root(self, int32_t i) noexcept nogil:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    cdef void unite(self, const Bodies* bodies, int32_t a, int32_t b, bint contact) noexcept nogil:
        """What touches (contact) or is joined: one island, carried by what stands still, kept awake by what does
        not."""
        cdef int32_t swap
        if a < 0 or bodies.kind[a] != DYNAMIC:
            swap = a
            a = b
            b = swap
        if a < 0 or bodies.kind[a] != DYNAMIC:
            return
        a = self.root(a)
        if b >= 0 and bodies.kind[b] == DYNAMIC:
            b = self.root(b)
            if a > b:
                swap = a
                a = b
                b = swap
            self.parent[b] = a
            if a != b:
                self.state[a] |= self.state[b]
        elif b >= 0 and self.active(bodies, b):
            self.state[a] |= RESTLESS
        elif contact:
            self.state[a] |= RESTS

    cdef void unite_joint(self, const Bodies* bodies, const Joint* joints, const Joint* joint) noexcept nogil:
        cdef int k
        cdef bint driven = joint.type == USER
        if joint.type == GEAR:
            for k in range(2):
                self.unite(bodies, joints[joint.geared[k]].body_a, joints[joint.geared[k]].body_b, False)
            self.unite(bodies, joints[joint.geared[0]].body_b, joints[joint.geared[1]].body_b, False)
            return
        self.unite(bodies, joint.body_a, joint.body_b, False)
        for k in range(joint.axis_count):
            driven |= joint.axes[k].motion_mode != MOTION_NONE
            driven |= joint.axes[k].motor_mode == MOTOR_VELOCITY and joint.axes[k].motor_velocity != 0.0
        if driven:
            self.drive(bodies, joint.body_a, joint.body_b)

    cdef void drive(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil:
        """Something between two bodies of one island keeps it awake."""
        cdef int32_t body = b if b >= 0 and bodies.kind[b] == DYNAMIC else a
        if body >= 0 and bodies.kind[body] == DYNAMIC:
            self.state[self.root(body)] |= RESTLESS

    cdef double pace(self, const Bodies* bodies, int32_t i, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil:
        """The speed of a body's fastest point, by its twist or by its way in the last step: some stabilizations move
        bodies beside their velocities."""
        cdef Quat q = bodies.orientation[i]
        cdef Quat p = orientation[i]
        cdef double turn = 2.0 * sqrt((q.w - p.w) * (q.w - p.w) + (q.x - p.x) * (q.x - p.x)
                                      + (q.y - p.y) * (q.y - p.y) + (q.z - p.z) * (q.z - p.z))
        return max(norm(bodies.twist[i].v) + norm(bodies.twist[i].w) * self.size[i],
                   (norm(sub(bodies.position[i], position[i])) + turn * self.size[i]) / dt)

    cdef bint measure(self, const Bodies* bodies, const Vec3* position, const Quat* orientation,
                      double dt) noexcept nogil:
        """How long each body has been still. -> whether one of them has been for long enough"""
        cdef double s
        cdef double part = dt / (dt + self.patience)
        cdef Py_ssize_t k
        cdef int32_t i
        cdef bint ready = False
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            s = self.pace(bodies, i, position, orientation, dt)
            self.speeds[i] = s
            bodies.still_speed[i] += part * (s - bodies.still_speed[i])
            bodies.still_time[i] = bodies.still_time[i] + dt if s < self.slow[i] else 0.0
            ready |= bodies.still_time[i] >= self.patience
        return ready

    cdef bint settle(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                     const Resistance* resistances, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil:
        """After a step of dt from these poses, with these contacts; resistances: beside them, or NULL.
        -> whether anything fell asleep"""
        cdef Py_ssize_t k
        cdef int32_t i, r
        cdef double s, mass
        cdef bint slept = False
        if not self.measure(bodies, position, orientation, dt):
            return False
        for k in range(bodies.count):
            self.parent[k] = <int32_t>k
        memset(self.state, 0, bodies.count * sizeof(int32_t))
        memset(self.lively, 0, bodies.count * sizeof(double))
        memset(self.usual, 0, bodies.count * sizeof(double))
        for k in range(count):
            if carries(&manifolds[k]):
                self.unite(bodies, manifolds[k].body_a, manifolds[k].body_b, True)
                if resistances != NULL and conveys(&resistances[k]):
                    self.drive(bodies, manifolds[k].body_a, manifolds[k].body_b)
        for k in range(joint_count):
            if joints[k].broken == 0:
                self.unite_joint(bodies, joints, &joints[k])
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            r = self.root(i)
            if bodies.still_time[i] < self.patience:
                self.state[r] |= RESTLESS
            mass = 1.0 / bodies.inv_mass[i]
            self.lively[r] += mass * self.speeds[i] * self.speeds[i]
            s = bodies.still_speed[i] + NOTHING * self.slow[i]
            self.usual[r] += mass * s * s
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] != DYNAMIC:
                continue
            r = self.root(i)
            if self.state[r] == RESTS and self.lively[r] <= GROWTH * self.usual[r]:
                bodies.island[i] = r
                memset(&bodies.twist[i], 0, sizeof(Twist))
                self.keep_sight(bodies, i)
                slept = True
        return slept


cdef inline bint conveys(const Resistance* r) noexcept nogil:
    """Whether a surface moves over its body."""
    return dot(r.surface_velocity, r.surface_velocity) > 0.0


cdef bint carries(const Manifold* m) noexcept nogil:
    """Whether a contact of the last step holds its bodies together."""
    cdef int k
    for k in range(m.point_count):
        if m.points[k].separation <= REACH * m.near or m.points[k].total_normal_impulse > 0.0:
            return True
    return False


cdef bint touches(const Manifold* m, const Bodies* bodies, double ahead) noexcept nogil:
    """Whether a point is, or within the time ahead comes, so near."""
    cdef int k
    for k in range(m.point_count):
        if m.points[k].separation + min(ahead * opening_speed(m, k, bodies), 0.0) <= REACH * m.near:
            return True
    return False
