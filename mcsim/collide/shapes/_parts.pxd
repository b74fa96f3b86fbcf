"""What the kernel files of shapes are composed of: the pieces of straight lines, supporting features, faces, round sides.

All is in the shape's frame unless said otherwise. The files of shapes know no rounding (Solid.rounding), but for what they
turn by: they say what is true of the core, and _shape_table.pxd what follows for the core swept by a ball.
"""

from libc.math cimport fabs, sqrt, INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, dot, cross, norm, normalized, mat_vec, mat_t_vec,
                               mat_column)
from mcsim.collide._solid cimport Aabb, HullView, Solid

cdef extern from *:
    """
    /* Sine of the angle within which a direction lies in a face or at right angles to an edge: rounding. */
    #define MC_ALIGNED 1e-6
    """
    const double ALIGNED "MC_ALIGNED"

# ---- a straight line: the piece of it inside --------------------------------------------------------------------------

ctypedef struct Chord:
    double enter                 # where the line comes in [m]
    double leave                 # where it goes out
    int32_t enter_face           # through which of the flat faces, -1 = a round side
    int32_t leave_face


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


cdef inline int nappe_chord(double a, double b, double e, bint opens_ahead, double start, Chord* c) noexcept nogil:
    """Of a line that is inside a circular cone and its mirror image past the apex where a t^2 + 2 b t + e <= 0, the piece
    in one of the two, from the place `start` on: between the roots or, where the line is steeper than a ruling, outside of
    them, in the direction of the line (opens_ahead) or against it."""
    cdef double root = b * b - a * e
    cdef double first = 0.0
    cdef double second = 0.0
    if a >= 0.0 and not root >= 0.0:
        return 0
    root = sqrt(max(root, 0.0))
    root = -b - root if b > 0.0 else root - b              # a times one root, without cancellation
    if root != 0.0:
        first = min(e / root, root / a)
        second = max(e / root, root / a)
    elif a == 0.0 and e > 0.0:
        return 0
    c.enter_face = c.leave_face = -1
    c.enter = -INFINITY if a < 0.0 and not opens_ahead else (second if a < 0.0 else first)
    c.leave = INFINITY if a < 0.0 and opens_ahead else (first if a < 0.0 else second)
    if a == 0.0 and root == 0.0:                           # along a ruling
        c.enter = -INFINITY
        c.leave = INFINITY
    c.enter += start
    c.leave += start
    return 1

# ---- what of a solid faces a direction ---------------------------------------------------------------------------------

cdef enum:
    FACING_POINT = 0             # a vertex, or a ball
    FACING_LINE = 1              # an edge, or the side of a capsule or cylinder
    FACING_FACE = 2
    FACING_OTHER = 3             # a rim, a surface

cdef enum:
    MAX_CORNERS = 32             # of a feature; a hull's face with more is thinned out
    RIM_CORNERS = 16             # of the polygon inscribed in a cylinder's cap: it spans 0.98 of the radius
    SIDE_ID = 32                 # of a cylinder: 0-15 upper rim, 16-31 lower rim, 32 and 33 ends of a ruling

# cos and sin of k 22.5 degrees, and of half such a step.
cdef extern from *:
    """
    static const double mc_rim_cos[16] = {
        1.0, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173,
        0.0, -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613,
        -1.0, -0.92387953251128675613, -0.70710678118654752440, -0.38268343236508977173,
        0.0, 0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613};
    static const double mc_rim_sin[16] = {
        0.0, 0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613,
        1.0, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173,
        0.0, -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613,
        -1.0, -0.92387953251128675613, -0.70710678118654752440, -0.38268343236508977173};
    #define MC_HALF_STEP_COS 0.98078528040323044913
    #define MC_HALF_STEP_SIN 0.19509032201612826785
    """
    const double[16] mc_rim_cos
    const double[16] mc_rim_sin
    const double HALF_STEP_COS "MC_HALF_STEP_COS"
    const double HALF_STEP_SIN "MC_HALF_STEP_SIN"

ctypedef struct Polygon:
    int count                    # 0 = a lone point, 2 = the ruling of a round side, 3 or more = a face
    Vec3 normal                  # outward, of a face
    double radius[2]             # of the round side about its ruling, at its two ends [m]
    double disc                  # radius of the disc that a face is inscribed in, 0: of none [m]
    double height                # where that disc is along the shape's z [m]
    Vec3 points[MAX_CORNERS]     # from the first solid's position, world axes; counter-clockwise seen from outside
    int32_t id[MAX_CORNERS]      # vertex numbers


cdef inline void ruling_between(const Solid* s, Vec3 first, Vec3 second, Vec3 origin, Polygon* out) noexcept nogil:
    """A straight line on a round side, of exact surface points."""
    out.count = 2
    out.points[0] = add(origin, mat_vec(s.axes, first))
    out.points[1] = add(origin, mat_vec(s.axes, second))
    out.id[0] = SIDE_ID
    out.id[1] = SIDE_ID + 1


cdef inline void tube_ruling(const Solid* s, Vec3 local, double radial, Vec3 origin, Polygon* out) noexcept nogil:
    """The line on the side of a capsule or a cylinder that faces the direction."""
    cdef double f = s.size.x / radial
    out.radius[0] = out.radius[1] = s.size.x
    ruling_between(s, vec3(f * local.x, f * local.y, s.size.y), vec3(f * local.x, f * local.y, -s.size.y), origin, out)


cdef inline void disc_polygon(const Solid* s, double radius, double height, double side, double c, double q, Vec3 origin,
                              Polygon* out) noexcept nogil:
    """The polygon inscribed in a disc about z, which faces up (side 1) or down (-1), with its first corner in the direction
    (c, q) of the shape's x and y."""
    cdef int i, k
    cdef double x, y
    out.count = RIM_CORNERS
    out.disc = radius
    out.height = height
    out.normal = scale(side, mat_column(s.axes, 2))
    for i in range(RIM_CORNERS):
        k = i if side > 0.0 else (RIM_CORNERS - i) % RIM_CORNERS
        x = c * mc_rim_cos[k] - q * mc_rim_sin[k]
        y = q * mc_rim_cos[k] + c * mc_rim_sin[k]
        out.id[i] = k if side > 0.0 else k + RIM_CORNERS
        out.points[i] = add(origin, mat_vec(s.axes, vec3(radius * x, radius * y, height)))

# ---- how a farthest point moves -----------------------------------------------------------------------------------------

cdef inline Vec3 bend_of_rim(double radius, Vec3 d, Vec3 e) noexcept nogil:
    """Of the point of a circle about z that is farthest along d, as d turns towards e: along the circle."""
    cdef double radial2 = d.x * d.x + d.y * d.y
    cdef double along = radius * (d.x * e.y - d.y * e.x) / (radial2 * sqrt(radial2)) if radial2 > 0.0 else 0.0
    return vec3(-along * d.y, along * d.x, 0.0)

# ---- distances -----------------------------------------------------------------------------------------------------------

cdef inline double away_from(Vec3 d, Vec3 fallback, Vec3* normal) noexcept nogil:
    """-> |d| and its direction, or the fallback for a zero vector."""
    cdef double length = norm(d)
    normal[0] = scale(1.0 / length, d) if length > 0.0 else fallback
    return length


cdef inline Aabb about(Vec3 position, Vec3 half) noexcept nogil:
    """The box from position - half to position + half."""
    cdef Aabb box
    box.lower = sub(position, half)
    box.upper = add(position, half)
    return box


cdef inline Aabb swollen(Aabb box, double radius) noexcept nogil:
    """The box about all balls of that radius in it."""
    box.lower = sub(box.lower, vec3(radius, radius, radius))
    box.upper = add(box.upper, vec3(radius, radius, radius))
    return box


cdef inline Vec3 reach_along(const Solid* s, Vec3 half) noexcept nogil:
    """How far a box with such half extents reaches along the world's axes."""
    return vec3(fabs(s.axes.xx) * half.x + fabs(s.axes.xy) * half.y + fabs(s.axes.xz) * half.z,
                fabs(s.axes.yx) * half.x + fabs(s.axes.yy) * half.y + fabs(s.axes.yz) * half.z,
                fabs(s.axes.zx) * half.x + fabs(s.axes.zy) * half.y + fabs(s.axes.zz) * half.z)


cdef inline Vec3 disc_reach(Vec3 u, double radius) noexcept nogil:
    """How far a disc with the unit normal u reaches along the world's axes: radius sqrt(1 - u_i^2)."""
    return vec3(radius * sqrt(u.y * u.y + u.z * u.z), radius * sqrt(u.z * u.z + u.x * u.x),
                radius * sqrt(u.x * u.x + u.y * u.y))


cdef inline double depth_in_ball(Vec3 x, double radius, Vec3* normal) noexcept nogil:
    """How deep the point x, from the ball's middle, is below the plane that touches the ball nearest to it."""
    return radius - away_from(x, vec3(1.0, 0.0, 0.0), normal)


cdef inline Aabb surface_bounds(const Solid* s, Vec3 lower) noexcept nogil:
    """Of a surface that reaches down to `lower` in its own frame."""
    return about(add(s.position, mat_vec(s.axes, scale(0.5, add(s.surface.upper, lower)))),
                 reach_along(s, scale(0.5, sub(s.surface.upper, lower))))
