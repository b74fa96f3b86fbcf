"""The broadphase as the narrowphase sees it."""

from libc.stdint cimport int32_t, uint64_t
from mcsim.state._layout cimport Bodies
from mcsim.collide._shapes cimport PlacedShapes
from mcsim.collide._tree cimport Tree


cdef class Broadphase(PlacedShapes):
    cdef int32_t* moved_list
    cdef int32_t moved_count
    cdef int32_t* planes
    cdef int32_t plane_count
    cdef Tree tree
    cdef int stale                       # the tree and its pairs must be made anew

    cdef uint64_t* excluded              # pairs of bodies, sorted
    cdef Py_ssize_t excluded_count
    cdef uint64_t* pairs                 # of shapes whose fat boxes overlap, sorted
    cdef Py_ssize_t pair_count
    cdef uint64_t* fresh                 # room for new pairs
    cdef uint64_t* plane_pairs           # of a plane and a shape that may touch it, sorted
    cdef Py_ssize_t plane_pair_count
    cdef uint64_t* close                 # of `pairs` those that may touch, sorted; before that room for sorting
    cdef Py_ssize_t close_count
    cdef Py_ssize_t pair_capacity        # of each of the four
    cdef Py_ssize_t pairs_wanted         # what the next grow_pairs() must hold

    cdef int find_pairs(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil
    cdef int grow_pairs(self) except -1
    cdef void mend_tree(self, double speculative_distance) noexcept nogil
    cdef int wanted(self, int32_t i, int32_t j) noexcept nogil
    cdef int query(self, int32_t i, Py_ssize_t* count) noexcept nogil
    cdef int mend_pairs(self) noexcept nogil
    cdef int find_plane_pairs(self) noexcept nogil
    cdef void find_close_pairs(self) noexcept nogil
