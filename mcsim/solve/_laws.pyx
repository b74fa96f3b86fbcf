"""Laws of impact, over the contacts that are struck together (docs/theory/impacts.md).

u are the rates of separation and slip before, [n, t, t] of each contact, u+ = u + A p those after, A = J H^-1 J' with
joints held. Of each contact e is the restitution, mu the friction, n and t its normal and tangential parts:

    newton     p_n >= 0,   u+_n + e u_n >= 0,   p_n (u+_n + e u_n) = 0
    poisson    compression p_n >= 0,  u_n >= 0,  p_n u_n = 0;  then at least e p_n more, p+_n >= (1 + e) p_n, likewise
    stronge    the work of the normal impulses that comes back is e^2 times that which compression took

all with |p_t| <= mu p_n. The first two are problems of complementarity, with friction against the slip at the end (C.
Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid multibody systems", 1995). The third follows the impact
as its normal impulse P grows (E. Routh, "Dynamics of a System of Rigid Bodies", 1860; W. Stronge, "Rigid body collisions
with friction", 1990), friction against the slip of the moment:

    du/dP = A (1, f),    f = -mu s / |s|  where the contact slips by s,    else  f = -A_tt^-1 A_tn  if |f| <= mu
    W = integral of u_n dP,    W is least where compression ends,    the impact ends at W = (1 - e^2) min W

Normal impulses lose (1 - e^2) |min W| and friction never does positive work, so no impact gains energy. Where slip
keeps its direction u and W are polynomials of P; else it is integrated by Dormand and Prince's method over the time tau
with dP = |s| dtau, in which the direction turns smoothly to the end of the slip.

Of contacts that are struck together the compression is Poisson's, with friction against the slip at its end, the work
of each contact that of its mean rate, and restitution follows the process above along the normal impulses e p_n, in parts.
What these would press together meanwhile is held, as in Poisson's second phase: a contact has at least its part of e p_n.
Both may give back what a slip that reverses within them had lost; so it is over, too, where it has given as much energy
as e^2 allows of what compression took.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve._blocks cimport cone_step
from mcsim.solve._bracket cimport HALVINGS, SETTLED, Bracket, narrow, next_trial
from mcsim.solve._cone_point cimport Point, cone_point, point_of
from mcsim.solve._stronge cimport stronge_point
from mcsim.solve.problems._dantzig cimport (NONE, NOTHING, ROW_DOUBLES, ROW_INTEGERS, Boxed, give_room,
                                            solve_boxed)

cdef enum:
    SWEEPS = 400             # over the contacts of one problem
    AT_ONCE = 20             # sweeps after which impulses are found at once, if they still change
    MOST_AT_ONCE = 24        # rows of that
    PIVOTS = 20              # a row
    HOLDS = 8                # normal impulses at once, and friction in turn
    PARTS = 8                # of a restitution of several contacts, if it is Poisson's

cdef double SWEPT = 1e-12                    # part of the impulses: a sweep that changes them by less is the last
cdef double INSIDE = 1e-9                    # friction within the cone by this part of it sticks
cdef double CLOSES = 1e-9                    # part of the speeds: what closes, or is pressed, by less is at rest
cdef double AGREES = 1e-12                   # what a row may be off and agree with others, in parts of |b| + |A||x|


cdef void find_at_once(int count, const double* a, const double* b, const double* friction, const double* load,
                       const double* pressed, double* p) noexcept nogil:
    """The normal impulses anew and, where there is room, those of the friction that sticks, under all other friction as it
    is: a boxed linear complementarity problem of the contacts that take part, where pressed is positive; NULL: all do.
    Between far unequal masses sweeps would take as many rounds as these differ."""
    cdef double matrix[MOST_AT_ONCE * MOST_AT_ONCE]
    cdef double factor[MOST_AT_ONCE * MOST_AT_ONCE]
    cdef double numbers[(ROW_DOUBLES + 3) * MOST_AT_ONCE]
    cdef int32_t integers[(ROW_INTEGERS + 1) * MOST_AT_ONCE]
    cdef int32_t row[MOST_AT_ONCE]
    cdef Boxed boxed
    cdef int n = 3 * count
    cdef int rows = 0
    cdef int i, j
    cdef double bound
    cdef double* right = numbers + ROW_DOUBLES * MOST_AT_ONCE
    cdef double* lower = right + MOST_AT_ONCE
    cdef double* upper = lower + MOST_AT_ONCE
    cdef int32_t* order = integers + ROW_INTEGERS * MOST_AT_ONCE
    for i in range(n):
        if pressed != NULL and not pressed[i // 3] > 0.0:
            continue
        bound = friction[i // 3] * (p[i - i % 3] + load[i - i % 3])
        if i % 3 == 0 or (n <= MOST_AT_ONCE and sticks(p + i - i % 3, bound)):
            row[rows], lower[rows], upper[rows] = i, 0.0 if i % 3 == 0 else -bound, INFINITY if i % 3 == 0 else bound
            order[rows] = rows
            rows += 1
    give_room(&boxed, rows, numbers, factor, integers)
    for i in range(rows):
        right[i] = b[row[i]]
        for j in range(n):
            right[i] += a[row[i] * n + j] * p[j]
        for j in range(rows):
            matrix[i * rows + j] = a[row[i] * n + row[j]]
            right[i] -= matrix[i * rows + j] * p[row[j]]
        boxed.x[i] = p[row[i]]
    boxed.a, boxed.b, boxed.lower, boxed.upper = matrix, right, lower, upper
    boxed.most, boxed.accuracy, boxed.quiet, boxed.nothing = PIVOTS * rows, AGREES, 0.0, NOTHING
    if solve_boxed(&boxed, order) == NONE:
        for i in range(rows):
            p[row[i]] = min(max(boxed.x[i], lower[i]), upper[i])


cdef inline bint sticks(const double* p, double bound) noexcept nogil:
    return p[1] * p[1] + p[2] * p[2] < (1.0 - INSIDE) * bound * bound


cdef inline void add_row(Py_ssize_t n, const double* row, double part, double* sum) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        sum[i] += row[i] * part


cdef void follow(Py_ssize_t n, const double* a, const double* from_rates, const double* p, double* rates) noexcept nogil:
    """The rates after impulses p."""
    cdef Py_ssize_t k
    memcpy(rates, from_rates, n * sizeof(double))
    for k in range(n):
        add_row(n, a + k * n, p[k], rates)


cdef bint cones(int count, const double* a, const double* b, const double* friction, const double* load,
                double* p, double* rates) noexcept nogil:
    """cone_point of all together, by sweeps from p = 0, and at once now and then, as long as the sweep after that changes
    less than the one before. load: one in three; rates: room for those after p. -> whether that converged"""
    cdef double kept[3 * MOST_AT_ONCE]
    cdef double last = INFINITY          # what a sweep has changed before impulses were found at once; INFINITY: none waits
    cdef bint helps = 1 < count <= MOST_AT_ONCE
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, k
    cdef double own[3]
    cdef double rest[3]
    cdef double change, size
    cdef Point c
    cdef bint solved = True
    cdef int sweep
    for i in range(n):
        p[i] = 0.0
    for sweep in range(SWEEPS):
        if sweep % AT_ONCE == 0 or last < INFINITY:                                # what their sums had lost
            follow(n, a, b, p, rates)
        change = size = 0.0
        solved = True
        for k in range(0, n, 3):
            for i in range(3):
                rest[i] = (rates[k + i] - a[(k + i) * n + k] * p[k] - a[(k + i) * n + k + 1] * p[k + 1]
                           - a[(k + i) * n + k + 2] * p[k + 2])
            c = point_of(a + k * n + k, n, friction[k // 3])
            solved = cone_point(&c, rest, load[k], own) and solved
            for i in range(3):
                if own[i] != p[k + i]:
                    add_row(n, a + (k + i) * n, own[i] - p[k + i], rates)
                change = max(change, fabs(own[i] - p[k + i]))
                size = max(size, fabs(own[i]))
                p[k + i] = own[i]
        if count == 1 or change <= SWEPT * size:
            return solved
        if last < INFINITY and not change < last:
            memcpy(p, kept, n * sizeof(double))
            follow(n, a, b, p, rates)
            helps = False
        last = INFINITY
        if helps and sweep % AT_ONCE == AT_ONCE - 1 and sweep < SWEEPS - 1:        # friction has the last word
            memcpy(kept, p, n * sizeof(double))
            last = change
            find_at_once(count, a, b, friction, load, NULL, p)
    return False


cdef void poisson(int count, const double* a, const double* u, const double* restitution, const double* friction,
                  double* p, double* work) noexcept nogil:
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i
    cdef double* load = work
    cdef double* more = work + n
    cdef double* rates = work + 2 * n
    cdef double* swept = work + 3 * n
    for i in range(n):
        load[i] = 0.0
    cones(count, a, u, friction, load, p, swept)
    for i in range(0, n, 3):
        load[i] = restitution[i // 3] * p[i]
    follow(n, a, u, p, rates)
    for i in range(0, n, 3):
        add_row(n, a + i * n, load[i], rates)
    cones(count, a, rates, friction, load, more, swept)
    for i in range(n):
        p[i] += load[i] + more[i]


cdef inline double total_rate(int count, const double* weight, const double* rates) noexcept nogil:
    cdef double sum = 0.0
    cdef int i
    for i in range(count):
        sum += weight[i] * rates[3 * i]
    return sum


cdef void rub_together(int count, const double* a, const double* friction, double* rates, double* step) noexcept nogil:
    """Friction of all under the normal impulses in step, from that in it, against the slip it ends with; rates follow."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, k
    cdef double x[2]
    cdef double change, size
    cdef int _
    for _ in range(SWEEPS):
        change = size = 0.0
        for k in range(0, n, 3):
            x[0] = step[k + 1]
            x[1] = step[k + 2]
            cone_step(a[(k + 1) * n + k + 1], a[(k + 2) * n + k + 2], a[(k + 1) * n + k + 2],
                      friction[k // 3] * step[k], rates[k + 1], rates[k + 2], x)
            for i in range(2):
                if x[i] != step[k + 1 + i]:
                    add_row(n, a + (k + 1 + i) * n, x[i] - step[k + 1 + i], rates)
            change = max(change, max(fabs(x[0] - step[k + 1]), fabs(x[1] - step[k + 2])))
            size = max(size, max(fabs(x[0]), fabs(x[1])))
            step[k + 1] = x[0]
            step[k + 2] = x[1]
        if change <= SWEPT * size:
            return


cdef inline double largest(Py_ssize_t n, const double* x) noexcept nogil:
    cdef double most = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        most = max(most, fabs(x[i]))
    return most


cdef bint close_again(int count, const double* pressed, const double* from_rates, const double* rates) noexcept nogil:
    cdef double most = largest(3 * count, from_rates)
    cdef int i
    for i in range(0, 3 * count, 3):
        if pressed[i // 3] > 0.0 and rates[i] < -CLOSES * most:
            return True
    return False


cdef void hold_part(int count, const double* a, const double* friction, const double* weight, const double* pressed,
                    double part, const double* from_rates, double* rates, double* step, double* work) noexcept nogil:
    """As try_part, from what it has found, where contacts that compression has pressed need more normal impulses than part
    weight. What it has not pressed and closes now has opened before: it is struck after this. Up to MOST_AT_ONCE contacts:
    of more, what closes is struck after this, too."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i
    cdef double* load = work
    cdef double* loaded = work + n
    cdef double size = largest(n, from_rates)
    cdef double change
    cdef int _
    for i in range(n):
        load[i] = part * weight[i // 3] if i % 3 == 0 else 0.0
    follow(n, a, from_rates, load, loaded)
    for _ in range(HOLDS):
        for i in range(0, n, 3):
            rates[i] = step[i]
            step[i] -= load[i]
        find_at_once(count, a, loaded, friction, load, pressed, step)
        change = 0.0
        for i in range(0, n, 3):
            step[i] += load[i]
            change = max(change, a[i * (n + 1)] * fabs(step[i] - rates[i]))
        follow(n, a, from_rates, step, rates)
        rub_together(count, a, friction, rates, step)
        if change <= CLOSES * size:
            return


cdef double try_part(int count, const double* a, const double* friction, const double* weight, const double* pressed,
                     double part, const double* from_rates, double* rates, double* step, double* work) noexcept nogil:
    """Normal impulses part weight and their friction, into step, which has a guess at the latter; rates after it.
    pressed: of each contact, its impulse of compression. work: room for 2 numbers a rate. -> what energy has changed by"""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i
    cdef double gained = 0.0
    for i in range(0, n, 3):
        step[i] = part * weight[i // 3]
    follow(n, a, from_rates, step, rates)
    rub_together(count, a, friction, rates, step)
    if count <= MOST_AT_ONCE and close_again(count, pressed, from_rates, rates):
        hold_part(count, a, friction, weight, pressed, part, from_rates, rates, step, work)
    for i in range(n):
        gained += 0.5 * step[i] * (from_rates[i] + rates[i])
    return gained


cdef void stronge_together(int count, const double* a, const double* u, const double* restitution,
                           const double* friction, double* p, double* work) noexcept nogil:
    """Compression is Poisson's; restitution by parts of e times its normal impulses, the last of which ends where the
    law, or the energy that compression took, says so."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, _
    cdef double* weight = work
    cdef double* rates = work + count
    cdef double* after = rates + n
    cdef double* step = after + n
    cdef double* pressed = step + n
    cdef double* room = pressed + count
    cdef Bracket b
    cdef double part, gained, middle, own, value
    cdef double energy = 0.0
    cdef double taken = 0.0
    cdef double back = 0.0
    cdef double returned = 0.0
    cdef double highest = 0.0
    cdef double most = largest(n, u)
    cdef bint ended
    for i in range(n):
        step[i] = 0.0
    cones(count, a, u, friction, step, p, after)
    follow(n, a, u, p, rates)
    for i in range(n):
        taken -= 0.5 * p[i] * (u[i] + rates[i])
    for i in range(count):
        pressed[i] = p[3 * i] if a[3 * i * (n + 1)] * p[3 * i] > CLOSES * most else 0.0
        weight[i] = restitution[i] * p[3 * i]
        own = restitution[i] * restitution[i]
        back -= 0.5 * own * p[3 * i] * (u[3 * i] + rates[3 * i])
        highest = max(highest, own)
    back = min(back, highest * taken)
    if not back > 0.0:
        return
    for i in range(n):
        step[i] = 0.0
    for _ in range(16 * PARTS):
        part = 1.0 / PARTS
        gained = try_part(count, a, friction, weight, pressed, part, rates, after, step, room)
        b.above = over(count, weight, rates, after, part, returned, energy + gained, back)
        ended = b.above >= 0.0
        if ended:
            b.low, b.high, b.side = 0.0, part, 0
            b.below = max(returned, energy) - back
            for _ in range(HALVINGS):
                if not -b.below > SETTLED * back:
                    break
                middle = next_trial(&b, 0.01)
                gained = try_part(count, a, friction, weight, pressed, middle, rates, after, step, room)
                value = over(count, weight, rates, after, middle, returned, energy + gained, back)
                narrow(&b, middle, value)
            part = b.low
            gained = try_part(count, a, friction, weight, pressed, part, rates, after, step, room)
        energy += gained
        returned += 0.5 * part * (total_rate(count, weight, rates) + total_rate(count, weight, after))
        for i in range(n):
            p[i] += step[i]
            rates[i] = after[i]
        if ended:
            return


cdef inline double over(int count, const double* weight, const double* rates, const double* after, double part,
                        double returned, double energy, double back) noexcept nogil:
    """By how much more than it may a restitution has given back after a part. energy: what it has given in all."""
    returned += 0.5 * part * (total_rate(count, weight, rates) + total_rate(count, weight, after))
    return max(returned, energy) - back


cdef void strike_together(int law, int count, const double* a, const double* u, const double* restitution,
                          const double* friction, double* p, double* work) noexcept nogil:
    """Newton's problem may have no solution with e > 0 and friction: then Poisson's takes its place."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i
    cdef Point c
    if law == LAW_STRONGE:
        if count == 1:
            c = point_of(a, 3, friction[0])
            stronge_point(&c, u, restitution[0], p)
        else:
            stronge_together(count, a, u, restitution, friction, p, work)
        return
    if law == LAW_NEWTON:
        for i in range(n):
            work[i] = u[i] * (1.0 + restitution[i // 3]) if i % 3 == 0 else u[i]
            work[n + i] = 0.0
        if cones(count, a, work, friction, work + n, p, work + 2 * n):
            return
    poisson(count, a, u, restitution, friction, p, work)

# ---- from Python -----------------------------------------------------------------------------------------------------


def strike(A, rates, restitution, friction, int law):
    """Impulses (3k,) of k contacts struck together. A (3k, 3k), rates (3k,), restitution and friction (k,)."""
    cdef int count = len(friction)
    a, u = np.ascontiguousarray(A, float), np.ascontiguousarray(rates, float)
    e, mu = np.ascontiguousarray(restitution, float), np.ascontiguousarray(friction, float)
    p, work = np.zeros(max(3 * count, 1)), np.zeros(max(18 * count, 1))
    if count:
        strike_together(law, count, doubles(a), doubles(u), doubles(e), doubles(mu), doubles(p), doubles(work))
    return p[:3 * count]
