"""Blocks of a factor of the joints' system body by body (_articulated_bodies.pyx), and of that with bounded rows
(_held_links.pyx): six numbers a body, L D L' with 1/D on the diagonal, rows of `stride` numbers.
"""

from libc.string cimport memset

from mcsim.core._types cimport Mat3
from mcsim.solve._pivots cimport SMALLEST_ANGLE, SMALLEST_PIVOT
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport JointRow


cdef inline double pivot(double d) noexcept nogil:
    """1/d, of a pivot that is skipped 0."""
    return 1.0 / d if d > 0.0 else 0.0


cdef inline void eliminate(double* k, int p, int n, int stride, double inverse) noexcept nogil:
    """Column p of a symmetric k (n, n), of which the lower half is read, by its pivot's inverse."""
    cdef double x
    cdef int i, j
    k[(stride + 1) * p] = inverse
    for i in range(n - 1, p, -1):
        x = inverse * k[stride * i + p]
        for j in range(p + 1, i + 1):
            k[stride * i + j] -= x * k[stride * j + p]
        k[stride * i + p] = x


cdef inline void forward(const double* k, double* x, int n, int stride) noexcept nogil:
    """x <- L^-1 x"""
    cdef int i, j
    for i in range(1, n):
        for j in range(i):
            x[i] -= k[stride * i + j] * x[j]


cdef inline void backward(const double* k, double* x, int n, int stride) noexcept nogil:
    """x <- L'^-1 D^-1 x"""
    cdef int i, j
    for i in range(n - 1, -1, -1):
        x[i] *= k[(stride + 1) * i]
        for j in range(i + 1, n):
            x[i] -= k[stride * j + i] * x[j]


cdef inline double between(const double* x, const double* k, const double* y) noexcept nogil:
    """x D^-1 y of six numbers each."""
    cdef double s = 0.0
    cdef int i
    for i in range(6):
        s += x[i] * k[7 * i] * y[i]
    return s


cdef inline void half_row(const JointRow* row, bint is_b, double* x) noexcept nogil:
    """The row's six numbers on b, or on a."""
    cdef double sign = 1.0 if is_b else -1.0
    cdef const double* angular = &row.angular_b.x if is_b else &row.angular_a.x
    cdef int i
    for i in range(3):
        x[i] = sign * (&row.linear.x)[i]
        x[3 + i] = sign * angular[i]


cdef inline void own_inertia(const Bodies* bodies, Py_ssize_t i, const Mat3* own, double* k) noexcept nogil:
    """Of a body alone, own that of its turning in world axes."""
    cdef int p, q
    memset(k, 0, 36 * sizeof(double))
    for p in range(3):
        k[7 * p] = 1.0 / bodies.inv_mass[i]
        for q in range(p + 1):
            k[6 * (3 + p) + 3 + q] = (&own[0].xx)[3 * q + p]           # of which the upper half is sure


cdef inline void decompose_inertia(const Bodies* bodies, Py_ssize_t i, double* k) noexcept nogil:
    """A pivot that is not above the least inertia of the body alone is lifted to it."""
    cdef const Mat3* inverse = &bodies.inv_inertia[i]
    cdef double least
    cdef int p
    for p in range(6):
        least = 1.0 / bodies.inv_mass[i] if p < 3 else 1.0 / (inverse.xx + inverse.yy + inverse.zz)
        eliminate(k, p, 6, 6, pivot(k[7 * p] if k[7 * p] > least else least))


cdef inline void decompose_rows(const double* inertia, double* rows, const double* compliance, int own, int n,
                                int stride, double* k, double* least) noexcept nogil:
    """k <- L D L' of what the child, with all that hangs on it, answers to n rows between it and its parent, and of their
    compliances (NULL: 0). A pivot below SMALLEST_PIVOT of its diagonal is skipped; of rows behind the first `own` one below
    SMALLEST_ANGLE squared of what these leave of it. rows: (n, 6) their halves on the child, multiplied by its L^-1 in
    place; least: (n,) to work in."""
    cdef int i, j, p
    for i in range(n):
        forward(inertia, rows + 6 * i, 6, 6)
        for j in range(i + 1):
            k[stride * i + j] = between(rows + 6 * i, inertia, rows + 6 * j)
        if compliance != NULL:
            k[(stride + 1) * i] += compliance[i]
        least[i] = SMALLEST_PIVOT * k[(stride + 1) * i]
    for p in range(n):
        if p == own:
            for i in range(own, n):
                least[i] = max(least[i], SMALLEST_ANGLE * SMALLEST_ANGLE * k[(stride + 1) * i])
        eliminate(k, p, n, stride, pivot(k[(stride + 1) * p] if k[(stride + 1) * p] > least[p] else 0.0))


cdef inline void add_link(double* inertia, const double* k, double* far, int n, int stride) noexcept nogil:
    """What n rows leave of the child's inertia on the parent. k: of decompose_rows; far: (n, 6) the rows' halves on the
    parent, which are worked in."""
    cdef double x
    cdef int i, j, p, q
    for i in range(n):
        for j in range(i):
            for p in range(6):
                far[6 * i + p] -= k[stride * i + j] * far[6 * j + p]
        for p in range(6):
            x = k[(stride + 1) * i] * far[6 * i + p]
            for q in range(p + 1):
                inertia[6 * p + q] += x * far[6 * i + q]
