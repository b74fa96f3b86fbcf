"""The contacts of a solid with a surface: triangle by triangle, gathered into few manifolds.

Along a face's own normal its contact is the part of the solid's low side that lies over it. That is all there is to it
where the solid's lowest point lies over the face, and where all neighbours are flat or rise. Else the axis of least
overlap of triangle and solid (GJK, EPA) is taken if the surface may have that normal there (_facet.pxd).

A surface has two sides, and a solid is on one of them, sheet by sheet: that of its last contact, or that on which its
middle is. The ground below a height field is solid. Of faces that the middle has passed through only the nearest
counts, and only if nothing else holds the solid: so a deep body leaves by the shortest way.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (add, add_scaled, dot, mat_mul, mat_t_vec, neg, norm, scale, sub, transpose,
                                    vec3)
from mcsim.state._shape_types cimport SPHERE
from mcsim.collide._shape_table cimport bounds, core_radius, middle_of, support, supporting_feature, ways_for
from mcsim.collide._solid cimport Aabb, Solid
from mcsim.collide._contact cimport Axis, Contact, MAX_CONTACTS, deepest_of, miss_lowest, take_lowest
from mcsim.collide._clip cimport features_overlap
from mcsim.collide._convex cimport best_axis
from mcsim.collide._gjk cimport nearest_on_triangle
from mcsim.collide._facet cimport (Facet, Placing, Slab, bends_away, facet_of, inside_edge, is_over, may_touch_along,
                                   slab_of)
from mcsim.collide._parts cimport PART_COSINE, PART_MOST, Part, Parts, part_open, part_take, parts_take
from mcsim.collide.shapes._parts cimport Polygon
from mcsim.collide._surface cimport Surface
from mcsim.collide._surface_walk cimport Walk, sheet_of, walk_next, walk_start

cdef enum:
    SHEETS = 16                  # a solid's sides of more sheets at once are judged face by face

# On which sides of which sheets a solid is.
ctypedef struct Sheets:
    int count
    int32_t side[SHEETS]         # number + 1 of the sheet, negative: on its back
    double distance2[SHEETS]     # while sides are sought: of the nearest face
    double upright[SHEETS]       # and how straight above it the middle is

ctypedef struct Touch:
    Placing at
    Solid solid                  # at the origin
    Vec3 middle                  # of the solid, from its position
    double limit
    double radius                # of the solid's core
    double tolerance
    Polygon low_side             # the solid's feature against the direction `low_normal`
    Vec3 low_normal
    Parts* parts
    Part behind                  # of the nearest face that the middle has passed through
    int any_behind

# ---- sides -----------------------------------------------------------------------------------------------------------

cdef inline int sheet_index(const Sheets* sheets, int32_t number) noexcept nogil:
    """Where the sheet `number` + 1 is in the list, -1: not there."""
    cdef int i
    for i in range(sheets.count):
        if sheets.side[i] == number or sheets.side[i] == -number:
            return i
    return -1


cdef inline void learn_side(Sheets* sheets, int32_t side) noexcept nogil:
    """Note the side of a sheet from a former contact."""
    if side != 0 and sheets.count < SHEETS and sheet_index(sheets, side) < 0:
        sheets.side[sheets.count] = side
        sheets.count += 1


cdef inline int is_behind(const Sheets* sheets, const Surface* surface, int32_t t, int otherwise) noexcept nogil:
    """Does the back of the triangle count?"""
    cdef int i
    if surface.heights != NULL:
        return 0
    i = sheet_index(sheets, sheet_of(surface, t) + 1)
    return otherwise if i < 0 else sheets.side[i] < 0


cdef inline void find_sides(const Placing* at, Vec3 lower, Vec3 upper, Vec3 middle, Sheets* sheets) noexcept nogil:
    """The sides of the sheets in a box (surface's frame) that are not known yet: that of the face nearest to the
    middle; of several that meet in the nearest point the one that it is most straight above or below."""
    cdef Walk walk
    cdef Facet f
    cdef int known = sheets.count
    cdef int i
    cdef int32_t t
    cdef double weight[3]
    cdef double d2, height, straight
    cdef Vec3 near
    if at.surface.heights != NULL:
        return
    walk_start(at.surface, lower, upper, &walk)
    while True:
        t = walk_next(at.surface, &walk)
        if t < 0:
            return
        i = sheet_index(sheets, sheet_of(at.surface, t) + 1)
        if 0 <= i < known:
            continue
        facet_of(at, t, 0, &f)
        near = nearest_on_triangle(sub(f.p[0], middle), sub(f.p[1], middle), sub(f.p[2], middle), weight)
        d2 = dot(near, near)
        height = -dot(f.normal, sub(f.p[0], middle))
        straight = height * height / d2 if d2 > 0.0 else 1.0
        if i < 0:
            if sheets.count == SHEETS:
                continue
            i = sheets.count
            sheets.count += 1
        elif not (d2 < sheets.distance2[i] * (1.0 - 1e-9)
                  or d2 <= sheets.distance2[i] * (1.0 + 1e-9) and straight > sheets.upright[i]):
            continue
        sheets.side[i] = f.sheet if height >= 0.0 else -f.sheet
        sheets.distance2[i] = d2
        sheets.upright[i] = straight

# ---- one triangle ----------------------------------------------------------------------------------------------------

cdef inline void take_behind(Touch* x, const Facet* f, const Contact* contacts, int count) noexcept nogil:
    """Points of a face that the middle is behind of: the nearest such face stays."""
    cdef int i
    cdef double s
    if count == 0:
        return
    s = contacts[deepest_of(contacts, count)].separation
    if not x.any_behind or dot(x.behind.normal, f.normal) < PART_COSINE:
        if x.any_behind and s <= x.behind.deepest.separation + x.tolerance:
            return
        part_open(&x.behind, f.normal, f.sheet, x.parts.ways)
        x.any_behind = 1
    for i in range(count):
        part_take(&x.behind, f.normal, &contacts[i], x.tolerance)


cdef inline int is_under(const Touch* x, const Facet* f) noexcept nogil:
    """Is the middle straight below the triangle of a height field?"""
    cdef Vec3 up = vec3(x.at.axes.xz, x.at.axes.yz, x.at.axes.zz)
    cdef double rise = dot(f.normal, up)
    return x.at.surface.heights != NULL and is_over_along(f, x.middle, up, rise)


cdef inline int is_over_along(const Facet* f, Vec3 p, Vec3 up, double rise) noexcept nogil:
    """Does the line through p along `up` meet the triangle?"""
    cdef double t = -dot(f.normal, sub(p, f.p[0])) / rise
    return is_over(f, add_scaled(p, t, up))


cdef inline void touch_sphere(Touch* x, const Facet* f) noexcept nogil:
    cdef double weight[3]
    cdef Vec3 near = nearest_on_triangle(f.p[0], f.p[1], f.p[2], weight)
    cdef Vec3 g = f.normal
    cdef Vec3 d
    cdef double distance = norm(near)
    cdef Contact c
    cdef int on_face = weight[0] > 0.0 and weight[1] > 0.0 and weight[2] > 0.0
    c.feature = 0
    if f.height <= 0.0:
        if distance > x.radius and not is_under(x, f):
            return
        c.separation = (f.height if on_face else -distance) - x.radius
        c.position = scale(0.5, add(near, scale(-x.radius, g)))
        take_behind(x, f, &c, 1)
        return
    c.separation = distance - x.radius
    if c.separation > x.limit:
        return
    if on_face:
        c.separation = f.height - x.radius
    else:
        g = scale(-1.0 / distance, near)
        d = sub(g, f.normal)
        if dot(d, d) < 1e-12:
            g = f.normal
        elif not may_touch_along(&x.at, f, g):
            return
    c.position = scale(-(x.radius + 0.5 * c.separation), g)
    parts_take(x.parts, g, &c, 1, f.sheet, x.tolerance)


cdef inline void face_polygon(const Facet* f, Polygon* out) noexcept nogil:
    cdef int k
    out.count = 3
    out.normal = f.normal
    out.disc = out.height = out.radius[0] = out.radius[1] = 0.0
    for k in range(3):
        out.points[k] = f.p[k]
        out.id[k] = f.id[k]


cdef inline int over_face(Touch* x, const Facet* f, const Polygon* face, Vec3 low, double lowest,
                          Contact* contacts) noexcept nogil:
    """Points of the solid's low side over the face, and the lowest point if it is one of them. -> count"""
    cdef Vec3 n = f.normal
    cdef Axis axis
    cdef int count
    if n.x != x.low_normal.x or n.y != x.low_normal.y or n.z != x.low_normal.z:
        supporting_feature(&x.solid, neg(n), vec3(0.0, 0.0, 0.0), &x.low_side)
        x.low_normal = n
    count = features_overlap(face, &x.low_side, n, x.limit, contacts)
    if miss_lowest(contacts, count, lowest, x.solid.reach) and is_over(f, low):
        axis.normal = n
        axis.separation = lowest
        axis.witness = add_scaled(low, -0.5 * lowest, n)
        count = take_lowest(contacts, count, &axis, x.solid.reach)
    return count


cdef inline int lies_well_inside(const Touch* x, const Facet* f, const Contact* contacts, int count,
                                 double lowest) noexcept nogil:
    """Are the lowest points farther from all edges where the surface bends away than they are deep?"""
    cdef Vec3 sum = vec3(0.0, 0.0, 0.0)
    cdef int i
    cdef int many = 0
    for i in range(count):
        if contacts[i].separation <= lowest + x.tolerance:
            sum = add(sum, contacts[i].position)
            many += 1
    sum = scale(1.0 / many, sum)
    for i in range(3):
        if inside_edge(f, i, sum) <= -lowest and bends_away(&x.at, f, i):
            return 0
    return 1


cdef inline int along_axis(Touch* x, const Polygon* face, const Axis* axis, Contact* contacts) noexcept nogil:
    """Points where triangle and solid face each other along the axis. -> count"""
    cdef Polygon side
    cdef int count
    supporting_feature(&x.solid, neg(axis.normal), vec3(0.0, 0.0, 0.0), &side)
    count = features_overlap(face, &side, axis.normal, x.limit, contacts)
    return take_lowest(contacts, count, axis, x.solid.reach)


cdef inline double at_least_apart(const Touch* x, const Facet* f) noexcept nogil:
    """A lower bound of the distance of triangle and solid: along the line from the solid's middle to the triangle."""
    cdef double weight[3]
    cdef Vec3 near = nearest_on_triangle(sub(f.p[0], x.middle), sub(f.p[1], x.middle), sub(f.p[2], x.middle), weight)
    cdef double distance = norm(near)
    cdef Vec3 g
    if distance <= x.tolerance:
        return -INFINITY
    g = scale(1.0 / distance, near)
    return distance - dot(g, sub(support(&x.solid, g), x.middle)) - x.radius


cdef inline void touch_solid(Touch* x, Facet* f) noexcept nogil:
    cdef Vec3 n = f.normal
    cdef Vec3 low = add_scaled(support(&x.solid, neg(n)), -x.radius, n)
    cdef double lowest = dot(n, low) + f.height
    cdef Contact contacts[MAX_CONTACTS + 1]
    cdef Polygon face
    cdef Slab slab
    cdef Axis axis
    cdef Vec3 d
    cdef int count
    cdef double apart
    if lowest > x.limit:
        return
    apart = at_least_apart(x, f)
    if dot(n, x.middle) + f.height <= 0.0:
        if apart > 0.0 and not is_under(x, f):
            return
    elif apart > x.limit:
        return
    face_polygon(f, &face)
    count = over_face(x, f, &face, low, lowest, contacts)
    if dot(n, x.middle) + f.height <= 0.0:
        slab_of(f, &slab)
        if best_axis(&slab.solid, &x.solid, -x.tolerance, &axis) or is_under(x, f):      # what only touches is not behind
            if count == 0:
                contacts[0].position = low
                contacts[0].separation = lowest
                contacts[0].feature = 0
                count = 1
            take_behind(x, f, contacts, count)
        return
    if count > 0 and contacts[deepest_of(contacts, count)].separation <= lowest + x.tolerance \
            and (lowest >= 0.0 or lies_well_inside(x, f, contacts, count, lowest)) \
            or not (bends_away(&x.at, f, 0) or bends_away(&x.at, f, 1) or bends_away(&x.at, f, 2)):
        parts_take(x.parts, n, contacts, count, f.sheet, x.tolerance)
        return
    slab_of(f, &slab)
    if not best_axis(&slab.solid, &x.solid, x.limit, &axis):
        return
    d = sub(axis.normal, n)
    if dot(d, d) > 1e-12 and may_touch_along(&x.at, f, axis.normal):
        count = along_axis(x, &face, &axis, contacts)
        parts_take(x.parts, axis.normal, contacts, count, f.sheet, x.tolerance)
        return
    if count == 0 and dot(d, d) <= 1e-12:
        contacts[0].position = axis.witness
        contacts[0].separation = axis.separation
        contacts[0].feature = 0
        count = 1
    parts_take(x.parts, n, contacts, count, f.sheet, x.tolerance)

# ---- all of them -----------------------------------------------------------------------------------------------------

cdef inline int anything_held(const Parts* parts) noexcept nogil:
    cdef int i
    for i in range(parts.count):
        if parts.part[i].deepest.separation < 0.0:
            return 1
    return 0


cdef inline Aabb box_on_surface(const Solid* surface, const Solid* s, double margin) noexcept nogil:
    """The box about a solid and a margin, in the surface's frame."""
    cdef Solid local = s[0]
    cdef Aabb box
    local.axes = mat_mul(transpose(surface.axes), s.axes)
    local.position = mat_t_vec(surface.axes, sub(s.position, surface.position))
    box = bounds(&local)
    box.lower = sub(box.lower, vec3(margin, margin, margin))
    box.upper = add(box.upper, vec3(margin, margin, margin))
    return box


cdef inline void surface_contacts(const Solid* surface, const Solid* s, double limit, Sheets* sheets,
                                  Parts* parts) noexcept nogil:
    """The parts of the contact of a solid with a surface, no farther apart than `limit`; normals to the solid,
    positions from the solid's. sheets: the sides that are known; those found out are added."""
    cdef Touch x
    cdef Walk walk
    cdef Facet f
    cdef int32_t t
    cdef Aabb box = box_on_surface(surface, s, limit)
    x.at.surface = surface.surface
    x.at.axes = surface.axes
    x.at.origin = mat_t_vec(surface.axes, sub(s.position, surface.position))
    x.solid = s[0]
    x.solid.position = vec3(0.0, 0.0, 0.0)
    x.middle = middle_of(s)
    x.limit = limit
    x.radius = core_radius(s)
    x.tolerance = 1e-9 * s.reach
    x.low_normal = vec3(0.0, 0.0, 0.0)
    x.parts = parts
    x.any_behind = 0
    parts.count = 0
    parts.ways = ways_for(s)
    find_sides(&x.at, box.lower, box.upper, x.middle, sheets)
    walk_start(x.at.surface, box.lower, box.upper, &walk)
    while True:
        t = walk_next(x.at.surface, &walk)
        if t < 0:
            break
        facet_of(&x.at, t, 0, &f)
        if is_behind(sheets, x.at.surface, t, dot(f.normal, x.middle) + f.height < 0.0):
            facet_of(&x.at, t, 1, &f)
        if s.type == SPHERE:
            touch_sphere(&x, &f)
        else:
            touch_solid(&x, &f)
    if x.any_behind and parts.count < PART_MOST and not anything_held(parts):
        parts.part[parts.count] = x.behind
        parts.count += 1
