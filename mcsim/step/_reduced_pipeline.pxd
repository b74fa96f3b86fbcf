"""The step of a world in generalized coordinates."""

from libc.stdint cimport int8_t, int32_t
from mcsim.step._bounded_energy cimport BoundedEnergy
from mcsim.step._loop_account cimport LoopAccount
from mcsim.step._tree_loops cimport TreeLoops
from mcsim.step._tree_pipeline cimport TreePipeline
from mcsim.constraints._contact_order cimport ContactOrder
from mcsim.core._types cimport Twist, Vec3
from mcsim.reduced._flight cimport TreeFlight
from mcsim.reduced._tree_runge_kutta cimport TreeRungeKutta
from mcsim.solve._held_trees cimport HeldTrees
from mcsim.solve._laden cimport LadenRows
from mcsim.state._row cimport Row
from mcsim.wide._blocks cimport Effort

cdef class ReducedPipeline(TreePipeline):
    cdef TreeLoops loops
    cdef bint runge                      # Runge-Kutta in place of leaps
    cdef double* change                  # (nv,) see kick_again
    cdef HeldTrees held_trees            # bounded rows of trees with motors
    cdef TreeFlight flight               # drifts of trees that no loop ties
    cdef TreeRungeKutta runge_kutta      # those of all, instead
    cdef LoopAccount account             # of loops that yield
    cdef const int8_t* jointed           # of bodies: whether joints move them
    cdef Effort* efforts                 # (manifolds,) how often a sweep solves each, how stiff it is (wide/_blocks.pxd)
    cdef bint stiffer                    # some are stiffer than others
    cdef double* undone                  # (manifolds,) changes of a velocity that a sweep may leave undone [m/s]
    cdef int32_t* chosen                 # (manifolds,): those that aim_contacts is about
    cdef int32_t* laden_blocks           # where blocks of rows of contacts begin that are solved more than once
    cdef Py_ssize_t laden_count
    cdef LadenRows laden_rows            # and these
    cdef ContactOrder contact_order
    cdef object kept_here, kept_efforts
    cdef Twist* swings                   # of bodies, see bend_rows
    cdef Vec3* shared                    # of bodies, see aim_contacts [m/s]
    cdef object swinging
    cdef bint laden                      # whether contacts may bear much for their size
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
    cdef void keep_loads(self) noexcept nogil
    cdef void first_kick(self, double h, const double* forces) noexcept nogil
    cdef void second_kick(self, double h, const double* forces) noexcept nogil
    cdef void begin_contacts(self) noexcept nogil
    cdef void bounded_substep(self, double h, const double* forces, bint last) noexcept nogil
    cdef void bend_rows(self) noexcept nogil
    cdef void aim_contacts(self, bint every) noexcept nogil
    cdef void find_efforts(self) noexcept nogil
    cdef void let_tree_hold(self) noexcept nogil
    cdef void solve_rows(self, int relaxed, int iterations) noexcept nogil
    cdef void return_half(self) noexcept nogil
    cdef void finish_rows(self, double part) noexcept nogil
    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil
