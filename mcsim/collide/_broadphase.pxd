"""The broadphase as the narrowphase sees it."""

from libc.stdint cimport int8_t, int32_t, uint64_t
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Nearness
from mcsim.collide._shapes cimport PlacedShapes
from mcsim.collide._solid cimport Aabb
from mcsim.collide._records cimport Mark, Tree

# Which tree a shape is in. Planes are in none.
cdef enum:
    NOWHERE = 0
    STILL = 1                    # static bodies
    MOVING = 2                   # all others, asleep or awake


# Shapes of one company do not move against each other.
cdef enum Company:
    ALONE = 0                    # its body does not sleep
    AT_REST = 1                  # it sleeps, and what carries it stands still, as what is static does
    CARRIED = 2                  # from here on: carried by what moves steadily, by the number of its island


cdef class Broadphase(PlacedShapes):
    # To find shapes: mcsim.collide._tree's walk_box, over both trees, and `planes` apart. Leaves are
    # shapes' numbers; what a leaf's box holds is the shape as it was placed in the last collide call.
    cdef Tree trees[3]                   # by NOWHERE (never used), STILL, MOVING
    cdef Aabb* fat                       # the box of each leaf
    cdef int32_t* parents                # the node above each leaf
    cdef int8_t* home
    cdef int32_t* company                # ALONE, or with which it sleeps: Company
    cdef Mark* marks                     # room to build a tree
    cdef int32_t* moved_list
    cdef int32_t moved_count
    cdef int32_t* planes
    cdef int32_t plane_count
    cdef Aabb* tight                     # of a loosened leaf, the box that it had
    cdef int8_t* loose                   # whether a leaf is
    cdef int stale                       # the trees and the pairs must be made anew
    cdef int thinning                    # pairs may have gone to rest

    cdef uint64_t* excluded              # pairs of bodies, sorted
    cdef Py_ssize_t excluded_count
    cdef uint64_t* pairs                 # of shapes whose fat boxes overlap, sorted
    cdef Py_ssize_t pair_count
    cdef uint64_t* fresh                 # room for new pairs
    cdef uint64_t* plane_pairs           # of a plane and a shape that may touch it, sorted
    cdef Py_ssize_t plane_pair_count
    cdef uint64_t* close                 # of `pairs` those that may touch, sorted; before that room for sorting
    cdef Py_ssize_t close_count
    cdef int32_t* last_pair              # room for _inner_edges.pxd: 0 a shape
    cdef int32_t* pair_before            # and whatever a pair of `close`
    cdef Py_ssize_t pair_capacity        # of each of the five
    cdef Py_ssize_t pairs_wanted         # what the next grow_pairs() must hold

    cdef int find_pairs(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil
    cdef int grow_pairs(self) except -1
    cdef void accompany(self, int32_t i, int32_t company) noexcept nogil
    cdef void list_planes(self, int32_t begin) noexcept nogil
    cdef void set_fat_boxes(self, int32_t* coming) noexcept nogil
    cdef void mend_trees(self) noexcept nogil
    cdef void build(self, int which) noexcept nogil
    cdef void loosen(self, int32_t i) noexcept nogil
    cdef void tighten(self, int32_t i) noexcept nogil
    cdef int live(self, int32_t i, int32_t j) noexcept nogil
    cdef int wanted(self, int32_t i, int32_t j) noexcept nogil
    cdef int query(self, int32_t i, int which, Py_ssize_t* count) noexcept nogil
    cdef int mend_pairs(self) noexcept nogil
    cdef int find_plane_pairs(self) noexcept nogil
    cdef int find_close_pairs(self) noexcept nogil
    cdef bint number_shapes(self, const int8_t* gone, const int32_t* bodies, Py_ssize_t count,
                            int32_t* number) noexcept nogil
    cdef void renumber_bodies(self, const int32_t* number) noexcept nogil
    cdef void renumber(self, const int8_t* gone, const int32_t* number) noexcept nogil
