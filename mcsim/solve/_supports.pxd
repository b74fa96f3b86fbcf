"""What holds bodies that are about to be struck."""

from libc.stdint cimport int8_t, int32_t
from mcsim.solve._impact cimport Impacts

cdef enum:
    MOST_SUPPORTS = 8        # manifolds that hold what one blow strikes; where there are more, none counts

cdef class Supports:
    cdef Impacts impacts
    cdef object kept
    cdef Py_ssize_t capacity     # rows
    cdef int32_t* at_node        # of each node the last manifold at rest that it has a part in, by its first row; -1: none
    cdef int32_t* next           # of each manifold's sides, 2 a row: the next one of the same node
    cdef int8_t* resting         # of each manifold's first row
    cdef int32_t* held           # the manifolds that hold, by their first rows
    cdef int count

    cdef void find(self) noexcept nogil
    cdef void list_resting(self, bint listed) noexcept nogil
    cdef bint rests(self, Py_ssize_t begin, int points) noexcept nogil
    cdef bint list_supports(self, Py_ssize_t begin) noexcept nogil
    cdef bint add_node(self, int32_t node) noexcept nogil
    cdef void solve(self, Py_ssize_t begin, int points) noexcept nogil
