"""Semi-implicit Euler with the gyroscopic term implicit.

    kick    v += h (g + f / m),   w += h I^-1 tau                      then the constraints' impulses
    drift   x += h v,             q <- q turn(w_m),  w <- I(q)^-1 L      with the spin momentum L = I w kept

The gyroscopic torque lives in the drift: L does not change while the body turns, so w follows from the new orientation and
angular momentum is kept to rounding. The turn's own velocity w_m is the implicit midpoint: in body axes, with l the spin
momentum before and l' = turn(w_m)^-1 l after,   I w_m = (l + l') / 2.   Then w_m . (l' - l) = 0, because a turn about w_m
keeps the component along w_m, and so the kinetic energy l.I^-1 l / 2 changes by w_m . (l' - l) = 0: neither |L| nor the
energy of a free body drifts, at any step. The turn is Cayley's, turn(w) = (1, a w) / |(1, a w)|, by the angle 2 atan(a |w|);
then l' = (1 + a [w])^-1 (1 - a [w]) l and the equation is the polynomial

    I w_m + a w_m x (I w_m) = l.

a = tan(h |w| / 2) / |w| with w the start's: so a body that spins about a principal axis turns by h |w| exactly. Newton's
method starts from w_m without its second order. A fast body turns in several pieces, so that Newton converges. A needle's spin
about itself is fast but without momentum; it turns steadily about l.
Source of the splitting: B. Leimkuhler and S. Reich, "Simulating Hamiltonian Dynamics", 2004, section 8; of the Newton step:
E. Catto, "Numerical Methods", GDC 2015.
"""

from libc.math cimport fabs, ceil
from mcsim.core._types cimport Vec3, Quat, Mat3, Twist
from mcsim.core._math cimport (add, sub, scale, add_scaled, dot, cross, norm, mat_vec, solve3, rotate, rotate_back,
                               quat, quat_mul, quat_exp, quat_normalized)
from mcsim.state._inertia cimport refresh_inertia, spin_momentum
from mcsim.state._layout cimport STATIC, DYNAMIC

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


cdef inline double half_turn(double h, double w2) noexcept nogil:
    """a = tan(h |w| / 2) / |w|, w2 = |w|^2: the continued fraction of the tangent, to rounding for h |w| < 1; beyond, less
    than that, as only MOST_PIECES allow it."""
    cdef double z = 0.25 * h * h * w2
    z = z if z < 0.25 else 0.25
    return 0.5 * h * ((135135.0 - z * (17325.0 - z * (378.0 - z)))
                      / (135135.0 - z * (62370.0 - z * (3150.0 - 28.0 * z))))


cdef Vec3 midpoint_spin(const Mat3* inertia, const Mat3* inv_inertia, Vec3 momentum, Vec3 w, double a) noexcept nogil:
    """w_m of the equation above, body axes [rad/s]; `momentum` is l, `w` the start."""
    cdef Vec3 r, iw
    cdef Mat3 j
    cdef double tolerance = 6e-31 * dot(momentum, momentum)
    cdef double twice_energy = dot(w, momentum)
    cdef int k
    w = add_scaled(w, -a, mat_vec(inv_inertia[0], cross(w, momentum)))
    for k in range(NEWTON_STEPS):
        iw = mat_vec(inertia[0], w)
        r = sub(add_scaled(iw, a, cross(w, iw)), momentum)
        if dot(r, r) <= tolerance:
            return w
        # The derivative is I + a ([w] I - [I w]).
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
    # Twice w . r is what the turn adds to the energy. Where Newton's method fails, a turn about the momentum itself serves: it
    # keeps l, and so the energy, exactly.
    r = sub(mat_vec(inertia[0], w), momentum)
    if fabs(dot(w, r)) <= 1e-12 * twice_energy:
        return w
    return about_momentum(inertia, momentum)


cdef inline Vec3 about_momentum(const Mat3* inertia, Vec3 momentum) noexcept nogil:
    """The angular velocity along l whose momentum has the component |l| along it [rad/s]."""
    return scale(dot(momentum, momentum) / dot(momentum, mat_vec(inertia[0], momentum)), momentum)


cdef inline bint spins_steadily(Vec3 w, Vec3 momentum, double h) noexcept nogil:
    """A principal axis, or a body whose inertia is a sphere's: w stays."""
    cdef Vec3 torque = cross(w, momentum)
    return dot(torque, torque) * h * h <= 1e-34 * dot(momentum, momentum)


cdef Quat turned(const Bodies* bodies, Py_ssize_t i, Quat q, Vec3 w, Vec3 momentum, double h) noexcept nogil:
    """The orientation of a free dynamic body over h from q; w and its spin momentum in body axes."""
    cdef Vec3 momentum_world = rotate(q, momentum)
    cdef Vec3 steady
    cdef double a
    cdef int k, pieces = 1
    if h * h * dot(w, w) > PIECE_ANGLE * PIECE_ANGLE:
        steady = about_momentum(&bodies.inertia[i], momentum)
        if dot(w, w) > 4.0 * dot(steady, steady) and dot(w, momentum) < 1.01 * dot(steady, momentum):
            return quat_normalized(quat_mul(q, quat_exp(scale(h, steady))))
        pieces = MOST_PIECES
        if h * norm(w) < PIECE_ANGLE * MOST_PIECES:
            pieces = <int>ceil(h * norm(w) / PIECE_ANGLE)
        h = h / pieces
    for k in range(pieces):
        if k > 0:
            momentum = rotate_back(q, momentum_world)
            w = mat_vec(bodies.inv_inertia[i], momentum)
        a = half_turn(h, dot(w, w))
        w = midpoint_spin(&bodies.inertia[i], &bodies.inv_inertia[i], momentum, w, a)
        q = quat_normalized(quat_mul(q, quat(1.0, a * w.x, a * w.y, a * w.z)))
    return q


cdef void turn_body(Bodies* bodies, Py_ssize_t i, double h) noexcept nogil:
    """Orientation and angular velocity of a free dynamic body over h."""
    cdef Vec3 w_world = bodies.twist[i].w
    cdef Quat q = bodies.orientation[i]
    cdef Vec3 w, momentum
    if w_world.x == 0.0 and w_world.y == 0.0 and w_world.z == 0.0:
        return
    w = rotate_back(q, w_world)
    momentum = mat_vec(bodies.inertia[i], w)
    if spins_steadily(w, momentum, h):
        bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, w_world)), q))
        refresh_inertia(bodies, i)
        return
    bodies.orientation[i] = turned(bodies, i, q, w, momentum, h)
    keep_momentum(bodies, i, rotate(q, momentum))


cdef void keep_momentum(Bodies* bodies, Py_ssize_t i, Vec3 momentum_world) noexcept nogil:
    """World inertia and angular velocity at a new orientation, from the spin momentum."""
    cdef Vec3 w, momentum
    refresh_inertia(bodies, i)
    w = mat_vec(bodies.inv_inertia_world[i], momentum_world)
    # One refinement: what rounding in q and I^-1 leaves of L has the same sign in many steps and would add up.
    momentum = spin_momentum(bodies, i, bodies.orientation[i], w)
    bodies.twist[i].w = add(w, mat_vec(bodies.inv_inertia_world[i], sub(momentum_world, momentum)))


cdef void integrate_pose(Bodies* bodies, Py_ssize_t i, double h) noexcept nogil:
    if bodies.kind[i] == STATIC:
        return
    bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
    if bodies.kind[i] == DYNAMIC:
        turn_body(bodies, i, h)
    else:
        bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, bodies.twist[i].w)), bodies.orientation[i]))


cdef void integrate_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, double h) noexcept nogil:
    """Drift the chosen bodies by h; NULL: all. Kinematic ones keep the velocity that the user gave them."""
    cdef Py_ssize_t k
    for k in range(bodies.count if chosen == NULL else count):
        integrate_pose(bodies, k if chosen == NULL else chosen[k], h)


cdef void try_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                    double h) noexcept nogil:
    """The poses that integrate_poses would give the chosen bodies from the given ones (chosen[k] at position[k]); twists and
    inertia stay."""
    cdef Py_ssize_t k
    cdef int i
    cdef Vec3 w, momentum
    for k in range(count):
        i = chosen[k]
        bodies.position[i] = add_scaled(position[k], h, bodies.twist[i].v)
        w = rotate_back(orientation[k], bodies.twist[i].w)
        momentum = mat_vec(bodies.inertia[i], w)
        if bodies.kind[i] != DYNAMIC or spins_steadily(w, momentum, h):
            bodies.orientation[i] = quat_normalized(quat_mul(quat_exp(scale(h, bodies.twist[i].w)), orientation[k]))
        else:
            bodies.orientation[i] = turned(bodies, i, orientation[k], w, momentum, h)


cdef void accept_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, const Quat* orientation,
                       double h) noexcept nogil:
    """What is left of a drift whose poses try_poses has given: inertia, and angular velocities by the momentum at the start."""
    cdef Py_ssize_t k
    cdef int i
    cdef Vec3 w, momentum
    for k in range(count):
        i = chosen[k]
        if bodies.kind[i] != DYNAMIC:
            continue
        w = rotate_back(orientation[k], bodies.twist[i].w)
        momentum = mat_vec(bodies.inertia[i], w)
        if spins_steadily(w, momentum, h):
            refresh_inertia(bodies, i)
        else:
            keep_momentum(bodies, i, rotate(orientation[k], momentum))


cdef void update_inertia(Bodies* bodies) noexcept nogil:
    """World inverse inertia from the present orientations (after Python wrote them)."""
    cdef Py_ssize_t i
    for i in range(bodies.count):
        if bodies.kind[i] == DYNAMIC:
            refresh_inertia(bodies, i)
