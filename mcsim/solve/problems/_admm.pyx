"""The iterations of `admm.py`, whole: solve, project, measure."""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int64_t

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._clock cimport start_clock, tick, ticks
from mcsim.solve._blocks cimport clamp
from mcsim.solve.problems._proximal cimport Proximal
from mcsim.solve.problems._system cimport FRICTIONLESS, NCP, PYRAMID, System, project_contact

start_clock()

cdef enum Kind:
    FREE = 0                # bilateral
    BOUND = 1
    HELD = 2                # without mass: no impulse moves it

cdef void project_pyramid(double mu, double* x) noexcept nogil:
    """The nearest point of {|t1| <= mu n, |t2| <= mu n}: with the k largest tangents at their bounds,
    n = (n + mu sum |t|) / (1 + k mu^2), for the k at which just those are beyond it."""
    cdef double first = max(fabs(x[1]), fabs(x[2]))
    cdef double second = min(fabs(x[1]), fabs(x[2]))
    cdef double n = x[0]
    if mu < INFINITY:
        if first > mu * n:
            n = (x[0] + mu * first) / (1.0 + mu * mu)
            if second > mu * n:
                n = (x[0] + mu * (first + second)) / (1.0 + 2.0 * mu * mu)
        n = n if n > 0.0 else 0.0
        x[1] = clamp(x[1], -mu * n, mu * n)
        x[2] = clamp(x[2], -mu * n, mu * n)
    x[0] = n if n > 0.0 else 0.0


cdef inline double shift(int model, double mu, const double* y) noexcept nogil:
    """De Saxce's, of a contact's velocity: mu |y_t|, in the norm dual to the cone's."""
    if mu == INFINITY:
        return 0.0
    if model == NCP:
        return mu * sqrt(y[1] * y[1] + y[2] * y[2])
    return mu * (fabs(y[1]) + fabs(y[2])) if model == PYRAMID else 0.0


cdef class Admm:
    """impulse: where to begin, in the problem's units. rho: of the scaled rows."""
    cdef Proximal proximal
    cdef System system
    cdef int model
    cdef readonly double rho
    cdef double eta, alpha
    cdef readonly Py_ssize_t factorizations
    cdef double primal, dual
    cdef public double power
    cdef public int every
    cdef object kept
    cdef double* z                  # (rows,) in the cones, scaled
    cdef double* y                  # what holds them there: u + s at the solution
    cdef double* x                  # lambda of the linear solve
    cdef double* right
    cdef double* d
    cdef double* impulse            # z and u in the problem's units
    cdef double* velocity
    cdef double* state
    cdef double* best
    cdef double* best_velocity
    cdef unsigned char* kind        # (blocks,): FREE, BOUND, HELD

    def __init__(self, System system, inverse_mass, int model, impulse, velocity, double rho, double eta, double alpha):
        cdef Py_ssize_t n = system.row_count
        cdef Py_ssize_t block, i
        cdef int r
        self.proximal = Proximal(system, inverse_mass)
        self.system, self.model = system, model
        self.rho, self.eta, self.alpha = rho, eta, alpha
        rows = np.zeros((9, n))
        rows[5], rows[6] = impulse, velocity
        state = np.zeros(system.width)
        kinds = np.zeros(system.block_count, np.uint8)
        cdef unsigned char[::1] kind = kinds
        self.kept = rows, state, kinds
        self.z, self.y, self.x, self.right, self.d = (doubles(rows[0]), doubles(rows[1]), doubles(rows[2]),
                                                      doubles(rows[3]), doubles(rows[4]))
        self.impulse, self.velocity, self.state = doubles(rows[5]), doubles(rows[6]), doubles(state)
        self.best, self.best_velocity = doubles(rows[7]), doubles(rows[8])
        self.kind = &kind[0] if system.block_count else NULL
        for block in range(system.block_count):
            for r in range(1, system.size(block)):
                if system.local[9 * block + 4 * r] > 0.0:
                    kind[block] = 1
            if system.local[9 * block] > 0.0:
                kind[block] = 1
            if not kind[block]:
                kind[block] = HELD
            elif block >= system.contact_count and system.lower[block - system.contact_count] == -INFINITY \
                    and system.upper[block - system.contact_count] == INFINITY:
                kind[block] = FREE
            else:
                kind[block] = BOUND
        self.begin_dual()
        self.prepare()

    cdef begin_dual(self):
        """y of the impulses to begin with: their velocities, as far as the cones' duals and the bounds allow."""
        cdef System s = self.system
        cdef Py_ssize_t block, i
        cdef int r
        cdef double e
        cdef double w[3]
        for block in range(s.block_count):
            i = s.first(block)
            e = self.proximal.scale[block]
            for r in range(s.size(block)):
                self.z[i + r] = self.x[i + r] = self.impulse[i + r] / e
                w[r] = e * self.velocity[i + r]
            if self.kind[block] != BOUND:
                continue
            if block < s.contact_count:
                w[0] += shift(self.model, s.friction[block], w)
                self.project(block, 1.0, w)
            else:
                self.project(block, 1.0, w)
            for r in range(s.size(block)):
                self.y[i + r] = w[r]

    cdef void project(self, Py_ssize_t block, double rho, double* x) noexcept nogil:
        """x <- the nearest impulse of the cone or between the bounds, scaled."""
        cdef System s = self.system
        cdef double e
        if block >= s.contact_count:
            e = self.proximal.scale[block]
            x[0] = clamp(x[0], s.lower[block - s.contact_count] / e, s.upper[block - s.contact_count] / e)
        elif self.model == PYRAMID:
            project_pyramid(s.friction[block], x)
        else:
            project_contact(self.model, s.friction[block], x)

    cdef void prepare(self) noexcept nogil:
        """Factor for this rho."""
        cdef System s = self.system
        cdef Py_ssize_t block, i
        cdef int r
        for block in range(s.block_count):
            i = s.first(block)
            for r in range(s.size(block)):
                if self.kind[block] == HELD or (r and self.model == FRICTIONLESS):
                    self.d[i + r] = INFINITY
                else:
                    self.d[i + r] = self.eta + (self.rho if self.kind[block] == BOUND else 0.0)
        self.proximal.prepare(self.d)
        self.factorizations += 1

    cdef void step(self) noexcept nogil:
        cdef System s = self.system
        cdef Py_ssize_t block, i
        cdef int r, size
        cdef double e, f
        cdef double w[3]
        cdef double move
        for block in range(s.block_count):
            i = s.first(block)
            e = self.proximal.scale[block]
            for r in range(s.size(block)):
                self.right[i + r] = self.y[i + r] - e * self.velocity[i + r] + self.eta * (self.x[i + r] - self.z[i + r])
            if block < s.contact_count:
                self.right[i] -= shift(self.model, s.friction[block], self.y + i)
        self.proximal.solve(self.right, self.x)
        self.primal = self.dual = 0.0
        for block in range(s.block_count):
            if self.kind[block] == HELD:
                continue
            i = s.first(block)
            e = self.proximal.scale[block]
            size = s.size(block)
            for r in range(size):
                self.x[i + r] += self.z[i + r]
            if self.kind[block] == FREE:
                self.z[i] = self.x[i]
            else:
                for r in range(size):
                    w[r] = self.alpha * self.x[i + r] + (1.0 - self.alpha) * self.z[i + r] - self.y[i + r] / self.rho
                    self.y[i + r] = -self.rho * w[r]
                self.project(block, 1.0, w)
                for r in range(size):
                    self.y[i + r] += self.rho * w[r]
                    self.primal = max(self.primal, fabs(self.x[i + r] - w[r]))
                    self.dual = max(self.dual, self.rho * fabs(w[r] - self.z[i + r]))
                    self.z[i + r] = w[r]
            for r in range(size):
                self.impulse[i + r] = e * self.z[i + r]
        s.velocities(self.impulse, self.state, self.velocity)

    def run(self, Py_ssize_t most, double tolerance, double[:, ::1] records, double[::1] times):
        """Up to `most` iterations; of each its residuals and its time. -> how many."""
        cdef int64_t began = ticks()
        cdef double length = tick()
        cdef Py_ssize_t k
        cdef double worst
        for k in range(most):
            self.step()
            self.system.measure(self.model, self.impulse, self.velocity, &records[k, 0])
            times[k] = (ticks() - began) * length
            worst = max(records[k, 0], records[k, 1], records[k, 2], records[k, 3])
            if not worst > tolerance:
                return k + 1
            if self.every and (k + 1) % self.every == 0:
                self.adapt()
        return most

    cdef void adapt(self) noexcept nogil:
        cdef double ratio = self.primal / max(self.dual, 1e-300)
        cdef double old = self.rho
        if ratio > 10.0:
            self.rho = min(self.rho * self.power, 1e6)
        elif ratio < 0.1:
            self.rho = max(self.rho / self.power, 1e-9)
        if self.rho != old:
            self.prepare()

    @property
    def found(self):
        return self.kept[0][5], self.kept[0][6]
