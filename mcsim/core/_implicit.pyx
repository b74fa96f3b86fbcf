"""Implicit Runge-Kutta by Newton's method, over rates f(t, y) that someone else finds:

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),        (1 - h a x J) dk = f - k,    J = df/dy at the beginning of the step

all stages at once, from where the polynomial through the last step's rates goes on to. J is kept as long as Newton's
method is quick with it (core/_newton.pyx). In the modes of a the equations are apart, so that the factors are of matrices
of the size of J, complex ones but for one (core/stage_modes.py). The error is estimated by what the polynomial through
the rates of the stages misses at the beginning, where the rate is known, with what is stiff damped out of it:

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
from mcsim.core._complex_lu cimport factor_complex, solve_complex
from mcsim.core._newton cimport factor_lu, solve_lu

from mcsim.core.stage_modes import stage_modes

# About the real eigenvalue of a.
cdef double FILTER = 0.16


cdef class ImplicitStages(NewtonMethod):
    """a: (s, s); begin: (s,) of the stages' rates at the beginning; slots: (2 s + 2, stride), the rates; place: (size,)
    which numbers of a slot move."""

    def __init__(self, a, begin, slots, place, double tolerance):
        n, s = len(place), len(a)
        values, into, back = stage_modes(a)
        nodes, weights = a.sum(axis=1), np.zeros((s, s))
        numbers, matrices = np.zeros((2 * s + 4, n + 1)), np.zeros((2 * len(values) * n + 1, n))
        squares, orders = np.zeros((2, n + 1, n)), np.zeros((len(values) + 1, n + 1), np.int32)
        places = np.append(place, 0).astype(np.int32)
        self.nodes, self.weights = doubles(nodes), doubles(weights)
        self.kept = nodes, weights, values, into, back, begin, slots, places, numbers, matrices, squares, orders
        self.stages, self.size, self.stride, self.modes = s, n, slots.shape[1], len(values)
        self.values, self.into, self.back = doubles(values), doubles(into), doubles(back)
        self.begin_weights, self.slots = doubles(begin), doubles(slots)
        self.place, self.scale, self.mode = integers(places), doubles(numbers[0]), doubles(numbers[1])
        self.change, self.changes = doubles(numbers[3]), doubles(numbers[3 + s])
        self.matrices, self.jacobian, self.filter = doubles(matrices), doubles(squares[0]), doubles(squares[1])
        self.filter_order, self.orders = integers(orders[0]), integers(orders[1:])
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
        self.h, self.past, self.known, self.fresh = 0.0, 0.0, False, False

    cdef void begin(self, double h) noexcept nogil:
        """A step of h begins, whose rates are in their slot: those of all stages are the same, or go on as before. `scale`
        is there."""
        cdef double* first = self.slots + self.beginning() * self.stride
        cdef int k
        if self.past > 0.0:
            self.weigh_past(h / self.past)
            self.go_on()
        else:
            for k in range(self.stages):
                memcpy(self.slots + k * self.stride, first, self.stride * sizeof(double))
        self.past = 0.0

    cdef void keep(self, double h) noexcept nogil:
        """A step of h was good, and the next one begins where it ends."""
        self.past = h

    cdef void weigh_past(self, double ratio) noexcept nogil:
        """`weights` of the last step's stages in those of one that is so many times as long: Lagrange's polynomials."""
        cdef double t, weight
        cdef int i, j, k
        for i in range(self.stages):
            t = 1.0 + ratio * self.nodes[i]
            for j in range(self.stages):
                weight = 1.0
                for k in range(self.stages):
                    if k != j:
                        weight *= (t - self.nodes[k]) / (self.nodes[j] - self.nodes[k])
                self.weights[i * self.stages + j] = weight

    cdef void go_on(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef double sum
        cdef int k, m
        for i in range(self.size):
            for k in range(self.stages):
                sum = 0.0
                for m in range(self.stages):
                    sum += self.weights[k * self.stages + m] * self.slots[m * self.stride + self.place[i]]
                self.change[k] = sum
            for k in range(self.stages):
                self.slots[k * self.stride + self.place[i]] = self.change[k]

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
        cdef Py_ssize_t i, k, n = self.size
        cdef int p
        for p in range(self.modes):
            if not self.factor_mode(p, h):
                return False
        for i in range(n):
            for k in range(n):
                self.filter[i * n + k] = -h * FILTER * self.jacobian[i * n + k]
            self.filter[i * n + i] += 1.0
        return factor_lu(self.filter, n, self.filter_order)

    cdef bint factor_mode(self, int p, double h) noexcept nogil:
        cdef Py_ssize_t i, n = self.size
        cdef double* re = self.matrices + 2 * p * n * n
        cdef double* im = re + n * n
        for i in range(n * n):
            re[i] = -h * self.values[2 * p] * self.jacobian[i]
            im[i] = -h * self.values[2 * p + 1] * self.jacobian[i]
        for i in range(n):
            re[i * n + i] += 1.0
        if self.values[2 * p + 1] == 0.0:
            return factor_lu(re, n, self.orders + p * (n + 1))
        return factor_complex(re, im, n, self.orders + p * (n + 1))

    cdef void solve_mode(self, int p) noexcept nogil:
        """Its part of (1 - h a x J)^-1 `change` is added to `changes`."""
        cdef Py_ssize_t i, n = self.size
        cdef double* x = self.mode
        cdef double* y = self.mode + n
        cdef const double* re = self.matrices + 2 * p * n * n
        cdef const double* part
        cdef int k
        for i in range(2 * n):
            x[i] = 0.0
        for k in range(self.stages):
            part = self.into + 2 * (p * self.stages + k)
            for i in range(n):
                x[i] += part[0] * self.change[k * n + i]
                y[i] += part[1] * self.change[k * n + i]
        if self.values[2 * p + 1] == 0.0:
            solve_lu(re, n, self.orders + p * (n + 1), x)
        else:
            solve_complex(re, re + n * n, n, self.orders + p * (n + 1), x, y)
        for k in range(self.stages):
            part = self.back + 2 * (p * self.stages + k)
            for i in range(n):
                self.changes[k * n + i] += part[0] * x[i] - part[1] * y[i]

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
        for i in range(self.stages * n):
            self.changes[i] = 0.0
        for k in range(self.modes):
            self.solve_mode(k)
        size = 0.0
        for k in range(self.stages):
            rates = self.slots + k * self.stride
            for i in range(n):
                rates[self.place[i]] += self.changes[k * n + i]
                part = h * self.changes[k * n + i] / self.scale[i]
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
