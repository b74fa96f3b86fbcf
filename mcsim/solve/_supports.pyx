"""What holds bodies that are about to be struck (docs/theory/impacts.md, "When, and where").

The velocity at the time of a blow, and what is left of its restitution at a gap, follow from the kick k = h J a of a
substep. A ball that falls on a table falls towards it, for the floor holds the table: of all contacts at rest by which the
two bodies of a blow are held,

    p >= 0,   k + A p >= 0,   p . (k + A p) = 0,      A = J H^-1 J'

and A p is added to the kicks of the blow's rows and of theirs. Friction holds nothing here.
"""

import numpy as np

from mcsim.core._arrays cimport integers, records
from mcsim.solve._shares cimport share
from mcsim.state._row cimport Row


cdef class Supports:
    """impacts: of what; nodes: as of these."""

    def __init__(self, Impacts impacts not None, Py_ssize_t nodes):
        at_node, held = np.full(nodes + 1, -1, np.int32), np.zeros(MOST_SUPPORTS, np.int32)
        self.impacts, self.kept = impacts, [at_node, held, None]
        self.at_node, self.held = integers(at_node), integers(held)

    def reserve(self, Py_ssize_t rows):
        """Room for so many rows."""
        if rows > self.capacity:
            next, resting = np.zeros((rows, 2), np.int32), np.zeros(rows, np.int8)
            self.kept[2] = next, resting
            self.next, self.resting, self.capacity = integers(next), <int8_t*>records(resting), rows

    cdef void find(self) noexcept nogil:
        """Of all contacts that may be struck in this substep or the next."""
        cdef Py_ssize_t i = 0
        cdef int points
        self.list_resting(True)
        while i < self.impacts.count:
            points = self.impacts.points_from(i)
            if points > 0 and not self.resting[i] and self.impacts.closes(i, points, True) and self.list_supports(i):
                self.solve(i, points)
            i += max(points, 1)
        self.list_resting(False)

    cdef void list_resting(self, bint listed) noexcept nogil:
        """The contacts at rest, by the nodes that have a part in them; or those lists empty again."""
        cdef Py_ssize_t i = 0
        cdef int32_t node
        cdef int points, side
        while i < self.impacts.count:
            points = self.impacts.points_from(i)
            if points > 0 and listed:
                self.resting[i] = self.rests(i, points)
            for side in range(2 if points > 0 and self.resting[i] else 0):
                node = self.impacts.node_of(i, side)
                if node >= 0:
                    self.next[2 * i + side] = self.at_node[node] if listed else -1
                    self.at_node[node] = <int32_t>i if listed else -1
            i += max(points, 1)

    cdef bint rests(self, Py_ssize_t begin, int points) noexcept nogil:
        """Whether one of its points touches within the substep, and none closes fast."""
        cdef const Row* row
        cdef bint touches = False
        cdef double u
        cdef int i
        for i in range(points):
            row = self.impacts.rows + begin + i
            if not row.diagonal > 0.0:
                continue
            u = self.impacts.rate(begin + i)
            if u < -self.impacts.threshold:
                return False
            touches = touches or row.error + self.impacts.h * (u + 2.0 * self.impacts.kick(begin + i)) < 0.0
        return touches

    cdef bint list_supports(self, Py_ssize_t begin) noexcept nogil:
        """Those that hold the two bodies of a manifold, and what these stand on. -> whether there are some, and room for
        all"""
        cdef int k = 0
        cdef int side
        self.impacts.node_count = self.count = 0
        for side in range(2):
            if not self.add_node(self.impacts.node_of(begin, side)):
                return False
        while k < self.count:
            for side in range(2):
                if not self.add_node(self.impacts.node_of(self.held[k], side)):
                    return False
            k += 1
        return self.count > 0

    cdef bint add_node(self, int32_t node) noexcept nogil:
        """A node, if it is new, and the manifolds at rest there. -> whether there was room"""
        cdef int32_t i
        cdef int k
        for k in range(self.impacts.node_count):
            if self.impacts.nodes[k] == node:
                return True
        if node < 0:
            return True
        self.impacts.nodes[self.impacts.node_count] = node
        self.impacts.node_count += 1
        i = self.at_node[node]
        while i >= 0:
            for k in range(self.count):
                if self.held[k] == i:
                    break
            else:
                if self.count == MOST_SUPPORTS:
                    return False
                self.held[self.count] = i
                self.count += 1
            i = self.next[2 * i + (0 if self.impacts.node_of(i, 0) == node else 1)]
        return True

    cdef void solve(self, Py_ssize_t begin, int points) noexcept nogil:
        """What the listed ones add to the kicks of this manifold's rows and of their own."""
        cdef const Row* row
        cdef double* q = self.impacts.parts
        cdef double* p = q + 4 * MOST_SUPPORTS
        cdef double* a = p + 4 * MOST_SUPPORTS
        cdef double kick
        cdef Py_ssize_t i
        cdef int n = 0
        cdef int k
        for k in range(self.count):
            for i in range(self.held[k], self.held[k] + self.impacts.points_from(self.held[k])):
                row = self.impacts.rows + i
                kick = self.impacts.kick(i)
                if row.diagonal > 0.0 and row.error + self.impacts.h * (self.impacts.rate(i) + 2.0 * kick) < 0.0:
                    self.impacts.touching[n] = i
                    q[n] = kick
                    n += 1
        self.impacts.fill_responses(n, a)
        share(n, a, q, p, a + n * n, self.impacts.pivots)
        self.impacts.begin_response()
        for k in range(n):
            self.impacts.push(self.impacts.touching[k], p[k])
        self.impacts.end_response()
        for i in range(begin, begin + points):
            self.impacts.support[i] = self.impacts.answered(i)
        for k in range(n):
            self.impacts.support[self.impacts.touching[k]] = self.impacts.answered(self.impacts.touching[k])
        self.impacts.begin_response()
