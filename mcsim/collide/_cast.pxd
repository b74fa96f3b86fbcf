"""Two solids without a manifold: do they overlap, how far apart are they, and how far can one slide until they touch?"""

from libc.math cimport INFINITY
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport add, sub, neg, scale, add_scaled, dot, norm, mat_column
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._shape_table cimport core_radius, support
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport Axis
from mcsim.collide._convex cimport best_axis
from mcsim.collide._gjk cimport gjk, GJK_APART, GJK_FAR, GJK_OVERLAP

cdef enum:
    CAST_STEPS = 64              # iterations of the ray cast against a convex shape, at most


cdef inline Vec3 low_end(const Solid* s, Vec3 n) noexcept nogil:
    """The surface's farthest point against the unit vector n, from the solid's position."""
    return add_scaled(support(s, neg(n)), -core_radius(s), n)


cdef inline double height_over(const Solid* plane, const Solid* s) noexcept nogil:
    """How far a solid is from a plane; negative = below it [m]."""
    cdef Vec3 n = mat_column(plane.axes, 2)
    return dot(n, add(sub(s.position, plane.position), low_end(s, n)))


cdef inline int solids_overlap(const Solid* a, const Solid* b) noexcept nogil:
    """Have they a point in common? Two planes always have."""
    cdef double radii = core_radius(a) + core_radius(b)
    cdef Vec3 v, on_a
    cdef int result
    if a.type == PLANE:
        return b.type == PLANE or height_over(a, b) <= 0.0
    if b.type == PLANE:
        return height_over(b, a) <= 0.0
    result = gjk(a, b, sub(b.position, a.position), a.reach + b.reach, radii, &v, &on_a)
    return result == GJK_OVERLAP or (result == GJK_APART and dot(v, v) <= radii * radii)


cdef inline int separation(const Solid* a, const Solid* b, double limit, Axis* axis) noexcept nogil:
    """Distance, or minus the depth, normal from a to b and the middle of the closest points, from a's position.
    -> 0: farther apart than `limit`, or two planes"""
    cdef Vec3 n
    if a.type != PLANE and b.type != PLANE:
        return best_axis(a, b, limit, axis)
    if a.type == b.type:
        return 0
    if a.type == PLANE:
        axis.normal = mat_column(a.axes, 2)
        axis.separation = height_over(a, b)
        axis.witness = add(sub(b.position, a.position), low_end(b, axis.normal))
        axis.witness = add_scaled(axis.witness, -0.5 * axis.separation, axis.normal)
    else:
        n = mat_column(b.axes, 2)
        axis.normal = neg(n)
        axis.separation = height_over(b, a)
        axis.witness = add_scaled(low_end(a, n), -0.5 * axis.separation, n)
    return axis.separation <= limit


cdef inline int start_overlap(const Solid* a, const Solid* b, double* distance, Vec3* normal,
                              Vec3* point) noexcept nogil:
    """The answer of a cast that begins in an overlap: the way out, and the middle of the overlap."""
    cdef Axis axis
    separation(a, b, INFINITY, &axis)
    distance[0] = 0.0
    normal[0] = neg(axis.normal)
    point[0] = add(a.position, axis.witness)
    return 1


cdef inline int cast_on_plane(const Solid* a, Vec3 d, const Solid* plane, double limit, double* distance,
                              Vec3* normal, Vec3* point) noexcept nogil:
    cdef Vec3 n = mat_column(plane.axes, 2)
    cdef double height = height_over(plane, a)
    cdef double rate = -dot(n, d)
    if height <= 0.0:
        return start_overlap(a, plane, distance, normal, point)
    if not height <= limit * rate or rate <= 0.0:
        return 0
    distance[0] = height / rate
    normal[0] = n
    point[0] = add_scaled(add(a.position, low_end(a, n)), distance[0], d)
    return distance[0] < INFINITY


cdef inline int cast_solid(const Solid* a, Vec3 d, const Solid* b, double limit, double* distance, Vec3* normal,
                           Vec3* point) noexcept nogil:
    """Slide a along the unit vector d until it touches b. -> 1, distance [m] <= limit, b's outward normal and the point of
    contact; 0: it does not. Touching or overlapping at the start is a distance of 0.

    The distance s(t) of two convex solids that slide is a convex function of t with s' = -n . d, n the normal from a to
    b. Newton's method, t += s / (n . d), therefore never goes past the first root, and where there is none it ends with
    n . d <= 0 (conservative advancement; compare van den Bergen, "Ray casting against general convex objects", 2004).
    """
    cdef double size = a.reach + b.reach
    cdef double radii = core_radius(a) + core_radius(b)
    cdef double t = 0.0
    cdef double seen = 0.0                       # the t of v and on_a
    cdef double length = 0.0
    cdef double approach = 1.0
    cdef double s, before
    cdef Vec3 offset = sub(b.position, a.position)
    cdef Vec3 v, on_a, n
    cdef int k
    if b.type == PLANE:
        return cast_on_plane(a, d, b, limit, distance, normal, point)
    for k in range(CAST_STEPS):
        if gjk(a, b, add_scaled(offset, -t, d), size, INFINITY, &v, &on_a) == GJK_OVERLAP:
            if k == 0:
                return start_overlap(a, b, distance, normal, point)
            # The cores touch: their normal and nearest points are those of just before.
            before = t - 1e-6 * size / approach
            if gjk(a, b, add_scaled(offset, -before, d), size, INFINITY, &v, &on_a) == GJK_APART:
                seen = before
                length = norm(v)
                n = scale(1.0 / length, v)
            break
        seen = t
        length = norm(v)
        n = scale(1.0 / length, v)
        s = length - radii
        if k == 0 and s <= 0.0:
            return start_overlap(a, b, distance, normal, point)
        approach = dot(d, n)
        if approach <= 0.0:
            return 0
        if s > 0.0:
            t += s / approach
        if not t <= limit:
            return 0
        if s <= 2e-8 * size:                     # nearer than that GJK says that they overlap
            break
    distance[0] = t
    normal[0] = neg(n)
    point[0] = add_scaled(add(add_scaled(a.position, seen, d), on_a), length - core_radius(b), n)
    return t < INFINITY
