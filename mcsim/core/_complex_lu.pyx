"""Linear equations of complex numbers by Gaussian elimination with row pivots, by |re| + |im|. Of a pivot row only the span
is worked with that is not 0: of equations of motion those of the places are all but empty.
"""

from libc.math cimport fabs


cdef bint factor_complex(double* re, double* im, Py_ssize_t n, int32_t* order) noexcept nogil:
    cdef Py_ssize_t i, k, best, begin, end
    cdef double largest, size
    for k in range(n):
        best, largest = k, -1.0
        for i in range(k, n):
            size = fabs(re[i * n + k]) + fabs(im[i * n + k])
            if size > largest:
                best, largest = i, size
        order[k] = <int32_t>best
        if not largest > 0.0:
            return False
        if best != k:
            exchange(re + k * n, re + best * n, n)
            exchange(im + k * n, im + best * n, n)
        begin, end = k + 1, n
        while begin < end and re[k * n + begin] == 0.0 and im[k * n + begin] == 0.0:
            begin += 1
        while end > begin and re[k * n + end - 1] == 0.0 and im[k * n + end - 1] == 0.0:
            end -= 1
        for i in range(k + 1, n):
            if re[i * n + k] != 0.0 or im[i * n + k] != 0.0:
                eliminate(re + i * n, im + i * n, re + k * n, im + k * n, k, begin, end)
    return True


cdef inline void exchange(double* a, double* b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double f
    for j in range(n):
        f = a[j]
        a[j] = b[j]
        b[j] = f


cdef inline void eliminate(double* re, double* im, const double* pivot_re, const double* pivot_im, Py_ssize_t k,
                           Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Number k of a row by the pivot row, which is not 0 from begin to end; what it took of that stays in its place."""
    cdef double f = re[k], g = im[k]
    cdef Py_ssize_t j
    divide(&f, &g, pivot_re[k], pivot_im[k])
    re[k], im[k] = f, g
    for j in range(begin, end):
        re[j] -= f * pivot_re[j] - g * pivot_im[j]
        im[j] -= f * pivot_im[j] + g * pivot_re[j]


cdef inline void divide(double* f, double* g, double re, double im) noexcept nogil:
    """f + i g by re + i im, whose larger part is divided by first: no square may overflow (R. Smith, 1962)."""
    cdef double r, d, x = f[0], y = g[0]
    if fabs(re) >= fabs(im):
        r = im / re
        d = re + im * r
        f[0], g[0] = (x + y * r) / d, (y - x * r) / d
    else:
        r = re / im
        d = re * r + im
        f[0], g[0] = (x * r + y) / d, (y * r - x) / d


cdef void solve_complex(const double* re, const double* im, Py_ssize_t n, const int32_t* order, double* x,
                        double* y) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double f, g
    for i in range(n):
        j = order[i]
        f, g = x[i], y[i]
        x[i], y[i] = x[j], y[j]
        x[j], y[j] = f, g
    for i in range(n):
        f, g = x[i], y[i]
        for j in range(i):
            f -= re[i * n + j] * x[j] - im[i * n + j] * y[j]
            g -= re[i * n + j] * y[j] + im[i * n + j] * x[j]
        x[i], y[i] = f, g
    for i in range(n - 1, -1, -1):
        f, g = x[i], y[i]
        for j in range(i + 1, n):
            f -= re[i * n + j] * x[j] - im[i * n + j] * y[j]
            g -= re[i * n + j] * y[j] + im[i * n + j] * x[j]
        divide(&f, &g, re[i * n + i], im[i * n + i])
        x[i], y[i] = f, g
