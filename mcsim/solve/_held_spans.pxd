"""Bounded rows of articulations, solved exactly beside the KKT system of their joints."""

from mcsim.core._types cimport Twist
from mcsim.solve._held cimport HeldRows
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.state._row cimport Row

cdef class HeldSpans(HeldRows):
    cdef SmoothSolver smooth

    cdef void prepare(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef bint hold(self, Row* rows, Twist* twist, bint relaxed) noexcept nogil
    cdef bint hold_alone(self, Row* rows, Twist* twist, bint relaxed) noexcept nogil
