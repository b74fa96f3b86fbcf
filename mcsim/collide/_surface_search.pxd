"""The triangles of a surface (_surface.pxd) that may be nearest, the most promising first: what lies beyond the best found
so far is left out, so a search takes as long as the tree is high and not as long as there are triangles.

What is looked for lies near a solid, of which its box is known, or is what that meets first as it slides along a line, or
is what lies lowest over a plane. `bound` of a part of the surface: no triangle in it is nearer [m]. Parts of a mesh are the
nodes of its tree; those of a height field stretches of its cells, halved across their longer side.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t
from mcsim.core._math cimport add, dot, scale, sub, vec3
from mcsim.core._types cimport Vec3
from mcsim.collide._ray cimport box_entry, inverse_of
from mcsim.collide._solid cimport Aabb
from mcsim.collide._surface cimport MeshNode, Surface
from mcsim.collide._surface_walk cimport Walk, boxes_meet, cell_is_low, walk_start
from mcsim.collide._tree_stack cimport TREE_STACK

cdef enum:
    NEAR_SOLID = 0               # what is nearest to a solid
    NEAR_SLIDING = 1             # what it meets first as it slides
    NEAR_PLANE = 2               # what lies lowest over a plane

# What is looked for; all in the surface's frame.
ctypedef struct Sought:
    int kind
    Vec3 centre                  # of the solid's box, which reaches `half` to either side; of a plane a point of it
    Vec3 half
    Vec3 way                     # unit: along which it slides, or the plane's normal
    Vec3 inverse                 # of the way's components

# A part of the surface that is still to be looked at. In a height field the cells from `row` and `column` on.
ctypedef struct Branch:
    double bound
    int32_t node
    int32_t row
    int32_t row_end
    int32_t column
    int32_t column_end
    int32_t reserved

ctypedef struct Search:
    Sought sought
    Walk within                  # the box that all must meet: its own walk is not made
    Branch stack[TREE_STACK]
    int32_t top
    int32_t next                 # place in `order`, or triangle of a height field
    int32_t end
    int32_t rank                 # of the triangle found last: where an ordered walk has it
    double bound                 # of the part that it is in


cdef inline double bound_of(const Sought* a, Vec3 lower, Vec3 upper, double limit) noexcept nogil:
    """How near a triangle in this box may be; INFINITY: none is within the limit."""
    cdef double x, y, z
    if a.kind == NEAR_SLIDING:
        return box_entry(sub(lower, a.half), add(upper, a.half), a.centre, a.inverse, limit)
    if a.kind == NEAR_PLANE:
        lower = scale(0.5, sub(upper, lower))
        upper = sub(sub(upper, lower), a.centre)
        return dot(a.way, upper) - fabs(a.way.x) * lower.x - fabs(a.way.y) * lower.y - fabs(a.way.z) * lower.z
    x = max(max(lower.x - a.half.x - a.centre.x, a.centre.x - a.half.x - upper.x), 0.0)
    y = max(max(lower.y - a.half.y - a.centre.y, a.centre.y - a.half.y - upper.y), 0.0)
    z = max(max(lower.z - a.half.z - a.centre.z, a.centre.z - a.half.z - upper.z), 0.0)
    return sqrt(x * x + y * y + z * z)


cdef inline double branch_bound(const Surface* s, Search* w, const Branch* b, double limit) noexcept nogil:
    cdef const MeshNode* node
    cdef const double* h
    cdef Vec3 lower, upper
    if s.heights == NULL:
        node = &s.nodes[b.node]
        return bound_of(&w.sought, node.lower, node.upper, limit) if boxes_meet(&w.within, node) else INFINITY
    lower = vec3(s.lower.x + b.row * s.dx, s.lower.y + b.column * s.dy, s.lower.z)
    upper = vec3(s.lower.x + b.row_end * s.dx, s.lower.y + b.column_end * s.dy, s.upper.z)
    if b.row_end - b.row == 1 and b.column_end - b.column == 1:
        h = &s.heights[b.row * s.columns + b.column]
        lower.z = min(min(h[0], h[1]), min(h[s.columns], h[s.columns + 1]))
        upper.z = max(max(h[0], h[1]), max(h[s.columns], h[s.columns + 1]))
    return bound_of(&w.sought, lower, upper, limit)


cdef inline void search_start(const Surface* s, const Sought* sought, const Aabb* within, Search* w) noexcept nogil:
    """Begin to look for the nearest triangle among those that a walk over the box `within` has."""
    w.sought = sought[0]
    walk_start(s, within.lower, within.upper, &w.within)
    w.next = w.end = w.top = 0
    w.stack[0].bound = 0.0 if sought.kind != NEAR_PLANE else -INFINITY
    w.stack[0].node = 0
    w.stack[0].row, w.stack[0].row_end = w.within.row, w.within.row_end
    w.stack[0].column, w.stack[0].column_end = w.within.column_begin, w.within.column_end
    if s.heights == NULL or (w.within.row < w.within.row_end and w.within.column_begin < w.within.column_end):
        w.top = 1


cdef inline void search_halves(const Surface* s, Search* w, const Branch* b, double limit) noexcept nogil:
    """The two parts of a part, the more promising one to be taken first."""
    cdef Branch one = b[0]
    cdef Branch two = b[0]
    cdef int32_t middle, _
    if s.heights == NULL:
        one.node, two.node = b.node + 1, s.nodes[b.node].right
    elif (b.row_end - b.row) * s.dx >= (b.column_end - b.column) * s.dy and b.row_end - b.row > 1 \
            or b.column_end - b.column == 1:
        middle = b.row + (b.row_end - b.row) // 2
        one.row_end = two.row = middle
    else:
        middle = b.column + (b.column_end - b.column) // 2
        one.column_end = two.column = middle
    one.bound, two.bound = branch_bound(s, w, &one, limit), branch_bound(s, w, &two, limit)
    if one.bound <= two.bound:
        one, two = two, one
    for _ in range(2):                              # the second last, to be taken first
        if one.bound < INFINITY:
            w.stack[w.top] = one
            w.top += 1
        one = two


cdef inline int32_t search_next(const Surface* s, double limit, Search* w) noexcept nogil:
    """The next triangle that may be within the limit [m]; -1: no more."""
    cdef Branch b
    cdef int32_t t
    while True:
        if w.next < w.end and w.bound <= limit:
            w.rank = w.next
            w.next += 1
            return w.rank if s.heights != NULL else s.order[w.rank]
        if w.top == 0:
            return -1
        w.top -= 1
        b = w.stack[w.top]
        w.next = w.end = 0
        if not b.bound <= limit:
            continue
        w.bound = b.bound
        if s.heights == NULL:
            if s.nodes[b.node].right == 0:
                if boxes_meet(&w.within, &s.nodes[b.node]):
                    w.next, w.end = s.nodes[b.node].begin, s.nodes[b.node].end
                continue
        elif b.row_end - b.row == 1 and b.column_end - b.column == 1:
            t = 2 * (b.row * (s.columns - 1) + b.column)
            if not cell_is_low(s, &w.within, t):
                w.next, w.end = t, t + 2
            continue
        search_halves(s, w, &b, limit)
