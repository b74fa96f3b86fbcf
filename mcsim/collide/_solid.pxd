"""A shape placed in the world (`Solid`): its support mapping and its bounding box.

A solid is a core swept by a ball: sphere = point + radius, capsule = segment + radius; the other shapes are all core.
"""

from libc.math cimport sqrt, fabs, INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3, Mat3
from mcsim.core._math cimport vec3, add, sub, scale, dot, cross, norm, mat_vec, mat_t_vec, mat_column
from mcsim.state._layout cimport SPHERE, BOX, CAPSULE, CYLINDER, HULL, MESH, HEIGHT_FIELD, PLANE, Nearness
from mcsim.collide._surface cimport Surface

# A hull's part of the shared pools, in the shape's frame.
ctypedef struct HullView:
    const Vec3* vertices
    const Vec3* normals          # of the faces
    const double* offsets        # normal . x = offset on the face
    const int32_t* face_begin    # face_count + 1 offsets into face_index
    const int32_t* face_index    # vertex numbers, counter-clockwise seen from outside
    int32_t vertex_count
    int32_t face_count
    double radius                # of the sphere about the frame's origin that holds every vertex [m]
    Vec3 inner_centre            # of a ball that fits into it
    double inner_radius          # [m]

# What a shape of a world may do in the time ahead, see _shapes.pyx, place.
ctypedef struct Motion:
    Vec3 travel                  # of its body's centre [m]
    double margin                # about the shape, as it travels [m]

# Three cache lines: all that most tests of a pair read of a shape. Of solids outside of a world, motion and body are not
# in use.
ctypedef struct Solid:
    Mat3 axes                    # columns are the shape's axes in the world
    Vec3 position                # origin of the shape's frame, world [m]
    Vec3 size                    # as in Shape
    double reach                 # radius of a sphere about the position that holds it [m]
    const HullView* hull         # NULL unless HULL
    const Surface* surface       # NULL unless MESH or HEIGHT_FIELD
    int32_t type
    int32_t finite               # 0: the pose is not finite, collide with nothing
    int32_t body
    int32_t reserved
    Motion motion

ctypedef struct Aabb:
    Vec3 lower
    Vec3 upper


cdef inline int is_surface(int32_t type) noexcept nogil:
    return type == MESH or type == HEIGHT_FIELD


cdef inline double core_radius(const Solid* s) noexcept nogil:
    """Radius of the ball that sweeps the core [m]."""
    return s.size.x if s.type == SPHERE or s.type == CAPSULE else 0.0


cdef inline double rounding(const Solid* s, Vec3 normal) noexcept nogil:
    """Radius to which the surface is round where it touches along `normal` [m]: as the solid turns, that much of the contact
    point stays below its centre instead of going round. A rim on edge is round, a cap on its face is not."""
    if s.type == CYLINDER:
        return s.size.x * norm(cross(normal, mat_column(s.axes, 2)))
    return core_radius(s)


cdef inline double inner_radius(const Solid* s) noexcept nogil:
    """Of the ball about the solid's middle that fits into it [m]; of a hull's near its middle."""
    if s.type == BOX:
        return min(s.size.x, min(s.size.y, s.size.z))
    if s.type == CYLINDER:
        return min(s.size.x, s.size.y)
    if s.type == HULL:
        return s.hull.inner_radius
    return s.size.x


cdef inline double thickness(const Solid* s) noexcept nogil:
    """Diameter of that ball [m]; infinite of what has no inside."""
    return INFINITY if s.type == PLANE or is_surface(s.type) else 2.0 * inner_radius(s)


cdef inline double near_of(const Nearness* n, double size) noexcept nogil:
    """The separation from which on a pair has contacts, size: of the thinner shape [m]."""
    return max(n.part * size, min(n.distance, n.most * size))


cdef inline int inner_ball_count(const Solid* s) noexcept nogil:
    """How many balls tell where the solid is: the one in its middle, and one in each corner or end."""
    if s.type == BOX:
        return 9
    if s.type == HULL:
        return 1 + s.hull.vertex_count
    return 1 if s.type == SPHERE else 3


cdef inline double inner_ball(const Solid* s, int k, Vec3* centre) noexcept nogil:
    """Centre, in the shape's frame [m], and radius [m] of the balls; number 0 is the one in the middle. All have half the
    radius that would fit, the hull's corners a quarter."""
    cdef double r = inner_radius(s)
    cdef Vec3 c = vec3(0.0, 0.0, 0.0)
    if s.type == HULL:
        centre[0] = s.hull.inner_centre
        if k > 0:
            centre[0] = add(scale(0.25, centre[0]), scale(0.75, s.hull.vertices[k - 1]))
        return 0.5 * r if k == 0 else 0.25 * r
    if k > 0 and s.type == BOX:
        c = sub(s.size, vec3(r, r, r))
        c = vec3(c.x if (k - 1) & 1 else -c.x, c.y if (k - 1) & 2 else -c.y, c.z if (k - 1) & 4 else -c.z)
    elif k > 0:
        c.z = s.size.y if s.type == CAPSULE else s.size.y - r
        c.z = c.z if k == 1 else -c.z
    centre[0] = c
    return 0.5 * r


cdef inline double reach_of(const Solid* s) noexcept nogil:
    """What its reach must be."""
    if s.type == SPHERE:
        return s.size.x
    if s.type == BOX:
        return norm(s.size)
    if s.type == CAPSULE:
        return s.size.x + s.size.y
    if s.type == CYLINDER:
        return sqrt(s.size.x * s.size.x + s.size.y * s.size.y)
    if s.type == HULL:
        return s.hull.radius
    if is_surface(s.type):
        return s.surface.radius
    return INFINITY


cdef inline int32_t hull_support(const HullView* hull, Vec3 d) noexcept nogil:
    """Number of the vertex farthest along d (shape frame); the first of equals."""
    cdef int32_t i
    cdef int32_t best = 0
    cdef double h
    cdef double farthest = dot(hull.vertices[0], d)
    for i in range(1, hull.vertex_count):
        h = dot(hull.vertices[i], d)
        if h > farthest:
            farthest = h
            best = i
    return best


cdef inline Vec3 support(const Solid* s, Vec3 d) noexcept nogil:
    """The point of the core farthest along d, from the solid's position, world axes. d need not be a unit vector."""
    cdef Vec3 local = mat_t_vec(s.axes, d)
    cdef double radial
    if s.type == BOX:
        return mat_vec(s.axes, vec3(s.size.x if local.x >= 0.0 else -s.size.x,
                                    s.size.y if local.y >= 0.0 else -s.size.y,
                                    s.size.z if local.z >= 0.0 else -s.size.z))
    if s.type == CAPSULE:
        return scale(s.size.y if local.z >= 0.0 else -s.size.y, mat_column(s.axes, 2))
    if s.type == CYLINDER:
        radial = sqrt(local.x * local.x + local.y * local.y)
        radial = s.size.x / radial if radial > 0.0 else 0.0
        return mat_vec(s.axes, vec3(radial * local.x, radial * local.y, s.size.y if local.z >= 0.0 else -s.size.y))
    if s.type == HULL:
        return mat_vec(s.axes, s.hull.vertices[hull_support(s.hull, local)])
    return vec3(0.0, 0.0, 0.0)


cdef inline Aabb bounds(const Solid* s) noexcept nogil:
    """The smallest axis-aligned box about the solid, world. A plane has none: everything."""
    cdef Aabb box
    cdef Vec3 u, v
    cdef Vec3 half = vec3(INFINITY, INFINITY, INFINITY)
    cdef int32_t i
    if s.type == HULL:
        box.lower = vec3(INFINITY, INFINITY, INFINITY)
        box.upper = vec3(-INFINITY, -INFINITY, -INFINITY)
        for i in range(s.hull.vertex_count):
            v = mat_vec(s.axes, s.hull.vertices[i])
            box.lower = vec3(v.x if v.x < box.lower.x else box.lower.x, v.y if v.y < box.lower.y else box.lower.y,
                             v.z if v.z < box.lower.z else box.lower.z)
            box.upper = vec3(v.x if v.x > box.upper.x else box.upper.x, v.y if v.y > box.upper.y else box.upper.y,
                             v.z if v.z > box.upper.z else box.upper.z)
        box.lower = add(s.position, box.lower)
        box.upper = add(s.position, box.upper)
        return box
    if is_surface(s.type):
        u = s.surface.lower
        if s.type == HEIGHT_FIELD:               # what is below it is solid, too: as deep as it is wide
            u.z -= max(s.surface.upper.x - u.x, s.surface.upper.y - u.y)
        v = add(s.position, mat_vec(s.axes, scale(0.5, add(s.surface.upper, u))))
        u = scale(0.5, sub(s.surface.upper, u))
        half = vec3(fabs(s.axes.xx) * u.x + fabs(s.axes.xy) * u.y + fabs(s.axes.xz) * u.z,
                    fabs(s.axes.yx) * u.x + fabs(s.axes.yy) * u.y + fabs(s.axes.yz) * u.z,
                    fabs(s.axes.zx) * u.x + fabs(s.axes.zy) * u.y + fabs(s.axes.zz) * u.z)
        box.lower = sub(v, half)
        box.upper = add(v, half)
        return box
    u = mat_column(s.axes, 2)
    if s.type == SPHERE:
        half = vec3(s.size.x, s.size.x, s.size.x)
    elif s.type == BOX:
        half = vec3(fabs(s.axes.xx) * s.size.x + fabs(s.axes.xy) * s.size.y + fabs(s.axes.xz) * s.size.z,
                    fabs(s.axes.yx) * s.size.x + fabs(s.axes.yy) * s.size.y + fabs(s.axes.yz) * s.size.z,
                    fabs(s.axes.zx) * s.size.x + fabs(s.axes.zy) * s.size.y + fabs(s.axes.zz) * s.size.z)
    elif s.type == CAPSULE:
        half = vec3(s.size.x + s.size.y * fabs(u.x), s.size.x + s.size.y * fabs(u.y), s.size.x + s.size.y * fabs(u.z))
    elif s.type == CYLINDER:
        # A disc of radius r with unit normal u reaches r sqrt(1 - u_i^2) along axis i.
        half = vec3(s.size.y * fabs(u.x) + s.size.x * sqrt(u.y * u.y + u.z * u.z),
                    s.size.y * fabs(u.y) + s.size.x * sqrt(u.z * u.z + u.x * u.x),
                    s.size.y * fabs(u.z) + s.size.x * sqrt(u.x * u.x + u.y * u.y))
    box.lower = sub(s.position, half)
    box.upper = add(s.position, half)
    return box
