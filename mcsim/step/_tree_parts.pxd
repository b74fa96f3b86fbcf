"""What an integrator of trees moves."""

from mcsim.step._constraint_set cimport StepContext
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_space cimport TreeSpace

cdef class TreeParts:
    cdef StepContext context
    cdef TreeSpace space
    cdef TreeConstraints rows
    cdef TreeKicks kicks

    cdef bint refuses_pitch(self) noexcept nogil
    cdef void end_substep(self, double h, bint last) noexcept nogil
