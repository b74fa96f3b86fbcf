"""LDL' of a sparse symmetric matrix by dense fronts (`fronts.py` has the sources and the symbolic part), for joints in
loops.

A front is a group of columns with all rows that they reach. Its own columns are eliminated BLOCK at a time,

    U = L D,   F_ij <- F_ij - sum_k L_ik U_jk     for j <= i,

the innermost loop along j, where everything is contiguous: that is where the time goes. What is left of the other rows
waits on a stack for the parent. A pivot below SMALLEST_PIVOT of its scale is skipped, as in `_tree_blocks.pxd`.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers
from mcsim.core._dense cimport dot_many
from mcsim.solve._pivots cimport SMALLEST_PIVOT

cdef enum:
    BLOCK = 6                # columns that are eliminated at once (mc_rank6)

cdef extern from *:
    """
    /* f[j] -= sum over k of l[k] * u[k][j], for j < n; three and six columns. The sums are taken two by two, in one
       order. */
    static inline void mc_rank3(double* restrict f, const double* restrict u, ptrdiff_t step, const double* l,
                                ptrdiff_t n)
    {
        const double l0 = l[0], l1 = l[1], l2 = l[2];
        const double* restrict u1 = u + step;
        const double* restrict u2 = u + 2 * step;
        for (ptrdiff_t j = 0; j < n; j++) f[j] -= (l0 * u[j] + l1 * u1[j]) + l2 * u2[j];
    }
    static inline void mc_rank6(double* restrict f, double* restrict g, const double* restrict u, ptrdiff_t step,
                                const double* l, const double* m, ptrdiff_t n)
    {
        const double l0 = l[0], l1 = l[1], l2 = l[2], l3 = l[3], l4 = l[4], l5 = l[5];
        const double m0 = m[0], m1 = m[1], m2 = m[2], m3 = m[3], m4 = m[4], m5 = m[5];
        const double* restrict u1 = u + step;
        const double* restrict u2 = u + 2 * step;
        const double* restrict u3 = u + 3 * step;
        const double* restrict u4 = u + 4 * step;
        const double* restrict u5 = u + 5 * step;
        for (ptrdiff_t j = 0; j < n; j++) {
            const double a = u[j], b = u1[j], c = u2[j], d = u3[j], e = u4[j], h = u5[j];
            f[j] -= ((l0 * a + l1 * b) + (l2 * c + l3 * d)) + (l4 * e + l5 * h);
            g[j] -= ((m0 * a + m1 * b) + (m2 * c + m3 * d)) + (m4 * e + m5 * h);
        }
    }
    """
    void rank3 "mc_rank3"(double* f, const double* u, Py_ssize_t step, const double* l, Py_ssize_t n) noexcept nogil
    void rank6 "mc_rank6"(double* f, double* g, const double* u, Py_ssize_t step, const double* l, const double* m,
                          Py_ssize_t n) noexcept nogil


cdef class Fronts:
    """found: ordering.Plan of joints with loops."""

    def __init__(self, found):
        plan = found.fronts
        self.count = len(plan.begin)
        self.node_count = len(plan.node_front)
        self.panel_count = plan.panel_count
        n = max(plan.largest, 1)
        length = int(plan.width.sum())
        work = [np.zeros(max(k, 1)) for k in (plan.panel_count, length, length, plan.update_count, n * n, BLOCK * n, n)]
        filled = [np.append(a, 0).astype(a.dtype) for a in plan[:13]]
        given = [np.append(a, 0).astype(t) for a, t in ((found.diagonal, np.int64), (found.size, np.int32),
                                                        (found.entry_begin, np.int64), (found.entry_node, np.int32),
                                                        (found.entry_value, np.int64))]
        self.kept = (filled, work, given)
        self.begin, self.width, self.height = long_integers(filled[0]), integers(filled[1]), integers(filled[2])
        self.panel_begin, self.row_begin = long_integers(filled[3]), long_integers(filled[4])
        self.row, self.parent_row = long_integers(filled[5]), integers(filled[6])
        self.update_begin, self.child_begin = long_integers(filled[7]), long_integers(filled[8])
        self.child, self.entry_row = integers(filled[9]), integers(filled[10])
        self.node_front, self.node_column = integers(filled[11]), integers(filled[12])
        self.diagonal, self.size = long_integers(given[0]), integers(given[1])
        self.entry_begin, self.entry_node = long_integers(given[2]), integers(given[3])
        self.entry_value = long_integers(given[4])
        self.panel, self.inverse, self.scale = doubles(work[0]), doubles(work[1]), doubles(work[2])
        self.update, self.front = doubles(work[3]), doubles(work[4])
        self.upper, self.gathered = doubles(work[5]), doubles(work[6])

    cdef void assemble(self, Py_ssize_t s, Py_ssize_t first, Py_ssize_t last, const double* values) noexcept nogil:
        """The given blocks of the nodes [first, last) into an empty front."""
        cdef Py_ssize_t n = self.height[s]
        cdef Py_ssize_t k, c, r
        cdef int64_t e
        cdef int m, p, q
        cdef const double* block
        for r in range(n):
            memset(self.front + r * n, 0, (r + 2 if r + 1 < n else n) * sizeof(double))
        for k in range(first, last):
            m = self.size[k]
            c = self.node_column[k]
            block = values + self.diagonal[k]
            for p in range(m):
                for q in range(p + 1):
                    self.front[(c + p) * n + c + q] = block[p * m + q]
            for e in range(self.entry_begin[k], self.entry_begin[k + 1]):
                r = self.entry_row[e]
                block = values + self.entry_value[e]
                for p in range(self.size[self.entry_node[e]]):
                    for q in range(m):
                        self.front[(r + p) * n + c + q] = block[p * m + q]

    cdef void add_children(self, Py_ssize_t s) noexcept nogil:
        """What the children left. It is kept row by row, each up to its diagonal."""
        cdef Py_ssize_t n = self.height[s]
        cdef Py_ssize_t i, j, r
        cdef int64_t x
        cdef int32_t c
        cdef const int32_t* place
        cdef const double* left
        cdef double* row
        for x in range(self.child_begin[s], self.child_begin[s + 1]):
            c = self.child[x]
            r = self.height[c] - self.width[c]
            place = self.parent_row + self.row_begin[c]
            left = self.update + self.update_begin[c]
            for i in range(r):
                row = self.front + place[i] * n
                for j in range(i + 1):
                    row[place[j]] += left[j]
                left += i + 1

    cdef void eliminate(self, Py_ssize_t s) noexcept nogil:
        """The own columns of the front, BLOCK at a time; L into the panel, what is left onto the stack."""
        cdef Py_ssize_t n = self.height[s]
        cdef Py_ssize_t w = self.width[s]
        cdef Py_ssize_t c = 0
        cdef Py_ssize_t end, i, j, k, x, b
        cdef double pivot, f
        cdef double l[12]
        cdef double* u = self.upper
        cdef double* column
        cdef double* front = self.front
        cdef double* panel = self.panel + self.panel_begin[s]
        cdef const double* scale = self.scale + self.begin[s]
        cdef double* inverse = self.inverse + self.begin[s]
        while c < w:
            b = w - c if w - c < BLOCK else BLOCK
            end = c + b
            for k in range(b):                            # columns of the lower triangle, as rows
                for j in range(c + k, n):
                    u[k * n + j] = front[j * n + c + k]
            for k in range(b, 3 if b <= 3 else BLOCK):
                memset(u + k * n + end, 0, (n - end) * sizeof(double))
            for k in range(b):
                pivot = u[k * n + c + k]
                column = panel + (c + k) * n
                inverse[c + k] = 1.0 / pivot if fabs(pivot) > SMALLEST_PIVOT * scale[c + k] else 0.0
                f = inverse[c + k]
                for j in range(c + k + 1, n):
                    column[j] = f * u[k * n + j]
                for x in range(k + 1, b):
                    f = column[c + x]
                    for j in range(c + x, n):
                        u[x * n + j] -= f * u[k * n + j]
            i = end
            if b <= 3:
                l[1] = l[2] = 0.0
                while i < n:
                    for k in range(b):
                        l[k] = panel[(c + k) * n + i]
                    rank3(front + i * n + end, u + end, n, l, i + 1 - end)
                    i += 1
            else:
                for k in range(12):
                    l[k] = 0.0
                while i + 1 < n:
                    for k in range(b):
                        l[k] = panel[(c + k) * n + i]
                        l[6 + k] = panel[(c + k) * n + i + 1]
                    # the upper row gets one number beyond its diagonal, where nothing is read
                    rank6(front + i * n + end, front + (i + 1) * n + end, u + end, n, l, l + 6, i + 2 - end)
                    i += 2
                if i < n:
                    for k in range(b):
                        l[k] = panel[(c + k) * n + i]
                    rank3(front + i * n + end, u + end, n, l, i + 1 - end)
                    rank3(front + i * n + end, u + 3 * n + end, n, l + 3, i + 1 - end)
            c = end
        u = self.update + self.update_begin[s]
        for i in range(w, n):
            memcpy(u, front + i * n + w, (i + 1 - w) * sizeof(double))
            u += i + 1 - w

    cdef void factor(self, const double* values, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Of the matrix whose blocks are given, as the plan lays them out, in the nodes [begin, end), which others do
        not meet; `scale` has to be written before."""
        cdef Py_ssize_t s
        cdef Py_ssize_t first
        cdef Py_ssize_t last = begin
        for s in range(self.node_front[begin], self.node_front[end - 1] + 1):
            first = last
            while last < self.node_count and self.node_front[last] == s:
                last += 1
            self.assemble(s, first, last, values)
            self.add_children(s)
            self.eliminate(s)

    cdef void solve(self, double* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """x <- the solution for the right side x, of the nodes [begin, end), which others do not meet."""
        cdef Py_ssize_t first = self.node_front[begin] if begin < end else 0
        cdef Py_ssize_t last = self.node_front[end - 1] + 1 if begin < end else 0
        cdef Py_ssize_t s, n, w, r, j, k
        cdef double f
        cdef double* y = self.gathered
        cdef double* own
        cdef const double* column
        cdef const int64_t* row
        for s in range(first, last):
            n = self.height[s]
            w = self.width[s]
            own = x + self.begin[s]
            row = self.row + self.row_begin[s]
            memcpy(y, own, w * sizeof(double))
            memset(y + w, 0, (n - w) * sizeof(double))
            for k in range(w):
                f = y[k]
                column = self.panel + self.panel_begin[s] + k * n
                for j in range(k + 1, n):
                    y[j] -= f * column[j]
            memcpy(own, y, w * sizeof(double))
            for r in range(n - w):
                x[row[r]] += y[w + r]
        for s in range(last - 1, first - 1, -1):
            n = self.height[s]
            w = self.width[s]
            own = x + self.begin[s]
            row = self.row + self.row_begin[s]
            memcpy(y, own, w * sizeof(double))
            for r in range(n - w):
                y[w + r] = x[row[r]]
            for k in range(w - 1, -1, -1):
                column = self.panel + self.panel_begin[s] + k * n
                y[k] = y[k] * self.inverse[self.begin[s] + k] - dot_many(column + k + 1, y + k + 1, n - k - 1)
            memcpy(own, y, w * sizeof(double))


def solve_blocks(found, values, right):
    """x of S x = right by fronts, for looking at. found: ordering.Plan with loops; values: its blocks; right:
    (length,)."""
    cdef Fronts fronts = Fronts(found)
    cdef const double[::1] given = np.ascontiguousarray(values, float)
    x = np.array(right, float)
    cdef double[::1] vector = x
    cdef Py_ssize_t i
    for i in range(len(x)):
        fronts.scale[i] = 1.0
    fronts.factor(&given[0], 0, fronts.node_count)
    fronts.solve(&vector[0], 0, fronts.node_count)
    return x
