"""Pairs with a closed form: a sphere with everything, a capsule with a capsule.

A sphere's core is a point: its separation is the point's signed distance to the other solid less the radius.
"""

from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, sub, neg, scale, add_scaled, dot, cross, norm, perpendicular, normalized,
                               mat_vec, mat_t_vec, mat_column)
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport SPHERE
from mcsim.collide._shape_table cimport point_distance, supporting_feature
from mcsim.collide._solid cimport Solid
from mcsim.collide.shapes._parts cimport Polygon, away_from
from mcsim.collide._contact cimport MAX_CONTACTS, Axis, Contact, finish, store_single
from mcsim.collide._clip cimport features_overlap
from mcsim.collide._convex cimport best_axis, nearest_on_segments


cdef inline int sphere_sphere(const Solid* a, const Solid* b, Vec3 offset, double limit, Manifold* m) noexcept nogil:
    """offset: from b to a. -> point count"""
    cdef double reach = a.size.x + b.size.x + limit
    cdef Axis axis
    if dot(offset, offset) > reach * reach:
        return 0
    axis.separation = away_from(offset, mat_column(b.axes, 2), &axis.normal) - b.size.x - a.size.x
    if axis.separation > limit:
        return 0
    axis.normal = neg(axis.normal)
    axis.witness = scale(a.size.x + 0.5 * axis.separation, axis.normal)
    return store_single(m, &axis, a.position)


cdef inline int sphere_solid(const Solid* a, const Solid* b, double limit, Manifold* m) noexcept nogil:
    """Sphere a with any solid b but a plane. -> point count."""
    cdef Vec3 offset = sub(a.position, b.position)               # from b to the sphere's centre
    cdef Vec3 normal = vec3(0.0, 0.0, 1.0)                       # b's outward gradient, b's axes
    cdef Axis axis
    cdef double distance
    if b.type == SPHERE:
        return sphere_sphere(a, b, offset, limit, m)
    if not point_distance(b, mat_t_vec(b.axes, offset), &distance, &normal):
        if not distance > limit + a.size.x and best_axis(a, b, limit, &axis):
            return store_single(m, &axis, a.position)
        return 0
    axis.separation = distance - a.size.x
    if axis.separation > limit:
        return 0
    axis.normal = neg(mat_vec(b.axes, normal))
    axis.witness = scale(a.size.x + 0.5 * axis.separation, axis.normal)
    return store_single(m, &axis, a.position)


cdef inline int side_by_side(Vec3 u, Vec3 w, Vec3 n) noexcept nogil:
    """May two capsules along u and w, n the normal, touch along a line? As supporting_feature and rulings_overlap have it:
    both face each other with their sides, and seen along n they are as good as parallel."""
    cdef double along_u = dot(u, n)
    cdef double along_w = dot(w, n)
    cdef double across_u = 1.0 - along_u * along_u
    cdef double across_w = 1.0 - along_w * along_w
    cdef double sine = dot(n, cross(u, w))
    return across_u > 0.49 and across_w > 0.49 and sine * sine <= 0.0101 * across_u * across_w


cdef inline int capsule_capsule(const Solid* a, const Solid* b, double limit, Manifold* m) noexcept nogil:
    """-> point count: two where they lie along each other, else one."""
    cdef Vec3 offset = sub(b.position, a.position)
    cdef Vec3 u = mat_column(a.axes, 2)
    cdef Vec3 w = mat_column(b.axes, 2)
    cdef Vec3 d, on_a
    cdef double s, t, distance
    cdef double size = a.size.y + b.size.y + a.size.x + b.size.x
    cdef Axis axis
    cdef Polygon side_a, side_b
    cdef Contact contacts[MAX_CONTACTS]
    cdef int count
    nearest_on_segments(u, a.size.y, w, b.size.y, offset, &s, &t)
    on_a = scale(s, u)
    d = sub(add_scaled(offset, t, w), on_a)
    distance = norm(d)
    axis.separation = distance - a.size.x - b.size.x
    if axis.separation > limit:
        return 0
    if distance > 1e-8 * size:
        axis.normal = scale(1.0 / distance, d)
    else:                                        # the cores cross: along the normal of both, or across a common line
        axis.normal = cross(u, w)
        axis.normal = normalized(axis.normal) if norm(axis.normal) > 1e-8 else perpendicular(u)
    axis.witness = add_scaled(on_a, a.size.x + 0.5 * axis.separation, axis.normal)
    if not side_by_side(u, w, axis.normal):
        return store_single(m, &axis, a.position)
    supporting_feature(a, axis.normal, vec3(0.0, 0.0, 0.0), &side_a)
    supporting_feature(b, neg(axis.normal), offset, &side_b)
    count = features_overlap(&side_a, &side_b, axis.normal, limit, contacts)
    finish(m, contacts, count, &axis, size, a.position)
    return m.point_count
