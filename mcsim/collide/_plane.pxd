"""A plane (the half space below it) with every other solid: the low points of the solid."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, add_scaled, dot, mat_vec, mat_column
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport SPHERE, HULL
from mcsim.collide._shape_table cimport core_radius, support, supporting_feature
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport Axis, Contact, finish, store_single, vertex_feature, MAX_CONTACTS
from mcsim.collide._patch cimport Patch, choose_patch
from mcsim.collide.shapes._parts cimport Polygon


cdef inline int low_point(Vec3 p, double radius, int32_t id, Vec3 n, double height, double limit,
                          Contact* out) noexcept nogil:
    """The lowest point of a ball about p, from the solid's position, which lies `height` above the plane. -> 1 if near
    enough."""
    cdef double separation = height + dot(n, p) - radius
    if separation > limit:
        return 0
    out.separation = separation
    out.position = add_scaled(p, -0.5 * separation - radius, n)
    out.feature = vertex_feature(1, id)
    return 1


cdef inline int plane_solid(const Solid* plane, const Solid* s, double limit, Manifold* m, Patch* patch) noexcept nogil:
    """-> point count. The normal is the plane's, out of its half space. patch: more points, or NULL."""
    cdef Vec3 n = mat_column(plane.axes, 2)
    cdef Vec3 down = neg(n)
    cdef double height = dot(n, sub(s.position, plane.position))
    cdef double radius = core_radius(s)
    cdef Vec3 low = add_scaled(support(s, down), radius, down)
    cdef Axis axis
    cdef Polygon feature
    cdef Contact contacts[MAX_CONTACTS]
    cdef int i
    cdef int count = 0
    cdef int32_t vertex
    axis.normal = n
    axis.separation = height + dot(n, low)
    if axis.separation > limit:
        return 0
    axis.witness = add_scaled(low, -0.5 * axis.separation, n)
    if s.type == SPHERE:
        return store_single(m, &axis, s.position)
    if s.type == HULL:                           # any vertex near the plane, whichever face it is on
        for vertex in range(s.hull.vertex_count):
            if count == MAX_CONTACTS:            # too many to choose from: those of the lowest face, thinned out
                break
            count += low_point(mat_vec(s.axes, s.hull.vertices[vertex]), radius, vertex, n, height, limit,
                               &contacts[count])
    if s.type != HULL or count == MAX_CONTACTS:
        count = 0
        supporting_feature(s, down, vec3(0.0, 0.0, 0.0), &feature)
        for i in range(feature.count):
            count += low_point(feature.points[i], 0.0, feature.id[i], n, height, limit, &contacts[count])
    choose_patch(contacts, count, n, s.reach, &axis, s.position, patch)
    finish(m, contacts, count, &axis, s.reach, s.position)
    return m.point_count
