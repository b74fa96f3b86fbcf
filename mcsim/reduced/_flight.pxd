"""Drifts of trees that no loop ties."""

from libc.stdint cimport int32_t
from mcsim.core._noted cimport Noted
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.reduced._piece cimport Account, Flight, Piece

# How far a tree has come on its way through a substep.
ctypedef struct Travel:
    int32_t done                 # of 2^HALVINGS parts
    int level                    # how often the substep is halved for the piece that comes
    int rounds                   # which it may take

# What has become of a piece.
cdef enum Went:
    NOT_GOOD = 0                 # again from its start
    ON_THE_WAY = 1
    ARRIVED = 2                  # at the substep's end

cdef class TreeFlight:
    cdef TreeMotion motion
    cdef Flight flight           # of one lane, in the motion's arrays
    cdef Noted noted
    cdef Block* trees
    cdef Piece* pieces           # (trees,)
    cdef double* start           # (nq + nv,) at a piece's start
    cdef double* origin          # (nq + nv,) at the substep's
    cdef double* arrived         # (nq + nv,) of trees that have flown
    cdef object kept_alive

    cdef void fly(self, const int32_t* busy, double h, const double* forces) noexcept nogil
    cdef void fly_apart(self, const int32_t* busy, double h, const double* forces) noexcept nogil
    cdef void bring_back(self, const int32_t* busy) noexcept nogil
    cdef void bring_back_velocities(self, const int32_t* busy) noexcept nogil
    cdef void put_in_place(self) noexcept nogil
    cdef void ask(self) noexcept nogil
    cdef void stand_at(self, Py_ssize_t k, const double* state) noexcept nogil
    cdef void travel(self, Py_ssize_t k, double h, const double* forces) noexcept nogil
    cdef void set_out(self, Travel* way) noexcept nogil
    cdef int go_on(self, Travel* way, const Account* account, bint led) noexcept nogil
    cdef bint meets(self, const Account* account) noexcept nogil
    cdef double error(self, const Account* account, bint led) noexcept nogil
    cdef double rounding(self, const Account* account) noexcept nogil
    cdef double kept(self, const Account* account, bint led, double* lost) noexcept nogil
    cdef void settle(self, Py_ssize_t k, const Account* account) noexcept nogil
    cdef void move_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces) noexcept nogil
    cdef void make_rounds(self, Py_ssize_t k, double h, const double* forces, int made, int rounds) noexcept nogil
    cdef void make_round(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces) noexcept nogil
    cdef void end_piece(self, Py_ssize_t first, Py_ssize_t end, double h, const double* forces, bint last) noexcept nogil
    cdef bint is_hopeless(self, Account account, bint led) noexcept nogil
    cdef bint asks_for_rounds(self, Travel* way, const Account* account, bint led) noexcept nogil
