"""Solves with A + R + D, D a diagonal that the caller chooses: the linear part of proximal methods.

Rows are scaled block by block, lambda = e x, u = w / e with e = 1 / sqrt(largest diagonal entry of the block): the
cones stay, and masses from grams to tons and rows in metres and radians become numbers of one size.

Of a factored problem, M^-1 = W W' node by node (a node: the numbers of a body, or of a tree), B = e J W, so A = B B'
and

    (B B' + D)^-1 = D^-1 - D^-1 B (1 + B' D^-1 B)^-1 B' D^-1           (Woodbury)

1 + B' D^-1 B couples the nodes that a row couples, no others: its size is that of the bodies, however many contacts
there are; its eigenvalues are at least 1. Of an A that is given whole, A + R + D itself is factored, a node for each
block.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers

cdef enum:
    BODY = 6                            # numbers up to which columns are joined

cdef double HELD = 1e60                 # the diagonal of a row that is held, of an A given whole
cdef double SMALLEST_PIVOT = 1e-14      # of the diagonal of M^-1 that stood there

cdef extern from *:
    """
    /* to (m, n), column by column, += a' b of the rows of a block: a (s, m), b (s, n) row by row, f (s,) between. */
    static inline void mc_square(double* restrict to, const double* restrict a, const double* restrict b,
                                 const double* restrict f, int s, int m, int n)
    {
        for (int r = 0; r < s; r++) for (int j = 0; j < n; j++) {
            const double g = f[r] * b[r * n + j];
            for (int i = 0; i < m; i++) to[j * m + i] += a[r * m + i] * g;
        }
    }
    static void mc_add_square(double* restrict to, const double* restrict a, const double* restrict b,
                              const double* restrict f, int s, int m, int n)
    {
        if (s == 3 && m == 6 && n == 6)
            for (int j = 0; j < 6; j++) {
                const double g = f[0] * b[j], h = f[1] * b[6 + j], k = f[2] * b[12 + j];
                for (int i = 0; i < 6; i++) to[j * 6 + i] += (a[i] * g + a[6 + i] * h) + a[12 + i] * k;
            }
        else mc_square(to, a, b, f, s, m, n);
    }
    /* u (s,) += a v, a (s, m) row by row */
    static inline void mc_read(double* restrict u, const double* restrict a, const double* restrict v, int s, int m)
    {
        for (int r = 0; r < s; r++) {
            double sum = 0.0;
            for (int i = 0; i < m; i++) sum += a[r * m + i] * v[i];
            u[r] += sum;
        }
    }
    static inline void mc_block_read(double* restrict u, const double* restrict a, const double* restrict v, int s,
                                     int m)
    {
        if (s == 3 && m == 6) mc_read(u, a, v, 3, 6);
        else mc_read(u, a, v, s, m);
    }
    /* v (m,) += a' x */
    static inline void mc_write(double* restrict v, const double* restrict a, const double* restrict x, int s, int m)
    {
        for (int r = 0; r < s; r++) for (int i = 0; i < m; i++) v[i] += a[r * m + i] * x[r];
    }
    static inline void mc_block_write(double* restrict v, const double* restrict a, const double* restrict x, int s,
                                      int m)
    {
        if (s == 3 && m == 6) mc_write(v, a, x, 3, 6);
        else mc_write(v, a, x, s, m);
    }
    """
    void add_square "mc_add_square"(double* to, const double* a, const double* b, const double* f, int s, int m,
                                    int n) noexcept nogil
    void read "mc_block_read"(double* u, const double* a, const double* v, int s, int m) noexcept nogil
    void write "mc_block_write"(double* v, const double* a, const double* x, int s, int m) noexcept nogil

# ---- nodes -----------------------------------------------------------------------------------------------------------

cdef int32_t root_of(int32_t[::1] root, int32_t i) noexcept:
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


def join_columns(const int64_t[::1] begin, const int32_t[::1] column, const double[::1] value,
                 const int64_t[::1] block_begin, const int32_t[::1] block_column):
    """Columns of J that M^-1 couples, joined, and with them neighbours that mostly meet the same blocks, up to BODY
    numbers. M^-1: CSR. -> node (m,), -1 of a column that no block meets or that nothing moves; local (m,) place in it;
    begin (nodes + 1,)"""
    cdef Py_ssize_t m = begin.shape[0] - 1
    cdef Py_ssize_t i, k, last, nodes = 0
    cdef int32_t a, b
    work = np.zeros((6, m + 1), np.int32)
    cdef int32_t[::1] root = work[0]
    cdef int32_t[::1] meets = work[1]           # blocks that meet the part of a root
    cdef int32_t[::1] before = work[2]          # blocks that meet it and the part before it
    cdef int32_t[::1] mark = work[3]            # the last block that met it, + 1
    cdef int32_t[::1] previous = work[4]        # the part before it; -1: none
    cdef int32_t[::1] count = work[5]
    for i in range(m):
        root[i] = <int32_t>i
    for i in range(m):
        for k in range(begin[i], begin[i + 1]):
            if value[k] != 0.0:
                a, b = root_of(root, <int32_t>i), root_of(root, column[k])
                root[max(a, b)] = min(a, b)
    moved = np.zeros(m + 1, np.uint8)
    cdef unsigned char[::1] moves = moved
    for i in range(m):
        for k in range(begin[i], begin[i + 1]):
            if column[k] == i and value[k] > 0.0:
                moves[i] = 1
    for i in range(m):
        root[i] = root_of(root, <int32_t>i)
        count[root[i]] += 1
    last = -1
    for i in range(m):
        if root[i] == i:
            previous[i] = <int32_t>last
            last = i
    for i in range(block_begin.shape[0] - 1):
        for k in range(block_begin[i], block_begin[i + 1]):
            a = root[block_column[k]]
            if mark[a] != i + 1:
                mark[a] = <int32_t>(i + 1)
                meets[a] += 1
        for k in range(block_begin[i], block_begin[i + 1]):
            a = root[block_column[k]]
            if mark[a] == i + 1 and previous[a] >= 0 and mark[previous[a]] == i + 1:
                before[a] += 1
                previous[a] = -2 - previous[a]          # once a block
        for k in range(block_begin[i], block_begin[i + 1]):
            a = root[block_column[k]]
            if previous[a] < -1:
                previous[a] = -2 - previous[a]
    found, places, sizes = np.full(m, -1, np.int32), np.zeros(m, np.int32), np.zeros(m + 1, np.int64)
    cdef int32_t[::1] node = found
    cdef int32_t[::1] local = places
    cdef int64_t[::1] size = sizes
    for i in range(m):
        a = root[i]
        if meets[a] == 0 or not moves[i]:
            continue
        if a == i or node[a] < 0:
            b = previous[a]
            if a == i and nodes and b >= 0 and node[b] == nodes - 1 and size[nodes] + count[a] <= BODY \
                    and 2 * before[a] >= max(meets[a], meets[b]):
                node[i] = <int32_t>(nodes - 1)
            else:
                node[i] = <int32_t>nodes
                nodes += 1
            node[a] = node[i]
        else:
            node[i] = node[a]
        local[i] = <int32_t>size[node[i] + 1]
        size[node[i] + 1] += 1
    return found, places, np.cumsum(sizes[:nodes + 1])


def halves(const int64_t[::1] begin, const int32_t[::1] column, const double[::1] value, const int32_t[::1] node,
           const int32_t[::1] local, const int64_t[::1] node_begin):
    """W of M^-1 = W W', lower, node by node -> (at (nodes + 1,), values, row by row). Pivots that vanish give zeros."""
    cdef Py_ssize_t nodes = node_begin.shape[0] - 1
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.diff(node_begin) * np.diff(node_begin), out=starts[1:])
    cdef int64_t[::1] at = starts
    found = np.zeros(starts[nodes])
    cdef double[::1] values = found
    cdef Py_ssize_t i, j, k, p, n
    cdef double* w
    cdef double scale
    if not found.size:
        return starts, found
    for i in range(node.shape[0]):
        if node[i] >= 0:
            n = node_begin[node[i] + 1] - node_begin[node[i]]
            for k in range(begin[i], begin[i + 1]):
                if node[column[k]] == node[i] and local[column[k]] <= local[i]:
                    values[at[node[i]] + local[i] * n + local[column[k]]] += value[k]
    for k in range(nodes):
        n = node_begin[k + 1] - node_begin[k]
        w = &values[at[k]]
        for p in range(n):
            scale = w[p * n + p]
            for j in range(p):
                w[p * n + p] -= w[p * n + j] * w[p * n + j]
            w[p * n + p] = sqrt(w[p * n + p]) if w[p * n + p] > SMALLEST_PIVOT * scale else 0.0
            for i in range(p + 1, n):
                for j in range(p):
                    w[i * n + p] -= w[i * n + j] * w[p * n + j]
                w[i * n + p] = w[i * n + p] / w[p * n + p] if w[p * n + p] > 0.0 else 0.0
    return starts, found

# ---- the solver of A + R + D -----------------------------------------------------------------------------------------


cdef class Proximal:
    """inverse_mass: CSR parts (begin, column, value) of M^-1 of a factored system, else None."""

    def __init__(self, System system, inverse_mass):
        cdef Py_ssize_t n = system.row_count
        cdef Py_ssize_t block, i
        cdef int r
        cdef double largest
        self.system = system
        scales, rows = np.ones(system.block_count), np.zeros((3, n))
        cdef double[::1] scale = scales
        cdef double[:, ::1] row = rows
        for block in range(system.block_count):
            largest = 0.0
            for r in range(system.size(block)):
                largest = max(largest, system.local[9 * block + 4 * r])
            if largest > 0.0:
                scale[block] = 1.0 / sqrt(largest)
            for r in range(system.size(block)):
                i = system.first(block) + r
                row[0, i] = scale[block] * scale[block] * system.compliance[i]
        self.kept = [scales, rows]
        self.scale = doubles(scales)
        self.compliance, self.inverse, self.work = doubles(rows[0]), doubles(rows[1]), doubles(rows[2])
        if system.factored:
            node, local, node_begin = join_columns(*inverse_mass, system.kept[0], system.kept[1])
            self.find_pieces(node, local, node_begin)
            self.spread_masses(node_begin, *halves(*inverse_mass, node, local, node_begin))
        else:
            sizes = np.repeat([3, 1], [system.contact_count, system.block_count - system.contact_count])
            node_begin = np.zeros(len(sizes) + 1, np.int64)
            np.cumsum(sizes, out=node_begin[1:])
            node = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
            self.find_pieces(node, (np.arange(n) - node_begin[node]).astype(np.int32), node_begin)
        self.find_pairs()

    cdef find_pieces(self, column_node, column_local, begin_of_nodes):
        """A block's columns gathered by nodes, and scaled: of an A given whole on both sides. Of each column its node and
        its place in it, int32, and of each node its first number, int64."""
        cdef const int32_t[::1] node = column_node
        cdef const int32_t[::1] local = column_local
        cdef const int64_t[::1] node_begin = begin_of_nodes
        cdef Py_ssize_t block, k, c, pieces = 0, total = 0
        cdef int size, r, n
        cdef double f
        cdef const double* from_value
        self.length = node_begin[node_begin.shape[0] - 1]
        begins = np.zeros(self.system.block_count + 1, np.int64)
        most = self.system.begin[self.system.block_count]
        nodes, starts = np.empty(most, np.int32), np.empty(most, np.int64)
        marks, places = np.full(node_begin.shape[0], -1, np.int64), np.zeros(node_begin.shape[0], np.int64)
        cdef int64_t[::1] begin = begins
        cdef int32_t[::1] piece_node = nodes
        cdef int64_t[::1] at = starts
        cdef int64_t[::1] mark = marks
        cdef int64_t[::1] place = places
        for block in range(self.system.block_count):
            for k in range(self.system.begin[block], self.system.begin[block + 1]):
                c = node[self.system.column[k]]
                if c >= 0 and mark[c] != block:
                    mark[c] = block
                    piece_node[pieces] = <int32_t>c
                    at[pieces] = total
                    total += self.system.size(block) * (node_begin[c + 1] - node_begin[c])
                    pieces += 1
            begin[block + 1] = pieces
        self.places = total
        values, state = np.zeros(total), np.zeros(self.length)
        cdef double[::1] value = values
        for block in range(self.system.block_count):
            size = self.system.size(block)
            for k in range(begin[block], begin[block + 1]):
                place[piece_node[k]] = at[k]
            from_value = self.system.value + self.system.place(block)
            for k in range(self.system.begin[block + 1] - self.system.begin[block]):
                c = self.system.column[self.system.begin[block] + k]
                if node[c] < 0:
                    continue
                f = self.scale[block] if self.system.factored else self.scale[block] * self.scale[node[c]]
                n = <int>(node_begin[node[c] + 1] - node_begin[node[c]])
                for r in range(size):
                    value[place[node[c]] + r * n + local[c]] += f * from_value[size * k + r]
        nodes, starts, node_begins = nodes[:pieces].copy(), starts[:pieces].copy(), np.array(node_begin)
        self.sizes = np.diff(node_begins).astype(np.int32)
        self.kept += [begins, nodes, starts, values, state, node_begins]
        self.begin, self.node, self.at = long_integers(begins), integers(nodes), long_integers(starts)
        self.value, self.state, self.node_begin = doubles(values), doubles(state), long_integers(node_begins)

    def spread_masses(self, const int64_t[::1] node_begin, const int64_t[::1] at, const double[::1] w):
        """e J -> B = e J W, in place."""
        cdef double* value = <double*>self.value
        cdef double* row
        cdef Py_ssize_t block, k, n, i, j
        cdef int r
        cdef const double* half
        cdef double f
        for block in range(self.system.block_count):
            for k in range(self.begin[block], self.begin[block + 1]):
                n = node_begin[self.node[k] + 1] - node_begin[self.node[k]]
                half = &w[at[self.node[k]]]
                for r in range(self.system.size(block)):
                    row = value + self.at[k] + r * n
                    for j in range(n):
                        f = 0.0
                        for i in range(j, n):           # columns before j are no longer needed
                            f += row[i] * half[i * n + j]
                        row[j] = f

    cdef find_pairs(self):
        """Which blocks of the matrix to factor each block of rows adds to."""
        cdef Py_ssize_t block, i, j, e, count = 0
        cdef Py_ssize_t pieces
        begins = np.zeros(self.system.block_count + 1, np.int64)
        cdef int64_t[::1] begin = begins
        for block in range(self.system.block_count):
            pieces = self.begin[block + 1] - self.begin[block]
            begin[block + 1] = begin[block] + (pieces * (pieces + 1) // 2 if self.system.factored else pieces)
        most = begins[self.system.block_count]
        pairs, nodes = np.zeros((most, 2), np.int32), np.zeros((2, most), np.int32)
        targets = np.zeros(most, np.int64)
        cdef int32_t[:, ::1] pair = pairs
        cdef int32_t[:, ::1] ends = nodes
        cdef int64_t[::1] target = targets
        for block in range(self.system.block_count):
            for i in range(self.begin[block], self.begin[block + 1]):
                for j in range(self.begin[block] if self.system.factored else i, i + 1):
                    pair[count, 0], pair[count, 1] = <int32_t>i, <int32_t>j
                    ends[0, count] = self.node[i]
                    ends[1, count] = self.node[j] if self.system.factored else <int32_t>block
                    count += 1
        self.cholesky = Cholesky(self.sizes, nodes[0], nodes[1])
        for e in range(count):
            if not self.cholesky.upright(ends[0, e], ends[1, e]):
                pair[e, 0], pair[e, 1] = pair[e, 1], pair[e, 0]
            target[e] = self.cholesky.block(ends[0, e], ends[1, e]) - self.cholesky.value
        self.kept += [begins, pairs, targets]
        self.pair_begin, self.pair, self.target = long_integers(begins), integers(pairs), long_integers(targets)

    cdef int node_size(self, Py_ssize_t piece) noexcept nogil:
        return <int>(self.node_begin[self.node[piece] + 1] - self.node_begin[self.node[piece]])

    cdef void read_state(self, const double* state, double* u) noexcept nogil:
        """u += B state"""
        cdef Py_ssize_t block, k
        for block in range(self.system.block_count):
            for k in range(self.begin[block], self.begin[block + 1]):
                read(u + self.system.first(block), self.value + self.at[k], state + self.node_begin[self.node[k]],
                     self.system.size(block), self.node_size(k))

    cdef void write_state(self, const double* x, double* state) noexcept nogil:
        """state = B' x"""
        cdef Py_ssize_t block, k
        if self.length > 0:
            memset(state, 0, self.length * sizeof(double))
        for block in range(self.system.block_count):
            for k in range(self.begin[block], self.begin[block + 1]):
                write(state + self.node_begin[self.node[k]], self.value + self.at[k], x + self.system.first(block),
                      self.system.size(block), self.node_size(k))

    cdef void prepare(self, const double* d) noexcept nogil:
        """Factor for this D (rows,); INFINITY holds a row: its x is 0."""
        cdef Py_ssize_t block, k, i, m
        cdef double* diagonal
        self.cholesky.clear()
        for i in range(self.system.row_count):
            self.inverse[i] = 1.0 / (d[i] + self.compliance[i])
        if self.system.factored:
            for k in range(self.cholesky.count):
                m = self.node_begin[k + 1] - self.node_begin[k]
                diagonal = self.cholesky.block(k, k)
                for i in range(m):
                    diagonal[i * m + i] = 1.0
            for block in range(self.system.block_count):
                for k in range(self.pair_begin[block], self.pair_begin[block + 1]):
                    add_square(self.cholesky.value + self.target[k], self.value + self.at[self.pair[2 * k]],
                               self.value + self.at[self.pair[2 * k + 1]], self.inverse + self.system.first(block),
                               self.system.size(block), self.node_size(self.pair[2 * k]),
                               self.node_size(self.pair[2 * k + 1]))
        else:
            self.fill_whole(d)
        self.cholesky.factor()

    cdef void fill_whole(self, const double* d) noexcept nogil:
        """A + R + D into the factors' blocks."""
        cdef Py_ssize_t block, k, i, j, m, n, other
        cdef double* to
        for block in range(self.system.block_count):
            m = self.system.size(block)
            for k in range(self.begin[block], self.begin[block + 1]):
                other = self.node[k]
                n = self.system.size(other)
                if self.cholesky.upright(block, other):
                    to = self.cholesky.block(block, other)
                    for i in range(m):
                        for j in range(n):
                            to[j * m + i] = self.value[self.at[k] + i * n + j]
            to = self.cholesky.block(block, block)
            for i in range(m):
                j = self.system.first(block) + i
                to[i * m + i] += HELD if d[j] == INFINITY else self.compliance[j] + d[j]

    cdef void solve(self, const double* right, double* x) noexcept nogil:
        """x = (A + R + D)^-1 right"""
        cdef Py_ssize_t i
        cdef Py_ssize_t n = self.system.row_count
        if self.system.factored:
            for i in range(n):
                x[i] = self.inverse[i] * right[i]
                self.work[i] = 0.0
            self.write_state(x, self.state)
            self.cholesky.solve(self.state)
            self.read_state(self.state, self.work)
            for i in range(n):
                x[i] -= self.inverse[i] * self.work[i]
        else:
            for i in range(n):
                x[i] = right[i]
            self.cholesky.solve(x)
            for i in range(n):
                if self.inverse[i] == 0.0:
                    x[i] = 0.0


def solve_shifted(System system, inverse_mass, const double[::1] d, const double[::1] right):
    """(A + R + D)^-1 right in the problem's own units, for looking at. d: of the scaled rows."""
    cdef Proximal proximal = Proximal(system, inverse_mass)
    cdef Py_ssize_t n = system.row_count
    rows, found = np.array(right), np.zeros(n)
    cdef double[::1] r = rows
    cdef double[::1] x = found
    cdef Py_ssize_t block, i
    if n == 0:
        return found
    for block in range(system.block_count):
        for i in range(system.first(block), system.first(block) + system.size(block)):
            r[i] *= proximal.scale[block]
    proximal.prepare(&d[0])
    proximal.solve(&r[0], &x[0])
    for block in range(system.block_count):
        for i in range(system.first(block), system.first(block) + system.size(block)):
            x[i] *= proximal.scale[block]
    return found
