"""J and H^-1 J' of many rows at the trees' present pose: rows of a tree stand side by side, one a lane, for the same factor
answers all of them (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.3, by the passes that table 7.1 makes
of it). Every level of lanes gives the same bits.

Per pose, placed and factored:   ask(...) for each row and tree;   find()
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.reduced._links cimport Factored, Link

from mcsim.core.arrays import aligned
from mcsim.wide import levels


cdef class TreeResponses:
    """motion: whose trees."""

    def __init__(self, TreeMotion motion not None):
        cdef Py_ssize_t k, links, most_links = 1, most_numbers = 1
        self.motion = motion
        self.kernels = <const TreeKernels*>PyCapsule_GetPointer(levels.table("trees", package="mcsim.reduced"), "mcsim.reduced")
        for k in range(motion.tree_count):
            links = motion.trees[k].end_link - motion.trees[k].first_link
            most_links = max(most_links, links)
            most_numbers = max(most_numbers, self.kernels.abreast * (18 * links + 2 * motion.trees[k].count))
        marks, waiting = np.zeros(most_links, np.int32), np.zeros(motion.tree_count + 1, np.int32)
        self.rows = self.kernels.width * self.kernels.abreast
        asked = np.zeros((motion.tree_count + 1) * self.rows * sizeof(Response) // sizeof(double))
        room = aligned(most_numbers * self.kernels.wide_size)
        self.kept = marks, waiting, asked, room
        self.marks, self.waiting = integers(marks), integers(waiting)
        self.asked, self.room = <Response*>doubles(asked), <Wide*>doubles(room)

    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* jacobian, bint opposite,
                  double* force, int32_t* span, double* out, double* diagonal) noexcept nogil:
        """What a row [f; n, f; n] on two bodies (-1: none) is over a block: J, from where to where it is not 0, H^-1 J', both
        of which begin with the block, and J H^-1 J', which is added to `diagonal`. opposite: its two impulses are each
        other's opposite, and nothing to what is above both bodies."""
        cdef const Link* links = self.motion.tree.links
        cdef Response* r = &self.asked[block.tree * self.rows + self.waiting[block.tree]]
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
        self.waiting[block.tree] += 1
        if self.waiting[block.tree] == self.rows:
            self.answer(block.tree)

    cdef void find(self) noexcept nogil:
        """All that has been asked for."""
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            if self.waiting[k] > 0:
                self.answer(k)

    cdef void answer(self, Py_ssize_t tree) noexcept nogil:
        cdef Factored factored = self.motion.factored(&self.motion.trees[tree])
        self.kernels.respond(&factored, &self.asked[tree * self.rows], self.waiting[tree], self.marks, self.room)
        self.waiting[tree] = 0
