"""Small dense symmetric matrices, in place, at most 6x6, row major with a stride of 6; products of longer rows, and
their room."""


cdef inline bint invert_symmetric(double* k, int n) noexcept nogil:
    """k <- k^-1 for a symmetric positive definite k (n, n), by n Gauss-Jordan sweeps (J. Goodnight, "A tutorial on
    the SWEEP operator", 1979). False, with k spoilt, where a pivot falls below 1e-12 of its own diagonal entry, so
    that rows may have any units: k is singular."""
    cdef double diagonal[6]
    cdef double pivot, f
    cdef int i, j, p
    for i in range(n):
        diagonal[i] = k[7 * i]
    for p in range(n):
        pivot = k[7 * p]
        if not pivot > 1e-12 * diagonal[p]:
            return False
        pivot = 1.0 / pivot
        k[7 * p] = 1.0
        for j in range(n):
            k[6 * p + j] *= pivot
        for i in range(n):
            if i != p:
                f = k[6 * i + p]
                k[6 * i + p] = 0.0
                for j in range(n):
                    k[6 * i + j] -= f * k[6 * p + j]
    return True


cdef inline double dot_many(const double* x, const double* y, Py_ssize_t count) noexcept nogil:
    """x . y as four sums, which need not wait for each other, added in one order."""
    cdef double s0 = 0.0
    cdef double s1 = 0.0
    cdef double s2 = 0.0
    cdef double s3 = 0.0
    cdef Py_ssize_t k = 0
    while k + 4 <= count:
        s0 += x[k] * y[k]
        s1 += x[k + 1] * y[k + 1]
        s2 += x[k + 2] * y[k + 2]
        s3 += x[k + 3] * y[k + 3]
        k += 4
    while k < count:
        s0 += x[k] * y[k]
        k += 1
    return (s0 + s1) + (s2 + s3)


cdef inline Py_ssize_t in_eights(Py_ssize_t count) noexcept nogil:
    """So many numbers and room that ends with a register of any level."""
    return (count + 7) // 8 * 8
