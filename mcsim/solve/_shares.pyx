"""How contacts share impulses that the velocities alone do not determine: what solve/_small_lcp.pxd does for one manifold,
for the points of many.

    p >= 0,   q + a p >= 0,   p . (q + a p) = 0,      a (n, n) symmetric, semidefinite

by proximal point iterations (R. T. Rockafellar, "Monotone operators and the proximal point algorithm", 1976) around
Dantzig's pivoting: the matrix a + eps D, D its diagonal, is definite, and from p = 0 the first step is nearly the
solution with the least D^(1/2) p, in which equal points have equal impulses.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from mcsim.solve.problems._dantzig cimport Boxed, NOTHING, give_room, take_rows

cdef enum:
    PIVOTS = 20              # a row
    REFINEMENTS = 20         # proximal steps; 2 or 3 do unless two points nearly coincide

cdef double EASED = 1e-7     # eps: the part by which the diagonal is raised
cdef double SETTLED = 1e-15  # what eps D changes of the rates, in parts of these: the last step
cdef double AGREES = 1e-12   # what a row may be off and agree with others, in parts of |b| + |A||x|


cdef void share(int n, double* a, const double* q, double* p, double* numbers, int32_t* whole) noexcept nogil:
    """Write p. a: its diagonal is raised meanwhile. numbers: room for n (n + SHARE_DOUBLES), whole: n SHARE_INTEGERS."""
    cdef double* right = numbers + ROW_DOUBLES * n
    cdef double* lower = right + n
    cdef double* upper = lower + n
    cdef double* factor = upper + n
    cdef int32_t* order = whole + ROW_INTEGERS * n
    cdef double size = 0.0
    cdef double change
    cdef Boxed boxed
    cdef int i, _
    for i in range(n):
        order[i] = i
        p[i] = lower[i] = 0.0
        upper[i] = INFINITY
        size = max(size, fabs(q[i]))
        a[i * n + i] *= 1.0 + EASED
    for _ in range(REFINEMENTS):
        for i in range(n):
            right[i] = q[i] - EASED / (1.0 + EASED) * a[i * n + i] * p[i]
        give_room(&boxed, n, numbers, factor, whole)
        for i in range(n):
            boxed.x[i] = 0.0
        boxed.a, boxed.b, boxed.lower, boxed.upper = a, right, lower, upper
        boxed.most, boxed.accuracy, boxed.quiet, boxed.nothing = PIVOTS * n, AGREES, 0.0, NOTHING
        take_rows(&boxed, order)
        change = 0.0
        for i in range(n):
            change = max(change, EASED * a[i * n + i] * fabs(boxed.x[i] - p[i]))
            p[i] = max(boxed.x[i], 0.0)
        if change <= SETTLED * size:
            break
    for i in range(n):
        a[i * n + i] /= 1.0 + EASED
