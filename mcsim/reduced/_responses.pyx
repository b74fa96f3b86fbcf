"""H^-1 J' of many rows at the trees' present pose: rows of a tree stand side by side, one a lane, for the same factor
answers all of them (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.3, by the passes that table 7.1 makes
of it). Every level of lanes gives the same bits.

Per pose, placed and factored:   begin();   ask(...) for each row and tree;   find()
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.reduced._links cimport Factored

from mcsim.core.arrays import aligned
from mcsim.wide import levels

cdef enum:
    MOST_LANES = 8


cdef class TreeResponses:
    """motion: whose trees; Only reserve() allocates."""

    def __init__(self, TreeMotion motion not None):
        cdef Py_ssize_t k, links = 1, numbers = 1
        self.motion = motion
        self.kernels = <const TreeKernels*>PyCapsule_GetPointer(levels.table("trees", package="mcsim.reduced"), "mcsim.reduced")
        for k in range(motion.tree_count):
            links = max(links, motion.trees[k].end_link - motion.trees[k].first_link)
            numbers = max(numbers, 12 * (motion.trees[k].end_link - motion.trees[k].first_link) + motion.trees[k].count)
        heads, bearing = np.full((2, motion.tree_count + 1), -1, np.int32), np.zeros(links, np.int32)
        room = aligned(numbers * self.kernels.wide_size)
        self.kept = heads, bearing, room
        self.head, self.tail, self.bearing = integers(heads[0]), integers(heads[1]), integers(bearing)
        self.room = <Wide*>doubles(room)

    def reserve(self, Py_ssize_t rows):
        """Room for the two sides of as many rows."""
        if 2 * rows > self.capacity:
            self.capacity = 2 * rows
            asked, following = np.zeros(self.capacity * sizeof(Response) // sizeof(double)), np.zeros(self.capacity, np.int32)
            self.kept_rows = asked, following
            self.asked, self.following = <Response*>doubles(asked), integers(following)

    cdef void begin(self) noexcept nogil:
        self.count = 0

    cdef void ask(self, const Block* block, int32_t body_a, int32_t body_b, const double* force, double* out) noexcept nogil:
        """out = H^-1 force on a block, both of which begin with it. force: of what acts on these bodies (-1: none), so that
        it is 0 but on their supports."""
        cdef int32_t n = <int32_t>self.count
        cdef Response* r = &self.asked[n]
        r.force, r.out = force - block.first, out - block.first
        r.link[0] = self.motion.link_of[body_a] if body_a >= 0 else -1
        r.link[1] = self.motion.link_of[body_b] if body_b >= 0 else -1
        self.following[n] = -1
        if self.head[block.tree] < 0:
            self.head[block.tree] = n
        else:
            self.following[self.tail[block.tree]] = n
        self.tail[block.tree] = n
        self.count += 1

    cdef void find(self) noexcept nogil:
        """All that was asked for, at the present pose."""
        cdef Response group[MOST_LANES]
        cdef Factored tree
        cdef Py_ssize_t k
        cdef int32_t n
        cdef int count
        for k in range(self.motion.tree_count):
            n = self.head[k]
            if n < 0:
                continue
            tree = self.motion.factored(&self.motion.trees[k])
            while n >= 0:
                count = 0
                while n >= 0 and count < self.kernels.width:
                    group[count] = self.asked[n]
                    n = self.following[n]
                    count += 1
                self.kernels.respond(&tree, group, count, self.bearing, self.room)
            self.head[k] = -1
