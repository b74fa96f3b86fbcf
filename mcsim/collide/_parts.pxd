"""The contacts of a solid with many triangles, gathered by normal into few patches.

A part takes the points whose normals are within acos(PART_COSINE) of its first one's. Of any number of points it keeps
the deepest and those that reach farthest along 16 directions of its plane, or 32 under solids whose faces may have many
corners, so no list can run full. When PART_MOST parts are open a point with another normal goes to the part whose normal
is nearest: none is dropped. A part becomes a manifold of four points, or the several ones of its patch (_patch.pxd).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport cross, dot, perpendicular, sub
from mcsim.state._manifold cimport Manifold
from mcsim.collide.shapes._parts cimport mc_rim_cos, mc_rim_sin
from mcsim.collide._contact cimport Contact, reduce_contacts, store
from mcsim.collide._patch cimport Patch, add_far_points, alike, choose_patch, deal, parts_of_patch

cdef enum:
    PART_MOST = 16               # parts with normals of their own; others go to the part of the nearest normal
    PART_WAYS = 32               # directions in each of which a part keeps its farthest point
    SURFACE_MANIFOLDS = 32       # of a surface and a solid, at most

cdef extern from *:
    """
    /* Cosine of the angle within which normals are of one part: 1.8 degrees. */
    #define MC_PART_COSINE 0.9995
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
    int ways                     # how many of the directions it looks along
    int32_t sheet                # number + 1 of the sheet of its first point, negative where its back is touched
    int32_t reserved

ctypedef struct Parts:
    int count
    int ways
    Part part[PART_MOST]


cdef inline void part_open(Part* part, Vec3 normal, int32_t sheet, int ways) noexcept nogil:
    cdef int k
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


cdef inline void part_take(Part* part, Vec3 normal, const Contact* c, double tolerance) noexcept nogil:
    """One more point; a later one must be farther, or deeper, by the tolerance [m]."""
    cdef double x = dot(c.position, part.e1)
    cdef double y = dot(c.position, part.e2)
    cdef double r
    cdef int k
    if part.deepest.separation == INFINITY or c.separation < part.deepest.separation - tolerance:
        part.deepest = c[0]
        part.normal = normal
    for k in range(part.ways):
        if k < 16:
            r = x * mc_part_cos[k] + y * mc_part_sin[k]
        else:
            r = x * mc_rim_cos[k - 16] + y * mc_rim_sin[k - 16]
        if part.reach[k] == -INFINITY or r > part.reach[k] + tolerance:
            part.reach[k] = r
            part.far[k] = c[0]


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
    for i in range(count):
        d = sub(list[i].position, c.position)
        if dot(d, d) <= tolerance * tolerance or list[i].feature == c.feature and c.feature != 0:
            return 1
    return 0


cdef inline int part_store(const Part* part, Vec3 origin, double size, int room, Patch* patch, Manifold* m) noexcept nogil:
    """The manifolds of a part, at most `room`: normal from the surface to the solid, points about `origin`. size: the
    solid's [m]; patch: that with the pair's last manifolds. -> how many"""
    cdef Contact list[PART_WAYS + 1]
    cdef int count = 1
    cdef int i, k, parts
    list[0] = part.deepest
    for k in range(part.ways):
        if not is_listed(list, count, &part.far[k], 1e-9 * size):
            list[count] = part.far[k]
            count += 1
    choose_patch(list, count, part.normal, size, NULL, origin, patch)
    count = reduce_contacts(list, count, part.normal)
    store(m, list, count, part.normal, origin)
    m.sheet = part.sheet
    m.thinning = 1.0
    add_far_points(patch, m)
    parts = parts_of_patch(patch)
    if parts < 2 or parts > room:
        return 1
    for i in range(1, parts):
        alike(&m[i], m)
    deal(patch, parts, m)
    return parts
