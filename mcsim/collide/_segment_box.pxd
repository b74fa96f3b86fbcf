"""A segment and a box: where they come nearest, in closed form.

With x(t) = c + t u in the box's axes and e(t) = x - clamp(x) what it lies outside, |e|^2 is convex in t, and half its
derivative g(t) = u . e(t) rises, linearly between the values of t at which x crosses the planes of the box's faces. So the
root lies between the last of those (and of the segment's ends) with g <= 0 and the first with g >= 0.
"""

from libc.math cimport fabs
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, scale, add_scaled, dot, mat_vec, mat_t_vec, mat_column
from mcsim.state._layout cimport BOX
from mcsim.collide._solid cimport Solid
from mcsim.collide._gjk cimport GJK_APART, GJK_FAR, GJK_OVERLAP

cdef enum:
    CUTS = 6                     # planes of a box's faces


cdef inline double outside(double x, double half) noexcept nogil:
    """What x lies outside of -half ... half."""
    cdef double inside = x if x < half else half
    return x - (inside if inside > -half else -half)


cdef inline double nearest_on_axis(Vec3 c, Vec3 u, double length, Vec3 half) noexcept nogil:
    """t within +-length at which c + t u comes nearest to the box; of a stretch of such t the middle."""
    cdef double low = -length
    cdef double high = length
    cdef double g_low = (u.x * outside(c.x - length * u.x, half.x) + u.y * outside(c.y - length * u.y, half.y)
                         + u.z * outside(c.z - length * u.z, half.z))
    cdef double g_high = (u.x * outside(c.x + length * u.x, half.x) + u.y * outside(c.y + length * u.y, half.y)
                          + u.z * outside(c.z + length * u.z, half.z))
    cdef double t[CUTS]
    cdef double g[CUTS]
    cdef int k
    if g_low > 0.0:
        return low
    if g_high < 0.0:
        return high
    # Along an axis across the segment there is no cut: infinite, or 0 / 0, and then some other value serves as well.
    t[0] = (half.x - c.x) / u.x
    t[1] = (-half.x - c.x) / u.x
    t[2] = (half.y - c.y) / u.y
    t[3] = (-half.y - c.y) / u.y
    t[4] = (half.z - c.z) / u.z
    t[5] = (-half.z - c.z) / u.z
    for k in range(CUTS):
        t[k] = t[k] if t[k] > -length else -length
        t[k] = t[k] if t[k] < length else length
        g[k] = (u.x * outside(c.x + t[k] * u.x, half.x) + u.y * outside(c.y + t[k] * u.y, half.y)
                + u.z * outside(c.z + t[k] * u.z, half.z))
    for k in range(CUTS):
        if g[k] <= 0.0 and t[k] >= low:
            low = t[k]
            g_low = g[k]
        if g[k] >= 0.0 and t[k] <= high:
            high = t[k]
            g_high = g[k]
    if not low < high or not g_low < g_high:
        return 0.5 * (low + high)
    return low - g_low * (high - low) / (g_high - g_low)


cdef inline double gap2(Vec3 c, Vec3 u, double length, Vec3 half) noexcept nogil:
    """Not more than the square of their distance: that of the box from the box about the segment, along the box's axes.
    """
    cdef double x = fabs(c.x) - length * fabs(u.x) - half.x
    cdef double y = fabs(c.y) - length * fabs(u.y) - half.y
    cdef double z = fabs(c.z) - length * fabs(u.z) - half.z
    x = x if x > 0.0 else 0.0
    y = y if y > 0.0 else 0.0
    z = z if z > 0.0 else 0.0
    return x * x + y * y + z * z


cdef inline int segment_box(const Solid* a, const Solid* b, Vec3 offset, double size, double limit, Vec3* v,
                            Vec3* on_a) noexcept nogil:
    """As gjk() for the cores of a box and a capsule, whichever of them is a."""
    cdef const Solid* box = a if a.type == BOX else b
    cdef const Solid* capsule = b if a.type == BOX else a
    cdef Vec3 axis = mat_column(capsule.axes, 2)
    cdef Vec3 c = mat_t_vec(box.axes, offset if a.type == BOX else neg(offset))
    cdef Vec3 u = mat_t_vec(box.axes, axis)
    cdef double length = capsule.size.y
    cdef double t
    cdef Vec3 d
    # Rounding must not tell apart what the distance itself does not.
    if gap2(c, u, length, box.size) > 1.000001 * limit * limit:
        return GJK_FAR
    t = nearest_on_axis(c, u, length, box.size)
    c = add_scaled(c, t, u)
    d = vec3(outside(c.x, box.size.x), outside(c.y, box.size.y), outside(c.z, box.size.z))
    if dot(d, d) > limit * limit:
        return GJK_FAR
    if dot(d, d) <= 1e-16 * size * size:         # as in gjk(): a direction from d would be rounding noise
        return GJK_OVERLAP
    v[0] = mat_vec(box.axes, d if a.type == BOX else neg(d))
    on_a[0] = mat_vec(box.axes, sub(c, d)) if a.type == BOX else scale(t, axis)
    return GJK_APART
