"""A straight line against a solid: the part of the line that lies inside.

A convex solid cuts one piece out of a line, `Chord`; a ray begins at t = 0 on it. Half spaces cut it one by one (Cyrus and
Beck, "Generalized two- and three-dimensional clipping", 1978; for boxes that is the slab method of Kay and Kajiya, "Ray
tracing complex scenes", 1986). Round sides are solved by the distance of the line from their centre, which does not
cancel far away (Haines, Guenther, Akenine-Moeller, "Precision improvements for ray/sphere intersection", 2019).
All of it is in the shape's frame, directions are unit vectors, solids are closed: to touch is to hit.
"""

from libc.math cimport sqrt, INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, scale, add_scaled, dot, mat_vec, mat_t_vec
from mcsim.state._layout cimport SPHERE, BOX, CAPSULE, CYLINDER, PLANE, HULL
from mcsim.collide._solid cimport Solid

ctypedef struct Chord:
    double enter                 # where the line comes in [m]
    double leave                 # where it goes out
    int32_t enter_face           # through which of the flat faces, -1 = a round side
    int32_t leave_face

ctypedef struct Ray:
    Vec3 origin                  # world [m]
    Vec3 direction               # unit


cdef inline void round_chord(Chord* c, double middle, double half) noexcept nogil:
    """The part of a line within `half` of the place `middle`."""
    c.enter = middle - half
    c.leave = middle + half
    c.enter_face = -1
    c.leave_face = -1


cdef inline int cut(Chord* c, double height, double rate, int32_t face) noexcept nogil:
    """Keep what lies in a half space, above which the line is by height + rate t. -> 0: nothing is left"""
    cdef double t
    if rate == 0.0:
        return height <= 0.0
    t = -height / rate
    if rate < 0.0:
        if t > c.enter:
            c.enter = t
            c.enter_face = face
    elif t < c.leave:
        c.leave = t
        c.leave_face = face
    return c.enter <= c.leave


cdef inline int ball_chord(Vec3 o, Vec3 d, double radius, Chord* c) noexcept nogil:
    cdef double middle = -dot(o, d)
    cdef Vec3 nearest = add_scaled(o, middle, d)
    cdef double rest = radius * radius - dot(nearest, nearest)
    if not rest >= 0.0:
        return 0
    round_chord(c, middle, sqrt(rest))
    return 1


cdef inline int tube_chord(Vec3 o, Vec3 d, double radius, double half_length, Chord* c) noexcept nogil:
    """A cylinder about z. Faces: 0 upper, 1 lower."""
    cdef double across2 = d.x * d.x + d.y * d.y
    cdef double moment = o.x * d.y - o.y * d.x             # distance from the axis times |(d.x, d.y)|
    cdef double rest
    if across2 < 1e-200:
        if o.x * o.x + o.y * o.y > radius * radius:
            return 0
        round_chord(c, 0.0, INFINITY)
    else:
        rest = radius * radius - moment * moment / across2
        if not rest >= 0.0:
            return 0
        round_chord(c, -(o.x * d.x + o.y * d.y) / across2, sqrt(rest / across2))
    return cut(c, o.z - half_length, d.z, 0) and cut(c, -o.z - half_length, -d.z, 1)


cdef inline int capsule_chord(Vec3 o, Vec3 d, double radius, double half_length, Chord* c) noexcept nogil:
    """Its cylinder and its two balls are convex, and so are the three together: the chords join to one."""
    cdef Chord piece
    cdef int end
    cdef int found = tube_chord(o, d, radius, half_length, c)
    for end in range(2):
        if not ball_chord(vec3(o.x, o.y, o.z + (half_length if end else -half_length)), d, radius, &piece):
            continue
        if not found or piece.enter < c.enter:
            c.enter = piece.enter
        if not found or piece.leave > c.leave:
            c.leave = piece.leave
        found = 1
    return found


cdef inline int box_chord(Vec3 o, Vec3 d, Vec3 half, Chord* c) noexcept nogil:
    """Faces: 0, 1, 2 those out along x, y, z; 3, 4, 5 the opposite ones."""
    return (cut(c, o.x - half.x, d.x, 0) and cut(c, -o.x - half.x, -d.x, 3)
            and cut(c, o.y - half.y, d.y, 1) and cut(c, -o.y - half.y, -d.y, 4)
            and cut(c, o.z - half.z, d.z, 2) and cut(c, -o.z - half.z, -d.z, 5))


cdef inline int hull_chord(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    cdef int32_t i
    for i in range(s.hull.face_count):
        if not cut(c, dot(s.hull.normals[i], o) - s.hull.offsets[i], dot(s.hull.normals[i], d), i):
            return 0
    return 1


cdef inline int chord(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """c: the whole line. -> 1, and the piece of it that is inside; 0: they do not meet."""
    if s.type == SPHERE:
        return ball_chord(o, d, s.size.x, c)
    if s.type == BOX:
        return box_chord(o, d, s.size, c)
    if s.type == CAPSULE:
        return capsule_chord(o, d, s.size.x, s.size.y, c)
    if s.type == CYLINDER:
        return tube_chord(o, d, s.size.x, s.size.y, c)
    if s.type == HULL:
        return hull_chord(s, o, d, c)
    return s.type == PLANE and cut(c, o.z, d.z, 0)


cdef inline Vec3 outward(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    """The unit normal at a point of the surface, or of the face, in the shape's frame."""
    cdef double sign
    if s.type == SPHERE:
        return scale(1.0 / s.size.x, p)
    if s.type == BOX:
        sign = 1.0 if face < 3 else -1.0
        return vec3(sign if face % 3 == 0 else 0.0, sign if face % 3 == 1 else 0.0, sign if face % 3 == 2 else 0.0)
    if s.type == CAPSULE:
        sign = -s.size.y if p.z < -s.size.y else (s.size.y if p.z > s.size.y else p.z)
        return scale(1.0 / s.size.x, vec3(p.x, p.y, p.z - sign))
    if s.type == CYLINDER:
        if face < 0:
            return scale(1.0 / s.size.x, vec3(p.x, p.y, 0.0))
        return vec3(0.0, 0.0, 1.0 if face == 0 else -1.0)
    if s.type == HULL:
        return s.hull.normals[face]
    return vec3(0.0, 0.0, 1.0)


cdef inline int ray_solid(const Solid* s, const Ray* ray, double limit, int filled, double* distance,
                          Vec3* normal) noexcept nogil:
    """-> 1, distance [m] <= limit and normal (world, against the ray) of the hit. A ray that starts inside hits at once if
    `filled`, with a zero normal, else where it comes out."""
    cdef Vec3 o = mat_t_vec(s.axes, sub(ray.origin, s.position))
    cdef Vec3 d = mat_t_vec(s.axes, ray.direction)
    cdef Chord c
    round_chord(&c, 0.0, INFINITY)
    if not chord(s, o, d, &c) or not c.leave >= 0.0:
        return 0
    if c.enter >= 0.0:
        distance[0] = c.enter
        if not (c.enter <= limit and c.enter < INFINITY):
            return 0
        normal[0] = mat_vec(s.axes, outward(s, add_scaled(o, c.enter, d), c.enter_face))
    elif filled:
        distance[0] = 0.0
        normal[0] = vec3(0.0, 0.0, 0.0)
    else:
        distance[0] = c.leave
        if not (c.leave <= limit and c.leave < INFINITY):
            return 0
        normal[0] = neg(mat_vec(s.axes, outward(s, add_scaled(o, c.leave, d), c.leave_face)))
    return 1


cdef inline Vec3 inverse_of(Vec3 direction) noexcept nogil:
    """Of its components, as box_entry wants them: infinite where one is 0."""
    return vec3(1.0 / direction.x, 1.0 / direction.y, 1.0 / direction.z)


cdef inline double box_entry(Vec3 lower, Vec3 upper, Vec3 origin, Vec3 inverse, double most) noexcept nogil:
    """Where a ray enters a box, in lengths of its direction; INFINITY if not up to `most`, or the box is empty. The box
    counts as a little larger, so that none is missed by roundings (Ize, "Robust BVH ray traversal", 2013)."""
    cdef double first = 0.0
    cdef double last = most
    cdef double t, u
    cdef int k
    if lower.x > upper.x:
        return INFINITY
    for k in range(3):
        t = ((&lower.x)[k] - (&origin.x)[k]) * (&inverse.x)[k]
        u = ((&upper.x)[k] - (&origin.x)[k]) * (&inverse.x)[k]
        if t != t or u != u:                     # 0 x infinity: along a face of the box
            continue
        first = max(first, min(t, u))
        last = min(last, max(t, u))
    return first if first <= last * (1.0 + 1e-12) else INFINITY
