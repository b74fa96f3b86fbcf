"""In which order contacts are swept in generalized coordinates."""

from libc.stdint cimport int32_t, int64_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold

ctypedef struct PlacedManifold:
    int64_t bodies               # by their ranks
    int64_t shapes               # of them the two in touch
    int32_t turn                 # its number in its patch, then its level
    int32_t index

cdef class ContactOrder:
    cdef object kept, kept_room
    cdef const int32_t* rank             # (bodies,)
    cdef const int32_t* tree             # (bodies,)
    cdef int32_t* tree_level             # (trees,)
    cdef Py_ssize_t tree_count
    cdef PlacedManifold* placed[2]       # (capacity,) each
    cdef int32_t* order                  # (capacity,)
    cdef int32_t* level                  # (capacity,) of the manifolds as they stand, each part of patches apart

    cdef int32_t level_of(self, int32_t body, const Bodies* bodies) noexcept nogil
    cdef bint pass_level(self, const Manifold* m, const Bodies* bodies) noexcept nogil
    cdef void find_levels(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef PlacedManifold put(self, const Manifold* m, int32_t index, int part, const Bodies* bodies) noexcept nogil
    cdef const int32_t* find(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void sort(self, Py_ssize_t count) noexcept nogil
