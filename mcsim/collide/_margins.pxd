"""How near shapes may come, and boxes that hold where they may go."""

from mcsim.collide._solid cimport Aabb, Motion
from mcsim.core._math cimport add, norm, sub, vec3
from mcsim.core._types cimport Vec3


cdef inline double limit(const Motion* a, const Motion* b, double near) noexcept nogil:
    """The separation up to which two shapes may come as near as `near` in the time ahead."""
    return near + (a.margin + b.margin) + norm(sub(b.travel, a.travel))


cdef inline Aabb grown(const Aabb* box, double margin) noexcept nogil:
    cdef Aabb r
    r.lower = vec3(box.lower.x - margin, box.lower.y - margin, box.lower.z - margin)
    r.upper = vec3(box.upper.x + margin, box.upper.y + margin, box.upper.z + margin)
    return r


cdef inline void extend(Aabb* box, Vec3 travel) noexcept nogil:
    """Make it hold the box at the end of a travel, too."""
    box.lower = add(box.lower, vec3(min(travel.x, 0.0), min(travel.y, 0.0), min(travel.z, 0.0)))
    box.upper = add(box.upper, vec3(max(travel.x, 0.0), max(travel.y, 0.0), max(travel.z, 0.0)))
