"""What a fast solid will meet on a surface within the time ahead.

The solid goes along its path in strides no longer than half its thickness, so that nothing slips through between two of
them; where a whole stretch of the path is free of triangles it is one stride, and where nothing is nearer than some
distance it goes as far as that at once (conservative advancement, _sweep.pxd). A first overlap is narrowed down by
halving. From a contact that stands in its way the solid goes on along it, as it will when the contact holds it.

What turns thousands of times in the time ahead, or is as thin as paper, would take millions of strides: strides double
after each hundreds of them, so that a search ends soon after what it can tell is known. What slips through then is left to
the tunnelling guard (_tunnelling_guard.pyx).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport add, add_scaled, cross, dot, norm, scale, sub
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport HULL
from mcsim.collide._carrying cimport set_carrying
from mcsim.collide._shape_table cimport inner_radius
from mcsim.collide._solid cimport Aabb, Solid
from mcsim.collide._sweep cimport Course, bring_back, moved
from mcsim.collide._surface_walk cimport Walk, walk_next, walk_start
from mcsim.collide._parts cimport PART_COSINE, PART_MOST, SURFACE_MANIFOLDS, Part, Parts, part_store
from mcsim.collide._patch cimport Patch
from mcsim.collide._surface_contacts cimport Sheets, box_on_surface, surface_contacts

cdef extern from *:
    """
    /* A contact stands in the way if else the solid would sink in by this part of its thickness. */
    #define MC_BLOCKING 0.25
    /* Where a stretch is not free what is thin looks this part of its reach far, and else not beyond its next stride. */
    #define MC_VIEW 0.15
    """
    const double BLOCKING "MC_BLOCKING"
    const double VIEW "MC_VIEW"

cdef enum:
    STRIDES = 512                # after which they double
    HALVINGS = 4                 # of a stride that met something, to find where: a sixteenth of it is left
    LEGS = 8                     # three walls that stand in the way make a corner

# The solid and the surface on their ways, from one deflection to the next.
ctypedef struct Leg:
    Solid surface
    Solid solid
    Course surface_course
    Course solid_course
    double ahead                 # time that is left [s]
    double speed                 # of the fastest point of one seen from the other, at most [m/s]
    double travel_speed          # the same but for what turning adds
    double turn_reach            # how far turning moves a point in any time, at most [m]
    double stretch               # by which strides are longer than half the thickness asks
    int strides                  # made since they doubled
    double met_after             # how long it lasts, once its end is known [s]
    double then                  # the last time looked at, and the places at it
    Solid surface_then
    Solid solid_then

ctypedef struct Ride:
    double near                  # [m]
    double limit                 # how far apart what may meet can be now [m]
    int count
    Leg leg[LEGS]


cdef inline double thickness(const Solid* s) noexcept nogil:
    """Less than which no plane can be from its middle without overlap [m]."""
    cdef Vec3 middle
    cdef double least
    cdef int32_t i
    if s.type != HULL:
        return inner_radius(s)
    middle.x = middle.y = middle.z = 0.0
    for i in range(s.hull.vertex_count):
        middle = add(middle, s.hull.vertices[i])
    middle = scale(1.0 / s.hull.vertex_count, middle)
    least = INFINITY
    for i in range(s.hull.face_count):
        least = min(least, s.hull.offsets[i] - dot(s.hull.normals[i], middle))
    return least + s.rounding


cdef inline void go_to(Leg* leg, double t) noexcept nogil:
    leg.then = t
    leg.surface_then = moved(&leg.surface, &leg.surface_course, t)
    leg.solid_then = moved(&leg.solid, &leg.solid_course, t)


cdef inline int is_free(Leg* leg, double near, double t, double until) noexcept nogil:
    """Is there no triangle near the path between the two times?"""
    cdef Walk walk
    cdef Aabb box
    cdef double half = 0.5 * (until - t)
    cdef double turning = min(half * (leg.speed - leg.travel_speed), leg.turn_reach)
    go_to(leg, 0.5 * (t + until))
    box = box_on_surface(&leg.surface_then, &leg.solid_then, half * leg.travel_speed + turning + near)
    walk_start(leg.surface_then.surface, box.lower, box.upper, &walk)
    return walk_next(leg.surface_then.surface, &walk) < 0


cdef inline Vec3 velocity_then(const Course* c, double t, Vec3 p) noexcept nogil:
    """Of the point of a body that is at p after the time t [m/s]."""
    return add(c.twist.v, cross(c.twist.w, sub(p, add_scaled(c.centre, t, c.twist.v))))


cdef inline double approach(const Leg* leg, const Part* part) noexcept nogil:
    """How fast the solid's point nearest to the part moves against its normal [m/s]."""
    cdef Vec3 p = add(leg.solid_then.position, part.deepest.position)
    cdef Vec3 u = sub(velocity_then(&leg.solid_course, leg.then, p), velocity_then(&leg.surface_course, leg.then, p))
    return -dot(part.normal, u)


cdef inline int is_new(const Parts* kept, const Part* part) noexcept nogil:
    cdef int i
    for i in range(kept.count):
        if dot(kept.part[i].normal, part.normal) > PART_COSINE:
            return 0
    return 1


cdef inline double look(Leg* leg, double near, double limit, double t, Sheets* sheets, const Parts* kept,
                        Parts* met, double* clear) noexcept nogil:
    """The parts that are near after the time t and that the solid moves against, but for those known; their points no
    farther than `limit`. -> the largest approach of them [m/s], 0: there are none. clear: so far nothing new is near [m],
    up to limit - near"""
    cdef int i
    cdef int count = 0
    cdef double a, s
    cdef double most = 0.0
    clear[0] = limit - near
    go_to(leg, t)
    surface_contacts(&leg.surface_then, &leg.solid_then, limit, sheets, met)
    for i in range(met.count):
        if not is_new(kept, &met.part[i]):
            continue
        s = met.part[i].deepest.separation - near
        clear[0] = min(clear[0], max(s, 0.0))
        a = approach(leg, &met.part[i])
        if s <= 0.0 and a > 0.0:
            met.part[count] = met.part[i]
            count += 1
            most = max(most, a)
    met.count = count
    return most


cdef inline double go_on(Leg* leg, double near, double* t, Sheets* sheets, const Parts* kept,
                         Parts* met) noexcept nogil:
    """Go on from the time t to the next new parts. -> the largest approach [m/s], 0: the end of the time. t and the
    places then are where they are met."""
    cdef double stride = leg.stretch * 0.5 * thickness(&leg.solid) / leg.speed
    cdef double limit
    cdef double length, middle
    cdef double before = t[0]
    cdef double clear = 0.0
    cdef int _
    while t[0] < leg.ahead:
        length = leg.ahead - t[0]
        while length > stride and not is_free(leg, near, t[0], t[0] + length):
            length = max(0.25 * length, stride)
        leg.strides += 1
        if leg.strides == STRIDES:
            leg.strides = 0
            leg.stretch *= 2.0
            stride *= 2.0
        before = t[0]
        if length > stride:
            t[0] = min(t[0] + length, leg.ahead)
            clear = 0.0
            continue
        length = min(max(length, clear / leg.speed), leg.ahead - t[0])
        t[0] = min(t[0] + length, leg.ahead)
        limit = VIEW * leg.solid.reach
        limit = near + (limit if limit > 4.0 * stride * leg.speed else 0.0)
        if look(leg, near, limit, t[0], sheets, kept, met, &clear) == 0.0:
            continue
        for _ in range(HALVINGS):
            middle = 0.5 * (before + t[0])
            if look(leg, near, near, middle, sheets, kept, met, &clear) > 0.0:
                t[0] = middle
            else:
                before = middle
        # All its points that may come to bear as it turns on.
        return look(leg, near, near + 2.0 * leg.solid.reach, t[0], sheets, kept, met, &clear)
    return 0.0


cdef inline void deflect(Leg* leg, const Parts* parts, int begin) noexcept nogil:
    """Take from the solid's velocity what goes against the parts from `begin` on; twice, for they share corners."""
    cdef int i, _
    cdef double a
    for _ in range(2):
        for i in range(begin, parts.count):
            a = -dot(parts.part[i].normal, sub(leg.solid_course.twist.v, leg.surface_course.twist.v))
            if a > 0.0:
                leg.solid_course.twist.v = add_scaled(leg.solid_course.twist.v, a, parts.part[i].normal)


cdef inline double turn_reach(const Solid* s, const Course* c) noexcept nogil:
    """How far turning moves a point, at most: across the circle on which it goes [m]."""
    return 2.0 * (norm(sub(s.position, c.centre)) + s.reach) if c.spin_speed > 0.0 else 0.0


cdef inline void set_off(Leg* leg) noexcept nogil:
    leg.travel_speed = norm(sub(leg.solid_course.twist.v, leg.surface_course.twist.v))
    leg.speed = leg.travel_speed + leg.solid_course.spin_speed + leg.surface_course.spin_speed
    leg.turn_reach = turn_reach(&leg.solid, &leg.solid_course) + turn_reach(&leg.surface, &leg.surface_course)


cdef inline void next_leg(Ride* r, double t, const Parts* kept) noexcept nogil:
    """After the time t of the last leg the solid slides on along what it has met."""
    cdef Leg* last = &r.leg[r.count - 1]
    cdef Leg* leg = &r.leg[r.count]
    last.met_after = t
    leg[0] = last[0]
    leg.surface = last.surface_then
    leg.solid = last.solid_then
    leg.surface_course.centre = add_scaled(last.surface_course.centre, t, last.surface_course.twist.v)
    leg.solid_course.centre = add_scaled(last.solid_course.centre, t, last.solid_course.twist.v)
    leg.ahead = last.ahead - t
    deflect(leg, kept, 0)
    set_off(leg)
    r.count += 1


cdef inline Vec3 turn_of(const Leg* leg) noexcept nogil:
    """By what the solid turns against the surface in the time that is left [rad]."""
    return scale(leg.ahead, sub(leg.solid_course.twist.w, leg.surface_course.twist.w))


cdef inline void bring_home(const Ride* r, double t, Manifold* m) noexcept nogil:
    """The points of a meeting after the time t of the last leg, placed where the bodies have them now."""
    cdef const Leg* leg = &r.leg[r.count - 1]
    cdef int i
    set_carrying(m, &leg.surface_then, &leg.solid_then, turn_of(leg))
    bring_back(m, &leg.surface_course, &leg.solid_course, t)
    for i in range(r.count - 2, -1, -1):
        leg = &r.leg[i]
        bring_back(m, &leg.surface_course, &leg.solid_course, leg.met_after)


cdef inline int surface_manifolds(Ride* r, Sheets* sheets, Patch* patch, Manifold* m) noexcept nogil:
    """Normals, from the surface to the solid, and points of the parts that are near now or will be in the time ahead.
    m: room for SURFACE_MANIFOLDS; patch: with the pair's last manifolds. -> how many

    What is farther than `near` now is left to the search along the path. When all parts are taken that ends too, and
    whatever else the solid will meet is found when it is near.
    """
    cdef Leg* leg = &r.leg[0]
    cdef Parts kept, met
    cdef int i, k, stored
    cdef int count = 0
    cdef int parts = 0
    cdef double size = leg.solid.reach
    cdef double t = 0.0
    cdef double most
    surface_contacts(&leg.surface, &leg.solid, min(r.limit, r.near + leg.solid.reach), sheets, &kept)
    for i in range(kept.count):
        if kept.part[i].deepest.separation <= r.near:
            # One manifold at least is left for each part that may follow.
            stored = part_store(&kept.part[i], leg.solid.position, size,
                                SURFACE_MANIFOLDS - count - (PART_MOST - 1 - parts),
                                patch, &m[count])
            for k in range(count, count + stored):
                set_carrying(&m[k], &leg.surface, &leg.solid, turn_of(leg))
            if parts < i:
                kept.part[parts] = kept.part[i]
            parts += 1
            count += stored
    kept.count = parts
    if leg.ahead == 0.0 or r.limit <= 2.0 * r.near:
        return count
    r.count = 1
    leg.strides = 0
    leg.stretch = 1.0
    deflect(leg, &kept, 0)
    set_off(leg)
    while kept.count < PART_MOST and leg.ahead * leg.speed > 0.1 * r.near:
        most = go_on(leg, r.near, &t, sheets, &kept, &met)
        if most == 0.0:
            break
        for i in range(met.count):
            if kept.count == PART_MOST:
                break
            stored = part_store(&met.part[i], leg.solid_then.position, size,
                                SURFACE_MANIFOLDS - count - (PART_MOST - 1 - kept.count), patch, &m[count])
            for k in range(count, count + stored):
                bring_home(r, t, &m[k])
            kept.part[kept.count] = met.part[i]
            kept.count += 1
            count += stored
        if most * (leg.ahead - t) > BLOCKING * thickness(&leg.solid):
            if r.count == LEGS:
                break
            next_leg(r, t, &kept)
            leg = &r.leg[r.count - 1]
            t = 0.0
    return count
