"""The step of a world in generalized coordinates."""

from libc.stdint cimport int8_t, int32_t
from mcsim.step._bounded_energy cimport BoundedEnergy
from mcsim.step._loop_account cimport LoopAccount
from mcsim.step._tree_contacts cimport TreeContacts
from mcsim.step._tree_loops cimport TreeLoops
from mcsim.step._tree_pipeline cimport TreePipeline
from mcsim.core._types cimport Twist
from mcsim.reduced._flight cimport TreeFlight
from mcsim.reduced._tree_runge_kutta cimport TreeRungeKutta
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.solve._held_trees cimport HeldTrees
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.state._row cimport Row

cdef class ReducedPipeline(TreePipeline):
    cdef GeneralizedSweeps row_sweeps    # over all rows but those that close loops
    cdef LoopRows loop_rows              # and these
    cdef TreeLoops loops
    cdef bint runge                      # Runge-Kutta in place of leaps
    cdef double* change                  # (nv,) see kick_again
    cdef HeldTrees held_trees            # bounded rows of trees with motors
    cdef TreeFlight flight               # drifts of trees that no loop ties
    cdef TreeRungeKutta runge_kutta      # those of all, instead
    cdef LoopAccount account             # of loops that yield
    cdef const int8_t* jointed           # of bodies: whether joints move them
    cdef object kept_here
    cdef TreeContacts contacts
    cdef BoundedEnergy energy
    cdef object kept_of_drift
    cdef double* begun                   # (nv,) each: qd as a substep begins, with what rows start with, and kicked
    cdef double* started
    cdef double* at_most                 # (nv,) by a tree's first, see find_work [J]
    cdef double* kicked_to

    cdef void take_back(self, double h) noexcept nogil
    cdef void fly(self, double h, const double* forces) noexcept nogil
    cdef void start_rows(self, bint bounded, bint tied) noexcept nogil
    cdef void find_work(self) noexcept nogil
    cdef void kick_again(self, double h, const double* forces) noexcept nogil
    cdef void first_kick(self, double h, const double* forces) noexcept nogil
    cdef void second_kick(self, double h, const double* forces) noexcept nogil
    cdef void bounded_substep(self, double h, const double* forces, bint last) noexcept nogil
    cdef void let_tree_hold(self) noexcept nogil
    cdef void solve_rows(self, int relaxed, int iterations) noexcept nogil
    cdef void return_half(self) noexcept nogil
    cdef void finish_rows(self, double part) noexcept nogil
    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil
