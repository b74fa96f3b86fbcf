"""The collision stage as the pipeline sees it."""

from libc.stdint cimport int8_t, int32_t, uint64_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._layout cimport Bodies, Shape, Manifold, Resistance
from mcsim.collide._solid cimport Solid, Aabb, HullView
from mcsim.collide._tree cimport Tree


cdef class Collider:
    # The contacts of the last collide call, and those of the last accepted one. Sorted by key.
    cdef Manifold* manifolds
    cdef Py_ssize_t manifold_count
    cdef Manifold* previous
    cdef Py_ssize_t previous_count
    cdef Resistance* resistances         # beside the manifolds of the same number; only written where `resisting`
    cdef Resistance* previous_resistances
    cdef readonly bint resisting         # some shape has rolling or torsional friction, or a surface velocity

    cdef readonly int32_t shape_count
    cdef Shape* shapes
    cdef Solid* solids
    cdef Quat* turns                     # shapes' axes in the world, as in solids
    cdef Aabb* boxes                     # about each shape, its margin and its travel
    cdef double* margins                 # [m], see place_shapes
    cdef Vec3* travels                   # [m], see place_shapes
    cdef double* arms                    # from the body's centre to the shape's farthest point, at most [m]
    cdef int8_t* dynamic                 # whether the shape's body is dynamic
    cdef int8_t* moved                   # whether the shape left its fat box in this call
    cdef int32_t* moved_list
    cdef int32_t moved_count
    cdef int32_t* planes
    cdef int32_t plane_count
    cdef HullView* hulls
    cdef Py_ssize_t _hull_count
    cdef Tree tree
    cdef int kind_changed                # a body became dynamic, or ceased to be
    cdef int stale                       # the tree and its pairs must be made anew

    cdef uint64_t* excluded              # pairs of bodies, sorted
    cdef Py_ssize_t excluded_count
    cdef uint64_t* pairs                 # of shapes whose fat boxes overlap, sorted
    cdef Py_ssize_t pair_count
    cdef uint64_t* fresh                 # room for new pairs, for planes' pairs and for sorting
    cdef uint64_t* plane_pairs
    cdef Py_ssize_t plane_pair_count
    cdef uint64_t* scratch
    cdef Py_ssize_t pair_capacity        # of each of the four
    cdef Py_ssize_t pairs_wanted         # what the next grow() must hold
    cdef Py_ssize_t manifold_capacity    # of each of the two
    cdef Py_ssize_t manifolds_wanted
    cdef object _pools                   # arrays that hulls point into

    cdef int collide(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil
    cdef void accept(self) noexcept nogil
    cdef Resistance* resisted(self) noexcept nogil
    cpdef grow(self)

    cdef void place_shapes(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil
    cdef void mend_tree(self, double speculative_distance) noexcept nogil
    cdef double limit(self, int32_t i, int32_t j) noexcept nogil
    cdef int wanted(self, int32_t i, int32_t j) noexcept nogil
    cdef int query(self, int32_t i, Py_ssize_t* count) noexcept nogil
    cdef int mend_pairs(self) noexcept nogil
    cdef int find_plane_pairs(self) noexcept nogil
    cdef int meet(self, const Bodies* bodies, Manifold* m, double near, double ahead) noexcept nogil
    cdef int again(self, const Manifold* old, Manifold* m, double limit) noexcept nogil
    cdef int touch(self, const Bodies* bodies, const Manifold* old, Manifold* m, double near, double ahead) noexcept nogil
    cdef void set_resistance(self, Resistance* r, const Manifold* m, const Manifold* old) noexcept nogil
    cdef void finish_manifold(self, Manifold* m, const Manifold* old, double near) noexcept nogil
    cdef Py_ssize_t find_close_pairs(self) noexcept nogil
    cdef int find_manifolds(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil
