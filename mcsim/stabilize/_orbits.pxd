"""Angular momentum that displacements along rows take from pairs of bodies, given back as turns
of the pairs (_displace.pyx)."""

from mcsim.core._math cimport add, add_scaled, cross, mat_add, scale, sub, vec3
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport about_point, inertia_world, turn_of
from mcsim.state._row cimport Row


cdef inline Py_ssize_t end_of_pair(const Row* rows, Py_ssize_t i, Py_ssize_t count, Vec3* f) noexcept nogil:
    """Behind the rows that follow each other between the same bodies; f <- the linear part of their J'p."""
    cdef int a = rows[i].body_a
    cdef int b = rows[i].body_b
    f[0] = vec3(0.0, 0.0, 0.0)
    while i < count and rows[i].body_a == a and rows[i].body_b == b:
        f[0] = add_scaled(f[0], rows[i].impulse, vec3(rows[i].jacobian[6], rows[i].jacobian[7], rows[i].jacobian[8]))
        i += 1
    return i


cdef inline void turn_pair(Twist* carried, const Bodies* bodies, int a, int b, Vec3 momentum) noexcept nogil:
    """Turn two bodies as one about their common centre of mass, with this angular momentum.

    I w = momentum,  I = I_a + I_b + m (d.d 1 - d d'),  d = x_b - x_a,  m the reduced mass.
    """
    cdef Vec3 d = sub(bodies.position[b], bodies.position[a])
    cdef double m = 1.0 / (bodies.inv_mass[a] + bodies.inv_mass[b])
    cdef Mat3 spins = mat_add(inertia_world(bodies, a), inertia_world(bodies, b))
    cdef Vec3 w = turn_of(about_point(spins, m, d), momentum)
    cdef Vec3 swing = scale(m, cross(w, d))
    carried[a].v = add_scaled(carried[a].v, -bodies.inv_mass[a], swing)
    carried[b].v = add_scaled(carried[b].v, bodies.inv_mass[b], swing)
    carried[a].w = add(carried[a].w, w)
    carried[b].w = add(carried[b].w, w)


cdef inline void carry_orbit(Twist* carried, const Bodies* bodies, int a, int b, Vec3 f) noexcept nogil:
    """Give a pair that was displaced by -f / m_a and f / m_b the angular momentum back that it lost, as a turn."""
    cdef Vec3 lost
    if bodies.inv_mass[a] > 0.0 and bodies.inv_mass[b] > 0.0:
        lost = cross(f, sub(bodies.twist[a].v, bodies.twist[b].v))
        if lost.x != 0.0 or lost.y != 0.0 or lost.z != 0.0:
            turn_pair(carried, bodies, a, b, lost)
