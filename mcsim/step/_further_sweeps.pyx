"""Further sweeps: over contacts of what its neighbours far outweigh, joints and other rows of the same bodies among them
(docs/theory/si.md).

    weigh      what all that a body touches weighs, in its own masses; with joints, in those of all that they hold
    settle     after the sweeps of a relax pass: where one has changed a velocity by more than may be left undone, those of
               these bodies again, until nothing changes so much
"""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._touched cimport touch, untouch
from mcsim.solve._blocks cimport MAX_BLOCK, contact_change
from mcsim.solve._points cimport block_size
from mcsim.state._row cimport RELAXED, ROW_NORMAL
from mcsim.step._constraint_set cimport FurtherPass
from mcsim.wide._efforts cimport is_outweighed


cdef void mark_outweighed(const Row* rows, Py_ssize_t count, const double* neighbours, const int32_t* tree,
                          int32_t* changed) noexcept nogil:
    cdef int32_t body
    cdef Py_ssize_t i
    cdef int side
    for i in range(count):
        if rows[i].kind == ROW_NORMAL and is_outweighed(rows[i].body_a, rows[i].body_b, neighbours):
            for side in range(2):
                body = rows[i].body_b if side else rows[i].body_a
                body = tree[body] if tree != NULL else body
                if body >= 0:                            # of what stands still others hear nothing
                    changed[body] = 1


cdef class FurtherSweeps:
    """sizes: (bodies + 1,) [m]; most: sweeps of a pass, at most; speed [m/s], rate [1/s]: a body of size r may be left with
    a change of its velocity of speed + rate r; none: bodies are not swept further in spite of all."""

    def __init__(self, sizes, int most, double speed, double rate, bint none):
        cdef Py_ssize_t bodies = len(sizes) - 1              # and those that may come
        numbers, changed = np.zeros((2, bodies + 1)), np.zeros(bodies + 1, np.int32)
        entered = np.zeros(bodies + 1, np.int32), np.zeros(bodies + 1, np.int8)
        self.kept = numbers, changed, sizes, entered
        self.entered.rows, self.entered.marks = integers(entered[0]), <int8_t*>records(entered[1])
        self.sizes, self.none = doubles(sizes), none
        self.burden, self.neighbours = doubles(numbers[0]) + 1, doubles(numbers[1]) + 1
        self.changed = integers(changed) + 1
        self.bodies, self.most, self.speed, self.rate = bodies, most, speed, rate

    cdef void weigh(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies, const Joint* joints,
                    Py_ssize_t joint_count, Articulations articulations) noexcept nogil:
        """At the begin of a step. articulations: where joints are solved directly; None: what joints hold has no part."""
        cdef const Manifold* m
        cdef Py_ssize_t i
        cdef double a, b
        cdef bint carries = False
        if self.most == 0:
            return
        untouch(&self.entered)
        for i in range(bodies.moving_count):
            self.enter(bodies, bodies.moving[i])
        for i in range(count):
            self.enter(bodies, manifolds[i].body_a)
            self.enter(bodies, manifolds[i].body_b)
        if articulations is not None:
            articulations.further.share_masses(self.burden)
            carries = articulations.further.find_answers(manifolds, count, self.burden)
        for i in range(joint_count if articulations is None else 0):
            self.burden[joints[i].body_a] = self.burden[joints[i].body_b] = -1.0
        for i in range(count):
            m = &manifolds[i]
            a, b = self.burden[m.body_a], self.burden[m.body_b]
            if m.point_count > 0 and a > 0.0 and b > 0.0:
                self.neighbours[m.body_a] += a / b
                self.neighbours[m.body_b] += b / a
            elif a < 0.0 or b < 0.0:
                self.neighbours[m.body_a if a < 0.0 else m.body_b] = -INFINITY
            if carries and m.point_count > 0:
                self.join(m, articulations)

    cdef void enter(self, const Bodies* bodies, int32_t i) noexcept nogil:
        """A body has a part in the step; most of the others may sleep, and are not looked at."""
        touch(&self.entered, i)
        self.neighbours[i], self.burden[i] = 0.0, bodies.inv_mass[i]

    cdef void join(self, const Manifold* m, Articulations articulations) noexcept nogil:
        """What joints make a contact's bodies carry counts as if they touched it."""
        cdef double carried = articulations.further.burdened(m)
        if carried > 1.0 and min(self.neighbours[m.body_a], self.neighbours[m.body_b]) >= 0.0:
            self.neighbours[m.body_a if self.burden[m.body_a] > 0.0 else m.body_b] += carried

    cdef int32_t* begin(self) noexcept nogil:
        """Before the last sweep of a relax pass. -> where it notes what it changes, or NULL: no further ones follow"""
        cdef Py_ssize_t k
        if self.most == 0:
            return NULL
        self.changed[-1] = 0
        for k in range(self.entered.count):
            self.changed[self.entered.rows[k]] = 0
        return self.changed

    cdef long long settle(self, ConstraintSets sets, Twist* twist) noexcept nogil:
        """After the last sweep. -> how many were made"""
        cdef FurtherPass p
        cdef int k
        if self.most == 0 or self.none:
            return 0
        p.twist, p.changed, p.neighbours, p.sizes = twist, self.changed, self.neighbours, self.sizes
        p.speed, p.rate = self.speed, self.rate
        sets.mark_changes(&p)
        for k in range(2, self.most + 2):
            p.k = k
            if not sets.sweep_changing(&p):
                return k - 2
            sets.answer_changes(&p)
        self.unsettled = True
        return self.most

    cdef long long settle_trees(self, GeneralizedSweeps sweeps, Row* rows, Py_ssize_t begin, Py_ssize_t count,
                                const int32_t* tree, double* velocity) noexcept nogil:
        """The same over generalized velocities, of contacts' rows [begin, count) between bodies that no joint holds. tree:
        of each body, -1: it stands still or is driven. -> how many were made"""
        cdef int32_t a, b
        cdef Py_ssize_t i
        cdef bint found
        cdef int k
        if self.most == 0:
            return 0
        memset(self.changed - 1, 0, (self.bodies + 1) * sizeof(int32_t))
        mark_outweighed(rows, count, self.neighbours, tree, self.changed)
        for k in range(2, self.most + 2):
            found = False
            i = begin
            while i < count:
                a, b = tree[rows[i].body_a], tree[rows[i].body_b]
                if is_outweighed(rows[i].body_a, rows[i].body_b, self.neighbours) and (
                        max(self.changed[a], self.changed[b]) >= k - 1):
                    found = True
                    if self.solve_again(sweeps, rows, i, block_size(rows, i, count), velocity):
                        self.note(a, k)
                        self.note(b, k)
                i += block_size(rows, i, count)
            if not found:
                return k - 2
        self.unsettled = True
        return self.most

    cdef void note(self, int32_t body, int sweep) noexcept nogil:
        """That a body's velocity, or a tree's, has changed; -1: of what stands still, by which others hear nothing."""
        if body >= 0:
            self.changed[body] = sweep

    cdef bint solve_again(self, GeneralizedSweeps sweeps, Row* rows, Py_ssize_t i, int size,
                          double* velocity) noexcept nogil:
        """The block of that size at row i. -> whether that changes a velocity by more than may be left undone"""
        cdef double delta[MAX_BLOCK]
        cdef int r
        if size > rows[i].block:
            return sweeps.solve_points(rows, i, size, velocity, RELAXED) > self.speed + self.rate * rows[i].size
        for r in range(rows[i].block):
            delta[r] = -rows[i + r].impulse
        sweeps.solve_block(rows, i, velocity, RELAXED)
        for r in range(rows[i].block):
            delta[r] += rows[i + r].impulse
        return contact_change(&rows[i], delta, RELAXED) > self.speed + self.rate * rows[i].size
