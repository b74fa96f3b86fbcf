"""Which points of the last step's manifolds the present ones are, and the impulses that they take over from them."""

from libc.math cimport fabs
from libc.stdint cimport uint64_t
from mcsim.core._math cimport add, dot, norm, scale, sub, vec3
from mcsim.core._types cimport Vec3
from mcsim.state._manifold cimport Manifold, ManifoldPoint
from mcsim.collide._records cimport PATCH_PARTS


cdef inline void copy_impulses(ManifoldPoint* p, const ManifoldPoint* old) noexcept nogil:
    p.normal_impulse = old.normal_impulse
    p.friction_impulse = old.friction_impulse


cdef inline int same_features(const Manifold* m, const Manifold* old) noexcept nogil:
    """Are the points the same ones, in the same order?"""
    cdef int i
    if m.point_count != old.point_count:
        return 0
    for i in range(m.point_count):
        if m.points[i].feature != old.points[i].feature:
            return 0
    return 1


cdef inline int same_parts(const Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts) noexcept nogil:
    """Has each part the points that the old one of its number had?"""
    cdef Py_ssize_t k
    if parts != old_parts:
        return 0
    for k in range(parts):
        if not same_features(&m[k], &old[k]):
            return 0
    return 1


cdef inline void carry_points(Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts,
                              double near) noexcept nogil:
    """Give each point the impulses of the old one with the same feature, in whichever part it was. A point without one
    takes those of the nearest old point left over, if it is within `near`: where edges lie on edges a corner changes hands
    at the least motion. 0 is no feature, but of single manifolds."""
    cdef ManifoldPoint* p
    cdef const ManifoldPoint* q
    cdef const ManifoldPoint* best
    cdef uint64_t given = 0                      # bit 4 k + i: point i of the part k has its impulses
    cdef uint64_t taken[2]                       # and of the old parts: 16 in each
    cdef bint single = parts == 1 and old_parts == 1
    cdef Py_ssize_t j, k, best_at
    cdef int h, i
    cdef double d2, least
    cdef Vec3 d
    taken[0] = taken[1] = 0
    for k in range(parts):
        for i in range(m[k].point_count):
            p = &m[k].points[i]
            for j in range(old_parts if p.feature != 0 or single else 0):
                for h in range(old[j].point_count):
                    if old[j].points[h].feature == p.feature and not (given >> (4 * k + i)) & 1 \
                            and not (taken[j >> 4] >> (4 * (j & 15) + h)) & 1:
                        copy_impulses(p, &old[j].points[h])
                        taken[j >> 4] |= <uint64_t>1 << (4 * (j & 15) + h)
                        given |= <uint64_t>1 << (4 * k + i)
    for k in range(parts):
        for i in range(m[k].point_count):
            if (given >> (4 * k + i)) & 1:
                continue
            p = &m[k].points[i]
            best = NULL
            best_at = 0
            least = near * near
            for j in range(old_parts):
                for h in range(old[j].point_count):
                    q = &old[j].points[h]
                    d = sub(p.position, q.position)
                    d2 = dot(d, d)
                    if d2 <= least and not (taken[j >> 4] >> (4 * (j & 15) + h)) & 1:
                        least = d2
                        best = q
                        best_at = 4 * j + h
            if best != NULL:
                taken[best_at >> 6] |= <uint64_t>1 << (best_at & 63)
                copy_impulses(p, best)


cdef inline void carry_over(Manifold* m, const Manifold* old, double near) noexcept nogil:
    """Give each point the impulses of the old one with the same feature, and the manifold those that it has as a whole."""
    cdef int i
    m.friction_impulse = old.friction_impulse
    m.twist_impulse = old.twist_impulse
    m.load = old.load
    if same_features(m, old):
        for i in range(m.point_count):
            copy_impulses(&m.points[i], &old.points[i])
    else:
        carry_points(m, 1, old, 1, near)


cdef inline void carry_patch(Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts, double near,
                             bint compliant) noexcept nogil:
    """carry_over for the parts of a patch, without impulses so far. What the parts had as wholes, friction and the like, is
    shared out by what their points bear, unless all are as they were. Compliant: the energy is; at which poses, all
    know."""
    cdef double load[PATCH_PARTS]
    cdef double total = 0.0
    cdef double twist = 0.0
    cdef double lasting = 0.0
    cdef double share
    cdef Vec3 friction = vec3(0.0, 0.0, 0.0)
    cdef Vec3 rolling = friction
    cdef Py_ssize_t k
    cdef int i
    if same_parts(m, parts, old, old_parts):
        for k in range(parts):
            m[k].friction_impulse = old[k].friction_impulse
            m[k].twist_impulse = old[k].twist_impulse
            m[k].load = old[k].load
            m[k].rolling_impulse = old[k].rolling_impulse
            for i in range(m[k].point_count):
                copy_impulses(&m[k].points[i], &old[k].points[i])
        return
    carry_points(m, parts, old, old_parts, near)
    for k in range(old_parts):
        friction = add(friction, old[k].friction_impulse)
        rolling = add(rolling, old[k].rolling_impulse)
        twist += old[k].twist_impulse
        lasting += old[k].load
    for k in range(parts):
        load[k] = 0.0
        for i in range(m[k].point_count):
            load[k] += fabs(m[k].points[i].normal_impulse)
        total += load[k]
    for k in range(parts):
        share = load[k] / total if total > 0.0 else 1.0 / parts
        m[k].friction_impulse = scale(share, friction)
        m[k].rolling_impulse = scale(share, rolling)
        m[k].twist_impulse = share * twist
        m[k].load = share * lasting
        if compliant:
            m[k].friction_impulse.y = old[0].friction_impulse.y


cdef inline Vec3 within_bound(Vec3 impulse, double most) noexcept nogil:
    """No longer than that."""
    cdef double length = norm(impulse)
    return scale(most / length, impulse) if length > most else impulse


cdef inline void loosen(Manifold* m, double friction_before) noexcept nogil:
    """Surfaces that have less friction than in the last step, since their materials were changed, bear no more than that
    from the step's begin on: impulses of friction that are carried over must be such as may be."""
    cdef double load = 0.0
    cdef int i
    for i in range(m.point_count):
        load += m.points[i].normal_impulse
        m.points[i].friction_impulse = within_bound(m.points[i].friction_impulse,
                                                     m.friction * max(m.points[i].normal_impulse, 0.0))
    m.friction_impulse = within_bound(m.friction_impulse, m.friction * max(load, 0.0))
    m.twist_impulse *= m.friction / friction_before


cdef inline int like_before(const Manifold* m, const Manifold* old, int count, uint64_t taken) noexcept nogil:
    """The old part, of those not taken, with the normal nearest to that of a new one; -1: none within 45 degrees."""
    cdef int i
    cdef int best = -1
    cdef double most = 0.7071
    for i in range(count):
        if dot(m.normal, old[i].normal) > most and not (taken >> i) & 1:
            most = dot(m.normal, old[i].normal)
            best = i
    return best
