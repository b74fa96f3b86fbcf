"""Contacts with what bodies meet that are struck within a step."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.collide._collider cimport Collider

# A blow as two free bodies would have it.
ctypedef struct Blow:
    Vec3 position                # world [m]
    double impulse               # along the normal [N s], 0: none
    double time                  # when the first point touches, from the begin of the step [s]

cdef class Foresight:
    cdef Collider collider
    cdef object kept             # the arrays behind the pointers
    cdef int32_t* round_of       # in which round a body was struck last, 0: in none
    cdef int32_t* struck         # the bodies that were
    cdef Py_ssize_t struck_count
    cdef Twist* before           # their twists
    cdef Twist* gone             # of each body: what its path so far lies behind that of its last velocity
    cdef double* first           # of each body: when its first blow comes in the substep [s]
    cdef double due              # when the first blow comes in a later substep [s]

    cdef int look(self, Bodies* bodies, double h, int substeps, double threshold) noexcept nogil
    cdef Blow blow_of(self, const Bodies* bodies, const Manifold* m, double until, double threshold) noexcept nogil
    cdef double find_first(self, const Bodies* bodies, double until, double threshold) noexcept nogil
    cdef bint strike(self, Bodies* bodies, double time, double h, double threshold, int32_t now) noexcept nogil
    cdef void push(self, Bodies* bodies, int32_t body, double impulse, Vec3 normal, Vec3 point, double time,
                   int32_t now) noexcept nogil
    cdef int follow(self, Bodies* bodies, double ahead, int32_t now) noexcept nogil
    cdef int list_pairs(self, int32_t i, Py_ssize_t* count) noexcept nogil
    cdef bint ask(self, int32_t i, int32_t j, Py_ssize_t* count) noexcept nogil
    cdef void put_in_order(self, Py_ssize_t count, Py_ssize_t added) noexcept nogil
    cdef void restore(self, Bodies* bodies, double ahead) noexcept nogil
