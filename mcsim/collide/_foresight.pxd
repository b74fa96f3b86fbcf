"""Contacts with what bodies meet that are struck within a step."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.collide._collider cimport Collider

# A blow as two free bodies would have it.
ctypedef struct Blow:
    int point
    double impulse               # along the normal [N s], 0: none

cdef class Foresight:
    cdef Collider collider
    cdef object kept             # the arrays behind the pointers
    cdef int32_t* round_of       # in which round a body was struck last, 0: in none
    cdef int32_t* struck         # the bodies that were
    cdef Py_ssize_t struck_count
    cdef Twist* before           # their twists

    cdef int look(self, Bodies* bodies, double ahead, double threshold) noexcept nogil
    cdef bint strike(self, Bodies* bodies, double ahead, double threshold, int32_t now) noexcept nogil
    cdef void push(self, Bodies* bodies, int32_t body, double impulse, Vec3 normal, Vec3 point, int32_t now) noexcept nogil
    cdef int follow(self, Bodies* bodies, double ahead, int32_t now) noexcept nogil
    cdef int list_pairs(self, int32_t i, Py_ssize_t* count) noexcept nogil
    cdef bint ask(self, int32_t i, int32_t j, Py_ssize_t* count) noexcept nogil
    cdef void put_in_order(self, Py_ssize_t count, Py_ssize_t added) noexcept nogil
    cdef void restore(self, Bodies* bodies, double ahead) noexcept nogil
