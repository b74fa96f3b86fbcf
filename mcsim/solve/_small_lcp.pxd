"""Problems of complementarity with up to four numbers: what the points of one manifold answer to a blow."""

from libc.math cimport fabs

cdef enum:
    PIVOTS = 64              # 16 sets of 4 points exist
    REFINEMENTS = 20         # proximal steps; 2 or 3 do unless two points nearly coincide


cdef inline void solve_active(const double* a, const double* rhs, int n, int active, double* p) noexcept nogil:
    """p = -(a_SS)^-1 rhs_S on the active set S (bits), 0 elsewhere; a (4, 4) positive definite. Cholesky as L D L'."""
    cdef double l[4][4]
    cdef double s
    cdef int i, j, k
    for i in range(n):
        p[i] = 0.0
        if not active >> i & 1:
            continue
        p[i] = -rhs[i]
        for j in range(i + 1):
            if not active >> j & 1:
                continue
            s = a[4 * i + j]
            for k in range(j):
                if active >> k & 1:
                    s -= l[i][k] * l[k][k] * l[j][k]
            if i == j:
                l[i][i] = s
            else:
                l[i][j] = s / l[j][j]
                p[i] -= l[i][j] * p[j]
    for i in range(n - 1, -1, -1):
        if not active >> i & 1:
            continue
        p[i] /= l[i][i]
        for k in range(i + 1, n):
            if active >> k & 1:
                p[i] -= l[k][i] * p[k]


cdef inline void solve_lcp(const double* a, const double* q, int n, double* p) noexcept nogil:
    """p >= 0,  a p + q >= 0,  p . (a p + q) = 0  for a positive definite (4, 4) matrix of n rows.

    Murty's principal pivoting with the least index ("Note on a Bard-type scheme for solving the complementarity
    problem", 1974): flip the first row that breaks its sign. It ends for every P-matrix, whatever the start.
    """
    cdef int active = (1 << n) - 1
    cdef int i, j, _, wrong
    cdef double w, tolerance = 0.0
    for i in range(n):
        if fabs(q[i]) > tolerance:
            tolerance = fabs(q[i])
    tolerance *= 1e-15
    for _ in range(PIVOTS):
        solve_active(a, q, n, active, p)
        wrong = -1
        for i in range(n):
            if active >> i & 1:
                if p[i] < 0.0:
                    wrong = i
                    break
            else:
                w = q[i]
                for j in range(n):
                    w += a[4 * i + j] * p[j]
                if w < -tolerance:
                    wrong = i
                    break
        if wrong < 0:
            return
        active ^= 1 << wrong
    for i in range(n):
        p[i] = p[i] if p[i] > 0.0 else 0.0


cdef inline void compress(const double* a, const double* q, int n, double* p) noexcept nogil:
    """The same for a semidefinite a: four points under a flat box have rank 3.

    Proximal point iteration (Rockafellar, "Monotone operators and the proximal point algorithm", 1976): solve with
    a + eps 1 around the last p. From p = 0 the first step is nearly the solution of smallest norm, so equal points get
    equal impulses; the next ones take what eps left out of the velocities.
    """
    cdef double shifted[16]
    cdef double right[4]
    cdef double last[4]
    cdef double eps = 0.0
    cdef double size = 0.0
    cdef double off
    cdef int i, j, _
    if n == 1:
        p[0] = -q[0] / a[0] if q[0] < 0.0 else 0.0
        return
    for i in range(n):
        eps += 1e-7 * a[5 * i] / n
        size = fabs(q[i]) if fabs(q[i]) > size else size
        p[i] = 0.0
    for i in range(n):
        for j in range(n):
            shifted[4 * i + j] = a[4 * i + j]
        shifted[5 * i] += eps
    for _ in range(REFINEMENTS):
        for i in range(n):
            last[i] = p[i]
            right[i] = q[i] - eps * p[i]
        solve_lcp(shifted, right, n, p)
        off = 0.0
        for i in range(n):
            off = fabs(p[i] - last[i]) if fabs(p[i] - last[i]) > off else off
        if eps * off <= 1e-15 * size:
            return
