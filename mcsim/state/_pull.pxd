"""What pulls at bodies from outside."""

from mcsim.core._math cimport add_scaled, scale, vec3
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport never_moves, unlocked


cdef inline Vec3 acceleration_awake(const Bodies* bodies, int i, Vec3 gravity) noexcept nogil:
    """Of the centre of mass by gravity and the user's forces, as if nothing slept [m/s2]; of what never moves, or is moved,
    0."""
    if never_moves(bodies, i):
        return vec3(0.0, 0.0, 0.0)
    return unlocked(bodies, i, add_scaled(scale(bodies.gravity_scale[i], gravity), bodies.awake_inv_mass[i],
                                          bodies.force[i].v))


cdef inline Vec3 external_acceleration(const Bodies* bodies, int i, Vec3 gravity) noexcept nogil:
    """The same; of what sleeps 0."""
    return acceleration_awake(bodies, i, gravity) if bodies.inv_mass[i] > 0.0 else vec3(0.0, 0.0, 0.0)
