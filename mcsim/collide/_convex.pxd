"""Any two convex solids: axis by GJK or EPA on their cores, points by their supporting features along it."""

from libc.math cimport INFINITY, sqrt
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, cross, dot, norm, normalized, perpendicular,
                               mat_column)
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport CAPSULE, SPHERE
from mcsim.collide._shape_table cimport core_radius, is_curved, supporting_feature
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport MAX_CONTACTS, Axis, Contact, finish, store_single
from mcsim.collide._clip cimport features_overlap, stagger_discs
from mcsim.collide._patch cimport Patch, choose_patch
from mcsim.collide._gjk cimport gjk, GJK_APART, GJK_FAR
from mcsim.collide._epa cimport FINE, Polytope, ROUGH, epa_search, epa_start, epa_witness
from mcsim.collide._exact_axis cimport Overlap, exact_axis
from mcsim.collide.shapes._parts cimport ALIGNED, Polygon


cdef enum:
    MAXIMA = 4                   # places where the overlap may be least that are looked at, at most


cdef inline void nearest_on_segments(Vec3 u, double half_u, Vec3 w, double half_w, Vec3 offset, double* s,
                                     double* t) noexcept nogil:
    """Closest points s u and offset + t w of two segments about their middles (Lumelsky 1985)."""
    cdef double c = dot(u, w)
    cdef double du = dot(u, offset)
    cdef double dw = dot(w, offset)
    cdef Vec3 normal = cross(u, w)
    cdef double sine2 = dot(normal, normal)
    s[0] = 0.0
    if sine2 > 1e-14:
        s[0] = (du - c * dw) / sine2
    s[0] = -half_u if s[0] < -half_u else (half_u if s[0] > half_u else s[0])
    t[0] = c * s[0] - dw
    t[0] = -half_w if t[0] < -half_w else (half_w if t[0] > half_w else t[0])
    s[0] = c * t[0] + du
    s[0] = -half_u if s[0] < -half_u else (half_u if s[0] > half_u else s[0])
    t[0] = c * s[0] - dw
    t[0] = -half_w if t[0] < -half_w else (half_w if t[0] > half_w else t[0])


cdef inline bint is_round(const Solid* s) noexcept nogil:
    """Whether its core is a point or a line."""
    return s.type == SPHERE or s.type == CAPSULE


cdef inline double crossed_cores(const Solid* a, const Solid* b, Vec3 offset, Vec3* n, Vec3* on_a) noexcept nogil:
    """As epa of two cores that are points or lines, whose difference has no inside: the distance of the cores, 0 but for
    rounding, and a normal along which they have no extent. A ball's depth in the middle of another is that in any
    direction."""
    cdef Vec3 u = mat_column(a.axes, 2)
    cdef Vec3 w = mat_column(b.axes, 2)
    cdef double half_a = a.size.y if a.type == CAPSULE else 0.0
    cdef double half_b = b.size.y if b.type == CAPSULE else 0.0
    cdef double s, t
    cdef Vec3 d
    nearest_on_segments(u, half_a, w, half_b, offset, &s, &t)
    on_a[0] = scale(s, u)
    d = sub(add_scaled(offset, t, w), on_a[0])
    n[0] = cross(u, w)
    if half_a == 0.0 and half_b == 0.0:
        n[0] = scale(1.0 / norm(d), d) if norm(d) > 0.0 else w
    elif half_a == 0.0 or half_b == 0.0 or norm(n[0]) <= 1e-8:
        n[0] = perpendicular(u if half_a > 0.0 else w)
    else:
        n[0] = normalized(n[0])
    if dot(n[0], offset) < 0.0:
        n[0] = neg(n[0])
    return dot(n[0], d)


cdef inline double deepest(const Solid* a, const Solid* b, Vec3 offset, double size, Vec3 guess, Vec3* normal,
                           Vec3* on_a) noexcept nogil:
    """-> s = -depth [m] of cores that overlap and the normal from a to b, to rounding; on_a is the deepest point of A, from
    its position. guess: a unit vector along which the overlap may be shallow, from a to b; it only saves steps.

    Where a surface is curved a polytope finds the axis only roughly; it is made exact (_exact_axis.pxd), and then the
    polytope grows until no axis elsewhere can be better.
    """
    cdef bint curved = is_curved(a) or is_curved(b)
    cdef bint exact
    cdef Polytope polytope
    cdef Overlap x
    cdef double depth
    cdef int _
    x.a = a
    x.b = b
    x.offset = offset
    x.size = size
    x.rough = guess
    epa_start(a, b, offset, neg(guess), &polytope)
    depth = epa_search(&polytope, a, b, offset, size, ROUGH if curved else FINE, NULL, INFINITY, &x.rough)
    for _ in range(MAXIMA):
        x.n = x.rough
        x.separation = -depth
        exact = exact_axis(&x)
        if not exact:
            depth = epa_search(&polytope, a, b, offset, size, FINE, NULL, depth, &x.rough)
            x.n = x.rough
            x.separation = -depth
            exact = exact_axis(&x)
        if not curved or not exact:
            break
        depth = epa_search(&polytope, a, b, offset, size, FINE, &x.n, -x.separation, &x.rough)
        if not depth < -x.separation:
            break
    if not curved or not exact:
        x.on_a = epa_witness(&polytope, neg(x.n), -x.separation)
    normal[0] = x.n
    on_a[0] = x.on_a
    return x.separation


cdef inline int best_axis(const Solid* a, const Solid* b, double limit, Axis* axis) noexcept nogil:
    """Exact separation, normal and a pair of closest points. -> 0 if farther apart than `limit`."""
    cdef Vec3 offset = sub(b.position, a.position)
    cdef Vec3 v, on_a, guess
    cdef double radius_a = core_radius(a)
    cdef double radius_b = core_radius(b)
    cdef double size = a.reach + b.reach
    cdef double distance
    cdef int result = gjk(a, b, offset, size, limit + radius_a + radius_b, &v, &on_a)
    if result == GJK_FAR:
        return 0
    if result == GJK_APART:
        distance = sqrt(dot(v, v))
        axis.normal = scale(1.0 / distance, v)
    elif is_round(a) and is_round(b):
        distance = crossed_cores(a, b, offset, &axis.normal, &on_a)
    else:
        distance = sqrt(dot(offset, offset))
        guess = scale(1.0 / distance, offset) if distance > 0.0 else vec3(0.0, 0.0, 1.0)
        distance = deepest(a, b, offset, size, guess, &axis.normal, &on_a)
    axis.separation = distance - radius_a - radius_b
    if axis.separation > limit:
        return 0
    axis.witness = add_scaled(on_a, radius_a + 0.5 * axis.separation, axis.normal)
    return 1


cdef inline int face_that_has(const Polygon* face_a, const Polygon* face_b, Vec3 n) noexcept nogil:
    """Of two faces on each other whose normal n is: 0 that of a, 1 that of b, 3 none's. Of both the better."""
    cdef Vec3 from_a = sub(face_a.normal, n)
    cdef Vec3 from_b = add(face_b.normal, n)
    cdef int owner
    if face_a.count < 3 or face_b.count < 3:
        return 3
    owner = dot(from_b, from_b) < dot(from_a, from_a)
    if owner:
        from_a = from_b
    return owner if dot(from_a, from_a) <= ALIGNED * ALIGNED else 3


cdef inline int convex_convex(const Solid* a, const Solid* b, double limit, Manifold* m, Patch* patch) noexcept nogil:
    """-> point count, 0 if farther apart than `limit`. patch: more points, or NULL."""
    cdef Axis axis
    cdef Polygon face_a, face_b
    cdef Contact contacts[MAX_CONTACTS]
    cdef double size = 2.0 * min(a.reach, b.reach)      # what touches is no larger
    cdef int count
    if not best_axis(a, b, limit, &axis):
        return 0
    supporting_feature(a, axis.normal, vec3(0.0, 0.0, 0.0), &face_a)
    if face_a.count == 0:
        return store_single(m, &axis, a.position)
    supporting_feature(b, neg(axis.normal), sub(b.position, a.position), &face_b)
    if face_b.count == 0:
        return store_single(m, &axis, a.position)
    m.origin.owner = face_that_has(&face_a, &face_b, axis.normal)
    if face_a.disc > 0.0 and face_b.disc > 0.0:
        stagger_discs(a, b, add_scaled(sub(b.position, a.position), -b.rounding, axis.normal), &face_b)
    count = features_overlap(&face_a, &face_b, axis.normal, limit, contacts)
    choose_patch(contacts, count, axis.normal, size, &axis, a.position, patch)
    finish(m, contacts, count, &axis, size, a.position)
    return m.point_count
