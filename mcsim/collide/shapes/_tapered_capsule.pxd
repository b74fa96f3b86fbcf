"""A tapered capsule: the hull of a ball of radius size.x about z = -size.z and one of size.y about z = size.z.
docs/theory/tapered_capsule.md

The normals of its side lean to z by an angle with the sine s = (size.x - size.y) / (2 size.z): the side touches both
balls. In the plane through the axis, radial distance first, they are (c, s) with c = sqrt(1 - s^2), and a ruling runs
along (-s, c) from the bottom to the top. The core is the same shape with both radii less by half of the smaller: it has
an inside.
"""

from mcsim.collide.shapes._parts cimport *

cdef extern from *:
    """
    /* Sine of the angle by which a tapered capsule may lean from its side and still roll on it. */
    #define MC_ON_ITS_SIDE 1e-2
    """
    const double ON_ITS_SIDE "MC_ON_ITS_SIDE"


cdef inline double leaning(const Solid* s) noexcept nogil:
    """The sine s."""
    return 0.5 * (s.size.x - s.size.y) / s.size.z


cdef inline double upright_part(const Solid* s) noexcept nogil:
    """The cosine c."""
    cdef double lean = leaning(s)
    return sqrt((1.0 - lean) * (1.0 + lean))


cdef inline double core_radius_tapered_capsule(const Solid* s) noexcept nogil:
    return 0.5 * min(s.size.x, s.size.y)


cdef inline Vec3 support_tapered_capsule(const Solid* s, Vec3 local) noexcept nogil:
    cdef double length = norm(local)
    cdef double radius = core_radius_tapered_capsule(s)
    cdef bint top = local.z >= leaning(s) * length
    cdef Vec3 core = vec3(0.0, 0.0, s.size.z if top else -s.size.z)
    if length > 0.0:
        core = add_scaled(core, ((s.size.y if top else s.size.x) - radius) / length, local)
    return mat_vec(s.axes, core)


cdef inline Vec3 side_of_taper(const Solid* s, Vec3 x, double* radial) noexcept nogil:
    """The side's normal on the half plane through x; radial: how far x is from the axis."""
    cdef double c = upright_part(s)
    radial[0] = sqrt(x.x * x.x + x.y * x.y)
    if radial[0] > 0.0:
        return vec3(c * (x.x / radial[0]), c * (x.y / radial[0]), leaning(s))
    return vec3(c, 0.0, leaning(s))


cdef inline Vec3 ruling_of_taper(const Solid* s, Vec3 x) noexcept nogil:
    """Unit, world, towards the top, on the half plane through x."""
    cdef double radial
    cdef Vec3 side = side_of_taper(s, x, &radial)
    cdef double c = upright_part(s)
    return mat_vec(s.axes, vec3(-side.z * side.x / c, -side.z * side.y / c, c))


cdef inline double along_taper(const Solid* s, Vec3 local) noexcept nogil:
    """The part of a unit vector along the ruling on its half plane, towards the top."""
    return upright_part(s) * local.z - leaning(s) * sqrt(local.x * local.x + local.y * local.y)


cdef inline double rounding_tapered_capsule(const Solid* s, Vec3 d, Vec3 turn) noexcept nogil:
    """That of the ball that faces d. On its side it is round as it is half-way along a ruling: the two points that it then
    has are one manifold, which has one rounding."""
    cdef double along = along_taper(s, mat_t_vec(s.axes, d))
    if along > ON_ITS_SIDE:
        return s.size.y
    return s.size.x if along < -ON_ITS_SIDE else 0.5 * (s.size.x + s.size.y)


cdef inline bint curved_tapered_capsule(const Solid* s) noexcept nogil:
    return True


cdef inline Vec3 bend_tapered_capsule(const Solid* s, Vec3 d, Vec3 e) noexcept nogil:
    return scale((s.size.y if d.z >= leaning(s) else s.size.x) - core_radius_tapered_capsule(s), e)


cdef inline Vec3 beside_tapered_capsule(const Solid* s, Vec3 local) noexcept nogil:
    cdef double radial
    return side_of_taper(s, local, &radial)


cdef inline double inner_radius_tapered_capsule(const Solid* s) noexcept nogil:
    """About the origin: its distance from the side."""
    return 0.5 * (s.size.x + s.size.y)


cdef inline int ball_count_tapered_capsule(const Solid* s) noexcept nogil:
    return 3


cdef inline double ball_tapered_capsule(const Solid* s, int k, Vec3* centre) noexcept nogil:
    centre[0] = vec3(0.0, 0.0, 0.0)
    if k == 0:
        return 0.5 * inner_radius_tapered_capsule(s)
    centre.z = s.size.z if k == 1 else -s.size.z
    return 0.5 * (s.size.y if k == 1 else s.size.x)


cdef inline double reach_tapered_capsule(const Solid* s) noexcept nogil:
    return s.size.z + max(s.size.x, s.size.y)


cdef inline Aabb bounds_tapered_capsule(const Solid* s) noexcept nogil:
    """The box about both balls."""
    cdef Aabb box
    cdef Vec3 top = scale(s.size.z, mat_column(s.axes, 2))
    cdef double r = s.size.x
    cdef double q = s.size.y
    box.lower = add(s.position, vec3(min(top.x - q, -top.x - r), min(top.y - q, -top.y - r), min(top.z - q, -top.z - r)))
    box.upper = add(s.position, vec3(max(top.x + q, r - top.x), max(top.y + q, r - top.y), max(top.z + q, r - top.z)))
    return box


cdef inline int side_chord(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """The piece of a line in the frustum between the circles in which its side touches the balls. With the mean m of the
    radii the frustum is where c^2 (x^2 + y^2) <= (m - s z)^2, and m > s z."""
    cdef double lean = leaning(s)
    cdef double square = (1.0 - lean) * (1.0 + lean)
    cdef double start = -dot(o, d)
    cdef Vec3 q = add_scaled(o, start, d)
    cdef double wide = 0.5 * (s.size.x + s.size.y) - lean * q.z
    if not nappe_chord(square * (d.x * d.x + d.y * d.y) - lean * lean * d.z * d.z,
                       square * (q.x * d.x + q.y * d.y) + lean * wide * d.z,
                       square * (q.x * q.x + q.y * q.y) - wide * wide, lean * d.z < 0.0, start, c):
        return 0
    return cut(c, o.z - s.size.z - lean * s.size.y, d.z, -1) and cut(c, lean * s.size.x - s.size.z - o.z, -d.z, -1)


cdef inline int chord_tapered_capsule(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """Its frustum and its two balls are convex, and so are the three together: the chords join to one."""
    cdef Chord piece
    cdef int end
    cdef int found = side_chord(s, o, d, c)
    for end in range(2):
        if not ball_chord(vec3(o.x, o.y, o.z + (s.size.z if end else -s.size.z)), d, s.size.x if end else s.size.y,
                          &piece):
            continue
        if not found:
            c[0] = piece
        c.enter = min(c.enter, piece.enter)
        c.leave = max(c.leave, piece.leave)
        found = 1
    c.enter_face = c.leave_face = -1
    return found


cdef inline double off_taper(const Solid* s, Vec3 x, Vec3* normal) noexcept nogil:
    """Signed distance of a point [m], and its gradient, outward: from the side where the point's foot on a ruling lies
    between the balls, else from one of them."""
    cdef double radial
    cdef Vec3 side = side_of_taper(s, x, &radial)
    cdef double c = upright_part(s)
    cdef double up = c * (x.z + s.size.z) - side.z * radial        # along the ruling, from the bottom
    normal[0] = side
    if up <= 0.0:
        return away_from(vec3(x.x, x.y, x.z + s.size.z), side, normal) - s.size.x
    if up >= 2.0 * c * s.size.z:
        return away_from(vec3(x.x, x.y, x.z - s.size.z), side, normal) - s.size.y
    return c * radial + side.z * (x.z + s.size.z) - s.size.x


cdef inline Vec3 outward_tapered_capsule(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    cdef Vec3 normal
    off_taper(s, p, &normal)
    return normal


cdef inline void feature_tapered_capsule(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    """The ruling that faces the direction, if its normal is within 45 degrees of it."""
    cdef double radial
    cdef Vec3 side = side_of_taper(s, local, &radial)
    if dot(side, local) > 0.70710678118654752440:
        out.radius[0] = s.size.y
        out.radius[1] = s.size.x
        ruling_between(s, add_scaled(vec3(0.0, 0.0, s.size.z), s.size.y, side),
                       add_scaled(vec3(0.0, 0.0, -s.size.z), s.size.x, side), origin, out)


cdef inline int facing_tapered_capsule(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    if fabs(along_taper(s, local)) > ALIGNED:
        return FACING_POINT
    line[0] = ruling_of_taper(s, local)
    return FACING_LINE


cdef inline Vec3 edge_tapered_capsule(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    return ruling_of_taper(s, mat_t_vec(s.axes, sub(at, s.position))) if i >= SIDE_ID else vec3(0.0, 0.0, 0.0)


cdef inline double depth_tapered_capsule(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    return -off_taper(s, x, normal)


cdef inline bint point_tapered_capsule(const Solid* s, Vec3 local, double* distance, Vec3* normal) noexcept nogil:
    distance[0] = off_taper(s, local, normal)
    return True
