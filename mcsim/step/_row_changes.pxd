"""How a row of a joint, and the force that it gives, change with a displacement of its bodies.

A row is C = phi(y) of a y that moves with b as a sees it: a point, an axis or a quaternion (constraints/_parts.pxd).
With the velocity (u; w) and the acceleration (u'; w') of b there, at p_b, and a displacement (t; o) by which these change
by (du; dw) and (du'; dw'),

    point    y' = u            y'' = u' + w x u          dy = t        dy' = du + w x t
             dy'' = du' + w' x t + dw x u + w x dy'
    axis     y' = w x y        y'' = w' x y + w x y'     dy = o x y    dy' = dw x y + w x dy
             dy'' = dw' x y + w' x dy + dw x y' + w x dy'

and a quaternion likewise, by half of the quaternion products. Then K = phi' dy'' + phi''(y'', dy) + 2 phi''(y', dy') +
phi'''(y', y', dy).
"""

from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.core._math cimport add, add_scaled, cross, dot, norm, scale, sub, vec3
from mcsim.core._types cimport Quat, Twist, Vec3

# What a joint's row is a function of, as body a sees it (constraints/_parts.pxd).
cdef enum RowLaw:
    LAW_UNKNOWN = -1
    LAW_OFFSET = 0               # and 1, 2: p_b - p_a along an axis of a
    LAW_LEAN = 3                 # and 4: of z_b against z_a, along x_a and y_a
    LAW_RIGHT_ANGLE = 5          # z_a . x_b
    LAW_TURN = 6                 # and 7, 8: twice a number of the quaternion
    LAW_LENGTH = 9               # of p_b - p_a

# The motion of b as a sees it, motions [v; w] at p_b: velocity, acceleration; and how they change with one number of the
# state, with the displacement that comes with it.
ctypedef struct Seen:
    Twist velocity
    Twist acceleration
    Twist moved
    Twist faster
    Twist sooner


cdef inline Twist spatial_cross(const Twist* a, const Twist* b) noexcept nogil:
    """How b changes that a carries: [w_a x v_b + v_a x w_b; w_a x w_b]."""
    cdef Twist r
    r.v = add(cross(a.w, b.v), cross(a.v, b.w))
    r.w = cross(a.w, b.w)
    return r


cdef inline Twist plus(Twist a, Twist b) noexcept nogil:
    a.v, a.w = add(a.v, b.v), add(a.w, b.w)
    return a


cdef inline Twist minus(Twist a, Twist b) noexcept nogil:
    a.v, a.w = sub(a.v, b.v), sub(a.w, b.w)
    return a


cdef inline Twist at_point(const double* motion, Vec3 arm) noexcept nogil:
    """[w; v] about an origin, seen at `arm` from there."""
    cdef Twist r
    r.w = vec3(motion[0], motion[1], motion[2])
    r.v = add(vec3(motion[3], motion[4], motion[5]), cross(r.w, arm))
    return r


cdef inline Quat half_product(Vec3 w, Quat q) noexcept nogil:
    """(0, w) q / 2"""
    cdef Quat r
    r.w = -0.5 * (w.x * q.x + w.y * q.y + w.z * q.z)
    r.x = 0.5 * (w.x * q.w + w.y * q.z - w.z * q.y)
    r.y = 0.5 * (w.y * q.w + w.z * q.x - w.x * q.z)
    r.z = 0.5 * (w.z * q.w + w.x * q.y - w.y * q.x)
    return r


cdef inline Quat sum_of(Quat a, Quat b) noexcept nogil:
    a.w, a.x, a.y, a.z = a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z
    return a


# Something that moves with b, and its changes: y, y', y'', dy, dy', dy''.
ctypedef struct Jet:
    Vec3 y
    Vec3 rate
    Vec3 growth
    Vec3 moved
    Vec3 faster
    Vec3 sooner


cdef inline Jet point_jet(const JointFrames* f, const Seen* s) noexcept nogil:
    cdef Jet r
    cdef Vec3 w = s.velocity.w
    r.y = f.offset
    r.rate = s.velocity.v
    r.growth = add(s.acceleration.v, cross(w, r.rate))
    r.moved = s.moved.v
    r.faster = add(s.faster.v, cross(w, r.moved))
    r.sooner = add(add(s.sooner.v, cross(s.acceleration.w, r.moved)), add(cross(s.faster.w, r.rate), cross(w, r.faster)))
    return r


cdef inline Jet axis_jet(Vec3 y, const Seen* s) noexcept nogil:
    cdef Jet r
    cdef Vec3 w = s.velocity.w
    r.y = y
    r.rate = cross(w, y)
    r.growth = add(cross(s.acceleration.w, y), cross(w, r.rate))
    r.moved = cross(s.moved.w, y)
    r.faster = add(cross(s.faster.w, y), cross(w, r.moved))
    r.sooner = add(add(cross(s.sooner.w, y), cross(s.acceleration.w, r.moved)),
                   add(cross(s.faster.w, r.rate), cross(w, r.faster)))
    return r


cdef inline double lean_change(const JointFrames* f, int i, const Jet* z) noexcept nogil:
    """phi = 2 n / m, n = z . e_i, m = 1 + z . z_a."""
    cdef double m = 1.0 / (1.0 + dot(z.y, f.axis_a[2]))
    cdef double n = dot(z.y, f.axis_a[i])
    cdef double n1 = dot(z.rate, f.axis_a[i]), k1 = dot(z.rate, f.axis_a[2])
    cdef double nd = dot(z.moved, f.axis_a[i]), kd = dot(z.moved, f.axis_a[2])
    cdef double n1d = dot(z.faster, f.axis_a[i]), k1d = dot(z.faster, f.axis_a[2])
    cdef double n2 = dot(z.growth, f.axis_a[i]), k2 = dot(z.growth, f.axis_a[2])
    cdef double found = 2.0 * m * dot(z.sooner, f.axis_a[i]) - 2.0 * n * m * m * dot(z.sooner, f.axis_a[2])
    found += -2.0 * m * m * (n2 * kd + k2 * nd) + 4.0 * n * m * m * m * k2 * kd
    found += 2.0 * (-2.0 * m * m * (n1 * k1d + k1 * n1d) + 4.0 * n * m * m * m * k1 * k1d)
    return found + 4.0 * m * m * m * (2.0 * n1 * k1 * kd + k1 * k1 * nd) - 12.0 * n * m * m * m * m * k1 * k1 * kd


cdef inline double length_change(const Jet* d) noexcept nogil:
    """phi = |y|"""
    cdef double length = norm(d.y)
    cdef Vec3 n = scale(1.0 / length, d.y)
    cdef Vec3 across = add_scaled(d.rate, -dot(n, d.rate), n)
    cdef Vec3 moved = add_scaled(d.moved, -dot(n, d.moved), n)
    cdef double found = dot(n, d.sooner) + (dot(d.growth, moved) + 2.0 * dot(across, d.faster)) / length
    return found - (dot(n, d.moved) * dot(across, across) + 2.0 * dot(n, d.rate) * dot(across, moved)) / (length * length)


cdef inline Vec3 seen_by(const JointFrames* f, Vec3 x) noexcept nogil:
    """In the joint's axes on a."""
    return vec3(dot(x, f.axis_a[0]), dot(x, f.axis_a[1]), dot(x, f.axis_a[2]))


cdef inline double turn_change(const JointFrames* f, int i, const Seen* s) noexcept nogil:
    """phi = 2 q_i, of the quaternion q' = (0, w) q / 2 in a's joint axes."""
    cdef Vec3 w = seen_by(f, s.velocity.w), growth = seen_by(f, s.acceleration.w), faster = seen_by(f, s.faster.w)
    cdef Quat q = f.relative
    cdef Quat rate = half_product(w, q)
    cdef Quat moved = half_product(seen_by(f, s.moved.w), q)
    cdef Quat later = sum_of(half_product(faster, q), half_product(w, moved))
    cdef Quat found = sum_of(sum_of(half_product(seen_by(f, s.sooner.w), q), half_product(growth, moved)),
                             sum_of(half_product(faster, rate), half_product(w, later)))
    return 2.0 * (&found.x)[i]


cdef inline double row_change(int law, const JointFrames* f, const Seen* s) noexcept nogil:
    """K: what C'' changes by."""
    cdef Jet jet
    if law < LAW_LEAN:
        jet = point_jet(f, s)
        return dot(f.axis_a[law - LAW_OFFSET], jet.sooner)
    if law == LAW_LENGTH:
        jet = point_jet(f, s)
        return length_change(&jet)
    if law == LAW_RIGHT_ANGLE:
        jet = axis_jet(f.axis_b[0], s)
        return dot(f.axis_a[2], jet.sooner)
    if law < LAW_RIGHT_ANGLE:
        jet = axis_jet(f.axis_b[2], s)
        return lean_change(f, law - LAW_LEAN, &jet)
    return turn_change(f, law - LAW_TURN, s)


cdef inline double rate_change(int law, const JointFrames* f, const Seen* s) noexcept nogil:
    """What C' = J qd changes by."""
    cdef Jet jet
    cdef Vec3 n
    cdef Quat q
    cdef double m, lean
    if law < LAW_LEAN or law == LAW_LENGTH:
        jet = point_jet(f, s)
        if law < LAW_LEAN:
            return dot(f.axis_a[law - LAW_OFFSET], jet.faster)
        n = scale(1.0 / norm(jet.y), jet.y)
        return dot(n, jet.faster) + dot(add_scaled(jet.rate, -dot(n, jet.rate), n), jet.moved) / norm(jet.y)
    if law == LAW_RIGHT_ANGLE:
        jet = axis_jet(f.axis_b[0], s)
        return dot(f.axis_a[2], jet.faster)
    if law < LAW_RIGHT_ANGLE:
        jet = axis_jet(f.axis_b[2], s)
        m, n = 1.0 / (1.0 + dot(jet.y, f.axis_a[2])), f.axis_a[law - LAW_LEAN]
        lean = 2.0 * m * m * dot(jet.y, n)
        return (2.0 * m * dot(jet.faster, n) - lean * dot(jet.faster, f.axis_a[2])
                - 2.0 * m * m * (dot(jet.rate, n) * dot(jet.moved, f.axis_a[2])
                                 + dot(jet.rate, f.axis_a[2]) * dot(jet.moved, n))
                + 2.0 * lean * m * dot(jet.rate, f.axis_a[2]) * dot(jet.moved, f.axis_a[2]))
    q = sum_of(half_product(seen_by(f, s.faster.w), f.relative),
               half_product(seen_by(f, s.velocity.w), half_product(seen_by(f, s.moved.w), f.relative)))
    return 2.0 * (&q.x)[law - LAW_TURN]


cdef inline Vec3 in_world(const JointFrames* f, Quat q) noexcept nogil:
    """The vector of a quaternion in a's joint axes."""
    return add(add(scale(q.x, f.axis_a[0]), scale(q.y, f.axis_a[1])), scale(q.z, f.axis_a[2]))


cdef inline void row_force(int law, const JointFrames* f, const Twist* moved, double given, Twist* force,
                           Twist* change) noexcept nogil:
    """Adds to the force [f; n] on b at p_b as a row gives it, and to its change as a sees it by the displacement of b."""
    cdef double length, m, n, nd, kd
    cdef Vec3 d, e, p, turned, lean
    cdef Quat q
    cdef int i
    if law < LAW_LEAN or law == LAW_LENGTH:
        length = norm(f.offset)
        d = f.axis_a[law - LAW_OFFSET] if law < LAW_LEAN else scale(1.0 / length, f.offset)
        force.v = add_scaled(force.v, given, d)
        change.w = add_scaled(change.w, given, cross(moved.v, d))
        if law == LAW_LENGTH:
            change.v = add_scaled(change.v, given / length, add_scaled(moved.v, -dot(moved.v, d), d))
        return
    if law == LAW_RIGHT_ANGLE:
        force.w = add_scaled(force.w, given, cross(f.axis_b[0], f.axis_a[2]))
        change.w = add_scaled(change.w, given, cross(cross(moved.w, f.axis_b[0]), f.axis_a[2]))
        return
    if law < LAW_RIGHT_ANGLE:
        i = law - LAW_LEAN
        e, turned = f.axis_a[i], cross(moved.w, f.axis_b[2])
        m, n = 1.0 / (1.0 + dot(f.axis_b[2], f.axis_a[2])), dot(f.axis_b[2], e)
        nd, kd = dot(turned, e), dot(turned, f.axis_a[2])
        p = add_scaled(scale(2.0 * m, e), -2.0 * n * m * m, f.axis_a[2])
        lean = add_scaled(scale(-2.0 * m * m * kd, e), -2.0 * m * m * nd + 4.0 * n * m * m * m * kd, f.axis_a[2])
        force.w = add_scaled(force.w, given, cross(f.axis_b[2], p))
        change.w = add_scaled(change.w, given, add(cross(turned, p), cross(f.axis_b[2], lean)))
        return
    i = law - LAW_TURN
    e, q = f.axis_a[i], f.relative
    force.w = add_scaled(force.w, given, add(scale(q.w, e), cross(in_world(f, q), e)))
    q = half_product(seen_by(f, moved.w), q)
    change.w = add_scaled(change.w, given, add(scale(q.w, e), cross(in_world(f, q), e)))
