"""Dantzig's principal pivoting for boxed linear complementarity problems with a symmetric semidefinite matrix.

    w = A x + b,   lower <= x <= upper,   w = 0 inside the bounds, w >= 0 at the lower one, w <= 0 at the upper one.

Rows are taken one after another. With C the rows that are held at w_C = 0, x_i is driven, x_C follows,

    dx_C = -A_CC^-1 A_Ci dx_i,    dw_i = s dx_i,   s = A_ii - A_iC A_CC^-1 A_Ci >= 0,

until w_i or a bound of x_i is reached; on the way whatever reaches its bound leaves C, and what would lose its sign
enters. If s = 0, then A (dx_C, 1) = 0: nothing feels the motion. It goes on until a bound is met; if none is met, no x
satisfies the row together with those in C: they contradict each other. Rows without bounds come first: nothing of them
leaves C again, and what they say twice is found right away.

A_CC = U' D U, U unit upper triangular; a row enters at the end, one that leaves is a positive change of rank one.

Sources: R. Cottle, G. Dantzig, "Complementary pivot theory of mathematical programming", 1968; D. Baraff, "Fast contact
force computation for nonpenetrating rigid bodies", 1994; of rows that tie, the first one is taken: Y.-Y. Chang, "Least
index resolution of degeneracy in linear complementarity problems", 1979; P. Gill, G. Golub, W. Murray, M. Saunders,
"Methods for modifying matrix factorizations", 1974 (method C1).
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memmove, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._dense cimport dot_many

# Part of A_ii + sum_C y_k^2 A_kk, y = A_CC^-1 A_Ci, below which s is rounding: the row repeats others.
cdef double NOTHING = 1e-12
# An s below minus MINUS times what is taken for rounding says that the matrix is indefinite.
cdef double MINUS = 1e4

# Speeds are rounding below this part of |b| + |A||x| in the first pass.
cdef double FIRST = 1e-14

# The same in later passes, which mend what rounding spoilt.
cdef double LATER = 1e-11

# How far rounding may carry x_i out of its bounds, as the speed A_ii times that.
cdef double OUTSIDE = 1e-14

# Changes of w by a unit of x_i that are rounding, in parts of sqrt(A_kk A_ii).
cdef double NO_CHANGE = 1e-11

# Changes of x_C by a unit of x_i that are rounding, in parts of sqrt(A_ii / A_cc) times `nothing`.
cdef double NO_MOTION = 1e-2

# Part of A_ii above which s of a row among others has digits enough to be divided by.
cdef double PLAIN = 1e-6

cdef int PATIENCE = 50           # steps of no length until, of rows that tie, the first is taken, not the fastest
cdef int PASSES = 10             # over all rows, after the first, to mend what rounding spoilt
cdef int FRESH = 16              # pivots from one computing of w anew to the next

cdef enum State:
    WAITING                      # its turn has not come
    AT_BOUND
    HELD                         # in C
    SETTLED                      # redundant, or contradicts others: x stays


cdef void give_room(Boxed* p, Py_ssize_t n, double* numbers, double* factor, int32_t* whole) noexcept nogil:
    """A problem of n rows to work in numbers (ROW_DOUBLES, n), the first of which is x, factor (n, n) and whole
    (ROW_INTEGERS, n), the first of which says that no row has had its turn."""
    p.n, p.held, p.pivots, p.contradictory = n, 0, 0, 0
    p.x, p.w, p.size, p.rate = numbers, numbers + n, numbers + 2 * n, numbers + 3 * n
    p.d, p.line, p.y, p.work = numbers + 4 * n, numbers + 5 * n, numbers + 6 * n, numbers + 7 * n
    p.start = numbers + 8 * n
    p.factor = factor
    p.state, p.numb, p.row = whole, whole + n, whole + 2 * n
    memset(p.state, 0, n * sizeof(int32_t))


# ---- the factor --------------------------------------------------------------------------------------------------

cdef void forward(const Boxed* p, double* f) noexcept nogil:
    """f <- U'^-1 f"""
    cdef const double* u
    cdef double value
    cdef Py_ssize_t j, k
    for k in range(p.held):
        u = p.factor + k * p.n
        value = f[k]
        if value != 0.0:
            for j in range(k + 1, p.held):
                f[j] -= value * u[j]


cdef void backward(const Boxed* p, double* f) noexcept nogil:
    """f <- U^-1 f"""
    cdef Py_ssize_t k
    for k in range(p.held - 1, -1, -1):
        f[k] -= dot_many(p.factor + k * p.n + k + 1, f + k + 1, p.held - k - 1)


cdef double project(Boxed* p, Py_ssize_t i) noexcept nogil:
    """s of row i, 0 where it is rounding, negative where A is indefinite; fills line, y and pivot."""
    cdef const double* a = p.a + i * p.n
    cdef double s = a[i]
    cdef double size = a[i]
    cdef double value
    cdef Py_ssize_t k
    for k in range(p.held):
        p.line[k] = a[p.row[k]]
    forward(p, p.line)
    for k in range(p.held):
        value = p.line[k]
        p.line[k] = value / p.d[k]
        s -= value * p.line[k]
        p.y[k] = p.line[k]
    backward(p, p.y)
    for k in range(p.held):
        size += p.y[k] * p.y[k] * p.a[p.row[k] * (p.n + 1)]
    p.pivot = s
    if s < -MINUS * p.nothing * size:
        return s
    return s if s > p.nothing * size else 0.0


cdef void enter(Boxed* p, Py_ssize_t i) noexcept nogil:
    """Row i, for which `project` was called last, joins C."""
    cdef Py_ssize_t k
    for k in range(p.held):
        p.factor[k * p.n + p.held] = p.line[k]
    p.d[p.held] = p.pivot
    p.row[p.held] = <int32_t>i
    p.held += 1
    p.state[i] = HELD
    p.w[i] = 0.0


cdef void leave(Boxed* p, Py_ssize_t i) noexcept nogil:
    """Row i leaves C: U22' D2 U22 + u d_k u' is what the rows behind it had alone."""
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t j, r
    cdef double* u
    cdef double* change = p.work
    cdef double alpha, beta, part, d
    while p.row[k] != i:
        k += 1
    alpha = p.d[k]
    memmove(change, p.factor + k * p.n, p.held * sizeof(double))
    for r in range(k):
        u = p.factor + r * p.n
        memmove(u + k, u + k + 1, (p.held - k - 1) * sizeof(double))
    for j in range(k + 1, p.held):
        u = p.factor + j * p.n
        part = change[j]
        d = p.d[j] + alpha * part * part
        beta = alpha * part / d
        alpha *= p.d[j] / d
        for r in range(j + 1, p.held):
            change[r] -= part * u[r]
            u[r] += beta * change[r]
        memmove(u - p.n + j, u + j + 1, (p.held - j - 1) * sizeof(double))
        p.d[j - 1] = d
        p.row[j - 1] = p.row[j]
    p.held -= 1
    p.state[i] = AT_BOUND
    p.w[i] = 0.0


# ---- w and its rates ---------------------------------------------------------------------------------------------

cdef void compute_w(Boxed* p) noexcept nogil:
    """w = A x + b and `size`, by lines of A, which are its columns as well."""
    cdef const double* a
    cdef double value
    cdef double largest = 0.0
    cdef Py_ssize_t j, k
    for k in range(p.n):
        largest = max(largest, fabs(p.b[k]))
    for k in range(p.n):
        p.w[k] = p.b[k]
        p.size[k] = largest
    for j in range(p.n):
        value = p.x[j]
        if value != 0.0:
            a = p.a + j * p.n
            for k in range(p.n):
                p.w[k] += value * a[k]
                p.size[k] += fabs(value * a[k])


cdef void refresh(Boxed* p) noexcept nogil:
    """w anew, and x_C such that w_C is zero again."""
    cdef Py_ssize_t k
    compute_w(p)
    for k in range(p.held):
        p.work[k] = p.w[p.row[k]]
    forward(p, p.work)
    for k in range(p.held):
        p.work[k] /= p.d[k]
    backward(p, p.work)
    for k in range(p.held):
        p.x[p.row[k]] -= p.work[k]
    compute_w(p)


cdef void compute_rates(Boxed* p, Py_ssize_t i) noexcept nogil:
    """rate = A_i - A_C y: of w, by a unit of x_i. For all rows: they lie side by side."""
    cdef const double* a = p.a + i * p.n
    cdef double value
    cdef Py_ssize_t c, k
    for k in range(p.n):
        p.rate[k] = a[k]
    for c in range(p.held):
        value = p.y[c]
        if value != 0.0:
            a = p.a + p.row[c] * p.n
            for k in range(p.n):
                p.rate[k] -= value * a[k]


# ---- one row driven ----------------------------------------------------------------------------------------------

cdef double wanted(Boxed* p, Py_ssize_t i, double rounding) noexcept nogil:
    """The way x_i must go: 1, -1, or 0 where it stands well; WAITING becomes AT_BOUND there."""
    cdef double lower = p.lower[i]
    cdef double upper = p.upper[i]
    cdef double x = p.x[i]
    cdef double w = p.w[i]
    cdef double small = rounding * p.size[i]
    if p.state[i] == HELD or p.state[i] == SETTLED:
        return 0.0
    if lower == upper or (x == lower and w >= -small) or (x == upper and w <= small):
        p.state[i] = AT_BOUND
        return 0.0
    if fabs(w) > small:
        return 1.0 if w < 0.0 else -1.0
    return 1.0 if upper - x <= x - lower else -1.0         # inside, w = 0: it enters C, or goes to the nearer bound


cdef inline double until_bound(const Boxed* p, Py_ssize_t i, double speed) noexcept nogil:
    """How far x_i may go at this speed, in units of the driven x."""
    if speed > 0.0:
        return max(p.upper[i] - p.x[i], 0.0) / speed
    return max(p.x[i] - p.lower[i], 0.0) / -speed


cdef inline double until_sign(const Boxed* p, Py_ssize_t k, double speed) noexcept nogil:
    """How far until w_k of a row at its bound loses its sign; INFINITY where it does not."""
    if p.state[k] != AT_BOUND or p.numb[k] or p.lower[k] == p.upper[k]:
        return INFINITY
    if p.x[k] == p.lower[k]:
        return max(p.w[k], 0.0) / -speed if speed < 0.0 else INFINITY
    return max(-p.w[k], 0.0) / speed if speed > 0.0 else INFINITY


cdef inline double reach(const Boxed* p, Py_ssize_t k, Py_ssize_t i, double way, bint felt) noexcept nogil:
    """How far until something happens to row k, not i. work holds y by rows; felt: w feels x_i, rate says how much."""
    cdef double own = p.a[k * (p.n + 1)]
    cdef double other = p.a[i * (p.n + 1)]
    if p.state[k] == HELD:
        felt = fabs(p.work[k]) * sqrt(own) > NO_MOTION * p.nothing * sqrt(other)
        return until_bound(p, k, -way * p.work[k]) if felt else INFINITY
    if felt and fabs(p.rate[k]) > NO_CHANGE * sqrt(own * other):
        return until_sign(p, k, way * p.rate[k])
    return INFINITY


cdef inline double speed_of(const Boxed* p, Py_ssize_t k) noexcept nogil:
    """How fast row k comes to what happens to it, its units taken out."""
    cdef double diagonal = p.a[k * (p.n + 1)]
    return fabs(p.work[k]) * sqrt(diagonal) if p.state[k] == HELD else fabs(p.rate[k]) / sqrt(diagonal)


cdef Event next_event(Boxed* p, Py_ssize_t i, double way, double s, double tie, bint by_index, double* step,
                      Py_ssize_t* where) noexcept nogil:
    """The first thing that happens as x_i goes. Of several at once: what happens to i, else to the fastest, or to the
    first row."""
    cdef Event event = NONE
    cdef Py_ssize_t k
    cdef double t
    cdef double least = INFINITY
    cdef double fastest = 0.0
    for k in range(p.held):
        p.work[p.row[k]] = p.y[k]
    for k in range(p.n):
        if k != i:
            least = min(least, reach(p, k, i, way, s > 0.0))
    step[0] = INFINITY
    if s > 0.0:
        step[0] = max(-way * p.w[i], 0.0) / s
        event = ZERO
    t = until_bound(p, i, way)
    if t < step[0]:
        step[0] = t
        event = OWN_BOUND
    if step[0] <= least + tie:
        return event
    for k in range(p.n):
        if k != i:
            t = reach(p, k, i, way, s > 0.0)
            if t <= least + tie and speed_of(p, k) > fastest:
                fastest = speed_of(p, k)
                step[0] = t
                where[0] = k
                event = BOUND if p.state[k] == HELD else SIGN
                if by_index:
                    break
    return event


cdef void advance(Boxed* p, Py_ssize_t i, double change, bint felt) noexcept nogil:
    """x_i += change, and what follows."""
    cdef Py_ssize_t k
    p.x[i] += change
    for k in range(p.held):
        p.x[p.row[k]] -= change * p.y[k]
    if felt:
        for k in range(p.n):
            p.w[k] += change * p.rate[k]


cdef inline double bound(const Boxed* p, Py_ssize_t k, double speed) noexcept nogil:
    return p.upper[k] if speed > 0.0 else p.lower[k]


cdef bint settle(Boxed* p, Py_ssize_t i) noexcept nogil:
    """Nothing stops x_i, and w_i stays: row i contradicts those in C, or repeats them. False: it has bounds and repeats
    them only as long as they are in C; x_i must go to its bound, as far as they let it."""
    cdef double size
    cdef Py_ssize_t k
    refresh(p)
    size = p.size[i]
    for k in range(p.held):                                # w_i - y.w_C is what stays
        size += fabs(p.y[k]) * p.size[p.row[k]]
    p.state[i] = SETTLED
    if fabs(p.w[i]) > max(p.accuracy * size, p.quiet):
        p.contradictory += 1
    elif p.lower[i] > -INFINITY or p.upper[i] < INFINITY:
        p.state[i] = WAITING
        return False
    return True


cdef bint try_to_enter(Boxed* p, Py_ssize_t k) noexcept nogil:
    """Row k joins C, unless the rows there say the same already; then it does not feel x_i."""
    if project(p, k) > 0.0:
        enter(p, k)
        return True
    p.numb[k] = 1
    return False


cdef Event drive(Boxed* p, Py_ssize_t i, double way) noexcept nogil:
    """x_i goes that way until row i is satisfied. -> what ended it"""
    cdef double diagonal = p.a[i * (p.n + 1)]
    cdef double tie = 1e-13 * fabs(p.w[i]) / diagonal if diagonal > 0.0 else 0.0
    cdef double s, step
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t stuck = 0                              # steps of no length, one after another
    cdef Event event
    memset(p.numb, 0, p.n * sizeof(int32_t))
    while p.pivots < p.most:
        p.pivots += 1
        if p.pivots % FRESH == 0:
            refresh(p)
        s = project(p, i)
        if s < 0.0:
            return INDEFINITE
        if s > 0.0:
            compute_rates(p, i)
        event = next_event(p, i, way, s, tie, stuck > PATIENCE, &step, &k)
        stuck = stuck + 1 if step <= tie else 0
        if event == NONE:
            if settle(p, i):
                return NONE
            way = -way
            continue
        advance(p, i, way * step, s > 0.0)
        if event == ZERO:
            enter(p, i)
            return ZERO
        if event == OWN_BOUND:
            p.x[i] = bound(p, i, way)
            p.state[i] = AT_BOUND
            return OWN_BOUND
        if event == SIGN:
            if try_to_enter(p, k):
                memset(p.numb, 0, p.n * sizeof(int32_t))
        else:
            p.x[k] = bound(p, k, -way * p.work[k])
            leave(p, k)
            memset(p.numb, 0, p.n * sizeof(int32_t))
    return STOPPED


# ---- all rows ----------------------------------------------------------------------------------------------------

cdef bint factor_inside(Boxed* p) noexcept nogil:
    """All rows that are inside of their bounds are C, factored at once. -> False: one of them all but repeats others, and C
    is to grow row by row"""
    cdef double lowest, s, x
    cdef Py_ssize_t i, k
    for i in range(p.n):
        if not p.lower[i] < p.x[i] < p.upper[i]:
            continue
        s = lowest = p.a[i * (p.n + 1)]
        for k in range(p.held):
            p.line[k] = p.a[i * p.n + p.row[k]]
        forward(p, p.line)
        for k in range(p.held):
            x = p.line[k] / p.d[k]
            s -= p.line[k] * x
            p.line[k] = x
        if not s > PLAIN * lowest:
            return False
        p.pivot = s
        enter(p, i)
    return True


cdef bint stand_well(const Boxed* p) noexcept nogil:
    """Whether C is inside of its bounds and the speeds of all others are right."""
    cdef double x, w, small
    cdef Py_ssize_t i
    for i in range(p.n):
        x, w, small = p.x[i], p.w[i], FIRST * p.size[i]
        if p.state[i] == HELD:
            if not p.lower[i] <= x <= p.upper[i]:
                return False
        elif not (p.lower[i] == p.upper[i] or (x == p.lower[i] and w >= -small) or (x == p.upper[i] and w <= small)):
            return False
    return True


cdef void let_outer_go(Boxed* p) noexcept nogil:
    """What of C is beyond its bounds goes there and waits for its turn; again with what that carries beyond, until all of C
    is inside."""
    cdef bint found = True
    cdef Py_ssize_t i
    while found:
        found = False
        for i in range(p.n):
            if p.state[i] == HELD and not p.lower[i] <= p.x[i] <= p.upper[i]:
                p.x[i] = bound(p, i, p.x[i] - p.lower[i])
                leave(p, i)
                p.state[i] = WAITING
                found = True
        if found:
            refresh(p)


cdef bint put_back(Boxed* p) noexcept nogil:
    """What rounding carried out of its bounds leaves C. -> whether anything did"""
    cdef Py_ssize_t i
    cdef double beyond
    cdef bint found = False
    for i in range(p.n):
        beyond = max(p.lower[i] - p.x[i], p.x[i] - p.upper[i])
        if p.state[i] == HELD and beyond * p.a[i * (p.n + 1)] > OUTSIDE * p.size[i]:
            p.x[i] = bound(p, i, p.x[i] - p.lower[i])
            leave(p, i)
            found = True
    return found


cdef Event take_rows(Boxed* p, const int32_t* order) noexcept nogil:
    """Every row in its turn, and again as long as rounding has spoilt one. -> NONE, STOPPED or INDEFINITE"""
    cdef Py_ssize_t j, i
    cdef int round
    cdef double way
    cdef bint changed
    cdef Event event
    for round in range(PASSES):
        refresh(p)
        changed = put_back(p)
        if changed:
            refresh(p)
        for j in range(p.n):
            i = order[j]
            way = wanted(p, i, FIRST if round == 0 else LATER)
            if way != 0.0:
                changed = True
                event = drive(p, i, way)
                if event == STOPPED or event == INDEFINITE:
                    return event
        if not changed:
            break
    refresh(p)
    return NONE


cdef void start_anew(Boxed* p) noexcept nogil:
    """As before any row had its turn."""
    p.held, p.pivots, p.contradictory = 0, 0, 0
    memset(p.state, 0, p.n * sizeof(int32_t))
    memcpy(p.x, p.start, p.n * sizeof(double))


cdef Event solve_boxed(Boxed* p, const int32_t* order) noexcept nogil:
    """From x on, which is within the bounds. Most rows that are inside of theirs stay there: they are C as a whole before
    any row is driven, without those that this carries beyond. What contradicts others is met in the order of the rows, and
    so everything is done anew, row by row, where anything does. -> NONE, STOPPED or INDEFINITE"""
    cdef Event event
    memcpy(p.start, p.x, p.n * sizeof(double))
    if factor_inside(p):
        refresh(p)
        if stand_well(p):
            return NONE
        let_outer_go(p)
        event = take_rows(p, order)
        if event == NONE and p.contradictory == 0:
            return NONE
    start_anew(p)
    return take_rows(p, order)


def dantzig(const double[:, ::1] A, const double[::1] b, const double[::1] lower, const double[::1] upper,
            const double[::1] guess, Py_ssize_t max_pivots, double accuracy, double quiet):
    """A (n, n) symmetric positive semidefinite, n > 0; b, lower, upper (n,), lower <= upper; guess (n,): first x.

    -> (x (n,), status, pivots, rows that contradict others). Status 0: all rows were taken; 2: max_pivots reached; 3: A
    is indefinite. A row whose speed misses zero by no more than `accuracy` of |b| + |A||x|, or than
    `quiet`, is no contradiction.
    """
    cdef Py_ssize_t n = A.shape[0]
    cdef Boxed p
    cdef Event ended = NONE
    cdef int32_t* turns
    values, numbers = np.zeros((ROW_DOUBLES, n)), np.zeros((ROW_INTEGERS + 1, n), np.int32)
    factor, free = np.zeros((n, n)), np.isinf(lower) & np.isinf(upper)
    numbers[ROW_INTEGERS] = np.argsort(~free, kind="stable")
    values[0] = np.minimum(np.maximum(guess, lower), upper)
    give_room(&p, n, doubles(values), doubles(factor), integers(numbers))
    p.most, p.accuracy, p.quiet, p.nothing = max_pivots, accuracy, quiet, NOTHING
    p.a, p.b, p.lower, p.upper = &A[0, 0], &b[0], &lower[0], &upper[0]
    turns = integers(numbers[ROW_INTEGERS])
    with nogil:
        ended = solve_boxed(&p, turns)
    status = 2 if ended == STOPPED else 3 if ended == INDEFINITE else 0
    return np.minimum(np.maximum(values[0], lower), upper), status, p.pivots, p.contradictory
