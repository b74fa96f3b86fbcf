"""Sparse LU by blocks, on the plan of `_cholesky.pyx`: for matrices whose pattern is symmetric, not the numbers.

    S_kk = E' L_kk U_kk,   L_ik = S_ik U_kk^-1,   U_ki = L_kk^-1 E S_ki,
    S_ij <- S_ij - L_ik U_kj    for all i, j > k in column k

Rows are exchanged (E) within a diagonal block alone: no more than that is needed where each node has mass of its own. A
pivot that vanishes is skipped, and counted. Blocks are not inverted: matrices of interior points have entries from 1 to
1e14, and an inverse would mix them.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.solve.problems._cholesky cimport Cholesky, away, gather, product

cdef extern from *:
    """
    /* a (m,) -= f b (m,) */
    static inline void mc_subtract(double* restrict a, const double* restrict b, double f, int m)
    {
        for (int i = 0; i < m; i++) a[i] -= f * b[i];
    }
    """
    void subtract "mc_subtract"(double* a, const double* b, double f, int m) noexcept nogil


cdef int invert(double* a, double* out, int n, double least) noexcept nogil:
    """out <- a^-1 (n, n), by Gauss and Jordan, rows exchanged for the largest pivot; a is spoilt. least: pivot,
    of the largest entry, that is not skipped. -> how many were"""
    cdef double largest = 0.0
    cdef double f
    cdef int p, i, j, best
    cdef int skipped = 0
    memset(out, 0, n * n * sizeof(double))
    for i in range(n):
        out[i * n + i] = 1.0
    for i in range(n * n):
        largest = max(largest, fabs(a[i]))
    for p in range(n):
        best = p
        for i in range(p + 1, n):           # column by column or row by row: the inverse of a' is that of a, turned
            if fabs(a[i * n + p]) > fabs(a[best * n + p]):
                best = i
        if not fabs(a[best * n + p]) > least * largest:
            skipped += 1
            a[p * n + p] = largest if largest > 0.0 else 1.0
            best = p
        if best != p:
            for j in range(n):
                a[p * n + j], a[best * n + j] = a[best * n + j], a[p * n + j]
                out[p * n + j], out[best * n + j] = out[best * n + j], out[p * n + j]
        f = 1.0 / a[p * n + p]
        for j in range(n):
            a[p * n + j] *= f
            out[p * n + j] *= f
        for i in range(n):
            f = a[i * n + p]
            if i != p and f != 0.0:
                for j in range(n):
                    a[i * n + j] -= f * a[p * n + j]
                    out[i * n + j] -= f * out[p * n + j]
    return skipped


cdef class Lu:
    """plan: the pattern, whose values are then used for L: nothing else may use them. least: pivot, of the largest entry of
    its block, that is not skipped."""

    def __init__(self, Cholesky plan, double least):
        upper, exchanged = np.zeros(plan.length), np.zeros(len(plan.kept[9]), np.int32)
        self.plan, self.least, self.kept = plan, least, (upper, exchanged)
        self.upper, self.exchanged = doubles(upper), integers(exchanged)

    cdef void clear(self) noexcept nogil:
        self.plan.clear()
        if self.plan.length > 0:
            memset(self.upper, 0, self.plan.length * sizeof(double))

    cdef void add_one(self) noexcept nogil:
        """1 on the diagonal."""
        cdef Py_ssize_t k
        cdef int n, i
        cdef double* to
        for k in range(self.plan.count):
            n = self.plan.size[k]
            to = self.plan.value + self.plan.diagonal[k]
            for i in range(n):
                to[i * n + i] += 1.0

    cdef void put(self, Py_ssize_t i, Py_ssize_t j, const double* block) noexcept nogil:
        """The block of two nodes, given row by row."""
        cdef bint upright = self.plan.upright(i, j)
        cdef int m = self.plan.size[self.plan.place[i]]
        cdef int n = self.plan.size[self.plan.place[j]]
        cdef double* to = self.plan.block(i, j)
        cdef int r, c
        if not upright:
            to = self.upper + (to - self.plan.value)
        for r in range(m):
            for c in range(n):
                to[c * m + r if upright else r * n + c] = block[r * n + c]

    cdef void pivot(self, Py_ssize_t k) noexcept nogil:
        """L_kk, of diagonal 1, and U_kk in place, column by column."""
        cdef int n = self.plan.size[k]
        cdef double* a = self.plan.value + self.plan.diagonal[k]
        cdef double* inverse = self.plan.inverse + self.plan.begin[k]
        cdef int32_t* exchanged = self.exchanged + self.plan.begin[k]
        cdef double largest = 0.0
        cdef double f
        cdef int p, i, j, best
        for i in range(n * n):
            largest = max(largest, fabs(a[i]))
        for p in range(n):
            best = p
            for i in range(p + 1, n):
                if fabs(a[p * n + i]) > fabs(a[p * n + best]):
                    best = i
            if not fabs(a[p * n + best]) > self.least * largest:
                self.skipped += 1
                a[p * n + p] = largest if largest > 0.0 else 1.0
                best = p
            exchanged[p] = best
            if best != p:
                for j in range(n):
                    f = a[j * n + p]
                    a[j * n + p] = a[j * n + best]
                    a[j * n + best] = f
            inverse[p] = 1.0 / a[p * n + p]
            for i in range(p + 1, n):
                a[p * n + i] *= inverse[p]
            for j in range(p + 1, n):
                f = a[j * n + p]
                for i in range(p + 1, n):
                    a[j * n + i] -= a[p * n + i] * f

    cdef void factor(self) noexcept nogil:
        """Of what was written into the plan's blocks and, of blocks above the diagonal, turned, into `upper`."""
        cdef Py_ssize_t k, e, f, g, target
        cdef int n, m
        cdef double* value = self.plan.value
        cdef const int64_t* below = self.plan.below
        cdef const int32_t* row = self.plan.row
        cdef const int32_t* size = self.plan.size
        self.skipped = 0
        for k in range(self.plan.count):
            n = size[k]
            self.pivot(k)
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                self.divide(k, value + below[e], self.upper + below[e], size[row[e]])
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                target = row[e]
                m = size[target]
                product(value + self.plan.diagonal[target], value + below[e], self.upper + below[e], m, m, n)
                g = self.plan.column[target]
                for f in range(e + 1, self.plan.column[k + 1]):
                    while row[g] < row[f]:
                        g += 1
                    product(value + below[g], value + below[f], self.upper + below[e], size[row[f]], m, n)
                    product(self.upper + below[g], self.upper + below[f], value + below[e], size[row[f]], m, n)

    cdef void divide(self, Py_ssize_t k, double* low, double* up, int m) noexcept nogil:
        """low (m, n) <- low U_kk^-1;  up (m, n) <- (L_kk^-1 E up')'; column by column"""
        cdef int n = self.plan.size[k]
        cdef const double* a = self.plan.value + self.plan.diagonal[k]
        cdef const double* inverse = self.plan.inverse + self.plan.begin[k]
        cdef const int32_t* exchanged = self.exchanged + self.plan.begin[k]
        cdef double f
        cdef int p, q, i
        for p in range(n):
            for q in range(p):
                subtract(low + p * m, low + q * m, a[p * n + q], m)
            for i in range(m):
                low[p * m + i] *= inverse[p]
        for p in range(n):
            if exchanged[p] != p:
                for i in range(m):
                    f = up[p * m + i]
                    up[p * m + i] = up[exchanged[p] * m + i]
                    up[exchanged[p] * m + i] = f
        for p in range(n):
            for q in range(p):
                subtract(up + p * m, up + q * m, a[q * n + p], m)

    cdef void solve(self, double* x) noexcept nogil:
        """x <- S^-1 x"""
        cdef Py_ssize_t k, e
        cdef int n, p, i
        cdef double f
        cdef double* y
        cdef const double* a
        cdef const int32_t* row = self.plan.row
        cdef const int32_t* exchanged
        for k in range(self.plan.count):
            n = self.plan.size[k]
            a = self.plan.value + self.plan.diagonal[k]
            exchanged = self.exchanged + self.plan.begin[k]
            y = x + self.plan.begin[k]
            for p in range(n):
                f = y[exchanged[p]]
                y[exchanged[p]] = y[p]
                y[p] = f
            for p in range(n):
                for i in range(p + 1, n):
                    y[i] -= a[p * n + i] * y[p]
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                away(x + self.plan.begin[row[e]], self.plan.value + self.plan.below[e], y, self.plan.size[row[e]], n)
        for k in range(self.plan.count - 1, -1, -1):
            n = self.plan.size[k]
            a = self.plan.value + self.plan.diagonal[k]
            y = x + self.plan.begin[k]
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                gather(y, self.upper + self.plan.below[e], x + self.plan.begin[row[e]], self.plan.size[row[e]], n)
            for p in range(n - 1, -1, -1):
                y[p] *= self.plan.inverse[self.plan.begin[k] + p]
                for i in range(p):
                    y[i] -= a[p * n + i] * y[p]


def solve_blocks(size, matrix, right, bint symmetric):
    """x of S x = right, for looking at: by the factors of Cholesky, or by these. size: (nodes,); matrix: dense, of which
    pairs of blocks that are zero are left out."""
    size, S, x = np.array(size, np.int32), np.array(matrix, float), np.array(right, float)
    nodes = [slice(end - n, end) for n, end in zip(size, np.cumsum(size))]
    pairs = [(i, j) for i in range(len(size)) for j in range(i) if S[nodes[i], nodes[j]].any()
             or S[nodes[j], nodes[i]].any()]
    cdef Cholesky plan = Cholesky(size, *np.array(pairs, np.int32).reshape(-1, 2).T.copy())
    cdef Lu factors = Lu(plan, 0.0)
    cdef double* to
    cdef double[::1] vector = x
    factors.clear()
    for i, j in [*pairs, *((j, i) for i, j in pairs), *((i, i) for i in range(len(size)))]:
        block, to = S[nodes[i], nodes[j]], plan.block(i, j)
        if not plan.upright(i, j):
            to, block = factors.upper + (to - plan.value), block.T      # what Cholesky does not look at
        for k, number in enumerate(block.ravel("F")):
            to[<Py_ssize_t>k] = number
    if len(x) == 0:
        return x
    if symmetric:
        plan.factor()
        plan.solve(&vector[0])
    else:
        factors.factor()
        factors.solve(&vector[0])
    return x
