"""L' L = H along the tree (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008): the factor has no fill, for the
rows of H are 0 but for the velocities on the way to the base, which `parent` has."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t


cdef inline Py_ssize_t factor_ltl(double* h, const int32_t* parent, Py_ssize_t nv) noexcept nogil:
    """L in place of H (Featherstone, table 6.3). -> the velocity at which H is not positive definite, -1: none"""
    cdef Py_ssize_t i, j, k
    cdef double pivot
    cdef double* row
    for k in range(nv - 1, -1, -1):
        row = h + k * nv
        for j in range(k + 1, nv):
            row[j] = 0.0
        if not row[k] > 0.0:
            return k
        pivot = sqrt(row[k])
        row[k] = pivot
        i = parent[k]
        while i >= 0:
            row[i] = row[i] / pivot
            i = parent[i]
        i = parent[k]
        while i >= 0:
            j = i
            while j >= 0:
                h[i * nv + j] = h[i * nv + j] - row[i] * row[j]
                j = parent[j]
            i = parent[i]
    return -1


cdef inline void solve_ltl(const double* l, const int32_t* parent, Py_ssize_t nv, double* x) noexcept nogil:
    """x = H^-1 x: first L' y = x, then L x = y (Featherstone, 6.5)."""
    cdef Py_ssize_t i, k
    for k in range(nv - 1, -1, -1):
        x[k] = x[k] / l[k * nv + k]
        i = parent[k]
        while i >= 0:
            x[i] = x[i] - l[k * nv + i] * x[k]
            i = parent[i]
    for k in range(nv):
        i = parent[k]
        while i >= 0:
            x[k] = x[k] - l[k * nv + i] * x[i]
            i = parent[i]
        x[k] = x[k] / l[k * nv + k]
