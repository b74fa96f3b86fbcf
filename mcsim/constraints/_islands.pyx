"""Islands of bodies that touch or are joined, and which of them sleep (docs/theory/sleeping.md).

A sleeping body goes with what carries it, its contacts with what stands or sleeps are not looked for and its joints not
solved, until something that moves touches its island, or the user changes it. `island` of a body is -1 while it is awake,
else the lowest number among those that fell asleep with it: they wake together.

Mechanics knows no frame, so all speeds here are against a body's `carrier`: the velocity of what does not move by itself
and is nearest to it over contacts and joints, a static body's 0, a kinematic one's own, or that of what sleeps; of what
touches nothing the one that it had. Where that changes, the body begins anew. A carrier that turns, or pushes at another
velocity, drives what it touches, as does a static body where others are carried past it.

A body rests that has been slower than `slow` for `patience`, with all that joints tie it to. Bodies that rest and touch
are an island. It falls asleep when it lies on its carrier, which all of it share, nothing drives it, and it is not about to
fall: with s the speed of a body's fastest point and s* the same smoothed over that time, the sum of m s^2 is at most
GROWTH times that of m s*^2. What falls from an unstable balance grows like e^(c t), s*/s = 1 / (1 + c patience), and is
let go on; what rattles keeps the ratio near 1. Mechanisms that touch nothing never sleep: a pendulum is slow at its
turning points, too.

Where something that does not rest touches an island, those that it touches stay awake, and those that have joints, and
the others sleep beside them. For what is awake and rests a sleeper is what it was before, something that stands and
bears: it has no mass in the rows (`inv_mass` is 0 in the bodies' records that kernels read), but its contacts' springs are
as stiff as if it were awake. What awake bodies carry does not sleep, for it would weigh nothing on them. What presses on a
sleeper is compared with what it was (`borne`): where the change of a step's impulses alone would make the sleeper faster in
a step than what is still, it wakes, and what lies on it, and its neighbours then bear what it gives them. For a while after
something beside it fell asleep or woke, while how indeterminate loads are shared may change, it takes them as they are.
When one of those beside it moves again, its whole island wakes, as still as it was: what is not moved sleeps on after the
step.

Source: E. Catto, "Simulation Islands", 2023 (islands kept asleep, woken by touch).
"""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._carriers cimport REACH
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport add, add_scaled, cross, dot, is_zero, mat_vec, norm, scale, sub, vec3
from mcsim.core._touched cimport Touched, sort_touched, touch
from mcsim.core._types cimport Mat3, Twist
from mcsim.state._contact_reference cimport opening_speed
from mcsim.state._bodies cimport DYNAMIC, KINEMATIC, STATIC
from mcsim.state._inertia cimport awake_inverse

# What is seen of a sleeper's load in a step.
cdef enum:
    FOLLOWS = 1                  # it is not yet what it will be: for a while it is taken as it is
    LIFTED = 2                   # something awake lifts it
    JUDGED = 4


cdef class Islands:
    def __init__(self, bodies, speeds, double patience, nearest):
        """bodies: state.arrays.BodyArrays. speeds (n,), or one [m/s]: slower than that a body is still (0: it never
        is); patience [s]; nearest (n,), or one [m]: from no farther on than that each has contacts."""
        count, room = bodies.count, bodies.room
        self.stillness = Stillness(bodies, speeds, patience)
        self.forest, self.carriers = IslandForest(self.stillness, room), Carriers(self.stillness, room)
        numbers, flags = np.zeros((3, room + 1), np.int32), np.zeros((2, room + 1), np.int8)
        near = np.zeros(room + 1)
        near[:count] = nearest
        near *= REACH
        held = np.zeros(room + 1), np.zeros((room + 1, 3, 3)), np.zeros((room + 1, 6))
        held[0][:count + 1], held[1][:count + 1] = bodies.padded["inv_mass"], bodies.padded["inv_inertia"]
        self.kept, self.seen = (numbers, near, flags, held), LastSeen(room)
        self.asleep, self.sight = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])
        self.held_mass, self.held_inertia = doubles(held[0]) + 1, <Mat3*>doubles(held[1]) + 1
        self.load = <Twist*>doubles(held[2])
        self.moving, self.bearers, self.first = integers(numbers[0]), integers(numbers[1]), integers(numbers[2])
        self.near = doubles(near)
        self._take(bodies)

    cdef _take(self, bodies):
        """What there is of these bodies."""
        self.touch = self.kept[1][:bodies.count]
        self.bodies = bodies

    cdef edit(self, bodies, Rows rows, fresh, speeds, nearest):
        """Follow bodies that went and came, which are where they were last seen. bodies: BodyArrays of all, fresh: of those
        that came, awake; speeds, nearest: of theirs. list_moving() after it."""
        near, flags, held = self.kept[1:]
        self.stillness.edit(rows, fresh, speeds)
        self.seen.edit(rows, fresh)
        rows.edit(near, REACH * nearest)
        rows.edit(flags[0], 0)
        rows.edit(flags[1], 0)
        rows.edit(held[0], fresh.whole["inv_mass"], 1)
        rows.edit(held[1], fresh.whole["inv_inertia"], 1)
        rows.edit(held[2], 0.0)
        self._take(bodies)

    def get_seen(self, kind, island):
        """(n, 7) position and orientation of each body that something would wake if it were moved, as they were last
        seen; 0 of those awake, which are not looked at. kind, island (n,): of the bodies."""
        seen = self.seen.get()[:len(kind)]
        seen[(kind == DYNAMIC) & (island < 0)] = 0.0
        return seen

    def set_seen(self, seen):
        """What get_seen() gave."""
        self.seen.set(seen)

    cdef void stand_in(self, Bodies* bodies) noexcept nogil:
        """From now on the kernels' inverse masses are those that say 0 of what sleeps; the user's arrays stay as they
        are."""
        bodies.inv_mass = self.held_mass
        bodies.inv_inertia = self.held_inertia

    cdef void hold(self, Bodies* bodies, Py_ssize_t i, bint held) noexcept nogil:
        """A body has no inverse mass from now on, or has it again. Its world inertia then is for update_inertia()."""
        self.asleep[i] = held
        if held:
            self.held_mass[i] = 0.0
            memset(&self.held_inertia[i], 0, sizeof(Mat3))
            memset(&bodies.inv_inertia_world[i], 0, sizeof(Mat3))
        else:
            self.held_mass[i] = bodies.awake_inv_mass[i]
            self.held_inertia[i] = bodies.awake_inv_inertia[i]

    cdef void list_moving(self, Bodies* bodies) noexcept nogil:
        """bodies.moving: what is not static and does not sleep, ascending; `asleep`, body by body; who bears, and who is
        carried."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        self.sleepers = self.carriers.carried_count = 0
        for i in range(bodies.count):
            if bodies.kind[i] != STATIC and bodies.island[i] < 0:
                self.moving[count] = <int32_t>i
                count += 1
            if self.asleep[i] != (bodies.island[i] >= 0):
                self.hold(bodies, i, bodies.island[i] >= 0)
            self.sleepers += self.asleep[i]
            if self.asleep[i] and not is_zero(bodies.carrier[i]):
                self.carriers.carried[self.carriers.carried_count] = <int32_t>i
                self.carriers.carried_count += 1
        bodies.moving = self.moving
        bodies.moving_count = count
        self.list_bearers(bodies)

    cdef void list_bearers(self, const Bodies* bodies) noexcept nogil:
        """The sleepers on which something awake pressed."""
        cdef Py_ssize_t i
        self.bearing = 0
        for i in range(bodies.count if self.sleepers > 0 else 0):
            if bodies.island[i] >= 0 and bears(&bodies.borne[i]):
                self.bearers[self.bearing] = <int32_t>i
                self.bearing += 1

    # ---- waking ------------------------------------------------------------------------------------------------------

    cdef bint wake(self, Bodies* bodies, int64_t island, double rested) noexcept nogil:
        """rested [s]: for how long its bodies have been still; 0: they begin anew, else they are as still as they were, and
        may sleep again after the step. -> whether such an island slept"""
        cdef Py_ssize_t i
        cdef bint found = False
        if island < 0:
            return False
        for i in range(island, bodies.count):           # it bears the number of its first body
            if bodies.island[i] == island:
                bodies.island[i] = -1
                bodies.still_time[i] = rested
                if rested == 0.0:
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
            far = self.stillness.size[i] + self.stillness.size[k] + self.near[k]
            if (norm(sub(bodies.position[k], bodies.position[i])) <= far
                    or norm(sub(bodies.position[k], self.seen.position[i])) <= far):
                woken |= self.wake(bodies, bodies.island[k], 0.0)
        return woken

    cdef void look(self, const Bodies* bodies) noexcept nogil:
        """Where everything is now."""
        cdef Py_ssize_t i
        for i in range(bodies.count):
            self.seen.keep(bodies, i)

    cdef void look_at_moving(self, const Bodies* bodies) noexcept nogil:
        """Where kinematic bodies have come to by themselves, and what they carried."""
        cdef Py_ssize_t k
        for k in range(self.carriers.carried_count):
            self.seen.keep(bodies, self.carriers.carried[k])
        for k in range(bodies.moving_count):
            if bodies.kind[bodies.moving[k]] == KINEMATIC:
                self.seen.keep(bodies, bodies.moving[k])

    cdef bint notice(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count,
                     Touched* written) noexcept nogil:
        """Between two step calls the user may have written anything into poses, velocities and forces of the bodies
        `written`. Wakes what was pushed, moved, or lies where something was taken away or put. -> whether anything woke"""
        cdef Py_ssize_t i, k
        cdef bint driven = False
        cdef bint woken = False
        for k in range(bodies.moving_count):
            if bodies.kind[bodies.moving[k]] == KINEMATIC:
                driven = True
                touch(written, bodies.moving[k])
        for i in range(joint_count if driven and self.sleepers > 0 else 0):
            if joints[i].broken == 0:
                woken |= self.wake_pulled(bodies, joints[i].body_a, joints[i].body_b)
                woken |= self.wake_pulled(bodies, joints[i].body_b, joints[i].body_a)
        if written.all:
            for i in range(bodies.count):
                woken |= self.notice_body(bodies, i)
            return woken
        sort_touched(written)
        for k in range(written.count):
            woken |= self.notice_body(bodies, written.rows[k])
        return woken

    cdef bint notice_body(self, Bodies* bodies, Py_ssize_t i) noexcept nogil:
        cdef const Twist* force
        cdef bint woken = False
        if bodies.island[i] >= 0:
            force = &bodies.force[i]
            if (self.seen.displaced(bodies, i) or not is_zero(sub(bodies.twist[i].v, bodies.carrier[i]))
                    or not is_zero(bodies.twist[i].w) or not is_zero(force.v) or not is_zero(force.w)):
                woken |= self.wake_near(bodies, i)
                woken |= self.wake(bodies, bodies.island[i], 0.0)
        elif bodies.kind[i] != DYNAMIC and self.seen.displaced(bodies, i):
            if self.sleepers > 0:
                woken |= self.wake_near(bodies, i)
            self.seen.keep(bodies, i)
        return woken

    cdef bint wake_pulled(self, Bodies* bodies, int32_t i, int32_t other) noexcept nogil:
        """If body i of a joint sleeps, and the other is kinematic and has begun to move against it. -> whether it woke"""
        return (i >= 0 and bodies.island[i] >= 0 and bodies.kind[other] == KINEMATIC
                and self.stillness.active(bodies, other, i)
                and self.wake(bodies, bodies.island[i], 0.0))

    cdef bint wake_touched(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count,
                           double ahead) noexcept nogil:
        """Islands that something active touches that does not rest, or will within the time ahead. -> whether any woke"""
        cdef Py_ssize_t i
        cdef const Manifold* m
        cdef bint woken = False
        for i in range(count):
            m = &manifolds[i]
            if stirs(self.stillness, bodies, m) and not self.leans(bodies, m, ahead) and touches(m, bodies, ahead):
                woken |= self.wake(bodies, bodies.island[m.body_a], self.forest.long_rest)
                woken |= self.wake(bodies, bodies.island[m.body_b], self.forest.long_rest)
        return woken

    cdef bint leans(self, const Bodies* bodies, const Manifold* m, double dt) noexcept nogil:
        """Whether an awake body that rests is there beside a sleeping one: it has been still for long enough, and neither
        its velocity nor a force of the user's makes it faster in the step ahead."""
        cdef Py_ssize_t i = m.body_b if bodies.island[m.body_a] >= 0 else m.body_a
        cdef Py_ssize_t other = m.body_a if i == m.body_b else m.body_b
        cdef Vec3 w
        if (bodies.kind[i] != DYNAMIC or bodies.island[i] >= 0 or bodies.still_time[i] < self.stillness.patience
                or self.forest.tied[other]):
            return False
        w = mat_vec(bodies.inv_inertia_world[i], bodies.force[i].w)
        return (norm(sub(bodies.twist[i].v, bodies.carrier[other])) + dt * bodies.inv_mass[i] * norm(bodies.force[i].v)
                + self.stillness.size[i] * (norm(bodies.twist[i].w) + dt * norm(w))) < self.stillness.slow[i]

    cdef Py_ssize_t drop_sleeping(self, const Bodies* bodies, Manifold* manifolds, Py_ssize_t count,
                                  double dt) noexcept nogil:
        """Leave out the manifolds of a sleeping body with what does not rest, which are near but do not touch. -> how many
        are left"""
        cdef Py_ssize_t i
        cdef Py_ssize_t kept = 0
        for i in range(count):
            if (bodies.island[manifolds[i].body_a] < 0 and bodies.island[manifolds[i].body_b] < 0) or self.leans(
                    bodies, &manifolds[i], dt):
                if kept < i:
                    manifolds[kept] = manifolds[i]
                kept += 1
        return kept

    # ---- what sleepers bear ------------------------------------------------------------------------------------------

    cdef bint rouse_laden(self, Bodies* bodies, const Manifold* manifolds, const Resistance* resistances,
                          Py_ssize_t count, const Settings* settings) noexcept nogil:
        """Wake each sleeper that something awake lifts, or that bears another load than it did. -> whether any woke"""
        cdef Py_ssize_t k
        cdef int32_t i, other
        cdef const Manifold* m
        cdef bint woken = False
        self.followed = False
        for k in range(self.bearing):
            self.weigh_anew(bodies, self.bearers[k], settings)
        for k in range(count):
            i = bearer(bodies, &manifolds[k])
            if i >= 0:
                self.weigh_anew(bodies, i, settings)
        for k in range(count):
            m = &manifolds[k]
            i = bearer(bodies, m)
            if i < 0:
                continue
            add_load(&self.load[i], bodies, i, m, resistances != NULL, settings.substeps)
            other = m.body_a if m.body_b == i else m.body_b
            if bodies.still_time[other] < 2.0 * self.stillness.patience:
                self.sight[i] |= FOLLOWS
            if self.lifts(bodies, m, i, settings):
                self.sight[i] |= LIFTED
        for k in range(self.bearing):
            self.judge(bodies, self.bearers[k], settings, &woken)
        for k in range(count):
            i = bearer(bodies, &manifolds[k])
            if i >= 0:
                self.judge(bodies, i, settings, &woken)
        if self.followed:
            self.list_bearers(bodies)
        return woken

    cdef void weigh_anew(self, const Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil:
        memset(&self.load[i], 0, sizeof(Twist))
        self.sight[i] = FOLLOWS if bodies.still_time[i] < self.stillness.patience else 0

    cdef void judge(self, Bodies* bodies, int32_t i, const Settings* settings, bint* woken) noexcept nogil:
        """Once in a step: a sleeper takes its load as it is, or wakes if the change alone would make it faster in the step
        than what is still."""
        cdef Mat3 inverse
        if bodies.island[i] < 0 or self.sight[i] & JUDGED:
            return
        if self.sight[i] & LIFTED:
            self.rouse(bodies, i, settings)
            woken[0] = True
        elif self.sight[i] & FOLLOWS:
            bodies.borne[i] = self.load[i]
            bodies.still_time[i] += settings.dt
            self.followed = True
        else:
            inverse = awake_inverse(bodies, i)
            if (bodies.awake_inv_mass[i] * norm(sub(self.load[i].v, bodies.borne[i].v))
                    + self.stillness.size[i] * norm(mat_vec(inverse, sub(self.load[i].w, bodies.borne[i].w)))
                    > self.stillness.slow[i]):
                self.rouse(bodies, i, settings)
                woken[0] = True
        self.sight[i] |= JUDGED

    cdef void rouse(self, Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil:
        """It wakes, as still as it is, and with it what it carries, which would lie on it without weight; where joints tie
        that, the whole island. The others of the island bear the name of the first that is left."""
        cdef int64_t island = bodies.island[i]
        cdef int64_t name = -1
        cdef const Manifold* m
        cdef int32_t carried
        cdef Py_ssize_t k
        cdef bint found = True
        self.rouse_alone(bodies, i)
        while found:
            found = False
            for k in range(self.resting_count):
                m = &self.resting[k]
                carried = bearer(bodies, m)
                if carried < 0 or not self.lifts(bodies, m, carried, settings):
                    continue
                if self.forest.tied[carried]:
                    self.wake(bodies, island, 0.0)
                    return
                self.rouse_alone(bodies, carried)
                found = True
        for k in range(island, bodies.count):
            if bodies.island[k] == island:
                if name < 0:
                    name = k
                bodies.island[k] = name

    cdef void rouse_alone(self, Bodies* bodies, int32_t i) noexcept nogil:
        bodies.island[i] = -1
        bodies.still_time[i] = self.stillness.patience
        bodies.still_speed[i] = 0.0

    cdef bint lifts(self, const Bodies* bodies, const Manifold* m, int32_t i, const Settings* settings) noexcept nogil:
        """Whether the contact lifts its body i by more than what is still."""
        return pushed(bodies, m, i, settings) < -self.stillness.slow[i] * norm(settings.gravity)

    cdef void begin_bearing(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count) noexcept nogil:
        """Those that fell asleep just now (`asleep` is what was before), and those beside which they did, take their load
        as it is for a while."""
        cdef Py_ssize_t k
        cdef int32_t a, b
        for k in range(bodies.moving_count):
            if bodies.island[bodies.moving[k]] >= 0:
                memset(&bodies.borne[bodies.moving[k]], 0, sizeof(Twist))
                bodies.still_time[bodies.moving[k]] = 0.0
        for k in range(count):
            a, b = manifolds[k].body_a, manifolds[k].body_b
            if bodies.island[a] >= 0 and bodies.island[b] >= 0 and self.asleep[a] != self.asleep[b]:
                bodies.still_time[a if self.asleep[a] else b] = 0.0

    # ---- falling asleep ----------------------------------------------------------------------------------------------

    cdef bint settle(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                     const Resistance* resistances, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                     const Settings* settings, const Manifold* resting, Py_ssize_t resting_count) noexcept nogil:
        """After a step from these poses, with these contacts; resistances: beside them, or NULL; resting: the contacts of
        sleepers with what sleeps or stands. -> whether anything fell asleep, or woke"""
        cdef bint ready = self.stillness.measure(bodies, position, orientation, settings.dt)
        self.resting, self.resting_count = resting, resting_count
        if self.sleepers > 0 and self.rouse_laden(bodies, manifolds, resistances, count, settings):
            return True
        if not ready:
            return False
        self.forest.find_islands(bodies, joints, joint_count, manifolds, resistances, count)
        self.find_carried(bodies, manifolds, count, settings)
        if not self.fall_asleep(bodies):
            return False
        self.begin_bearing(bodies, manifolds, count)
        return True

    cdef void find_carried(self, const Bodies* bodies, const Manifold* manifolds, Py_ssize_t count,
                           const Settings* settings) noexcept nogil:
        """In islands beside something restless what stays awake does not bear sleepers, which would lie on it without
        weight: what it carries stays awake too, and what that carries."""
        cdef Py_ssize_t k
        cdef int32_t i
        cdef const Manifold* m
        cdef bint found = True
        while found:
            found = False
            for k in range(count):
                m = &manifolds[k]
                if (bodies.kind[m.body_a] != DYNAMIC or bodies.kind[m.body_b] != DYNAMIC
                        or stays(self.forest, bodies, m.body_a) == stays(self.forest, bodies, m.body_b)):
                    continue
                i = m.body_b if stays(self.forest, bodies, m.body_a) else m.body_a
                if not self.asleep[i] and self.lifts(bodies, m, i, settings):
                    self.forest.beside[i] = found = True

    cdef bint fall_asleep(self, Bodies* bodies) noexcept nogil:
        """-> whether anything did. What sleeps already and touches it goes into its island."""
        cdef Py_ssize_t k
        cdef int32_t i, r
        cdef bint slept = False
        for k in range(bodies.count):
            self.first[k] = -1
        for k in range(bodies.moving_count):
            i = bodies.moving[k]
            if bodies.kind[i] == DYNAMIC and self.forest.may_sleep(bodies, i):
                bodies.island[i] = self.forest.root(i)
                self.first[self.forest.root(i)] = bodies.count
                self.seen.keep(bodies, i)
                slept = True
        if not slept:
            return False
        for k in range(bodies.count):                   # an island bears the number of its first sleeper
            if bodies.island[k] >= 0:
                r = self.forest.root(<int32_t>k)
                if self.first[r] == bodies.count:
                    self.first[r] = <int32_t>k
                if self.first[r] >= 0:
                    bodies.island[k] = self.first[r]
                    bodies.carrier[k] = bodies.carrier[self.first[r]]
                    bodies.twist[k].v = bodies.carrier[k]
                    bodies.twist[k].w = vec3(0.0, 0.0, 0.0)
        return True


cdef inline int32_t bearer(const Bodies* bodies, const Manifold* m) noexcept nogil:
    """The sleeping one of a sleeping and an awake dynamic body; -1: they are others."""
    if bodies.kind[m.body_a] != DYNAMIC or bodies.kind[m.body_b] != DYNAMIC:
        return -1
    if bodies.island[m.body_a] >= 0:
        return m.body_a if bodies.island[m.body_b] < 0 else -1
    return m.body_b if bodies.island[m.body_b] >= 0 else -1


cdef inline double pushed(const Bodies* bodies, const Manifold* m, int32_t i, const Settings* settings) noexcept nogil:
    """How much faster the contact alone makes its body i downwards in the step, times gravity [m2/s3]."""
    cdef int k
    cdef Vec3 push = vec3(0.0, 0.0, 0.0)
    for k in range(m.point_count):
        push = add_scaled(add(push, m.points[k].total_friction_impulse), m.points[k].total_normal_impulse, m.normal)
    if m.body_a == i:
        push = scale(-1.0, push)
    return dot(push, scale(bodies.gravity_scale[i], settings.gravity)) * bodies.awake_inv_mass[i]


cdef inline bint stays(IslandForest forest, const Bodies* bodies, int32_t i) noexcept nogil:
    """Whether a dynamic body goes on awake, as far as is known."""
    return bodies.island[i] < 0 and not forest.may_sleep(bodies, i)


cdef inline bint stirs(Stillness stillness, const Bodies* bodies, const Manifold* m) noexcept nogil:
    """Whether one of the two sleeps, and the other may move it."""
    if bodies.island[m.body_a] >= 0:
        return stillness.active(bodies, m.body_b, m.body_a)
    return bodies.island[m.body_b] >= 0 and stillness.active(bodies, m.body_a, m.body_b)


cdef inline bint bears(const Twist* load) noexcept nogil:
    return dot(load.v, load.v) + dot(load.w, load.w) > 0.0


cdef void add_load(Twist* load, const Bodies* bodies, int32_t i, const Manifold* m, bint rolling,
                   int substeps) noexcept nogil:
    """What a contact gave body i in the last step, about its centre of mass. rolling: it may resist that."""
    cdef int k
    cdef double sign = -1.0 if m.body_a == i else 1.0
    cdef Vec3 force
    cdef Vec3 turn = scale(m.twist_impulse, m.normal)
    if rolling:
        turn = add(turn, m.rolling_impulse)
    load.w = add_scaled(load.w, sign * substeps, turn)
    for k in range(m.point_count):
        force = add_scaled(m.points[k].total_friction_impulse, m.points[k].total_normal_impulse, m.normal)
        load.v = add_scaled(load.v, sign, force)
        load.w = add_scaled(load.w, sign, cross(sub(m.points[k].position, bodies.position[i]), force))


cdef bint touches(const Manifold* m, const Bodies* bodies, double ahead) noexcept nogil:
    """Whether a point is, or within the time ahead comes, so near."""
    cdef int k
    for k in range(m.point_count):
        if m.points[k].separation + min(ahead * opening_speed(m, k, bodies, bodies.twist), 0.0) <= REACH * m.near:
            return True
    return False
