"""A world's shapes as the broadphase and the narrowphase see them."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.core._math cimport add, vec3
from mcsim.state._layout cimport Bodies, Shape
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._solid cimport Solid, Aabb, HullView


cdef class PlacedShapes:
    cdef readonly int32_t shape_count
    cdef Shape* shapes
    cdef Solid* solids
    cdef Quat* turns                     # shapes' axes in the world, as in solids
    cdef Aabb* boxes                     # about each shape, its margin and its travel
    cdef double* margins                 # [m], see place_shapes
    cdef Vec3* travels                   # [m], see place_shapes
    cdef double* arms                    # from the body's centre to the shape's farthest point, at most [m]
    cdef int8_t* dynamic                 # whether the shape's body is dynamic
    cdef int8_t* moved                   # whether the shape left its fat box in this call
    cdef int kind_changed                # a body became dynamic, or ceased to be
    cdef HullView* hulls
    cdef Py_ssize_t _hull_count
    cdef Surfaces _surfaces
    cdef object _pools                   # arrays that hulls point into

    cdef void place_shapes(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil
    cdef double limit(self, int32_t i, int32_t j) noexcept nogil


cdef inline Aabb grown(const Aabb* box, double margin) noexcept nogil:
    cdef Aabb r
    r.lower = vec3(box.lower.x - margin, box.lower.y - margin, box.lower.z - margin)
    r.upper = vec3(box.upper.x + margin, box.upper.y + margin, box.upper.z + margin)
    return r


cdef inline void extend(Aabb* box, Vec3 travel) noexcept nogil:
    """Make it hold the box at the end of a travel, too."""
    box.lower = add(box.lower, vec3(min(travel.x, 0.0), min(travel.y, 0.0), min(travel.z, 0.0)))
    box.upper = add(box.upper, vec3(max(travel.x, 0.0), max(travel.y, 0.0), max(travel.z, 0.0)))
