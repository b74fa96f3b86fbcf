"""Where a ray first meets a surface, from either side.

Corners are sheared into the plane across the ray, each to one place whichever triangle asks, and the signs of areas
there say which triangle the ray meets: so no ray slips through between neighbours (S. Woop, C. Benthin, I. Wald,
"Watertight ray/triangle intersection", 2013).
"""

from libc.math cimport INFINITY, ceil, fabs, floor
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport cross, dot, mat_t_vec, mat_vec, neg, normalized, sub
from mcsim.collide._ray cimport box_entry, inverse_of
from mcsim.collide._solid cimport Solid
from mcsim.collide._surface cimport MeshNode, Surface
from mcsim.collide._tree_stack cimport TREE_STACK
from mcsim.collide._surface_walk cimport cell_index, triangle_corners, vertex_at

# What a ray met; distance in lengths of its direction.
ctypedef struct RayHit:
    double distance              # on entry: how far to look
    Vec3 normal                  # unit, against the ray; surface's frame, at the end world
    int32_t triangle             # -1: none


# A ray in a surface's frame.
ctypedef struct Ray:
    Vec3 origin
    Vec3 direction
    Vec3 inverse                 # of the direction's components
    int along                    # its largest component
    double shear_x               # the other two, as parts of it
    double shear_y
    double per_z                 # lengths of the direction a unit of that component


cdef inline Ray ray_from(Vec3 origin, Vec3 direction) noexcept nogil:
    cdef Ray r
    cdef double z
    r.origin = origin
    r.direction = direction
    r.inverse = inverse_of(direction)
    r.along = 0 if fabs(direction.x) >= fabs(direction.y) else 1
    if fabs(direction.z) > fabs((&direction.x)[r.along]):
        r.along = 2
    z = (&direction.x)[r.along]
    r.shear_x = (&direction.x)[(r.along + 1) % 3] / z
    r.shear_y = (&direction.x)[(r.along + 2) % 3] / z
    r.per_z = 1.0 / z
    return r


cdef inline Vec3 sheared(const Ray* ray, Vec3 v) noexcept nogil:
    """Across the ray x and y, along its largest component z."""
    cdef Vec3 d = sub(v, ray.origin)
    cdef Vec3 r
    r.z = (&d.x)[ray.along]
    r.x = (&d.x)[(ray.along + 1) % 3] - ray.shear_x * r.z
    r.y = (&d.x)[(ray.along + 2) % 3] - ray.shear_y * r.z
    return r


cdef inline void ray_triangle(const Surface* s, int32_t t, const Ray* ray, RayHit* hit) noexcept nogil:
    cdef int32_t id[3]
    cdef Vec3 a, b, c, n
    cdef double u, v, w, area, distance
    triangle_corners(s, t, id)
    a = sheared(ray, vertex_at(s, id[0]))
    b = sheared(ray, vertex_at(s, id[1]))
    c = sheared(ray, vertex_at(s, id[2]))
    u = b.x * c.y - b.y * c.x
    v = c.x * a.y - c.y * a.x
    w = a.x * b.y - a.y * b.x
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return
    area = u + v + w
    if area == 0.0:                              # along the ray
        return
    distance = (u * a.z + v * b.z + w * c.z) / area * ray.per_z
    if 0.0 <= distance < hit.distance or distance == hit.distance and hit.triangle < 0:
        a = vertex_at(s, id[0])
        n = normalized(cross(sub(vertex_at(s, id[1]), a), sub(vertex_at(s, id[2]), a)))
        hit.distance = distance
        hit.normal = neg(n) if dot(n, ray.direction) > 0.0 else n
        hit.triangle = t


cdef inline void ray_mesh(const Surface* s, const Ray* ray, RayHit* hit) noexcept nogil:
    """The nearer child first; what begins behind the nearest hit so far is left out."""
    cdef int32_t stack[TREE_STACK]
    cdef double entry[TREE_STACK]
    cdef int top = 1
    cdef int32_t node, i, near, far
    cdef double near_entry, far_entry, swap
    cdef const MeshNode* n
    stack[0] = 0
    entry[0] = box_entry(s.nodes[0].lower, s.nodes[0].upper, ray.origin, ray.inverse, hit.distance)
    while top > 0:
        top -= 1
        if not entry[top] <= hit.distance:
            continue
        n = &s.nodes[stack[top]]
        if n.right == 0:
            for i in range(n.begin, n.end):
                ray_triangle(s, s.order[i], ray, hit)
            continue
        near = stack[top] + 1
        far = n.right
        near_entry = box_entry(s.nodes[near].lower, s.nodes[near].upper, ray.origin, ray.inverse, hit.distance)
        far_entry = box_entry(s.nodes[far].lower, s.nodes[far].upper, ray.origin, ray.inverse, hit.distance)
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


cdef inline void ray_cells(const Surface* s, double x, double to_x, double y, double to_y, const Ray* ray,
                           RayHit* hit) noexcept nogil:
    """The cells between two points (in cells), and those that rounding may take for them."""
    cdef int32_t i, j
    cdef int32_t cell
    for i in range(cell_index(min(x, to_x) - 1e-9, s.rows - 1), cell_index(max(x, to_x) + 1e-9, s.rows - 1) + 1):
        for j in range(cell_index(min(y, to_y) - 1e-9, s.columns - 1),
                       cell_index(max(y, to_y) + 1e-9, s.columns - 1) + 1):
            cell = 2 * (i * (s.columns - 1) + j)
            ray_triangle(s, cell, ray, hit)
            ray_triangle(s, cell + 1, ray, hit)


cdef inline double to_border(double x, double rate) noexcept nogil:
    """How far it is to the next whole number from x at a rate of change."""
    if rate == 0.0:
        return INFINITY
    return (floor(x) + 1.0 - x if rate > 0.0 else ceil(x) - 1.0 - x) / rate


cdef inline void ray_heights(const Surface* s, const Ray* ray, RayHit* hit) noexcept nogil:
    """Cell by cell along the ray, from border to border."""
    cdef double per_x = ray.direction.x / s.dx
    cdef double per_y = ray.direction.y / s.dy
    cdef double start_x = (ray.origin.x - s.lower.x) / s.dx
    cdef double start_y = (ray.origin.y - s.lower.y) / s.dy
    cdef double t = box_entry(s.lower, s.upper, ray.origin, ray.inverse, hit.distance)
    cdef double x, y, to_x, to_y, length
    if t == INFINITY:
        return
    x = start_x + t * per_x
    y = start_y + t * per_y
    while t <= hit.distance and -1.0 < x < s.rows and -1.0 < y < s.columns:
        # A little beyond the border, so that each stretch begins inside of a cell.
        length = min(to_border(x, per_x), to_border(y, per_y))
        length = min(length + 1e-10 / (fabs(per_x) + fabs(per_y)), hit.distance - t)
        to_x = start_x + (t + length) * per_x
        to_y = start_y + (t + length) * per_y
        ray_cells(s, x, to_x, y, to_y, ray, hit)
        if t + length <= t:
            return
        t += length
        x = to_x
        y = to_y


cdef inline int surface_ray(const Solid* solid, Vec3 origin, Vec3 direction, RayHit* hit) noexcept nogil:
    """The first triangle on the ray (world), within hit.distance on entry. -> 1 if there is one; `hit` has it then."""
    cdef Vec3 start = mat_t_vec(solid.axes, sub(origin, solid.position))
    cdef Vec3 along = mat_t_vec(solid.axes, direction)
    cdef Ray ray = ray_from(start, along)
    hit.triangle = -1
    if solid.surface.heights == NULL:
        ray_mesh(solid.surface, &ray, hit)
    else:
        ray_heights(solid.surface, &ray, hit)
    if hit.triangle < 0:
        return 0
    hit.normal = mat_vec(solid.axes, hit.normal)
    return 1
