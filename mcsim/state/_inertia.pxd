"""A body's inertia at an orientation, and its spin: world axes."""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.core._math cimport (add, add_scaled, cross, dot, is_zero, mat_vec, quat_matrix, rotate, rotate_back,
                               rotate_symmetric, scale, solve3, sub, vec3)
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies


cdef inline bint goes_along(const Twist* a, const Twist* b) noexcept nogil:
    """Whether two bodies go the same way without turning: what one carries and the other meets has one driver."""
    return (is_zero(a.w) and is_zero(b.w)) and is_zero(sub(a.v, b.v))


cdef inline Mat3 inertia_world(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    return rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inertia[i])


cdef inline Mat3 about_point(Mat3 inertia, double mass, Vec3 d) noexcept nogil:
    """Of a body, or of two by their reduced mass, about a point that is d away: I + m (d.d 1 - d d')."""
    cdef double dd = dot(d, d)
    inertia.xx += mass * (dd - d.x * d.x)
    inertia.yy += mass * (dd - d.y * d.y)
    inertia.zz += mass * (dd - d.z * d.z)
    inertia.xy -= mass * d.x * d.y
    inertia.xz -= mass * d.x * d.z
    inertia.yz -= mass * d.y * d.z
    inertia.yx = inertia.xy
    inertia.zx = inertia.xz
    inertia.zy = inertia.yz
    return inertia


cdef inline Vec3 turn_of(Mat3 inertia, Vec3 momentum) noexcept nogil:
    """I^-1 momentum, refined once: rounding would add up."""
    cdef Vec3 w = solve3(inertia, momentum)
    return add(w, solve3(inertia, sub(momentum, mat_vec(inertia, w))))


cdef inline double answer_along(const Bodies* bodies, Py_ssize_t i, Vec3 point, Vec3 normal) noexcept nogil:
    """The speed along a normal that a unit impulse along it gives a point of the body, were it alone [1/kg]:
    1/m + (r x n) . I^-1 (r x n)."""
    cdef Vec3 turn = cross(sub(point, bodies.position[i]), normal)
    return bodies.inv_mass[i] + dot(turn, mat_vec(bodies.inv_inertia_world[i], turn))


cdef enum:
    LOCKED_WAYS = 7          # of `locks`: along an axis
    LOCKED_TURNS = 56        # and about one


cdef inline Vec3 unlocked(const Bodies* bodies, Py_ssize_t i, Vec3 change) noexcept nogil:
    """What of a change of its velocity along world axes reaches a body, whose inverse mass along locked ones is 0."""
    if bodies.locks[i] & LOCKED_WAYS:
        if bodies.locks[i] & 1:
            change.x = 0.0
        if bodies.locks[i] & 2:
            change.y = 0.0
        if bodies.locks[i] & 4:
            change.z = 0.0
    return change


cdef inline Mat3 locked_inverse(Mat3 inertia, int turns) noexcept nogil:
    """The inverse of a world inertia among the axes that are free, 0 along the others: what torques do to a body that does
    not turn about these. turns: bit i of an axis."""
    cdef Mat3 inverse
    cdef double* w = &inverse.xx
    cdef const double* m = &inertia.xx
    cdef double det
    cdef int i, j, k
    memset(w, 0, sizeof(Mat3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if turns == 1 << k:                          # it turns about two
            det = m[4 * i] * m[4 * j] - m[3 * i + j] * m[3 * i + j]
            w[4 * i] = m[4 * j] / det
            w[4 * j] = m[4 * i] / det
            w[3 * i + j] = w[3 * j + i] = -m[3 * i + j] / det
        elif turns == 7 ^ 1 << k:                    # or about one
            w[4 * k] = 1.0 / m[4 * k]
    return inverse


cdef inline Mat3 inverse_inertia(const Bodies* bodies, Py_ssize_t i, const Mat3* inv_inertia) noexcept nogil:
    """World axes at the present orientation, of body i. inv_inertia: in its own axes."""
    if bodies.locks[i] & LOCKED_TURNS:
        return locked_inverse(inertia_world(bodies, i), bodies.locks[i] >> 3)
    return rotate_symmetric(quat_matrix(bodies.orientation[i]), inv_inertia[0])


cdef inline void refresh_inertia(Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """The world inverse inertia at the present orientation."""
    bodies.inv_inertia_world[i] = inverse_inertia(bodies, i, &bodies.inv_inertia[i])


cdef inline Mat3 awake_inverse(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """The same of a body as if it were awake."""
    return inverse_inertia(bodies, i, &bodies.awake_inv_inertia[i])


cdef inline bint never_moves(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """Whether it has no inverse mass, awake or asleep."""
    return bodies.awake_inv_mass[i] == 0.0


cdef inline double answer_awake(const Bodies* bodies, Py_ssize_t i, Vec3 turn) noexcept nogil:
    """1/m + turn . I^-1 turn [1/kg] of a body, as if it were awake."""
    return bodies.awake_inv_mass[i] + dot(turn, mat_vec(awake_inverse(bodies, i), turn))


cdef inline Vec3 spin_momentum(const Bodies* bodies, Py_ssize_t i, Quat q, Vec3 w) noexcept nogil:
    """I w at the orientation q."""
    return rotate(q, mat_vec(bodies.inertia[i], rotate_back(q, w)))


cdef inline double energy_of(const Bodies* bodies, Py_ssize_t i, const Twist* twist, Quat orientation) noexcept nogil:
    """Kinetic, of a body that has a mass, if it moved and stood so [J]."""
    cdef Vec3 w = rotate_back(orientation, twist.w)
    return 0.5 * (dot(twist.v, twist.v) / bodies.inv_mass[i] + dot(w, mat_vec(bodies.inertia[i], w)))


cdef inline double energy_beside(const Bodies* bodies, Py_ssize_t i, Twist twist, Quat orientation,
                                 Vec3 velocity) noexcept nogil:
    """The same against what moves at that velocity [J]."""
    twist.v = sub(twist.v, velocity)
    return energy_of(bodies, i, &twist, orientation)


cdef inline double total_mass(const Bodies* bodies, const int32_t* chosen, Py_ssize_t count) noexcept nogil:
    cdef double mass = 0.0
    cdef Py_ssize_t k
    for k in range(count):
        mass += 1.0 / bodies.inv_mass[chosen[k]]
    return mass


cdef inline Vec3 centre_velocity(const Bodies* bodies, const int32_t* chosen, Py_ssize_t count) noexcept nogil:
    """Of the common centre of mass of the chosen bodies; 0 of none."""
    cdef Vec3 momentum = vec3(0.0, 0.0, 0.0)
    cdef Py_ssize_t k
    for k in range(count):
        momentum = add_scaled(momentum, 1.0 / bodies.inv_mass[chosen[k]], bodies.twist[chosen[k]].v)
    return scale(1.0 / total_mass(bodies, chosen, count), momentum) if count > 0 else momentum


cdef inline double kinetic_energy(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """Of a body that has a mass [J]."""
    return energy_of(bodies, i, &bodies.twist[i], bodies.orientation[i])


cdef inline void keep_momentum(Bodies* bodies, Py_ssize_t i, Vec3 momentum_world) noexcept nogil:
    """World inertia and angular velocity at a new orientation, from the spin momentum [kg m2/s], world axes."""
    cdef Vec3 w, momentum
    refresh_inertia(bodies, i)
    w = mat_vec(bodies.inv_inertia_world[i], momentum_world)
    # One refinement: what rounding in q and I^-1 leaves of L has the same sign in many steps and would add up.
    momentum = spin_momentum(bodies, i, bodies.orientation[i], w)
    bodies.twist[i].w = add(w, mat_vec(bodies.inv_inertia_world[i], sub(momentum_world, momentum)))


cdef inline Vec3 gyroscopic_acceleration(const Bodies* bodies, Py_ssize_t i) noexcept nogil:
    """-I^-1 (w x I w): how the angular velocity of a free body turns."""
    cdef Vec3 w = bodies.twist[i].w
    if bodies.inv_mass[i] == 0.0:
        return vec3(0.0, 0.0, 0.0)
    return mat_vec(bodies.inv_inertia_world[i], cross(spin_momentum(bodies, i, bodies.orientation[i], w), w))
