"""The axis of least overlap of two convex cores, exact, from one that is nearly it.

The axis n is a maximum on the unit sphere of

    s(n) = n . w(n),    w = (B's farthest point along -n) - (A's farthest point along n),

which any n bounds from below. The gradient of s is the part of w along the surfaces, w - s n, and of its second derivatives
all but -s is what the two surfaces are round (`bend`, their support points' derivatives). s has kinks where more than a
point of a solid faces n: at the normal of a face, and where n is at right angles to an edge or at a fixed angle to the axis
of a round side, on a circle n . u = c. A maximum lies at a face's normal, where two circles cross, on one circle, or on
none; so each is tried, those that are smooth by Newton's method, and the best taken.
(Second derivatives of support functions: R. Schneider, "Convex Bodies: The Brunn-Minkowski Theory", 2014, section 2.5.)
"""

from libc.math cimport INFINITY, fabs, sqrt
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, cross, dot, norm, normalized, perpendicular,
                               mat_column)
from mcsim.collide._clip cimport features_overlap
from mcsim.collide._contact cimport MAX_CONTACTS, Contact
from mcsim.collide._shape_table cimport bend, core_radius, is_curved, side_normal, support, supporting_feature
from mcsim.collide._solid cimport Solid
from mcsim.collide.shapes._parts cimport Polygon

cdef enum:
    NEWTON_STEPS = 10            # as a rule four are enough

cdef extern from *:
    """
    /* How far a maximum may lie from the rough axis [rad]. */
    #define MC_NEARBY 0.2
    /* The longest step on the way there [rad]. */
    #define MC_LONGEST 0.1
    /* Of the pair's size: the gradient at a maximum, to rounding. */
    #define MC_LEVEL 1e-13
    /* The square of the sine between two edges from which on the axis at right angles to both is known. */
    #define MC_LEAST_CROSSED2 1e-12
    /* Of the pair's size: how far from level, or beside each other, what touches may be. */
    #define MC_FLAT 1e-9
    """
    const double NEARBY "MC_NEARBY"
    const double LONGEST "MC_LONGEST"
    const double LEVEL "MC_LEVEL"
    const double LEAST_CROSSED2 "MC_LEAST_CROSSED2"
    const double FLAT "MC_FLAT"

# Two cores, the axis in question and what is known of it.
ctypedef struct Overlap:
    const Solid* a
    const Solid* b
    Vec3 offset                  # position of b - position of a
    double size                  # a length of the pair [m]
    Vec3 rough                   # the axis that is nearly right
    double separation            # along the best axis so far
    Vec3 n                       # that axis
    Vec3 on_a                    # A's deepest point, from A's position

# Where s has a kink: n . u = c.
ctypedef struct Ridge:
    bint there
    Vec3 u
    double c


cdef inline double parted(const Overlap* x, Vec3 n, Vec3* w, Vec3* on_a) noexcept nogil:
    """-> s(n); w and A's farthest point."""
    on_a[0] = support(x.a, n)
    w[0] = sub(add(x.offset, support(x.b, neg(n))), on_a[0])
    return dot(n, w[0])


cdef inline bint is_far(const Overlap* x, Vec3 n) noexcept nogil:
    cdef Vec3 d = sub(n, x.rough)
    return dot(d, d) > NEARBY * NEARBY


cdef inline void take(Overlap* x, Vec3 n, double s) noexcept nogil:
    """n, if s(n) is more than that of the best so far."""
    if s > x.separation:
        x.separation = s
        x.n = n


cdef inline void try_one(Overlap* x, Vec3 n) noexcept nogil:
    cdef Vec3 w, pa
    if not is_far(x, n):
        take(x, n, parted(x, n, &w, &pa))


cdef inline Ridge ridge_of(const Solid* solid, double sign, Vec3 n, const Polygon* face) noexcept nogil:
    """Where s has a kink near n since an edge or a ruling of a solid faces it. face: what supports the solid."""
    cdef Ridge ridge
    cdef Vec3 d = scale(sign, n)
    cdef double most, here
    cdef int k, top, other
    ridge.there = False
    if face.count == 2:
        ridge.there = True
        ridge.u = mat_column(solid.axes, 2)
        ridge.c = sign * dot(side_normal(solid, d), ridge.u)
    elif face.count >= 3 and face.disc == 0.0:
        top = 0
        most = dot(d, face.points[0])
        for k in range(1, face.count):
            here = dot(d, face.points[k])
            if here > most:
                most = here
                top = k
        k = top + 1 if top + 1 < face.count else 0
        other = top - 1 if top > 0 else face.count - 1
        if dot(d, face.points[k]) > dot(d, face.points[other]):
            other = k
        ridge.u = normalized(sub(face.points[other], face.points[top]))
        ridge.c = 0.0
        ridge.there = fabs(dot(ridge.u, n)) < NEARBY
    return ridge


cdef inline void try_circle(Overlap* x, const Ridge* ridge) noexcept nogil:
    """The maximum on the circle n . u = c: with e and f unit vectors at right angles to u, n = c u + k e, and f = u x e the
    way on, s' = k f . w and s'' = -k^2 f . (bend_a + bend_b) f - k e . w."""
    cdef double k = sqrt(1.0 - ridge.c * ridge.c)
    cdef double along = dot(x.rough, ridge.u)
    cdef Vec3 e = normalized(add_scaled(x.rough, -along, ridge.u))
    cdef Vec3 n, f, w, pa
    cdef double slope, second
    cdef int _
    if dot(e, e) == 0.0:
        return
    for _ in range(NEWTON_STEPS):
        n = add_scaled(scale(ridge.c, ridge.u), k, e)
        if is_far(x, n):
            return
        f = cross(ridge.u, e)
        take(x, n, parted(x, n, &w, &pa))
        slope = k * dot(f, w)
        if fabs(slope) <= LEVEL * x.size:
            return
        second = -k * k * dot(f, add(bend(x.a, n, f), bend(x.b, neg(n), f))) - k * dot(e, w)
        e = normalized(add_scaled(e, slope / max(-second, fabs(slope) / LONGEST), f))


cdef inline void try_crossing(Overlap* x, const Ridge* r, const Ridge* t) noexcept nogil:
    """Where the circles of A and of B cross: n = f u + g v + h u x v."""
    cdef double d = dot(r.u, t.u)
    cdef Vec3 across = cross(r.u, t.u)
    cdef double sine2 = dot(across, across)
    cdef double f, g, rest
    if sine2 < LEAST_CROSSED2:
        return
    f = (r.c - d * t.c) / sine2
    g = (t.c - d * r.c) / sine2
    rest = 1.0 - (f * r.c + g * t.c)
    if rest < 0.0:
        return
    rest = sqrt(rest / sine2)
    if dot(across, x.rough) < 0.0:
        rest = -rest
    try_one(x, normalized(add_scaled(add(scale(f, r.u), scale(g, t.u)), rest, across)))


cdef inline void try_smooth(Overlap* x) noexcept nogil:
    """A maximum on no circle: Newton's method in the plane at right angles to n, of (bend_a + bend_b + s) step = w. Where
    that is no hill, or a step is too long, the least eigenvalue is made so large that the step is as long as allowed."""
    cdef Vec3 n = x.rough
    cdef Vec3 w, pa, f, g, along_f, along_g
    cdef double s, gf, gg, ff, fg, gg2, det, least, more, step_f, step_g
    cdef int _
    for _ in range(NEWTON_STEPS):
        if is_far(x, n):
            return
        s = parted(x, n, &w, &pa)
        take(x, n, s)
        f = perpendicular(n)
        g = cross(n, f)
        gf = dot(w, f)
        gg = dot(w, g)
        if gf * gf + gg * gg <= LEVEL * LEVEL * x.size * x.size:
            return
        along_f = add(bend(x.a, n, f), bend(x.b, neg(n), f))
        along_g = add(bend(x.a, n, g), bend(x.b, neg(n), g))
        ff = dot(f, along_f) + s
        fg = dot(f, along_g)
        gg2 = dot(g, along_g) + s
        least = 0.5 * (ff + gg2) - sqrt(0.25 * (ff - gg2) * (ff - gg2) + fg * fg)
        more = max(0.0, sqrt(gf * gf + gg * gg) / LONGEST - least)
        ff += more
        gg2 += more
        det = ff * gg2 - fg * fg
        step_f = (gg2 * gf - fg * gg) / det
        step_g = (ff * gg - fg * gf) / det
        n = normalized(add_scaled(add_scaled(n, step_f, f), step_g, g))


cdef inline void lowest_part(Polygon* face, Vec3 d, double size) noexcept nogil:
    """Leave of what supports a solid the points that are as far along d as any: one, the two ends of a line, or all."""
    cdef double most = -INFINITY
    cdef int k
    cdef int kept = 0
    for k in range(face.count):
        most = max(most, dot(d, face.points[k]))
    for k in range(face.count):
        if dot(d, face.points[k]) >= most - FLAT * size:
            face.points[kept] = face.points[k]
            kept += 1
    face.count = kept if face.disc == 0.0 or kept == face.count else 1       # of a disc that leans a point of its rim


cdef inline bint meet_on_lines(Overlap* x, const Vec3* p, const Vec3* q) noexcept nogil:
    """A's deepest point where two lines touch, p[0] p[1] of A and q[0] q[1] of B: where they pass each other, or, side by
    side, in the middle of what they have in common. -> whether they do"""
    cdef Vec3 l = sub(p[1], p[0])
    cdef Vec3 m = sub(q[1], q[0])
    cdef Vec3 w = sub(q[0], p[0])
    cdef double ll = dot(l, l)
    cdef double mm = dot(m, m)
    cdef double lm = dot(l, m)
    cdef double lw = dot(l, w)
    cdef double mw = dot(m, w)
    cdef double det = ll * mm - lm * lm
    cdef double i, j, first, last
    if det > LEAST_CROSSED2 * ll * mm:
        i = (mm * lw - lm * mw) / det
        j = (lm * lw - ll * mw) / det
        x.on_a = add_scaled(p[0], i, l)
        return -FLAT <= i <= 1.0 + FLAT and -FLAT <= j <= 1.0 + FLAT
    first = max(0.0, min(lw, lw + lm) / ll)
    last = min(1.0, max(lw, lw + lm) / ll)
    x.on_a = add_scaled(p[0], 0.5 * (first + last), l)
    return first <= last + FLAT


cdef inline bint is_over(const Polygon* face, Vec3 n, Vec3 p, double size) noexcept nogil:
    """Whether p lies on a line or a face, seen along n."""
    cdef Vec3 d, edge, middle
    cdef double along
    cdef double side = 0.0
    cdef int k
    if face.count == 2:
        edge = sub(face.points[1], face.points[0])
        d = sub(p, face.points[0])
        along = dot(d, edge) / dot(edge, edge)
        d = add_scaled(d, -along, edge)
        d = add_scaled(d, -dot(d, n), n)
        return -FLAT <= along <= 1.0 + FLAT and dot(d, d) <= FLAT * FLAT * size * size
    if face.disc > 0.0:
        middle = scale(0.5, add(face.points[0], face.points[face.count // 2]))
        d = sub(p, middle)
        d = add_scaled(d, -dot(d, n), n)
        return norm(d) <= face.disc + FLAT * size
    for k in range(face.count):
        edge = sub(face.points[k + 1 if k + 1 < face.count else 0], face.points[k])
        along = dot(n, cross(edge, sub(p, face.points[k])))
        if fabs(along) > FLAT * size * norm(edge):
            if along * side < 0.0:
                return False
            side = along
    return True


cdef inline bint deepest_point(Overlap* x) noexcept nogil:
    """A's deepest point, where what of A faces n and what of B faces it lie on each other, as they do at a maximum alone.
    -> whether they do"""
    cdef Polygon face_a, face_b
    cdef Contact contacts[MAX_CONTACTS]
    cdef Vec3 w, pa, d
    cdef double s = parted(x, x.n, &w, &pa)
    cdef int k, count
    supporting_feature(x.a, x.n, vec3(0.0, 0.0, 0.0), &face_a)
    supporting_feature(x.b, neg(x.n), x.offset, &face_b)
    lowest_part(&face_a, x.n, x.size)
    lowest_part(&face_b, neg(x.n), x.size)
    if face_a.count <= 1 and face_b.count <= 1:
        x.on_a = pa
        d = add_scaled(w, -s, x.n)
        return dot(d, d) <= FLAT * FLAT * x.size * x.size
    if face_a.count == 2 and face_b.count == 2:
        if not meet_on_lines(x, face_a.points, face_b.points):
            return False
        x.on_a = add_scaled(x.on_a, -core_radius(x.a), x.n)      # features are those of the swept solids
        return True
    if face_a.count <= 1:
        x.on_a = pa
        return is_over(&face_b, x.n, pa, x.size)
    if face_b.count <= 1:
        x.on_a = add_scaled(add(pa, w), -s, x.n)
        return is_over(&face_a, x.n, x.on_a, x.size)
    count = features_overlap(&face_a, &face_b, x.n, INFINITY, contacts)
    if count == 0:
        return False
    x.on_a = vec3(0.0, 0.0, 0.0)
    for k in range(count):
        x.on_a = add_scaled(x.on_a, 1.0 / count, contacts[k].position)
    x.on_a = add_scaled(x.on_a, -0.5 * (s + core_radius(x.a) - core_radius(x.b)), x.n)   # midway between the swept solids
    return True


cdef inline bint exact_axis(Overlap* x) noexcept nogil:
    """From the rough axis to the best nearby. -> whether it is a maximum; then on_a is A's deepest point."""
    cdef Polygon face_a, face_b
    cdef Ridge a, b
    supporting_feature(x.a, x.rough, vec3(0.0, 0.0, 0.0), &face_a)
    supporting_feature(x.b, neg(x.rough), x.offset, &face_b)
    if face_a.count >= 3:
        try_one(x, face_a.normal)
    if face_b.count >= 3:
        try_one(x, neg(face_b.normal))
    if not is_curved(x.a) and not is_curved(x.b):
        return True
    a = ridge_of(x.a, 1.0, x.rough, &face_a)
    b = ridge_of(x.b, -1.0, x.rough, &face_b)
    if a.there and b.there:
        try_crossing(x, &a, &b)
    if a.there:
        try_circle(x, &a)
    if b.there:
        try_circle(x, &b)
    if not (face_a.count >= 3 and face_a.disc == 0.0) and not (face_b.count >= 3 and face_b.disc == 0.0):
        try_smooth(x)
    return deepest_point(x)
