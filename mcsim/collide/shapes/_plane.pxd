"""A plane: the half space z <= 0. It has no support: _plane.pxd, _cast.pxd and _narrow.pxd take it by itself."""

from mcsim.collide.shapes._parts cimport *


cdef inline int chord_plane(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    return cut(c, o.z, d.z, 0)


cdef inline Vec3 outward_plane(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    return vec3(0.0, 0.0, 1.0)


cdef inline int facing_plane(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    return FACING_FACE


cdef inline double depth_plane(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    normal[0] = vec3(0.0, 0.0, 1.0)
    return -x.z
