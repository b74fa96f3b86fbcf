"""Bodies that contacts tie together, directly or over others that move: what a sweep leaves undone in one group is nothing to
another, so each has its own end of sweeps (docs/theory/si.md)."""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.state._layout cimport Bodies, Joint, Manifold

cdef enum:
    HELD = 1 << 30               # a sweep that never comes


cdef inline int32_t first_of(int32_t* parent, int32_t i) noexcept nogil:
    """The first body of i's group, as far as it is known; the way there is halved."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


cdef inline void hold(int32_t* going, const int32_t* groups, const Bodies* bodies, int32_t body) noexcept nogil:
    if body >= 0 and bodies.inv_mass[body] > 0.0:
        going[groups[body]] = HELD


cdef inline void find_groups(int32_t* groups, int32_t* going, const Manifold* manifolds, Py_ssize_t count,
                             const Bodies* bodies, const Joint* joints, Py_ssize_t joint_count) noexcept nogil:
    """groups: of each body, the first one of its group; of groups that a joint has a part in, for what the joints' solves and
    rows change is not seen by the contacts' sweeps, the number of bodies. going: of groups, 0; HELD of those."""
    cdef const Manifold* m
    cdef Py_ssize_t k
    cdef int32_t a, b
    for k in range(bodies.count):
        groups[k] = <int32_t>k
        going[k] = 0
    going[bodies.count] = HELD
    for k in range(count):
        m = &manifolds[k]
        if m.point_count > 0 and bodies.inv_mass[m.body_a] > 0.0 and bodies.inv_mass[m.body_b] > 0.0:
            a, b = first_of(groups, m.body_a), first_of(groups, m.body_b)
            groups[max(a, b)] = min(a, b)
    for k in range(bodies.count):                # a body's parent comes before it
        groups[k] = groups[groups[k]]
    if joint_count == 0:
        return
    for k in range(joint_count):
        hold(going, groups, bodies, joints[k].body_a)
        hold(going, groups, bodies, joints[k].body_b)
    for k in range(bodies.count):
        if going[groups[k]] == HELD:
            groups[k] = <int32_t>bodies.count


cdef inline int32_t group_of(const Manifold* m, const int32_t* groups, const Bodies* bodies) noexcept nogil:
    return groups[m.body_a if bodies.inv_mass[m.body_a] > 0.0 else m.body_b]


cdef inline void sort_by_group(int32_t* order, int32_t* place, const int32_t* groups, const Manifold* manifolds,
                               Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    """order: numbers of manifolds, each group's one after the other. place: (bodies + 1,), is overwritten."""
    cdef Py_ssize_t k
    cdef int32_t n, end = 0
    memset(place, 0, (bodies.count + 1) * sizeof(int32_t))
    for k in range(count):
        place[group_of(&manifolds[k], groups, bodies)] += 1
    for k in range(bodies.count + 1):
        n = place[k]
        place[k] = end
        end += n
    for k in range(count):
        n = group_of(&manifolds[k], groups, bodies)
        order[place[n]] = <int32_t>k
        place[n] += 1
