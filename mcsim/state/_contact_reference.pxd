"""Where the impulses of a contact's point act as its two bodies move past each other, and how fast a point opens.

Both impulses of a row act at one point, so that momentum is kept to rounding. Which point that is follows from which
features make it, never from masses: collide/_carrying.pxd. So does the normal.
"""

from libc.stdint cimport int32_t
from mcsim.core._math cimport add, add_scaled, cross, dot, is_zero, perpendicular, scale, sub, vec3
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, ManifoldPoint

cdef enum Turns:                 # Manifold.turns
    # from the middle of a's rounding to that of b's, at right angles to `line`, which goes with a
    BETWEEN_A = 1
    BETWEEN_B = 2                # or with b
    FACE_A = 3                   # with a, whose face it is
    FACE_B = 4
    EDGES = 5                    # at right angles to `line` on a and `line_b` on b
    RING_A = 6                   # the points are the lowest of rims of a, with the axis `line`, on a face of b
    RING_B = 7


cdef inline bint stands(const Bodies* bodies, int32_t i) noexcept nogil:
    """Whether a body does not turn, whatever pushes it."""
    return bodies.inv_mass[i] == 0.0 and is_zero(bodies.twist[i].w)


cdef inline bint normal_goes_with(const Manifold* m, const Bodies* bodies, Vec3* of_a, Vec3* of_b) noexcept nogil:
    """The directions on a and on b that a turning normal is made of, world; 0: none, or none that turns. -> whether
    it turns: not with a face that stays"""
    cdef int turns = m.turns
    of_a[0] = vec3(0.0, 0.0, 0.0)
    of_b[0] = vec3(0.0, 0.0, 0.0)
    if (turns == FACE_A or turns == RING_B) and not stands(bodies, m.body_a):
        of_a[0] = m.normal
    elif turns == BETWEEN_A or turns == EDGES or turns == RING_A:
        of_a[0] = m.line
    if (turns == FACE_B or turns == RING_A) and not stands(bodies, m.body_b):
        of_b[0] = m.normal
    elif turns == BETWEEN_B or turns == RING_B:
        of_b[0] = m.line
    elif turns == EDGES:
        of_b[0] = m.line_b
    return turns == BETWEEN_A or turns == BETWEEN_B or not (is_zero(of_a[0]) and is_zero(of_b[0]))


cdef inline bint of_vertex(const ManifoldPoint* p) noexcept nogil:
    """Whether a vertex of one of the two makes it (collide/_contact.pxd): its `cross` is not in use."""
    return (p.feature >> 56) & 3 == 1 or (p.feature >> 56) & 3 == 2


cdef inline bint crosses(const ManifoldPoint* p) noexcept nogil:
    """Whether edges, or the axes of capsules, cross there, and the point goes with both."""
    return not of_vertex(p) and (p.cross[0] != 0.0 or p.cross[1] != 0.0 or p.cross[2] != 0.0)


cdef inline Vec3 carried(const ManifoldPoint* p, Vec3 normal, Vec3 way) noexcept nogil:
    """Of b's way against a, along the tangents, the point's own, seen from a."""
    cdef Vec3 d = scale(p.share, add_scaled(way, -dot(normal, way), normal))
    cdef Vec3 t, second
    cdef double x, y
    if not crosses(p):
        return d
    t = perpendicular(normal)
    second = cross(normal, t)
    x = dot(t, way)
    y = dot(second, way)
    d = add_scaled(d, p.cross[0] * x + p.cross[1] * y, t)
    return add_scaled(d, p.cross[2] * x - p.cross[0] * y, second)


cdef inline double opening_speed(const Manifold* m, int i, const Bodies* bodies, const Twist* twists) noexcept nogil:
    """n . (v_b - v_a) at point i, of these velocities [m/s]: below 0 it closes."""
    cdef const Twist* a = &twists[m.body_a]
    cdef const Twist* b = &twists[m.body_b]
    cdef Vec3 p = m.points[i].position
    return dot(m.normal, sub(add(b.v, cross(b.w, sub(p, bodies.position[m.body_b]))),
                             add(a.v, cross(a.w, sub(p, bodies.position[m.body_a])))))
