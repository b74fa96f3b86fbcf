"""Implicit Runge-Kutta by Newton's method, over rates f(t, y) that someone else finds:

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),        (1 - h a x J) dk = f - k,    J = df/dy at the beginning of the step

all stages at once, J kept as long as Newton's method is quick with it (core/_newton.pyx). The error is estimated by what
the polynomial through the rates of the stages misses at the beginning, where the rate is known, with what is stiff damped
out of it:

    error = (1 - h g J)^-1 g (f(t, y) - sum_j l_j(0) k_j),    g = FILTER

Rates stand in slots: of the stages, of what Newton's method finds f to be there, of the beginning, and one to probe with,
in which the estimate is left.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section IV.8; "Stiff differential
equations solved by Radau methods", J. Comput. Appl. Math. 111, 1999.
"""

from libc.math cimport sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._newton cimport factor_lu, solve_lu

# About the real eigenvalue of a.
cdef double FILTER = 0.16


cdef class ImplicitStages(NewtonMethod):
    """a: (s, s); begin: (s,) of the stages' rates at the beginning; slots: (2 s + 2, stride), the rates; place: (size,)
    which numbers of a slot move."""

    def __init__(self, a, begin, slots, place, double tolerance):
        n, s = len(place), len(a)
        numbers, matrix = np.zeros((s + 1, n + 1)), np.zeros((s * n + 1, s * n))
        squares, orders = np.zeros((2, n + 1, n)), np.zeros((2, s * n + 1), np.int32)
        places = np.append(place, 0).astype(np.int32)
        self.kept = a, begin, slots, places, numbers, matrix, squares, orders
        self.stages, self.size, self.stride = s, n, slots.shape[1]
        self.a, self.begin_weights, self.slots = doubles(a), doubles(begin), doubles(slots)
        self.place, self.scale, self.change = integers(places), doubles(numbers[0]), doubles(numbers[1])
        self.matrix, self.jacobian, self.filter = doubles(matrix), doubles(squares[0]), doubles(squares[1])
        self.order, self.filter_order = integers(orders[0]), integers(orders[1])
        self.tolerance, self.kept_jacobian = tolerance, squares[0][:n]

    cdef int of_stage(self, int k) noexcept nogil:
        """The slot in which f of stage k is to be left."""
        return self.stages + k

    cdef int beginning(self) noexcept nogil:
        return 2 * self.stages

    cdef int from_slot(self) noexcept nogil:
        return self.beginning()

    cdef int found_slot(self) noexcept nogil:
        return self.of_stage(0)

    cdef int probe_slot(self) noexcept nogil:
        return 2 * self.stages + 1

    cdef void forget(self) noexcept nogil:
        """A time begins of whose beginning alone everything follows."""
        self.h, self.known, self.fresh = 0.0, False, False

    cdef void begin(self) noexcept nogil:
        """A step begins, whose rates are in their slot: the same as those of all stages. `scale` is there."""
        cdef double* first = self.slots + self.beginning() * self.stride
        cdef int k
        for k in range(self.stages):
            memcpy(self.slots + k * self.stride, first, self.stride * sizeof(double))

    cdef void start_jacobian(self) noexcept nogil:
        """Differences are taken from the beginning."""
        memset(self.slots + self.probe_slot() * self.stride, 0, self.stride * sizeof(double))

    cdef void know(self) noexcept nogil:
        NewtonMethod.know(self)
        self.h = 0.0

    cdef bint start(self, double h) noexcept nogil:
        """Newton's method begins on a step of h. -> whether there are factors"""
        self.last, self.rounds = -1.0, 0
        if h == self.h:
            return True
        self.h = 0.0
        if self.fill_and_factor(h):
            self.h = h
        return self.h == h

    cdef bint fill_and_factor(self, double h) noexcept nogil:
        cdef Py_ssize_t i, k, n = self.size, m = self.stages * self.size
        cdef int p, q
        cdef double part
        for p in range(self.stages):
            for q in range(self.stages):
                part = -h * self.a[p * self.stages + q]
                for i in range(n):
                    for k in range(n):
                        self.matrix[(p * n + i) * m + q * n + k] = part * self.jacobian[i * n + k]
        for i in range(m):
            self.matrix[i * m + i] += 1.0
        for i in range(n):
            for k in range(n):
                self.filter[i * n + k] = -h * FILTER * self.jacobian[i * n + k]
            self.filter[i * n + i] += 1.0
        return factor_lu(self.matrix, m, self.order) and factor_lu(self.filter, n, self.filter_order)

    cdef int improve(self, double h) noexcept nogil:
        """f of all stages is in their slots: better rates. -> whether they are good, or never will be"""
        cdef double* rates
        cdef const double* found
        cdef double size, part
        cdef Py_ssize_t i, n = self.size
        cdef int k
        for k in range(self.stages):
            rates, found = self.slots + k * self.stride, self.slots + self.of_stage(k) * self.stride
            for i in range(n):
                self.change[k * n + i] = found[self.place[i]] - rates[self.place[i]]
        solve_lu(self.matrix, self.stages * n, self.order, self.change)
        size = 0.0
        for k in range(self.stages):
            rates = self.slots + k * self.stride
            for i in range(n):
                rates[self.place[i]] += self.change[k * n + i]
                part = h * self.change[k * n + i] / self.scale[i]
                size += part * part
        size = sqrt(size / max(1, self.stages * n)) / self.tolerance
        return self.judge_change(size)

    cdef void estimate(self) noexcept nogil:
        """The error of a step of 1 second as long, into the slot to probe with."""
        cdef double* out = self.slots + self.probe_slot() * self.stride
        cdef const double* first = self.slots + self.beginning() * self.stride
        cdef Py_ssize_t i
        cdef double sum
        cdef int k
        memset(out, 0, self.stride * sizeof(double))
        for i in range(self.size):
            sum = first[self.place[i]]
            for k in range(self.stages):
                sum -= self.begin_weights[k] * self.slots[k * self.stride + self.place[i]]
            self.change[i] = FILTER * sum
        solve_lu(self.filter, self.size, self.filter_order, self.change)
        for i in range(self.size):
            out[self.place[i]] = self.change[i]
