"""Surfaces of compliant contacts as a constraint set."""

from libc.stdint cimport int32_t
from mcsim.collide._shapes cimport PlacedShapes
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport ConstraintSet, StepContext
from mcsim.step._plain_rows cimport PlainRows

cdef class CompliantSurfaces(ConstraintSet):
    cdef StepContext context
    cdef PlainRows plain
    cdef PlacedShapes shapes             # what they are made of
    cdef WarmStarts warm_starts
    cdef object node_numbers
    cdef const int32_t* nodes           # which of its nodes every velocity is of
    cdef Py_ssize_t node_count
    cdef object kept_before
    cdef double* before                 # room for as many velocities
    cdef double* velocity               # those that the rows act on

    cdef bint complies(self, const Row* row) noexcept nogil
    cdef int32_t node(self, int32_t body) noexcept nogil
    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil
    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil
    cdef void set_start_impulses(self) noexcept nogil
    cdef void begin_warm_start(self, int relaxed) noexcept nogil
    cdef double take_second(self, Py_ssize_t i) noexcept nogil
    cdef double second_part(self, const Row* row) noexcept nogil
