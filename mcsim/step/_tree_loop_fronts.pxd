"""The sparse system of loops, with the joints of the trees."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.reduced._links cimport AxisFactor, Factored, Link
from mcsim.reduced._motion cimport TreeMotion
from mcsim.solve._loop_fronts cimport LoopFronts

cdef class TreeLoopFronts(LoopFronts):
    cdef TreeMotion motion
    cdef object kept_trees
    cdef int32_t* links                  # of the trees, piece by piece, parents before children
    cdef int32_t* first_link             # (pieces + 1,) where those of each begin
    cdef int32_t* sides_of               # (joints, 2) links of the joint's bodies, -1: nothing moves it
    cdef AxisFactor* axes                # (nv,) as they were at the last pose that was assembled,
    cdef double* arms                    # (links, 3) and so these: of origins from their parents' origins,
    cdef double* coms                    # (links, 3) and of the centres of mass from the origins
    cdef Twist* twist                    # (links,) of their centres of mass, as looked at
    cdef double* motions                 # (links, 6) [w; v] of their origins
    cdef double* forces                  # (links, 6) impulses [n; f] about their origins
    cdef double* rests                   # (nv,) worked in

    cdef void keep_trees(self, const Factored* tree) noexcept nogil

    cdef void look_from_parent(self, const Link* link, Py_ssize_t i, Vec3* w, Vec3* v) noexcept nogil
    cdef void write_joint(self, Py_ssize_t joint, const Factored* tree) noexcept nogil
    cdef void write_row(self, Py_ssize_t joint, Py_ssize_t own, const double* row, const Factored* tree) noexcept nogil
