"""The collision stage as the pipeline sees it."""

from libc.stdint cimport int32_t, uint64_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Nearness
from mcsim.collide._broadphase cimport Broadphase
from mcsim.collide._manifold_store cimport ManifoldStore
from mcsim.collide._pairs cimport PairGrip
from mcsim.collide._records cimport EventLog


cdef class Collider(Broadphase):
    cdef ManifoldStore store
    cdef int threads                     # among which the narrowphase is shared out
    cdef bint crowded                    # a thread had too little room
    cdef bint compliant                  # manifolds keep the state of springs, not impulses
    cdef PairGrip* pair_grips            # of bodies whose surfaces are told together, sorted
    cdef Py_ssize_t pair_grip_count
    cdef PairGrip* material_grips        # of materials, likewise
    cdef Py_ssize_t material_grip_count

    cdef EventLog log

    cpdef void clear_events(self)
    cdef int collide(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil
    cdef void accept(self) noexcept nogil
    cdef void find_resistances(self) noexcept nogil
    cdef void part(self, const Bodies* bodies) noexcept nogil
    cdef void forget_touching(self) noexcept nogil
    cpdef grow(self)

    cdef Py_ssize_t add_pairs(self, const Bodies* bodies, double ahead, const uint64_t* pairs,
                              Py_ssize_t count) noexcept nogil
    cdef void join_surfaces(self, const Bodies* bodies, double ahead) noexcept nogil
    cdef int find_manifolds(self, Bodies* bodies, double ahead) noexcept nogil
    cdef void want(self, Py_ssize_t done) noexcept nogil
    cdef void renumber_pairs(self, const int32_t* body_number) noexcept nogil
