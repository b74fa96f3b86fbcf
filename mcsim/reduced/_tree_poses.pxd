"""The bodies of trees: what they have by the trees' coordinates, and the way back."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.state._bodies cimport Bodies

cdef class TreePoses:
    cdef TreeMotion motion

    cdef void take_poses(self, const Vec3* position, const Quat* orientation, const int8_t* chosen) noexcept nogil
    cdef void follow(self, const Vec3* position, const Quat* orientation, const Twist* twist) noexcept nogil
    cdef void turn_back(self, const Quat* to, Quat* orientation) noexcept nogil
    cdef void give_poses(self, bint prescribed, Vec3* position, Quat* orientation) noexcept nogil
    cdef void give_twists(self, Twist* twist) noexcept nogil
    cdef void give_shared(self, Py_ssize_t first, Py_ssize_t end, Vec3* shared) noexcept nogil
    cdef void give_swings(self, Twist* swing) noexcept nogil
    cdef bint is_lone(self, Py_ssize_t k) noexcept nogil
    cdef void give_spins(self, const Bodies* bodies, const int32_t* told, Twist* swing) noexcept nogil
    cdef void leave_spins(self, double h, const Bodies* bodies, const int32_t* told, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil
