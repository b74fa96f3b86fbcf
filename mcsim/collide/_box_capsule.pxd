"""A box and a capsule, in the box's axes: the nearest point of the capsule's core in closed form, then the capsule's
side clipped against the face that it looks at.

With x(t) = c + t u and e(t) = x - clamp(x) what it lies outside, |e|^2 is convex in t, and half its derivative
g(t) = u . e(t) rises, linearly between the values of t at which x crosses the planes of the box's faces. So the root
lies between the last of those (and of the core's ends) with g <= 0 and the first with g >= 0. A core that is inside of
the box is for the general routine.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, scale, add_scaled, dot, mat_vec, mat_t_vec, mat_column
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport BOX
from mcsim.collide.shapes._parts cimport SIDE_ID
from mcsim.collide._contact cimport Axis, Contact, edge_feature, finish, store_single, vertex_feature
from mcsim.collide._convex cimport convex_convex
from mcsim.collide._solid cimport Solid

cdef enum:
    CUTS = 6                     # planes of a box's faces

# A core's position and direction, and half its length.
ctypedef struct Core:
    Vec3 c
    Vec3 u
    double length


cdef inline double outside(double x, double half) noexcept nogil:
    """What x lies outside of -half ... half."""
    cdef double inside = x if x < half else half
    return x - (inside if inside > -half else -half)


cdef inline double slope_at(const Core* core, double t, Vec3 half) noexcept nogil:
    """g(t)"""
    return (core.u.x * outside(core.c.x + t * core.u.x, half.x) + core.u.y * outside(core.c.y + t * core.u.y, half.y)
            + core.u.z * outside(core.c.z + t * core.u.z, half.z))


cdef inline double nearest_on_core(const Core* core, Vec3 half) noexcept nogil:
    """t at which the core comes nearest to the box; of a stretch of such t the middle."""
    cdef double low = -core.length
    cdef double high = core.length
    cdef double g_low = slope_at(core, low, half)
    cdef double g_high = slope_at(core, high, half)
    cdef Vec3 inverse = vec3(1.0 / core.u.x, 1.0 / core.u.y, 1.0 / core.u.z)
    cdef double t[CUTS]
    cdef double g[CUTS]
    cdef int k
    if g_low > 0.0:
        return low
    if g_high < 0.0:
        return high
    # Along an axis across the core there is no cut: infinite, or no number, and then some other value serves as well.
    t[0] = (half.x - core.c.x) * inverse.x
    t[1] = (-half.x - core.c.x) * inverse.x
    t[2] = (half.y - core.c.y) * inverse.y
    t[3] = (-half.y - core.c.y) * inverse.y
    t[4] = (half.z - core.c.z) * inverse.z
    t[5] = (-half.z - core.c.z) * inverse.z
    for k in range(CUTS):
        t[k] = t[k] if t[k] > -core.length else -core.length
        t[k] = t[k] if t[k] < core.length else core.length
        g[k] = slope_at(core, t[k], half)
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


cdef inline double gap2(const Core* core, Vec3 half) noexcept nogil:
    """Not more than the square of their distance: that of the box from the box about the core, along the box's axes."""
    cdef double x = fabs(core.c.x) - core.length * fabs(core.u.x) - half.x
    cdef double y = fabs(core.c.y) - core.length * fabs(core.u.y) - half.y
    cdef double z = fabs(core.c.z) - core.length * fabs(core.u.z) - half.z
    x = x if x > 0.0 else 0.0
    y = y if y > 0.0 else 0.0
    z = z if z > 0.0 else 0.0
    return x * x + y * y + z * z


cdef inline int side_on_face(const Core* core, double radius, Vec3 half, Vec3 normal, double limit, int capsule_is_b,
                             Contact* out) noexcept nogil:
    """The part of the capsule's ruling that faces the box over the box's face that faces the capsule, seen along the
    unit normal from the box: its two ends, box's axes. -> count, 0: the side does not face the box."""
    cdef double along = dot(core.u, normal)
    cdef double radial2 = 1.0 - along * along
    cdef Vec3 foot
    cdef double n[3]
    cdef double h[3]
    cdef double start[3]
    cdef double step[3]
    cdef double t[2]
    cdef int32_t cut[2]              # the corners' bits of the edge that cuts it, +1; 0: it ends there
    cdef double face, gap, slope, q, dq, near, far
    cdef int i, k, x, total
    if radial2 <= 0.5:
        return 0
    foot = add_scaled(add_scaled(core.c, core.length, core.u), -radius / sqrt(radial2),
                      add_scaled(normal, -along, core.u))
    n[0] = normal.x
    n[1] = normal.y
    n[2] = normal.z
    h[0] = half.x
    h[1] = half.y
    h[2] = half.z
    start[0] = foot.x
    start[1] = foot.y
    start[2] = foot.z
    step[0] = -2.0 * core.length * core.u.x
    step[1] = -2.0 * core.length * core.u.y
    step[2] = -2.0 * core.length * core.u.z
    k = 1 if fabs(n[1]) > fabs(n[0]) else 0
    k = 2 if fabs(n[2]) > fabs(n[k]) else k
    face = h[k] if n[k] > 0.0 else -h[k]
    gap = (start[k] - face) / n[k]               # along the normal, at the ruling's start
    slope = step[k] / n[k]
    t[0] = 0.0
    t[1] = 1.0
    cut[0] = 0
    cut[1] = 0
    for i in range(1, 3):
        x = k + i if k + i < 3 else k + i - 3
        q = start[x] - n[x] * gap
        dq = step[x] - n[x] * slope
        if fabs(dq) <= 1e-12 * core.length:
            if fabs(q) > (1.0 + 1e-9) * h[x]:
                return 0
            continue
        near = (-h[x] - q) / dq if dq > 0.0 else (h[x] - q) / dq
        far = (h[x] - q) / dq if dq > 0.0 else (-h[x] - q) / dq
        if near > t[0]:
            t[0] = near
            cut[0] = 1 + edge_bits(k, face > 0.0, x, dq < 0.0)
        if far < t[1]:
            t[1] = far
            cut[1] = 1 + edge_bits(k, face > 0.0, x, dq > 0.0)
    if t[1] < t[0]:
        return 0
    total = 0
    for i in range(2):
        if i == 1 and t[1] - t[0] < 1e-6:
            break
        out[total].separation = gap + t[i] * slope
        if out[total].separation > limit:
            continue
        out[total].position = add_scaled(vec3(start[0] + t[i] * step[0], start[1] + t[i] * step[1],
                                              start[2] + t[i] * step[2]), -0.5 * out[total].separation, normal)
        if cut[i] == 0:
            out[total].feature = vertex_feature(capsule_is_b, SIDE_ID + i)
        else:
            if capsule_is_b:
                out[total].feature = edge_feature((cut[i] - 1) & 7, (cut[i] - 1) >> 3, SIDE_ID, SIDE_ID + 1)
            else:
                out[total].feature = edge_feature(SIDE_ID, SIDE_ID + 1, (cut[i] - 1) & 7, (cut[i] - 1) >> 3)
        total += 1
    return total


cdef inline int32_t edge_bits(int k, int k_upper, int x, int x_upper) noexcept nogil:
    """The numbers of an edge's two corners, the second one times 8: the one at the sides given of axes k and x."""
    cdef int32_t corner = (k_upper << k) | (x_upper << x)
    return corner | ((corner | 1 << (3 - k - x)) << 3)


cdef inline int box_capsule(const Solid* a, const Solid* b, double limit, Manifold* m) noexcept nogil:
    """Whichever of them is a. -> point count, 0 if farther apart than `limit`."""
    cdef int capsule_is_b = a.type == BOX
    cdef const Solid* box = a if capsule_is_b else b
    cdef const Solid* capsule = b if capsule_is_b else a
    cdef double radius = capsule.size.x
    cdef double size = a.reach + b.reach
    cdef double reach2 = (limit + radius) * (limit + radius)
    cdef double distance
    cdef Core core
    cdef Contact contacts[4]
    cdef Axis axis
    cdef Vec3 p, d, n
    cdef int i, count
    core.c = mat_t_vec(box.axes, sub(capsule.position, box.position))
    core.u = mat_t_vec(box.axes, mat_column(capsule.axes, 2))
    core.length = capsule.size.y
    if gap2(&core, box.size) > 1.000001 * reach2:        # rounding must not tell apart what the distance does not
        return 0
    p = add_scaled(core.c, nearest_on_core(&core, box.size), core.u)
    d = vec3(outside(p.x, box.size.x), outside(p.y, box.size.y), outside(p.z, box.size.z))
    distance = dot(d, d)
    if distance > reach2:
        return 0
    if distance <= 1e-16 * size * size:                  # as in gjk(): a direction from d would be rounding noise
        return convex_convex(a, b, limit, m, NULL)
    distance = sqrt(distance)
    n = scale(1.0 / distance, d)
    axis.separation = distance - radius
    if axis.separation > limit:
        return 0
    axis.normal = mat_vec(box.axes, n)
    axis.witness = mat_vec(box.axes, add_scaled(p, 0.5 * axis.separation - distance, n))
    count = side_on_face(&core, radius, box.size, n, limit, capsule_is_b, contacts)
    if not capsule_is_b:
        axis.normal = neg(axis.normal)
    if count == 0:
        return store_single(m, &axis, box.position)
    for i in range(count):
        contacts[i].position = mat_vec(box.axes, contacts[i].position)
    finish(m, contacts, count, &axis, size, box.position)
    return m.point_count
