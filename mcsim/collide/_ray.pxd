"""A straight line against a solid: the part of the line that lies inside.

A convex solid cuts one piece out of a line, `Chord`; a ray begins at t = 0 on it. Half spaces cut it one by one (Cyrus and
Beck, "Generalized two- and three-dimensional clipping", 1978; for boxes that is the slab method of Kay and Kajiya, "Ray
tracing complex scenes", 1986). Round sides are solved by the distance of the line from their centre, which does not
cancel far away (Haines, Guenther, Akenine-Moeller, "Precision improvements for ray/sphere intersection", 2019).
All of it is in the shape's frame, directions are unit vectors, solids are closed: to touch is to hit.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, add_scaled, mat_vec, mat_t_vec
from mcsim.collide._records cimport Ray
from mcsim.collide._rounded_chord cimport rounded_chord, rounded_outward
from mcsim.collide._shape_table cimport chord, outward
from mcsim.collide._solid cimport Solid
from mcsim.collide.shapes._parts cimport Chord, round_chord


cdef inline Vec3 normal_at(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    """Outward, at the place p where a line goes through the surface, or of the face there."""
    return rounded_outward(s, p) if s.rounding > 0.0 else outward(s, p, face)


cdef inline int ray_solid(const Solid* s, const Ray* ray, double limit, int filled, double* distance,
                          Vec3* normal) noexcept nogil:
    """-> 1, distance [m] <= limit and normal (world, against the ray) of the hit. A ray that starts inside hits at once if
    `filled`, with a zero normal, else where it comes out."""
    cdef Vec3 o = mat_t_vec(s.axes, sub(ray.origin, s.position))
    cdef Vec3 d = mat_t_vec(s.axes, ray.direction)
    cdef Chord c
    round_chord(&c, 0.0, INFINITY)
    if not (rounded_chord(s, o, d, &c) if s.rounding > 0.0 else chord(s, o, d, &c)) or not c.leave >= 0.0:
        return 0
    if c.enter >= 0.0:
        distance[0] = c.enter
        if not (c.enter <= limit and c.enter < INFINITY):
            return 0
        normal[0] = mat_vec(s.axes, normal_at(s, add_scaled(o, c.enter, d), c.enter_face))
    elif filled:
        distance[0] = 0.0
        normal[0] = vec3(0.0, 0.0, 0.0)
    else:
        distance[0] = c.leave
        if not (c.leave <= limit and c.leave < INFINITY):
            return 0
        normal[0] = neg(mat_vec(s.axes, normal_at(s, add_scaled(o, c.leave, d), c.leave_face)))
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
