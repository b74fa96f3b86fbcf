"""Looking for shapes at the bodies' present poses."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.core._touched cimport Touched
from mcsim.collide._collider cimport Collider
from mcsim.collide._solid cimport Solid
from mcsim.collide._records cimport Mark, Ray, Tree

# As queries.HIT_DTYPE.
ctypedef struct Hit:
    int32_t body                 # -1 = nothing was hit
    int32_t shape                # its number in the world
    double distance              # [m]
    Vec3 point                   # world [m]
    Vec3 normal                  # of the surface that was hit, world

# Which shapes a query sees.
ctypedef struct Filter:
    int32_t mask                 # bits of collision groups
    const int8_t* skipped        # a body, nonzero: not this one; or NULL
    int32_t sensor               # the shape that asks, -1 = none
    const int32_t* kind          # of the bodies, if a sensor asks

cdef class Finder:
    cdef readonly Collider collider
    cdef readonly int32_t shape_count
    cdef Py_ssize_t body_count           # of the bodies that have shapes, and those before them
    cdef Solid* solids                   # at the poses last seen
    cdef Tree tree                       # its leaves are the shapes but for planes
    cdef Mark* marks                     # room to build it
    cdef int32_t* planes
    cdef int32_t plane_count
    cdef int32_t* found                  # room for shapes
    cdef int32_t* shape_begin            # where the shapes of each body begin in
    cdef int32_t* shapes_of              # the shapes, body by body
    cdef Vec3* position                  # of the bodies, as last seen
    cdef Quat* orientation
    cdef int8_t* skipping                # of each body 1 while a query passes through it
    cdef int fresh                       # nothing was seen yet
    cdef double cost                     # the sum of the nodes' surfaces when the tree was built
    cdef double cost_now

    cdef void follow(self, const Vec3* position, const Quat* orientation, Touched* moved) noexcept nogil
    cdef int32_t follow_body(self, int32_t body, const Vec3* position, const Quat* orientation,
                             int32_t count) noexcept nogil
    cdef void place(self, int32_t i, Vec3 position, Quat orientation) noexcept nogil
    cdef int list_shapes(self) except -1
    cdef double refit(self) noexcept nogil
    cdef double refit_above(self, int32_t leaf) noexcept nogil
    cdef void build(self) noexcept nogil
    cdef int choose(self, Filter* chosen, int32_t mask, skipped) except -1
    cdef int pass_through(self, skipped, bint passed) except -1
    cdef told(self, const Hit* hit)
    cdef int sees(self, int32_t i, const Filter* chosen) noexcept nogil
    cdef int senses(self, int32_t i, const Filter* chosen) noexcept nogil
    cdef int meets(self, int32_t i, const Ray* ray, const Solid* probe, double limit, int filled, Hit* hit) noexcept nogil
    cdef Py_ssize_t walk(self, const Ray* ray, const Solid* probe, double limit, int filled, const Filter* chosen,
                         int every, Hit* hits) noexcept nogil
    cdef Py_ssize_t touching(self, const Solid* probe, const Filter* chosen, int32_t* shapes) noexcept nogil
