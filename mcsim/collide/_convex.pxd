"""Any two convex solids: axis by GJK or EPA on their cores, points by their supporting features along it."""

from libc.math cimport sqrt
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, cross, dot, norm, normalized, perpendicular,
                               mat_column)
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport CAPSULE, SPHERE
from mcsim.collide._shape_table cimport core_radius, is_curved, side_normal, support, supporting_feature
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport MAX_CONTACTS, Axis, Contact, finish, store_single
from mcsim.collide._clip cimport features_overlap, stagger_discs
from mcsim.collide._patch cimport Patch, choose_patch
from mcsim.collide._gjk cimport gjk, GJK_APART, GJK_FAR
from mcsim.collide._epa cimport epa
from mcsim.collide.shapes._parts cimport ALIGNED, Polygon


cdef inline double core_separation(const Solid* a, const Solid* b, Vec3 offset, Vec3 n) noexcept nogil:
    """How far apart the cores are along the unit vector n; no n gives more than the true separation."""
    return dot(n, sub(add(offset, support(b, neg(n))), support(a, n)))


cdef inline int try_normal(const Solid* a, const Solid* b, Vec3 offset, Vec3 trial, double* separation,
                           Vec3* n) noexcept nogil:
    """Take a trial normal near n if it parts the cores better. -> 1 if it is n now, to rounding."""
    cdef Vec3 d = sub(trial, n[0])
    cdef double s
    if dot(d, d) < 1e-20:
        return 1
    if dot(d, d) > 0.02:
        return 0
    s = core_separation(a, b, offset, trial)
    if s <= separation[0]:
        return 0
    separation[0] = s
    n[0] = trial
    return 1


cdef inline void creep(const Solid* a, const Solid* b, Vec3 offset, double size, double* separation, Vec3* n,
                       Vec3* on_a) noexcept nogil:
    """Move B out along n until it is just apart, and take GJK's normal there for n, until it stays.

    Where K is curved each round divides the error of n by radius of curvature / depth. If four do not settle it, the
    overlap is deep and n, the separation and the deepest point stay as they were.
    """
    cdef Vec3 trial = n[0]
    cdef double s = separation[0]
    cdef Vec3 v, near, d
    cdef int _
    for _ in range(4):
        d = add_scaled(offset, 1e-3 * size - s, trial)
        if gjk(a, b, d, size, size, &v, &near) != GJK_APART:
            return
        v = normalized(v)
        d = sub(v, trial)
        trial = v
        s = core_separation(a, b, offset, trial)
        if dot(d, d) < 1e-16:
            if s >= separation[0] - 1e-12 * size:
                separation[0] = s
                n[0] = trial
                on_a[0] = near
            return


cdef inline void climb(const Solid* a, const Solid* b, Vec3 offset, double size, const Solid* ruled, Vec3 line, bint on_b,
                       double* separation, Vec3* n, Vec3* on_a) noexcept nogil:
    """Follow the gradient of the separation along n, w - (n . w) n with w from the place of A that faces n to that of B,
    to where it is largest nearby. Steps are as long as the last change of the gradient has it (J. Barzilai, J. M. Borwein,
    "Two-point step size gradient methods", 1988). on_b: B is smooth there, and has the deepest point; else A.
    ruled: the other one if it touches with a ruling along `line`, at right angles to which n stays, or NULL."""
    cdef Vec3 now = n[0]
    cdef Vec3 pa, w, gradient, last, gradient_last, change
    cdef double s, curvature
    cdef double step = 1.0 / size
    cdef int i
    last = gradient_last = vec3(0.0, 0.0, 0.0)
    for i in range(64):                          # where radii of curvature are about the depth it is slow
        pa = support(a, now)
        w = sub(add(offset, support(b, neg(now))), pa)
        s = dot(now, w)
        if s > separation[0]:
            separation[0] = s
            n[0] = now
            on_a[0] = add_scaled(add(pa, w), -s, now) if on_b else pa
        gradient = add_scaled(w, -s, now)
        gradient = add_scaled(gradient, -dot(gradient, line), line)
        if i > 0:
            change = sub(now, last)
            curvature = dot(change, sub(gradient_last, gradient))
            step = dot(change, change) / curvature if curvature > 0.0 else 2.0 * step
        if dot(gradient, gradient) <= 1e-24 * size * size:
            return
        last = now
        gradient_last = gradient
        now = normalized(add_scaled(now, min(step, 0.1 / norm(gradient)), gradient))
        if ruled != NULL:
            now = neg(side_normal(ruled, neg(now))) if ruled == b else side_normal(ruled, now)


cdef inline void sharpen(const Solid* a, const Solid* b, Vec3 offset, double size, double* separation, Vec3* n,
                         Vec3* on_a) noexcept nogil:
    """Make the normal that EPA found exact where K is curved.

    EPA's depth is good to 1e-10, so its normal on a curved part of K only to the root of that; and where many
    directions are nearly as good (coaxial cylinders) it runs out of points. So the normals of the facing faces and of round
    sides are tried; of what is smooth where it faces the other, the directions beside.
    """
    cdef const Solid* solid
    cdef Polygon face
    cdef double sign
    cdef int i
    cdef int exact = 0
    cdef bint smooth[2]
    cdef const Solid* ruled = NULL
    cdef Vec3 line = vec3(0.0, 0.0, 0.0)
    for i in range(2):
        solid = a if i == 0 else b
        sign = 1.0 if i == 0 else -1.0
        supporting_feature(solid, scale(sign, n[0]), vec3(0.0, 0.0, 0.0), &face)
        smooth[i] = face.count == 0 and is_curved(solid)
        if face.count >= 3:
            exact |= try_normal(a, b, offset, scale(sign, face.normal), separation, n)
        elif face.count == 2:
            if try_normal(a, b, offset, scale(sign, side_normal(solid, scale(sign, n[0]))), separation, n):
                ruled = solid
                line = normalized(sub(face.points[1], face.points[0]))
    if not exact and (is_curved(a) or is_curved(b)):
        creep(a, b, offset, size, separation, n, on_a)
    if smooth[0] or smooth[1]:
        climb(a, b, offset, size, ruled, line, not smooth[0], separation, n, on_a)


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
        distance = epa(a, b, offset, size, guess, &axis.normal, &on_a)
        sharpen(a, b, offset, size, &distance, &axis.normal, &on_a)
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
    choose_patch(contacts, count, axis.normal, a.reach + b.reach, &axis, a.position, patch)
    finish(m, contacts, count, &axis, a.reach + b.reach, a.position)
    return m.point_count
