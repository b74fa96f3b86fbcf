"""A capsule: a segment along z, size.y each way, size.x about it."""

from mcsim.collide.shapes._parts cimport *


cdef inline double core_radius_capsule(const Solid* s) noexcept nogil:
    return s.size.x


cdef inline double inner_radius_capsule(const Solid* s) noexcept nogil:
    return s.size.x


cdef inline int ball_count_capsule(const Solid* s) noexcept nogil:
    return 3


cdef inline double ball_capsule(const Solid* s, int k, Vec3* centre) noexcept nogil:
    centre[0] = vec3(0.0, 0.0, 0.0)
    if k > 0:
        centre.z = s.size.y if k == 1 else -s.size.y
    return 0.5 * s.size.x


cdef inline double reach_capsule(const Solid* s) noexcept nogil:
    return s.size.x + s.size.y


cdef inline Vec3 support_capsule(const Solid* s, Vec3 local) noexcept nogil:
    return scale(s.size.y if local.z >= 0.0 else -s.size.y, mat_column(s.axes, 2))


cdef inline Aabb bounds_capsule(const Solid* s) noexcept nogil:
    cdef Vec3 u = mat_column(s.axes, 2)
    return about(s.position, vec3(s.size.x + s.size.y * fabs(u.x), s.size.x + s.size.y * fabs(u.y),
                                  s.size.x + s.size.y * fabs(u.z)))


cdef inline int chord_capsule(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """Its cylinder and its two balls are convex, and so are the three together: the chords join to one."""
    cdef Chord piece
    cdef int end
    cdef int found = tube_chord(o, d, s.size.x, s.size.y, c)
    for end in range(2):
        if not ball_chord(vec3(o.x, o.y, o.z + (s.size.y if end else -s.size.y)), d, s.size.x, &piece):
            continue
        if not found or piece.enter < c.enter:
            c.enter = piece.enter
        if not found or piece.leave > c.leave:
            c.leave = piece.leave
        found = 1
    return found


cdef inline Vec3 outward_capsule(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    cdef double z = -s.size.y if p.z < -s.size.y else (s.size.y if p.z > s.size.y else p.z)
    return scale(1.0 / s.size.x, vec3(p.x, p.y, p.z - z))


cdef inline void feature_capsule(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    cdef double radial = sqrt(local.x * local.x + local.y * local.y)
    if radial > 0.70710678118654752440:
        tube_ruling(s, local, radial, origin, out)


cdef inline int facing_capsule(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    if fabs(local.z) > ALIGNED:
        return FACING_POINT
    line[0] = mat_column(s.axes, 2)
    return FACING_LINE


cdef inline Vec3 edge_capsule(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    return mat_column(s.axes, 2) if i >= SIDE_ID else vec3(0.0, 0.0, 0.0)


cdef inline double depth_capsule(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    x.z -= min(max(x.z, -s.size.y), s.size.y)
    return depth_in_ball(x, s.size.x, normal)


cdef inline bint point_capsule(const Solid* s, Vec3 local, double* distance, Vec3* normal) noexcept nogil:
    cdef double t = -s.size.y if local.z < -s.size.y else (s.size.y if local.z > s.size.y else local.z)
    distance[0] = away_from(vec3(local.x, local.y, local.z - t), vec3(1.0, 0.0, 0.0), normal) - s.size.x
    return True
