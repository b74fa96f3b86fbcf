"""Sparse Cholesky factors by blocks, S = L L', everything compiled: for solvers that factor a new matrix at each
problem, where planning in Python would cost more than the numbers.

The order of elimination is that of minimum degree (W. Tinney and J. Walker, "Direct solutions of sparse network
equations by optimally ordered triangular factorization", 1967), the lowest node among equals, found on sets of nodes
kept as bits: eliminating a node joins its neighbours' sets. The numbers are taken column by column of blocks
(right-looking):

    L_kk L_kk' = S_kk,   L_ik = S_ik L_kk'^-1,   S_ij <- S_ij - L_ik L_jk'   for i >= j > k in the column.

One order of sums: the same matrix gives the same bits.
"""

from libc.math cimport sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers

cdef double SMALLEST_PIVOT = 1e-15      # of the diagonal that stood there

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define MC_ONES(x) __builtin_popcountll(x)
    #define MC_LOWEST(x) __builtin_ctzll(x)
    #else
    static int MC_ONES(uint64_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
    static int MC_LOWEST(uint64_t x) { int n = 0; for (; !(x & 1); x >>= 1) n++; return n; }
    #endif
    """
    ctypedef unsigned long long bits "uint64_t"
    int ones "MC_ONES"(bits x) noexcept nogil
    int lowest "MC_LOWEST"(bits x) noexcept nogil

# ---- the order -------------------------------------------------------------------------------------------------------

cdef void minimum_degree(Py_ssize_t n, Py_ssize_t words, bits* near, int32_t* degree, int32_t* order) noexcept nogil:
    """near: (n, words) neighbours of each node, without itself; of an eliminated one those that were left stay."""
    cdef Py_ssize_t step, i, k, w, v
    cdef bits rest
    cdef bits* mine
    cdef bits* front
    for i in range(n):
        degree[i] = 0
        for w in range(words):
            degree[i] += ones(near[i * words + w])
    for step in range(n):
        k = -1
        for i in range(n):
            if degree[i] >= 0 and (k < 0 or degree[i] < degree[k]):
                k = i
        order[step] = <int32_t>k
        degree[k] = -1
        front = near + k * words
        for w in range(words):
            rest = front[w]
            while rest:
                i = 64 * w + lowest(rest)
                rest &= rest - 1
                mine = near + i * words
                degree[i] = 0
                for v in range(words):
                    mine[v] |= front[v]
                mine[i >> 6] &= ~(<bits>1 << (i & 63))
                mine[k >> 6] &= ~(<bits>1 << (k & 63))
                for v in range(words):
                    degree[i] += ones(mine[v])


def plan(const int32_t[::1] first, const int32_t[::1] second, Py_ssize_t n):
    """Pairs of nodes that share a block -> (order, place, column, row): (n,), (n,), (n + 1,) and the places below the
    diagonal of each column, ascending."""
    cdef Py_ssize_t words = (n + 63) >> 6
    near_bits = np.zeros((n, words), np.uint64)
    found = np.zeros((5, n + 1), np.int32)
    cdef bits[:, ::1] near = near_bits
    cdef int32_t[:, ::1] work = found
    cdef int32_t* order = &work[0, 0]
    cdef int32_t* place = &work[1, 0]
    cdef int32_t* of_row = &work[3, 0]
    cdef Py_ssize_t e, i, j, k, w, total = 0
    cdef bits rest
    for e in range(first.shape[0]):
        i = first[e]
        j = second[e]
        if i != j:
            near[i, j >> 6] |= <bits>1 << (j & 63)
            near[j, i >> 6] |= <bits>1 << (i & 63)
    if n:
        with nogil:
            minimum_degree(n, words, &near[0, 0], &work[2, 0], order)
    columns = np.zeros(n + 1, np.int64)
    cdef int64_t[::1] column = columns
    for k in range(n):
        place[order[k]] = <int32_t>k
        for w in range(words):
            total += ones(near[order[k], w])
        column[k + 1] = total
    # row by row with ascending columns, then column by column: rows come out ascending
    rows, by_row, starts = np.empty(total, np.int32), np.empty(total, np.int32), np.zeros(n + 1, np.int64)
    cdef int32_t[::1] row = rows
    cdef int32_t[::1] reached = by_row
    cdef int64_t[::1] start = starts
    cdef int64_t[::1] at = columns.copy()
    for k in range(n):
        for w in range(words):
            rest = near[k, w]
            while rest:
                start[place[64 * w + lowest(rest)] + 1] += 1
                rest &= rest - 1
    for k in range(n):
        start[k + 1] += start[k]
    for k in range(n):
        of_row[k] = 0
    for k in range(n):
        for w in range(words):
            rest = near[order[k], w]
            while rest:
                i = place[64 * w + lowest(rest)]
                rest &= rest - 1
                reached[start[i] + of_row[i]] = <int32_t>k
                of_row[i] += 1
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            k = reached[e]
            row[at[k]] = <int32_t>i
            at[k] += 1
    return found[0, :n].copy(), found[1, :n].copy(), columns, rows

# ---- the factors -----------------------------------------------------------------------------------------------------


cdef class Cholesky:
    """size: (nodes,) int32, numbers of each node, which stand in a vector node by node; first, second: (pairs,) int32,
    nodes that share a block, in either order, any number of times."""

    def __init__(self, size, first, second):
        cdef Py_ssize_t n = len(size)
        order, place, column, row = plan(first, second, n)
        begins = np.zeros(n + 1, np.int64)
        np.cumsum(size, out=begins[1:])
        begin, sizes = begins[order], size[order]
        widths = sizes.astype(np.int64)
        own = widths * widths
        ends = np.cumsum(own)
        owner = np.repeat(widths, np.diff(column)) * widths[row]
        below = np.cumsum(owner) - owner + (ends[n - 1] if n else 0)
        self.count = n
        self.length = int(own.sum() + owner.sum())
        value, inverse = np.zeros(self.length), np.zeros(begins[n])
        diagonal = ends - own
        self.kept = order, place, sizes, begin, column, row, diagonal, below, value, inverse
        self.order, self.place, self.size = integers(order), integers(place), integers(sizes)
        self.begin, self.column, self.row = long_integers(begin), long_integers(column), integers(row)
        self.diagonal, self.below = long_integers(diagonal), long_integers(below)
        self.value, self.inverse = doubles(value), doubles(inverse)

    cdef void clear(self) noexcept nogil:
        if self.length > 0:
            memset(self.value, 0, self.length * sizeof(double))

    cdef bint upright(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Whether block(i, j) is kept with the rows of i, and not with those of j."""
        return self.place[i] >= self.place[j]

    cdef double* block(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Where the block of two nodes is kept, column by column: (size of i, size of j) if upright, else turned."""
        cdef Py_ssize_t column = self.place[j]
        cdef int32_t row = self.place[i]
        cdef Py_ssize_t low, high, middle
        if row < column:
            row, column = <int32_t>column, row
        if row == column:
            return self.value + self.diagonal[column]
        low, high = self.column[column], self.column[column + 1]
        while low < high:
            middle = (low + high) >> 1
            if self.row[middle] < row:
                low = middle + 1
            else:
                high = middle
        return self.value + self.below[low]

    cdef void pivot(self, Py_ssize_t k) noexcept nogil:
        """L_kk in place, lower, column by column. A pivot that is not positive is skipped: its column becomes zero."""
        cdef int n = self.size[k]
        cdef double* a = self.value + self.diagonal[k]
        cdef double* inverse = self.inverse + self.begin[k]
        cdef double f, scale
        cdef int p, q, i
        for p in range(n):
            scale = a[p * n + p]
            for q in range(p):
                f = a[q * n + p]
                for i in range(p, n):
                    a[p * n + i] -= f * a[q * n + i]
            if a[p * n + p] > SMALLEST_PIVOT * scale:
                a[p * n + p] = sqrt(a[p * n + p])
                inverse[p] = 1.0 / a[p * n + p]
            else:
                inverse[p] = 0.0
                self.skipped += 1
            for i in range(p + 1, n):
                a[p * n + i] *= inverse[p]

    cdef void factor(self) noexcept nogil:
        """Of the matrix that was written into the blocks, in its place."""
        cdef Py_ssize_t k, e, f, g, target, i
        cdef int n, m, p, q
        cdef const double* own
        cdef const double* inverse
        cdef double* panel
        cdef const double* other
        self.skipped = 0
        for k in range(self.count):
            n = self.size[k]
            self.pivot(k)
            own = self.value + self.diagonal[k]
            inverse = self.inverse + self.begin[k]
            for e in range(self.column[k], self.column[k + 1]):
                m = self.size[self.row[e]]
                panel = self.value + self.below[e]
                for p in range(n):
                    if p:
                        for q in range(p):
                            for i in range(m):
                                panel[p * m + i] -= own[q * n + p] * panel[q * m + i]
                    for i in range(m):
                        panel[p * m + i] *= inverse[p]
            for e in range(self.column[k], self.column[k + 1]):
                target = self.row[e]
                m = self.size[target]
                other = self.value + self.below[e]
                product(self.value + self.diagonal[target], other, other, m, m, n)
                g = self.column[target]
                for f in range(e + 1, self.column[k + 1]):
                    while self.row[g] < self.row[f]:
                        g += 1
                    product(self.value + self.below[g], self.value + self.below[f], other, self.size[self.row[f]], m, n)

    cdef void solve(self, double* x) noexcept nogil:
        """x <- S^-1 x"""
        cdef Py_ssize_t k, e
        cdef int n, p, i
        cdef const double* own
        cdef const double* inverse
        cdef double* y
        for k in range(self.count):
            n = self.size[k]
            own = self.value + self.diagonal[k]
            inverse = self.inverse + self.begin[k]
            y = x + self.begin[k]
            for p in range(n):
                y[p] *= inverse[p]
                for i in range(p + 1, n):
                    y[i] -= own[p * n + i] * y[p]
            for e in range(self.column[k], self.column[k + 1]):
                away(x + self.begin[self.row[e]], self.value + self.below[e], y, self.size[self.row[e]], n)
        for k in range(self.count - 1, -1, -1):
            n = self.size[k]
            own = self.value + self.diagonal[k]
            inverse = self.inverse + self.begin[k]
            y = x + self.begin[k]
            for e in range(self.column[k], self.column[k + 1]):
                gather(y, self.value + self.below[e], x + self.begin[self.row[e]], self.size[self.row[e]], n)
            for p in range(n - 1, -1, -1):
                for i in range(p + 1, n):
                    y[p] -= own[p * n + i] * y[i]
                y[p] *= inverse[p]


cdef class SparseFactor:
    """Of a symmetric positive definite scipy.sparse CSR matrix (n, n), canonical. node (n,) int32: that of each row,
    ascending; size (nodes,) int32: how many rows each has."""

    cdef Cholesky factors
    cdef Py_ssize_t rows

    def __init__(self, matrix, node, size):
        begin, column, value = (np.ascontiguousarray(part, kind) for part, kind in (
            (matrix.indptr, np.int64), (matrix.indices, np.int32), (matrix.data, float)))
        self.rows = len(begin) - 1
        of = np.repeat(node, np.diff(begin))
        to = node[column]
        pairs = np.unique(of[of > to].astype(np.int64) * len(size) + to[of > to])
        self.factors = Cholesky(size, *(part.astype(np.int32) for part in np.divmod(pairs, max(len(size), 1))))
        within = (np.arange(self.rows) - (np.cumsum(size) - size)[node]).astype(np.int32)
        self.fill(begin, column, value, node, within, size)
        self.factors.factor()

    cdef void fill(self, const int64_t[::1] begin, const int32_t[::1] column, const double[::1] value,
                   const int32_t[::1] node,
                   const int32_t[::1] within, const int32_t[::1] size) noexcept:
        cdef Py_ssize_t i, e
        cdef int32_t j
        self.factors.clear()
        for i in range(self.rows):
            for e in range(begin[i], begin[i + 1]):
                j = column[e]
                if self.factors.upright(node[i], node[j]):
                    self.factors.block(node[i], node[j])[within[j] * size[node[i]] + within[i]] = value[e]

    def solve(self, right):
        """matrix^-1 right, (n,) or (n, m)."""
        columns = np.array(right, float).reshape(self.rows, -1).T.copy()
        cdef double[:, ::1] x = columns
        cdef Py_ssize_t k
        for k in range(x.shape[0] if self.rows else 0):
            self.factors.solve(&x[k, 0])
        return columns.T.reshape(np.shape(right))
