"""Manifolds that close (_impact.pyx): their records, their friction, and which are struck together."""

from libc.stdint cimport int32_t
from mcsim.core._forest cimport root_of, unite_groups
from mcsim.state._row cimport ROW_FRICTION, ROW_NORMAL, ROW_TWIST, Row

# A manifold that closes. It is struck as one contact, at its centre of pressure.
ctypedef struct Struck:
    Py_ssize_t begin             # its normals: rows[begin : begin + points]
    Py_ssize_t pair              # its first friction row, -1: none; the others follow
    Py_ssize_t twist             # its twist row, -1: none
    int32_t points
    int32_t first                # of those that touch, its number among those of all that are struck with it
    int32_t touching             # how many do
    int32_t pairs                # of friction rows
    int32_t node[2]              # what its bodies are part of, -1: nothing that moves
    int32_t next                 # in its group, -1: the last
    int32_t closes               # else it has been struck before at this moment
    int32_t driven               # whether it closes by what no blow can change
    double weight[4]             # of the points, 1 in all
    double offset[2]             # of the centre of pressure from that of friction, along the tangents [m]
    double restitution           # where it is now, before the surfaces touch
    double shift                 # from J v to the rate at the time of the pose [m/s]


cdef inline bint same_manifold(const Row* x, const Row* y) noexcept nogil:
    return x.kind == ROW_NORMAL and y.kind == ROW_NORMAL and x.source == y.source


cdef inline bint rubs(const Row* row, int source) noexcept nogil:
    return (row.kind == ROW_FRICTION or row.kind == ROW_TWIST) and row.source == source


cdef inline void find_friction(Struck* c, const Row* rows, Py_ssize_t count) noexcept nogil:
    """Its friction rows lie right before or right behind the normals."""
    cdef Py_ssize_t i = c.begin
    cdef int source = rows[c.begin].source
    c.pair = c.twist = -1
    c.pairs = 0
    while i > 0 and rubs(rows + i - 1, source):
        i -= 1
    while i < count and (rubs(rows + i, source) or i >= c.begin and i < c.begin + c.points):
        if rows[i].kind == ROW_TWIST:
            c.twist = i
        elif rows[i].kind == ROW_FRICTION:
            c.pair = i if c.pair < 0 else c.pair
            c.pairs += 1
        i += 1
    c.pairs //= 2


cdef inline void group(Struck* struck, int32_t* first, Py_ssize_t count, int32_t* owner) noexcept nogil:
    """What is coupled: lists of manifolds, from the `first` of each one's group on. owner: of each node, -1 before and
    after."""
    cdef Py_ssize_t k
    cdef int32_t node
    cdef Struck* head
    cdef int side
    for k in range(count):
        first[k] = <int32_t>k
        struck[k].next = -1
    for k in range(count):
        for side in range(2):
            node = struck[k].node[side]
            if node >= 0 and owner[node] < 0:
                owner[node] = <int32_t>k
            elif node >= 0:
                unite_groups(first, <int32_t>k, owner[node])
    for k in range(count):
        first[k] = root_of(first, <int32_t>k)
        for side in range(2):
            if struck[k].node[side] >= 0:
                owner[struck[k].node[side]] = -1
    for k in range(count - 1, -1, -1):
        if first[k] != k:
            head = &struck[first[k]]
            struck[k].next = head.next
            head.next = <int32_t>k
