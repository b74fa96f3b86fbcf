"""Semismooth Newton steps. F(lambda, u(lambda)) = 0, in scaled rows, block by block, with tau = lambda - u:

    ncp           F_n = u_n if tau_n > 0, else lambda_n                                         (Signorini)
                  F_t = lambda_t - the nearest point to tau_t in the circle of radius mu max(0, tau_n)     (Coulomb)
    pyramid       likewise, each tangent for itself in an interval
    ccp           F = lambda - P_K(tau)
    single rows   F = lambda - clamp(tau)

(P. Alart and A. Curnier, "A mixed formulation for frictional contact problems prone to Newton like solution methods",
1991; for the cone, M. Fukushima, Z.-Q. Luo and P. Tseng, "Smoothing functions for second-order-cone complementarity
problems", 2001.) With G = dF/dlambda, H = dF/du, both block by block, a step d solves

    (G + H (A + R + delta)) d = -F ,

delta a small proximal term, for A may be singular. Of a factored problem A = B B' (`_proximal.pyx`), with q = B' d:

    T = G + H (R + delta),   d = -T^-1 (F + H B q),   (1 + B' T^-1 H B) q = -B' T^-1 F ,

a sparse matrix in the bodies' numbers that is not symmetric: sliding friction follows the normal impulse.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve.problems._lu cimport Lu, add_product, invert, times
from mcsim.solve.problems._proximal cimport Proximal
from mcsim.solve.problems._recorder cimport Recorder
from mcsim.solve.problems._system cimport CCP, FRICTIONLESS, NCP, PYRAMID, System, project_contact

cdef enum:
    HALVINGS = 5                        # of a step that gains too little, at most
    QUICK = 3                           # steps to a solution for one centre, with which delta may fall
    SLOW = 10                           # with which it should grow
cdef double FACTOR = 10.0              # by which delta falls and grows
cdef double SMALLEST_PIVOT = 1e-14      # of the largest entry of its block
cdef double LEAST_SHIFT = 1e-9         # the least delta,
cdef double MOST_SHIFT = 1.0           # and the largest: with it the solver gives up
cdef double NEAR = 1e-2                 # |F|^2 against that without delta, below which the centre moves
cdef double SLOPE = 1e-4                # of |F|, that a step of full length must gain

# ---- the functions of one block: F, G and H (s, s), row by row, G and H empty at first -------------------------------

cdef inline void held(int r, const double* u, double* f, double* h) noexcept nogil:
    f[r] = u[r]
    h[4 * r] = 1.0


cdef inline void released(int r, double to, const double* x, double* f, double* g) noexcept nogil:
    f[r] = x[r] - to
    g[4 * r] = 1.0


cdef void exact_contact(int model, double mu, const double* x, const double* u, double* f, double* g,
                        double* h) noexcept nogil:
    """ncp, pyramid and frictionless."""
    cdef double n = x[0] - u[0]
    cdef double radius = mu * n
    cdef double t[2]
    cdef double length, a
    cdef int r, s
    if n > 0.0:
        held(0, u, f, h)
    else:
        released(0, 0.0, x, f, g)
    if model == FRICTIONLESS or mu == 0.0 or (n <= 0.0 and mu < INFINITY):
        released(1, 0.0, x, f, g)
        released(2, 0.0, x, f, g)
        return
    t[0], t[1] = x[1] - u[1], x[2] - u[2]
    if model == PYRAMID:
        for r in range(1, 3):
            if mu == INFINITY or fabs(t[r - 1]) <= radius:
                held(r, u, f, h)
            else:
                a = 1.0 if t[r - 1] > 0.0 else -1.0
                released(r, a * radius, x, f, g)
                g[3 * r] = -mu * a
                h[3 * r] = mu * a
        return
    length = sqrt(t[0] * t[0] + t[1] * t[1])
    if mu == INFINITY or length <= radius:
        held(1, u, f, h)
        held(2, u, f, h)
        return
    a = radius / length
    t[0] /= length
    t[1] /= length
    for r in range(1, 3):
        released(r, radius * t[r - 1], x, f, g)
        g[3 * r] = -mu * t[r - 1]
        h[3 * r] = mu * t[r - 1]
        for s in range(1, 3):
            h[3 * r + s] = a * ((1.0 if r == s else 0.0) - t[r - 1] * t[s - 1])
            g[3 * r + s] -= h[3 * r + s]


cdef void convex_contact(double mu, const double* x, const double* u, double* f, double* g, double* h) noexcept nogil:
    """ccp: H = P'(tau), G = 1 - H."""
    cdef double t[3]
    cdef double length, a
    cdef int r, s
    if mu == INFINITY:
        exact_contact(NCP, mu, x, u, f, g, h)
        return
    for r in range(3):
        t[r] = x[r] - u[r]
    length = sqrt(t[1] * t[1] + t[2] * t[2])
    if length <= mu * t[0]:
        for r in range(3):
            held(r, u, f, h)
    elif mu * length <= -t[0]:
        for r in range(3):
            released(r, 0.0, x, f, g)
    else:
        for r in range(3):
            f[r] = t[r]
        project_contact(CCP, mu, f)
        a = f[0] * mu / length
        t[1] /= length
        t[2] /= length
        h[0] = 1.0 / (1.0 + mu * mu)
        for r in range(1, 3):
            h[r] = h[3 * r] = mu * t[r] * h[0]
            for s in range(1, 3):
                h[3 * r + s] = mu * mu * h[0] * t[r] * t[s] + a * ((1.0 if r == s else 0.0) - t[r] * t[s])
        for r in range(9):
            g[r] = (1.0 if r % 4 == 0 else 0.0) - h[r]
        for r in range(3):
            f[r] = x[r] - f[r]

# ---- all blocks ------------------------------------------------------------------------------------------------------

cdef class Newton:
    """shift: delta. proximal: that of another solver of this system, which must factor anew after these steps."""

    def __init__(self, System system, inverse_mass, int model, double shift, Proximal proximal=None):
        self.proximal = Proximal(system, inverse_mass) if proximal is None else proximal
        self.system, self.model, self.shift, self.first_shift = system, model, shift, shift
        self.lu = Lu(self.proximal.cholesky, SMALLEST_PIVOT)
        rows, blocks = np.zeros((9, system.row_count)), np.zeros((27, system.block_count))
        widest = 3 * int(np.max(self.proximal.sizes, initial=1))
        states = np.zeros(system.width), np.zeros(max(self.proximal.length, system.row_count)), np.zeros(widest)
        self.kept = rows, blocks, states
        self.recorder = Recorder(system, model)
        self.x, self.u, self.f, self.d = doubles(rows[0]), doubles(rows[1]), doubles(rows[2]), doubles(rows[3])
        self.trial, self.trial_u = doubles(rows[4]), doubles(rows[5])
        self.center = doubles(rows[8])
        self.impulse, self.velocity = doubles(rows[6]), doubles(rows[7])
        self.slope, self.soft = doubles(blocks[:18]), doubles(blocks[18:])
        self.state, self.nodes, self.panel = doubles(states[0]), doubles(states[1]), doubles(states[2])

    cdef void start(self, const double* impulse, const double* velocity) noexcept nogil:
        """From these impulses and velocities, in the problem's units."""
        cdef Py_ssize_t block, i
        cdef double e
        for block in range(self.system.block_count):
            e = self.proximal.scale[block]
            for i in range(self.system.first(block), self.system.first(block) + self.system.size(block)):
                self.impulse[i], self.velocity[i] = impulse[i], velocity[i]
                self.x[i], self.u[i] = impulse[i] / e, velocity[i] * e
                self.center[i] = self.x[i]

    cdef void block_function(self, Py_ssize_t block, const double* x, const double* u, double* f, double* g,
                             double* h) noexcept nogil:
        """Of a block without mass F is 0 and G 1: it stays as it is."""
        cdef Py_ssize_t single = block - self.system.contact_count
        cdef const double* local = self.system.local + 9 * block
        cdef double e = self.proximal.scale[block]
        cdef double t
        cdef int r
        memset(g, 0, 9 * sizeof(double))
        memset(h, 0, 9 * sizeof(double))
        if single >= 0:
            t = x[0] - u[0]
            if not local[0] > 0.0:
                released(0, x[0], x, f, g)
            elif t < self.system.lower[single] / e:
                released(0, self.system.lower[single] / e, x, f, g)
            elif t > self.system.upper[single] / e:
                released(0, self.system.upper[single] / e, x, f, g)
            else:
                held(0, u, f, h)
        elif not max(local[0], local[4], local[8]) > 0.0:
            for r in range(3):
                released(r, x[r], x, f, g)
        elif self.model == CCP:
            convex_contact(self.system.friction[block], x, u, f, g, h)
        else:
            exact_contact(self.model, self.system.friction[block], x, u, f, g, h)

    cdef double function(self, const double* x, const double* u, double shift, bint slopes) noexcept nogil:
        """-> |F|^2 at the velocities u + shift (x - center). slopes: F, G and H are kept."""
        cdef Py_ssize_t block, i
        cdef double w[3]
        cdef int r
        cdef double f[3]
        cdef double g[9]
        cdef double h[9]
        cdef double sum = 0.0
        for block in range(self.system.block_count):
            i = self.system.first(block)
            for r in range(self.system.size(block)):
                w[r] = u[i + r] + shift * (x[i + r] - self.center[i + r])
            self.block_function(block, x + i, w, f, g, h)
            for r in range(self.system.size(block)):
                sum += f[r] * f[r]
                if slopes:
                    self.f[i + r] = f[r]
            if slopes:
                memcpy(self.slope + 18 * block, g, 9 * sizeof(double))
                memcpy(self.slope + 18 * block + 9, h, 9 * sizeof(double))
        return sum

    cdef void fill(self) noexcept nogil:
        """The matrix of the step into the factors' blocks. On the way F <- T^-1 F where that is what is needed."""
        cdef Py_ssize_t block, i
        cdef int size, r, s, p
        cdef double t[9]
        cdef double inverse[9]
        cdef double w[3]
        cdef double* g
        cdef double* h
        cdef double* c
        self.lu.clear()
        for block in range(self.system.block_count):
            size = self.system.size(block)
            i = self.system.first(block)
            g = self.slope + 18 * block
            h = g + 9
            c = self.soft + 9 * block
            for r in range(size):
                for s in range(size):
                    t[r * size + s] = g[3 * r + s] + h[3 * r + s] * (self.shift + self.proximal.compliance[i + s])
            if not self.system.factored:
                memcpy(c, t, 9 * sizeof(double))
                continue
            invert(t, inverse, size, SMALLEST_PIVOT)
            for r in range(size):
                w[r] = 0.0
                for s in range(size):
                    w[r] += inverse[r * size + s] * self.f[i + s]
                    c[r * size + s] = 0.0
                    for p in range(size):
                        c[r * size + s] += inverse[r * size + p] * h[3 * p + s]
            for r in range(size):
                self.f[i + r] = w[r]
        if self.system.factored:
            self.fill_nodes()
        else:
            self.fill_whole()

    cdef void fill_nodes(self) noexcept nogil:
        """1 + B' C B"""
        cdef Py_ssize_t block, k, i, a, b
        cdef int size
        cdef bint moves
        cdef const double* c
        self.lu.add_one()
        for block in range(self.system.block_count):
            size = self.system.size(block)
            c = self.soft + 9 * block
            moves = False
            for i in range(size * size):
                moves = moves or c[i] != 0.0
            if not moves:
                continue
            for k in range(self.proximal.pair_begin[block], self.proximal.pair_begin[block + 1]):
                a, b = self.proximal.pair[2 * k], self.proximal.pair[2 * k + 1]
                self.add_pair(self.lu.plan.value + self.proximal.target[k], c, a, b, size, False)
                if a != b:
                    self.add_pair(self.lu.upper + self.proximal.target[k], c, a, b, size, True)

    cdef void add_pair(self, double* to, const double* c, Py_ssize_t a, Py_ssize_t b, int size,
                       bint turned) noexcept nogil:
        """to += B_a' C B_b, or C turned."""
        times(self.panel, c, self.proximal.value + self.proximal.at[b], size, self.proximal.node_size(b), turned)
        add_product(to, self.proximal.value + self.proximal.at[a], self.panel, size, self.proximal.node_size(a),
                    self.proximal.node_size(b))

    cdef void fill_whole(self) noexcept nogil:
        """T + H A"""
        cdef Py_ssize_t block, k
        cdef int m, r, c
        cdef double* to
        for block in range(self.system.block_count):
            m = self.system.size(block)
            for k in range(self.proximal.begin[block], self.proximal.begin[block + 1]):
                times(self.panel, self.slope + 18 * block + 9, self.proximal.value + self.proximal.at[k], m,
                      self.system.size(self.proximal.node[k]), False)
                self.lu.put(block, self.proximal.node[k], self.panel)
            to = self.lu.plan.block(block, block)
            for r in range(m):
                for c in range(m):
                    to[c * m + r] += self.soft[9 * block + r * m + c]

    cdef bint direction(self) noexcept nogil:
        """d of what `fill` wrote; whether it is finite."""
        cdef Py_ssize_t block, i
        cdef int size, r, s
        cdef double sum = 0.0
        self.lu.factor()
        if self.system.factored:
            self.proximal.write_state(self.f, self.nodes)
            for i in range(self.proximal.length):
                self.nodes[i] = -self.nodes[i]
            self.lu.solve(self.nodes)
            memset(self.trial, 0, self.system.row_count * sizeof(double))
            self.proximal.read_state(self.nodes, self.trial)
            for block in range(self.system.block_count):
                size = self.system.size(block)
                i = self.system.first(block)
                for r in range(size):
                    self.d[i + r] = -self.f[i + r]
                    for s in range(size):
                        self.d[i + r] -= self.soft[9 * block + r * size + s] * self.trial[i + s]
        else:
            for i in range(self.system.row_count):
                self.d[i] = -self.f[i]
            self.lu.solve(self.d)
        for i in range(self.system.row_count):
            sum += fabs(self.d[i])
        return sum < INFINITY

    cdef void move(self, double length) noexcept nogil:
        """trial: x + length d, onto its cones and bounds, with its velocities."""
        cdef Py_ssize_t block, i
        cdef double e
        cdef int r
        for block in range(self.system.block_count):
            i = self.system.first(block)
            e = self.proximal.scale[block]
            for r in range(self.system.size(block)):
                self.impulse[i + r] = e * (self.x[i + r] + length * self.d[i + r])
            for r in range(self.system.size(block)):
                self.trial[i + r] = self.impulse[i + r] / e
        self.system.velocities(self.impulse, self.state, self.velocity)
        for block in range(self.system.block_count):
            for i in range(self.system.first(block), self.system.first(block) + self.system.size(block)):
                self.trial_u[i] = self.velocity[i] * self.proximal.scale[block]

    cdef bint step(self) noexcept nogil:
        """One step, halved until |F| falls; delta follows how that goes. -> False if even with the largest delta no
        step makes it fall."""
        cdef Py_ssize_t size = self.system.row_count * sizeof(double)
        cdef double merit = self.function(self.x, self.u, self.shift, False)
        cdef double length = 1.0
        cdef int _
        if merit <= NEAR * self.function(self.x, self.u, 0.0, False):
            memcpy(self.center, self.x, size)
            if self.inner <= QUICK:
                self.shift = max(self.shift / FACTOR, LEAST_SHIFT)
            self.inner = 0
        merit = self.function(self.x, self.u, self.shift, True)
        self.inner += 1
        self.fill()
        if self.direction():
            for _ in range(HALVINGS):
                self.move(length)
                if self.function(self.trial, self.trial_u, self.shift, False) < (1.0 - SLOPE * length) * merit:
                    memcpy(self.x, self.trial, size)
                    memcpy(self.u, self.trial_u, size)
                    if self.inner > SLOW:
                        self.soften()
                    return True
                length *= 0.5
        self.move(0.0)
        return self.soften()

    cdef bint soften(self) noexcept nogil:
        """A larger delta, from here. -> whether there is one"""
        memcpy(self.center, self.x, self.system.row_count * sizeof(double))
        self.shift = min(self.shift * FACTOR, MOST_SHIFT)
        self.inner = 0
        return self.shift < MOST_SHIFT

    def begin(self, impulses, velocities):
        """From these impulses, with the delta of the start."""
        self.start(doubles(impulses), doubles(velocities))
        self.shift = self.first_shift
        self.inner = 0

    def run(self, progress, Py_ssize_t most):
        """Up to `most` steps, which `progress` records. -> the last impulses, their velocities, and whether they got
        stuck."""
        cdef Py_ssize_t _
        cdef bint stuck = False
        self.recorder.begin(progress, most)
        with nogil:
            for _ in range(self.recorder.count):
                stuck = not self.step()
                if self.recorder.keep(self.impulse, self.velocity) or stuck:
                    break
        self.recorder.end(progress, self.kept[0][6])
        return self.kept[0][6].copy(), self.kept[0][7].copy(), stuck
