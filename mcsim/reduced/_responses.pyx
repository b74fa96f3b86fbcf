"""J and H^-1 J' of many rows at the trees' present pose: rows of a tree stand side by side, one a lane, for the same factor
answers all of them (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.3, by the passes that table 7.1 makes
of it). Every level of lanes gives the same bits.

A tree with as many rows as velocities, which are no more than MOST, is asked for H^-1 once, and rows take theirs from
that: J of a row is not 0 on the paths from the base to two bodies alone. It is kept for as long as the tree stands
where it is, from the end of a substep over the begin of the next one. In larger trees paths are long, and a pass in
and out for each row is less.

Per pose, placed and factored:   expect(...);   ask(...) for each row and tree;   find()
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers
from mcsim.core._dense cimport in_eights
from mcsim.reduced._links cimport MOST, Factored, Link

from mcsim.core.arrays import aligned
from mcsim.wide import levels


cdef class TreeResponses:
    """motion: whose trees."""

    def __init__(self, TreeMotion motion not None):
        cdef Py_ssize_t k, links, most_links = 1, most_numbers = 1
        self.motion = motion
        self.kernels = <const TreeKernels*>PyCapsule_GetPointer(levels.table("trees", package="mcsim.reduced"),
                                                                "mcsim.reduced")
        for k in range(motion.tree_count):
            links = motion.trees[k].end_link - motion.trees[k].first_link
            most_links = max(most_links, links)
            most_numbers = max(most_numbers, self.kernels.abreast * (18 * links + 2 * motion.trees[k].count),
                               self.kernels.together * motion.trees[k].count // self.kernels.width)
        marks, waiting = np.zeros(most_links, np.int32), np.zeros(motion.tree_count + 1, np.int32)
        self.rows = self.kernels.width * self.kernels.abreast
        self.places = max(self.rows, self.kernels.together)
        asked = np.zeros((motion.tree_count + 1) * self.places * sizeof(Response) // sizeof(double))
        room = aligned(most_numbers * self.kernels.wide_size)
        self.kept = marks, waiting, asked, room
        self.marks, self.waiting = integers(marks), integers(waiting)
        self.asked, self.room = <Response*>doubles(asked), <Wide*>doubles(room)
        self._allot_inverses()

    def _allot_inverses(self):
        cdef Py_ssize_t k, size, used = 0, trees = self.motion.tree_count
        counts, begins = np.zeros((2, trees + 1), np.int32), np.full(trees + 1, -1, np.int64)
        for k in range(trees):
            size = self.motion.trees[k].count
            if size <= MOST and not self.motion.asking:
                begins[k] = used
                used += in_eights(size * in_eights(size) + self.motion.first_q(k + 1) - self.motion.first_q(k))
        inverse = aligned(8 * (used + 1))
        inverse[:] = np.nan
        self.kept_inverses = counts, begins, inverse
        self.expected, self.inverted = integers(counts[0]), integers(counts[1])
        self.begin, self.inverse = long_integers(begins), doubles(inverse)

    cdef void expect(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """What will be asked for: all these."""
        cdef const Block* a
        cdef const Block* b
        cdef Py_ssize_t i, k, trees = self.motion.tree_count
        memset(self.expected, 0, trees * sizeof(int32_t))
        for i in range(count):
            a, b = &self.motion.blocks[rows[i].body_a], &self.motion.blocks[rows[i].body_b]
            if rows[i].body_a >= 0 and a.count > 0:
                self.expected[a.tree] += 1
            if rows[i].body_b >= 0 and b.count > 0 and not (rows[i].body_a >= 0 and a.count > 0 and a.tree == b.tree):
                self.expected[b.tree] += 1
        for k in range(trees):
            self.inverted[k] = self.begin[k] >= 0 and self.expected[k] >= self.motion.trees[k].count
            if self.inverted[k]:
                self.invert(k)

    cdef void invert(self, Py_ssize_t tree) noexcept nogil:
        cdef Factored factored
        cdef Py_ssize_t size = self.motion.trees[tree].count, first = self.motion.first_q(tree)
        cdef Py_ssize_t coordinates = self.motion.first_q(tree + 1) - first
        cdef double* inverse = self.inverse + self.begin[tree]
        cdef double* place = inverse + size * in_eights(size)
        if memcmp(place, self.motion.q + first, coordinates * sizeof(double)) == 0:
            return
        memcpy(place, self.motion.q + first, coordinates * sizeof(double))
        factored = self.motion.factored(&self.motion.trees[tree])
        self.kernels.invert(&factored, inverse, self.marks, self.room)

    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* jacobian, bint opposite,
                  double* force, int32_t* span, double* out, double* diagonal) noexcept nogil:
        """What a row [f; n, f; n] on two bodies (-1: none) is over a block: J, from where to where it is not 0, H^-1
        J', both of which begin with the block, and J H^-1 J', which is added to `diagonal`. opposite: its two
        impulses are each other's opposite, and nothing to what is above both bodies."""
        cdef const Link* links = self.motion.tree.links
        cdef Response* waiting = &self.asked[block.tree * self.places]
        cdef Response* r = waiting + self.waiting[block.tree]
        cdef int32_t a, b
        r.link[0] = self.motion.link_of[body_a] if body_a >= 0 else -1
        r.link[1] = self.motion.link_of[body_b] if body_b >= 0 else -1
        r.wrench[0], r.wrench[1] = jacobian, jacobian + 6
        r.force, r.out, r.span, r.diagonal = force - block.first, out - block.first, span, diagonal
        a, b = r.link[0], r.link[1]
        while opposite and a != b:
            if a > b:
                a = links[a].parent
            else:
                b = links[b].parent
        r.common = a if opposite else -1
        if self.inverted[block.tree] and self.waiting[block.tree] > 0 and not (
                r.link[0] == waiting.link[0] and r.link[1] == waiting.link[1] and r.common == waiting.common):
            self.answer(block.tree)
            waiting[0] = r[0]
        self.waiting[block.tree] += 1
        if self.waiting[block.tree] == (self.kernels.together if self.inverted[block.tree] else self.rows):
            self.answer(block.tree)

    cdef void find(self) noexcept nogil:
        """All that has been asked for."""
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            if self.waiting[k] > 0:
                self.answer(k)

    cdef void answer(self, Py_ssize_t tree) noexcept nogil:
        cdef Factored factored = self.motion.factored(&self.motion.trees[tree])
        cdef const Response* asked = &self.asked[tree * self.places]
        if self.inverted[tree]:
            self.kernels.respond_by(&factored, self.inverse + self.begin[tree], asked, self.waiting[tree], self.marks,
                                    self.room)
        else:
            self.kernels.respond(&factored, asked, self.waiting[tree], self.marks, self.room)
        self.waiting[tree] = 0
