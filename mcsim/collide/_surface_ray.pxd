"""Where a ray first meets a surface, from either side.

The edges of a triangle are tested by the sign of (p x q) . d, with p and q the edge's ends seen from the ray's origin:
neighbours compute the same number with the other sign, so no ray slips through between them.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport cross, dot, mat_t_vec, mat_vec, neg, normalized, sub
from mcsim.collide._solid cimport Solid
from mcsim.collide._surface cimport MESH_STACK, MeshNode, Surface, cell_index, triangle_corners, vertex_at

# What a ray met; distance in lengths of its direction.
ctypedef struct RayHit:
    double distance              # on entry: how far to look
    Vec3 normal                  # unit, against the ray; surface's frame, at the end world
    int32_t triangle             # -1: none


cdef inline double enters(Vec3 lower, Vec3 upper, Vec3 origin, Vec3 inverse, double most) noexcept nogil:
    """The distance at which the ray enters the box, INFINITY if it misses it within `most`."""
    cdef double first = 0.0
    cdef double last = most
    cdef double t, u
    cdef int k
    for k in range(3):
        t = ((&lower.x)[k] - (&origin.x)[k]) * (&inverse.x)[k]
        u = ((&upper.x)[k] - (&origin.x)[k]) * (&inverse.x)[k]
        if t != t or u != u:                     # 0 x infinity: along a face of the box
            continue
        first = max(first, min(t, u))
        last = min(last, max(t, u))
    return first if first <= last else INFINITY


cdef inline void ray_triangle(const Surface* s, int32_t t, Vec3 origin, Vec3 direction, RayHit* hit) noexcept nogil:
    cdef int32_t id[3]
    cdef Vec3 p, q, r, n
    cdef double u, v, w, slope, distance
    triangle_corners(s, t, id)
    p = sub(vertex_at(s, id[0]), origin)
    q = sub(vertex_at(s, id[1]), origin)
    r = sub(vertex_at(s, id[2]), origin)
    u = dot(cross(p, q), direction)
    v = dot(cross(q, r), direction)
    w = dot(cross(r, p), direction)
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return
    n = cross(sub(q, p), sub(r, p))
    slope = dot(n, direction)
    if slope == 0.0:
        return
    distance = dot(n, p) / slope
    if 0.0 <= distance < hit.distance or distance == hit.distance and hit.triangle < 0:
        hit.distance = distance
        hit.normal = normalized(neg(n) if slope > 0.0 else n)
        hit.triangle = t


cdef inline void ray_mesh(const Surface* s, Vec3 origin, Vec3 direction, RayHit* hit) noexcept nogil:
    """The nearer child first; what begins behind the nearest hit so far is left out."""
    cdef int32_t stack[MESH_STACK]
    cdef double entry[MESH_STACK]
    cdef int top = 1
    cdef int32_t node, i, near, far
    cdef double near_entry, far_entry, swap
    cdef Vec3 inverse
    cdef const MeshNode* n
    inverse.x = 1.0 / direction.x
    inverse.y = 1.0 / direction.y
    inverse.z = 1.0 / direction.z
    stack[0] = 0
    entry[0] = enters(s.nodes[0].lower, s.nodes[0].upper, origin, inverse, hit.distance)
    while top > 0:
        top -= 1
        if not entry[top] <= hit.distance:
            continue
        n = &s.nodes[stack[top]]
        if n.right == 0:
            for i in range(n.begin, n.end):
                ray_triangle(s, s.order[i], origin, direction, hit)
            continue
        near = stack[top] + 1
        far = n.right
        near_entry = enters(s.nodes[near].lower, s.nodes[near].upper, origin, inverse, hit.distance)
        far_entry = enters(s.nodes[far].lower, s.nodes[far].upper, origin, inverse, hit.distance)
        if far_entry < near_entry:
            node = near
            near = far
            far = node
            swap = near_entry
            near_entry = far_entry
            far_entry = swap
        if far_entry < INFINITY:
            stack[top] = far
            entry[top] = far_entry
            top += 1
        if near_entry < INFINITY:
            stack[top] = near
            entry[top] = near_entry
            top += 1


cdef inline void ray_heights(const Surface* s, Vec3 origin, Vec3 direction, RayHit* hit) noexcept nogil:
    """Cell by cell along the ray (J. Amanatides, A. Woo, "A fast voxel traversal algorithm for ray tracing", 1987)."""
    cdef Vec3 inverse
    cdef double t, next_x, next_y
    cdef int32_t i, j, cell
    cdef int32_t step_i = 1 if direction.x > 0.0 else -1
    cdef int32_t step_j = 1 if direction.y > 0.0 else -1
    inverse.x = 1.0 / direction.x
    inverse.y = 1.0 / direction.y
    inverse.z = 1.0 / direction.z
    t = enters(s.lower, s.upper, origin, inverse, hit.distance)
    if t == INFINITY:
        return
    i = cell_index((origin.x + t * direction.x - s.lower.x) / s.dx, s.rows - 1)
    j = cell_index((origin.y + t * direction.y - s.lower.y) / s.dy, s.columns - 1)
    while 0 <= i < s.rows - 1 and 0 <= j < s.columns - 1 and t <= hit.distance:
        cell = 2 * (i * (s.columns - 1) + j)
        ray_triangle(s, cell, origin, direction, hit)
        ray_triangle(s, cell + 1, origin, direction, hit)
        next_x = INFINITY
        next_y = INFINITY
        if direction.x != 0.0:
            next_x = (s.lower.x + (i + (step_i > 0)) * s.dx - origin.x) * inverse.x
        if direction.y != 0.0:
            next_y = (s.lower.y + (j + (step_j > 0)) * s.dy - origin.y) * inverse.y
        if next_x == INFINITY and next_y == INFINITY:
            return
        if next_x <= next_y:
            i += step_i
            t = next_x
        else:
            j += step_j
            t = next_y


cdef inline int surface_ray(const Solid* solid, Vec3 origin, Vec3 direction, RayHit* hit) noexcept nogil:
    """The first triangle on the ray (world), within hit.distance on entry. -> 1 if there is one; `hit` has it then."""
    cdef Vec3 start = mat_t_vec(solid.axes, sub(origin, solid.position))
    cdef Vec3 along = mat_t_vec(solid.axes, direction)
    hit.triangle = -1
    if solid.surface.heights == NULL:
        ray_mesh(solid.surface, start, along, hit)
    else:
        ray_heights(solid.surface, start, along, hit)
    if hit.triangle < 0:
        return 0
    hit.normal = mat_vec(solid.axes, hit.normal)
    return 1
