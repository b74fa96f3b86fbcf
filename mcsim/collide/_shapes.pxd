"""A world's shapes as the broadphase and the narrowphase see them."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.collide._memory cimport Column
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._solid cimport Solid, Aabb, HullView, Motion

cdef enum:
    MOST_COLUMNS = 32            # arrays with a record a shape: more is an error
    NEW = -1                     # the kind of a shape that was never placed

ctypedef struct Pose:
    Vec3 position
    Quat orientation

# What a manifold takes from a shape's record, apart because the records are large.
ctypedef struct Grip:
    double friction
    double restitution
    int32_t material             # number of its name
    int32_t reserved


cdef class HullPool:
    """Hulls and surfaces that came together: see Hull in state/_shape.pxd. Nothing in it ever moves."""
    cdef HullView* views
    cdef readonly Py_ssize_t count
    cdef object arrays                   # that the views point into
    cdef Surfaces surfaces


cdef class PlacedShapes:
    cdef readonly int32_t shape_count
    cdef readonly long long revision     # counts the changes of what shapes there are
    cdef readonly bint resisting         # some shape has rolling or torsional friction, or a surface velocity
    cdef readonly bint one_way           # some shape bears from one side alone
    cdef int32_t resisters, one_ways     # how many there are
    cdef int32_t shape_capacity
    cdef Column columns[MOST_COLUMNS]    # all arrays with a record a shape
    cdef int column_count
    cdef Shape* shapes
    cdef Solid* solids
    cdef Quat* turns                     # shapes' axes in the world, as in solids
    cdef Aabb* boxes                     # about each shape, its margin and its travel
    cdef Grip* grips
    cdef double* arms                    # from the body's centre to the shape's farthest point, at most [m]
    cdef Pose* posed                     # the body's pose at which it was placed
    cdef int8_t* kind                    # BodyKind of its body when it was placed, or NEW
    cdef int8_t* resting                 # its body sleeps at rest
    cdef int8_t* due                     # to be placed even if it rests, or its pose is the same
    cdef int8_t* moved                   # its pairs are to be found anew
    cdef int32_t* placed                 # the shapes that this call placed
    cdef int32_t placed_count
    cdef bint unplaced                   # any shape may be to be placed; else at most those of
    cdef int32_t* lively                 # what neither stands nor rests, rising
    cdef int32_t lively_count
    cdef Nearness placed_nearness        # at which they were placed
    cdef int32_t* pool                   # the number in _pools of what a hull or surface is in, else -1
    cdef int32_t* owner                  # the bodies of all shapes, one behind the other
    cdef dict _pools                     # number -> [HullPool, how many shapes are in it]
    cdef int32_t _next_pool

    cdef int add_column(self, void** block, size_t size, bint listed=*) except -1
    cdef int reserve_shapes(self, Py_ssize_t count) except -1
    cdef int leave_pool(self, int32_t number) except -1
    cdef void grip(self, int32_t i) noexcept nogil
    cdef int solidify(self, int32_t i, HullPool pool) except -1
    cdef int take_shapes(self, PlacedShapes other) except -1
    cdef void count_shape(self, int32_t i, int by) noexcept nogil
    cdef void revise(self) noexcept nogil
    cdef int close_up_shapes(self, const int8_t* gone) except -1
    cdef void place_shapes(self, Bodies* bodies, const Nearness* nearness, double ahead, bint whole) noexcept nogil
    cdef bint place_if_moved(self, int32_t i, Bodies* bodies, const Nearness* nearness, double ahead,
                             bint whole) noexcept nogil
    cdef void place(self, int32_t i, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil
