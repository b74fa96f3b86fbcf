"""Where drives may contradict each other: which bodies hang between two that move by themselves."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold

cdef class Drives:
    cdef object kept                # the arrays behind the pointers
    cdef WarmStarts groups
    cdef int32_t* driver            # of each group, at its root: what drives it; UNDRIVEN, MANY_DRIVERS
    cdef Twist* before              # of bodies: velocities before a sweep
    cdef double* effect             # of a group: what the sweep did to them, squared, by their masses
    cdef double* times              # of bodies: how often a sweep's changes are not to last; [-1]: of the world's, 0
    cdef bint any                   # whether there is a group that several drive

    cdef bint find(self, const Bodies* bodies, const Manifold* manifolds, Py_ssize_t count, const Joint* joints,
                   const int32_t* awake, Py_ssize_t awake_count) noexcept nogil
    cdef bint drives_any(self, const Bodies* bodies, const Joint* joints, const int32_t* awake,
                         Py_ssize_t awake_count) noexcept nogil
    cdef void begin(self, const Bodies* bodies) noexcept nogil
    cdef void judge(self, const Bodies* bodies) noexcept nogil
    cdef void contest(self, const Bodies* bodies, int a, int b) noexcept nogil
