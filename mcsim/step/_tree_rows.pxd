"""Rows over the velocities of trees."""

from libc.stdint cimport int32_t
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._responses cimport TreeResponses
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows

cdef class TreeRows:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef GeneralizedRows generalized
    cdef TreeResponses responses         # H^-1 J' of them
    cdef object of_trees, of_bodies
    cdef int32_t* busy                   # (trees,): 1 where rows act on them, 3 where those of contacts do
    cdef int32_t* tied                   # (trees,): whether rows that close loops do
    cdef int32_t* bond                   # (trees,) of those that loops tie the first that each is tied to, else -1
    cdef int32_t* bonds                  # (bodies,) the same of their trees; the world's before the first

    cdef int project(self) noexcept nogil
    cdef void project_loops(self) noexcept nogil
    cdef void project_again(self, Py_ssize_t i) noexcept nogil
    cdef void ask_again(self, Py_ssize_t i, int side, int32_t body_a, int32_t body_b) noexcept nogil
    cdef int project_row(self, Py_ssize_t i, int side, int32_t body_a, int32_t body_b) noexcept nogil
    cdef void find_busy(self) noexcept nogil
    cdef int32_t engage(self, int32_t body, bint ties, int32_t rows, int32_t first) noexcept nogil
    cdef bint is_stirred(self, int32_t body) noexcept nogil
