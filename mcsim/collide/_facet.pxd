"""One triangle of a surface before a solid, and which normals its edges and corners may give.

Where the surface bends away from a solid (a ridge, a peak) a contact on the edge may have any normal between those of
the two faces: one along which neither face rises. Where it is flat or bends towards the solid there is none, and a
normal found against that triangle alone is not the surface's: the face beside it has the contact. So nothing catches on the
edges inside a floor. A border edge stands alone and may have any normal.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Vec3
from mcsim.core._math cimport cross, dot, mat_vec, neg, norm, scale, sub
from mcsim.state._shape_types cimport HULL
from mcsim.collide._solid cimport HullView, Solid
from mcsim.collide._surface cimport BORDER, CROWDED, RING, Surface
from mcsim.collide._surface_walk cimport sheet_of, triangle_corners, triangle_opposite, vertex_at, vertex_ring
from mcsim.collide.shapes._parts cimport ALIGNED

# Where a surface is, seen from a solid: world axes about the solid's position.
ctypedef struct Placing:
    const Surface* surface
    Mat3 axes                    # the surface's in the world
    Vec3 origin                  # the solid's position in the surface's frame [m]

ctypedef struct Facet:
    Vec3 p[3]                    # corners, world axes from the solid's position, counter-clockwise seen along -normal
    int32_t id[3]
    int32_t opposite[3]          # across the edge from corner k to k + 1
    Vec3 normal                  # unit, towards the side on which the solid is
    double height                # of the solid's position over the plane [m]
    double size                  # of the longest edge [m]
    int32_t triangle
    int32_t sheet                # number + 1, negative where the side is the back


cdef inline Vec3 placed_vertex(const Placing* at, int32_t v) noexcept nogil:
    return mat_vec(at.axes, sub(vertex_at(at.surface, v), at.origin))


cdef inline void facet_of(const Placing* at, int32_t t, int back, Facet* f) noexcept nogil:
    """The triangle t, of which the front, or the back, counts."""
    cdef int32_t id[3]
    cdef int32_t opposite[3]
    cdef Vec3 e, g, h, n
    cdef double longest
    triangle_corners(at.surface, t, id)
    triangle_opposite(at.surface, t, opposite)
    f.triangle = t
    f.sheet = sheet_of(at.surface, t) + 1
    f.id[0] = id[0]
    f.id[1] = id[2] if back else id[1]
    f.id[2] = id[1] if back else id[2]
    f.opposite[0] = opposite[2] if back else opposite[0]
    f.opposite[1] = opposite[1]
    f.opposite[2] = opposite[0] if back else opposite[2]
    if back:
        f.sheet = -f.sheet
    f.p[0] = placed_vertex(at, f.id[0])
    f.p[1] = placed_vertex(at, f.id[1])
    f.p[2] = placed_vertex(at, f.id[2])
    e = sub(f.p[1], f.p[0])
    g = sub(f.p[2], f.p[0])
    h = sub(f.p[2], f.p[1])
    n = cross(e, g)
    f.normal = scale(1.0 / norm(n), n)
    f.height = -dot(f.normal, f.p[0])
    longest = max(dot(e, e), dot(g, g))
    f.size = sqrt(max(longest, dot(h, h)))


cdef inline double inside_edge(const Facet* f, int k, Vec3 x) noexcept nogil:
    """How far x, seen along the normal, lies inside of the edge from corner k [m]."""
    cdef int j = k + 1 if k < 2 else 0
    cdef Vec3 e = sub(f.p[j], f.p[k])
    return dot(cross(f.normal, e), sub(x, f.p[k])) / norm(e)


cdef inline int is_over(const Facet* f, Vec3 x) noexcept nogil:
    """Does x, seen along the normal, lie on the triangle?"""
    cdef double tolerance = -1e-9 * f.size
    return (inside_edge(f, 0, x) >= tolerance and inside_edge(f, 1, x) >= tolerance
            and inside_edge(f, 2, x) >= tolerance)


cdef inline int rises_to(const Placing* at, int32_t v, Vec3 from_point, Vec3 g) noexcept nogil:
    """Is the vertex higher along g than the point, by more than rounding?"""
    cdef Vec3 d = sub(placed_vertex(at, v), from_point)
    return dot(g, d) > ALIGNED * norm(d)


cdef inline int bends_away(const Placing* at, const Facet* f, int k) noexcept nogil:
    """May the edge from corner k have a normal that is not the face's?"""
    cdef Vec3 d
    if f.opposite[k] < 0:
        return 1
    d = sub(placed_vertex(at, f.opposite[k]), f.p[k])
    return dot(f.normal, d) < -ALIGNED * norm(d)


cdef inline int ring_rises(const Placing* at, int32_t v, Vec3 p, Vec3 g, int32_t also) noexcept nogil:
    """Does an edge at vertex v rise along g? also: look only at vertices beside this one too, or -1."""
    cdef int32_t grid[RING]
    cdef int32_t other_grid[RING]
    cdef const int32_t* ring
    cdef const int32_t* other = NULL
    cdef int i, j, shared
    cdef int count = vertex_ring(at.surface, v, grid, &ring)
    cdef int others = 0
    if also >= 0:
        others = vertex_ring(at.surface, also, other_grid, &other)
    for i in range(count):
        shared = also < 0
        for j in range(others):
            if other[j] == ring[i]:
                shared = 1
                break
        if shared and rises_to(at, ring[i], p, g):
            return 1
    return 0


cdef inline int may_touch_along(const Placing* at, const Facet* f, Vec3 g) noexcept nogil:
    """May the surface have the contact normal g where the triangle reaches farthest along it?"""
    cdef double h[3]
    cdef double top
    cdef double tolerance = 1e-7 * f.size
    cdef int i, j, k
    cdef int count = 0
    for k in range(3):
        h[k] = dot(g, f.p[k])
    top = max(h[0], max(h[1], h[2]))
    j = 0
    for k in range(3):
        count += h[k] >= top - tolerance
        if h[k] < h[j]:
            j = k
    if count == 3:
        return dot(g, f.normal) > 0.0
    if count == 2:                               # the edge across from the lowest corner
        i = j + 1 if j < 2 else 0
        k = i + 1 if i < 2 else 0
        if f.opposite[i] == BORDER:
            return 1
        if f.opposite[i] == CROWDED:
            return not ring_rises(at, f.id[i], f.p[i], g, f.id[k])
        return not rises_to(at, f.opposite[i], f.p[i], g)
    k = 0
    for i in range(1, 3):
        if h[i] > h[k]:
            k = i
    return not ring_rises(at, f.id[k], f.p[k], g, -1)


# A triangle as a solid: room for what a hull's view points to.
ctypedef struct Slab:
    HullView view
    Vec3 normals[2]
    double offsets[2]
    int32_t face_begin[3]
    int32_t face_index[6]
    Solid solid


cdef inline void slab_of(Facet* f, Slab* slab) noexcept nogil:
    """The triangle as a flat hull. It must stay where it is: it points into itself, and into the facet."""
    cdef int k
    slab.normals[0] = f.normal
    slab.normals[1] = neg(f.normal)
    slab.offsets[0] = -f.height
    slab.offsets[1] = f.height
    for k in range(3):
        slab.face_begin[k] = 3 * k
        slab.face_index[k] = k
        slab.face_index[3 + k] = 2 - k
    slab.view.vertices = f.p
    slab.view.normals = slab.normals
    slab.view.offsets = slab.offsets
    slab.view.face_begin = slab.face_begin
    slab.view.face_index = slab.face_index
    slab.view.vertex_count = 3
    slab.view.face_count = 2
    slab.view.radius = sqrt(max(dot(f.p[0], f.p[0]), max(dot(f.p[1], f.p[1]), dot(f.p[2], f.p[2]))))
    slab.solid.axes.xx = slab.solid.axes.yy = slab.solid.axes.zz = 1.0
    slab.solid.axes.xy = slab.solid.axes.xz = slab.solid.axes.yx = 0.0
    slab.solid.axes.yz = slab.solid.axes.zx = slab.solid.axes.zy = 0.0
    slab.solid.position.x = slab.solid.position.y = slab.solid.position.z = 0.0
    slab.solid.size = slab.solid.position
    slab.solid.reach = slab.view.radius
    slab.solid.rounding = 0.0
    slab.solid.hull = &slab.view
    slab.solid.surface = NULL
    slab.solid.type = HULL
    slab.solid.finite = 1
