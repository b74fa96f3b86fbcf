"""A solid against a mesh or a height field, triangle by triangle. A surface has no inside: only its triangles count."""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, dot, cross, norm, normalized, mat_mul, mat_t_vec,
                               mat_vec, transpose)
from mcsim.state._shape_types cimport HULL, PLANE
from mcsim.collide._cast cimport cast_solid, separation, solids_overlap
from mcsim.collide._contact cimport Axis
from mcsim.collide._gjk cimport nearest_on_triangle
from mcsim.collide._records cimport Ray
from mcsim.collide._shape_table cimport bounds
from mcsim.collide._solid cimport Aabb, HullView, Solid
from mcsim.collide._surface_walk cimport Walk, triangle_corners, vertex_at, walk_next, walk_start
from mcsim.collide._surface_ray cimport RayHit, surface_ray

# One triangle as a convex solid of its own. It points into itself, so it is not copied.
ctypedef struct Triangle:
    Solid solid
    HullView hull
    Vec3 corners[3]


cdef inline void cut_out(const Solid* s, int32_t t, Triangle* x) noexcept nogil:
    """Triangle t of the surface s, placed where it is."""
    cdef int32_t id[3]
    cdef Vec3 middle = vec3(0.0, 0.0, 0.0)
    cdef int k
    triangle_corners(s.surface, t, id)
    for k in range(3):
        x.corners[k] = vertex_at(s.surface, id[k])
        middle = add_scaled(middle, 1.0 / 3.0, x.corners[k])
    x.hull.vertices = x.corners
    x.hull.vertex_count = 3
    x.hull.face_count = 0
    x.hull.radius = 0.0
    for k in range(3):
        x.corners[k] = sub(x.corners[k], middle)
        x.hull.radius = max(x.hull.radius, norm(x.corners[k]))
    x.solid.axes = s.axes
    x.solid.position = add(s.position, mat_vec(s.axes, middle))
    x.solid.size = vec3(0.0, 0.0, 0.0)
    x.solid.reach = x.hull.radius
    x.solid.hull = &x.hull
    x.solid.surface = NULL
    x.solid.type = HULL
    x.solid.finite = 1


cdef inline void meet_flat(const Solid* a, const Triangle* x, Vec3* normal, Vec3* point) noexcept nogil:
    """Of an overlap with a triangle: its normal towards the solid's position, and its point nearest to that."""
    cdef Vec3 at = mat_t_vec(x.solid.axes, sub(a.position, x.solid.position))
    cdef Vec3 n = normalized(cross(sub(x.corners[1], x.corners[0]), sub(x.corners[2], x.corners[0])))
    cdef double weight[3]
    cdef Vec3 near = nearest_on_triangle(sub(x.corners[0], at), sub(x.corners[1], at), sub(x.corners[2], at), weight)
    normal[0] = mat_vec(x.solid.axes, n if dot(n, at) >= dot(n, x.corners[0]) else neg(n))
    point[0] = add(a.position, mat_vec(x.solid.axes, near))


cdef inline void walk_about(const Solid* a, const Solid* s, Vec3 way, Walk* walk) noexcept nogil:
    """Begin a walk over the triangles of the surface s about the solid a and its way. A plane is everywhere."""
    cdef Solid local = a[0]
    cdef Aabb box
    cdef double fat
    if a.type == PLANE:
        walk_start(s.surface, s.surface.lower, s.surface.upper, walk)
        return
    local.axes = mat_mul(transpose(s.axes), a.axes)
    local.position = mat_t_vec(s.axes, sub(a.position, s.position))
    way = mat_t_vec(s.axes, way)
    fat = 1e-12 * (a.reach + s.surface.radius + fabs(local.position.x) + fabs(local.position.y) + fabs(local.position.z))
    box = bounds(&local)
    box.lower = add(box.lower, vec3(min(way.x, 0.0) - fat, min(way.y, 0.0) - fat, min(way.z, 0.0) - fat))
    box.upper = add(box.upper, vec3(max(way.x, 0.0) + fat, max(way.y, 0.0) + fat, max(way.z, 0.0) + fat))
    walk_start(s.surface, box.lower, box.upper, walk)


cdef inline double distance_to_surface(Vec3 p, const Solid* s, double limit) noexcept nogil:
    """How far a point, world, is from the surface s; `limit` where it is farther [m]."""
    cdef Vec3 at = mat_t_vec(s.axes, sub(p, s.position))
    cdef Vec3 fat = vec3(limit, limit, limit)
    cdef double weight[3]
    cdef int32_t id[3]
    cdef Walk walk
    cdef int32_t t
    walk_start(s.surface, sub(at, fat), add(at, fat), &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return limit
        triangle_corners(s.surface, t, id)
        limit = min(limit, norm(nearest_on_triangle(sub(vertex_at(s.surface, id[0]), at),
                                                    sub(vertex_at(s.surface, id[1]), at),
                                                    sub(vertex_at(s.surface, id[2]), at), weight)))


cdef inline int overlaps_surface(const Solid* a, const Solid* s) noexcept nogil:
    """Does a solid touch the surface s?"""
    cdef Triangle x
    cdef Walk walk
    cdef int32_t t
    walk_about(a, s, vec3(0.0, 0.0, 0.0), &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return 0
        cut_out(s, t, &x)
        if solids_overlap(a, &x.solid):
            return 1


cdef inline int cast_on_surface(const Solid* a, Vec3 d, const Solid* s, double limit, double* distance, Vec3* normal,
                                Vec3* point) noexcept nogil:
    """As cast_solid."""
    cdef Triangle x
    cdef Walk walk
    cdef int32_t t
    cdef int found = 0
    cdef Vec3 n, p
    # Beyond that it has passed the surface.
    limit = min(limit, 2.0 * (norm(sub(s.position, a.position)) + a.reach + s.surface.radius))
    walk_about(a, s, scale(limit, d), &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return found
        cut_out(s, t, &x)
        if solids_overlap(a, &x.solid):
            distance[0] = 0.0
            meet_flat(a, &x, normal, point)
            return 1
        if cast_solid(a, d, &x.solid, limit, &limit, &n, &p):
            distance[0] = limit
            normal[0] = n
            point[0] = p
            found = 1


cdef inline int part_surface(const Solid* a, const Solid* s, double limit, Axis* axis) noexcept nogil:
    """As separation; 0 for an overlap, since a surface has no inside."""
    cdef Triangle x
    cdef Walk walk
    cdef Axis trial
    cdef int32_t t
    cdef int found = 0
    cdef Vec3 n, p
    walk_start(s.surface, s.surface.lower, s.surface.upper, &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return found
        cut_out(s, t, &x)
        if solids_overlap(a, &x.solid):
            meet_flat(a, &x, &n, &p)
            axis.separation = 0.0
            axis.normal = neg(n)
            axis.witness = sub(p, a.position)
            return 1
        if separation(a, &x.solid, limit, &trial) and (not found or trial.separation < axis.separation):
            axis[0] = trial
            limit = trial.separation
            found = 1


cdef inline int ray_on_surface(const Solid* s, const Ray* ray, double limit, double* distance, Vec3* normal) noexcept nogil:
    """As ray_solid; nothing is inside."""
    cdef RayHit hit
    hit.distance = limit
    if not surface_ray(s, ray.origin, ray.direction, &hit):
        return 0
    distance[0] = hit.distance
    normal[0] = hit.normal
    return 1
