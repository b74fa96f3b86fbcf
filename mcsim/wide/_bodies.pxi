# The wide kernels of bodies. Included once for every CPU level; the equations stand in integrate/_euler.pyx.

from libc.math cimport ceil
from libc.stdint cimport int32_t

from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.wide._bodies cimport BodyKernels
from mcsim.wide._lane_types cimport *
from mcsim.wide._lanes cimport *

cdef enum:
    NEWTON_STEPS = 10          # steps of Newton's method for the spin of a midpoint, at most
    MOST_PIECES = 32           # of a turn in a substep

cdef double PIECE_ANGLE = 0.5    # [rad] turned in one piece at most, up to MOST_PIECES


cdef inline Wide half_turn(Wide h, Wide w2) noexcept nogil:
    """a = tan(h |w| / 2) / |w|, w2 = |w|^2: the continued fraction of the tangent, to rounding for h |w| < 1; beyond,
    less than that, as only MOST_PIECES allow it."""
    cdef Wide z = least(splat(0.25) * h * h * w2, splat(0.25))
    return splat(0.5) * h * ((splat(135135.0) - z * (splat(17325.0) - z * (splat(378.0) - z)))
                             / (splat(135135.0) - z * (splat(62370.0) - z * (splat(3150.0) - splat(28.0) * z))))


cdef inline WideMatrix inverse_derivative(const Wide6* inertia, Wide3 w, Wide3 iw, Wide a) noexcept nogil:
    """(I + a ([w] I - [I w]))^-1, by Cramer's rule."""
    cdef Wide3 x = wide3(inertia.xx + a * (w.y * inertia.xz - w.z * inertia.xy),
                         inertia.xy + a * (w.z * inertia.xx - w.x * inertia.xz - iw.z),
                         inertia.xz + a * (w.x * inertia.xy - w.y * inertia.xx + iw.y))           # its columns
    cdef Wide3 y = wide3(inertia.xy + a * (w.y * inertia.yz - w.z * inertia.yy + iw.z),
                         inertia.yy + a * (w.z * inertia.xy - w.x * inertia.yz),
                         inertia.yz + a * (w.x * inertia.yy - w.y * inertia.xy - iw.x))
    cdef Wide3 z = wide3(inertia.xz + a * (w.y * inertia.zz - w.z * inertia.yz - iw.y),
                         inertia.yz + a * (w.z * inertia.xz - w.x * inertia.zz + iw.x),
                         inertia.zz + a * (w.x * inertia.yz - w.y * inertia.xz))
    cdef Wide3 yz = w_cross(y, z)
    cdef Wide scale = splat(1.0) / w_dot(x, yz)
    cdef WideMatrix inverted
    inverted.x = w_scale(scale, yz)
    inverted.y = w_scale(scale, w_cross(z, x))
    inverted.z = w_scale(scale, w_cross(x, y))
    return inverted


cdef inline Wide3 about_momentum(const Wide6* inertia, Wide3 momentum) noexcept nogil:
    """The angular velocity along l whose momentum has the component |l| along it [rad/s]."""
    return w_scale(w_dot(momentum, momentum) / w_dot(momentum, w_times(inertia, momentum)), momentum)


cdef inline Wide3 midpoint_spin(const Wide6* inertia, const Wide6* inv_inertia, Wide3 momentum, Wide3 w, Wide a,
                                Mask wanted) noexcept nogil:
    """w_m, body axes [rad/s], of the lanes that are `wanted`; w: the start's. Newton's method; each inverse serves two
    steps."""
    cdef Wide tolerance = splat(6e-31) * w_dot(momentum, momentum)
    cdef Wide twice_energy = w_dot(w, momentum)
    cdef Wide3 iw, r
    cdef WideMatrix inverted
    cdef Mask open
    cdef int k
    w = w_add_scaled(w, -a, w_times(inv_inertia, w_cross(w, momentum)))
    for k in range(NEWTON_STEPS):
        iw = w_times(inertia, w)
        r = w_sub(w_add_scaled(iw, a, w_cross(w, iw)), momentum)
        open = both(wanted, above(w_dot(r, r), tolerance))
        if not any_lane(open):
            return w
        if k % 2 == 0:
            inverted = inverse_derivative(inertia, w, iw, a)
        w = w_choose(open, w_sub(w, turn(&inverted, r)), w)
    # Twice w . r is what the turn adds to the energy. Where Newton's method fails, a turn about the momentum itself
    # serves: it keeps l, and so the energy, exactly.
    r = w_sub(w_times(inertia, w), momentum)
    open = both(open, above(size_of(w_dot(w, r)), splat(1e-12) * twice_energy))
    return w_choose(open, about_momentum(inertia, momentum), w)


cdef inline Wide unsteadiness(Wide3 w, Wide3 momentum, Wide h) noexcept nogil:
    """Above 0 unless the body spins about a principal axis, or its inertia is a sphere's: then w stays."""
    cdef Wide3 torque = w_cross(w, momentum)
    return w_dot(torque, torque) * h * h - splat(1e-34) * w_dot(momentum, momentum)


cdef inline WideQuat turned_once(WideQuat q, const Wide6* inertia, const Wide6* inv_inertia, Wide3 w, Wide3 momentum,
                                 Wide w2, Wide h) noexcept nogil:
    """The orientation after h in one piece; w, its square and the momentum in body axes."""
    cdef Mask moves = above(w2, splat(0.0))
    cdef Wide a = half_turn(h, w2)
    w = midpoint_spin(inertia, inv_inertia, momentum, w, a, moves)
    return choose_quat(moves, w_turned(q, w_scale(a, w)), q)


cdef inline Mask turns_far(Wide w2, double h) noexcept nogil:
    """Whether that takes more than one piece."""
    return above(splat(h) * splat(h) * w2, splat(PIECE_ANGLE) * splat(PIECE_ANGLE))


cdef int turn_bodies(Bodies* bodies, const int32_t* body, const int32_t* place, const Vec3* position,
                     const Quat* orientation, double h) noexcept nogil:
    cdef Wide3 x = gather3(<const double*>position, place, 3)
    cdef WideQuat q = gather_quat(<const double*>orientation, place)
    cdef Wide6 inertia = gather_inertia(<const double*>bodies.inertia, body)
    cdef Wide6 inv_inertia = gather_inertia(<const double*>bodies.inv_inertia, body)
    cdef Wide3 v, w, momentum
    cdef Wide w2
    gather_twist(<const double*>bodies.twist, body, &v, &w)
    w = w_rotate_back(q, w)
    momentum = w_times(&inertia, w)
    w2 = w_dot(w, w)
    scatter3(w_add_scaled(x, splat(h), v), <double*>bodies.position, body, 3)
    if any_lane(turns_far(w2, h)):
        return turn_in_pieces(bodies, body, q, &inertia, &inv_inertia, w, momentum, h)
    scatter_quat(turned_once(q, &inertia, &inv_inertia, w, momentum, w2, splat(h)), <double*>bodies.orientation, body)
    return 0


cdef int turn_in_pieces(Bodies* bodies, const int32_t* body, WideQuat q, const Wide6* inertia,
                        const Wide6* inv_inertia, Wide3 w, Wide3 momentum, double h) noexcept nogil:
    """The same where some lanes are fast: those turn in several pieces, the others in one."""
    cdef Wide3 momentum_world = w_rotate(q, momentum)
    cdef Wide3 steady = about_momentum(inertia, momentum)
    cdef Wide w2 = w_dot(w, w)
    cdef Wide zero = splat(0.0)
    cdef Wide unsteady = unsteadiness(w, momentum, splat(h))
    cdef Wide angle = splat(h) * root(w2)
    cdef Wide pieces = splat(1.0)
    cdef Wide a
    cdef Mask left, active
    cdef int k, most_pieces = 1
    cdef int bits = 0
    # A needle's spin about itself.
    cdef Mask needle = both(above(w2, splat(4.0) * w_dot(steady, steady)),
                            above(splat(1.01) * w_dot(steady, momentum), w_dot(w, momentum)))
    cdef Mask fast = above(splat(h) * splat(h) * w2, splat(PIECE_ANGLE) * splat(PIECE_ANGLE))
    unsteady = choose(needle, zero, unsteady)
    for k in range(WIDTH):
        if lane_bits(fast) >> k & 1:
            if not lane_of(&unsteady, k) > 0.0:
                bits |= 1 << k
                put(&w2, k, 0.0)
                continue
            put(&pieces, k, min(ceil(lane_of(&angle, k) / PIECE_ANGLE), <double>MOST_PIECES))
            most_pieces = max(most_pieces, <int>lane_of(&pieces, k))
    for k in range(most_pieces):
        active = both(above(w2, zero), above(pieces, splat(k)))
        if k > 0:
            momentum = w_rotate_back(q, momentum_world)
            w = w_times(inv_inertia, momentum)
        a = half_turn(splat(h) / pieces, w_dot(w, w))
        w = midpoint_spin(inertia, inv_inertia, momentum, w, a, active)
        q = choose_quat(active, w_turned(q, w_scale(a, w)), q)
    scatter_quat(q, <double*>bodies.orientation, body)
    return bits


cdef inline Wide6 rotate_inertia(const WideMatrix* r, const Wide6* s) noexcept nogil:
    """r s r'"""
    cdef Wide3 x = w_times(s, r.x)
    cdef Wide3 y = w_times(s, r.y)
    cdef Wide6 m
    m.xx = w_dot(x, r.x)
    m.xy = w_dot(x, r.y)
    m.xz = w_dot(x, r.z)
    m.yy = w_dot(y, r.y)
    m.yz = w_dot(y, r.z)
    m.zz = w_dot(w_times(s, r.z), r.z)
    return m


cdef inline Wide6 turn_inertia(Bodies* bodies, const int32_t* body, const WideMatrix* r) noexcept nogil:
    """World inverse inertia at the orientation r, also into the bodies."""
    cdef Wide6 inertia = gather_inertia(<const double*>bodies.inv_inertia, body)
    cdef Wide6 turned = rotate_inertia(r, &inertia)
    cdef double* out = <double*>bodies.inv_inertia_world
    scatter(turned.xx, out, body, MATRIX)
    scatter(turned.xy, out + 1, body, MATRIX)
    scatter(turned.xz, out + 2, body, MATRIX)
    scatter(turned.xy, out + 3, body, MATRIX)
    scatter(turned.yy, out + 4, body, MATRIX)
    scatter(turned.yz, out + 5, body, MATRIX)
    scatter(turned.xz, out + 6, body, MATRIX)
    scatter(turned.yz, out + 7, body, MATRIX)
    scatter(turned.zz, out + 8, body, MATRIX)
    return turned


cdef void settle_bodies(Bodies* bodies, const int32_t* body, const int32_t* place, const Quat* orientation,
                        double h) noexcept nogil:
    cdef double* spin = <double*>bodies.twist + 3
    cdef WideQuat q = gather_quat(<const double*>orientation, place)
    cdef Wide6 inertia = gather_inertia(<const double*>bodies.inertia, body)
    cdef Wide3 start = gather3(spin, body, TWIST)
    cdef Wide3 w = w_rotate_back(q, start)
    cdef Wide3 momentum = w_times(&inertia, w)
    cdef Mask unsteady = above(unsteadiness(w, momentum, splat(h)), splat(0.0))
    cdef WideMatrix r = rotation(<const double*>bodies.orientation, body)
    cdef Wide6 inv_inertia = turn_inertia(bodies, body, &r)
    momentum = w_rotate(q, momentum)
    w = w_times(&inv_inertia, momentum)
    # One refinement: what rounding in q and I^-1 leaves of L has the same sign in many steps and would add up.
    momentum = w_sub(momentum, turn(&r, w_times(&inertia, turn_back(&r, w))))
    w = w_add(w, w_times(&inv_inertia, momentum))
    scatter3(w_choose(unsteady, w, start), spin, body, TWIST)


cdef void refresh_world_inertia(Bodies* bodies, const int32_t* body) noexcept nogil:
    cdef WideMatrix r = rotation(<const double*>bodies.orientation, body)
    turn_inertia(bodies, body, &r)


cdef BodyKernels BODY_KERNELS
BODY_KERNELS.width = WIDTH
BODY_KERNELS.turn = turn_bodies
BODY_KERNELS.settle = settle_bodies
BODY_KERNELS.refresh = refresh_world_inertia


def body_kernels():
    """The table of this level's kernels of bodies, for integrate/_euler.pyx."""
    return PyCapsule_New(&BODY_KERNELS, "mcsim.wide.bodies", NULL)
