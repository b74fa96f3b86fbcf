"""A height field: a surface, and all that is below it."""

from mcsim.collide.shapes._parts cimport *


cdef inline double reach_height_field(const Solid* s) noexcept nogil:
    return s.surface.radius


cdef inline Aabb bounds_height_field(const Solid* s) noexcept nogil:
    """What is below it is solid, too: as deep as it is wide."""
    cdef Vec3 low = s.surface.lower
    low.z -= max(s.surface.upper.x - low.x, s.surface.upper.y - low.y)
    return surface_bounds(s, low)
