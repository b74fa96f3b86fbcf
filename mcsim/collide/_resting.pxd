"""Manifolds of sleeping bodies: kept apart, sorted like the others, until one of the two bodies wakes."""

from libc.stdint cimport int32_t
from mcsim.collide._broadphase cimport ALONE, AT_REST, CARRIED
from mcsim.core._math cimport add, is_zero, scale
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies, DYNAMIC
from mcsim.state._manifold cimport Manifold


cdef inline int32_t company_of(const Bodies* bodies, int32_t body) noexcept nogil:
    """In which company a body's shapes are (collide/_broadphase.pxd)."""
    if bodies.island[body] < 0:
        return ALONE
    return AT_REST if is_zero(bodies.carrier[body]) else CARRIED + <int32_t>bodies.island[body]


cdef inline void carry_points(Manifold* manifolds, Py_ssize_t count, const Bodies* bodies, double dt) noexcept nogil:
    """Over a step the points of manifolds go with what carries their bodies."""
    cdef Py_ssize_t i
    cdef int k
    cdef Manifold* m
    cdef Vec3 u
    for i in range(count):
        m = &manifolds[i]
        u = bodies.carrier[m.body_a if bodies.kind[m.body_a] == DYNAMIC else m.body_b]
        for k in range(m.point_count if not is_zero(u) else 0):
            m.points[k].position = add(m.points[k].position, scale(dt, u))


cdef inline bint at_rest(const Manifold* m, const Bodies* bodies) noexcept nogil:
    """Whether neither body is dynamic and awake, and one sleeps."""
    cdef bint a, b
    a = bodies.island[m.body_a] >= 0
    b = bodies.island[m.body_b] >= 0
    return (a or b) and (a or bodies.kind[m.body_a] != DYNAMIC) and (b or bodies.kind[m.body_b] != DYNAMIC)


cdef inline Py_ssize_t take_over(Manifold* source, Py_ssize_t* source_count, Manifold* target, Py_ssize_t* target_count,
                                 const Bodies* bodies, bint resting) noexcept nogil:
    """Move the manifolds that rest (or those that do not) from one sorted list to another, which has room. -> how many"""
    cdef Py_ssize_t i, k
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t moved = 0
    for i in range(source_count[0]):
        moved += at_rest(&source[i], bodies) == resting
    if moved == 0:
        return 0
    i = source_count[0] - 1
    k = target_count[0] - 1
    target_count[0] += moved
    kept = target_count[0] - 1                   # where the next of the merged list goes, from its end
    while i >= 0:
        if at_rest(&source[i], bodies) != resting:
            i -= 1
        elif k >= 0 and target[k].key > source[i].key:
            target[kept] = target[k]
            k -= 1
            kept -= 1
        else:
            target[kept] = source[i]
            i -= 1
            kept -= 1
    kept = 0
    for i in range(source_count[0]):
        if at_rest(&source[i], bodies) != resting:
            if kept < i:
                source[kept] = source[i]
            kept += 1
    source_count[0] = kept
    return moved
