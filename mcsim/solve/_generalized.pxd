"""Rows over one vector of generalized velocities: a row addresses blocks of it, a body alone a block of six, a tree
its own.

Per refresh:   rows.begin(rows, count); for each row and side rows.open(...), filled with J and H^-1 J', and the rows'
               diagonals; rows.finish(...)
Per pass:      rows.warm_start(...), rows.sweep(...)

Only reserve() needs the GIL, allocates or raises.
"""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._dense cimport dot_many
from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport BLOCK_BILATERAL, BLOCK_CONE, BLOCK_FRICTION, Row, is_wide

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


cdef inline bint rubs(const Row* row) noexcept nogil:
    """Whether it is friction of contacts."""
    return row.block_kind == BLOCK_CONE or row.block_kind == BLOCK_FRICTION


cdef class GeneralizedRows:
    cdef object kept, kept_loops
    cdef Py_ssize_t capacity             # rows
    cdef Py_ssize_t room                 # numbers
    cdef Py_ssize_t used
    cdef Py_ssize_t wanted_rows, wanted_room
    cdef Reach* reaches                  # (rows, 2)
    cdef double* jacobian                # J
    cdef double* response                # H^-1 J'
    cdef double* couplings               # (rows, KEPT) J H^-1 J' of a contact's normal with those of its manifold after it
    cdef Py_ssize_t loop_capacity, loop_count, wanted_loops
    cdef int32_t* loop                   # rows that close loops and gears, all solved at once
    cdef const int32_t* bonds            # (bodies,) what of them loops tie to each other, each with one number, else -1
    cdef int32_t* loop_bond              # of each of these rows; bond by bond
    cdef int32_t* loop_begin             # the first of them that each is coupled with
    cdef int32_t* loop_part              # the first of those that each hangs together with
    cdef int32_t* loop_open              # bits 1 and 2: it yields in the biased, the relax pass
    cdef int32_t* loop_led               # whether given velocities have a part in it
    cdef bint leading                    # whether there are given velocities
    cdef Py_ssize_t contrary             # a joint of the last such ones; -1: none
    cdef double* loop_matrix             # (loops, loops) K
    cdef double* loop_factors[2]         # (loops, loops) L D L' of their K, for both passes
    cdef double* loop_change             # (loops,) residuals in, impulses out
    cdef double* loop_asked              # (loops,) residuals
    cdef double* loop_most[2]            # (loops,) the largest since the last pose, of the part that begins there
    cdef int32_t* loop_strained          # whether it yielded as the substep began
    cdef object kept_stirred
    cdef const int32_t* level            # (manifolds,) of contacts (constraints/_contact_order.pyx)
    cdef double* least                   # (velocities,) by a block's first: energy of a change that may be left undone [J]
    cdef int32_t* stirred                # (velocities,) likewise: whether rows have changed more since that was set to 0

    cdef int begin(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef int32_t* open(self, Py_ssize_t row, int side, int32_t first, int32_t count, double** jacobian,
                       double** response) noexcept nogil
    cdef void add_force(self, Py_ssize_t row, double force, double* forces) noexcept nogil
    cdef double coupling(self, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef double whole_coupling(self, const Row* rows, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef void finish(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void ease(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void factor(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil
    cdef void find_parts(self, Row* rows, double rate) noexcept nogil
    cdef bint led(self, const Row* rows, Py_ssize_t row) noexcept nogil
    cdef void open_part(self, Row* rows, int relaxed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void factor_loops(self, const Row* rows, int relaxed, double proximal, Py_ssize_t first,
                           Py_ssize_t end) noexcept nogil
    cdef void invert(self, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void solve_part(self, Row* rows, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef int32_t bond_of(self, const Row* row) noexcept nogil
    cdef void span_of(self, Py_ssize_t bond, Py_ssize_t* begin, Py_ssize_t* end) noexcept nogil
    cdef double solve_loops(self, Row* rows, double* velocity, int relaxed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef double rate(self, Py_ssize_t row, const double* velocity) noexcept nogil
    cdef void apply(self, Py_ssize_t row, double impulse, double* velocity) noexcept nogil
    cdef void apply_side(self, Py_ssize_t row, int side, double impulse, double* velocity) noexcept nogil
    cdef void warm_start(self, const Row* rows, Py_ssize_t count, double* velocity) noexcept nogil
    cdef double solve(self, Row* rows, double* velocity, int relaxed) noexcept nogil
    cdef double sweep(self, Row* rows, Py_ssize_t contacts, Py_ssize_t count, double* velocity, int relaxed, bint rub,
                      int left) noexcept nogil
    cdef Py_ssize_t manifold_of(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef double sweep_level(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed, bint rub,
                            bint back) noexcept nogil
    cdef double sweep_rows(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed,
                           bint rub) noexcept nogil
    cdef void stir(self, Py_ssize_t row, double energy) noexcept nogil
    cdef double solve_row(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil
    cdef void point_products(self, const Row* rows, Py_ssize_t first, int count, int relaxed,
                             double (*a)[MANIFOLD_POINTS]) noexcept nogil
    cdef double solve_points(self, Row* rows, Py_ssize_t first, int count, double* velocity, int relaxed) noexcept nogil
    cdef double solve_block(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil
    cdef bint note_strain(self, const Row* rows, double most, double widest) noexcept nogil
    cdef bint strained(self, Py_ssize_t begin, Py_ssize_t* end) noexcept nogil
    cdef double side_diagonal(self, Py_ssize_t row, int side) noexcept nogil
    cdef double side_rate(self, Py_ssize_t row, int side, const double* velocity) noexcept nogil
    cdef void find_loads(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end, double* loads) noexcept nogil
    cdef double worst(self, const Row* rows, Py_ssize_t bond) noexcept nogil
    cdef void close(self, Row* rows, double* velocity, double h, Py_ssize_t bond) noexcept nogil
    cdef void hold_loops(self, const Row* rows, double* velocity, Py_ssize_t bond) noexcept nogil
