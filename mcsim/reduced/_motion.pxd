"""One state of a tree as a step moves it. Order: place, factor and move after q or qd changed; then the rest."""

from libc.stdint cimport int32_t
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Mat3
from mcsim.reduced._links cimport Factored, Link, Tree
from mcsim.wide._lane_types cimport Wide3

# Where the velocities of a body's tree, and its links, stand: none of a static body.
ctypedef struct Block:
    int32_t first
    int32_t count
    int32_t first_link
    int32_t end_link
    int32_t tree                 # its number
    int32_t led                  # 1: its first link is prescribed


cdef inline double rotor_energy(const Link* link, const double* rates) noexcept nogil:
    """Of the rotors that go with a joint's velocities at these rates [J]."""
    cdef double twice = 0.0
    cdef int k
    for k in range(link.freedoms if not link.given else 0):
        twice += link.armature[k] * rates[k] * rates[k]
    return 0.5 * twice


cdef class TreeMotion:
    cdef object kept, kept_runs
    cdef tuple users, state
    cdef object user_numbers
    cdef bint asking                     # whether there are joints of users' own
    cdef bint giving                     # whether any accelerations are given
    cdef bint turns_rotors               # whether any joint whose are not has an armature
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
    cdef const Mat3* turns               # (links,) the body's axes in the link's
    cdef int32_t* link_of                # (bodies,)
    cdef Block* blocks                   # (bodies,)
    cdef Py_ssize_t tree_count
    cdef Block* trees                    # (trees,)
    cdef double* lightest                # (trees,) the least mass of a link [kg]
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
    cdef void find_least(self, double speed, double* least) noexcept nogil
    cdef void kick(self, double h, const double* forces, int rounds, bint looked) noexcept nogil
    cdef void accelerate(self, const double* tau, const double* forces) noexcept nogil
    cdef void find_accelerations(self, const double* forces) noexcept nogil
    cdef void kick_some(self, double h, const double* forces, const int32_t* chosen, bint anew) noexcept nogil
    cdef bint is_loose(self, Py_ssize_t k) noexcept nogil
    cdef Wide3 find_shared(self, Py_ssize_t k) noexcept nogil
    cdef void push(self, Py_ssize_t k, double* rates, Wide3 velocity) noexcept nogil
    cdef void take_back(self, double h) noexcept nogil
    cdef void drift(self, double h) noexcept nogil
    cdef void drift_links(self, Py_ssize_t first, Py_ssize_t end, double h, const double* rates) noexcept nogil
    cdef void narrow(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t first_q(self, Py_ssize_t k) noexcept nogil
    cdef Factored factored(self, const Block* block) noexcept nogil
