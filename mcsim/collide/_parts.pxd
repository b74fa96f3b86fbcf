"""The contacts of a solid with many triangles, gathered by normal into few patches.

A part takes the points whose normals are within acos(PART_COSINE) of its first one's. When PART_MOST parts are open a
point with another normal goes to the part whose normal is nearest: none is dropped.

Over several triangles the gaps are no plane: a face may stand on what is well inside of its outline, with its corners in
the air. It stands on those points that it meets first, however little it tilts: with gaps g at p, those of the least
g - s p.d for a slope s and some direction d, the corners of the lower convex hull of the points (p, g). So a part keeps,
of any number of points, the deepest and, for 16 directions each, or 32 under solids whose faces may have many corners,
those of a slope that is nothing, on which it stands; those of a small one, to which it may rock; and those that reach
farthest, which may come down within the step. No list can run full. What stands is chosen among the first
alone, so that it does not change with who is deepest by a hair; the others are there beside it.

A part becomes a manifold of four points, or the several ones of its patch (_patch.pxd).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport cross, dot, perpendicular, sub
from mcsim.state._manifold cimport Manifold
from mcsim.collide.shapes._parts cimport mc_rim_cos, mc_rim_sin
from mcsim.collide._contact cimport Contact, reduce_contacts
from mcsim.collide._patch cimport Patch, alike, choose_patch, deal, parts_of_patch
from mcsim.collide._records cimport PATCH_POINTS

cdef enum:
    PART_MOST = 16               # parts with normals of their own; others go to the part of the nearest normal
    PART_WAYS = 32               # directions in each of which a part keeps its farthest point
    SLOPES = 2                   # for each of which, and in each direction, it keeps the point that it meets first
    PART_POINTS = 97             # 1 + (SLOPES + 1) PART_WAYS
    SURFACE_MANIFOLDS = 32       # of a surface and a solid, at most

cdef extern from *:
    """
    /* Cosine of the angle within which normals are of one part: 1.8 degrees. */
    #define MC_PART_COSINE 0.9995
    /* Of SLOPES: less than a body at rest trembles by, and more than one that settles rocks by. */
    static const double mc_part_slope[2] = {1e-4, 1e-2};
    /* cos and sin of (k + 1/2) 22.5 degrees: half a step off the axes, so that a square's corners are reached for. */
    static const double mc_part_cos[16] = {
        0.98078528040323044, 0.83146961230254524, 0.55557023301960222, 0.19509032201612827,
        -0.19509032201612827, -0.55557023301960222, -0.83146961230254524, -0.98078528040323044,
        -0.98078528040323044, -0.83146961230254524, -0.55557023301960222, -0.19509032201612827,
        0.19509032201612827, 0.55557023301960222, 0.83146961230254524, 0.98078528040323044};
    static const double mc_part_sin[16] = {
        0.19509032201612827, 0.55557023301960222, 0.83146961230254524, 0.98078528040323044,
        0.98078528040323044, 0.83146961230254524, 0.55557023301960222, 0.19509032201612827,
        -0.19509032201612827, -0.55557023301960222, -0.83146961230254524, -0.98078528040323044,
        -0.98078528040323044, -0.83146961230254524, -0.55557023301960222, -0.19509032201612827};
    """
    const double PART_COSINE "MC_PART_COSINE"
    const double[2] mc_part_slope
    const double[16] mc_part_cos
    const double[16] mc_part_sin

ctypedef struct Part:
    Vec3 seed                    # normal of its first point
    Vec3 normal                  # of its deepest point: from the surface to the solid, unit, world
    Vec3 e1                      # axes of its plane
    Vec3 e2
    Contact deepest
    Contact far[PART_WAYS]
    double reach[PART_WAYS]
    Contact first[SLOPES][PART_WAYS]
    double lean[SLOPES][PART_WAYS]
    int ways                     # how many of the directions it looks along
    int32_t sheet                # number + 1 of the sheet of its first point, negative where its back is touched
    int32_t reserved

ctypedef struct Parts:
    int count
    int ways
    Part part[PART_MOST]


cdef inline void part_open(Part* part, Vec3 normal, int32_t sheet, int ways) noexcept nogil:
    cdef int k, j
    part.ways = ways
    part.seed = normal
    part.normal = normal
    part.e1 = perpendicular(normal)
    part.e2 = cross(normal, part.e1)
    part.sheet = sheet
    part.reserved = 0
    part.deepest.separation = INFINITY
    for k in range(ways):
        part.reach[k] = -INFINITY
    for j in range(SLOPES):
        for k in range(ways):
            part.lean[j][k] = -INFINITY


cdef inline void keep_farthest(double* reach, Contact* kept, const double* r, double back, int ways, const Contact* c,
                               double tolerance) noexcept nogil:
    """Of each direction the point at the largest r - back. Most points are none of them, and that is told at once."""
    cdef bint some = False
    cdef int k
    for k in range(ways):
        some |= r[k] - back > reach[k] + tolerance
    for k in range(ways if some else 0):
        if r[k] - back > reach[k] + tolerance:
            reach[k] = r[k] - back
            kept[k] = c[0]


cdef inline void part_take(Part* part, Vec3 normal, const Contact* c, double tolerance) noexcept nogil:
    """One more point; a later one must be farther, or deeper, by the tolerance [m]."""
    cdef double r[PART_WAYS]
    cdef double x = dot(c.position, part.e1)
    cdef double y = dot(c.position, part.e2)
    cdef int k
    if part.deepest.separation == INFINITY or c.separation < part.deepest.separation - tolerance:
        part.deepest = c[0]
        part.normal = normal
    for k in range(16):
        r[k] = x * mc_part_cos[k] + y * mc_part_sin[k]
    for k in range(16, part.ways):
        r[k] = x * mc_rim_cos[k - 16] + y * mc_rim_sin[k - 16]
    keep_farthest(part.reach, part.far, r, 0.0, part.ways, c, tolerance)
    for k in range(SLOPES):
        keep_farthest(part.lean[k], part.first[k], r, c.separation / mc_part_slope[k], part.ways, c, tolerance)


cdef inline void parts_take(Parts* parts, Vec3 normal, const Contact* contacts, int count, int32_t sheet,
                            double tolerance) noexcept nogil:
    """Points with one normal."""
    cdef int i
    cdef int best = -1
    cdef double d
    cdef double most = -INFINITY
    if count == 0:
        return
    for i in range(parts.count):
        d = dot(parts.part[i].seed, normal)
        if d > most:
            most = d
            best = i
    if most < PART_COSINE and parts.count < PART_MOST:
        best = parts.count
        parts.count += 1
        part_open(&parts.part[best], normal, sheet, parts.ways)
    for i in range(count):
        part_take(&parts.part[best], normal, &contacts[i], tolerance)


cdef inline int is_listed(const Contact* list, int count, const Contact* c, double tolerance) noexcept nogil:
    """Is the point among those before it?"""
    cdef int i
    cdef Vec3 d
    for i in range(count if c.feature != 0 else 0):
        if list[i].feature == c.feature:
            return 1
    for i in range(count):
        d = sub(list[i].position, c.position)
        if dot(d, d) <= tolerance * tolerance:
            return 1
    return 0


cdef inline int list_more(Contact* list, int count, const Contact* more, int ways, double tolerance) noexcept nogil:
    """Those that are not in the list yet. -> count"""
    cdef int k
    for k in range(ways):
        if not is_listed(list, count, &more[k], tolerance):
            list[count] = more[k]
            count += 1
    return count


cdef inline void add_four(Patch* patch, const Contact* list, int count, Vec3 normal, double tolerance) noexcept nogil:
    """Of a list the four points that reduce_contacts chooses, as far as they are none of the patch yet."""
    cdef Contact four[PART_POINTS]
    cdef int k
    for k in range(count):
        four[k] = list[k]
    count = reduce_contacts(four, count, normal)
    for k in range(count):
        if patch.count < PATCH_POINTS and not is_listed(patch.points, patch.count, &four[k], tolerance):
            patch.points[patch.count] = four[k]
            patch.count += 1


cdef inline int part_store(const Part* part, Vec3 origin, double size, int room, Patch* patch, Manifold* m) noexcept nogil:
    """The manifolds of a part, at most `room`: normal from the surface to the solid, points about `origin`. size: the
    solid's [m]; patch: that with the pair's last manifolds. -> how many"""
    cdef Contact list[PART_POINTS]
    cdef double tolerance = 1e-9 * size
    cdef int k, parts, standing, first, near, count
    list[0] = part.deepest
    first = list_more(list, 1, part.first[0], part.ways, tolerance)
    near = list_more(list, first, part.first[1], part.ways, tolerance)
    count = list_more(list, near, part.far, part.ways, tolerance)
    choose_patch(list, first, part.normal, size, NULL, origin, patch)
    if patch.count == 0:
        add_four(patch, list, first, part.normal, tolerance)
    standing = patch.count
    add_four(patch, list, near, part.normal, tolerance)
    add_four(patch, list, count, part.normal, tolerance)
    m.sheet = part.sheet
    m.normal = part.normal
    parts = min(parts_of_patch(patch), room)
    patch.count = min(patch.count, 4 * parts)
    for k in range(1, parts):
        alike(&m[k], m)
    deal(patch, parts, m)
    for k in range(parts):
        m[k].thinning = 4.0 / max(standing, 4)          # of those on which it stands
    return parts
