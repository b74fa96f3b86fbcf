"""Bodies that contacts tie together, directly or over others that move: what a sweep leaves undone in one group is nothing
to another, so each has its own end of sweeps (docs/theory/si.md)."""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.core._forest cimport root_of, unite_groups
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold

cdef enum:
    HELD = 1 << 30               # a sweep that never comes


cdef inline void forget(int32_t* groups, int32_t* going, int32_t body) noexcept nogil:
    groups[body] = body
    going[body] = 0


cdef inline void hold(int32_t* groups, int32_t* going, const Bodies* bodies, int32_t body) noexcept nogil:
    if body >= 0 and bodies.inv_mass[body] > 0.0:
        going[root_of(groups, body)] = HELD


cdef inline int32_t mover(const Manifold* m, const Bodies* bodies) noexcept nogil:
    """One of its two bodies, which moves if one does."""
    return m.body_a if bodies.inv_mass[m.body_a] > 0.0 else m.body_b


cdef inline void find_groups(int32_t* groups, int32_t* going, const Manifold* manifolds, Py_ssize_t count,
                             const Bodies* bodies, const Joint* joints, const int32_t* awake,
                             Py_ssize_t awake_count) noexcept nogil:
    """groups: of the manifolds' movers, the first body of their group. going: of groups, 0; HELD where a joint has a part
    in it, for what the joints' solves and rows change is not seen by the contacts' sweeps. awake: numbers of the joints
    that are not asleep. Other bodies are not looked at, for most may be asleep."""
    cdef const Manifold* m
    cdef Py_ssize_t k
    cdef int32_t a, b
    for k in range(awake_count):
        a, b = joints[awake[k]].body_a, joints[awake[k]].body_b
        if a >= 0:
            forget(groups, going, a)
        if b >= 0:
            forget(groups, going, b)
    for k in range(count):
        forget(groups, going, manifolds[k].body_a)
        forget(groups, going, manifolds[k].body_b)
    for k in range(count):
        m = &manifolds[k]
        if m.point_count > 0 and bodies.inv_mass[m.body_a] > 0.0 and bodies.inv_mass[m.body_b] > 0.0:
            unite_groups(groups, m.body_a, m.body_b)
    for k in range(awake_count):
        hold(groups, going, bodies, joints[awake[k]].body_a)
        hold(groups, going, bodies, joints[awake[k]].body_b)
    going[bodies.count] = HELD
    for k in range(count):
        a = mover(&manifolds[k], bodies)
        groups[a] = root_of(groups, a)


cdef inline int32_t group_of(const Manifold* m, const int32_t* groups, const int32_t* going,
                             const Bodies* bodies) noexcept nogil:
    """After find_groups, and before a sweep. Groups that are held count as one."""
    cdef int32_t group = groups[mover(m, bodies)]
    return <int32_t>bodies.count if going[group] == HELD else group


cdef inline int32_t free_group(const Manifold* m, const int32_t* groups, const int32_t* going,
                               const Bodies* bodies) noexcept nogil:
    """The same; -1 of groups that are held."""
    cdef int32_t group = groups[mover(m, bodies)]
    return -1 if going[group] == HELD else group


cdef inline void sort_by_group(int32_t* order, int32_t* place, const int32_t* groups, const int32_t* going,
                               const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    """order: numbers of manifolds, each group's one after the other. place: (bodies + 1,), is overwritten."""
    cdef Py_ssize_t k
    cdef int32_t group, many, end = 0
    for k in range(count):
        place[group_of(&manifolds[k], groups, going, bodies)] = 0
    for k in range(count):
        place[group_of(&manifolds[k], groups, going, bodies)] += 1
    for k in range(count):
        group = group_of(&manifolds[k], groups, going, bodies)
        if place[group] > 0:                     # its first one: from now on -1 less the next one's place
            many = place[group]
            place[group] = -1 - end
            end += many
        order[-1 - place[group]] = <int32_t>k
        place[group] -= 1
