"""The two bodies in each lane of a block: what contacts and joints read of them (_pairs.pxd). A lane that is not used
is on the world, -1.

The lanes of a block share no moving body, but for one that far outweighs all others (_shared.pxd). Up to SHARED manifolds
on it are solved as one, whatever the width is: in one block or in several, all of which read the velocity that it had
before the first of them.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.wide._lane_types cimport Wide, Wide3, Wide6

cdef enum:
    SHARES_A = 1                 # `shares`: body a of all lanes is one and the same,
    SHARES_B = 2                 # body b is

ctypedef struct WideEnds:
    int32_t body_a[8]
    int32_t body_b[8]
    int32_t stands_a             # 1: no lane's body a moves
    int32_t stands_b
    int32_t locked               # 1: some lane's bodies have a lock in their inverse masses
    int32_t shares               # 0: no two lanes share a moving body
    int32_t follows              # 1: shared, and not the first block of those that are solved as one
    int32_t mark                 # of the shared body, before the first of them (freeze of _pairs.pxd), and
    int32_t reserved[10]
    Twist frozen                 # its velocity there
    double reserved_numbers[2]
    Wide inv_mass_a
    Wide inv_mass_b
    Wide6 inv_inertia_a          # world axes
    Wide6 inv_inertia_b
    Wide3 free_a                 # where `locked`: 1 along world axes on which a moves, else 0
    Wide3 free_b


cdef inline void clear_ends(WideEnds* ends) noexcept nogil:
    """No lane is used."""
    cdef int lane
    ends.stands_a = 0
    ends.stands_b = 0
    ends.shares = 0
    ends.follows = 0
    for lane in range(8):
        ends.body_a[lane] = -1
        ends.body_b[lane] = -1


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
