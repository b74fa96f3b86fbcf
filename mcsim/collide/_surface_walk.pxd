"""The triangles of a surface (_surface.pxd): their corners and neighbours, and those in a box."""

from libc.math cimport fabs, floor
from libc.stdint cimport int32_t
from mcsim.collide._surface cimport BORDER, RING, MeshNode, Surface
from mcsim.collide._tree_stack cimport TREE_STACK
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3

# A walk over the triangles whose boxes meet a box.
ctypedef struct Walk:
    Vec3 lower
    Vec3 upper
    int32_t stack[TREE_STACK]
    int32_t top
    int32_t next                 # place in `order`, or triangle of a height field
    int32_t end
    int32_t row
    int32_t row_end
    int32_t column_begin
    int32_t column_end


cdef inline Vec3 vertex_at(const Surface* s, int32_t v) noexcept nogil:
    cdef int32_t i
    if s.heights == NULL:
        return s.vertices[v]
    i = v // s.columns
    return vec3((i - 0.5 * (s.rows - 1)) * s.dx, (v - i * s.columns - 0.5 * (s.columns - 1)) * s.dy, s.heights[v])


cdef inline int32_t grid_vertex(const Surface* s, int32_t i, int32_t j) noexcept nogil:
    return i * s.columns + j if 0 <= i < s.rows and 0 <= j < s.columns else BORDER


cdef inline void triangle_corners(const Surface* s, int32_t t, int32_t* corner) noexcept nogil:
    """Its three vertex numbers."""
    cdef int32_t cell, i, v
    if s.heights == NULL:
        corner[0] = s.corners[3 * t]
        corner[1] = s.corners[3 * t + 1]
        corner[2] = s.corners[3 * t + 2]
        return
    cell = t // 2
    i = cell // (s.columns - 1)
    v = cell + i                                 # i columns + j
    corner[0] = v
    if t & 1:
        corner[1] = v + s.columns + 1
        corner[2] = v + 1
    else:
        corner[1] = v + s.columns
        corner[2] = v + s.columns + 1


cdef inline void triangle_opposite(const Surface* s, int32_t t, int32_t* opposite) noexcept nogil:
    """The corners across its three edges, BORDER or CROWDED."""
    cdef int32_t cell, i, j
    if s.heights == NULL:
        opposite[0] = s.opposite[3 * t]
        opposite[1] = s.opposite[3 * t + 1]
        opposite[2] = s.opposite[3 * t + 2]
        return
    cell = t // 2
    i = cell // (s.columns - 1)
    j = cell - i * (s.columns - 1)
    if t & 1:
        opposite[0] = grid_vertex(s, i + 1, j)
        opposite[1] = grid_vertex(s, i + 1, j + 2)
        opposite[2] = grid_vertex(s, i - 1, j)
    else:
        opposite[0] = grid_vertex(s, i, j - 1)
        opposite[1] = grid_vertex(s, i + 2, j + 1)
        opposite[2] = grid_vertex(s, i, j + 1)


cdef inline int vertex_ring(const Surface* s, int32_t v, int32_t* grid, const int32_t** ring) noexcept nogil:
    """The vertices beside a vertex -> how many; grid: room for RING of them."""
    cdef int32_t i, j, k, w
    cdef int count = 0
    if s.heights == NULL:
        ring[0] = &s.ring[s.ring_begin[v]]
        return s.ring_begin[v + 1] - s.ring_begin[v]
    i = v // s.columns
    j = v - i * s.columns
    for k in range(RING):
        if k < 2:
            w = grid_vertex(s, i + 2 * k - 1, j)
        elif k < 4:
            w = grid_vertex(s, i, j + 2 * k - 5)
        else:
            w = grid_vertex(s, i + 2 * k - 9, j + 2 * k - 9)
        if w >= 0:
            grid[count] = w
            count += 1
    ring[0] = grid
    return count


cdef inline int32_t sheet_of(const Surface* s, int32_t t) noexcept nogil:
    return 0 if s.heights != NULL else s.sheet[t]


cdef inline int32_t cell_index(double x, int32_t cells) noexcept nogil:
    """The cell in which x, in cells, lies; the nearest of those that there are."""
    if not x > 0.0:
        return 0
    return cells - 1 if x >= cells else <int32_t>floor(x)


cdef inline void walk_start(const Surface* s, Vec3 lower, Vec3 upper, Walk* w) noexcept nogil:
    """Begin a walk over the triangles in a box of the shape's frame. For a height field what is below counts as in."""
    w.lower = lower
    w.upper = upper
    w.next = 0
    w.end = 0
    w.top = 0
    w.row = 0
    w.row_end = 0
    w.column_begin = 0
    w.column_end = 0
    if s.heights == NULL:
        w.stack[0] = 0
        w.top = 1
        return
    if upper.x < s.lower.x or lower.x > s.upper.x or upper.y < s.lower.y or lower.y > s.upper.y \
            or lower.z > s.upper.z:
        return
    w.row = cell_index((lower.x - s.lower.x) / s.dx, s.rows - 1)
    w.row_end = cell_index((upper.x - s.lower.x) / s.dx, s.rows - 1) + 1
    w.column_begin = cell_index((lower.y - s.lower.y) / s.dy, s.columns - 1)
    w.column_end = cell_index((upper.y - s.lower.y) / s.dy, s.columns - 1) + 1


cdef inline int boxes_meet(const Walk* w, const MeshNode* node) noexcept nogil:
    return ((node.lower.x <= w.upper.x) & (w.lower.x <= node.upper.x) & (node.lower.y <= w.upper.y)
            & (w.lower.y <= node.upper.y) & (node.lower.z <= w.upper.z) & (w.lower.z <= node.upper.z))


cdef inline int cell_is_low(const Surface* s, const Walk* w, int32_t t) noexcept nogil:
    """Is the cell of an even triangle all below the box?"""
    cdef int32_t corner[3]
    triangle_corners(s, t, corner)
    return (s.heights[corner[0]] < w.lower.z and s.heights[corner[0] + 1] < w.lower.z
            and s.heights[corner[1]] < w.lower.z and s.heights[corner[2]] < w.lower.z)


cdef inline int32_t walk_next(const Surface* s, Walk* w) noexcept nogil:
    """The next triangle, always in the same order; -1: no more."""
    cdef int32_t t, node
    while True:
        if s.heights != NULL:
            if w.next == w.end:
                if w.row == w.row_end:
                    return -1
                w.next = 2 * (w.row * (s.columns - 1) + w.column_begin)
                w.end = 2 * (w.row * (s.columns - 1) + w.column_end)
                w.row += 1
            t = w.next
            if t & 1 == 0 and cell_is_low(s, w, t):
                w.next += 2
                continue
            w.next += 1
            return t
        if w.next < w.end:
            t = s.order[w.next]
            w.next += 1
            return t
        if w.top == 0:
            return -1
        w.top -= 1
        node = w.stack[w.top]
        if not boxes_meet(w, &s.nodes[node]):
            continue
        if s.nodes[node].right == 0:
            w.next = s.nodes[node].begin
            w.end = s.nodes[node].end
        else:
            w.stack[w.top] = s.nodes[node].right
            w.stack[w.top + 1] = node + 1
            w.top += 2
