"""The collision stage as the pipeline sees it."""

from libc.stdint cimport int32_t, uint64_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._settings cimport Nearness
from mcsim.collide._broadphase cimport Broadphase
from mcsim.collide._records cimport EventLog, Patch


cdef class Collider(Broadphase):
    # The contacts of the last collide call, and those of the last accepted one. Sorted by key.
    cdef Manifold* manifolds
    cdef Py_ssize_t manifold_count
    cdef Manifold* previous
    cdef Py_ssize_t previous_count
    cdef Manifold* sleeping              # those of sleeping bodies, which leave `previous` meanwhile
    cdef Py_ssize_t sleeping_count
    cdef Resistance* resistances         # beside `manifolds` once they are found, beside `previous` after accept()
    cdef int threads                     # among which the narrowphase is shared out
    cdef bint crowded                    # a thread had too little room
    cdef bint compliant                  # manifolds keep the state of springs, not impulses
    cdef Py_ssize_t manifold_capacity    # of each of the two
    cdef Py_ssize_t manifolds_wanted     # what the next grow() must hold

    cdef EventLog log

    cpdef void clear_events(self)
    cdef int collide(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil
    cdef void accept(self) noexcept nogil
    cdef void find_resistances(self) noexcept nogil
    cdef Resistance* resisted(self) noexcept nogil
    cdef bint has_room(self) noexcept nogil
    cdef void part(self, const Bodies* bodies) noexcept nogil
    cpdef grow(self)
    cdef Manifold* room(self, Manifold* manifolds, Py_ssize_t capacity) except NULL

    cdef double touching_distance(self, const Manifold* m, double near) noexcept nogil
    cdef int meet(self, const Bodies* bodies, Manifold* m, double near, double ahead, double reach) noexcept nogil
    cdef int keep_near(self, const Bodies* bodies, Manifold* m, double near, double ahead) noexcept nogil
    cdef int again(self, const Manifold* old, Manifold* m, double reach) noexcept nogil
    cdef int spread(self, const Bodies* bodies, Patch* patch, Manifold* m, Py_ssize_t room, double near,
                    double ahead) noexcept nogil
    cdef int touch(self, const Bodies* bodies, const Manifold* old, Py_ssize_t old_count, Manifold* m, Py_ssize_t room,
                   double ahead) noexcept nogil
    cdef int touch_surface(self, const Bodies* bodies, Manifold* m, Py_ssize_t old, double ahead) noexcept nogil
    cdef void finish_patch(self, Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_count) noexcept nogil
    cdef void finish_manifold(self, Manifold* m, const Manifold* old) noexcept nogil
    cdef void fetch_pair(self, uint64_t last, uint64_t key) noexcept nogil
    cdef void join_surfaces(self, const Bodies* bodies, double ahead) noexcept nogil
    cdef int find_manifolds(self, Bodies* bodies, double ahead) noexcept nogil
    cdef void want(self, Py_ssize_t done) noexcept nogil
    cdef Py_ssize_t find_some(self, const Bodies* bodies, double ahead, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t slot,
                              Py_ssize_t slot_end) noexcept nogil
