"""Bodies that far outweigh what touches them: contacts on one of them are solved side by side.

Contacts in one block of lanes share no moving body, so that n things on one slab would stand in n blocks, one in each.
Let k be what a unit impulse of a contact does there to the slab's velocity, m^-1 + r' I^-1 r, and m_l^-1 the least that
it does to the light body's. If SHARED contacts are solved at once, from one velocity of the slab, each misses what the
others give it: SHARED k of m_l^-1 at most. Jacobi's iteration, which that is, converges if it is less than 1 (diagonal
dominance); where it is a quarter it is as good as one after the other. So contacts that find no colour may share a body
that is as heavy as that.
"""

from libc.stdint cimport int32_t
from mcsim.core._math cimport cross, dot, mat_vec, perpendicular, sub
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.wide._ends cimport SHARES_A, SHARES_B

cdef enum:
    SHARED = 8                   # manifolds that are solved at once, as many as the widest block has lanes
    SHARED_WEIGHT = 32           # times as heavy as what touches it, where it does, a body is at least that is shared


cdef inline double given_along(const Bodies* bodies, int body, Vec3 r, Vec3 direction) noexcept nogil:
    """m^-1 + (r x d)' I^-1 (r x d) [1/kg]"""
    cdef Vec3 arm = cross(r, direction)
    return bodies.inv_mass[body] + dot(arm, mat_vec(bodies.inv_inertia_world[body], arm))


cdef inline double most_given(const Bodies* bodies, int body, const Manifold* m) noexcept nogil:
    """The most that a unit impulse on it does at a point of the manifold, along the normal or a tangent [1/kg]."""
    cdef Vec3 t = perpendicular(m.normal)
    cdef Vec3 second = cross(m.normal, t)
    cdef double most = 0.0
    cdef Vec3 r
    cdef int i
    for i in range(m.point_count):
        r = sub(m.points[i].position, bodies.position[body])
        most = max(most, max(given_along(bodies, body, r, m.normal),
                             max(given_along(bodies, body, r, t), given_along(bodies, body, r, second))))
    return most


cdef inline int shared_side(const Bodies* bodies, const Manifold* m) noexcept nogil:
    """SHARES_A or SHARES_B: which of its bodies the manifold may share with others; 0: neither."""
    if SHARED_WEIGHT * most_given(bodies, m.body_a, m) <= bodies.inv_mass[m.body_b]:
        return SHARES_A
    if SHARED_WEIGHT * most_given(bodies, m.body_b, m) <= bodies.inv_mass[m.body_a]:
        return SHARES_B
    return 0


cdef inline int heavy_of(const Manifold* m, int side) noexcept nogil:
    return m.body_a if side == SHARES_A else m.body_b


cdef inline int light_of(const Manifold* m, int side) noexcept nogil:
    return m.body_b if side == SHARES_A else m.body_a


cdef inline int share_body(const Manifold* manifolds, const Bodies* bodies, const int32_t* chosen, int count,
                           int* side) noexcept nogil:
    """How many of the first manifolds that were chosen, from 1 to SHARED, are solved as one. side: of the body that they
    share; 0: there is one manifold."""
    cdef int found = 1
    cdef int k
    side[0] = shared_side(bodies, &manifolds[chosen[0]])
    while side[0] and found < min(count, SHARED):
        if (shared_side(bodies, &manifolds[chosen[found]]) != side[0]
                or heavy_of(&manifolds[chosen[found]], side[0]) != heavy_of(&manifolds[chosen[0]], side[0])):
            break
        for k in range(found):
            if light_of(&manifolds[chosen[k]], side[0]) == light_of(&manifolds[chosen[found]], side[0]):
                break
        else:
            found += 1
            continue
        break
    if found == 1:
        side[0] = 0
    return found
