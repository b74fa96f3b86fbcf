"""Contacts with what bodies meet that are struck within a step.

Contacts are laid before a step, for the velocities that bodies have then. A ball at rest that is struck in the first of
the substeps, and meets a third one in the second, has no contact with it: it overlaps it at the end of the step by as much
as it has moved, and what then pushes the two apart gives them energy from nothing. So the blows of a step are foreseen,
as they would be between two free bodies:

    p = (1 + e) c / (k_a + k_b),    k = 1/m + (r x n) . I^-1 (r x n),    c: the speed at which the point closes

and what is struck is followed with the velocity that it then has: pairs that come together so, and have no contact yet, get
one. In a round each body takes part in one blow at most; then the next ones follow from the velocities by then, until none
is left. A contact too many does nothing where the two do not come together.

When things happen is left out: all blows are looked for from the poses that bodies have now. What joints make of a round's
blows, and how far what they move is to be followed, is up to the caller (constraints/_ties.pyx).
"""

import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add_scaled, cross, mat_vec, sub
from mcsim.core._types cimport GROW, OK, Twist, Vec3
from mcsim.state._carrier cimport opening_speed
from mcsim.state._inertia cimport answer_along
from mcsim.state._layout cimport DYNAMIC, PLANE, Manifold
from mcsim.collide._broadphase cimport MOVING, STILL
from mcsim.collide._pairs cimport first_of, pair_key, sort_keys
from mcsim.collide._tree cimport BoxWalk, next_leaf, walk_box
# What gives way to a blow by less than this of the speed at which it is struck is held by its joints.
cdef double RIGID = 1e-6


cdef Blow blow_of(const Bodies* bodies, const Manifold* m, double ahead, double threshold) noexcept nogil:
    """That of the point which closes fastest, of those that touch within the time ahead."""
    cdef Blow blow
    cdef double closing, k
    cdef int i
    blow.point, blow.impulse, blow.closing = -1, 0.0, threshold
    if not m.restitution > 0.0:
        return blow
    for i in range(m.point_count):
        closing = -opening_speed(m, i, bodies)
        if closing > blow.closing and m.points[i].separation < ahead * closing:
            blow.point, blow.closing = i, closing
    if blow.point >= 0:
        k = (answer_along(bodies, m.body_a, m.points[blow.point].position, m.normal)
             + answer_along(bodies, m.body_b, m.points[blow.point].position, m.normal))
        blow.impulse = (1.0 + m.restitution) * blow.closing / k if k > 0.0 else 0.0
    return blow


cdef class Foresight:
    """collider: of the world; bodies: how many."""

    def __init__(self, Collider collider not None, Py_ssize_t bodies):
        rounds, twists = np.zeros(bodies + 1, np.int32), np.zeros((2, bodies + 1, 6))
        self.collider, self.kept = collider, (rounds, twists)
        self.round_of = integers(rounds) + 1
        self.before, self.last = <Twist*>doubles(twists[0]), <Twist*>doubles(twists[1])

    cdef Py_ssize_t next_blow(self, Bodies* bodies, double ahead, double threshold, int32_t now, Py_ssize_t n) noexcept nogil:
        """The first manifold from n on with a blow, `blow`, between bodies that round `now`, counted from 1, has not moved
        yet; threshold: at which speed things bounce [m/s]. -> its number, or -1"""
        cdef const Manifold* m
        while n < self.collider.manifold_count:
            m = &self.collider.manifolds[n]
            if self.round_of[m.body_a] != now and self.round_of[m.body_b] != now:
                self.blow = blow_of(bodies, m, ahead, threshold)
                if self.blow.impulse > 0.0:
                    return n
            n += 1
        return -1

    cdef void strike(self, Bodies* bodies, Py_ssize_t n, int32_t now) noexcept nogil:
        """The blow that next_blow has found, on the velocities of its two bodies."""
        cdef const Manifold* m = &self.collider.manifolds[n]
        cdef Vec3 at = m.points[self.blow.point].position
        self.push(bodies, m.body_a, -self.blow.impulse, m.normal, at, now)
        self.push(bodies, m.body_b, self.blow.impulse, m.normal, at, now)

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        """Before the first blow; after the last one restore() is to be called."""
        self.manifolds = self.collider.manifold_count
        memcpy(self.before, bodies.twist, bodies.count * sizeof(Twist))

    cdef void keep(self, const Bodies* bodies) noexcept nogil:
        """The velocities before a blow that joints are to answer."""
        memcpy(self.last, bodies.twist, bodies.count * sizeof(Twist))

    cdef void make_whole(self, Bodies* bodies, Py_ssize_t n) noexcept nogil:
        """Joints have answered a blow as two free bodies would have it. All velocities follow it linearly, so as many times
        as much leaves the point with e times the speed at which it closed. What hardly gives way stays as it was."""
        cdef const Manifold* m = &self.collider.manifolds[n]
        cdef double gone = self.blow.closing + opening_speed(m, self.blow.point, bodies)
        cdef double s = (1.0 + m.restitution) * self.blow.closing / gone if gone > RIGID * self.blow.closing else 0.0
        cdef Py_ssize_t i
        cdef Twist* t
        for i in range(bodies.count):
            t = &bodies.twist[i]
            t.v = add_scaled(self.last[i].v, s, sub(t.v, self.last[i].v))
            t.w = add_scaled(self.last[i].w, s, sub(t.w, self.last[i].w))

    cdef void push(self, Bodies* bodies, int32_t body, double impulse, Vec3 normal, Vec3 point, int32_t now) noexcept nogil:
        if bodies.kind[body] != DYNAMIC or bodies.island[body] >= 0:
            return
        self.round_of[body] = now
        bodies.twist[body].v = add_scaled(bodies.twist[body].v, impulse * bodies.inv_mass[body], normal)
        bodies.twist[body].w = add_scaled(bodies.twist[body].w, impulse, mat_vec(
            bodies.inv_inertia_world[body], cross(sub(point, bodies.position[body]), normal)))

    cdef int follow(self, Bodies* bodies, double ahead, int32_t now) noexcept nogil:
        """The contacts of what this round moved, at the velocities that it has then. -> OK, or GROW as the collider means it"""
        cdef Py_ssize_t count = self.collider.manifold_count
        cdef Py_ssize_t asked = 0
        cdef Py_ssize_t n, added
        cdef int32_t i
        cdef int status = OK
        for i in range(self.collider.shape_count):
            if self.round_of[self.collider.shapes[i].body] == now:
                self.collider.place(i, bodies, &self.collider.placed_nearness, ahead)
        for i in range(self.collider.shape_count):
            if status == OK and self.round_of[self.collider.shapes[i].body] == now and self.collider.solids[i].finite:
                status = self.list_pairs(i, &asked)
        if status != OK or asked == 0:
            return status
        sort_keys(self.collider.fresh, self.collider.plane_pairs, asked)
        n = 1
        for added in range(1, asked):                    # a pair both of whose bodies are struck is asked for twice
            if self.collider.fresh[added] != self.collider.fresh[n - 1]:
                self.collider.fresh[n] = self.collider.fresh[added]
                n += 1
        self.collider.close, self.collider.fresh = self.collider.fresh, self.collider.close
        added = self.collider.find_some(bodies, ahead, 0, n, count, self.collider.manifold_capacity)
        self.collider.close, self.collider.fresh = self.collider.fresh, self.collider.close
        if added < 0 or count + 2 * added > self.collider.manifold_capacity:
            self.collider.manifolds_wanted = 2 * self.collider.manifold_capacity
            return GROW
        self.put_in_order(count, added)
        return OK

    cdef int list_pairs(self, int32_t i, Py_ssize_t* count) noexcept nogil:
        """Pairs of shape i, without contact so far, whose boxes overlap. -> status"""
        cdef BoxWalk walk
        cdef int32_t j, k
        cdef bint fits = True
        if self.collider.shapes[i].type == PLANE:
            return OK
        for k in range(self.collider.plane_count):
            fits &= self.ask(i, self.collider.planes[k], count)
        for k in range(STILL, MOVING + 1):
            walk_box(&walk, &self.collider.trees[k], &self.collider.boxes[i])
            j = next_leaf(&walk)
            while j >= 0:
                fits &= self.ask(i, j, count)
                j = next_leaf(&walk)
        if not fits:
            self.collider.pairs_wanted = self.collider.pair_capacity + self.collider.pair_capacity // 2 + 64
        return OK if fits else GROW

    cdef bint ask(self, int32_t i, int32_t j, Py_ssize_t* count) noexcept nogil:
        """-> whether there is room for the pair, if it is to be looked at"""
        cdef uint64_t key = pair_key(i, j)
        cdef Py_ssize_t at
        if i == j or not self.collider.wanted(i, j):
            return True
        at = first_of(self.collider.manifolds, self.collider.manifold_count, key)
        if at < self.collider.manifold_count and self.collider.manifolds[at].key == key:
            return True
        if count[0] == self.collider.pair_capacity:
            return False
        self.collider.fresh[count[0]] = key
        count[0] += 1
        return True

    cdef void put_in_order(self, Py_ssize_t count, Py_ssize_t added) noexcept nogil:
        """Merge manifolds[count:count + added] with those before; behind them is as much room again."""
        cdef Manifold* m = self.collider.manifolds
        cdef Manifold* fresh = m + count + added
        cdef Py_ssize_t i = count - 1
        cdef Py_ssize_t j = added - 1
        memcpy(fresh, m + count, added * sizeof(Manifold))
        while j >= 0:
            if i >= 0 and m[i].key > fresh[j].key:
                m[i + j + 1] = m[i]
                i -= 1
            else:
                m[i + j + 1] = fresh[j]
                j -= 1
        self.collider.manifold_count = count + added

    cdef void restore(self, Bodies* bodies, double ahead) noexcept nogil:
        """The velocities that bodies have, and their shapes so placed."""
        cdef Py_ssize_t i
        for i in range(bodies.count):
            if self.round_of[i] > 0:
                bodies.twist[i] = self.before[i]
        for i in range(self.collider.shape_count):
            if self.round_of[self.collider.shapes[i].body] > 0:
                self.collider.place(<int32_t>i, bodies, &self.collider.placed_nearness, ahead)
        memset(self.round_of - 1, 0, (bodies.count + 1) * sizeof(int32_t))
        if self.collider.manifold_count > self.manifolds:
            self.collider.join_surfaces(bodies, ahead)
