"""From candidate contact points to a manifold: feature numbers, the choice of four points, the deepest point kept.

Candidates are placed relative to the first solid's position, so that accuracy does not fall far from the origin.
"""

from libc.math cimport sqrt, INFINITY
from libc.stdint cimport int32_t, uint64_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, add, sub, scale, dot, cross
from mcsim.state._manifold cimport Manifold
from mcsim.collide._records cimport MAX_CONTACTS, Axis, Contact

cdef extern from *:
    """
    /* Of the size of what may touch: by how much less deep than the deepest point a corner counts as that. */
    #define MC_MISS 1e-7
    """
    const double MISS "MC_MISS"

# ---- features: which corners and edges made a point; they do not depend on which face or axis was chosen -------------
# 2 bits of kind, then vertex numbers of 14 bits: 1 = vertex of a, 2 = vertex of b, 3 = edge of a x edge of b.

cdef inline uint64_t vertex_feature(int on_b, int32_t vertex) noexcept nogil:
    return (<uint64_t>(2 if on_b else 1) << 56) | <uint64_t>(vertex & 0x3fff)


cdef inline uint64_t edge_feature(int32_t a0, int32_t a1, int32_t b0, int32_t b1) noexcept nogil:
    """The crossing of a's edge (a0, a1) with b's edge (b0, b1); an edge's direction does not matter."""
    cdef uint64_t a_low = (a0 if a0 < a1 else a1) & 0x3fff
    cdef uint64_t a_high = (a1 if a0 < a1 else a0) & 0x3fff
    cdef uint64_t b_low = (b0 if b0 < b1 else b1) & 0x3fff
    cdef uint64_t b_high = (b1 if b0 < b1 else b0) & 0x3fff
    return (<uint64_t>3 << 56) | (a_low << 42) | (a_high << 28) | (b_low << 14) | b_high


# ---- at most four points ---------------------------------------------------------------------------------------------

cdef inline double distance2(const Contact* p, const Contact* q) noexcept nogil:
    cdef Vec3 d = sub(p.position, q.position)
    return dot(d, d)


cdef inline int deepest_of(const Contact* contacts, int count) noexcept nogil:
    """Number of the point with the least separation; the first of equals."""
    cdef int i
    cdef int best = 0
    for i in range(1, count):
        if contacts[i].separation < contacts[best].separation:
            best = i
    return best


cdef inline int nearest_of(const Contact* contacts, int count, Vec3 position) noexcept nogil:
    """Number of the point nearest to `position`; the first of equals."""
    cdef int i
    cdef int best = 0
    cdef double d2
    cdef double least = INFINITY
    cdef Vec3 d
    for i in range(count):
        d = sub(contacts[i].position, position)
        d2 = dot(d, d)
        if d2 < least:
            least = d2
            best = i
    return best


cdef inline int reduce_contacts(Contact* contacts, int count, Vec3 normal) noexcept nogil:
    """Keep four points that span the area, and the deepest one. -> count.

    Area chooses first and must be won by one part in a million, so that a resting body keeps its points although their
    depths tremble; if the deepest point is not among them, the nearest chosen one moves onto it and keeps its feature.
    """
    cdef Contact kept[4]
    cdef int chosen[4]
    cdef int i, k, deepest
    cdef double value, best, tolerance
    cdef Vec3 centre = vec3(0.0, 0.0, 0.0)
    cdef Vec3 d, e
    if count <= 4:
        return count
    for i in range(4):
        chosen[i] = 0
    for i in range(count):
        centre = add(centre, contacts[i].position)
    centre = scale(1.0 / count, centre)
    best = -1.0
    for i in range(count):                       # farthest from the centre
        d = sub(contacts[i].position, centre)
        value = dot(d, d)
        if value > 1.000001 * best:
            best = value
            chosen[0] = i
    best = -1.0
    for i in range(count):                       # farthest from that
        value = distance2(&contacts[i], &contacts[chosen[0]])
        if value > 1.000001 * best:
            best = value
            chosen[1] = i
    tolerance = 1e-6 * best                      # areas are compared with a hundred-thousandth of the extent squared
    e = sub(contacts[chosen[1]].position, contacts[chosen[0]].position)
    for k in range(2):                           # farthest to the left, then to the right, of that line
        best = -1.0
        for i in range(count):
            d = sub(contacts[i].position, contacts[chosen[0]].position)
            value = dot(normal, cross(e, d))
            if k == 1:
                value = -value
            if value > best + tolerance or best < 0.0 and value > tolerance:
                best = value
                chosen[2 + k] = i
        if best <= tolerance:
            chosen[2 + k] = -1
    deepest = deepest_of(contacts, count)
    k = 0
    for i in range(count):                       # in their first order
        if i == chosen[0] or i == chosen[1] or i == chosen[2] or i == chosen[3]:
            kept[k] = contacts[i]
            k += 1
    i = deepest_of(kept, k)
    value = sqrt(distance2(&contacts[chosen[0]], &contacts[chosen[1]]))
    if contacts[deepest].separation < kept[i].separation - 1e-9 * value:
        if k < 4:
            kept[k] = contacts[deepest]
            k += 1
        else:
            i = nearest_of(kept, k, contacts[deepest].position)
            kept[i].position = contacts[deepest].position
            kept[i].separation = contacts[deepest].separation
    for i in range(k):
        contacts[i] = kept[i]
    return k


cdef inline void store(Manifold* m, const Contact* contacts, int count, Vec3 normal, Vec3 origin) noexcept nogil:
    cdef int i
    m.normal = normal
    m.point_count = count
    for i in range(count):
        m.points[i].position = add(origin, contacts[i].position)
        m.points[i].separation = contacts[i].separation
        m.points[i].feature = contacts[i].feature


cdef inline bint miss_lowest(const Contact* contacts, int count, double separation, double size) noexcept nogil:
    """Whether none of the candidates is as deep as that."""
    return count == 0 or contacts[deepest_of(contacts, count)].separation > separation + MISS * size


cdef inline int take_lowest(Contact* contacts, int count, const Axis* axis, double size) noexcept nogil:
    """Candidates with the witness among them. Rounded shapes enter as inscribed polygons or rulings, which can miss the
    deepest point: then the nearest candidate moves onto it and keeps its feature, or it is one more between far ones.
    -> count, at most one more

    A miss of less than that part of the size stays, lest the points of a body at rest wander with its least tremble.
    """
    cdef int nearest
    cdef Vec3 d
    if not miss_lowest(contacts, count, axis.separation, size):
        return count
    nearest = nearest_of(contacts, count, axis.witness)
    if count > 0:
        d = sub(contacts[nearest].position, axis.witness)
    if count == 0 or count < 4 and 16.0 * dot(d, d) > distance2(&contacts[0], &contacts[count - 1]) > 0.0:
        nearest = count
        contacts[nearest].feature = 0
        count += 1
    contacts[nearest].position = axis.witness
    contacts[nearest].separation = axis.separation
    return count


cdef inline void finish(Manifold* m, Contact* contacts, int count, const Axis* axis, double size,
                        Vec3 origin) noexcept nogil:
    """Reduce the candidates and store them, the witness among them."""
    count = reduce_contacts(contacts, count, axis.normal)
    store(m, contacts, take_lowest(contacts, count, axis, size), axis.normal, origin)


cdef inline int store_single(Manifold* m, const Axis* axis, Vec3 origin) noexcept nogil:
    """A manifold of one point: the witness."""
    m.normal = axis.normal
    m.point_count = 1
    m.points[0].position = add(origin, axis.witness)
    m.points[0].separation = axis.separation
    m.points[0].feature = 0
    return 1


cdef inline void clear_impulses(Manifold* m) noexcept nogil:
    cdef int i
    m.row_begin = 0
    m.friction_impulse = vec3(0.0, 0.0, 0.0)
    m.twist_impulse = 0.0
    m.load = 0.0
    for i in range(m.point_count):
        m.points[i].normal_impulse = 0.0
        m.points[i].total_normal_impulse = 0.0
        m.points[i].friction_impulse = vec3(0.0, 0.0, 0.0)
        m.points[i].total_friction_impulse = vec3(0.0, 0.0, 0.0)
