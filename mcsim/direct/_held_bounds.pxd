"""Bounded rows of articulations' joints that are solved with the joints in them."""

from mcsim.core._types cimport Twist
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart
from mcsim.solve._held_links cimport HeldLinks
from mcsim.state._row cimport Row


cdef class HeldBounds(ArticulationPart):
    cdef JointSolves solves
    cdef HeldLinks links

    cdef void find_bounded(self) noexcept nogil
    cdef bint holds(self, Py_ssize_t g) noexcept nogil
    cdef void choose(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef bint hold_any(self) noexcept nogil
    cdef bint ends_with_rotors(self, Py_ssize_t g) noexcept nogil
    cdef bint is_held(self, Py_ssize_t g) noexcept nogil
    cdef bint is_too_slow(self, Py_ssize_t g, double h, int passes) noexcept nogil
    cdef void list_rows(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void factor(self, Py_ssize_t g) noexcept nogil
    cdef void probe(self, Py_ssize_t g) noexcept nogil
    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil
    cdef bint solve_links(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil
    cdef void hold_rows(self, Py_ssize_t g, Twist* twist, bint relaxed, bint solved) noexcept nogil
    cdef void hold_bounded(self, Twist* twist, bint relaxed, bint solved) noexcept nogil
