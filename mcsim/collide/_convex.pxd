"""Any two convex solids: axis by GJK or EPA on their cores, points by their supporting features along it."""

from libc.math cimport sqrt
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, add, sub, neg, scale, add_scaled, dot
from mcsim.state._layout cimport Manifold
from mcsim.collide._solid cimport Solid, core_radius, reach
from mcsim.collide._contact cimport Axis, Contact, finish, MAX_CONTACTS
from mcsim.collide._clip cimport Polygon, supporting_feature, features_overlap
from mcsim.collide._gjk cimport gjk, GJK_APART, GJK_FAR
from mcsim.collide._epa cimport epa


cdef inline int best_axis(const Solid* a, const Solid* b, double limit, Axis* axis) noexcept nogil:
    """Exact separation, normal and a pair of closest points. -> 0 if farther apart than `limit`."""
    cdef Vec3 offset = sub(b.position, a.position)
    cdef Vec3 v, on_a, guess
    cdef double radius_a = core_radius(a)
    cdef double radius_b = core_radius(b)
    cdef double size = reach(a) + reach(b)
    cdef double distance
    cdef int result = gjk(a, b, offset, size, limit + radius_a + radius_b, &v, &on_a)
    if result == GJK_FAR:
        return 0
    if result == GJK_APART:
        distance = sqrt(dot(v, v))
        axis.normal = scale(1.0 / distance, v)
    else:
        distance = sqrt(dot(offset, offset))
        guess = scale(1.0 / distance, offset) if distance > 0.0 else vec3(0.0, 0.0, 1.0)
        distance = epa(a, b, offset, size, guess, &axis.normal, &on_a)
    axis.separation = distance - radius_a - radius_b
    if axis.separation > limit:
        return 0
    axis.witness = add_scaled(on_a, radius_a + 0.5 * axis.separation, axis.normal)
    return 1


cdef inline int convex_convex(const Solid* a, const Solid* b, double limit, Manifold* m) noexcept nogil:
    """-> point count, 0 if farther apart than `limit`."""
    cdef Axis axis
    cdef Polygon face_a, face_b
    cdef Contact contacts[72]
    cdef int count
    if not best_axis(a, b, limit, &axis):
        return 0
    supporting_feature(a, axis.normal, vec3(0.0, 0.0, 0.0), &face_a)
    supporting_feature(b, neg(axis.normal), sub(b.position, a.position), &face_b)
    count = features_overlap(&face_a, &face_b, axis.normal, limit, contacts)
    finish(m, contacts, count, &axis, 1e-8 * (reach(a) + reach(b)), a.position)
    return m.point_count
