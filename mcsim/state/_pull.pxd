"""What pulls at bodies from outside."""

from mcsim.core._math cimport add_scaled, scale, vec3
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport unlocked


cdef inline Vec3 external_acceleration(const Bodies* bodies, int i, Vec3 gravity) noexcept nogil:
    """Of the centre of mass by gravity and the user's forces [m/s2]; of what never moves, or is moved, 0."""
    if bodies.inv_mass[i] == 0.0:
        return vec3(0.0, 0.0, 0.0)
    return unlocked(bodies, i, add_scaled(scale(bodies.gravity_scale[i], gravity), bodies.inv_mass[i], bodies.force[i].v))
