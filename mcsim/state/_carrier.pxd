"""Where the impulses of a contact's point act as its two bodies move past each other, and how fast a point opens.

Both impulses of a row act at one point, so that momentum is kept to rounding. Which point that is follows from which
features make it, never from masses: collide/_carrying.pxd.
"""

from mcsim.core._math cimport add, add_scaled, cross, dot, perpendicular, scale, sub
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._layout cimport Bodies, Manifold, ManifoldPoint

cdef enum:                       # Manifold.turns
    TURNS = 1                    # the normal does
    RING_A = 2                   # the one point is the lowest of a rim of a, with the axis `line`
    RING_B = 3


cdef inline bint crosses(const ManifoldPoint* p) noexcept nogil:
    """Whether edges cross there, and the point goes with both."""
    return (p.feature >> 56) & 3 == 3 and (p.cross[0] != 0.0 or p.cross[1] != 0.0 or p.cross[2] != 0.0)


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


cdef inline double opening_speed(const Manifold* m, int i, const Bodies* bodies) noexcept nogil:
    """n . (v_b - v_a) at point i [m/s]: below 0 it closes."""
    cdef const Twist* a = &bodies.twist[m.body_a]
    cdef const Twist* b = &bodies.twist[m.body_b]
    cdef Vec3 p = m.points[i].position
    return dot(m.normal, sub(add(b.v, cross(b.w, sub(p, bodies.position[m.body_b]))),
                             add(a.v, cross(a.w, sub(p, bodies.position[m.body_a])))))
