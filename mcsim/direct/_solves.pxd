"""Rows, factors and solves of one articulation's joints."""

from mcsim.core._types cimport Twist
from mcsim.direct._state cimport ArticulationPart


cdef class JointSolves(ArticulationPart):

    cdef void write_rows(self, Py_ssize_t g) noexcept nogil
    cdef void factor(self, Py_ssize_t g) noexcept nogil
    cdef void factor_border(self, Py_ssize_t g, bint torn=*) noexcept nogil
    cdef double border_way(self, Py_ssize_t k, double error) noexcept nogil
    cdef void solve_one(self, Py_ssize_t g, Twist* twist) noexcept nogil
    cdef bint solve_until(self, Py_ssize_t g, Twist* twist, double enough) noexcept nogil
    cdef bint solve_all(self, Py_ssize_t g, Twist* twist, const double* bias, double enough, int most) noexcept nogil
    cdef bint solve_tree(self, Py_ssize_t g, Twist* twist, const double* bias, double enough) noexcept nogil
    cdef void forget_contrary(self, Py_ssize_t g) noexcept nogil
    cdef void note_contrary(self, Py_ssize_t g, const Twist* twist) noexcept nogil
    cdef void hold(self, Py_ssize_t g, Twist* twist) noexcept nogil
    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil
    cdef void aim_still(self, Py_ssize_t g) noexcept nogil
    cdef void aim_border_still(self, Py_ssize_t g) noexcept nogil
    cdef void subtract_rates(self, Py_ssize_t g) noexcept nogil
    cdef void call_functions(self, Py_ssize_t g, bint errors_only) noexcept nogil
    cdef void keep_impulses(self, Py_ssize_t g) noexcept nogil
    cdef void undo_impulses(self, Py_ssize_t g) noexcept nogil
    cdef void keep(self, Py_ssize_t g) noexcept nogil
    cdef void undo(self, Py_ssize_t g) noexcept nogil
    cdef void note_joints(self, int kind, Py_ssize_t g) noexcept nogil
