"""A solid against a mesh or a height field, triangle by triangle. A surface has no inside: only its triangles count."""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, dot, cross, norm, normalized, mat_mul, mat_column,
                               mat_t_vec, mat_vec, transpose)
from mcsim.state._shape_types cimport HULL, PLANE
from mcsim.collide._cast cimport cast_solid, separation, solids_overlap
from mcsim.collide._contact cimport Axis
from mcsim.collide._gjk cimport nearest_on_triangle
from mcsim.collide._ray cimport inverse_of
from mcsim.collide._records cimport Ray
from mcsim.collide._shape_table cimport bounds
from mcsim.collide._solid cimport Aabb, HullView, Solid
from mcsim.collide._surface_walk cimport Walk, triangle_corners, vertex_at, walk_next, walk_start
from mcsim.collide._surface_ray cimport RayHit, surface_ray
from mcsim.collide._surface_search cimport (NEAR_PLANE, NEAR_SLIDING, NEAR_SOLID, Search, Sought, search_next,
                                           search_start)

cdef extern from *:
    """
    /* How near, in parts of the lengths in play, what only comes near may count as touching: GJK ends there. */
    #define MC_NEARLY 1e-7
    """
    const double NEARLY "MC_NEARLY"

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
    x.solid.rounding = 0.0
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


cdef inline Aabb box_about_way(const Solid* a, const Solid* s, Vec3 way, double more) noexcept nogil:
    """The box of the solid a and its way in the frame of the surface s, larger than that by `more` of the lengths that are
    in play, and by rounding. Of a plane that about the whole surface."""
    cdef Solid local = a[0]
    cdef Aabb box
    cdef double fat
    if a.type == PLANE:
        box.lower, box.upper = s.surface.lower, s.surface.upper
        return box
    local.axes = mat_mul(transpose(s.axes), a.axes)
    local.position = mat_t_vec(s.axes, sub(a.position, s.position))
    way = mat_t_vec(s.axes, way)
    fat = 1e-12 * (a.reach + s.surface.radius + fabs(local.position.x) + fabs(local.position.y) + fabs(local.position.z))
    fat += more * (a.reach + s.surface.radius)
    box = bounds(&local)
    box.lower = add(box.lower, vec3(min(way.x, 0.0) - fat, min(way.y, 0.0) - fat, min(way.z, 0.0) - fat))
    box.upper = add(box.upper, vec3(max(way.x, 0.0) + fat, max(way.y, 0.0) + fat, max(way.z, 0.0) + fat))
    return box


cdef inline Vec3 highest(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z))


cdef inline Vec3 lowest(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z))


cdef inline Sought sought_near(const Solid* a, const Solid* s) noexcept nogil:
    """What is nearest to the solid a on the surface s."""
    cdef Sought sought
    cdef Aabb box = box_about_way(a, s, vec3(0.0, 0.0, 0.0), NEARLY)
    sought.kind = NEAR_SOLID
    sought.centre = scale(0.5, add(box.lower, box.upper))
    sought.half = scale(0.5, sub(box.upper, box.lower))
    sought.way = sought.inverse = vec3(0.0, 0.0, 0.0)
    if a.type == PLANE:
        sought.kind = NEAR_PLANE
        sought.centre = mat_t_vec(s.axes, sub(a.position, s.position))
        sought.way = mat_t_vec(s.axes, mat_column(a.axes, 2))
    return sought


cdef inline int first_overlap(const Solid* a, const Solid* s, const Aabb* within, Triangle* x) noexcept nogil:
    """The first triangle of an ordered walk over the box `within` that the solid a overlaps. -> 0: there is none"""
    cdef Aabb box = box_about_way(a, s, vec3(0.0, 0.0, 0.0), NEARLY)
    cdef Walk walk
    cdef int32_t t
    walk_start(s.surface, highest(box.lower, within.lower), lowest(box.upper, within.upper), &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return 0
        cut_out(s, t, x)
        if solids_overlap(a, &x.solid):
            return 1


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
    cdef Aabb box = box_about_way(a, s, vec3(0.0, 0.0, 0.0), 0.0)
    cdef Triangle x
    return first_overlap(a, s, &box, &x)


cdef inline int cast_on_surface(const Solid* a, Vec3 d, const Solid* s, double limit, double* distance, Vec3* normal,
                                Vec3* point) noexcept nogil:
    """As cast_solid. Of triangles that are met at the same distance the last one of an ordered walk counts."""
    cdef Triangle x
    cdef Search search
    cdef Sought sought
    cdef Aabb within
    cdef int32_t t
    cdef int32_t best = -1
    cdef double at
    cdef Vec3 n, p
    # Beyond that it has passed the surface.
    limit = min(limit, 2.0 * (norm(sub(s.position, a.position)) + a.reach + s.surface.radius))
    within = box_about_way(a, s, scale(limit, d), 0.0)
    if first_overlap(a, s, &within, &x):
        distance[0] = 0.0
        meet_flat(a, &x, normal, point)
        return 1
    sought = sought_near(a, s)
    sought.kind = NEAR_SLIDING
    sought.way = mat_t_vec(s.axes, d)
    sought.inverse = inverse_of(sought.way)
    search_start(s.surface, &sought, &within, &search)
    while True:
        t = search_next(s.surface, limit, &search)
        if t < 0:
            return best >= 0
        cut_out(s, t, &x)
        if cast_solid(a, d, &x.solid, limit, &at, &n, &p) and (best < 0 or at < limit or search.rank > best):
            limit = distance[0] = at
            best = search.rank
            normal[0] = n
            point[0] = p


cdef inline int part_surface(const Solid* a, const Solid* s, double limit, Axis* axis) noexcept nogil:
    """As separation; 0 for an overlap, since a surface has no inside. Of triangles that are as near as each other the
    first one of an ordered walk counts."""
    cdef Search search
    cdef Sought sought = sought_near(a, s)
    cdef Triangle x
    cdef Aabb whole
    cdef Axis trial
    cdef int32_t t
    cdef int32_t best = -1
    whole.lower, whole.upper = s.surface.lower, s.surface.upper
    if a.type != PLANE and touch_surface(a, s, &whole, axis):
        return 1
    search_start(s.surface, &sought, &whole, &search)
    while True:
        t = search_next(s.surface, limit, &search)
        if t < 0:
            break
        cut_out(s, t, &x)
        if separation(a, &x.solid, limit, &trial) and (
                best < 0 or trial.separation < limit or search.rank < best):
            axis[0] = trial
            limit = trial.separation
            best = search.rank
    if a.type == PLANE and best >= 0 and limit <= 0.0:  # to ask that first would be to ask every triangle
        return touch_surface(a, s, &whole, axis)
    return best >= 0


cdef inline int touch_surface(const Solid* a, const Solid* s, const Aabb* within, Axis* axis) noexcept nogil:
    """The answer where the solid a overlaps a triangle within the box. -> 0: it overlaps none"""
    cdef Triangle x
    cdef Vec3 n, p
    if not first_overlap(a, s, within, &x):
        return 0
    meet_flat(a, &x, &n, &p)
    axis.separation = 0.0
    axis.normal = neg(n)
    axis.witness = sub(p, a.position)
    return 1


cdef inline int ray_on_surface(const Solid* s, const Ray* ray, double limit, double* distance, Vec3* normal) noexcept nogil:
    """As ray_solid; nothing is inside."""
    cdef RayHit hit
    hit.distance = limit
    if not surface_ray(s, ray.origin, ray.direction, &hit):
        return 0
    distance[0] = hit.distance
    normal[0] = hit.normal
    return 1
