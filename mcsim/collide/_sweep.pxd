"""Do two solids that are still apart meet within the time ahead, and how?

Conservative advancement (B. Mirtich, "Impulse-based dynamic simulation", 1996, section 2.3): with s the distance and r
a bound on how fast any two of their points approach along the normal, nothing happens before s / r; go there and measure
again. A plane
through the present closest points is not enough: bodies that pass each other by would run into it.
"""

from libc.math cimport INFINITY, sqrt
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.core._math cimport (vec3, add, sub, scale, add_scaled, dot, norm, mat_mul, quat_conj, quat_exp, quat_matrix,
                               rotate)
from mcsim.state._contact_reference cimport carried
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport PLANE, SPHERE
from mcsim.collide._carrying cimport set_carrying
from mcsim.collide._solid cimport Solid
from mcsim.collide._narrow cimport narrow

cdef enum:
    ADVANCES = 24                # steps of conservative advancement, at most

# A solid on its way: its body's centre of mass and twist, and the speed of its fastest point.
ctypedef struct Course:
    Vec3 centre
    Twist twist
    double spin_speed            # of its points about the centre, at most [m/s]
    double radius                # of a ball about the centre that holds it however it turns [m]; of no use for a plane


cdef inline Course course(const Solid* s, Vec3 centre, Twist twist) noexcept nogil:
    cdef Course c
    c.centre = centre
    c.twist = twist
    c.spin_speed = 0.0
    c.radius = norm(sub(s.position, centre)) + s.reach
    if s.type != PLANE and (twist.w.x != 0.0 or twist.w.y != 0.0 or twist.w.z != 0.0):
        c.spin_speed = norm(twist.w) * c.radius
    return c


cdef inline Solid moved(const Solid* s, const Course* c, double t) noexcept nogil:
    """The solid after the time t at its body's present twist. A ball about its body's centre does not turn."""
    cdef Solid r = s[0]
    cdef Vec3 arm = sub(s.position, c.centre)
    cdef Quat turn
    if c.twist.w.x == 0.0 and c.twist.w.y == 0.0 and c.twist.w.z == 0.0 or s.type == SPHERE and dot(arm, arm) == 0.0:
        r.position = add(add_scaled(c.centre, t, c.twist.v), arm)
        return r
    turn = quat_exp(scale(t, c.twist.w))
    r.position = add(add_scaled(c.centre, t, c.twist.v), rotate(turn, arm))
    r.axes = mat_mul(quat_matrix(turn), s.axes)
    return r


cdef inline Vec3 carried_back(Vec3 p, const Course* c, double t) noexcept nogil:
    """Where the point that is at p after the time t is now."""
    return add(c.centre, rotate(quat_conj(quat_exp(scale(t, c.twist.w))), sub(p, add_scaled(c.centre, t, c.twist.v))))


cdef inline double least_separation(const Manifold* m) noexcept nogil:
    cdef double s = m.points[0].separation
    cdef int i
    for i in range(1, m.point_count):
        if m.points[i].separation < s:
            s = m.points[i].separation
    return s


cdef inline double balls_near(const Solid* a, const Course* ca, const Solid* b, const Course* cb, double near,
                              Vec3 normal) noexcept nogil:
    """When the balls that hold the two, or ball and plane, come so near [s]; INFINITY: never. Before that nothing meets,
    however fast the two turn. normal: of the manifold now."""
    cdef Vec3 flight = sub(cb.twist.v, ca.twist.v)
    cdef Vec3 apart
    cdef double radius, here, rate, square, beyond
    if a.type == PLANE or b.type == PLANE:
        here = (dot(normal, sub(cb.centre, a.position)) - cb.radius if a.type == PLANE else
                dot(normal, sub(b.position, ca.centre)) - ca.radius) - near
        rate = -dot(normal, flight)
        if here <= 0.0:
            return 0.0
        return here / rate if rate > 0.0 else INFINITY
    apart = sub(cb.centre, ca.centre)
    radius = ca.radius + cb.radius + near
    here = dot(apart, apart) - radius * radius
    if here <= 0.0:
        return 0.0
    rate = -dot(apart, flight)
    square = dot(flight, flight)
    beyond = rate * rate - square * here
    # |apart + t flight| = radius, its first root: t = here / (rate + sqrt(rate^2 - square here)).
    return here / (rate + sqrt(beyond)) if rate > 0.0 and beyond >= 0.0 else INFINITY


cdef inline int sweep(const Solid* a, const Course* ca, const Solid* b, const Course* cb, double near, double ahead,
                      double limit, Manifold* m) noexcept nogil:
    """m: the manifold now, all its points farther than `near`. -> 0: they do not come so near within the time ahead;
    else its point count, with the manifold of the meeting brought back to now where its normal is another than now's."""
    cdef double t = 0.0
    cdef double balls = balls_near(a, ca, b, cb, near, m.normal)
    cdef Vec3 flight = sub(ca.twist.v, cb.twist.v)
    cdef double s = least_separation(m)
    cdef double approach = dot(m.normal, flight) + ca.spin_speed + cb.spin_speed
    cdef Manifold met
    cdef Solid at_a, at_b
    cdef int k, _
    for _ in range(ADVANCES):
        # The plane across the closest points parts the two for good if neither comes nearer to it.
        if not approach > 0.0:
            return 0
        t = max(t + (s - 0.5 * near) / approach, balls)
        if not t <= ahead:
            return 0
        at_a = moved(a, ca, t)
        at_b = moved(b, cb, t)
        if narrow(&at_a, &at_b, limit, &met, NULL) == 0:
            return 0
        s = least_separation(&met)
        if s <= near:
            break
        approach = dot(met.normal, flight) + ca.spin_speed + cb.spin_speed
    if dot(met.normal, m.normal) < 0.98:
        set_carrying(&met, &at_a, &at_b, scale(ahead, sub(cb.twist.w, ca.twist.w)))
        bring_back(&met, ca, cb, t)
        m.normal = met.normal
        m.turns = met.turns
        if met.turns:
            m.line = met.line
            m.line_b = met.line_b
        m.rounding_a = met.rounding_a
        m.rounding_b = met.rounding_b
        m.point_count = met.point_count
        for k in range(met.point_count):
            m.points[k] = met.points[k]
    return m.point_count


cdef inline void bring_back(Manifold* met, const Course* ca, const Course* cb, double t) noexcept nogil:
    """The points of a meeting after the time t, placed where they are now with what carries them."""
    cdef Vec3 n = met.normal
    cdef Vec3 p, pa, pb
    cdef double ra = met.rounding_a
    cdef double rb = met.rounding_b
    cdef double s
    cdef int i
    for i in range(met.point_count):
        p = met.points[i].position
        s = met.points[i].separation
        pa = add_scaled(carried_back(add_scaled(p, -0.5 * s - ra, n), ca, t), ra, n)
        pb = add_scaled(carried_back(add_scaled(p, 0.5 * s + rb, n), cb, t), -rb, n)
        s = dot(n, sub(pb, pa))
        met.points[i].separation = s
        met.points[i].position = add_scaled(add(pa, carried(&met.points[i], n, sub(pb, pa))), 0.5 * s, n)
