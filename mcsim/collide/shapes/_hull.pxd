"""A convex hull: vertices and faces of its view."""

from mcsim.collide.shapes._parts cimport *


cdef inline int32_t hull_support(const HullView* hull, Vec3 d) noexcept nogil:
    """Number of the vertex farthest along d (shape frame); the first of equals."""
    cdef int32_t i
    cdef int32_t best = 0
    cdef double h
    cdef double farthest = dot(hull.vertices[0], d)
    for i in range(1, hull.vertex_count):
        h = dot(hull.vertices[i], d)
        if h > farthest:
            farthest = h
            best = i
    return best


cdef inline double inner_radius_hull(const Solid* s) noexcept nogil:
    return s.hull.inner_radius


cdef inline int ball_count_hull(const Solid* s) noexcept nogil:
    return 1 + s.hull.vertex_count


cdef inline double ball_hull(const Solid* s, int k, Vec3* centre) noexcept nogil:
    """In the corners a quarter of the radius of the one in the middle."""
    cdef double r = inner_radius_hull(s)
    centre[0] = s.hull.inner_centre
    if k > 0:
        centre[0] = add(scale(0.25, centre[0]), scale(0.75, s.hull.vertices[k - 1]))
    return 0.5 * r if k == 0 else 0.25 * r


cdef inline Vec3 middle_hull(const Solid* s) noexcept nogil:
    cdef Vec3 sum = vec3(0.0, 0.0, 0.0)
    cdef int32_t i
    for i in range(s.hull.vertex_count):
        sum = add(sum, s.hull.vertices[i])
    return mat_vec(s.axes, scale(1.0 / s.hull.vertex_count, sum))


cdef inline double reach_hull(const Solid* s) noexcept nogil:
    return s.hull.radius


cdef inline Vec3 support_hull(const Solid* s, Vec3 local) noexcept nogil:
    return mat_vec(s.axes, s.hull.vertices[hull_support(s.hull, local)])


cdef inline Aabb bounds_hull(const Solid* s) noexcept nogil:
    cdef Aabb box
    cdef Vec3 v
    cdef int32_t i
    box.lower = vec3(INFINITY, INFINITY, INFINITY)
    box.upper = vec3(-INFINITY, -INFINITY, -INFINITY)
    for i in range(s.hull.vertex_count):
        v = mat_vec(s.axes, s.hull.vertices[i])
        box.lower = vec3(v.x if v.x < box.lower.x else box.lower.x, v.y if v.y < box.lower.y else box.lower.y,
                         v.z if v.z < box.lower.z else box.lower.z)
        box.upper = vec3(v.x if v.x > box.upper.x else box.upper.x, v.y if v.y > box.upper.y else box.upper.y,
                         v.z if v.z > box.upper.z else box.upper.z)
    box.lower = add(s.position, box.lower)
    box.upper = add(s.position, box.upper)
    return box


cdef inline int chord_hull(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    cdef int32_t i
    for i in range(s.hull.face_count):
        if not cut(c, dot(s.hull.normals[i], o) - s.hull.offsets[i], dot(s.hull.normals[i], d), i):
            return 0
    return 1


cdef inline Vec3 outward_hull(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    return s.hull.normals[face]


cdef inline void feature_hull(const Solid* s, Vec3 local, Vec3 origin, Polygon* out) noexcept nogil:
    """Of the faces at the support vertex, the one most aligned with the direction."""
    cdef const HullView* hull = s.hull
    cdef int32_t vertex = hull_support(hull, local)
    cdef Vec3 v = hull.vertices[vertex]
    cdef int32_t face = -1
    cdef int32_t i, begin, count, number
    cdef double value
    cdef double best = -2.0
    for i in range(hull.face_count):
        if dot(hull.normals[i], v) >= hull.offsets[i] - 1e-9 * hull.radius:
            value = dot(hull.normals[i], local)
            if value > best:
                best = value
                face = i
    if face < 0:
        out.count = 0
        return
    begin = hull.face_begin[face]
    count = hull.face_begin[face + 1] - begin
    out.normal = mat_vec(s.axes, hull.normals[face])
    out.count = count if count < MAX_CORNERS else MAX_CORNERS
    for i in range(out.count):
        number = hull.face_index[begin + (i * count) // out.count]
        out.id[i] = number
        out.points[i] = add(origin, mat_vec(s.axes, hull.vertices[number]))


cdef inline int ways_hull(const Solid* s) noexcept nogil:
    return 32


cdef inline int facing_hull(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    cdef const HullView* hull = s.hull
    cdef int32_t top = hull_support(hull, local)
    cdef double height = dot(hull.vertices[top], local) - ALIGNED * hull.radius
    cdef int32_t i
    cdef int32_t other = -1
    for i in range(hull.vertex_count):
        if i != top and dot(hull.vertices[i], local) >= height:
            if other >= 0:
                return FACING_FACE
            other = i
    if other < 0:
        return FACING_POINT
    line[0] = mat_vec(s.axes, normalized(sub(hull.vertices[other], hull.vertices[top])))
    return FACING_LINE


cdef inline Vec3 edge_hull(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    if i < s.hull.vertex_count and j < s.hull.vertex_count:
        return mat_vec(s.axes, sub(s.hull.vertices[j], s.hull.vertices[i]))
    return vec3(0.0, 0.0, 0.0)


cdef inline int face_count_hull(const Solid* s) noexcept nogil:
    return s.hull.face_count


cdef inline double depth_hull(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    normal[0] = s.hull.normals[k]
    return s.hull.offsets[k] - dot(s.hull.normals[k], x)


cdef inline Vec3 farthest_hull(const Solid* s, Vec3 g, Vec3 x) noexcept nogil:
    """x, in the hull's frame, onto the corner or edge that alone reaches farthest along g; where a face does, x itself."""
    cdef int32_t top = hull_support(s.hull, g)
    cdef int32_t other = -1
    cdef int32_t i
    cdef Vec3 e
    for i in range(s.hull.vertex_count):
        e = sub(s.hull.vertices[top], s.hull.vertices[i])
        if i != top and dot(g, e) <= ALIGNED * norm(e):
            if other >= 0:
                return x
            other = i
    if other < 0:
        return s.hull.vertices[top]
    e = sub(s.hull.vertices[other], s.hull.vertices[top])
    return add_scaled(s.hull.vertices[top], min(max(dot(e, sub(x, s.hull.vertices[top])) / dot(e, e), 0.0), 1.0), e)


cdef inline bint point_hull(const Solid* s, Vec3 local, double* distance, Vec3* normal) noexcept nogil:
    """Outside, the height over the farthest face is less than the distance where an edge or a corner is nearer."""
    cdef double height
    cdef int32_t i
    distance[0] = dot(s.hull.normals[0], local) - s.hull.offsets[0]
    normal[0] = s.hull.normals[0]
    for i in range(1, s.hull.face_count):
        height = dot(s.hull.normals[i], local) - s.hull.offsets[i]
        if height > distance[0]:
            distance[0] = height
            normal[0] = s.hull.normals[i]
    return not distance[0] > 0.0
