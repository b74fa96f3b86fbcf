"""The two bodies in each lane of a block: what contacts and joints read of them, and how impulses act on them. A lane that
is not used is on the world, -1.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.wide._lanes cimport (Wide, Wide3, Wide6, gather, gather_inertia, gather_twist, scatter_twist, splat,
                                w_add, w_add_scaled, w_sub, w_times, wide3)

ctypedef struct WideEnds:
    int32_t body_a[8]
    int32_t body_b[8]
    int32_t stands_a             # 1: no lane's body a moves
    int32_t stands_b
    int32_t reserved[14]
    Wide inv_mass_a
    Wide inv_mass_b
    Wide6 inv_inertia_a          # world axes
    Wide6 inv_inertia_b

# Their velocities.
ctypedef struct WidePair:
    Wide3 va
    Wide3 wa
    Wide3 vb
    Wide3 wb


cdef inline void clear_ends(WideEnds* ends) noexcept nogil:
    """No lane is used."""
    cdef int lane
    ends.stands_a = 0
    ends.stands_b = 0
    for lane in range(8):
        ends.body_a[lane] = -1
        ends.body_b[lane] = -1


cdef inline void load_masses(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    ends.inv_mass_a = gather(bodies.inv_mass, ends.body_a, 1)
    ends.inv_mass_b = gather(bodies.inv_mass, ends.body_b, 1)


cdef inline void load_inertia(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    """At the present orientations."""
    if not ends.stands_a:
        ends.inv_inertia_a = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_a)
    if not ends.stands_b:
        ends.inv_inertia_b = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_b)


cdef inline void find_standing(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    """Whose velocities stay 0 for the whole step."""
    cdef int lane
    ends.stands_a = 1
    ends.stands_b = 1
    for lane in range(8):
        if not stands(bodies, ends.body_a[lane]):
            ends.stands_a = 0
        if not stands(bodies, ends.body_b[lane]):
            ends.stands_b = 0


cdef inline bint stands(const Bodies* bodies, int32_t body) noexcept nogil:
    cdef const Twist* t = &bodies.twist[body]
    return body < 0 or (bodies.inv_mass[body] == 0.0 and t.v.x == 0.0 and t.v.y == 0.0 and t.v.z == 0.0
                        and t.w.x == 0.0 and t.w.y == 0.0 and t.w.z == 0.0)


cdef inline WidePair load_pair(const WideEnds* ends, const Twist* twist) noexcept nogil:
    cdef WidePair p
    if ends.stands_a:
        p.va = wide3(splat(0.0), splat(0.0), splat(0.0))
        p.wa = p.va
    else:
        gather_twist(<const double*>twist, ends.body_a, &p.va, &p.wa)
    if ends.stands_b:
        p.vb = wide3(splat(0.0), splat(0.0), splat(0.0))
        p.wb = p.vb
    else:
        gather_twist(<const double*>twist, ends.body_b, &p.vb, &p.wb)
    return p


cdef inline void store_pair(const WidePair* p, const WideEnds* ends, Twist* twist) noexcept nogil:
    if not ends.stands_a:
        scatter_twist(p.va, p.wa, <double*>twist, ends.body_a)
    if not ends.stands_b:
        scatter_twist(p.vb, p.wb, <double*>twist, ends.body_b)


cdef inline void push(WidePair* p, const WideEnds* ends, Wide3 force, Wide3 torque_a, Wide3 torque_b) noexcept nogil:
    """v += M^-1 of an impulse `force` on b, its opposite on a, and of its moments about the two centres."""
    if not ends.stands_a:
        p.va = w_add_scaled(p.va, -ends.inv_mass_a, force)
        p.wa = w_sub(p.wa, w_times(&ends.inv_inertia_a, torque_a))
    if not ends.stands_b:
        p.vb = w_add_scaled(p.vb, ends.inv_mass_b, force)
        p.wb = w_add(p.wb, w_times(&ends.inv_inertia_b, torque_b))
