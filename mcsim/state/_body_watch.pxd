"""Who may have written into a world's bodies."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from mcsim.core._touched cimport Touched
from mcsim.core._turn cimport Turn
from mcsim.core._types cimport Quat, Vec3

cdef enum:
    WATCHED = 4                          # arrays that users get views of


cdef class BodyWatch:
    cdef Py_ssize_t count                # of bodies
    cdef const Vec3* position
    cdef const Quat* orientation
    cdef Turn turn
    cdef long long changes               # of the turn, as last looked at
    cdef PyObject* root[WATCHED]         # the arrays that all views are of
    cdef bint shown                      # views of whole arrays were given away, or what was written is not told
    cdef bint viewed                     # likewise, and the bodies have not been compared with the backup since
    cdef Touched told                    # rows of which views were given away, or that the world has written
    cdef Touched of_step                 # not seen yet by the begin of a step
    cdef Touched of_backup               # by what it keeps of the state
    cdef Touched of_forces               # by who clears forces at a call's end
    cdef Touched of_finder               # by who looks for bodies, who is to be told also of what steps move
    cdef dict whole                      # the arrays
    cdef public bint padded              # the bodies have a view more of each, behind which there is room
    cdef list kept

    cdef int list_of(self, Touched* touched, Py_ssize_t count) except -1
    cpdef void tell(self, Py_ssize_t body)
    cpdef void tell_all(self)
    cdef bint is_open(self) noexcept
    cdef void gather(self) noexcept
    cdef void touch_written(self, const int32_t* bodies, Py_ssize_t count) noexcept nogil
    cdef void touch_all(self) noexcept nogil
