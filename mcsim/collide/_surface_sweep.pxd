"""What a fast solid will meet on a surface within the time ahead.

The solid goes along its path in strides no longer than half its thickness, so that nothing slips through between two of
them; where a whole stretch of the path is free of triangles it is one stride. A first overlap is narrowed down by
halving. Contacts that meet it at a grazing angle do not end the search, and one that stands in its way does.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport add, add_scaled, cross, dot, norm, scale, sub
from mcsim.state._layout cimport BOX, CYLINDER, HULL, Manifold
from mcsim.collide._solid cimport Aabb, Solid
from mcsim.collide._sweep cimport Course, bring_back, moved
from mcsim.collide._surface cimport Walk, walk_next, walk_start
from mcsim.collide._parts cimport PART_COSINE, PART_MOST, Part, Parts, part_store
from mcsim.collide._surface_contacts cimport Sheets, box_on_surface, middle_of, surface_contacts

cdef extern from *:
    """
    /* A contact stands in the way where the solid meets it at more than 17 degrees. */
    #define MC_BLOCKING 0.3
    """
    const double BLOCKING "MC_BLOCKING"

cdef enum:
    HALVINGS = 4

# The solid and the surface on their ways.
ctypedef struct Ride:
    const Solid* surface
    const Solid* solid
    Course surface_course
    Course solid_course
    double near                  # [m]
    double ahead                 # [s]
    double speed                 # of the fastest point of one seen from the other, at most [m/s]
    Solid surface_then           # at the last place looked at
    Solid solid_then


cdef inline double thickness(const Solid* s) noexcept nogil:
    """Less than which no plane can be from its middle without overlap [m]."""
    cdef Vec3 middle
    cdef double least
    cdef int32_t i
    if s.type == BOX:
        return min(s.size.x, min(s.size.y, s.size.z))
    if s.type == CYLINDER:
        return min(s.size.x, s.size.y)
    if s.type != HULL:
        return s.size.x
    middle.x = middle.y = middle.z = 0.0
    for i in range(s.hull.vertex_count):
        middle = add(middle, s.hull.vertices[i])
    middle = scale(1.0 / s.hull.vertex_count, middle)
    least = INFINITY
    for i in range(s.hull.face_count):
        least = min(least, s.hull.offsets[i] - dot(s.hull.normals[i], middle))
    return least


cdef inline void ride_to(Ride* r, double t) noexcept nogil:
    r.surface_then = moved(r.surface, &r.surface_course, t)
    r.solid_then = moved(r.solid, &r.solid_course, t)


cdef inline int is_free(Ride* r, double t, double until) noexcept nogil:
    """Is there no triangle near the path between the two times?"""
    cdef Walk walk
    cdef Aabb box
    ride_to(r, 0.5 * (t + until))
    box = box_on_surface(&r.surface_then, &r.solid_then, 0.5 * (until - t) * r.speed + r.near)
    walk_start(r.surface_then.surface, box.lower, box.upper, &walk)
    return walk_next(r.surface_then.surface, &walk) < 0


cdef inline double approach(const Ride* r, const Part* part) noexcept nogil:
    """How fast the solid's point nearest to the part moves against its normal, as part of the speed."""
    cdef Vec3 p = add(r.solid_then.position, part.deepest.position)
    cdef Vec3 u = sub(add(r.solid_course.twist.v,
                          cross(r.solid_course.twist.w, sub(p, r.solid_course.centre))),
                      add(r.surface_course.twist.v,
                          cross(r.surface_course.twist.w, sub(p, r.surface_course.centre))))
    return -dot(part.normal, u) / r.speed


cdef inline int is_new(const Parts* kept, const Part* part) noexcept nogil:
    cdef int i
    for i in range(kept.count):
        if dot(kept.part[i].normal, part.normal) > PART_COSINE:
            return 0
    return 1


cdef inline double look(Ride* r, double t, Sheets* sheets, const Parts* kept, Parts* met) noexcept nogil:
    """The parts that are near after the time t and that the solid moves against, but for those known. -> the largest
    approach of them, 0: there are none"""
    cdef int i
    cdef int count = 0
    cdef double a
    cdef double most = 0.0
    ride_to(r, t)
    surface_contacts(&r.surface_then, &r.solid_then, r.near, sheets, met)
    for i in range(met.count):
        a = approach(r, &met.part[i])
        if a > 0.0 and is_new(kept, &met.part[i]):
            met.part[count] = met.part[i]
            count += 1
            most = max(most, a)
    met.count = count
    return most


cdef inline double ride_on(Ride* r, double* t, double stride, Sheets* sheets, const Parts* kept, Parts* met) noexcept nogil:
    """Go on from the time t to the next new parts. -> the largest approach, 0: the end of the time. t and the places then
    are where they are met."""
    cdef double length, most, middle, less
    cdef double before = t[0]
    cdef int i
    while t[0] < r.ahead:
        length = r.ahead - t[0]
        while length > stride and not is_free(r, t[0], t[0] + length):
            length = max(0.25 * length, stride)
        before = t[0]
        t[0] = min(t[0] + length, r.ahead)
        if length > stride:
            continue
        most = look(r, t[0], sheets, kept, met)
        if most == 0.0:
            continue
        for i in range(HALVINGS):
            middle = 0.5 * (before + t[0])
            less = look(r, middle, sheets, kept, met)
            if less > 0.0:
                t[0] = middle
            else:
                before = middle
        return look(r, t[0], sheets, kept, met)
    return 0.0


cdef inline int surface_manifolds(Ride* r, double limit, int surface_dynamic, int solid_dynamic, Sheets* sheets,
                                  Manifold* m) noexcept nogil:
    """Normals, from the surface to the solid, and points of the parts that are near now or will be within the time ahead;
    limit: how far apart what may meet can be. m: room for PART_MOST. -> how many

    What is farther than `near` now is left to the search along the path. When all parts are taken that ends too, and
    whatever else the solid will meet is found when it is near.
    """
    cdef Parts kept, met
    cdef int i
    cdef int count = 0
    cdef double tolerance = 1e-9 * r.solid.reach
    cdef double t = 0.0
    cdef double most, stride
    surface_contacts(r.surface, r.solid, min(limit, r.near + r.solid.reach), sheets, &kept)
    for i in range(kept.count):
        if kept.part[i].deepest.separation <= r.near:
            part_store(&kept.part[i], r.solid.position, tolerance, &m[count])
            kept.part[count] = kept.part[i]
            count += 1
    kept.count = count
    if r.ahead == 0.0 or limit <= 2.0 * r.near:
        return count
    r.speed = norm(sub(r.solid_course.twist.v, r.surface_course.twist.v)) + r.solid_course.spin_speed \
        + r.surface_course.spin_speed
    stride = 0.5 * thickness(r.solid) / r.speed
    while kept.count < PART_MOST:
        most = ride_on(r, &t, stride, sheets, &kept, &met)
        if most == 0.0:
            break
        for i in range(met.count):
            if kept.count == PART_MOST:
                break
            part_store(&met.part[i], r.solid_then.position, tolerance, &m[kept.count])
            bring_back(&m[kept.count], &r.surface_then, &r.surface_course, &r.solid_then, &r.solid_course, t,
                       surface_dynamic, solid_dynamic)
            kept.part[kept.count] = met.part[i]
            kept.count += 1
        if most > BLOCKING:
            break
    return kept.count
