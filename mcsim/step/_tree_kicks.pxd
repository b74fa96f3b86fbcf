"""Kicks and drifts of trees in a substep with rows."""

from libc.stdint cimport int32_t
from mcsim.reduced._flight cimport TreeFlight
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_rows cimport TreeRows
from mcsim.step._tree_space cimport TreeSpace

cdef class TreeKicks:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeSpace space
    cdef TreeMotion motion
    cdef TreePoses poses
    cdef TreeEnergy energies
    cdef GeneralizedRows generalized
    cdef TreeConstraints rows
    cdef TreeRows tree_rows
    cdef readonly TreeFlight flight      # drifts of trees that no loop ties
    cdef object kept
    cdef double* begun                   # (nv,) each: qd as a substep begins, with what rows start with, and kicked
    cdef double* started
    cdef double* kicked_to
    cdef double* at_most                 # (nv,) by a tree's first, see find_work [J]
    cdef double* change                  # (nv,) see again
    cdef object kept_balance
    cdef double* balance                 # (trees,) see start_drives; below zero: limits and contacts oppose drives

    cdef void begin(self) noexcept nogil
    cdef void first(self, double h, bint looked) noexcept nogil
    cdef bint start_drives(self) noexcept nogil
    cdef void sum_work(self, bint bounded, double part) noexcept nogil
    cdef void act_balanced(self, double part) noexcept nogil
    cdef void first_smooth(self, double h) noexcept nogil
    cdef void start(self) noexcept nogil
    cdef void find_work(self) noexcept nogil
    cdef void again(self, double h) noexcept nogil
    cdef bint kick_tree(self, Py_ssize_t k, double h) noexcept nogil
    cdef void start_rows(self, bint bounded, bint tied) noexcept nogil
    cdef void fly(self, double h) noexcept nogil
    cdef void leave_changes(self, bint tied) noexcept nogil
    cdef void second(self, double h, const int32_t* leaping) noexcept nogil
    cdef void settle_second(self, double h) noexcept nogil
