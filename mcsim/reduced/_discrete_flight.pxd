"""What trees have of momentum before and after a drift, told from the poses at its two ends."""

from mcsim.reduced._links cimport Tree
from mcsim.reduced._motion cimport TreeMotion

cdef class DiscreteFlight:
    cdef TreeMotion motion
    cdef object kept
    cdef Tree still                      # the trees where the drift begins, placed and factored
    cdef double* start                   # (nq,) and there their coordinates
    cdef double* aim                     # (nv,) velocities whose momenta the drift is to begin with
    cdef double* found                   # (nv,) velocities whose momenta it does begin with
    cdef double* given                   # (nv,) room

    cdef void begin(self) noexcept nogil
    cdef bint compare(self, Py_ssize_t k, double h, const double* rates, double* off, double* whole) noexcept nogil
    cdef void land(self, Py_ssize_t k, double h) noexcept nogil
    cdef void set_joints(self, Py_ssize_t k, const double* rates, double* given) noexcept nogil
