"""Rows of joints in a world of trees."""

from libc.stdint cimport int32_t
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows

cdef class TreeJoints:
    cdef StepContext context
    cdef PlainRows plain
    cdef object kept
    cdef const int32_t* held             # as of TreeSpace
    cdef const double* q
    cdef const int32_t* joint            # (angle_count,) each of the coordinates that are a joint's: whose,
    cdef const int32_t* axis             # which of its axes, and where in q
    cdef const int32_t* place
    cdef Py_ssize_t angle_count

    cdef Py_ssize_t layout(self) noexcept nogil
    cdef void write(self) noexcept nogil
    cdef void count_turns(self) noexcept nogil
    cdef void let_trees_hold(self) noexcept nogil
