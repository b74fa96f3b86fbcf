"""Springs that act on trees which loops tie, in their drifts."""

from libc.stdint cimport int32_t
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows

cdef class DriftSprings:
    cdef StepContext context
    cdef PlainRows plain
    cdef GeneralizedRows generalized
    cdef object kept
    cdef Py_ssize_t count
    cdef int32_t* row                    # (count,) which rows they are
    cdef int32_t* bond                   # what they act on
    cdef double* start                   # position - rest where the drift begins [m or rad]
    cdef double* impulse                 # with which it did
    cdef double* change                  # what theirs is to change by

    cdef void find(self, const int32_t* bonds, const int32_t* free) noexcept nogil
    cdef bint knows(self, const Row* row) noexcept nogil
    cdef double weigh(self, Py_ssize_t bond) noexcept nogil
    cdef void act(self, Py_ssize_t bond, double* first, double* second) noexcept nogil
    cdef void put_back(self, Py_ssize_t bond) noexcept nogil
