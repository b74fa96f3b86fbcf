"""Impacts of bodies that joints hold (solve/_impact.pyx), by each of the ways in which worlds hold them.

What a contact's impulse changes is J H^-1 J': the velocities that it gives the bodies, and what the joints then answer.

    ArticulationImpacts   the factor of the direct joint solver, and rotors, as rows that are held with it
    SmoothImpacts         that of the integrators on accelerations, likewise
    RowImpacts            joints that are rows of the sweeps: conjugate gradients on J M^-1 J' (M. Hestenes, E. Stiefel,
                          1952), which needs no factor and finds the change of velocities of redundant rows, too
    TreeImpacts           generalized coordinates, where only loops have to answer
"""

from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport add_scaled, mat_vec, scale, vec3
from mcsim.solve._blocks cimport row_velocity
from mcsim.solve._impact cimport BodyImpacts, Impacts
from mcsim.solve._tree cimport Articulation
from mcsim.state._row cimport BLOCK_BILATERAL, RELAXED, ROW_JOINT, ROW_NORMAL, is_wide
from mcsim.state._rows cimport push, rate

from mcsim.solve.components import connected

# Conjugate gradients end where what they have left is this part of what they began with.
cdef double SOLVED = 1e-13


cdef Twist half_kick(const Bodies* bodies, const Settings* settings, Py_ssize_t i) noexcept nogil:
    """What half of a substep's forces gives a body that nothing holds."""
    cdef double half = 0.5 * settings.h
    cdef Twist kick
    kick.v = kick.w = vec3(0.0, 0.0, 0.0)
    if bodies.inv_mass[i] > 0.0:
        kick.v = add_scaled(scale(half * bodies.gravity_scale[i], settings.gravity), half * bodies.inv_mass[i],
                            bodies.force[i].v)
        kick.w = scale(half, mat_vec(bodies.inv_inertia_world[i], bodies.force[i].w))
    return kick


cdef class HeldImpacts(BodyImpacts):
    """Groups of bodies that joints hold: each is one node, after those of the single bodies. groups: how many."""

    def __init__(self, int law, Py_ssize_t bodies, Py_ssize_t groups):
        BodyImpacts.__init__(self, law, bodies, groups)
        kicks = np.zeros((bodies + 1, 6))
        self.kept.append(kicks)
        self.kicks = <Twist*>doubles(kicks) + 1

    cdef int32_t group_of_body(self, int32_t body) noexcept nogil:
        """-1: no joint holds it."""
        return -1

    cdef Span members_of(self, Py_ssize_t group) noexcept nogil:
        """Its bodies, in `member`."""
        return Span(0, 0)

    cdef void find_kicks(self, Py_ssize_t groups) noexcept nogil:
        """What half of a substep's forces gives all bodies, by what joints hold."""
        cdef Py_ssize_t i
        for i in range(self.body_count):
            self.response[i] = half_kick(self.bodies, self.settings, i)
        for i in range(groups):
            self.answer(<int32_t>(self.body_count + i))
        memcpy(self.kicks, self.response, self.body_count * sizeof(Twist))
        memset(self.response, 0, self.body_count * sizeof(Twist))

    cdef double kick(self, Py_ssize_t row) noexcept nogil:
        return row_velocity(self.rows + row, self.kicks)

    cdef int32_t node_of(self, Py_ssize_t row, int side) noexcept nogil:
        cdef int32_t i = BodyImpacts.node_of(self, row, side)
        if i < 0 or self.group_of_body(i) < 0:
            return i
        return <int32_t>self.body_count + self.group_of_body(i)

    cdef void clear(self, int32_t node) noexcept nogil:
        cdef Span span
        cdef Py_ssize_t k
        if node < self.body_count:
            BodyImpacts.clear(self, node)
            return
        span = self.members_of(node - self.body_count)
        for k in range(span.begin, span.end):
            BodyImpacts.clear(self, self.member[k])

    cdef void take(self, int32_t node) noexcept nogil:
        cdef Span span
        cdef Py_ssize_t k
        if node < self.body_count:
            BodyImpacts.take(self, node)
            return
        span = self.members_of(node - self.body_count)
        for k in range(span.begin, span.end):
            BodyImpacts.take(self, self.member[k])


cdef class ArticulationImpacts(HeldImpacts):
    """articulations: of the direct joint solver; bodies: how many there are; holds: whether they close by themselves, so
    that no sweep takes their rows in turn."""

    def __init__(self, int law, Articulations articulations not None, Py_ssize_t bodies, bint holds):
        cdef Py_ssize_t count = articulations.state.articulation_count
        HeldImpacts.__init__(self, law, bodies, count)
        self.moves_rotors = True
        ready, readied = np.zeros(count + 1, np.int8), np.zeros(count + 1, np.int32)
        self.kept += [ready, readied]
        self.articulations, self.holds = articulations, holds
        self.bodies, self.settings = articulations.state.bodies, articulations.state.settings
        self.twist, self.member = self.bodies.twist, articulations.state.member
        self.ready, self.readied = <int8_t*>records(ready), integers(readied)

    cdef int32_t group_of_body(self, int32_t body) noexcept nogil:
        cdef int32_t g = self.articulations.state.group[body]
        cdef const Articulation* a = &self.articulations.state.articulation[g]
        return g if g >= 0 and (a.node < a.node_end or a.border < a.border_end) else -1

    cdef Span members_of(self, Py_ssize_t group) noexcept nogil:
        cdef const Articulation* a = &self.articulations.state.articulation[group]
        return Span(a.member, a.member_end)

    cdef void hold(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """With what drives, springs and rotors do as they are held: each may be far more than their sum. Where a relax
        pass is to follow, so are they by the rows of the sweeps: a velocity that joints do not allow where the bodies
        now are would be met by an impulse against all that they hold, which is as good as immovable that way."""
        if not self.holds_any(rows, count):
            return
        if self.holds:
            self.articulations.solve(self.twist, True)
            self.articulations.bounds.hold_bounded(self.twist, True, True)
        else:
            self.articulations.begin_pass()
            self.articulations.solve_rows(<Row*>rows, self.twist, RELAXED, True, False, False)

    cdef bint holds_any(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Whether what joints hold has a contact with a restitution."""
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].kind == ROW_NORMAL and rows[i].restitution > 0.0 and (
                    self.is_held(rows[i].body_a) or self.is_held(rows[i].body_b)):
                return True
        return False

    cdef bint is_held(self, int32_t body) noexcept nogil:
        return (self.holds or self.settings.relaxes) and self.group_of_body(body) >= 0

    cdef void make_ready(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulations.state.articulation[g]
        cdef Py_ssize_t k
        if self.ready[g]:
            return
        self.ready[g] = 1
        self.readied[self.readied_count] = <int32_t>g
        self.readied_count += 1
        self.articulations.begin_blows(g)
        for k in range(a.member, a.member_end):
            self.kicks[self.member[k]] = half_kick(self.bodies, self.settings, self.member[k])
        self.articulations.bounds.answer(g, self.kicks)

    cdef double kick(self, Py_ssize_t row) noexcept nogil:
        """As forces give it while joints hold."""
        cdef const Row* r = self.rows + row
        cdef int32_t a = self.group_of_body(r.body_a)
        cdef int32_t b = self.group_of_body(r.body_b)
        if a < 0 and b < 0:
            return r.kick
        self.kick_side(r.body_a, a)
        self.kick_side(r.body_b, b)
        return row_velocity(r, self.kicks)

    cdef void kick_side(self, int32_t body, int32_t g) noexcept nogil:
        if g >= 0:
            self.make_ready(g)
        else:
            self.kicks[body] = half_kick(self.bodies, self.settings, body)

    cdef void clear(self, int32_t node) noexcept nogil:
        if node >= self.body_count:
            self.make_ready(node - self.body_count)
        HeldImpacts.clear(self, node)

    cdef void answer(self, int32_t node) noexcept nogil:
        if node >= self.body_count:
            self.articulations.bounds.answer(node - self.body_count, self.response)

    cdef void finish(self) noexcept nogil:
        """The joints' impulses are those that warm starts are made of."""
        cdef Py_ssize_t k
        for k in range(self.readied_count):
            self.ready[self.readied[k]] = 0
            self.articulations.end_blows(self.readied[k])
        self.readied_count = 0


cdef class SmoothImpacts(HeldImpacts):
    """smooth: the joints of integrators on accelerations, whose factor is made anew for the poses at which something
    strikes; rotors: beside them, or None."""

    def __init__(self, int law, SmoothSolver smooth not None, Py_ssize_t bodies, HeldMotors rotors):
        HeldImpacts.__init__(self, law, bodies, smooth.span_count)
        self.smooth, self.rotors, self.member = smooth, rotors, smooth.member

    cdef void see_joints(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        self.joint_row_count = count

    cdef void prepare(self) noexcept nogil:
        BodyImpacts.prepare(self)
        self.smooth.factor(<Row*>self.rows, self.bodies)
        if self.rotors is not None:
            self.rotors.prepare(<Row*>self.rows, self.joint_row_count)
        self.find_kicks(self.smooth.span_count)

    cdef int32_t group_of_body(self, int32_t body) noexcept nogil:
        return self.smooth.group[body]

    cdef Span members_of(self, Py_ssize_t group) noexcept nogil:
        return Span(self.smooth.span[group].member, self.smooth.span[group].member_end)

    cdef void clear(self, int32_t node) noexcept nogil:
        if node < self.body_count:
            BodyImpacts.clear(self, node)
        else:
            self.smooth.clear(&self.smooth.span[node - self.body_count], self.response)

    cdef void answer(self, int32_t node) noexcept nogil:
        if node >= self.body_count:
            self.smooth.solve_span(&self.smooth.span[node - self.body_count], self.rows, self.response,
                                   self.smooth.nothing)

    cdef void end_response(self) noexcept nogil:
        """All rotors respond at once, and once."""
        BodyImpacts.end_response(self)
        if self.rotors is not None and self.rotors.respond(0, self.rows, self.response):
            BodyImpacts.end_response(self)


cdef class RowImpacts(HeldImpacts):
    """pairs: (joints, 2) bodies, -1 the world; moves: (bodies,) bool, which are dynamic."""

    def __init__(self, int law, pairs, moves):
        cdef Py_ssize_t bodies = len(moves)
        group = np.asarray(connected(pairs, moves), np.int32)
        found = int(group.max(initial=-1)) + 1
        HeldImpacts.__init__(self, law, bodies, found)
        last = np.where(group[:bodies] < 0, found, group[:bodies])
        order = np.append(np.argsort(last, kind="stable"), 0).astype(np.int32)
        begin = np.searchsorted(np.sort(last), np.arange(found + 1)).astype(np.int32)
        along, first = np.zeros((bodies + 1, 6)), np.zeros(found + 1, np.int32)
        group = np.concatenate([[-1], group[:bodies]]).astype(np.int32)
        self.kept += [group, order, begin, along, first]
        self.group_count = found
        self.group, self.member, self.member_begin = integers(group) + 1, integers(order), integers(begin)
        self.along, self.first_row = <Twist*>doubles(along) + 1, integers(first)

    cdef void see_joints(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        self.joint_rows, self.joint_row_count = rows, count

    def reserve(self, Py_ssize_t rows):
        Impacts.reserve(self, rows)
        if rows > self.room:
            numbers, lists = np.zeros((2, rows)), np.zeros(rows, np.int32)
            self.kept_numbers = numbers, lists
            self.residual, self.direction, self.next_row = doubles(numbers[0]), doubles(numbers[1]), integers(lists)
            self.room = rows

    cdef void prepare(self) noexcept nogil:
        """The rows of each group."""
        cdef Py_ssize_t i, g
        cdef const Row* row
        BodyImpacts.prepare(self)
        memset(self.along - 1, 0, (self.body_count + 1) * sizeof(Twist))
        for g in range(self.group_count):
            self.first_row[g] = -1
        for i in range(self.joint_row_count - 1, -1, -1):
            row = &self.joint_rows[i]
            if row.kind == ROW_JOINT and (row.block_kind == BLOCK_BILATERAL or is_wide(row)):
                g = max(self.group[row.body_a], self.group[row.body_b])
                if g < 0 and is_wide(row):
                    g = max(self.group[row[1].body_a], self.group[row[1].body_b])
                if g >= 0:
                    self.next_row[i] = self.first_row[g]
                    self.first_row[g] = <int32_t>i
        self.find_kicks(self.group_count)

    cdef int32_t group_of_body(self, int32_t body) noexcept nogil:
        return self.group[body]

    cdef Span members_of(self, Py_ssize_t group) noexcept nogil:
        return Span(self.member_begin[group], self.member_begin[group + 1])

    cdef void answer(self, int32_t node) noexcept nogil:
        """J x = 0 by impulses of the joints, D^-1 with D the diagonal of J M^-1 J' the preconditioner."""
        cdef Py_ssize_t group = node - self.body_count
        cdef Py_ssize_t _, most
        cdef int32_t i = self.first_row[group] if group >= 0 else -1
        cdef const Row* row
        cdef double left = 0.0
        cdef double first, give, step, next
        cdef int n = 0
        while i >= 0:
            row = &self.joint_rows[i]
            self.residual[i] = -rate(row, self.response)
            self.direction[i] = self.residual[i] / row.diagonal if row.diagonal > 0.0 else 0.0
            left += self.residual[i] * self.direction[i]
            n += 1
            i = self.next_row[i]
        first = left
        most = 3 * n + 20
        for _ in range(most):
            if not left > SOLVED * SOLVED * first:
                return
            self.move_along(group)
            give = 0.0
            i = self.first_row[group]
            while i >= 0:
                give += self.direction[i] * rate(&self.joint_rows[i], self.along)
                i = self.next_row[i]
            if not give > 0.0:
                return
            step = left / give
            self.add_along(group, step)
            next = 0.0
            i = self.first_row[group]
            while i >= 0:
                row = &self.joint_rows[i]
                self.residual[i] = -rate(row, self.response)
                if row.diagonal > 0.0:
                    next += self.residual[i] * self.residual[i] / row.diagonal
                i = self.next_row[i]
            i = self.first_row[group]
            while i >= 0:
                row = &self.joint_rows[i]
                if row.diagonal > 0.0:
                    self.direction[i] = self.residual[i] / row.diagonal + next / left * self.direction[i]
                i = self.next_row[i]
            left = next

    cdef void move_along(self, Py_ssize_t group) noexcept nogil:
        """along = M^-1 J' direction"""
        cdef Py_ssize_t k
        cdef int32_t i = self.first_row[group]
        for k in range(self.member_begin[group], self.member_begin[group + 1]):
            memset(&self.along[self.member[k]], 0, sizeof(Twist))
        while i >= 0:
            push(&self.joint_rows[i], self.direction[i], self.along)
            i = self.next_row[i]

    cdef void add_along(self, Py_ssize_t group, double step) noexcept nogil:
        cdef Py_ssize_t k
        cdef Twist* x
        cdef const Twist* d
        for k in range(self.member_begin[group], self.member_begin[group + 1]):
            x = &self.response[self.member[k]]
            d = &self.along[self.member[k]]
            x.v = add_scaled(x.v, step, d.v)
            x.w = add_scaled(x.w, step, d.w)


cdef class TreeImpacts(Impacts):
    """generalized: the rows over qd; loops: those of them that close loops; motion: the trees; bond: (trees,) of those
    that loops tie the first that each is tied to, else -1; None: there are no loops; held: rows that are solved at
    once."""

    def __init__(self, int law, GeneralizedRows generalized not None, LoopRows loops not None,
                 TreeMotion motion not None, HeldTrees held not None, bond):
        Impacts.__init__(self, law, motion.tree_count)
        response, met = np.zeros(motion.tree.nv + 1), np.zeros(motion.tree_count + 1, np.int8)
        self.kept += [response, bond, met]
        self.met = <int8_t*>records(met)
        self.generalized, self.loops, self.motion, self.held = generalized, loops, motion, held
        self.bond = integers(bond) if bond is not None else NULL
        self.response = doubles(response)

    cdef void hold(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """With what drives, rotors and limits do as they are held, of trees whose contacts have a restitution: each may be
        far more than their sum."""
        cdef Py_ssize_t i
        if self.bond != NULL:
            self.loops.solve(<Row*>rows, self.motion.qd, RELAXED)
        memset(self.met, 0, self.motion.tree_count)
        for i in range(count):
            if rows[i].kind == ROW_NORMAL and rows[i].restitution > 0.0:
                self.hold_tree(rows, rows[i].body_a)
                self.hold_tree(rows, rows[i].body_b)

    cdef void hold_tree(self, const Row* rows, int32_t body) noexcept nogil:
        """That of the body, once."""
        cdef int32_t g = self.held.group[body]
        if g >= 0 and not self.met[g]:
            self.met[g] = 1
            self.held.hold_tree(g, <Row*>rows, self.motion.qd, RELAXED)

    cdef int32_t node_of(self, Py_ssize_t row, int side) noexcept nogil:
        """A tree; those that loops tie are one."""
        cdef int32_t i = self.rows[row].body_b if side else self.rows[row].body_a
        if i < 0 or self.motion.blocks[i].count == 0:
            return -1
        i = self.motion.blocks[i].tree
        return self.bond[i] if self.bond != NULL and self.bond[i] >= 0 else i

    cdef double rate(self, Py_ssize_t row) noexcept nogil:      # no-cython-lint: a method hides no function
        return self.generalized.rate(row, self.motion.qd)

    cdef double kick(self, Py_ssize_t row) noexcept nogil:
        """By the accelerations of the last kick."""
        return 0.5 * self.h * self.generalized.rate(row, self.motion.qdd)

    cdef double answered(self, Py_ssize_t row) noexcept nogil:
        return self.generalized.rate(row, self.response)

    cdef void push(self, Py_ssize_t row, double impulse) noexcept nogil:      # no-cython-lint: a method hides no function
        self.generalized.apply(row, impulse, self.response)

    cdef Py_ssize_t end_of(self, int32_t node) noexcept nogil:
        """Where its trees end, of which it is the first."""
        return self.motion.tree_count if self.bond != NULL and self.bond[node] >= 0 else node + 1

    cdef bint is_of(self, Py_ssize_t tree, int32_t node) noexcept nogil:
        return tree == node or (self.bond != NULL and self.bond[tree] == node)

    cdef void clear(self, int32_t node) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(node, self.end_of(node)):
            if self.is_of(k, node):
                memset(self.response + self.motion.trees[k].first, 0, self.motion.trees[k].count * sizeof(double))

    cdef void answer(self, int32_t node) noexcept nogil:
        if self.bond != NULL and self.bond[node] >= 0:
            self.loops.hold(self.rows, self.response, node)

    cdef void take(self, int32_t node) noexcept nogil:
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i, k
        for k in range(node, self.end_of(node)):
            if self.is_of(k, node):
                for i in range(self.motion.trees[k].first, self.motion.trees[k].first + self.motion.trees[k].count):
                    qd[i] += self.response[i]
