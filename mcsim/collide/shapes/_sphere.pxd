"""A ball: a point, size.x about it."""

from mcsim.collide.shapes._parts cimport *


cdef inline double core_radius_sphere(const Solid* s) noexcept nogil:
    return s.size.x


cdef inline double inner_radius_sphere(const Solid* s) noexcept nogil:
    return s.size.x


cdef inline double reach_sphere(const Solid* s) noexcept nogil:
    return s.size.x


cdef inline Aabb bounds_sphere(const Solid* s) noexcept nogil:
    return about(s.position, vec3(s.size.x, s.size.x, s.size.x))


cdef inline int chord_sphere(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    return ball_chord(o, d, s.size.x, c)


cdef inline Vec3 outward_sphere(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    return scale(1.0 / s.size.x, p)


cdef inline int facing_sphere(const Solid* s, Vec3 local, Vec3* line) noexcept nogil:
    return FACING_POINT


cdef inline double depth_sphere(const Solid* s, int k, Vec3 x, Vec3* normal) noexcept nogil:
    return depth_in_ball(x, s.size.x, normal)
