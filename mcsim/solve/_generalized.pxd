"""Rows over one vector of generalized velocities: a row addresses blocks of it, a body alone a block of six, a tree
its own.

Per refresh:   rows.begin(count); for each row and side rows.open(...), filled with J and H^-1 J', and the rows'
               diagonals; rows.finish(...)

Only reserve() needs the GIL, allocates or raises.
"""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._dense cimport dot_many
from mcsim.state._row cimport BLOCK_BILATERAL, Row, is_wide

cdef double IMPLIED

# The part of a row on one block of velocities.
ctypedef struct Reach:
    int64_t begin                # of its numbers
    int32_t first                # of the block in the vector
    int32_t count                # 0: the side moves nothing
    int32_t span[2]              # J is 0 before and from there on, as it is but on the supports of two bodies, and not kept


cdef inline double reach_rate(const Reach* reach, const double* jacobian, const double* velocity) noexcept nogil:
    return dot_many(jacobian + reach.begin + reach.span[0], velocity + reach.first + reach.span[0],
                    reach.span[1] - reach.span[0])


cdef inline double row_rate(const Reach* reach, const double* jacobian, const double* velocity) noexcept nogil:
    """J qd of a row's two sides."""
    cdef double s = reach_rate(&reach[0], jacobian, velocity)
    return s + reach_rate(&reach[1], jacobian, velocity) if reach[1].count > 0 else s


cdef inline void reach_act(const Reach* reach, const double* response, double impulse, double* velocity) noexcept nogil:
    cdef const double* y = response + reach.begin
    cdef double* v = velocity + reach.first
    cdef int k
    for k in range(reach.count):
        v[k] += y[k] * impulse


cdef inline void row_act(const Reach* reach, const double* response, double impulse, double* velocity) noexcept nogil:
    """qd += H^-1 J' impulse"""
    reach_act(&reach[0], response, impulse, velocity)
    reach_act(&reach[1], response, impulse, velocity)


cdef inline bint closes(const Row* row) noexcept nogil:
    """Whether it is one of those that are solved all at once: the own rows of joints that are not in the tree. A gear's is
    wide, and its first record stands for it."""
    return row.block_kind == BLOCK_BILATERAL or is_wide(row)


cdef inline double free_diagonal(const Row* row) noexcept nogil:
    """J M^-1 J' of its bodies, had they no joints."""
    cdef double sum = 0.0
    cdef int k
    for k in range(12):
        sum += row.jacobian[k] * row.inv_mass_jacobian[k]
    return sum


cdef inline double least_diagonal(const Row* row) noexcept nogil:
    """What a row is taken to have at least where it is pushed or yields: a tenth of what its bodies had without their
    trees. Where a tree can hardly follow, as a rod with its arm in line, it is not to be hurled."""
    return 0.1 * free_diagonal(row)


cdef class GeneralizedRows:
    cdef object kept
    cdef Py_ssize_t capacity             # rows
    cdef Py_ssize_t room                 # numbers
    cdef Py_ssize_t used
    cdef Py_ssize_t wanted_rows, wanted_room
    cdef Reach* reaches                  # (rows, 2)
    cdef double* jacobian                # J
    cdef double* response                # H^-1 J'
    cdef bint leading                    # whether there are given velocities
    cdef object kept_stirred
    cdef double* least                   # (velocities,) by a block's first: energy of a change that may be left undone [J]
    cdef int32_t* stirred                # (velocities,) likewise: whether rows have changed more since that was set to 0

    cdef int begin(self, Py_ssize_t count) noexcept nogil
    cdef int32_t* open(self, Py_ssize_t row, int side, int32_t first, int32_t count, double** jacobian,
                       double** response) noexcept nogil
    cdef void add_force(self, Py_ssize_t row, double force, double* forces) noexcept nogil
    cdef double coupling(self, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef void finish(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void finish_loops(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void ease(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef bint led(self, const Row* rows, Py_ssize_t row) noexcept nogil
    cdef double rate(self, Py_ssize_t row, const double* velocity) noexcept nogil
    cdef void apply(self, Py_ssize_t row, double impulse, double* velocity) noexcept nogil
    cdef void apply_side(self, Py_ssize_t row, int side, double impulse, double* velocity) noexcept nogil
    cdef void stir(self, Py_ssize_t row, double energy) noexcept nogil
    cdef double side_diagonal(self, Py_ssize_t row, int side) noexcept nogil
    cdef double side_rate(self, Py_ssize_t row, int side, const double* velocity) noexcept nogil
    cdef void find_loads(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end, double* loads) noexcept nogil
