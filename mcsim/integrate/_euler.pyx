"""Semi-implicit Euler with the gyroscopic term implicit.

    kick    v += h (g + f / m),   w += h I^-1 tau                      then the constraints' impulses
    drift   x += h v,             q <- exp(h w_m) q,   w <- I(q)^-1 L    with the spin momentum L = I w kept

The gyroscopic torque lives in the drift: L does not change while the body turns, so w follows from the new orientation and
angular momentum is kept to rounding. The turn's own velocity w_m is the implicit midpoint: in body axes, with l the spin
momentum before and l' = exp(-h w_m) l after,   I w_m = (l + l') / 2.   Then w_m . (l' - l) = 0, because a turn about w_m
keeps the component along w_m, and so the kinetic energy l.I^-1 l / 2 changes by w_m . (l' - l) = 0: neither |L| nor the
energy of a free body drifts, at any step. Newton's method on that equation starts from w; its Jacobian is that of the Cayley
form (E. Catto, "Numerical Methods", GDC 2015). A fast body turns in several pieces, so that Newton converges.
Source of the splitting: B. Leimkuhler and S. Reich, "Simulating Hamiltonian Dynamics", 2004, section 8.
"""

from libc.math cimport sqrt, fabs, ceil
from mcsim.core._types cimport Vec3, Quat, Mat3, Twist
from mcsim.core._math cimport (vec3, add, sub, scale, add_scaled, dot, cross, norm, mat_vec, solve3, rotate, rotate_back,
                               quat_mul, quat_exp, quat_normalized, quat_matrix, rotate_symmetric)
from mcsim.state._layout cimport STATIC, KINEMATIC, DYNAMIC

cdef enum:
    NEWTON_STEPS = 8
    MOST_PIECES = 32

cdef double PIECE_ANGLE = 0.5          # [rad] turned in one piece at most, up to MOST_PIECES


cdef void integrate_velocities(Bodies* bodies, const Settings* settings, double part) noexcept nogil:
    """Gravity, the user's forces and damping, over `part` of a substep. Damping is implicit: v / (1 + h c)."""
    cdef double h = part * settings.h
    cdef double m, s
    cdef Py_ssize_t i
    cdef Twist* t
    cdef Twist* f
    for i in range(bodies.count):
        if bodies.kind[i] != DYNAMIC:
            continue
        t = &bodies.twist[i]
        f = &bodies.force[i]
        m = h * bodies.inv_mass[i]
        t.v = add_scaled(t.v, h * bodies.gravity_scale[i], settings.gravity)
        t.v = add_scaled(t.v, m, f.v)
        t.w = add_scaled(t.w, h, mat_vec(bodies.inv_inertia_world[i], f.w))
        if bodies.linear_damping[i] != 0.0:
            t.v = scale(1.0 / (1.0 + h * bodies.linear_damping[i]), t.v)
        if bodies.angular_damping[i] != 0.0:
            t.w = scale(1.0 / (1.0 + h * bodies.angular_damping[i]), t.w)


cdef Vec3 midpoint_spin(Mat3 inertia, Vec3 momentum, Vec3 w, double h) noexcept nogil:
    """w_m of the equation above, body axes [rad/s]; `momentum` is l, `w` the start."""
    cdef Vec3 turned, r, iw
    cdef Mat3 j
    cdef double a = 0.5 * h
    cdef double tolerance = 4e-16 * norm(momentum)
    cdef double twice_energy = dot(w, momentum)
    cdef int k
    for k in range(NEWTON_STEPS):
        # r = I w - (l + exp(-h w) l) / 2
        turned = rotate(quat_exp(scale(-h, w)), momentum)
        iw = mat_vec(inertia, w)
        r = sub(iw, scale(0.5, add(momentum, turned)))
        if norm(r) <= tolerance:
            return w
        # With turned = (1 + h/2 [w])^-1 (1 - h/2 [w]) l, Cayley's form of the turn, (1 + h/2 [w]) r is
        # I w + h/2 w x I w - l, and the derivative of that is I + h/2 ([w] I - [I w]).
        r = add_scaled(r, a, cross(w, r))
        j.xx = inertia.xx + a * (w.y * inertia.zx - w.z * inertia.yx)
        j.xy = inertia.xy + a * (w.y * inertia.zy - w.z * inertia.yy + iw.z)
        j.xz = inertia.xz + a * (w.y * inertia.zz - w.z * inertia.yz - iw.y)
        j.yx = inertia.yx + a * (w.z * inertia.xx - w.x * inertia.zx - iw.z)
        j.yy = inertia.yy + a * (w.z * inertia.xy - w.x * inertia.zy)
        j.yz = inertia.yz + a * (w.z * inertia.xz - w.x * inertia.zz + iw.x)
        j.zx = inertia.zx + a * (w.x * inertia.yx - w.y * inertia.xx + iw.y)
        j.zy = inertia.zy + a * (w.x * inertia.yy - w.y * inertia.xy - iw.x)
        j.zz = inertia.zz + a * (w.x * inertia.yz - w.y * inertia.xz)
        w = sub(w, solve3(j, r))
    # Twice w . r is what the turn adds to the energy. For a needle, whose small moment makes a large spin of a small error,
    # Newton's method may fail. A turn about the momentum itself then serves, as fast as a needle across it turns: it keeps l,
    # and so the energy, exactly.
    r = sub(mat_vec(inertia, w), scale(0.5, add(momentum, rotate(quat_exp(scale(-h, w)), momentum))))
    if fabs(dot(w, r)) <= 1e-12 * twice_energy:
        return w
    return scale(dot(momentum, momentum) / dot(momentum, mat_vec(inertia, momentum)), momentum)


cdef void turn_body(Bodies* bodies, Py_ssize_t i, double h, bint trial) noexcept nogil:
    """Orientation and angular velocity of a free dynamic body over h; on trial the orientation alone."""
    cdef Vec3 w_world = bodies.twist[i].w
    cdef Vec3 momentum, momentum_world, w, spin
    cdef Quat q = bodies.orientation[i]
    cdef int pieces, k
    if w_world.x == 0.0 and w_world.y == 0.0 and w_world.z == 0.0:
        return
    w = rotate_back(q, w_world)
    momentum = mat_vec(bodies.inertia[i], w)
    spin = cross(w, momentum)
    if norm(spin) * h <= 1e-17 * norm(momentum):
        # A principal axis or a sphere: w stays. Its rotation is exact.
        q = quat_normalized(quat_mul(quat_exp(scale(h, w_world)), q))
        bodies.orientation[i] = q
        if not trial:
            bodies.inv_inertia_world[i] = rotate_symmetric(quat_matrix(q), bodies.inv_inertia[i])
        return
    momentum_world = rotate(q, momentum)
    pieces = 1
    if h * norm(w) > PIECE_ANGLE:
        pieces = MOST_PIECES
        if h * norm(w) < PIECE_ANGLE * MOST_PIECES:
            pieces = <int>ceil(h * norm(w) / PIECE_ANGLE)
    h = h / pieces
    for k in range(pieces):
        w = midpoint_spin(bodies.inertia[i], momentum, w, h)
        q = quat_normalized(quat_mul(q, quat_exp(scale(h, w))))
        momentum = rotate_back(q, momentum_world)
        w = mat_vec(bodies.inv_inertia[i], momentum)
    bodies.orientation[i] = q
    if trial:
        return
    bodies.inv_inertia_world[i] = rotate_symmetric(quat_matrix(q), bodies.inv_inertia[i])
    w = mat_vec(bodies.inv_inertia_world[i], momentum_world)
    # One refinement: what rounding in q and I^-1 leaves of L has the same sign in many steps and would add up.
    momentum = rotate(q, mat_vec(bodies.inertia[i], rotate_back(q, w)))
    bodies.twist[i].w = add(w, mat_vec(bodies.inv_inertia_world[i], sub(momentum_world, momentum)))


cdef void integrate_poses(Bodies* bodies, double h) noexcept nogil:
    """Drift all bodies that move by h; kinematic ones keep the velocity that the user gave them."""
    cdef Py_ssize_t i
    cdef Vec3 w
    for i in range(bodies.count):
        if bodies.kind[i] == STATIC:
            continue
        bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
        if bodies.kind[i] == DYNAMIC:
            turn_body(bodies, i, h, False)
        else:
            w = scale(h, bodies.twist[i].w)
            bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(w), bodies.orientation[i]))


cdef void try_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                    double h) noexcept nogil:
    """The poses that integrate_poses would give the chosen bodies from the given ones (chosen[k] at position[k]); twists and
    inertia stay."""
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        i = chosen[k]
        bodies.position[i] = add_scaled(position[k], h, bodies.twist[i].v)
        bodies.orientation[i] = orientation[k]
        if bodies.kind[i] == DYNAMIC:
            turn_body(bodies, i, h, True)
        else:
            bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, bodies.twist[i].w)), orientation[k]))


cdef void update_inertia(Bodies* bodies) noexcept nogil:
    """World inverse inertia from the present orientations (after Python wrote them)."""
    cdef Py_ssize_t i
    for i in range(bodies.count):
        if bodies.kind[i] == DYNAMIC:
            bodies.inv_inertia_world[i] = rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inv_inertia[i])
