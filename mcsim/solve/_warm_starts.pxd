"""How large a part of warm-start impulses helps, group by group."""

from libc.stdint cimport int32_t

cdef class WarmStarts:
    cdef object kept
    cdef Py_ssize_t count
    cdef int32_t* parent                # of each node, a forest: what hangs together has one root
    cdef double* slope                  # sums over a node's rows, in the end over a group's
    cdef double* bend

    cdef void begin(self) noexcept nogil
    cdef int32_t root(self, int32_t node) noexcept nogil
    cdef void tie(self, int32_t a, int32_t b) noexcept nogil
    cdef void clear(self, int32_t node) noexcept nogil
    cdef void give(self, int32_t node, double slope, double bend) noexcept nogil
    cdef void gather(self, int32_t node) noexcept nogil
    cdef double part_if_worse(self, int32_t node) noexcept nogil
    cdef void add(self, int32_t a, int32_t b, double warm, double before, double after) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef double part(self, int32_t node) noexcept nogil
