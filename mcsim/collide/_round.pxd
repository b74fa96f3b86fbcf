"""Pairs with a closed form: a sphere with everything, a capsule with a capsule.

A sphere's core is a point: its separation is the point's signed distance to the other solid less the radius.
"""

from libc.math cimport sqrt, fabs
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, sub, neg, scale, add_scaled, dot, cross, norm, perpendicular, normalized,
                               mat_vec, mat_t_vec, mat_column)
from mcsim.state._layout cimport Manifold, SPHERE, BOX, CAPSULE, CYLINDER
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport MAX_CONTACTS, Axis, Contact, finish, store_single
from mcsim.collide._clip cimport Polygon, supporting_feature, features_overlap
from mcsim.collide._convex cimport best_axis, nearest_on_segments


cdef inline double outward(Vec3 d, Vec3 fallback, Vec3* normal) noexcept nogil:
    """-> |d| and its direction, or the fallback for a zero vector."""
    cdef double length = norm(d)
    normal[0] = scale(1.0 / length, d) if length > 0.0 else fallback
    return length


cdef inline double point_box(Vec3 c, Vec3 half, Vec3* normal) noexcept nogil:
    """Signed distance of the point c to a box about the origin and its outward gradient."""
    cdef Vec3 clamped = vec3(-half.x if c.x < -half.x else (half.x if c.x > half.x else c.x),
                             -half.y if c.y < -half.y else (half.y if c.y > half.y else c.y),
                             -half.z if c.z < -half.z else (half.z if c.z > half.z else c.z))
    cdef Vec3 d = sub(c, clamped)
    cdef Vec3 depth
    if d.x != 0.0 or d.y != 0.0 or d.z != 0.0:
        return outward(d, vec3(0.0, 0.0, 1.0), normal)
    depth = vec3(fabs(c.x) - half.x, fabs(c.y) - half.y, fabs(c.z) - half.z)
    if depth.x >= depth.y and depth.x >= depth.z:
        normal[0] = vec3(1.0 if c.x >= 0.0 else -1.0, 0.0, 0.0)
        return depth.x
    if depth.y >= depth.z:
        normal[0] = vec3(0.0, 1.0 if c.y >= 0.0 else -1.0, 0.0)
        return depth.y
    normal[0] = vec3(0.0, 0.0, 1.0 if c.z >= 0.0 else -1.0)
    return depth.z


cdef inline double point_cylinder(Vec3 c, double radius, double half, Vec3* normal) noexcept nogil:
    """Signed distance of the point c to a cylinder about the z axis and its outward gradient."""
    cdef double radial = sqrt(c.x * c.x + c.y * c.y)
    cdef double out = radial - radius
    cdef double over = fabs(c.z) - half
    cdef double sign = 1.0 if c.z >= 0.0 else -1.0
    cdef Vec3 side = vec3(c.x / radial, c.y / radial, 0.0) if radial > 0.0 else vec3(1.0, 0.0, 0.0)
    if out > 0.0 and over > 0.0:
        return outward(vec3(out * side.x, out * side.y, sign * over), side, normal)
    if out >= over:
        normal[0] = side
        return out
    normal[0] = vec3(0.0, 0.0, sign)
    return over


cdef inline int sphere_sphere(const Solid* a, const Solid* b, Vec3 offset, double limit, Manifold* m) noexcept nogil:
    """offset: from b to a. -> point count"""
    cdef double reach = a.size.x + b.size.x + limit
    cdef Axis axis
    if dot(offset, offset) > reach * reach:
        return 0
    axis.separation = outward(offset, mat_column(b.axes, 2), &axis.normal) - b.size.x - a.size.x
    if axis.separation > limit:
        return 0
    axis.normal = neg(axis.normal)
    axis.witness = scale(a.size.x + 0.5 * axis.separation, axis.normal)
    return store_single(m, &axis, a.position)


cdef inline int sphere_solid(const Solid* a, const Solid* b, double limit, Manifold* m) noexcept nogil:
    """Sphere a with any solid b but a plane. -> point count."""
    cdef Vec3 offset = sub(a.position, b.position)               # from b to the sphere's centre
    cdef Vec3 normal = vec3(0.0, 0.0, 1.0)                       # b's outward gradient, b's axes
    cdef Vec3 local
    cdef Axis axis
    cdef double distance, depth, t
    cdef int32_t i
    if b.type == SPHERE:
        return sphere_sphere(a, b, offset, limit, m)
    local = mat_t_vec(b.axes, offset)
    if b.type == CAPSULE:
        t = local.z
        t = -b.size.y if t < -b.size.y else (b.size.y if t > b.size.y else t)
        distance = outward(vec3(local.x, local.y, local.z - t), vec3(1.0, 0.0, 0.0), &normal) - b.size.x
    elif b.type == BOX:
        distance = point_box(local, b.size, &normal)
    elif b.type == CYLINDER:
        distance = point_cylinder(local, b.size.x, b.size.y, &normal)
    else:
        distance = dot(b.hull.normals[0], local) - b.hull.offsets[0]
        normal = b.hull.normals[0]
        for i in range(1, b.hull.face_count):
            depth = dot(b.hull.normals[i], local) - b.hull.offsets[i]
            if depth > distance:
                distance = depth
                normal = b.hull.normals[i]
        if distance > limit + a.size.x:
            return 0
        if distance > 0.0:
            if best_axis(a, b, limit, &axis):
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
