"""Dantzig's principal pivoting for boxed linear complementarity problems."""

from libc.stdint cimport int32_t

cdef enum Event:
    NONE
    ZERO                         # w_i = 0
    OWN_BOUND                    # x_i at a bound
    BOUND                        # x_c of C at a bound
    SIGN                         # w_k of a row at its bound is about to change its sign
    STOPPED                      # out of pivots
    INDEFINITE

ctypedef struct Boxed:
    Py_ssize_t n
    Py_ssize_t held              # rows in C
    const double* a              # (n, n)
    const double* b
    const double* lower
    const double* upper
    double* x
    double* w
    double* size                 # (n,) |b| + |A||x|: what w is compared with
    double* rate                 # (n,) change of w by a unit of x_i
    int32_t* state
    int32_t* numb                # (n,) bool: found not to feel x_i, though its rate is not quite zero
    int32_t* row                 # (held,) C in the order of the factor
    double* factor               # (n, n) U
    double* d                    # (held,)
    double* line                 # (held,) column of U, were the row last asked for to enter
    double* y                    # (held,) A_CC^-1 A_Ci of the row last asked for
    double* work                 # (n,)
    double* start                # (n,) x before any row had its turn
    double pivot                 # s of the row last asked for
    double nothing               # s is rounding below this part of A_ii + sum_C y_k^2 A_kk, y = A_CC^-1 A_Ci
    double accuracy              # verdicts on rows that cannot be satisfied: relative to `size`,
    double quiet                 # or absolute
    Py_ssize_t pivots
    Py_ssize_t most
    Py_ssize_t contradictory

cdef double NOTHING              # `nothing` of a matrix that is known to rounding

# Numbers of a problem of n rows beside its matrix: those of the factor, and those of each row.
cdef enum:
    ROW_DOUBLES = 9
    ROW_INTEGERS = 3

cdef void give_room(Boxed* p, Py_ssize_t n, double* numbers, double* factor, int32_t* integers) noexcept nogil
cdef Event take_rows(Boxed* p, const int32_t* order) noexcept nogil
cdef Event solve_boxed(Boxed* p, const int32_t* order) noexcept nogil
cdef void start_anew(Boxed* p) noexcept nogil
