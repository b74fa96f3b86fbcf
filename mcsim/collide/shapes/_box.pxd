"""A box: size holds its half extents."""

from mcsim.collide.shapes._parts cimport *


cdef inline double inner_radius_box(const Solid* s) noexcept nogil:
    return min(s.size.x, min(s.size.y, s.size.z))


cdef inline int ball_count_box(const Solid* s) noexcept nogil:
    return 9


cdef inline double ball_box(const Solid* s, int k, Vec3* centre) noexcept nogil:
    cdef double r = inner_radius_box(s)
    cdef Vec3 c = vec3(0.0, 0.0, 0.0)
    if k > 0:
        c = sub(s.size, vec3(r, r, r))
        c = vec3(c.x if (k - 1) & 1 else -c.x, c.y if (k - 1) & 2 else -c.y, c.z if (k - 1) & 4 else -c.z)
    centre[0] = c
    return 0.5 * r


cdef inline double reach_box(const Solid* s) noexcept nogil:
    return norm(s.size)


cdef inline Vec3 support_box(const Solid* s, Vec3 local) noexcept nogil:
    return mat_vec(s.axes, vec3(s.size.x if local.x >= 0.0 else -s.size.x,
                                s.size.y if local.y >= 0.0 else -s.size.y,
                                s.size.z if local.z >= 0.0 else -s.size.z))


cdef inline Aabb bounds_box(const Solid* s) noexcept nogil:
    return about(s.position, reach_along(s, s.size))


cdef inline int chord_box(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """Faces: 0, 1, 2 those out along x, y, z; 3, 4, 5 the opposite ones."""
    cdef Vec3 half = s.size
    return (cut(c, o.x - half.x, d.x, 0) and cut(c, -o.x - half.x, -d.x, 3)
            and cut(c, o.y - half.y, d.y, 1) and cut(c, -o.y - half.y, -d.y, 4)
            and cut(c, o.z - half.z, d.z, 2) and cut(c, -o.z - half.z, -d.z, 5))


cdef inline Vec3 outward_box(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    cdef double sign = 1.0 if face < 3 else -1.0
    return vec3(sign if face % 3 == 0 else 0.0, sign if face % 3 == 1 else 0.0, sign if face % 3 == 2 else 0.0)


cdef inline void feature_box(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    cdef int k = 0
    cdef int i, bits, u, v
    cdef double x[3]
    cdef double half[3]
    cdef double sign
    cdef double corner[3]
    x[0] = local.x
    x[1] = local.y
    x[2] = local.z
    half[0] = s.size.x
    half[1] = s.size.y
    half[2] = s.size.z
    if fabs(x[1]) > fabs(x[k]):
        k = 1
    if fabs(x[2]) > fabs(x[k]):
        k = 2
    u = (k + 1) % 3
    v = (k + 2) % 3
    sign = 1.0 if x[k] >= 0.0 else -1.0
    out.count = 4
    out.normal = scale(sign, mat_column(s.axes, k))
    for i in range(4):
        # (+ +) (- +) (- -) (+ -) for an upper face; mirrored in u for a lower one.
        corner[k] = sign * half[k]
        corner[u] = half[u] * sign * (1.0 if i == 0 or i == 3 else -1.0)
        corner[v] = half[v] * (1.0 if i < 2 else -1.0)
        bits = (1 if corner[0] > 0.0 else 0) | (2 if corner[1] > 0.0 else 0) | (4 if corner[2] > 0.0 else 0)
        out.id[i] = bits
        out.points[i] = add(origin, mat_vec(s.axes, vec3(corner[0], corner[1], corner[2])))


cdef inline int facing_box(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    cdef int across = (fabs(local.x) <= ALIGNED) + (fabs(local.y) <= ALIGNED) + (fabs(local.z) <= ALIGNED)
    if across == FACING_LINE:
        line[0] = mat_column(s.axes, 0 if fabs(local.x) <= ALIGNED else (1 if fabs(local.y) <= ALIGNED else 2))
    return across


cdef inline Vec3 edge_box(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    if i == j:
        return vec3(0.0, 0.0, 0.0)
    return mat_column(s.axes, 0 if (i ^ j) & 1 else (1 if (i ^ j) & 2 else 2))


cdef inline int face_count_box(const Solid* s) noexcept nogil:
    return 6


cdef inline double depth_box(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    cdef double sign = -1.0 if k & 1 else 1.0
    if k < 2:
        normal[0] = vec3(sign, 0.0, 0.0)
        return s.size.x - sign * x.x
    if k < 4:
        normal[0] = vec3(0.0, sign, 0.0)
        return s.size.y - sign * x.y
    normal[0] = vec3(0.0, 0.0, sign)
    return s.size.z - sign * x.z


cdef inline double farthest_along(double g, double half, double x) noexcept nogil:
    """The coordinate of the points of a box that reach farthest along g, nearest to x."""
    if fabs(g) > ALIGNED:
        return half if g > 0.0 else -half
    return min(max(x, -half), half)


cdef inline Vec3 farthest_box(const Solid* s, Vec3 g, Vec3 x) noexcept nogil:
    return vec3(farthest_along(g.x, s.size.x, x.x), farthest_along(g.y, s.size.y, x.y),
                farthest_along(g.z, s.size.z, x.z))


cdef inline bint point_box(const Solid* s, Vec3 c, double* distance, Vec3* normal) noexcept nogil:
    cdef Vec3 half = s.size
    cdef Vec3 clamped = vec3(-half.x if c.x < -half.x else (half.x if c.x > half.x else c.x),
                             -half.y if c.y < -half.y else (half.y if c.y > half.y else c.y),
                             -half.z if c.z < -half.z else (half.z if c.z > half.z else c.z))
    cdef Vec3 d = sub(c, clamped)
    cdef Vec3 depth
    if d.x != 0.0 or d.y != 0.0 or d.z != 0.0:
        distance[0] = away_from(d, vec3(0.0, 0.0, 1.0), normal)
        return True
    depth = vec3(fabs(c.x) - half.x, fabs(c.y) - half.y, fabs(c.z) - half.z)
    if depth.x >= depth.y and depth.x >= depth.z:
        normal[0] = vec3(1.0 if c.x >= 0.0 else -1.0, 0.0, 0.0)
        distance[0] = depth.x
    elif depth.y >= depth.z:
        normal[0] = vec3(0.0, 1.0 if c.y >= 0.0 else -1.0, 0.0)
        distance[0] = depth.y
    else:
        normal[0] = vec3(0.0, 0.0, 1.0 if c.z >= 0.0 else -1.0)
        distance[0] = depth.z
    return True
