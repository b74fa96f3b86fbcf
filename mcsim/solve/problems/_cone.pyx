"""Contacts with Coulomb's friction, dense: projected sweeps, their fixed points' residual, and the equations of Alart and
Curnier with their derivative (coulomb.py has the problem and the sources).

A contact whose slip is given, along s, is not free to choose: lambda_t = -mu (lambda_n + load) s whatever its velocity.
All arrays are of one problem of c contacts: A (3c, 3c), b (3c,), friction (c,), load (c,), slips (c,): whether the slip
is given, slip (c, 2): s, rate (c,): the step of each contact, 1 / the largest eigenvalue of its block.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt

import numpy as np

cdef enum:
    INFINITE = 100000000     # a friction coefficient above is held to be infinite: no slip


cdef struct FrictionCone:
    int count
    const double* A
    const double* b
    const double* friction
    const double* load
    const unsigned char* slips
    const double* slip
    const double* rate


cdef class Problem:
    """One problem, whose arrays it keeps."""

    cdef FrictionCone c
    cdef object _arrays

    def __init__(self, const double[:, ::1] A, const double[::1] b, const double[::1] friction, const double[::1] load,
                 const unsigned char[::1] slips, const double[:, ::1] slip, const double[::1] rate):
        self._arrays = A, b, friction, load, slips, slip, rate
        self.c.count = friction.shape[0]
        if self.c.count == 0:
            return
        self.c.A, self.c.b, self.c.friction, self.c.load = &A[0, 0], &b[0], &friction[0], &load[0]
        self.c.slips, self.c.slip, self.c.rate = &slips[0], &slip[0, 0], &rate[0]

    def sweep(self, double[::1] x, int most, double settled):
        """Projected Gauss-Seidel, in place: at most `most` sweeps, until none changes x by more than `settled` of it."""
        cdef int _
        if self.c.count == 0:
            return
        with nogil:
            for _ in range(most):
                if one_sweep(&self.c, &x[0]) <= settled * largest(3 * self.c.count, &x[0]):
                    break

    def residual(self, const double[::1] x):
        """Natural map: how far a projected step would move any impulse."""
        cdef double worst = 0.0
        cdef double trial[3]
        cdef int i, k
        for i in range(self.c.count):
            attempt(&self.c, i, &x[0], trial)
            project(&self.c, i, trial)
            for k in range(3):
                if not fabs(trial[k] - x[3 * i + k]) <= worst:
                    worst = fabs(trial[k] - x[3 * i + k])
        return worst

    def equations(self, const double[::1] x, double[::1] F, double[:, ::1] J, unsigned char[::1] live):
        """F (3c,), J (3c, 3c) = dF/dx; live (3c,): the rows that are not just lambda = 0."""
        cdef int i
        for i in range(self.c.count):
            equation(&self.c, i, &x[0], &F[0], &J[0, 0], &live[0])


cdef double largest(int n, const double* x) noexcept nogil:
    cdef double found = 0.0
    cdef int k
    for k in range(n):
        found = fmax(found, fabs(x[k]))
    return found


cdef void attempt(const FrictionCone* c, int i, const double* x, double* trial) noexcept nogil:
    """lambda - r u of contact i."""
    cdef int n = 3 * c.count
    cdef int k
    cdef const double* row = c.A + <size_t>(3 * i) * n
    cdef double u0 = c.b[3 * i]
    cdef double u1 = c.b[3 * i + 1]
    cdef double u2 = c.b[3 * i + 2]
    for k in range(n):
        u0 += row[k] * x[k]
        u1 += row[n + k] * x[k]
        u2 += row[2 * n + k] * x[k]
    trial[0] = x[3 * i] - c.rate[i] * u0
    trial[1] = x[3 * i + 1] - c.rate[i] * u1
    trial[2] = x[3 * i + 2] - c.rate[i] * u2


cdef void project(const FrictionCone* c, int i, double* x) noexcept nogil:
    """A normal that does not pull, a tangent within its disc, or where the slip says."""
    cdef double mu = c.friction[i]
    cdef double bound, length
    x[0] = fmax(x[0], 0.0)
    bound = x[0] + c.load[i]
    if c.slips[i]:
        x[1] = -mu * bound * c.slip[2 * i]
        x[2] = -mu * bound * c.slip[2 * i + 1]
        return
    bound = INFINITY if mu > INFINITE and bound > 0.0 else fmin(mu, INFINITE) * bound
    length = sqrt(x[1] * x[1] + x[2] * x[2])
    if length > bound:
        x[1] *= bound / length
        x[2] *= bound / length


cdef double one_sweep(const FrictionCone* c, double* x) noexcept nogil:
    """-> the largest change."""
    cdef double change = 0.0
    cdef double trial[3]
    cdef int i, k
    for i in range(c.count):
        attempt(c, i, x, trial)
        project(c, i, trial)
        for k in range(3):
            change = fmax(change, fabs(trial[k] - x[3 * i + k]))
            x[3 * i + k] = trial[k]
    return change


cdef void equation(const FrictionCone* c, int i, const double* x, double* F, double* J, unsigned char* live) noexcept nogil:
    """The three of contact i. Where it opens lambda = 0; else u_n = 0 and, as it sticks or slips, u_t = 0 or lambda_t =
    mu lambda_n along lambda_t - r u_t."""
    cdef int size = 3 * c.count
    cdef int n = 3 * i
    cdef int e, f, k
    cdef double mu = c.friction[i]
    cdef double r = c.rate[i]
    cdef double normal = x[n] + c.load[i]
    cdef double trial[3]
    cdef double turn[3]
    cdef double length, part
    cdef bint closed
    for e in range(3):
        F[n + e], live[n + e] = x[n + e], 0
        for k in range(size):
            J[(n + e) * size + k] = 0.0
        J[(n + e) * size + n + e] = 1.0
    attempt(c, i, x, trial)
    closed = trial[0] > 0.0
    if not closed and c.load[i] <= 0.0:
        return
    if closed:
        row_of(c, n, x[n] - trial[0], F, J, live)
    if c.slips[i]:
        for e in range(1, 3):
            F[n + e], live[n + e] = x[n + e] + mu * normal * c.slip[2 * i + e - 1], 1
            J[(n + e) * size + n] += mu * c.slip[2 * i + e - 1]
        return
    length = sqrt(trial[1] * trial[1] + trial[2] * trial[2])
    if mu > INFINITE or length <= mu * normal:
        row_of(c, n + 1, x[n + 1] - trial[1], F, J, live)
        row_of(c, n + 2, x[n + 2] - trial[2], F, J, live)
        return
    trial[1] /= length
    trial[2] /= length
    part = mu * normal / length
    turn[0] = (1.0 - trial[1] * trial[1]) * part
    turn[1] = -trial[1] * trial[2] * part
    turn[2] = (1.0 - trial[2] * trial[2]) * part
    for e in range(2):
        F[n + 1 + e], live[n + 1 + e] = x[n + 1 + e] - mu * normal * trial[1 + e], 1
        for k in range(size):
            J[(n + 1 + e) * size + k] += r * (turn[e] * c.A[(n + 1) * size + k] + turn[e + 1] * c.A[(n + 2) * size + k])
        for f in range(2):
            J[(n + 1 + e) * size + n + 1 + f] -= turn[e + f]
        J[(n + 1 + e) * size + n] -= mu * trial[1 + e]


cdef void row_of(const FrictionCone* c, int row, double value, double* F, double* J, unsigned char* live) noexcept nogil:
    """r u = 0 as equation `row`."""
    cdef int size = 3 * c.count
    cdef int k
    cdef double r = c.rate[row // 3]
    F[row], live[row] = value, 1
    for k in range(size):
        J[row * size + k] = r * c.A[row * size + k]


def groups(const double[:, ::1] A):
    """(c,) of the contacts of A (3c, 3c): the first of those that each is coupled with, if only through others."""
    cdef Py_ssize_t i, j, count = A.shape[0] // 3
    out = np.arange(count)
    cdef Py_ssize_t[::1] first = out
    for i in range(count):
        for j in range(i):
            if coupled(A, i, j):
                unite(first, i, j)
    for i in range(count):
        first[i] = root(first, i)
    return out


cdef bint coupled(const double[:, ::1] A, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t k, m
    for k in range(3):
        for m in range(3):
            if A[3 * i + k, 3 * j + m] != 0.0:
                return True
    return False


cdef Py_ssize_t root(Py_ssize_t[::1] first, Py_ssize_t i) noexcept nogil:
    while first[i] != i:
        i = first[i]
    return i


cdef void unite(Py_ssize_t[::1] first, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    i, j = root(first, i), root(first, j)
    first[i if i > j else j] = i if i < j else j
