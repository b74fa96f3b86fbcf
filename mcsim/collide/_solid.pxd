"""A shape placed in the world (`Solid`). What depends on its type stands in shapes/, chosen by _shape_table.pxd.

A solid is a core swept by a ball: sphere = point + radius, capsule = segment + radius; a box, a cylinder, a cone and a
hull are all core, or cores that their rounding sweeps.
"""

from libc.stdint cimport int16_t, int32_t
from mcsim.core._types cimport Vec3, Mat3
from mcsim.state._settings cimport Nearness
from mcsim.state._shape_types cimport MESH, HEIGHT_FIELD
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
    double rounding              # as in Shape
    int16_t type
    int16_t finite               # 0: the pose is not finite, collide with nothing
    int32_t body
    Motion motion

ctypedef struct Aabb:
    Vec3 lower
    Vec3 upper


cdef inline int is_surface(int32_t type) noexcept nogil:
    return type == MESH or type == HEIGHT_FIELD


cdef inline double near_of(const Nearness* n, double size) noexcept nogil:
    """The separation from which on a pair has contacts, size: of the thinner shape [m]."""
    return max(n.part * size, min(n.distance, n.most * size))
