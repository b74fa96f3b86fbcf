"""Warm starts only as far as they help. Sweeps lower, row by row,

    q(lambda) = 1/2 lambda' (A + C) lambda + w' lambda,     w = J v + bias at lambda = 0,

and so slowly that what a wrong warm start g adds to it, as motion that nothing gave, may still be there when they
end. Along g it is least at the part

    -w'g / g' (A + C) g

of it, taken within 0 and 1 for each group of bodies that rows with a warm start tie together: so sweeps start from no more
than without one.
"""

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._forest cimport root_of, unite_groups


cdef class WarmStarts:
    """count: how many nodes there are, bodies or trees."""

    def __init__(self, Py_ssize_t count):
        parents, sums = np.zeros(max(count, 1), np.int32), np.zeros((2, max(count, 1)))
        self.kept = parents, sums
        self.count = count
        self.parent = integers(parents)
        self.slope, self.bend = doubles(sums[0]), doubles(sums[1])

    cdef void begin(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            self.parent[i] = <int32_t>i
            self.slope[i] = 0.0
            self.bend[i] = 0.0

    cdef int32_t root(self, int32_t node) noexcept nogil:
        return root_of(self.parent, node)

    cdef void tie(self, int32_t a, int32_t b) noexcept nogil:
        """Two nodes hang together."""
        unite_groups(self.parent, a, b)

    cdef void clear(self, int32_t node) noexcept nogil:
        self.slope[node] = 0.0
        self.bend[node] = 0.0

    cdef void give(self, int32_t node, double slope, double bend) noexcept nogil:
        """A term of w'g and of g' (A + C) g; those of nodes that are roots stay with them."""
        self.slope[node] += slope
        self.bend[node] += bend

    cdef void gather(self, int32_t node) noexcept nogil:
        """Its sums to its group's, once."""
        cdef int32_t r = self.root(node)
        if r != node:
            self.give(r, self.slope[node], self.bend[node])

    cdef void add(self, int32_t a, int32_t b, double warm, double before, double after) noexcept nogil:
        """A row between two nodes, -1: what does not move. before, after: its w without all warm starts and with them."""
        if warm == 0.0 or (a < 0 and b < 0):
            return
        if a >= 0 and b >= 0:
            self.tie(a, b)
        self.slope[max(a, b)] += warm * before
        self.bend[max(a, b)] += warm * (after - before)

    cdef void weigh(self) noexcept nogil:
        """Sums of groups, at their roots."""
        cdef Py_ssize_t i
        cdef int32_t r
        for i in range(self.count):
            r = self.root(<int32_t>i)
            if r != i:
                self.slope[r] += self.slope[i]
                self.bend[r] += self.bend[i]

    cdef double part(self, int32_t node) noexcept nogil:
        """Of the warm starts in a node's group."""
        cdef int32_t r
        if node < 0:
            return 1.0
        r = self.root(node)
        if self.slope[r] + self.bend[r] <= 0.0:
            return 1.0                                   # still falling, or there was no warm start
        return max(-self.slope[r] / self.bend[r], 0.0) if self.bend[r] > 0.0 else 0.0

    cdef double part_if_worse(self, int32_t node) noexcept nogil:
        """The same where the warm starts are worse than none: q > 0."""
        cdef int32_t r = self.root(node)
        if self.slope[r] + 0.5 * self.bend[r] <= 0.0:
            return 1.0
        return self.part(node)
