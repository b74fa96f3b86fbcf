"""The force of what flows past a face."""

from libc.math cimport sqrt

from mcsim.core._math cimport add_scaled, dot, neg, scale, vec3
from mcsim.core._types cimport Vec3


cdef inline Vec3 on_face(Vec3 flow, Vec3 normal, double area, double drag, double lift) noexcept nogil:
    """The law of `wind.py`: on a face over which air or water goes; a normal of zeros meets it from everywhere alike. drag,
    lift: half the density times the coefficients."""
    cdef double speed = sqrt(dot(flow, flow))
    cdef double moving = speed if speed > 0.0 else 1.0
    cdef double meets = 1.0
    cdef double pressure
    cdef Vec3 way = vec3(flow.x / moving, flow.y / moving, flow.z / moving)
    if dot(normal, normal) != 0.0:
        meets = -dot(flow, normal) / moving
        if meets < 0.0:
            return vec3(0.0, 0.0, 0.0)
    pressure = area * meets * speed
    return scale(pressure, add_scaled(scale(drag, flow), lift * speed, add_scaled(neg(normal), dot(normal, way), way)))
