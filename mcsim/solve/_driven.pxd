"""Contacts that are struck where nothing gives: what they close by is taken out of the rates that a blow answers, and they
out of the blow."""

from libc.math cimport fabs
from mcsim.solve._struck cimport Struck
from mcsim.state._row cimport Row

cdef extern from *:
    """
    /* A response is rounding that is less than this part of what the two bodies' masses alone would give. */
    #define MC_FIRM 1e-11
    /* The part of the velocities beyond which what no blow can change is taken out of them. */
    #define MC_BEYOND 1e-6
    """
    const double FIRM "MC_FIRM"
    const double BEYOND "MC_BEYOND"


cdef inline double product(const double* x, const double* y, Py_ssize_t n) noexcept nogil:
    cdef double s = 0.0
    cdef Py_ssize_t k
    for k in range(n):
        s += x[k] * y[k]
    return s


cdef inline void add_multiple(double* x, const double* y, double s, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        x[k] += s * y[k]


cdef inline void leave_driven(const double* a, double* u, const Row* rows, Struck** together, int count,
                              double* span) noexcept nogil:
    """Take out of u what no impulse can change, where normals are in it. What moves by itself closes by u = J v,
    which lies in the range of A = J H^-1 J'. Prescribed motions and kinematic bodies close also where joints, or
    other contacts, let nothing give: no blow answers that, and one that was to grew to 10^16 N s, the inverse of
    rounding. It is left to the solver, and what such a contact still closes by after the blow, too. A = L D L'
    with pivots, whose columns L D, made orthogonal, span the range; a root of masses would be rounded otherwise
    in other units. together: the contacts, `count` of them; span: room for n (n + 3) numbers, n of u."""
    cdef Py_ssize_t n = 3 * count
    cdef double* left = span + n * n             # of the diagonal; chosen: -1
    cdef double* rest = left + n
    cdef double* pivot = rest + n
    cdef Py_ssize_t c, d, k, best
    cdef double most, part, size
    cdef double approach = 0.0
    cdef int _
    for k in range(n):
        left[k] = a[k * n + k]
        rest[k] = u[k]
    for c in range(n):
        most = FIRM
        best = -1
        for k in range(n):
            size = rows[together[k // 3].begin].diagonal
            if left[k] > most * size:
                most = left[k] / size
                best = k
        if best < 0:
            break
        pivot[c] = left[best]
        for k in range(n):
            part = a[k * n + best]
            for d in range(c):
                part -= span[d * n + k] * (span[d * n + best] / pivot[d])
            span[c * n + k] = part if left[k] >= 0.0 else 0.0
        for k in range(n):
            if left[k] >= 0.0:
                left[k] = max(left[k] - span[c * n + k] * (span[c * n + k] / pivot[c]), 0.0)
        left[best] = -1.0
    else:
        return
    for d in range(c):
        for _ in range(2):
            for k in range(d):
                add_multiple(span + d * n, span + k * n, -product(span + d * n, span + k * n, n) / pivot[k], n)
        pivot[d] = product(span + d * n, span + d * n, n)
        add_multiple(rest, span + d * n, -product(rest, span + d * n, n) / pivot[d], n)
    most = 0.0
    for k in range(n):
        most = max(most, fabs(u[k]))
        if k % 3 == 0:
            approach = max(approach, fabs(rest[k]))
    if approach <= BEYOND * most:
        return
    for k in range(n):
        u[k] -= rest[k]
        if k % 3 == 0 and rest[k] < -BEYOND * most:
            together[k // 3].driven = 1
            u[k] = u[k] if fabs(u[k]) > BEYOND * most else 0.0


cdef inline void leave_firm(double* a, double* u, const Row* rows, Struck** together, int count) noexcept nogil:
    """Take out of a blow the contacts along whose normals nothing gives, as between two bodies that a joint holds to each
    other: what A has there is rounding, and so are their rates after leave_driven. Impulses that were to make such rates
    zero grew past all numbers. Without rows and columns, and not closing, they have none."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, j, k
    for i in range(0, n, 3):
        if a[i * n + i] > FIRM * rows[together[i // 3].begin].diagonal:
            continue
        for j in range(i, i + 3):
            u[j] = 0.0
            for k in range(n):
                a[j * n + k] = a[k * n + j] = 0.0
