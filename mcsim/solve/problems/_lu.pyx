"""Sparse LU by blocks, on the plan of `_cholesky.pyx`: for Newton matrices, whose pattern is symmetric, not the
numbers.

    L_ik = S_ik S_kk^-1,   U_ki = S_ki,   S_ij <- S_ij - L_ik U_kj    for all i, j > k in column k

Rows are exchanged within a diagonal block alone: no more than that is needed where each node has mass of its own. A
pivot that vanishes is skipped, and counted.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve.problems._cholesky cimport Cholesky, away, gather, product

cdef double SMALLEST_PIVOT = 1e-14      # of the largest entry of its block


cdef int invert(double* a, double* out, int n) noexcept nogil:
    """out <- a^-1 (n, n), by Gauss and Jordan, rows exchanged for the largest pivot; a is spoilt. -> pivots skipped"""
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
        if not fabs(a[best * n + p]) > SMALLEST_PIVOT * largest:
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
    """plan: the pattern, whose values are then used for L: nothing else may use them."""

    def __init__(self, Cholesky plan):
        widest = int(np.max(plan.kept[2], initial=1))
        upper, work = np.zeros(plan.length), np.zeros((2, widest * widest))
        self.plan, self.kept = plan, (upper, work)
        self.upper, self.work, self.panel = doubles(upper), doubles(work[0]), doubles(work[1])

    cdef void clear(self) noexcept nogil:
        self.plan.clear()
        if self.plan.length > 0:
            memset(self.upper, 0, self.plan.length * sizeof(double))

    cdef void factor(self) noexcept nogil:
        """Of what was written into the plan's blocks and, of blocks above the diagonal, turned, into `upper`."""
        cdef Py_ssize_t k, e, f, g, target
        cdef int n, m
        cdef double* own
        cdef double* value = self.plan.value
        cdef const int64_t* below = self.plan.below
        cdef const int32_t* row = self.plan.row
        cdef const int32_t* size = self.plan.size
        self.skipped = 0
        for k in range(self.plan.count):
            n = size[k]
            own = value + self.plan.diagonal[k]
            memcpy(self.work, own, n * n * sizeof(double))
            self.skipped += invert(self.work, own, n)
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                self.times_inverse(value + below[e], own, size[row[e]], n)
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

    cdef void times_inverse(self, double* panel, const double* inverse, int m, int n) noexcept nogil:
        """panel (m, n) <- panel inverse"""
        cdef int i, j, p
        memcpy(self.panel, panel, m * n * sizeof(double))
        for j in range(n):
            for i in range(m):
                panel[j * m + i] = 0.0
            for p in range(n):
                for i in range(m):
                    panel[j * m + i] += self.panel[p * m + i] * inverse[j * n + p]

    cdef void solve(self, double* x) noexcept nogil:
        """x <- S^-1 x"""
        cdef Py_ssize_t k, e
        cdef int n, i, j
        cdef double* y
        cdef const double* own
        cdef const int32_t* row = self.plan.row
        for k in range(self.plan.count):
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                away(x + self.plan.begin[row[e]], self.plan.value + self.plan.below[e], x + self.plan.begin[k],
                     self.plan.size[row[e]], self.plan.size[k])
        for k in range(self.plan.count - 1, -1, -1):
            n = self.plan.size[k]
            y = x + self.plan.begin[k]
            for e in range(self.plan.column[k], self.plan.column[k + 1]):
                gather(y, self.upper + self.plan.below[e], x + self.plan.begin[row[e]], self.plan.size[row[e]], n)
            own = self.plan.value + self.plan.diagonal[k]
            memcpy(self.work, y, n * sizeof(double))
            for i in range(n):
                y[i] = 0.0
            for j in range(n):
                for i in range(n):
                    y[i] += own[j * n + i] * self.work[j]


def solve_blocks(size, matrix, right, bint symmetric):
    """x of S x = right, for looking at: by the factors of Cholesky, or by these. size: (nodes,); matrix: dense, of which
    pairs of blocks that are zero are left out."""
    size, S, x = np.array(size, np.int32), np.array(matrix, float), np.array(right, float)
    nodes = [slice(end - n, end) for n, end in zip(size, np.cumsum(size))]
    pairs = [(i, j) for i in range(len(size)) for j in range(i) if S[nodes[i], nodes[j]].any() or S[nodes[j], nodes[i]].any()]
    cdef Cholesky plan = Cholesky(size, *np.array(pairs, np.int32).reshape(-1, 2).T.copy())
    cdef Lu factors = Lu(plan)
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
