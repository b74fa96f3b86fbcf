"""One state of a tree as a step moves it. Order: place, factor and move after q or qd changed; then the rest."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.reduced._links cimport Factored, Tree
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.wide._lanes cimport Wide3

# Where the velocities of a body's tree, and its links, stand: none of a static body.
ctypedef struct Block:
    int32_t first
    int32_t count
    int32_t first_link
    int32_t end_link
    int32_t tree                 # its number
    int32_t led                  # 1: its first link is prescribed

cdef class TreeMotion:
    cdef object kept, kept_runs
    cdef tuple users, state
    cdef object user_numbers
    cdef bint asking                     # whether there are joints of users' own
    cdef bint giving                     # whether any accelerations are given
    cdef bint failed                     # whether one of their functions raised `failure`
    cdef object failure
    cdef Tree tree
    cdef Noted noted                     # of the world
    cdef double* q
    cdef double* qd
    cdef double* tau                     # joint forces, accelerations of given joints [N, N m]
    cdef double* qdd
    cdef double* trial                   # (nv,)
    cdef double* nothing                 # (nv,) whose values nobody reads
    cdef double* first                   # (nq + nv,) each: a step's start, a stage's rates, their sum
    cdef double* rate
    cdef double* sum
    cdef double* turned                  # (nq,) where quaternions begin, their turn from the step's start to a stage
    cdef const Mat3* turns               # (links,) the body's axes in the link's
    cdef int32_t* link_of                # (bodies,)
    cdef Block* blocks                   # (bodies,)
    cdef Py_ssize_t tree_count
    cdef Block* trees                    # (trees,)
    cdef double* kinetic                 # (trees,) at the last account
    cdef double* gained                  # (trees,) since begin_account
    cdef double* handled                 # (trees,) what that is the sum of, without signs
    cdef double* total                   # (trees,) energy gained since begin_total, beyond what forces did
    cdef Wide3* shared                   # (trees,) velocities that the last account left out [m/s]
    cdef Wide3* course                   # (trees,) the same as forces say they are after the first kick
    cdef double* lightest                # (trees,) the least mass of a link [kg]
    cdef double* lead                    # (trees,) power of prescribed bodies in the last kick [W]
    cdef int32_t* resting                # (trees,) 1: it sleeps, and stands as it was placed, factored and looked at
    cdef int32_t* runs                   # (runs, 2) from which tree up to which none does
    cdef Py_ssize_t run_count
    cdef int32_t* chosen_runs            # those that are worked on now
    cdef Py_ssize_t chosen_count
    cdef int32_t one_run[2]

    cdef void list_runs(self, bint every) noexcept nogil
    cdef void enter(self, Py_ssize_t run) noexcept nogil
    cdef void leave(self) noexcept nogil

    cdef void ask(self) noexcept with gil
    cdef void place(self) noexcept nogil
    cdef void factor(self) noexcept nogil
    cdef void look(self) noexcept nogil
    cdef void take_poses(self, const Vec3* position, const Quat* orientation, const int8_t* chosen) noexcept nogil
    cdef void follow(self, const Vec3* position, const Quat* orientation, const Twist* twist) noexcept nogil
    cdef void find_least(self, double speed, double* least) noexcept nogil
    cdef bint is_lone(self, Py_ssize_t k) noexcept nogil
    cdef void give_spins(self, const Bodies* bodies, const int32_t* told, Twist* swing) noexcept nogil
    cdef void leave_spins(self, double h, const Bodies* bodies, const int32_t* told, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil
    cdef void kick(self, double h, const double* forces, int rounds) noexcept nogil
    cdef void accelerate(self, const double* tau, const double* forces) noexcept nogil
    cdef void find_accelerations(self, const double* forces) noexcept nogil
    cdef void kick_some(self, double h, const double* forces, const int32_t* chosen, bint anew) noexcept nogil
    cdef void begin_account(self, double h, const double* forces, const int32_t* told) noexcept nogil
    cdef void see_leads(self) noexcept nogil
    cdef bint is_loose(self, Py_ssize_t k) noexcept nogil
    cdef Wide3 find_shared(self, Py_ssize_t k) noexcept nogil
    cdef void push(self, Py_ssize_t k, double* rates, Wide3 velocity) noexcept nogil
    cdef void account(self, double part, bint apart) noexcept nogil
    cdef void account_trees(self, Py_ssize_t first, Py_ssize_t end, double part, bint apart) noexcept nogil
    cdef double kinetic_energy(self, Py_ssize_t k, Wide3 shared) noexcept nogil
    cdef void credit(self, double h, const double* forces) noexcept nogil
    cdef double tree_power(self, Py_ssize_t k, const double* forces, Wide3 shared, double* weight) noexcept nogil
    cdef double height_energy(self, Py_ssize_t i, Vec3 gravity) noexcept nogil
    cdef void sum_total(self, double part) noexcept nogil
    cdef void spend(self, double h, const double* forces) noexcept nogil
    cdef void tame(self, double part, const int32_t* told, bint others) noexcept nogil
    cdef void take_energy(self, Py_ssize_t k, double gained, double off, const Wide3* course) noexcept nogil
    cdef void slow_tree(self, Py_ssize_t k, double factor, double off, const Wide3* course) noexcept nogil
    cdef Wide3 fall(self, Py_ssize_t k, const double* forces) noexcept nogil
    cdef void rates(self, const double* forces, double* out) noexcept nogil
    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil
    cdef void runge_kutta(self, double h, const double* forces) noexcept nogil
    cdef void take_back(self, double h) noexcept nogil
    cdef void begin_carry(self) noexcept nogil
    cdef void carry(self, const double* forces) noexcept nogil
    cdef void give_wrench(self, Py_ssize_t link, double h, const Bodies* bodies, Joint* joint) noexcept nogil
    cdef void drift(self, double h) noexcept nogil
    cdef void drift_links(self, Py_ssize_t first, Py_ssize_t end, double h, const double* rates) noexcept nogil
    cdef void turn_back(self, const Quat* to, Quat* orientation) noexcept nogil
    cdef void give_poses(self, bint prescribed, Vec3* position, Quat* orientation) noexcept nogil
    cdef void give_twists(self, Twist* twist) noexcept nogil
    cdef void narrow(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void give_shared(self, Py_ssize_t first, Py_ssize_t end, Vec3* shared) noexcept nogil
    cdef void give_swings(self, Twist* swing) noexcept nogil
    cdef Py_ssize_t first_q(self, Py_ssize_t k) noexcept nogil
    cdef Factored factored(self, const Block* block) noexcept nogil
