"""A cone along z: radius size.x of the base at z = -size.y, the apex at z = size.y. docs/theory/cone.md

In the plane through the axis, radial distance first, its side runs from the apex along (r, -H) / l and has the normal
(H, r) / l, with the height H = 2 size.y and the length l = sqrt(r^2 + H^2) of a ruling.
"""

from mcsim.collide.shapes._parts cimport *

cdef extern from *:
    """
    /* Sine of the angle by which a cone may lean from its side and still roll on it. */
    #define MC_LYING 1e-2
    """
    const double LYING "MC_LYING"


cdef inline double ruling_length(const Solid* s) noexcept nogil:
    return sqrt(s.size.x * s.size.x + 4.0 * s.size.y * s.size.y)


cdef inline Vec3 side_at(const Solid* s, Vec3 x, double* radial) noexcept nogil:
    """The side's normal on the half plane through x; radial: how far x is from the axis."""
    cdef double l = ruling_length(s)
    cdef double across = 2.0 * s.size.y / l
    radial[0] = sqrt(x.x * x.x + x.y * x.y)
    if radial[0] > 0.0:
        return vec3(across * (x.x / radial[0]), across * (x.y / radial[0]), s.size.x / l)
    return vec3(across, 0.0, s.size.x / l)


cdef inline double along_side(const Solid* s, Vec3 d) noexcept nogil:
    """The part of the unit vector d along the ruling on its half plane, down from the apex."""
    return (s.size.x * sqrt(d.x * d.x + d.y * d.y) - 2.0 * s.size.y * d.z) / ruling_length(s)


cdef inline double rounding_cone(const Solid* s, Vec3 d, Vec3 turn) noexcept nogil:
    """A cone on its side is round to the distance from the apex times r / H: that where it bears its weight, below its
    centre of mass. A rim on edge is round as a cylinder's, apex and base are not."""
    cdef Vec3 local = mat_t_vec(s.axes, d)
    cdef double along = along_side(s, local)
    if along > LYING:
        return s.rounding + s.size.x * sqrt(local.x * local.x + local.y * local.y)
    return s.rounding + (1.5 * s.size.y * s.size.x / ruling_length(s) if along >= -LYING else 0.0)


cdef inline double inner_radius_cone(const Solid* s) noexcept nogil:
    return 2.0 * s.size.x * s.size.y / (s.size.x + ruling_length(s))


cdef inline int ball_count_cone(const Solid* s) noexcept nogil:
    return 6


cdef inline double ball_cone(const Solid* s, int k, Vec3* centre) noexcept nogil:
    """One in the middle, one towards the apex, four towards the rim."""
    cdef double r = inner_radius_cone(s)
    centre[0] = vec3(0.0, 0.0, r - s.size.y)
    if k == 0:
        return 0.5 * r
    centre.z = 0.25 * centre.z + (0.75 * s.size.y if k == 1 else -0.75 * s.size.y)
    if k == 2 or k == 3:
        centre.x = 0.75 * s.size.x if k == 2 else -0.75 * s.size.x
    elif k > 3:
        centre.y = 0.75 * s.size.x if k == 4 else -0.75 * s.size.x
    return 0.25 * r


cdef inline Vec3 middle_cone(const Solid* s) noexcept nogil:
    return scale(inner_radius_cone(s) - s.size.y, mat_column(s.axes, 2))


cdef inline double reach_cone(const Solid* s) noexcept nogil:
    return sqrt(s.size.x * s.size.x + s.size.y * s.size.y)


cdef inline Vec3 support_cone(const Solid* s, Vec3 local) noexcept nogil:
    cdef double radial = sqrt(local.x * local.x + local.y * local.y)
    if 2.0 * s.size.y * local.z >= s.size.x * radial:
        return scale(s.size.y, mat_column(s.axes, 2))
    radial = s.size.x / radial if radial > 0.0 else 0.0
    return mat_vec(s.axes, vec3(radial * local.x, radial * local.y, -s.size.y))


cdef inline bint curved_cone(const Solid* s) noexcept nogil:
    return True


cdef inline Vec3 bend_cone(const Solid* s, Vec3 d, Vec3 e) noexcept nogil:
    if 2.0 * s.size.y * d.z >= s.size.x * sqrt(d.x * d.x + d.y * d.y):
        return vec3(0.0, 0.0, 0.0)
    return bend_of_rim(s.size.x, d, e)


cdef inline Vec3 beside_cone(const Solid* s, Vec3 local) noexcept nogil:
    cdef double radial
    return side_at(s, local, &radial)


cdef inline Aabb bounds_cone(const Solid* s) noexcept nogil:
    cdef Aabb box
    cdef Vec3 apex = scale(s.size.y, mat_column(s.axes, 2))
    cdef Vec3 disc = disc_reach(mat_column(s.axes, 2), s.size.x)
    box.lower = vec3(min(apex.x, -apex.x - disc.x), min(apex.y, -apex.y - disc.y), min(apex.z, -apex.z - disc.z))
    box.upper = vec3(max(apex.x, disc.x - apex.x), max(apex.y, disc.y - apex.y), max(apex.z, disc.z - apex.z))
    box.lower = add(s.position, box.lower)
    box.upper = add(s.position, box.upper)
    return box


cdef inline int chord_cone(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """The line p = q + t d, q its point nearest to the origin, is inside the cone and its mirror image past the apex where
    f = H^2 (x^2 + y^2) - r^2 (z - H/2)^2 = a t^2 + 2 b t + e <= 0: between the roots or, where it is steeper than a ruling,
    outside of them, down from the apex on one side only. Face 0 is the base."""
    cdef double start = -dot(o, d)
    cdef Vec3 q = add_scaled(o, start, d)
    cdef double across = 4.0 * s.size.y * s.size.y
    cdef double down = s.size.x * s.size.x
    cdef double z = q.z - s.size.y
    cdef double a = across * (d.x * d.x + d.y * d.y) - down * d.z * d.z
    cdef double b = across * (q.x * d.x + q.y * d.y) - down * z * d.z
    cdef double e = across * (q.x * q.x + q.y * q.y) - down * z * z
    if not nappe_chord(a, b, e, d.z < 0.0, start, c):
        return 0
    return cut(c, o.z - s.size.y, d.z, -1) and cut(c, -o.z - s.size.y, -d.z, 0)


cdef inline Vec3 outward_cone(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    cdef double radial
    return vec3(0.0, 0.0, -1.0) if face == 0 else side_at(s, p, &radial)


cdef inline void feature_cone(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    """The base, or the ruling on the side that faces the direction: whichever looks more along it."""
    cdef double radial
    cdef Vec3 side = side_at(s, local, &radial)
    if -local.z >= dot(side, local):
        disc_polygon(s, s.size.x, -s.size.y, -1.0, 1.0, 0.0, origin, out)
        return
    out.radius[0] = 0.0
    out.radius[1] = 0.5 * ruling_length(s) * s.size.x / s.size.y
    radial = s.size.x / radial if radial > 0.0 else 0.0
    side = vec3(radial * local.x, radial * local.y, -s.size.y) if radial > 0.0 else vec3(s.size.x, 0.0, -s.size.y)
    ruling_between(s, vec3(0.0, 0.0, s.size.y), side, origin, out)


cdef inline int ways_cone(const Solid* s) noexcept nogil:
    return 32


cdef inline Vec3 ruling_at(const Solid* s, Vec3 local) noexcept nogil:
    """Unit, world, down from the apex, on the half plane through the point."""
    cdef double radial
    cdef Vec3 side = side_at(s, local, &radial)
    cdef double part = side.z / sqrt(side.x * side.x + side.y * side.y)
    return mat_vec(s.axes, vec3(part * side.x, part * side.y, -2.0 * s.size.y / ruling_length(s)))


cdef inline int facing_cone(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    cdef double along
    if local.z < 0.0 and local.x * local.x + local.y * local.y <= ALIGNED * ALIGNED:
        return FACING_FACE
    along = along_side(s, local)
    if fabs(along) <= ALIGNED:
        line[0] = ruling_at(s, local)
        return FACING_LINE
    return FACING_OTHER if along > 0.0 else FACING_POINT


cdef inline double rim_cone(const Solid* s, Vec3 local) noexcept nogil:
    cdef Vec3 line
    return s.size.x if along_side(s, local) > LYING and facing_cone(s, local, &line) == FACING_OTHER else 0.0


cdef inline Vec3 edge_cone(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    if i >= SIDE_ID:
        return ruling_at(s, mat_t_vec(s.axes, sub(at, s.position)))
    return cross(mat_column(s.axes, 2), sub(at, s.position))


cdef inline int face_count_cone(const Solid* s) noexcept nogil:
    return 2


cdef inline double depth_cone(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    cdef double radial
    if k == 0:
        normal[0] = vec3(0.0, 0.0, -1.0)
        return x.z + s.size.y
    normal[0] = side_at(s, x, &radial)
    return -dot(normal[0], vec3(x.x, x.y, x.z - s.size.y))


cdef inline bint point_cone(const Solid* s, Vec3 c, double* distance, Vec3* normal) noexcept nogil:
    cdef double l = ruling_length(s)
    cdef double radial, t, over_side, over_base
    cdef Vec3 side = side_at(s, c, &radial)
    cdef Vec3 around = vec3(c.x / radial, c.y / radial, 0.0) if radial > 0.0 else vec3(1.0, 0.0, 0.0)
    over_base = -c.z - s.size.y
    over_side = dot(side, vec3(c.x, c.y, c.z - s.size.y))
    if over_base <= 0.0 and over_side <= 0.0:
        normal[0] = side if over_side >= over_base else vec3(0.0, 0.0, -1.0)
        distance[0] = max(over_side, over_base)
        return True
    # How far down the ruling its nearest point is.
    t = min(max((s.size.x * radial - 2.0 * s.size.y * (c.z - s.size.y)) / l, 0.0), l)
    if over_base > 0.0 and radial <= s.size.x:
        normal[0] = vec3(0.0, 0.0, -1.0)
        distance[0] = over_base
    elif 0.0 < t < l:
        normal[0] = side
        distance[0] = over_side
    else:
        t /= l
        radial -= t * s.size.x
        over_side = c.z - s.size.y + 2.0 * t * s.size.y
        distance[0] = away_from(vec3(radial * around.x, radial * around.y, over_side), side, normal)
    return True
