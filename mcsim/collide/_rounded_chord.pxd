"""The piece of a straight line inside a core that a ball sweeps: where the distance of its points from the core is that
ball's radius.

The distance s(t) of a convex solid from the points of a line is a convex function of t with s' = n . d, n its gradient.
Newton's method, t -= s / s', therefore comes from outside to the first root and never goes past it, and where there is
none it ends where s does not fall any more (compare van den Bergen, "Ray casting against general convex objects", 2004).
All of it is in the shape's frame.
"""

from libc.math cimport fabs
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport add_scaled, dot, neg, norm, scale, vec3
from mcsim.state._shape_types cimport SPHERE
from mcsim.collide._gjk cimport GJK_APART, gjk
from mcsim.collide._shape_table cimport point_distance
from mcsim.collide._solid cimport Solid
from mcsim.collide.shapes._parts cimport Chord, ball_chord

cdef enum:
    NEWTON_STEPS = 80            # at most: where a line grazes the solid a step halves the way that is left

cdef inline Solid upright(const Solid* s) noexcept nogil:
    """The solid at the origin, not turned."""
    cdef Solid r = s[0]
    r.position = vec3(0.0, 0.0, 0.0)
    r.axes.xx = r.axes.yy = r.axes.zz = 1.0
    r.axes.xy = r.axes.xz = r.axes.yx = r.axes.yz = r.axes.zx = r.axes.zy = 0.0
    return r


cdef inline double off_surface(const Solid* s, Vec3 p, Vec3* normal) noexcept nogil:
    """Signed distance of a point of the shape's frame from a solid [m], and its gradient, outward."""
    cdef Solid core, point
    cdef double distance, length
    cdef Vec3 v, on_core
    if point_distance(s, p, &distance, normal):
        return distance
    core = upright(s)
    point = core
    point.type = SPHERE
    if gjk(&core, &point, p, s.reach, 1e300, &v, &on_core) == GJK_APART:
        length = norm(v)
        normal[0] = scale(1.0 / length, v)
        distance = length - s.rounding
    return distance


cdef inline int come_in(const Solid* s, Vec3 middle, Vec3 d, double half, double* t) noexcept nogil:
    """Where the line through `middle` along d comes into the solid, from the place -half on, which is outside. -> 0: it
    does not"""
    cdef double at = -half
    cdef double gap, rate, step
    cdef Vec3 n
    cdef int _
    for _ in range(NEWTON_STEPS):
        gap = off_surface(s, add_scaled(middle, at, d), &n)
        if gap <= 0.0:
            break
        rate = -dot(n, d)
        if not rate > 0.0:
            return 0
        step = gap / rate
        if not at + step <= half:
            return 0
        at += step
        if step <= 4e-16 * (fabs(at) + s.reach):
            break
    t[0] = at
    return 1


cdef inline int rounded_chord(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    """As chord, of a solid that is rounded."""
    cdef double start = -dot(o, d)
    cdef Vec3 middle = add_scaled(o, start, d)
    cdef double enter, leave
    cdef double half
    if not ball_chord(middle, d, 1.000001 * s.reach, c):
        return 0
    half = 0.5 * (c.leave - c.enter)
    if not come_in(s, middle, d, half, &enter):
        return 0
    if not come_in(s, middle, neg(d), half, &leave):       # it grazes the solid
        leave = -enter
    c.enter = start + enter
    c.leave = max(start - leave, c.enter)
    return 1


cdef inline Vec3 rounded_outward(const Solid* s, Vec3 p) noexcept nogil:
    """As outward, of a solid that is rounded."""
    cdef Vec3 normal
    off_surface(s, p, &normal)
    return normal
