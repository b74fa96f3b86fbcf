"""The momentum of groups of trees that loops tie and nothing holds."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Vec3
from mcsim.reduced._motion cimport TreeMotion

# Of a group, at one pose.
ctypedef struct Whole:
    double mass                  # [kg]
    Vec3 centre                  # of mass, world [m]
    Vec3 linear                  # momentum [N s]
    Vec3 angular                 # about the centre [N m s]
    Mat3 inertia                 # about it [kg m2]

cdef class TreeMomentum:
    cdef TreeMotion motion
    cdef object kept
    cdef int32_t* group                  # (trees,) by its first one, -1: something holds it, or no loop ties it
    cdef Whole* now                      # (trees,) of a group, at its first one
    cdef Vec3* linear                    # (trees,) what it is to have
    cdef Vec3* angular
    cdef Vec3* start                     # (trees,) where its centre was when that was told
    cdef double* rates                   # (nv,) room for velocities

    cdef bint find(self, const int32_t* bond, const int32_t* tied, const int32_t* held) noexcept nogil
    cdef void measure(self) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef void press(self, double h, const double* forces) noexcept nogil
    cdef void strike(self, const double* before) noexcept nogil
    cdef void move(self, double h) noexcept nogil
    cdef void settle(self) noexcept nogil
