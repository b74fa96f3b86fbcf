"""A mesh: a skin of triangles. Its contacts, rays and casts are those of all surfaces (_surface_contacts.pxd, ...)."""

from mcsim.collide.shapes._parts cimport *


cdef inline double reach_mesh(const Solid* s) noexcept nogil:
    return s.surface.radius


cdef inline Aabb bounds_mesh(const Solid* s) noexcept nogil:
    return surface_bounds(s, s.surface.lower)
