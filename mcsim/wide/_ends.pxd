"""The two bodies in each lane of a block: what contacts and joints read of them, and how impulses act on them. A lane that
is not used is on the world, -1.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Bodies
from mcsim.wide._lanes cimport (Wide, Wide3, Wide6, gather, gather_inertia, gather_twist, scatter_twist, w_add,
                                w_add_scaled, w_sub, w_times)

ctypedef struct WideEnds:
    int32_t body_a[8]
    int32_t body_b[8]
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
    for lane in range(8):
        ends.body_a[lane] = -1
        ends.body_b[lane] = -1


cdef inline void load_masses(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    ends.inv_mass_a = gather(bodies.inv_mass, ends.body_a, 1)
    ends.inv_mass_b = gather(bodies.inv_mass, ends.body_b, 1)


cdef inline void load_inertia(WideEnds* ends, const Bodies* bodies) noexcept nogil:
    """At the present orientations."""
    ends.inv_inertia_a = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_a)
    ends.inv_inertia_b = gather_inertia(<const double*>bodies.inv_inertia_world, ends.body_b)


cdef inline WidePair load_pair(const WideEnds* ends, const Twist* twist) noexcept nogil:
    cdef WidePair p
    gather_twist(<const double*>twist, ends.body_a, &p.va, &p.wa)
    gather_twist(<const double*>twist, ends.body_b, &p.vb, &p.wb)
    return p


cdef inline void store_pair(const WidePair* p, const WideEnds* ends, Twist* twist) noexcept nogil:
    scatter_twist(p.va, p.wa, <double*>twist, ends.body_a)
    scatter_twist(p.vb, p.wb, <double*>twist, ends.body_b)


cdef inline void push(WidePair* p, const WideEnds* ends, Wide3 force, Wide3 torque_a, Wide3 torque_b) noexcept nogil:
    """v += M^-1 of an impulse `force` on b, its opposite on a, and of its moments about the two centres."""
    p.va = w_add_scaled(p.va, -ends.inv_mass_a, force)
    p.vb = w_add_scaled(p.vb, ends.inv_mass_b, force)
    p.wa = w_sub(p.wa, w_times(&ends.inv_inertia_a, torque_a))
    p.wb = w_add(p.wb, w_times(&ends.inv_inertia_b, torque_b))
