"""In which order contacts are swept in generalized coordinates: not that in which bodies were added, but one that
mechanics knows of. Sweeps that end before they have converged, and rigid bodies that stick, for which many impulses
are equilibria, leave what follows from their order (docs/theory/reduced.md).

    level       of what does not move 0, of a tree one more than the least of those that it touches; of a contact the
                lesser of its two sides' (breadth first over the graph of contacts, as the layers of a stack)
    rank        of a body: the numbers of a tree's bodies in the scene, dealt anew from its root outwards

Contacts go by the parts of patches in turn (wide/_blocks.pxd, next_part), then by levels, then by the ranks of their
two bodies, the lesser one first, then by the shapes of these. So those of one tree, and of a stack, have an order
whatever bodies are added first; and where they are added tree by tree from the root, and from the ground upwards, it is
that in which they were found. Levels are found by passes over all contacts, in turn from the first and from the last
one: a stack in either order takes one, and one that changes nothing.
"""

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.wide._efforts cimport next_part

cdef enum:
    LEVEL_BITS = 20              # of a sort key: levels up to a million, and parts in the bits that are left
    FAR = (1 << LEVEL_BITS) - 1  # the level of what hangs together with nothing that does not move
    MOST_PARTS = 1023            # of a patch that are told apart


cdef inline bint comes_before(const PlacedManifold* x, const PlacedManifold* y) noexcept nogil:
    if x.turn != y.turn:
        return x.turn < y.turn
    return x.bodies < y.bodies or (x.bodies == y.bodies and x.shapes < y.shapes)


cdef class ContactOrder:
    """rank, tree: (bodies,), each body's; tree -1: of what has no link."""

    def __init__(self, rank, tree):
        ranks, trees = np.append(rank, 0).astype(np.int32), np.append(tree, -1).astype(np.int32)
        self.tree_count = int(trees.max()) + 1
        levels = np.zeros(self.tree_count + 1, np.int32)
        self.kept = ranks, trees, levels
        self.rank, self.tree, self.tree_level = integers(ranks), integers(trees), integers(levels)

    def reserve(self, Py_ssize_t manifolds):
        size = sizeof(PlacedManifold) // 8
        placed, numbers = np.zeros((2, manifolds + 1, size)), np.zeros((2, manifolds + 1), np.int32)
        self.kept_room = placed, numbers
        self.placed[0], self.placed[1] = <PlacedManifold*>doubles(placed[0]), <PlacedManifold*>doubles(placed[1])
        self.order, self.level = integers(numbers[0]), integers(numbers[1])

    cdef int32_t level_of(self, int32_t body, const Bodies* bodies) noexcept nogil:
        if bodies.inv_mass[body] == 0.0 or self.tree[body] < 0:
            return 0
        return self.tree_level[self.tree[body]]

    cdef bint pass_level(self, const Manifold* m, const Bodies* bodies) noexcept nogil:
        """From the lower side of a contact to the other one. -> whether that changes it"""
        cdef int32_t a = self.level_of(m.body_a, bodies)
        cdef int32_t b = self.level_of(m.body_b, bodies)
        if a + 1 < b:
            self.tree_level[self.tree[m.body_b]] = a + 1
        elif b + 1 < a:
            self.tree_level[self.tree[m.body_a]] = b + 1
        else:
            return False
        return True

    cdef void find_levels(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t i
        cdef bint back = False
        cdef bint some = True
        for i in range(self.tree_count):
            self.tree_level[i] = FAR
        while some:
            some = False
            for i in range(count):
                some = self.pass_level(&manifolds[count - 1 - i if back else i], bodies) or some
            back = not back

    cdef PlacedManifold put(self, const Manifold* m, int32_t index, int part, const Bodies* bodies) noexcept nogil:
        """-> its place among others"""
        cdef PlacedManifold p
        cdef int64_t a = self.rank[m.body_a]
        cdef int64_t b = self.rank[m.body_b]
        cdef int32_t level = min(self.level_of(m.body_a, bodies), self.level_of(m.body_b, bodies))
        p.turn = min(part, MOST_PARTS) << LEVEL_BITS | level
        self.level[index] = p.turn if level > 0 else 0
        p.bodies = min(a, b) << 32 | max(a, b)
        p.shapes = (<int64_t>m.shape_a << 32 | m.shape_b) if a <= b else (<int64_t>m.shape_b << 32 | m.shape_a)
        p.index = index
        return p

    cdef const int32_t* find(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """`level` of all manifolds. -> (count,) their numbers in order; there is room"""
        cdef Py_ssize_t i
        cdef bint in_order = True
        cdef int part = 0
        self.find_levels(manifolds, count, bodies)
        for i in range(count):
            part = next_part(manifolds, i, part)
            self.placed[0][i] = self.put(&manifolds[i], <int32_t>i, part, bodies)
            in_order = in_order and not (i > 0 and comes_before(&self.placed[0][i], &self.placed[0][i - 1]))
        if not in_order:
            self.sort(count)
        for i in range(count):
            self.order[i] = self.placed[0][i].index
        return self.order

    cdef void sort(self, Py_ssize_t count) noexcept nogil:
        """placed[0], by merging stretches of twice the length each time; equals stay as they are."""
        cdef PlacedManifold* x
        cdef PlacedManifold* y
        cdef Py_ssize_t begin, middle, end, i, k, n
        cdef Py_ssize_t width = 1
        while width < count:
            x, y = self.placed[0], self.placed[1]
            begin = 0
            while begin < count:
                middle, end = min(begin + width, count), min(begin + 2 * width, count)
                i, k = begin, middle
                for n in range(begin, end):
                    if k >= end or (i < middle and not comes_before(&x[k], &x[i])):
                        y[n] = x[i]
                        i += 1
                    else:
                        y[n] = x[k]
                        k += 1
                begin = end
            self.placed[0], self.placed[1] = y, x
            width *= 2
