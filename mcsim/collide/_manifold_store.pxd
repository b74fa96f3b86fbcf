"""The lists of a world's manifolds, as all see them that read or write some."""

from libc.stdint cimport int8_t, int32_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance


cdef class ManifoldStore:
    # Each sorted by key.
    cdef Manifold* manifolds             # of the last collide call
    cdef Py_ssize_t manifold_count
    cdef Manifold* previous              # of the last accepted one
    cdef Py_ssize_t previous_count
    cdef Manifold* sleeping              # those of sleeping bodies, which leave `previous` meanwhile
    cdef Py_ssize_t sleeping_count
    cdef Resistance* resistances         # beside `manifolds` once they are found, beside `previous` after accept()
    cdef bint resisting                  # some shape has any
    cdef Py_ssize_t capacity             # of each list
    cdef Py_ssize_t wanted               # what the next grow() must hold

    cdef bint has_room(self) noexcept nogil
    cdef bint has_room_for(self, Py_ssize_t count) noexcept nogil
    cdef int grow(self) except -1
    cdef Manifold* room(self, Manifold* manifolds, Py_ssize_t capacity) except NULL
    cdef Resistance* resisted(self) noexcept nogil
    cdef void resist(self, bint resisting) noexcept nogil
    cdef void accept(self) noexcept nogil
    cdef void part(self, const Bodies* bodies) noexcept nogil
    cdef void renumber(self, const int32_t* shapes, const int32_t* bodies) noexcept nogil
    cdef void find_anew(self, const int8_t* shapes) noexcept nogil
    cdef void clear(self) noexcept nogil
