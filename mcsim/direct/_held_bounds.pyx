"""Bounded rows of articulations' joints (limits, motors, springs, rotors, friction) that are solved with the joints in
them, before each sweep: of trees by their links (solve/_held_links.pyx), of others by a matrix of what they see of each
other (solve/_held.pyx).
"""

from libc.string cimport memset

import numpy as np

from mcsim.constraints._direct cimport read_joint_rows
from mcsim.constraints._joints cimport has_bounded_rows, has_position_motor, is_bounded_now
from mcsim.core._noted cimport NOTE_PIVOTS
from mcsim.core._types cimport Twist
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart, ArticulationState
from mcsim.solve._held cimport PASSES_TOGETHER, is_slow
from mcsim.solve._held_links cimport ALL, NONE, ONE
from mcsim.solve._tree cimport Articulation
from mcsim.state._joint cimport MOST_ASKED, Joint
from mcsim.state._row cimport BLOCK_BOUNDED, ROW_ARMATURE, Row

# Bounded rows are solved with the joints in them where there are position motors, where they fly, or where sweeps in turn
# with the joints would not do (`is_slow` of solve/_held.pyx): in PASSES passes of one row by itself, and in
# PASSES_TOGETHER, eight steps at the defaults, of rows that hold each other: half as many where a substep has one pass. Of
# a coordinate that has the part p of its two bodies' J M^-1 J' a sweep leaves 1 - p.
cdef enum:
    PASSES = 8                   # times `iterations` sweeps

# A row of a tree is met that would move what it holds by less than this part of the tree's size in a substep.
cdef double NOTHING = 1e-15

cdef enum:
    MOST_STEPS = 20              # and four a row; a few suffice


cdef class HeldBounds(ArticulationPart):
    """Bounded rows of an articulation's joints that are solved with the joints in them."""

    def __init__(self, ArticulationState state, JointSolves solves):
        self.state = state
        self.solves = solves
        self.links = state.held_links

    cdef void find_bounded(self) noexcept nogil:
        """Which articulations have bounded rows: 1, none of which acts now, 2, or 3, position motors; and their first joint
        that has."""
        cdef const Joint* joint
        cdef Py_ssize_t c, g
        for c in range(self.state.awake_count):
            self.state.bounded[self.state.awake[c]] = 0
        for c in range(self.tree.rows.awake_count - 1, -1, -1):
            joint = &self.joints[self.tree.rows.awake[c]]
            if has_bounded_rows(joint):
                g = max(self.state.group[joint.body_a], self.state.group[joint.body_b])
                self.state.bounded[g] = max(self.state.bounded[g], 3 if has_position_motor(joint) else (
                    2 if is_bounded_now(joint) else 1))
                self.state.asked[g] = self.tree.rows.awake[c]

    cdef bint holds(self, Py_ssize_t g) noexcept nogil:
        """Whether the bounded rows of an articulation are solved with the joints in them, as `find_bounded` found it."""
        return self.state.bounded[g] == 3 or (self.state.bounded[g] == 2 and self.is_held(g))

    cdef void choose(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Which do in this step, where joints have plain rows: `count`, which are written."""
        cdef Py_ssize_t c, g
        read_joint_rows(self.joints, rows, &self.tree.rows)
        self.find_bounded()
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.state.holds[g] = self.holds(g)
        self.list_rows(rows, count)

    cdef bint hold_any(self) noexcept nogil:
        """Whether any are listed."""
        cdef Py_ssize_t c
        for c in range(self.state.alone_count):
            if self.state.held_rows.count[self.state.alone[c]] > 0:
                return True
        return False

    cdef bint ends_with_rotors(self, Py_ssize_t g) noexcept nogil:
        """Whether an articulation has rotors among the rows that it holds, and contacts. Sweeps over contacts know its
        bodies alone, and what they change after a rotor has answered would change its rate u without the impulse that
        this takes: by a light body's own inertia, where the energy is the rotor's, a u^2 / 2. So rotors have the last
        word, as the joints have."""
        cdef Py_ssize_t begin = self.state.held_rows.begin[g]
        cdef Py_ssize_t k
        for k in range(begin, begin + self.state.held_rows.count[g] if self.state.touched[g] else begin):
            if self.border.rows[self.state.held_rows.row[k]].kind == ROW_ARMATURE:
                return True
        return False

    cdef bint is_held(self, Py_ssize_t g) noexcept nogil:
        """Whether a bounded row of an articulation is far harder to move than its two bodies alone, as was found within
        the last MOST_ASKED steps. By gears and joints of the user's own it may be, which `Carried` does not know."""
        cdef Joint* joint = &self.joints[self.state.asked[g]]
        cdef const Articulation* a = &self.articulation[g]
        cdef bint held
        if a.border < a.border_end:
            return True
        if joint.held == 0:
            if self.state.here[g]:
                self.solves.write_rows(g)
            held = self.is_too_slow(g, 0.0, PASSES) or self.is_too_slow(
                g, self.settings.h, PASSES_TOGETHER if self.settings.relaxes else PASSES_TOGETHER // 2)
            joint.held = -MOST_ASKED if held else MOST_ASKED
        held = joint.held < 0
        joint.held += 1 if held else -1
        return held

    cdef bint is_too_slow(self, Py_ssize_t g, double h, int passes) noexcept nogil:
        """Whether sweeps would not do in so many passes. h: as of `Carried.least_part`."""
        return is_slow(self.state.carried.least_part(g, self.joints, &self.tree.rows, self.bodies, h),
                       passes * self.settings.iterations)

    def least_parts(self, bint together=False):
        """(articulations,) what `Carried.least_part` says of each at the present poses."""
        found = np.ones(self.state.articulation_count)
        for g in range(self.state.articulation_count):
            self.solves.write_rows(g)
            found[g] = self.state.carried.least_part(g, self.joints, &self.tree.rows, self.bodies,
                                                     self.settings.h if together else 0.0)
        return found

    cdef void list_rows(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Which rows are held in this step, and where: those of trees by their links, others by a matrix. rows: `count` of
        joints."""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, i
        memset(self.state.by_links, 0, self.state.articulation_count)
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            a = &self.articulation[g]
            self.state.by_links[g] = self.state.holds[g] and a.loops == 0 and a.border == a.border_end
        for i in range(count):
            g = self.state.held_rows.owner(&rows[i], self.state.group)
            if g >= 0 and rows[i].block_kind == BLOCK_BOUNDED and not self.links.takes(g, &rows[i]):
                self.state.by_links[g] = 0
        self.state.held_rows.list(self.state.group, self.state.holds, self.state.by_links, rows, count)
        if not self.links.list(self.state.by_links, rows, self.state.held_rows.begin, self.state.held_rows.count,
                               self.state.held_rows.row):
            memset(self.state.by_links, 0, self.state.articulation_count)
            for g in range(self.state.articulation_count):
                if not self.state.held_rows.has_matrix(g):
                    self.state.held_rows.count[g] = 0

    cdef void factor(self, Py_ssize_t g) noexcept nogil:
        """At new poses; rows and the joints' factor are written."""
        if self.state.by_links[g]:
            self.links.forget(g, self.border.rows, self.bodies)
        else:
            self.probe(g)

    cdef void probe(self, Py_ssize_t g) noexcept nogil:
        """What bounded rows that are held see of each other through the joints."""
        cdef const Articulation* a = &self.articulation[g]
        cdef Twist* moved = self.state.probed
        cdef const Row* row
        cdef Py_ssize_t k, n
        self.solves.keep_impulses(g)
        for k in range(self.state.held_rows.count[g]):
            for n in range(self.state.held_rows.count[g]):     # what does not move takes 0 * inf, if there is any
                row = &self.border.rows[self.state.held_rows.row[self.state.held_rows.begin[g] + n]]
                memset(&moved[row.body_a], 0, sizeof(Twist))
                memset(&moved[row.body_b], 0, sizeof(Twist))
            for n in range(a.member, a.member_end):
                memset(&moved[self.member[n]], 0, sizeof(Twist))
            self.state.held_rows.begin_column(g, k, self.border.rows, moved)
            self.solves.answer(g, moved)
            self.state.held_rows.end_column(g, k, self.border.rows, moved)
        self.solves.undo_impulses(g)

    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil:
        """As that of JointSolves, with rotors."""
        cdef bint found = False
        self.solves.answer(g, x)
        if self.state.by_links[g]:
            self.tree.find_rates(&self.articulation[g], x, self.state.nothing, self.joints)
            found = self.links.respond(g, self.tree.rows.row, self.border.rows, self.bodies, self.tree.offset,
                                                  self.tree.vector, x)
        elif self.state.held_rows.count[g] > 0:
            found = self.state.held_rows.respond(g, self.border.rows, x)
        if found:
            self.solves.answer(g, x)

    cdef bint solve_links(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil:
        """Of a tree whose joints are solved, all at once. -> whether that could be done"""
        cdef const Articulation* a = &self.articulation[g]
        cdef Row* rows = self.border.rows
        cdef double nothing = NOTHING * a.size * (1.0 / self.settings.h if twist == self.bodies.twist else 1.0)
        cdef int release = ALL
        cdef double part
        cdef Py_ssize_t _
        for _ in range(MOST_STEPS + 4 * self.state.held_rows.count[g]):
            if not self.links.begin_solve(g, rows, twist, relaxed, nothing, nothing / a.size, release):
                if release != NONE:
                    return True
                release = ONE
                continue
            self.tree.find_rates(a, twist, self.tree.rows.bias, self.joints)
            if not self.links.aim(g, self.tree.rows.row, rows, self.bodies, self.tree.offset, self.tree.vector,
                                  release == ALL, relaxed):
                return True
            if release == ALL and not self.links.falls(g, rows, relaxed):
                self.links.begin_cautious(g)
                release = NONE
                continue
            part = 1.0 if release == ALL else self.links.part_inside(g, rows)
            self.links.take(g, part, rows, twist, self.tree.rows.impulse)
            if release != ALL:
                if part != 0.0:
                    self.links.begin_cautious(g)
                release = ONE if part == 1.0 else NONE
        return False

    cdef void hold_rows(self, Py_ssize_t g, Twist* twist, bint relaxed, bint solved) noexcept nogil:
        """Bounded rows that are held, and what the joints answer. solved: the joints are, as biases ask now."""
        if not solved:
            self.solves.solve_one(g, twist)
        if self.state.by_links[g]:
            solved = self.solve_links(g, twist, relaxed)
        else:
            if self.state.held_rows.solve(g, self.border.rows, twist, relaxed):
                self.solves.solve_one(g, twist)
            solved = not self.state.held_rows.unsolved
        if not solved:
            self.noted.most(NOTE_PIVOTS, self.member[self.articulation[g].member], self.state.held_rows.count[g])

    cdef void hold_bounded(self, Twist* twist, bint relaxed, bint solved) noexcept nogil:
        """Before a sweep, the bounded rows of articulations that hold them."""
        cdef Py_ssize_t c, g
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.state.held_rows.count[g] > 0:
                if relaxed:
                    self.solves.aim_still(g)
                self.hold_rows(g, twist, relaxed, solved)
