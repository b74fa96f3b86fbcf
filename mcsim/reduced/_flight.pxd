"""Drifts of trees that no loop ties."""

from libc.stdint cimport int32_t
from mcsim.core._noted cimport Noted
from mcsim.reduced._links cimport Force, Tree
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.wide._lane_types cimport Wide3

# A link's twist about its origin, in its own axes, at a piece's start, later mirrored; its centre of mass at the start.
ctypedef struct Rider:
    Wide3 spin
    Wide3 speed
    Wide3 com

# A tree's piece. Energies [J] are those as seen from its centre of mass where it is loose: held by nothing.
ctypedef struct Piece:
    int loose
    double mass
    Wide3 middle                 # of a loose tree: its centre of mass [m], its velocity, its acceleration
    Wide3 velocity
    Wide3 acceleration
    double before                # kinetic energy at the start, after the mirror, in the end
    double mirrored
    double after
    double spread                # of the difference between the velocities that were guessed and those that came out
    double gained                # energy that nothing gave
    double blur                  # what rounding may make of that, by gravity
    double seen                  # twice the kinetic energy as the world sees it, and of what gravity does to it

cdef class TreeFlight:
    cdef TreeMotion motion
    cdef Tree tree               # the motion's, of which some trees are moved
    cdef Noted noted
    cdef Block* trees
    cdef Rider* riders           # (links,)
    cdef Piece* pieces           # (trees,)
    cdef double* start           # (nq + nv,) at a piece's start
    cdef double* origin          # (nq + nv,) at the substep's
    cdef double* arrived         # (nq + nv,) of trees that have flown
    cdef double* mean            # (nv,) velocities of the drift
    cdef double* given           # (nv,)
    cdef object kept

    cdef void fly(self, const int32_t* busy, double h, const double* forces) noexcept nogil
    cdef void fly_apart(self, const int32_t* busy, double h, const double* forces) noexcept nogil
    cdef void bring_back(self, const int32_t* busy) noexcept nogil
    cdef void bring_back_velocities(self, const int32_t* busy) noexcept nogil
    cdef void take(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void stand_at(self, Py_ssize_t k, const double* state) noexcept nogil
    cdef void travel(self, Py_ssize_t k, double h, const double* forces) noexcept nogil
    cdef void move_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces, int rounds) noexcept nogil
    cdef void board(self, Py_ssize_t k, double h, const double* forces) noexcept nogil
    cdef void set_forces(self, Py_ssize_t k, double h, const double* forces) noexcept nogil
    cdef void set_momenta(self, Py_ssize_t k) noexcept nogil
    cdef void set_joints(self, Py_ssize_t first, Py_ssize_t end, double h, double part) noexcept nogil
    cdef void mirror(self, Py_ssize_t k, double h, const double* forces) noexcept nogil
    cdef void center(self, Py_ssize_t first, Py_ssize_t end, double h) noexcept nogil
    cdef void land(self, Py_ssize_t k, double h) noexcept nogil
    cdef double error(self, Py_ssize_t k) noexcept nogil
    cdef double rounding(self, Py_ssize_t k) noexcept nogil
    cdef void settle(self, Py_ssize_t k) noexcept nogil
    cdef void put_in_place(self) noexcept nogil
    cdef Force momentum(self, Py_ssize_t i) noexcept nogil
    cdef void spin_rotors(self, bint mirrored) noexcept nogil
    cdef double rotors(self, Py_ssize_t k, int which) noexcept nogil
    cdef bint meets(self, Py_ssize_t k) noexcept nogil
