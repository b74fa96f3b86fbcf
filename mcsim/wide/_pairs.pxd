"""What the blocks of lanes read of their two bodies each (_ends.pxd), and how impulses act on them."""

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.wide._ends cimport WideEnds
from mcsim.wide._lane_types cimport Wide3
from mcsim.wide._lanes cimport (gather, gather_inertia, gather_twist, scatter_twist, splat, w_add, w_add_scaled, w_sub,
                                w_times, wide3)

# Their velocities.
ctypedef struct WidePair:
    Wide3 va
    Wide3 wa
    Wide3 vb
    Wide3 wb


cdef inline void load_masses(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    ends.inv_mass_a = gather(bodies.inv_mass, ends.body_a, 1)
    ends.inv_mass_b = gather(bodies.inv_mass, ends.body_b, 1)


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
        p.va = w_add_scaled(p.va, -ends.inv_mass_a, force)
        p.wa = w_sub(p.wa, w_times(&ends.inv_inertia_a, torque_a))
    if not ends.stands_b:
        p.vb = w_add_scaled(p.vb, ends.inv_mass_b, force)
        p.wb = w_add(p.wb, w_times(&ends.inv_inertia_b, torque_b))
