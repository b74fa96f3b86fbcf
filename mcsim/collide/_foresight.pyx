"""Contacts with what bodies meet that are struck within a step.

Contacts are laid before a step, for the velocities that bodies have then. A ball at rest that is struck in the first of
the substeps, and meets a third one in the second, has no contact with it: it overlaps it at the end of the step by as much
as it has moved, and what then pushes the two apart gives them energy from nothing. So the blows of a step are foreseen,
as they would be between two free bodies:

    p = (1 + e) c / (k_a + k_b),    k = 1/m + (r x n) . I^-1 (r x n),    c: the speed at which the point closes

and what is struck is followed with the velocity that it then has: pairs that come together so, and have no contact yet,
get one. A contact too many does nothing where the two do not come together.

Blows come in the order in which the step will make them: substep after substep those that touch within it, and in each
in rounds of those that are the first of both their bodies, until none is left there. At the time t a body that had the
velocity v_1 until t_1, then v_2, and so on, is where it would be if it had set out with its last velocity from `gone`
behind its place:

    gone = (v_1 - v_2) t_1 + (v_2 - v_3) t_2 + ...,        separation(t) = s + n . (gone_b - gone_a) - c t

so all is told from the poses that bodies have now. Joints are not asked what they make of a blow, of an articulation
only the body that is struck is followed.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, mat_vec, scale, sub, vec3
from mcsim.core._types cimport GROW, OK, Vec3
from mcsim.state._contact_reference cimport opening_speed
from mcsim.state._inertia cimport answer_along, unlocked
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._broadphase cimport MOVING, STILL
from mcsim.collide._pairs cimport first_of, pair_key, sort_keys
from mcsim.collide._tree cimport BoxWalk, next_leaf, walk_box

cdef enum:
    ROUNDS = 64                  # of blows in a substep: what they strike after that is found in the next step


cdef class Foresight:
    """collider: of the world; bodies: how many."""

    def __init__(self, Collider collider not None, Py_ssize_t bodies):
        numbers, twists, first = np.zeros((2, bodies + 1), np.int32), np.zeros((2, bodies + 1, 6)), np.zeros(bodies + 1)
        self.collider, self.kept = collider, (numbers, twists, first)
        self.round_of, self.struck = integers(numbers[0]), integers(numbers[1])
        self.before, self.gone = <Twist*>doubles(twists[0]), <Twist*>doubles(twists[1])
        self.first = doubles(first)

    cdef int look(self, Bodies* bodies, double h, int substeps, double threshold) noexcept nogil:
        """After the collider's call, for the step of so many substeps of h [s] to come: add to its manifolds.
        threshold: at which speed things bounce [m/s]. -> OK, or GROW as the collider means it"""
        cdef Py_ssize_t count = self.collider.store.manifold_count
        cdef double ahead = substeps * h
        cdef int32_t now = 0
        cdef int substep = 0
        cdef int rounds = 0
        cdef int status = OK
        self.struck_count = 0
        while status == OK and substep < substeps:
            now += 1
            rounds += 1
            if rounds <= ROUNDS and self.strike(bodies, substep * h, h, threshold, now):
                status = self.follow(bodies, ahead, now)
            else:
                substep = max(substep + 1, <int>min(self.due / h, substeps))
                rounds = 0
        self.restore(bodies, ahead)
        if status == OK and self.collider.store.manifold_count > count:
            self.collider.join_surfaces(bodies, ahead)
        return status

    cdef Blow blow_of(self, const Bodies* bodies, const Manifold* m, double until, double threshold) noexcept nogil:
        """The one at the centre of the points that touch until then, which share it as flat faces do; none where the
        first one touches later."""
        cdef Blow blow
        cdef double approach, way, k
        cdef double closing = 0.0
        cdef int count = 0
        cdef int i
        blow.position, blow.impulse, blow.time = vec3(0.0, 0.0, 0.0), 0.0, INFINITY
        if not m.restitution > 0.0:
            return blow
        for i in range(m.point_count):
            approach = -opening_speed(m, i, bodies, bodies.twist)
            if not approach > threshold:
                continue
            way = m.points[i].separation + opening_speed(m, i, bodies, self.gone)
            blow.time = min(blow.time, way / approach)
            if way < until * approach:
                blow.position, closing, count = add(blow.position, m.points[i].position), closing + approach, count + 1
        if count > 0:
            blow.position = scale(1.0 / count, blow.position)
            k = (answer_along(bodies, m.body_a, blow.position, m.normal)
                 + answer_along(bodies, m.body_b, blow.position, m.normal))
            blow.impulse = (1.0 + m.restitution) * closing / (count * k) if k > 0.0 else 0.0
        return blow

    cdef double find_first(self, const Bodies* bodies, double until, double threshold) noexcept nogil:
        """For each body the time of its first blow until then, into `first`. -> of the first one that is later [s]"""
        cdef const Manifold* m
        cdef Blow blow
        cdef double later = INFINITY
        cdef Py_ssize_t n
        for n in range(self.collider.store.manifold_count):
            m = &self.collider.store.manifolds[n]
            self.first[m.body_a] = self.first[m.body_b] = INFINITY
        for n in range(self.collider.store.manifold_count):
            m = &self.collider.store.manifolds[n]
            blow = self.blow_of(bodies, m, until, threshold)
            if blow.impulse > 0.0:
                if bodies.kind[m.body_a] == DYNAMIC:
                    self.first[m.body_a] = min(self.first[m.body_a], blow.time)
                if bodies.kind[m.body_b] == DYNAMIC:
                    self.first[m.body_b] = min(self.first[m.body_b], blow.time)
            else:
                later = min(later, blow.time)
        return later

    cdef bint strike(self, Bodies* bodies, double time, double h, double threshold, int32_t now) noexcept nogil:
        """The blows of a round, on the bodies' velocities, within the substep that begins at the time: those that are
        the first of both their bodies. -> whether there are any. Notes when the next substep with a blow is due"""
        cdef const Manifold* m
        cdef Blow blow
        cdef bint found = False
        cdef Py_ssize_t n
        self.due = self.find_first(bodies, time + h, threshold)
        for n in range(self.collider.store.manifold_count):
            m = &self.collider.store.manifolds[n]
            if min(self.first[m.body_a], self.first[m.body_b]) == INFINITY:
                continue
            blow = self.blow_of(bodies, m, time + h, threshold)
            if blow.impulse > 0.0 and blow.time <= self.first[m.body_a] and blow.time <= self.first[m.body_b]:
                found = True
                self.push(bodies, m.body_a, -blow.impulse, m.normal, blow.position, time, now)
                self.push(bodies, m.body_b, blow.impulse, m.normal, blow.position, time, now)
        return found

    cdef void push(self, Bodies* bodies, int32_t body, double impulse, Vec3 normal, Vec3 point, double time,
                   int32_t now) noexcept nogil:
        cdef Twist* v = &bodies.twist[body]
        cdef Twist* gone = &self.gone[body]
        if bodies.kind[body] != DYNAMIC or bodies.island[body] >= 0:
            return
        if self.round_of[body] == 0:
            self.before[body] = v[0]
            self.struck[self.struck_count] = body
            self.struck_count += 1
        self.round_of[body], self.first[body] = now, -INFINITY          # it has no other blow in this round
        gone.v, gone.w = add_scaled(gone.v, time, v.v), add_scaled(gone.w, time, v.w)
        v.v = add_scaled(v.v, impulse * bodies.inv_mass[body], unlocked(bodies, body, normal))
        v.w = add_scaled(v.w, impulse, mat_vec(bodies.inv_inertia_world[body],
                                               cross(sub(point, bodies.position[body]), normal)))
        gone.v, gone.w = add_scaled(gone.v, -time, v.v), add_scaled(gone.w, -time, v.w)

    cdef int follow(self, Bodies* bodies, double ahead, int32_t now) noexcept nogil:
        """The contacts of what this round struck, at the velocities that it has then. -> status"""
        cdef Py_ssize_t count = self.collider.store.manifold_count
        cdef Py_ssize_t asked = 0
        cdef Py_ssize_t n, added
        cdef int32_t i
        cdef int status = OK
        for i in range(self.collider.shape_count):
            if self.round_of[self.collider.shapes[i].body] == now:
                self.collider.place(i, bodies, &self.collider.placed_nearness, ahead)
                self.collider.loosen(i)
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
        added = self.collider.add_pairs(bodies, ahead, self.collider.fresh, n)
        if added < 0 or count + 2 * added > self.collider.store.capacity:
            self.collider.store.wanted = 2 * self.collider.store.capacity
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
        at = first_of(self.collider.store.manifolds, self.collider.store.manifold_count, key)
        if at < self.collider.store.manifold_count and self.collider.store.manifolds[at].key == key:
            return True
        if count[0] == self.collider.pair_capacity:
            return False
        self.collider.fresh[count[0]] = key
        count[0] += 1
        return True

    cdef void put_in_order(self, Py_ssize_t count, Py_ssize_t added) noexcept nogil:
        """Merge manifolds[count:count + added] with those before; behind them is as much room again."""
        cdef Manifold* m = self.collider.store.manifolds
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
        self.collider.store.manifold_count = count + added

    cdef void restore(self, Bodies* bodies, double ahead) noexcept nogil:
        """The velocities that bodies have, and their shapes so placed."""
        cdef Py_ssize_t n
        cdef int32_t i
        if self.struck_count == 0:
            return
        for n in range(self.struck_count):
            bodies.twist[self.struck[n]] = self.before[self.struck[n]]
        for i in range(self.collider.shape_count):
            if self.round_of[self.collider.shapes[i].body] > 0:
                self.collider.place(i, bodies, &self.collider.placed_nearness, ahead)
                self.collider.tighten(i)
        for n in range(self.struck_count):
            self.round_of[self.struck[n]] = 0
            memset(&self.gone[self.struck[n]], 0, sizeof(Twist))
