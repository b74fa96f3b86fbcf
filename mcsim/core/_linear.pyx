"""What ``linear.py`` is made of: products, factors and eigenvalues of dense matrices, every sum in one order.

Rows are swept, not columns: the inner loops go along memory and hold no sum, so compilers may make them wide without
changing a bit.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from mcsim.core._math cimport add as add3, mat_vec, quat, quat_matrix, transpose, vec3
from mcsim.core._types cimport Mat3, Vec3

import numpy as np

cdef enum:
    MOST_TURNS = 60              # of the QL iteration, per eigenvalue; a few are the rule

cdef extern from *:
    """
    /* y (n,) += f x (n,) */
    static inline void mc_add(double* restrict y, double f, const double* restrict x, Py_ssize_t n)
    {
        for (Py_ssize_t j = 0; j < n; j++) y[j] += f * x[j];
    }
    /* c (m,) = a (m, k) b (k,), each sum from the first term to the last, eight sums side by side. */
    static void mc_times(double* restrict c, const double* restrict a, const double* restrict b, Py_ssize_t m, Py_ssize_t k)
    {
        Py_ssize_t i = 0;
        for (; i + 8 <= m; i += 8, a += 8 * k) {
            double s[8];
            for (int r = 0; r < 8; r++) s[r] = a[r * k] * b[0];
            for (Py_ssize_t p = 1; p < k; p++)
                for (int r = 0; r < 8; r++) s[r] += a[r * k + p] * b[p];
            for (int r = 0; r < 8; r++) c[i + r] = s[r];
        }
        for (; i < m; i++, a += k) {
            double s = a[0] * b[0];
            for (Py_ssize_t p = 1; p < k; p++) s += a[p] * b[p];
            c[i] = s;
        }
    }
    /* c (n,) -= f (count,) b (count, n), whose rows are `stride` apart; in the order of the terms. */
    static void mc_subtract(double* restrict c, const double* restrict f, const double* restrict b, Py_ssize_t stride,
                            Py_ssize_t count, Py_ssize_t n)
    {
        Py_ssize_t p = 0;
        for (; p + 4 <= count; p += 4, b += 4 * stride) {
            const double f0 = f[p], f1 = f[p + 1], f2 = f[p + 2], f3 = f[p + 3];
            for (Py_ssize_t j = 0; j < n; j++)
                c[j] = (((c[j] - f0 * b[j]) - f1 * b[stride + j]) - f2 * b[2 * stride + j]) - f3 * b[3 * stride + j];
        }
        for (; p < count; p++, b += stride)
            for (Py_ssize_t j = 0; j < n; j++) c[j] -= f[p] * b[j];
    }
    /* c (m, n) = a (m, k) b (k, n), each sum from the first term to the last; four terms at a time are added to what is
       loaded once. */
    static void mc_product(double* restrict c, const double* restrict a, const double* restrict b, Py_ssize_t m,
                           Py_ssize_t k, Py_ssize_t n)
    {
        if (n == 1) {
            mc_times(c, a, b, m, k);
            return;
        }
        for (Py_ssize_t i = 0; i < m; i++, a += k, c += n) {
            const double* row = b;
            Py_ssize_t p = 0;
            for (Py_ssize_t j = 0; j < n; j++) c[j] = a[0] * b[j];
            for (p = 1, row = b + n; p + 4 <= k; p += 4, row += 4 * n) {
                const double f0 = a[p], f1 = a[p + 1], f2 = a[p + 2], f3 = a[p + 3];
                for (Py_ssize_t j = 0; j < n; j++)
                    c[j] = (((c[j] + f0 * row[j]) + f1 * row[n + j]) + f2 * row[2 * n + j]) + f3 * row[3 * n + j];
            }
            for (; p < k; p++, row += n) mc_add(c, a[p], row, n);
        }
    }
    """
    void add "mc_add"(double* y, double f, const double* x, Py_ssize_t n) noexcept nogil
    void subtract "mc_subtract"(double* c, const double* f, const double* b, Py_ssize_t stride, Py_ssize_t count,
                                Py_ssize_t n) noexcept nogil
    void matrix_product "mc_product"(double* c, const double* a, const double* b, Py_ssize_t m, Py_ssize_t k,
                                     Py_ssize_t n) noexcept nogil


def multiply(const double[:, :, ::1] a, const double[:, :, ::1] b, double[:, :, ::1] out):
    """out (s, m, n) <- a (s, m, k) b (s, k, n); one of a and b may stand for all s."""
    cdef Py_ssize_t s, m = a.shape[1], k = a.shape[2], n = b.shape[2]
    cdef Py_ssize_t of_a = a.shape[0] > 1, of_b = b.shape[0] > 1
    if out.shape[0] == 0 or m == 0 or n == 0:
        return
    if k == 0:
        out[...] = 0.0
        return
    with nogil:
        for s in range(out.shape[0]):
            matrix_product(&out[s, 0, 0], &a[s * of_a, 0, 0], &b[s * of_b, 0, 0], m, k, n)


def multiply_two(const double[:, ::1] a, const double[:, ::1] b, double[:, ::1] out):
    """out (m, n) <- a (m, k) b (k, n)"""
    if out.shape[0] and out.shape[1] and a.shape[1]:
        matrix_product(&out[0, 0], &a[0, 0], &b[0, 0], a.shape[0], a.shape[1], b.shape[1])
    else:
        out[...] = 0.0


def sum_products(const double[::1] a, const double[::1] b):
    """a . b"""
    cdef double s = 0.0
    cdef Py_ssize_t i
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


def length_of(const double[::1] a):
    """The square root of a . a"""
    cdef double s = 0.0
    cdef Py_ssize_t i
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    return sqrt(s)


def row_products(const double[:, ::1] a, const double[:, ::1] b, double[::1] out):
    """out (n,) <- the inner products of the rows of a and b (n, m)."""
    cdef Py_ssize_t i, k
    cdef double s
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[i, k]
        out[i] = s


def sparse_times_columns(const int64_t[::1] begin, const int64_t[::1] column, const double[::1] value,
                         const double[:, ::1] b, double[:, ::1] out):
    """out (m, k) <- a b: a (m, n) by rows, whose entries stand from begin[i] on, b (n, k)."""
    cdef Py_ssize_t i, j, k
    cdef double v
    out[:, :] = 0.0
    for i in range(out.shape[0]):
        for j in range(begin[i], begin[i + 1]):
            v = value[j]
            for k in range(out.shape[1]):
                out[i, k] += v * b[column[j], k]


def sparse_times_sparse(const int64_t[::1] begin_a, const int64_t[::1] column_a, const double[::1] value_a,
                        const int64_t[::1] begin_b, const int64_t[::1] column_b, const double[::1] value_b,
                        const int64_t[::1] begin, const int64_t[::1] column, double[::1] out, double[::1] sums):
    """out: the entries of a b at the places begin, column; sums (columns of b,): zeros, and zeros again at the end."""
    cdef Py_ssize_t i, j, k
    cdef double v
    for i in range(begin.shape[0] - 1):
        for j in range(begin_a[i], begin_a[i + 1]):
            v = value_a[j]
            for k in range(begin_b[column_a[j]], begin_b[column_a[j] + 1]):
                sums[column_b[k]] += v * value_b[k]
        for j in range(begin[i], begin[i + 1]):
            out[j] = sums[column[j]]
        for j in range(begin_a[i], begin_a[i + 1]):
            for k in range(begin_b[column_a[j]], begin_b[column_a[j] + 1]):
                sums[column_b[k]] = 0.0


# ---- L U -------------------------------------------------------------------------------------------------------------

cdef enum:
    PANEL = 4                    # columns that are factored before what is right of them follows


cdef bint factor_lu(double* a, int64_t* order, double* sign, Py_ssize_t n) noexcept nogil:
    """P a = L U in place, rows exchanged for the largest pivot of a column; order: the rows that stand there then. False:
    a column has none. What is right of a panel is brought up to date once a panel, each number in the order of columns."""
    cdef Py_ssize_t p, q, i, j, end, best
    cdef double f
    sign[0] = 1.0
    for i in range(n):
        order[i] = i
    p = 0
    while p < n:
        end = min(p + PANEL, n)
        for q in range(p, end):
            best = q
            for i in range(q + 1, n):
                if fabs(a[i * n + q]) > fabs(a[best * n + q]):
                    best = i
            if not fabs(a[best * n + q]) > 0.0:
                return False
            if best != q:
                for j in range(n):
                    a[q * n + j], a[best * n + j] = a[best * n + j], a[q * n + j]
                order[q], order[best] = order[best], order[q]
                sign[0] = -sign[0]
            for i in range(q + 1, n):
                f = a[i * n + q] / a[q * n + q]
                a[i * n + q] = f
                for j in range(q + 1, end):
                    a[i * n + j] -= f * a[q * n + j]
        for i in range(p + 1, n):
            subtract(a + i * n + end, a + i * n + p, a + p * n + end, n, min(i, end) - p, n - end)
        p = end
    return True


cdef void solve_factored(const double* f, const int64_t* order, const double* b, double* x, Py_ssize_t n,
                         Py_ssize_t m) noexcept nogil:
    """x (n, m) <- the solution for the right sides b (n, m), with what factor_lu() has left."""
    cdef Py_ssize_t i, k
    for i in range(n):
        memcpy(x + i * m, b + order[i] * m, m * sizeof(double))
        subtract(x + i * m, f + i * n, x, m, i, m)
    for i in range(n - 1, -1, -1):
        subtract(x + i * m, f + i * n + i + 1, x + (i + 1) * m, m, n - i - 1, m)
        for k in range(m):
            x[i * m + k] /= f[i * n + i]


def solve_lu(double[:, :, ::1] a, const double[:, :, ::1] b, double[:, :, ::1] out):
    """out (s, n, m) <- a^-1 b of each pair; a is spoilt. False: one of a is singular to the bit."""
    cdef Py_ssize_t s, n = a.shape[1], m = b.shape[2]
    cdef int64_t[::1] order = np.zeros(n + 1, np.int64)
    cdef double sign
    if n == 0 or m == 0:
        return True
    for s in range(a.shape[0]):
        if not factor_lu(&a[s, 0, 0], &order[0], &sign, n):
            return False
        solve_factored(&a[s, 0, 0], &order[0], &b[s, 0, 0], &out[s, 0, 0], n, m)
    return True


def solid_placed(q, position, center, inertia):
    """The centre of mass (3,) and the inertia (3, 3) about it of a solid in the frame in which the frame of `center` and
    `inertia` has the position (3,) and the orientation (4,) q: position + R center, R I R', symmetric to the bit."""
    cdef const double[::1] turn = np.ascontiguousarray(q, float)
    cdef const double[::1] place = np.ascontiguousarray(position, float)
    cdef const double[::1] inner = np.ascontiguousarray(center, float)
    cdef const double[:, ::1] moments = np.ascontiguousarray(inertia, float)
    if not (turn.shape[0] == 4 and place.shape[0] == inner.shape[0] == moments.shape[0] == moments.shape[1] == 3):
        raise ValueError("a solid is placed by 3 and 4 numbers, and has 3 and 3 x 3")
    cdef Mat3 r = quat_matrix(quat(turn[0], turn[1], turn[2], turn[3]))
    cdef Mat3 back = transpose(r)
    cdef Mat3 half, whole
    cdef Vec3 c = add3(vec3(place[0], place[1], place[2]), mat_vec(r, vec3(inner[0], inner[1], inner[2])))
    product3(&r, <const Mat3*>&moments[0, 0], &half)
    product3(&half, &back, &whole)
    out = np.empty(3), np.empty((3, 3))
    cdef double[::1] to = out[0]
    cdef double[:, ::1] turned = out[1]
    to[0], to[1], to[2] = c.x, c.y, c.z
    turned[0, 0], turned[1, 1], turned[2, 2] = (
        (whole.xx + whole.xx) / 2.0, (whole.yy + whole.yy) / 2.0, (whole.zz + whole.zz) / 2.0)
    turned[0, 1] = turned[1, 0] = (whole.xy + whole.yx) / 2.0
    turned[0, 2] = turned[2, 0] = (whole.xz + whole.zx) / 2.0
    turned[1, 2] = turned[2, 1] = (whole.yz + whole.zy) / 2.0
    return out


cdef void product3(const Mat3* a, const Mat3* b, Mat3* out) noexcept nogil:
    """out <- a b, which are other matrices than out; as multiply_two()."""
    matrix_product(&out.xx, &a.xx, &b.xx, 3, 3, 3)


cdef bint inverse3(const Mat3* a, Mat3* out) noexcept nogil:
    """out <- a^-1, as solve_lu() with unit vectors on the right. False: a is singular to the bit."""
    cdef Mat3 factors = a[0]
    cdef Mat3 unit
    cdef int64_t order[3]
    cdef double sign
    memset(&unit, 0, sizeof(Mat3))
    unit.xx = unit.yy = unit.zz = 1.0
    if not factor_lu(&factors.xx, order, &sign, 3):
        return False
    solve_factored(&factors.xx, order, &unit.xx, &out.xx, 3, 3)
    return True


def determinants(double[:, :, ::1] a, double[::1] out):
    """out (s,) <- det a (s, n, n), which is spoilt."""
    cdef Py_ssize_t s, i, n = a.shape[1]
    cdef int64_t[::1] order = np.zeros(n + 1, np.int64)
    cdef double sign
    for s in range(a.shape[0]):
        if n == 0 or factor_lu(&a[s, 0, 0], &order[0], &sign, n):
            out[s] = sign if n else 1.0
            for i in range(n):
                out[s] *= a[s, i, i]
        else:
            out[s] = 0.0


# ---- L L' ------------------------------------------------------------------------------------------------------------

def factor_cholesky(double[:, ::1] a):
    """The upper triangle of a symmetric a (n, n) <- L', what is below it 0. False: it is not positive definite."""
    cdef Py_ssize_t k, i, j, n = a.shape[0]
    cdef double d
    for k in range(n):
        if not a[k, k] > 0.0:
            return False
        d = sqrt(a[k, k])
        for j in range(k, n):
            a[k, j] /= d
        for i in range(k + 1, n):
            add(&a[i, i], -a[k, i], &a[k, i], n - i)
            a[i, k] = 0.0
    return True


def solve_cholesky(const double[:, ::1] upper, double[:, ::1] x):
    """x (n, m) <- (U' U)^-1 x"""
    cdef Py_ssize_t i, k, n = upper.shape[0], m = x.shape[1]
    if n == 0 or m == 0:
        return
    for i in range(n):
        for k in range(i):
            add(&x[i, 0], -upper[k, i], &x[k, 0], m)
        for k in range(m):
            x[i, k] /= upper[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            add(&x[i, 0], -upper[i, k], &x[k, 0], m)
        for k in range(m):
            x[i, k] /= upper[i, i]


# ---- the least solution ----------------------------------------------------------------------------------------------

cdef double reflector(double* x, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
    """v with v_0 = 1 and H = 1 - t v v' such that H x = (b, 0, ...): v in the place of x but for v_0, where b stands. ->
    t"""
    cdef double largest = 0.0, length = 0.0
    cdef double b, t
    cdef Py_ssize_t i
    for i in range(1, n):
        largest = max(largest, fabs(x[i * stride]))
    if not largest > 0.0:
        return 0.0
    largest = max(largest, fabs(x[0]))
    for i in range(n):
        length += (x[i * stride] / largest) * (x[i * stride] / largest)
    b = largest * sqrt(length)
    if x[0] > 0.0:
        b = -b
    t = (b - x[0]) / b
    for i in range(1, n):
        x[i * stride] /= x[0] - b
    x[0] = b
    return t


cdef Py_ssize_t take_columns(double[:, ::1] a, double[:, ::1] b, double rank, int64_t[::1] order) except -1:
    """a <- Q' a P = [R S; 0 0], b <- Q' b, the longest of the columns that are left first. -> how many were taken"""
    cdef Py_ssize_t m = a.shape[0], n = a.shape[1], most = min(m, n), columns = b.shape[1]
    cdef Py_ssize_t i, j, k, best, c
    cdef double[::1] size = np.empty(n + 1)
    cdef double[::1] turned = np.zeros(columns + 1)
    cdef double first = 0.0, t, longest
    for k in range(most):
        best, longest = k, -1.0
        for j in range(k, n):
            size[j] = 0.0
        for i in range(k, m):
            for j in range(k, n):
                size[j] += a[i, j] * a[i, j]
        for j in range(k, n):
            if size[j] > longest:
                best, longest = j, size[j]
        longest = sqrt(longest)
        if k == 0:
            first = longest
        if not (longest > rank * first and longest > 0.0):
            return k
        if best != k:
            for i in range(m):
                a[i, k], a[i, best] = a[i, best], a[i, k]
            order[k], order[best] = order[best], order[k]
        t = reflector(&a[k, k], m - k, n)
        for j in range(k + 1, n):
            size[j] = a[k, j]
        for c in range(columns):
            turned[c] = b[k, c]
        for i in range(k + 1, m):
            for c in range(columns):
                turned[c] += a[i, k] * b[i, c]
            if k + 1 < n:
                add(&size[k + 1], a[i, k], &a[i, k + 1], n - k - 1)
        for c in range(columns):
            b[k, c] -= t * turned[c]
        for j in range(k + 1, n):
            a[k, j] -= t * size[j]
        for i in range(k + 1, m):
            for c in range(columns):
                b[i, c] -= t * a[i, k] * turned[c]
            if k + 1 < n:
                add(&a[i, k + 1], -t * a[i, k], &size[k + 1], n - k - 1)
    return most


cdef int clear_rest(double[:, ::1] a, Py_ssize_t found, double[::1] turn) except -1:
    """The rows of [R S] to [T 0], from the last one up: each by a reflector over its own diagonal and the columns of S,
    with its factor in `turn`."""
    cdef Py_ssize_t n = a.shape[1], i, j, k
    cdef double[::1] row = np.empty(n - found + 1)
    cdef double s
    for k in range(found - 1, -1, -1):
        row[0] = a[k, k]
        row[1:] = a[k, found:]
        turn[k] = reflector(&row[0], n - found + 1, 1)
        a[k, k] = row[0]
        a[k, found:] = row[1:]
        for i in range(k):
            s = a[i, k]
            for j in range(found, n):
                s += a[i, j] * a[k, j]
            s *= turn[k]
            a[i, k] -= s
            for j in range(found, n):
                a[i, j] -= s * a[k, j]
    return 0


def least_solution(double[:, ::1] a, double[:, ::1] b, double rank, double[:, ::1] x, int64_t[::1] order):
    """The x (n, c) of least length among those that make |a x - b| least, a (m, n), b (m, c), column by column: a P =
    Q [R S; 0 0] with the longest of the columns that are left taken first, until it is shorter than `rank` of the
    first; then [R S] = [T 0] Z. a and b are spoilt. order (n,): the columns, those that were taken first. -> how many"""
    cdef Py_ssize_t n = a.shape[1], columns = b.shape[1], found
    cdef Py_ssize_t j, k, c
    cdef double[::1] turn = np.zeros(min(a.shape[0], n) + 1)
    cdef double[::1] x0 = np.zeros(n + 1)
    cdef double s
    for j in range(n):
        order[j] = j
        for c in range(columns):
            x[j, c] = 0.0
    found = take_columns(a, b, rank, order)
    if found < n:
        clear_rest(a, found, turn)
    for c in range(columns):
        x0[found:] = 0.0
        for k in range(found - 1, -1, -1):
            s = b[k, c]
            for j in range(k + 1, found):
                s -= a[k, j] * x0[j]
            x0[k] = s / a[k, k]
        if found < n:
            for k in range(found):
                s = x0[k]
                for j in range(found, n):
                    s += a[k, j] * x0[j]
                s *= turn[k]
                x0[k] -= s
                for j in range(found, n):
                    x0[j] -= s * a[k, j]
        for j in range(n):
            x[order[j], c] = x0[j]
    return found


# ---- eigenvalues -----------------------------------------------------------------------------------------------------

cdef void tridiagonal(double* a, double* d, double* e, double* w, Py_ssize_t n) noexcept nogil:
    """A symmetric a (n, n) = Q' T Q, T with the diagonal d and e beside it: Householder's reductions, from the last row up;
    a <- Q. w: (n,) room."""
    cdef Py_ssize_t i, j, k
    cdef double t, s
    for i in range(n - 1, 0, -1):
        # The row a[i, :i] to (0, ..., 0, e): its reflector is turned so that its last number is the one that stays.
        for j in range(i // 2):
            a[i * n + j], a[i * n + i - 1 - j] = a[i * n + i - 1 - j], a[i * n + j]
        t = reflector(a + i * n, i, 1)
        for j in range(i // 2):
            a[i * n + j], a[i * n + i - 1 - j] = a[i * n + i - 1 - j], a[i * n + j]
        e[i - 1] = a[i * n + i - 1]
        d[i] = t
        if t == 0.0:
            continue
        a[i * n + i - 1] = 1.0
        # (1 - t v v') A (1 - t v v') = A - v p' - p v' of the lower triangle, p = t A v - t^2/2 (v' A v) v
        for j in range(i):
            w[j] = 0.0
        for j in range(i):
            s = a[j * n + j] * a[i * n + j]
            for k in range(j):
                s += a[j * n + k] * a[i * n + k]
            w[j] += s
            add(w, a[i * n + j], a + j * n, j)
        s = 0.0
        for j in range(i):
            w[j] *= t
            s += w[j] * a[i * n + j]
        add(w, -0.5 * t * s, a + i * n, i)
        for j in range(i):
            add(a + j * n, -a[i * n + j], w, j + 1)
            add(a + j * n, -w[j], a + i * n, j + 1)
    # Q, the product of the reflections, the smallest first; d kept their factors.
    for i in range(n):
        t = d[i] if i else 0.0
        d[i] = a[i * n + i]
        for j in range(i if t != 0.0 else 0):
            s = 0.0
            for k in range(i):
                s += a[j * n + k] * a[i * n + k]
            add(a + j * n, -t * s, a + i * n, i)
        for j in range(i):
            a[i * n + j] = a[j * n + i] = 0.0
        a[i * n + i] = 1.0


cdef bint diagonal(double* q, double* d, double* e, Py_ssize_t n) noexcept nogil:
    """T with d and e: d <- its eigenvalues, rows of q turned alike, by implicit QL with Wilkinson's shift (B. Parlett, "The
    Symmetric Eigenvalue Problem", 1980, section 8). False: no end."""
    cdef Py_ssize_t l, m, i, j, turns
    cdef double g, r, s, c, p, f, b, x, y
    if n:
        e[n - 1] = 0.0
    for l in range(n):
        turns = 0
        while True:
            m = l
            while m < n - 1:
                s = fabs(d[m]) + fabs(d[m + 1])
                if fabs(e[m]) <= DBL_EPSILON * s:
                    break
                m += 1
            if m == l:
                break
            if turns == MOST_TURNS:
                return False
            turns += 1
            g = (d[l + 1] - d[l]) / (2.0 * e[l])
            r = sqrt(g * g + 1.0)
            g = d[m] - d[l] + e[l] / (g + r if g >= 0.0 else g - r)
            s = c = 1.0
            p = 0.0
            i = m - 1
            while i >= l:
                f = s * e[i]
                b = c * e[i]
                x = max(fabs(f), fabs(g))
                y = min(fabs(f), fabs(g))
                r = x * sqrt(1.0 + (y / x) * (y / x)) if x > 0.0 else 0.0
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[m] = 0.0
                    break
                s = f / r
                c = g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                for j in range(n if q != NULL else 0):
                    x, y = q[i * n + j], q[(i + 1) * n + j]
                    q[(i + 1) * n + j] = s * x + c * y
                    q[i * n + j] = c * x - s * y
                i -= 1
            if i >= l and r == 0.0:
                continue
            d[l] -= p
            e[l] = g
            e[m] = 0.0
    return True


def eigen(double[:, ::1] a, double[::1] values):
    """The eigenvalues of a symmetric a (n, n), not in order, and a <- their vectors, a row each. False: no end."""
    cdef Py_ssize_t n = a.shape[0]
    cdef double[:, ::1] room = np.zeros((2, n + 1))
    cdef bint found = True
    if n:
        with nogil:
            tridiagonal(&a[0, 0], &values[0], &room[0, 0], &room[1, 0], n)
            found = diagonal(&a[0, 0], &values[0], &room[0, 0], n)
    return found
