"""How much of warm starts is kept beside articulations."""

from mcsim.core._types cimport Twist
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row


cdef class WarmStartParts(ArticulationPart):
    cdef JointSolves solves

    cdef void tie(self, const Row* rows, Py_ssize_t count, const Manifold* manifolds,
                  Py_ssize_t manifold_count) noexcept nogil
    cdef void begin_warm_start(self) noexcept nogil
    cdef void finish_warm_start(self, bint second) noexcept nogil
    cdef void give(self, int a, int b, double slope, double bend) noexcept nogil
    cdef bint weigh(self) noexcept nogil
    cdef void hold_doubtful(self) noexcept nogil
    cdef void keep_parts(self) noexcept nogil
    cdef void keep_part(self, Py_ssize_t g, double part) noexcept nogil
    cdef Twist seen(self, int i) noexcept nogil
    cdef void give_rates(self, Py_ssize_t g) noexcept nogil
    cdef void forget_parts(self) noexcept nogil
