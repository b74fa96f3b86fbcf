"""How much of the warm starts is kept of what hangs together with articulations that take part in sweeps: so much that
they do no more work than they should (solve/_warm_starts.pyx).
"""

from libc.stdint cimport int32_t
from libc.string cimport memset

from mcsim.core._math cimport add, add_scaled, cross, dot, mat_vec, rotate_back, scale, sub
from mcsim.core._types cimport Twist, Vec3
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart, ArticulationState
from mcsim.solve._drivers cimport MANY_DRIVERS, UNDRIVEN, meet_driver, tie_moving
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport JointRows, Row
from mcsim.wide._batches cimport BATCH_SWEPT


cdef class WarmStartParts(ArticulationPart):
    """Which parts of warm starts are kept."""

    def __init__(self, ArticulationState state, JointSolves solves):
        self.state = state
        self.solves = solves

    cdef void tie(self, const Row* rows, Py_ssize_t count, const Manifold* manifolds,
                  Py_ssize_t manifold_count) noexcept nogil:
        """What hangs together in this step, and of it the bodies where some articulation is swept. One driven body, or
        what stands, may be at the end of it: work is measured as seen from there. Between two of which one moves warm
        starts are not weighed."""
        cdef const Joint* joint
        cdef Py_ssize_t c, g, i, k
        cdef int32_t r
        self.state.weighed_count = 0
        self.state.warm_starts.begin()
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            for k in range(self.articulation[g].member + 1, self.articulation[g].member_end):
                self.state.warm_starts.tie(self.member[k - 1], self.member[k])
        for i in range(count):
            tie_moving(self.state.warm_starts, self.bodies, rows[i].body_a, rows[i].body_b)
        for i in range(manifold_count):
            if manifolds[i].point_count > 0:
                tie_moving(self.state.warm_starts, self.bodies, manifolds[i].body_a, manifolds[i].body_b)
        for i in range(self.bodies.count):
            self.state.driver[i] = UNDRIVEN
        for i in range(count):
            meet_driver(self.state.driver, self.state.warm_starts, self.bodies, rows[i].body_a, rows[i].body_b)
        for i in range(manifold_count):
            if manifolds[i].point_count > 0:
                meet_driver(self.state.driver, self.state.warm_starts, self.bodies, manifolds[i].body_a,
                            manifolds[i].body_b)
        for c in range(self.tree.rows.awake_count):
            joint = &self.joints[self.tree.rows.awake[c]]
            meet_driver(self.state.driver, self.state.warm_starts, self.bodies, joint.body_a, joint.body_b)
        memset(self.state.watched, 0, self.bodies.count)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.state.swept[g]:
                self.state.watched[self.state.warm_starts.root(self.member[self.articulation[g].member])] = 1
        for k in range(self.bodies.moving_count):
            r = self.bodies.moving[k]
            i = self.state.warm_starts.root(r)
            if self.bodies.inv_mass[r] > 0.0 and self.state.watched[i] and self.state.driver[i] != MANY_DRIVERS:
                self.state.weighed[self.state.weighed_count] = r
                self.state.weighed_count += 1

    cdef void begin_warm_start(self) noexcept nogil:
        """Before warm starts act."""
        cdef Py_ssize_t k
        for k in range(self.state.weighed_count):
            self.state.started[self.state.weighed[k]] = self.bodies.twist[self.state.weighed[k]]
            self.state.warm_starts.clear(self.state.weighed[k])

    cdef void finish_warm_start(self, bint second) noexcept nogil:
        """Joints whose impulses start from 0 answer the warm starts beside them, by J v + rate = 0. What of the joints'
        impulses is no warm start becomes their `base`."""
        cdef const Articulation* a
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t c, g
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            a = &self.articulation[g]
            if not self.state.swept[g]:
                continue
            self.tree.copy_rows(a, rows.impulse, self.state.base)
            if self.state.cold[g] or self.state.flies[g]:
                self.border.keep(1.0, a.border, a.border_end)
                self.solves.hold(g, self.bodies.twist)
            else:
                self.tree.scale_rows(a, 0.5 if second else 0.0, self.state.base)
                self.border.keep(1.0 if second else 0.0, a.border, a.border_end)     # which has no warm start in the second

    cdef void give(self, int a, int b, double slope, double bend) noexcept nogil:
        """What a row adds of its bias and compliance (solve/_warm_starts.pyx)."""
        cdef int i = a if self.bodies.inv_mass[a] > 0.0 else b
        if self.bodies.inv_mass[i] > 0.0:
            self.state.warm_starts.give(i, slope, bend)

    cdef bint weigh(self) noexcept nogil:
        """How much of the warm starts is to be kept, once rows have given what they add: `kept_part`. -> whether any
        is less than 1"""
        cdef Py_ssize_t c, g, k
        cdef int i
        cdef double part
        cdef bint found = False
        cdef const Twist* before
        cdef Twist* twist
        cdef Vec3 dv, dw, w
        cdef Twist seen
        for c in range(self.state.awake_count):                # joints whose motion is given do work
            g = self.state.awake[c]
            if self.state.swept[g] and not self.state.here[g]:
                self.give_rates(g)
        for k in range(self.state.weighed_count):
            i = self.state.weighed[k]
            before = &self.state.started[i]
            twist = &self.bodies.twist[i]
            seen = self.seen(i)
            dv = scale(1.0 / self.bodies.inv_mass[i], sub(twist.v, before.v))
            w = rotate_back(self.bodies.orientation[i], sub(twist.w, before.w))
            dw = mat_vec(self.bodies.inertia[i], w)
            self.state.warm_starts.give(i, dot(dv, seen.v) + dot(dw, rotate_back(self.bodies.orientation[i], seen.w)),
                              dot(dv, sub(twist.v, before.v)) + dot(dw, w))
        for k in range(self.state.weighed_count):
            self.state.warm_starts.gather(self.state.weighed[k])
        for k in range(self.state.weighed_count):
            i = self.state.weighed[k]
            part = self.state.warm_starts.part_if_worse(i)
            self.state.kept_part[i] = part
            found = found or part < 1.0
        return found

    cdef void hold_doubtful(self) noexcept nogil:
        """Where warm starts are to be kept in part: the joints' is mended, by J v + rate = 0, so that the others' are
        weighed with the joints' answer to them. Then weigh begins anew."""
        cdef Py_ssize_t c, g, k
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.state.doubtful[g] = (self.state.swept[g]
                                      and self.state.kept_part[self.member[self.articulation[g].member]] < 1.0)
            if self.state.doubtful[g] and not self.state.here[g] and not self.state.cold[g] and not self.state.flies[g]:
                self.solves.hold(g, self.bodies.twist)
        if self.batches is not None:
            self.state.clear_batches(self.tree.rows.bias)
            self.batches.aim_for(self.state.near, self.state.doubtful, False)
            self.batches.solve(self.bodies.twist, &self.tree.rows, BATCH_SWEPT)
            self.batches.aim_for(self.state.near, self.state.swept, False)
        for k in range(self.state.weighed_count):
            self.state.warm_starts.clear(self.state.weighed[k])

    cdef void keep_parts(self) noexcept nogil:
        """Of the warm starts: the bodies' twists and the joints' impulses."""
        cdef Py_ssize_t c, g, k
        cdef int i
        cdef double part
        cdef const Twist* before
        cdef Twist* twist
        for k in range(self.state.weighed_count):
            i = self.state.weighed[k]
            part = self.state.kept_part[i]
            if part < 1.0:
                twist = &self.bodies.twist[i]
                before = &self.state.started[i]
                twist.v = add_scaled(before.v, part, sub(twist.v, before.v))
                twist.w = add_scaled(before.w, part, sub(twist.w, before.w))
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            part = self.state.kept_part[self.member[self.articulation[g].member]] if self.state.swept[g] else 1.0
            if part < 1.0 and not self.state.here[g]:
                self.keep_part(g, part)
        if self.batches is not None:
            self.batches.keep_parts(&self.tree.rows, self.state.base, self.state.kept_part)

    cdef void keep_part(self, Py_ssize_t g, double part) noexcept nogil:
        """Of the warm start of an articulation's impulses."""
        cdef const Articulation* a = &self.articulation[g]
        self.tree.scale_rows(a, part, self.tree.rows.impulse)
        self.tree.scale_rows(a, 1.0 - part, self.state.base)
        self.tree.add_rows(a, self.state.base, self.tree.rows.impulse)
        self.border.keep_part(part, a.border, a.border_end)

    cdef Twist seen(self, int i) noexcept nogil:
        """A body's twist before the warm starts, as seen from what drives its group."""
        cdef Twist t = self.state.started[i]
        cdef int driver = self.state.driver[self.state.warm_starts.root(i)]
        cdef const Twist* by = &self.bodies.twist[driver]
        if driver >= 0:
            t.v = sub(t.v, add(by.v, cross(by.w, sub(self.bodies.position[i], self.bodies.position[driver]))))
            t.w = sub(t.w, by.w)
        return t

    cdef void give_rates(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef double slope = 0.0
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                slope += (rows.impulse[i] - self.state.base[i]) * rows.rate[i]
        self.state.warm_starts.give(self.member[a.member], slope, 0.0)

    cdef void forget_parts(self) noexcept nogil:
        """All warm starts are whole again."""
        cdef Py_ssize_t k
        for k in range(self.state.weighed_count):
            self.state.kept_part[self.state.weighed[k]] = 1.0
