"""Drifts of trees that loops tie, from momentum to momentum."""

from libc.stdint cimport int32_t
from mcsim.reduced._discrete_flight cimport DiscreteFlight
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_momentum cimport TreeMomentum
from mcsim.step._drift_springs cimport DriftSprings
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_loops cimport TreeLoops
from mcsim.step._tree_space cimport TreeSpace

cdef class ClosedFlight:
    cdef TreeSpace space
    cdef TreeMotion motion
    cdef TreeLoops loops
    cdef TreeKicks kicks
    cdef DiscreteFlight discrete
    cdef DriftSprings springs
    cdef TreeMomentum momentum           # which bonds nothing holds
    cdef object kept, kept_impulses
    cdef double* guess                   # (nv,) qd as the drift was to be without it
    cdef double* last                    # (trees,) by a bond's first: what was missing a round ago
    cdef int32_t* able                   # (trees,) likewise: whether it goes this way
    cdef int32_t* trying                 # (trees,) likewise: whether it is not there yet
    cdef int32_t* others                 # (trees,) tied ones that do not
    cdef double* impulses                # (rows,) with which they began

    cdef void close(self, double h) noexcept nogil
    cdef bint flies(self) noexcept nogil
    cdef bint choose(self) noexcept nogil
    cdef void begin(self, double h) noexcept nogil
    cdef bint try_drift(self, double h, Py_ssize_t n) noexcept nogil
    cdef void correct(self, Py_ssize_t bond, double h) noexcept nogil
    cdef double missing(self, Py_ssize_t bond, double h) noexcept nogil
    cdef void give_up(self, Py_ssize_t bond) noexcept nogil
    cdef void land(self, double h) noexcept nogil
