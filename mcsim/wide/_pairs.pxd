"""What the blocks of lanes read of their two bodies each (_ends.pxd), and how impulses act on them."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport LOCKED_WAYS
from mcsim.wide._ends cimport WideEnds
from mcsim.wide._lane_types cimport WIDTH, Wide3
from mcsim.wide._lanes cimport (gather, gather_inertia, gather_twist, put, scatter_twist, splat, w_add, w_add_scaled, w_sub,
                                w_times, wide3)

# Their velocities.
ctypedef struct WidePair:
    Wide3 va
    Wide3 wa
    Wide3 vb
    Wide3 wb


cdef inline Wide3 free_ways(const Bodies* bodies, const int32_t* body) noexcept nogil:
    """1 along axes on which the lanes' bodies move, 0 along those that a lock has taken out of their inverse masses."""
    cdef Wide3 free = wide3(splat(1.0), splat(1.0), splat(1.0))
    cdef int lane
    for lane in range(WIDTH):
        if bodies.locks[body[lane]] & 1:
            put(&free.x, lane, 0.0)
        if bodies.locks[body[lane]] & 2:
            put(&free.y, lane, 0.0)
        if bodies.locks[body[lane]] & 4:
            put(&free.z, lane, 0.0)
    return free


cdef inline Wide3 only_free(Wide3 free, Wide3 force) noexcept nogil:
    return wide3(free.x * force.x, free.y * force.y, free.z * force.z)


cdef inline void load_masses(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    cdef int lane
    ends.inv_mass_a = gather(bodies.inv_mass, ends.body_a, 1)
    ends.inv_mass_b = gather(bodies.inv_mass, ends.body_b, 1)
    ends.locked = 0
    for lane in range(WIDTH):
        if (bodies.locks[ends.body_a[lane]] | bodies.locks[ends.body_b[lane]]) & LOCKED_WAYS:
            ends.locked = 1
    if ends.locked:
        ends.free_a = free_ways(bodies, ends.body_a)
        ends.free_b = free_ways(bodies, ends.body_b)


cdef inline void load_inertia(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    """At the present orientations."""
    if not ends.stands_a:
        ends.inv_inertia_a = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_a)
    if not ends.stands_b:
        ends.inv_inertia_b = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_b)


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
        p.va = w_add_scaled(p.va, -ends.inv_mass_a, only_free(ends.free_a, force) if ends.locked else force)
        p.wa = w_sub(p.wa, w_times(&ends.inv_inertia_a, torque_a))
    if not ends.stands_b:
        p.vb = w_add_scaled(p.vb, ends.inv_mass_b, only_free(ends.free_b, force) if ends.locked else force)
        p.wb = w_add(p.wb, w_times(&ends.inv_inertia_b, torque_b))
