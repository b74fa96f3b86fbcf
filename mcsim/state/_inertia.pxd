"""A body's inertia at an orientation, and its spin: world axes."""

from mcsim.core._math cimport cross, mat_vec, quat_matrix, rotate, rotate_back, rotate_symmetric, vec3
from mcsim.core._types cimport Mat3, Quat, Vec3
from mcsim.state._layout cimport Bodies


cdef inline Mat3 inertia_world(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    return rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inertia[i])


cdef inline void refresh_inertia(Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """The world inverse inertia at the present orientation."""
    bodies.inv_inertia_world[i] = rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inv_inertia[i])


cdef inline Vec3 spin_momentum(const Bodies* bodies, Py_ssize_t i, Quat q, Vec3 w) noexcept nogil:
    """I w at the orientation q."""
    return rotate(q, mat_vec(bodies.inertia[i], rotate_back(q, w)))


cdef inline Vec3 gyroscopic_acceleration(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """-I^-1 (w x I w): how the angular velocity of a free body turns."""
    cdef Vec3 w = bodies.twist[i].w
    if bodies.inv_mass[i] == 0.0:
        return vec3(0.0, 0.0, 0.0)
    return mat_vec(bodies.inv_inertia_world[i], cross(spin_momentum(bodies, i, bodies.orientation[i], w), w))
