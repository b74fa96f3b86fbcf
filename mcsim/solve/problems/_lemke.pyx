"""Lemke's method for linear complementarity problems: w = M z + q >= 0, z >= 0, z.w = 0.

An artificial variable z0 with a covering vector d > 0 makes the start feasible, I w - M z - d z0 = q. Of each pair one
variable leaves, its partner enters, until z0 leaves (solved) or nothing blocks the one that enters (a ray).

Sources: C. Lemke, "Bimatrix equilibrium points and mathematical programming", 1965; R. Cottle, J.-S. Pang, R. Stone,
"The Linear Complementarity Problem", 1992, algorithm 4.4.5 and, against cycling, the lexicographic rule of section 4.9:
of rows that tie, the one leaves whose line of the inverse basis, over its pivot, is the smallest from the left.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t


from mcsim.core._arrays cimport doubles, integers

# Of a problem scaled to entries of size one: smaller pivots are rounding, values closer than TIE tie.
cdef double SMALLEST_PIVOT = 1e-10
cdef double TIE = 1e-12

cdef enum:
    SOLVED = 0
    RAY = 1
    LIMIT = 2
    NO_ROW = -1

cdef struct Tableau:
    # x_B = q - T x_N. Line r of `lines` is (T_r, q_r), n + 2 numbers. Variables: w 0..n-1, z n..2n-1, z0 2n.
    Py_ssize_t n
    double* lines
    int32_t* basic              # (n,) the variable of each row
    int32_t* other              # (n + 1,) the variable of each column
    int32_t* place              # (2n + 1,) row of a basic variable, -1 - column of another
    double worst                # pivot allowed, of the best one among rows that tie


cdef inline double* line_of(const Tableau* t, Py_ssize_t r) noexcept nogil:
    return t.lines + r * (t.n + 2)


cdef void pivot(Tableau* t, Py_ssize_t r, Py_ssize_t c) noexcept nogil:
    """The variables of row r and column c change places."""
    cdef double* chosen = line_of(t, r)
    cdef double* line
    cdef double inverse = 1.0 / chosen[c]
    cdef double factor
    cdef Py_ssize_t i, j
    cdef Py_ssize_t width = t.n + 2
    cdef int32_t entering = t.other[c]
    chosen[c] = 1.0
    for j in range(width):
        chosen[j] *= inverse
    for i in range(t.n):
        line = line_of(t, i)
        factor = line[c]
        if i != r and factor != 0.0:
            line[c] = 0.0
            for j in range(width):
                line[j] -= factor * chosen[j]
    t.other[c] = t.basic[r]
    t.place[t.basic[r]] = <int32_t>(-1 - c)
    t.basic[r] = entering
    t.place[entering] = <int32_t>r


cdef inline double inverse_entry(const Tableau* t, Py_ssize_t r, Py_ssize_t j) noexcept nogil:
    """Of the inverse basis: the column of w_j."""
    cdef int32_t place = t.place[j]
    return line_of(t, r)[-1 - place] if place < 0 else <double>(place == r)


cdef bint lexically_less(const Tableau* t, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c) noexcept nogil:
    """Whether line a of the inverse basis over its pivot is less than line b's."""
    cdef double pivot_a = line_of(t, a)[c]
    cdef double pivot_b = line_of(t, b)[c]
    cdef double x, y
    cdef Py_ssize_t j
    for j in range(t.n):
        x = inverse_entry(t, a, j) / pivot_a
        y = inverse_entry(t, b, j) / pivot_b
        if fabs(x - y) > TIE * (fabs(x) + fabs(y)):
            return x < y
    return a < b


cdef Py_ssize_t leaving_row(const Tableau* t, Py_ssize_t c) noexcept nogil:
    """The row whose variable first falls to zero as that of column c grows; z0 before all others. NO_ROW: a ray."""
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t r
    cdef Py_ssize_t best = NO_ROW
    cdef double largest = 1.0
    cdef double least = -1.0
    cdef double best_pivot = 0.0
    cdef double p, ratio
    for r in range(n):
        largest = max(largest, fabs(line_of(t, r)[c]))
    for r in range(n):
        p = line_of(t, r)[c]
        if p > SMALLEST_PIVOT * largest:
            ratio = max(line_of(t, r)[n + 1], 0.0) / p
            if least < 0.0 or ratio < least:
                least = ratio
    if least < 0.0:
        return NO_ROW
    for r in range(n):
        p = line_of(t, r)[c]
        if p > SMALLEST_PIVOT * largest and line_of(t, r)[n + 1] <= least * p + TIE:
            if t.basic[r] == 2 * n:
                return r
            best_pivot = max(best_pivot, p)
    for r in range(n):
        p = line_of(t, r)[c]
        if (p > SMALLEST_PIVOT * largest and p >= t.worst * best_pivot
                and line_of(t, r)[n + 1] <= least * p + TIE
                and (best == NO_ROW or lexically_less(t, r, best, c))):
            best = r
    return best


cdef Py_ssize_t first_row(const Tableau* t) noexcept nogil:
    """The row that z0 must lift most, of several the last, for which all lines become lexically positive."""
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t r
    cdef Py_ssize_t best = NO_ROW
    cdef double least = 0.0
    cdef double ratio
    for r in range(n):
        ratio = line_of(t, r)[n + 1] / -line_of(t, r)[n]
        if ratio < 0.0 and ratio <= least:
            least = ratio
            best = r
    return best


cdef int follow(Tableau* t, Py_ssize_t* column, Py_ssize_t most, Py_ssize_t* pivots) noexcept nogil:
    """Pivots from the column that enters to an end: SOLVED, RAY, or LIMIT, where `column` is what would enter next."""
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t r
    cdef int32_t left
    for pivots[0] in range(most + 1):
        r = first_row(t) if t.other[column[0]] == 2 * n else leaving_row(t, column[0])
        if r == NO_ROW:
            return RAY
        if pivots[0] == most:
            return LIMIT
        left = t.basic[r]
        pivot(t, r, column[0])
        if left == 2 * n:
            pivots[0] += 1
            return SOLVED
        column[0] = -1 - t.place[left + n if left < n else left - n]
    return LIMIT


def lemke(lines, basic, other, place, Py_ssize_t column, Py_ssize_t max_pivots, double worst):
    """Follow the path of a tableau, x_basic = q - T x_other, in place: lines (n, n + 2) hold (T, q), n > 0.

    Variables: w 0..n-1, z n..2n-1, z0 2n. basic (n,), other (n + 1,): those of the rows and of the columns; place
    (2n + 1,): row of a basic one, -1 - column of another; all int32. column: what enters first; where it is z0, this is
    the start: T = (-M, -d), d > 0, some q < 0.

    worst: of rows that tie, those are left out whose pivot is smaller than this part of the best. Near 0 the rule
    against cycling is kept to the letter, near 1 the most digits.

    -> (status, pivots, column). 0: z0 has left, the basis solves the problem; 1: nothing stops `column`, a ray; 2:
    max_pivots were made, `column` is next.
    """
    cdef Py_ssize_t pivots = 0
    cdef int status
    cdef Tableau t
    t.n, t.lines, t.worst = len(basic), doubles(lines), worst
    t.basic, t.other, t.place = integers(basic), integers(other), integers(place)
    with nogil:
        status = follow(&t, &column, max_pivots, &pivots)
    return status, pivots, column
