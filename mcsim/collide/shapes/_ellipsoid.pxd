"""An ellipsoid: radii size.x, size.y, size.z. docs/theory/ellipsoid.md

With S = diag(radii) it reaches h(d) = |S d| along the unit vector d, at the point S^2 d / h. A ball as small as its
smallest radius of curvature, min^2 / max of the radii, rolls inside it everywhere; so the ellipsoid is a core, which
reaches h(d) - r, swept by a ball of any radius r up to that (Blaschke, "Kreis und Kugel", 1916, section 24). With half of
it the core is smooth and has an inside, and shallow contacts are found by the distance of cores that are apart.
"""

from mcsim.collide.shapes._parts cimport *

cdef extern from *:
    """
    /* Angle by which a normal must turn for the place that it belongs to to be told from another [rad]: rounding. */
    #define MC_TURNED 1e-6
    """
    const double TURNED "MC_TURNED"


cdef inline Vec3 stretched(const Solid* s, Vec3 d) noexcept nogil:
    return vec3(s.size.x * d.x, s.size.y * d.y, s.size.z * d.z)


cdef inline Vec3 shrunk(const Solid* s, Vec3 p) noexcept nogil:
    """To the unit ball."""
    return vec3(p.x / s.size.x, p.y / s.size.y, p.z / s.size.z)


cdef inline double shortest(const Solid* s) noexcept nogil:
    return min(s.size.x, min(s.size.y, s.size.z))


cdef inline double core_radius_ellipsoid(const Solid* s) noexcept nogil:
    return 0.5 * shortest(s) * (shortest(s) / reach_ellipsoid(s))


cdef inline Vec3 place_facing(const Solid* s, Vec3 local) noexcept nogil:
    """The point of the surface whose normal is along the direction: S^2 d / |S d|."""
    cdef Vec3 once = stretched(s, local)
    return scale(1.0 / norm(once), stretched(s, once))


cdef inline Vec3 support_ellipsoid(const Solid* s, Vec3 local) noexcept nogil:
    cdef double length = norm(local)
    cdef Vec3 d = scale(1.0 / length, local) if length > 0.0 else vec3(1.0, 0.0, 0.0)
    return mat_vec(s.axes, add_scaled(place_facing(s, d), -core_radius_ellipsoid(s), d))


cdef inline double rounding_ellipsoid(const Solid* s, Vec3 d, Vec3 turn) noexcept nogil:
    """How far the point of contact goes for an angle that the normal turns by, in the shape's frame: over the time ahead
    where that is enough to tell the two places apart, else as the curvature of the surface has it, whose radii are the
    second derivatives of h, (S^2 - (S^2 d)(S^2 d)' / h^2) / h. At rest it is the mean of both."""
    cdef Vec3 local = mat_t_vec(s.axes, d)
    cdef Vec3 way = neg(mat_t_vec(s.axes, cross(turn, d)))         # of the direction in the shape's frame
    cdef double angle2 = dot(way, way)
    cdef Vec3 once = stretched(s, local)
    cdef Vec3 twice = stretched(s, once)
    cdef double h2 = dot(once, once)
    cdef double along
    if angle2 == 0.0:
        return 0.5 * (dot(s.size, s.size) - dot(twice, twice) / h2) / sqrt(h2)
    if angle2 > TURNED * TURNED:
        way = sub(normalized(add(local, way)), local)
        return dot(sub(place_facing(s, add(local, way)), place_facing(s, local)), way) / dot(way, way)
    along = dot(twice, way)
    once = stretched(s, way)
    return (dot(once, once) - along * along / h2) / (sqrt(h2) * angle2)


cdef inline bint curved_ellipsoid(const Solid* s) noexcept nogil:
    return True


cdef inline Vec3 bend_ellipsoid(const Solid* s, Vec3 d, Vec3 e) noexcept nogil:
    """The second derivatives of h (rounding_ellipsoid) times e, less what the ball that sweeps the core makes of it."""
    cdef Vec3 once = stretched(s, d)
    cdef Vec3 twice = stretched(s, once)
    cdef double h2 = dot(once, once)
    cdef Vec3 way = add_scaled(stretched(s, stretched(s, e)), -dot(twice, e) / h2, twice)
    return add_scaled(scale(1.0 / sqrt(h2), way), -core_radius_ellipsoid(s), e)


cdef inline double inner_radius_ellipsoid(const Solid* s) noexcept nogil:
    return shortest(s)


cdef inline int ball_count_ellipsoid(const Solid* s) noexcept nogil:
    return 7


cdef inline double ball_ellipsoid(const Solid* s, int k, Vec3* centre) noexcept nogil:
    """One in the middle, one towards each end of each axis, where the smallest radius^2 / that of the axis would fit."""
    cdef double r = shortest(s)
    cdef double side = 1.0 if k & 1 else -1.0
    centre[0] = vec3(0.0, 0.0, 0.0)
    if k == 0:
        return 0.5 * r
    if k <= 2:
        r *= r / s.size.x
        centre.x = side * (s.size.x - r)
    elif k <= 4:
        r *= r / s.size.y
        centre.y = side * (s.size.y - r)
    else:
        r *= r / s.size.z
        centre.z = side * (s.size.z - r)
    return 0.5 * r


cdef inline double reach_ellipsoid(const Solid* s) noexcept nogil:
    return max(s.size.x, max(s.size.y, s.size.z))


cdef inline Aabb bounds_ellipsoid(const Solid* s) noexcept nogil:
    """Along a world axis it reaches as far as that axis, seen from the shape, is stretched."""
    return about(s.position, vec3(norm(stretched(s, vec3(s.axes.xx, s.axes.xy, s.axes.xz))),
                                  norm(stretched(s, vec3(s.axes.yx, s.axes.yy, s.axes.yz))),
                                  norm(stretched(s, vec3(s.axes.zx, s.axes.zy, s.axes.zz)))))


cdef inline int chord_ellipsoid(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """That of the unit ball, of a line that is shrunk with it; places along a line stay in proportion."""
    cdef Vec3 way = shrunk(s, d)
    cdef double length = norm(way)
    if not ball_chord(shrunk(s, o), scale(1.0 / length, way), 1.0, c):
        return 0
    c.enter /= length
    c.leave /= length
    return 1


cdef inline Vec3 outward_ellipsoid(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    return normalized(shrunk(s, shrunk(s, p)))


cdef inline int facing_ellipsoid(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    return FACING_POINT
