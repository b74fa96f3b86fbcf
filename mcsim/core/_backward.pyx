"""Backward differentiation formulas of orders 1 to 5, in steps as long as their estimate of the error allows, over rates
f(t, y) that someone else finds. With D^j y_n the backward differences of the last steps, all of length h,

    sum_(j<=k) 1/j D^j y_(n+1) = h f(t_(n+1), y_(n+1)) + kappa_k g_k d,    g_k = sum_(j<=k) 1/j,
    d = y_(n+1) - sum_(j<=k) D^j y_n = D^(k+1) y_(n+1)

kappa those numbers by which the formulas of L. Shampine and M. Reichelt are more accurate than the classical ones, 0 at
order 5. d is found by Newton's method with 1 - c J, c = h / ((1 - kappa_k) g_k), and tells the error, (kappa_k g_k +
1/(k+1)) d. After k + 1 steps of one length those of the orders beside are compared, and the order goes where steps can
be longest; where the length changes, differences are those of the polynomial through the past at its places.

The state is a displacement from a base, so that differences have the digits of what has changed and turns are vectors.

Sources: L. Shampine, M. Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput. 18, 1997, which SciPy's BDF follows, too; E.
Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, sections III.1 and V.2.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._newton cimport factor_lu, solve_lu

cdef enum:
    ROWS = BACKWARD_ORDERS + 3           # of differences
cdef double[BACKWARD_ORDERS + 1] KAPPA = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0]     # of Shampine and Reichelt
cdef double[BACKWARD_ORDERS + 2] HARMONIC = [
    0.0, 1.0, 3.0 / 2.0, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0, 49.0 / 20.0]                    # g_k

# The factor by which a step follows another: what is left of the estimate, and its bounds.
cdef double SAFETY = 0.8
cdef double LEAST = 0.2
cdef double MOST = 10.0
# Of the first step's error, in parts of the tolerance: nothing is known yet.
cdef double FIRST = 0.1


cdef class BackwardDifferences(NewtonMethod):
    """slots: (BACKWARD_SLOTS, stride), the rates; place: (size,) which numbers of a slot move."""

    def __init__(self, slots, place, double tolerance):
        n = len(place)
        numbers, differences = np.zeros((4, n + 1)), np.zeros((2, ROWS, n + 1))
        squares, pivots = np.zeros((2, n + 1, n)), np.zeros(n + 1, np.int32)
        places = np.append(place, 0).astype(np.int32)
        self.kept = slots, places, numbers, differences, squares, pivots
        self.size, self.stride, self.slots, self.place = n, slots.shape[1], doubles(slots), integers(places)
        self.scale, self.change = doubles(numbers[0]), doubles(numbers[1])
        self.psi, self.d = doubles(numbers[2]), doubles(numbers[3])
        self.differences, self.other = doubles(differences[0]), doubles(differences[1])
        self.jacobian, self.matrix, self.pivots = doubles(squares[0]), doubles(squares[1]), integers(pivots)
        self.tolerance, self.kept_jacobian = tolerance, squares[0][:n]

    cdef int from_slot(self) noexcept nogil:
        return BACKWARD_FROM

    cdef int probe_slot(self) noexcept nogil:
        return BACKWARD_PLACE

    cdef int found_slot(self) noexcept nogil:
        return BACKWARD_FOUND

    cdef void know(self) noexcept nogil:
        NewtonMethod.know(self)
        self.c = 0.0

    cdef void forget(self) noexcept nogil:
        """A time begins of whose beginning alone everything follows."""
        self.order, self.c, self.known, self.fresh, self.since = 0, 0.0, False, False, 0.0
        memset(self.slots + BACKWARD_PLACE * self.stride, 0, self.stride * sizeof(double))

    cdef void start(self, double most) noexcept nogil:
        """The base is where y is, f there in its slot, the Jacobian is known: a first step of order 1, whose error is about
        h^2/2 J f, and which is no longer than this."""
        cdef const double* f = self.slots + BACKWARD_BASE * self.stride
        cdef double sum, part, size = 0.0
        cdef Py_ssize_t i, k, n = self.size
        for i in range(n):
            sum = 0.0
            for k in range(n):
                sum += self.jacobian[i * n + k] * f[self.place[k]]
            part = sum / (self.scale[i] * self.tolerance)
            size += part * part
        size = sqrt(size / max(1, n))
        self.h = most if not size * most * most > 2.0 * FIRST else sqrt(2.0 * FIRST / size)
        memset(self.differences, 0, ROWS * (n + 1) * sizeof(double))
        for i in range(n):
            self.differences[n + 1 + i] = self.h * f[self.place[i]]
        self.order, self.equal = 1, 0

    cdef void change_step(self, double h) noexcept nogil:
        """Differences at steps of h: of a step by the factor s, D <- (R(s) R(1))' D, R_ij = prod_(m<=i) (m - 1 - s j)/m."""
        cdef double[BACKWARD_ORDERS + 1][BACKWARD_ORDERS + 1] of_length, of_one
        cdef double s = h / self.h, weight
        cdef Py_ssize_t i, k, m, row = self.size + 1, p = self.order
        cdef Py_ssize_t q
        for k in range(p + 1):
            of_length[0][k] = of_one[0][k] = 1.0
            for i in range(1, p + 1):
                of_length[i][k] = of_length[i - 1][k] * (i - 1 - s * k) / i if k else 0.0
                of_one[i][k] = of_one[i - 1][k] * (i - 1.0 - k) / i if k else 0.0
        for q in range(p + 1):
            memset(self.other + q * row, 0, row * sizeof(double))
            for i in range(p + 1):
                weight = 0.0
                for m in range(p + 1):
                    weight += of_length[i][m] * of_one[m][q]
                for k in range(self.size):
                    self.other[q * row + k] += weight * self.differences[i * row + k]
        memcpy(self.differences, self.other, (p + 1) * row * sizeof(double))
        self.h, self.equal = h, 0

    cdef void foresee(self) noexcept nogil:
        """The place that the past tells, and psi. What nobody moves goes on at its rate."""
        cdef double* place = self.slots + BACKWARD_PLACE * self.stride
        cdef const double* base = self.slots + BACKWARD_BASE * self.stride
        cdef Py_ssize_t i, row = self.size + 1
        cdef double sum, past, alpha = (1.0 - KAPPA[self.order]) * HARMONIC[self.order]
        cdef int k
        for i in range(self.stride):
            place[i] = (self.since + self.h) * base[i]
        for i in range(self.size):
            sum, past = self.differences[i], 0.0
            for k in range(1, self.order + 1):
                sum += self.differences[k * row + i]
                past += HARMONIC[k] * self.differences[k * row + i]
            place[self.place[i]], self.psi[i], self.d[i] = sum, past / alpha, 0.0
        self.last, self.rounds = -1.0, 0

    cdef bint prepare(self) noexcept nogil:
        """-> whether there are factors of 1 - c J"""
        cdef double c = self.h / ((1.0 - KAPPA[self.order]) * HARMONIC[self.order])
        cdef Py_ssize_t i, k, n = self.size
        if c == self.c:
            return True
        for i in range(n):
            for k in range(n):
                self.matrix[i * n + k] = -c * self.jacobian[i * n + k]
            self.matrix[i * n + i] += 1.0
        self.c = c if factor_lu(self.matrix, n, self.pivots) else 0.0
        return self.c == c

    cdef int improve(self) noexcept nogil:
        """f at the place is in its slot: a better place. -> whether it is good, or never will be"""
        cdef double* place = self.slots + BACKWARD_PLACE * self.stride
        cdef const double* found = self.slots + BACKWARD_FOUND * self.stride
        cdef double part, size = 0.0
        cdef Py_ssize_t i
        for i in range(self.size):
            self.change[i] = self.c * found[self.place[i]] - self.psi[i] - self.d[i]
        solve_lu(self.matrix, self.size, self.pivots, self.change)
        for i in range(self.size):
            place[self.place[i]] += self.change[i]
            self.d[i] += self.change[i]
            part = self.change[i] / self.scale[i]
            size += part * part
        return self.judge_change(sqrt(size / max(1, self.size)) / self.tolerance)

    cdef void estimate(self) noexcept nogil:
        """The error of the step into its slot."""
        cdef double* out = self.slots + BACKWARD_ERROR * self.stride
        cdef double weight = error_weight(self.order)
        cdef Py_ssize_t i
        memset(out, 0, self.stride * sizeof(double))
        for i in range(self.size):
            out[self.place[i]] = weight * self.d[i]

    cdef bint accepts(self, double error) noexcept nogil:
        """error: of the step, in parts of the tolerance. If it is too large, a shorter step is to be tried."""
        if error < 1.0:
            return True
        self.change_step(self.h * max(LEAST, SAFETY / root_of(error, self.order + 1)))
        return False

    cdef void fail(self) noexcept nogil:
        """Newton's method came to no end, with a Jacobian of this step."""
        self.change_step(0.5 * self.h)

    cdef void take(self) noexcept nogil:
        """The step's end is in its place, with what projected it: the differences of the next one."""
        cdef const double* place = self.slots + BACKWARD_PLACE * self.stride
        cdef Py_ssize_t i, row = self.size + 1
        cdef double foreseen
        cdef int k, p = self.order
        self.since += self.h
        self.equal += 1
        for i in range(self.size):
            foreseen = self.differences[i]
            for k in range(1, p + 1):
                foreseen += self.differences[k * row + i]
            self.d[i] = place[self.place[i]] - foreseen
            self.differences[(p + 2) * row + i] = self.d[i] - self.differences[(p + 1) * row + i]
            self.differences[(p + 1) * row + i] = self.d[i]
            for k in range(p, -1, -1):
                self.differences[k * row + i] += self.differences[(k + 1) * row + i]

    cdef double error_of(self, int order, const double* difference) noexcept nogil:
        """In parts of the tolerance."""
        cdef double part, sum = 0.0
        cdef Py_ssize_t i
        for i in range(self.size):
            part = difference[i] / self.scale[i]
            sum += part * part
        return fabs(error_weight(order)) * sqrt(sum / max(1, self.size)) / self.tolerance

    cdef void go_on(self, double error) noexcept nogil:
        """After a step with this error: the order and the length of those to come."""
        cdef Py_ssize_t row = self.size + 1
        cdef double best, factor
        cdef int p = self.order
        cdef int chosen = p
        if self.equal < p + 1:
            return
        best = 1.0 / root_of(error, p + 1)
        if p > 1:
            factor = 1.0 / root_of(self.error_of(p - 1, self.differences + p * row), p)
            if factor > best:
                best, chosen = factor, p - 1
        if p < BACKWARD_ORDERS:
            factor = 1.0 / root_of(self.error_of(p + 1, self.differences + (p + 2) * row), p + 2)
            if factor > best:
                best, chosen = factor, p + 1
        self.order = chosen
        self.change_step(self.h * min(MOST, SAFETY * best))


cdef inline double error_weight(int order) noexcept nogil:
    return KAPPA[order] * HARMONIC[order] + 1.0 / (order + 1)


cdef double root_of(double x, int n) noexcept nogil:
    """The n-th root of x, between 0.01 and 100, by Newton's method from above."""
    cdef double y = max(x, 1.0)
    cdef double power
    cdef int _, __
    if not x > 1e-12:
        return 0.01
    if not x < 1e12:
        return 100.0
    for _ in range(200):
        power = 1.0
        for __ in range(n - 1):
            power *= y
        power = y - (y - x / power) / n
        if not power < y:
            break
        y = power
    return min(max(y, 0.01), 100.0)
