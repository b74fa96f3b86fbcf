"""The points of one contact at once: a small linear complementarity problem, solved exactly.

With A = J M^-1 J' + compliance of the normal rows of one manifold and u their J v + bias + compliance x, new impulses
x + d with

    x + d >= 0,    u + A d >= 0,    (x + d) . (u + A d) = 0

One point after the other (Gauss-Seidel) leaves a tilt that depends on which of them comes first: a tower that stood
straight leaned over towards its first corners. The method of active sets has no first one (J. Nocedal, S. J. Wright,
Numerical Optimization, 2006, 16.5): on the face of those that push a Newton step, as far as all of them go on
pushing; what then pulls leaves the face, what would go through enters it. In each solve A is raised along what it
cannot determine (P), which leaves its solution as it is, solve by solve (wide/_faces.pxi):

    A + P,    P = (D / TAMED) e e' / (e . e) + diag(A) / RAISED,    e: the impulses of four points that no body feels
"""

from libc.math cimport fabs

from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport BLOCK_BOUNDED, ROW_NORMAL, Row
from mcsim.state._rows cimport RAISED, TAMED, find_unfelt

cdef enum:
    KEPT = 4                     # numbers a row that rows of points keep: couplings with those after it, and its part of e
    OF_TAMING = 12               # the last row's first, (D / TAMED) / (e . e)
    MOST_FACES = 12              # tried one after the other; four points have at most eleven of two and more, each met once
    SLIGHT_RATE = 1 << 30        # what goes through slower than such a part of the fastest at the begin does not count


cdef inline int points_of(const Row* rows, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """How many rows from i on, before `end`, are the normals of one manifold that push and do not pull; 0: none."""
    cdef int n = 0
    while i + n < end and n < MANIFOLD_POINTS and rows[i + n].kind == ROW_NORMAL and (
            rows[i + n].source == rows[i].source and rows[i + n].block_kind == BLOCK_BOUNDED):
        n += 1
    return n


cdef inline int block_size(const Row* rows, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """How many rows from i on are solved together, where points are."""
    return max(points_of(rows, i, end), rows[i].block)


cdef inline double face_step(int count, const double (*a)[MANIFOLD_POINTS], const double* u, const double* x,
                             const bint* on, double* d) noexcept nogil:
    """A d = -u on the face `on`, by L D L'. -> t <= 1, the largest that leaves x + t d >= 0"""
    cdef double L[MANIFOLD_POINTS][MANIFOLD_POINTS]
    cdef double inv[MANIFOLD_POINTS]
    cdef double t = 1.0
    cdef double pivot
    cdef int i, j, k
    for j in range(count):
        d[j] = inv[j] = 0.0
        if not on[j]:
            continue
        d[j] = -u[j]
        pivot = a[j][j]
        for k in range(j):
            pivot -= L[j][k] * L[j][k] * inv[k]
        inv[j] = 1.0 / pivot if pivot > 0.0 else 0.0
        for i in range(j + 1, count):
            L[i][j] = a[i][j] if on[i] else 0.0
            for k in range(j):
                L[i][j] -= L[i][k] * L[j][k] * inv[k] if on[k] and on[i] else 0.0
    for i in range(count):
        for k in range(i if on[i] else 0):
            if on[k]:
                d[i] -= L[i][k] * inv[k] * d[k]
    for i in range(count - 1, -1, -1):
        if not on[i]:
            continue
        for k in range(i + 1, count):
            if on[k]:
                d[i] -= L[k][i] * d[k]
        d[i] *= inv[i]
        if d[i] < -x[i]:
            t = min(t, x[i] / -d[i])
    return t


cdef inline void keep_unfelt(const Row* rows, double* kept) noexcept nogil:
    """Of four rows: each its own part of e. kept: (4, KEPT)"""
    cdef double e[MANIFOLD_POINTS]
    cdef double square = 0.0
    cdef double sum = 0.0
    cdef int i
    find_unfelt(rows, e)
    for i in range(MANIFOLD_POINTS):
        square += e[i] * e[i]
        sum += rows[i].diagonal
        kept[KEPT * i + KEPT - 1] = e[i]
    kept[OF_TAMING] = sum / (4.0 * TAMED * square) if square > 0.0 else 0.0


cdef inline void points_step(int count, const double (*a)[MANIFOLD_POINTS], const double* kept, double* u,
                             const double* impulse, double* change) noexcept nogil:
    """a: J M^-1 J' + compliance (count, count); kept: (count, KEPT), of e where there are four; u: J v + bias + compliance
    x, in and out; a point whose diagonal is 0 does nothing and keeps its impulse. change: that of the impulses."""
    cdef double raised[MANIFOLD_POINTS][MANIFOLD_POINTS]
    cdef double x[MANIFOLD_POINTS]
    cdef double d[MANIFOLD_POINTS]
    cdef double w[MANIFOLD_POINTS]       # u, and what is raised
    cdef bint on[MANIFOLD_POINTS]
    cdef double slight = 0.0
    cdef double t
    cdef int i, j, _
    cdef bint found = False
    for i in range(count):
        x[i], w[i] = impulse[i], u[i]
        on[i] = a[i][i] > 0.0 and (x[i] > 0.0 or u[i] < 0.0)
        found = found or on[i]
        slight = max(slight, fabs(u[i]))
        for j in range(count):
            raised[i][j] = a[i][j]
            if count == MANIFOLD_POINTS:
                raised[i][j] += kept[OF_TAMING] * kept[KEPT * i + KEPT - 1] * kept[KEPT * j + KEPT - 1]
        if count > 1:
            raised[i][i] += a[i][i] / RAISED
    slight /= SLIGHT_RATE
    for _ in range(MOST_FACES if found else 0):
        t = face_step(count, raised, w, x, on, d)
        found = False
        for i in range(count):
            if not on[i]:
                continue
            if t < 1.0 and d[i] < 0.0 and x[i] + t * d[i] <= x[i] / RAISED:
                d[i] = -x[i]
                on[i], found = False, True
            else:
                d[i] *= t
            x[i] += d[i]
            for j in range(count):
                w[j] += raised[j][i] * d[i]
        for i in range(count if not found else 0):
            if not on[i] and a[i][i] > 0.0 and w[i] < -slight:
                on[i], found = True, True
        if not found:
            break
    for i in range(count):
        change[i] = x[i] - impulse[i]
    for i in range(count):
        for j in range(count):
            u[i] += a[i][j] * change[j]
