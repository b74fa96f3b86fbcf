"""A cylinder along z: radius size.x, half length size.y."""

from mcsim.collide.shapes._parts cimport *


cdef inline double rounding_cylinder(const Solid* s, Vec3 d, Vec3 turn) noexcept nogil:
    """A rim on edge is round, a cap on its face is not."""
    return s.rounding + s.size.x * norm(cross(d, mat_column(s.axes, 2)))


cdef inline double inner_radius_cylinder(const Solid* s) noexcept nogil:
    return min(s.size.x, s.size.y)


cdef inline int ball_count_cylinder(const Solid* s) noexcept nogil:
    return 3


cdef inline double ball_cylinder(const Solid* s, int k, Vec3* centre) noexcept nogil:
    cdef double r = inner_radius_cylinder(s)
    centre[0] = vec3(0.0, 0.0, 0.0)
    if k > 0:
        centre.z = s.size.y - r if k == 1 else -(s.size.y - r)
    return 0.5 * r


cdef inline double reach_cylinder(const Solid* s) noexcept nogil:
    return sqrt(s.size.x * s.size.x + s.size.y * s.size.y)


cdef inline Vec3 support_cylinder(const Solid* s, Vec3 local) noexcept nogil:
    cdef double radial = sqrt(local.x * local.x + local.y * local.y)
    radial = s.size.x / radial if radial > 0.0 else 0.0
    return mat_vec(s.axes, vec3(radial * local.x, radial * local.y, s.size.y if local.z >= 0.0 else -s.size.y))


cdef inline bint curved_cylinder(const Solid* s) noexcept nogil:
    return True


cdef inline Vec3 bend_cylinder(const Solid* s, Vec3 d, Vec3 e) noexcept nogil:
    return bend_of_rim(s.size.x, d, e)


cdef inline Aabb bounds_cylinder(const Solid* s) noexcept nogil:
    cdef Vec3 u = mat_column(s.axes, 2)
    cdef Vec3 disc = disc_reach(u, s.size.x)
    return about(s.position, vec3(s.size.y * fabs(u.x) + disc.x, s.size.y * fabs(u.y) + disc.y,
                                  s.size.y * fabs(u.z) + disc.z))


cdef inline int chord_cylinder(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    return tube_chord(o, d, s.size.x, s.size.y, c)


cdef inline Vec3 outward_cylinder(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    if face < 0:
        return scale(1.0 / s.size.x, vec3(p.x, p.y, 0.0))
    return vec3(0.0, 0.0, 1.0 if face == 0 else -1.0)


cdef inline void feature_cylinder(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    cdef double radial = sqrt(local.x * local.x + local.y * local.y)
    cdef double side = 1.0 if local.z >= 0.0 else -1.0
    if radial > 0.70710678118654752440:
        tube_ruling(s, local, radial, origin, out)
    else:
        disc_polygon(s, s.size.x, side * s.size.y, side, 1.0, 0.0, origin, out)


cdef inline int ways_cylinder(const Solid* s) noexcept nogil:
    return 32


cdef inline int facing_cylinder(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    if fabs(local.z) <= ALIGNED:
        line[0] = mat_column(s.axes, 2)
        return FACING_LINE
    return FACING_FACE if local.x * local.x + local.y * local.y <= ALIGNED * ALIGNED else FACING_OTHER


cdef inline double rim_cylinder(const Solid* s, Vec3 local) noexcept nogil:
    cdef Vec3 line
    return s.size.x if facing_cylinder(s, local, &line) == FACING_OTHER else 0.0


cdef inline Vec3 edge_cylinder(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    if i >= SIDE_ID:
        return mat_column(s.axes, 2)
    return cross(mat_column(s.axes, 2), sub(at, s.position))


cdef inline int face_count_cylinder(const Solid* s) noexcept nogil:
    return 3


cdef inline double depth_cylinder(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    cdef double sign = -1.0 if k & 1 else 1.0
    if k < 2:
        normal[0] = vec3(0.0, 0.0, sign)
        return s.size.y - sign * x.z
    return depth_in_ball(vec3(x.x, x.y, 0.0), s.size.x, normal)


cdef inline bint point_cylinder(const Solid* s, Vec3 c, double* distance, Vec3* normal) noexcept nogil:
    cdef double radial = sqrt(c.x * c.x + c.y * c.y)
    cdef double out = radial - s.size.x
    cdef double over = fabs(c.z) - s.size.y
    cdef double sign = 1.0 if c.z >= 0.0 else -1.0
    cdef Vec3 side = vec3(c.x / radial, c.y / radial, 0.0) if radial > 0.0 else vec3(1.0, 0.0, 0.0)
    if out > 0.0 and over > 0.0:
        distance[0] = away_from(vec3(out * side.x, out * side.y, sign * over), side, normal)
    elif out >= over:
        normal[0] = side
        distance[0] = out
    else:
        normal[0] = vec3(0.0, 0.0, sign)
        distance[0] = over
    return True
