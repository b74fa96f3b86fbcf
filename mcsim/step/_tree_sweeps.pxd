"""Who solves the rows over the velocities of trees."""

from mcsim.core._types cimport Twist
from mcsim.step._sweeps cimport Sweeps
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_space cimport TreeSpace

cdef class TreeSweeps(Sweeps):
    cdef TreeSpace space
    cdef TreeConstraints rows
    cdef TreeKicks kicks

    cdef void note_given_up(self, Py_ssize_t span) noexcept nogil

cdef class TreeLaboratory(TreeSweeps):
    cdef object problem

    cdef void solve_problem(self, int relaxed) noexcept with gil
