"""Springs that act on trees which loops tie, in their drifts."""

from libc.stdint cimport int32_t
from mcsim.constraints._spring_law cimport SpringLaw
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
    cdef double* before                  # impulses that are asked for before the drift, and after it
    cdef double* after
    cdef int32_t* turning                # 1, 2, 3: of the coordinates of a rotation vector, in their order; 0: alone

    cdef void find(self, const int32_t* bonds, const int32_t* free) noexcept nogil
    cdef SpringLaw law(self, const Row* row) noexcept nogil
    cdef void note(self, Py_ssize_t i, int32_t bond, int turning) noexcept nogil
    cdef void note_turning(self, Py_ssize_t i, int32_t bond) noexcept nogil
    cdef void ask(self, Py_ssize_t i) noexcept nogil
    cdef void ask_turning(self, Py_ssize_t i) noexcept nogil
    cdef void land(self, const int32_t* able) noexcept nogil
    cdef bint knows(self, const Row* row) noexcept nogil
    cdef double weigh(self, Py_ssize_t bond) noexcept nogil
    cdef void act(self, Py_ssize_t bond, double* first, double* second) noexcept nogil
    cdef void put_back(self, Py_ssize_t bond) noexcept nogil
