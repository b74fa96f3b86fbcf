"""Groups of what hangs together, as a forest: of each member its parent, a root is its own. Union by the lowest number,
with halving of paths (R. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", 1984)."""

from libc.stdint cimport int32_t


cdef inline int32_t root_of(int32_t* parent, int32_t i) noexcept nogil:
    """The lowest member of i's group, as far as it is known; the way there is halved."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


cdef inline void unite_groups(int32_t* parent, int32_t a, int32_t b) noexcept nogil:
    """Of two groups one."""
    cdef int32_t x = root_of(parent, a)
    cdef int32_t y = root_of(parent, b)
    parent[max(x, y)] = min(x, y)
