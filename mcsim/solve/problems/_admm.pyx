"""The iterations of `admm.py`, whole: solve, project, measure."""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from mcsim.core._arrays cimport doubles, records as bytes_of
from mcsim.core._trig cimport fifth_root
from mcsim.solve._blocks cimport clamp
from mcsim.solve.problems._newton cimport Newton
from mcsim.solve.problems._proximal cimport Proximal
from mcsim.solve.problems._recorder cimport Recorder
from mcsim.solve.problems._system cimport FRICTIONLESS, NCP, PYRAMID, System, project_contact

cdef enum:
    EVERY = 3               # iterations between changes of rho, at least,
    PART = 20               # and this part of those made: with rho fixed for longer and longer the method converges
cdef double FAR = 1.5       # least factor that is worth a change
cdef double MOST = 100.0    # and the largest
cdef double SETTLED = 1e-12  # added to both residuals, of the scaled rows
cdef double LEAST_RHO = 1e-9   # the least rho, of the scaled rows,
cdef double MOST_RHO = 1e3     # and the largest

cdef enum Part:
    BOTH = 0
    NORMALS = 1
    TANGENTS = 2

PARTS = BOTH, NORMALS, TANGENTS

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


cdef void project_tangents(int model, double mu, double* x) noexcept nogil:
    """The nearest tangents under the normal that there is."""
    cdef double bound = mu * x[0] if x[0] > 0.0 else 0.0
    cdef double length = sqrt(x[1] * x[1] + x[2] * x[2])
    if mu == INFINITY or (model == NCP and length <= bound):
        return
    if model == NCP:
        x[1] *= bound / length
        x[2] *= bound / length
    else:
        x[1] = clamp(x[1], -bound, bound)
        x[2] = clamp(x[2], -bound, bound)


cdef class Admm:
    """impulse, velocity: (rows,) where to begin, in the problem's units. rho: of the scaled rows, at the start. part:
    BOTH; or NORMALS or TANGENTS alone of the contacts, the others standing still, tangents under mu times the normals
    that there are, without De Saxce's shift: the two problems of `staggered.py`."""
    cdef Proximal proximal
    cdef System system
    cdef Recorder recorder
    cdef int model, part
    cdef double eta, alpha
    cdef Py_ssize_t turn                    # iterations made
    cdef Py_ssize_t change                  # the next after which rho changes
    cdef readonly Py_ssize_t factorizations
    cdef object kept
    cdef double* z                          # (rows,) in the cones, scaled
    cdef double* y                          # what holds them there: u + s at the solution
    cdef double* x                          # lambda of the linear solve
    cdef double* right
    cdef double* d
    cdef double* impulse                    # z and u in the problem's units
    cdef double* velocity
    cdef double* state
    cdef double* rho                        # (blocks,)
    cdef double* primal                     # (blocks,) |lambda - z|
    cdef double* dual                       # (blocks,) rho |change of z|
    cdef unsigned char* kind                # (blocks,)

    def __init__(self, System system, inverse_mass, int model, impulse, velocity, double rho, double eta, double alpha,
                 int part=BOTH):
        self.proximal = Proximal(system, inverse_mass)
        self.system, self.model = system, model
        self.recorder = Recorder(system, model)
        self.eta, self.alpha, self.part = eta, alpha, part
        self.change = EVERY
        rows = np.zeros((7, system.row_count))
        rows[5], rows[6] = impulse, velocity
        state = np.zeros(system.width)
        blocks, kinds = np.zeros((3, system.block_count)), np.zeros(system.block_count, np.int8)
        blocks[0] = rho
        self.kept = rows, state, blocks, kinds
        self.z, self.y, self.x, self.right, self.d = (doubles(rows[0]), doubles(rows[1]), doubles(rows[2]),
                                                      doubles(rows[3]), doubles(rows[4]))
        self.impulse, self.velocity, self.state = doubles(rows[5]), doubles(rows[6]), doubles(state)
        self.rho, self.primal, self.dual = doubles(blocks[0]), doubles(blocks[1]), doubles(blocks[2])
        self.kind = <unsigned char*>bytes_of(kinds)
        self.find_kinds()
        self.begin_dual()
        self.prepare()

    cdef void find_kinds(self) noexcept nogil:
        cdef Py_ssize_t block, single
        cdef int r
        cdef bint moves
        for block in range(self.system.block_count):
            moves = False
            for r in range(self.system.size(block)):
                moves = moves or self.system.local[9 * block + 4 * r] > 0.0
            single = block - self.system.contact_count
            if not moves:
                self.kind[block] = HELD
            elif single >= 0 and self.system.lower[single] == -INFINITY and self.system.upper[single] == INFINITY:
                self.kind[block] = FREE
            else:
                self.kind[block] = BOUND

    cdef void begin_dual(self) noexcept nogil:
        """z, lambda, and y: the velocities to begin with, as far as cones and bounds allow (Moreau)."""
        cdef Py_ssize_t block, i
        cdef int r
        cdef double e
        cdef double w[3]
        for block in range(self.system.block_count):
            i = self.system.first(block)
            e = self.proximal.scale[block]
            for r in range(self.system.size(block)):
                self.z[i + r] = self.x[i + r] = self.impulse[i + r] / e
                self.y[i + r] = e * self.velocity[i + r]
            if self.kind[block] == BOUND:
                if block < self.system.contact_count:
                    self.y[i] += self.shift(block)
                for r in range(self.system.size(block)):
                    w[r] = self.z[i + r] - self.y[i + r]
                    self.y[i + r] = -w[r]
                self.project(block, w)
            else:
                for r in range(self.system.size(block)):
                    w[r] = -self.y[i + r]
            for r in range(self.system.size(block)):
                self.y[i + r] += w[r]

    cdef double shift(self, Py_ssize_t block) noexcept nogil:
        """De Saxce's, of a contact: mu |y_t|, in the norm dual to the cone's."""
        cdef double mu = self.system.friction[block]
        cdef const double* y = self.y + 3 * block
        if mu == INFINITY or self.part != BOTH:
            return 0.0
        if self.model == NCP:
            return mu * sqrt(y[1] * y[1] + y[2] * y[2])
        return mu * (fabs(y[1]) + fabs(y[2])) if self.model == PYRAMID else 0.0

    cdef bint held(self, Py_ssize_t block, int r) noexcept nogil:
        """Whether a row stands still."""
        if self.kind[block] == HELD:
            return True
        if block >= self.system.contact_count:
            return False
        return (r > 0 and (self.model == FRICTIONLESS or self.part == NORMALS)) or (r == 0 and self.part == TANGENTS)

    cdef void project(self, Py_ssize_t block, double* x) noexcept nogil:
        """x <- the nearest impulse of the cone or between the bounds, scaled."""
        cdef Py_ssize_t single = block - self.system.contact_count
        cdef double e
        if single >= 0:
            e = self.proximal.scale[block]
            x[0] = clamp(x[0], self.system.lower[single] / e, self.system.upper[single] / e)
        elif self.part == NORMALS:
            x[0] = x[0] if x[0] > 0.0 else 0.0
        elif self.part == TANGENTS:
            project_tangents(self.model, self.system.friction[block], x)
        elif self.model == PYRAMID:
            project_pyramid(self.system.friction[block], x)
        else:
            project_contact(self.model, self.system.friction[block], x)

    cdef void prepare(self) noexcept nogil:
        """Factor for these rho."""
        cdef Py_ssize_t block, i
        cdef int r
        for block in range(self.system.block_count):
            i = self.system.first(block)
            for r in range(self.system.size(block)):
                if self.held(block, r):
                    self.d[i + r] = INFINITY
                else:
                    self.d[i + r] = self.eta + (self.rho[block] if self.kind[block] == BOUND else 0.0)
        self.proximal.prepare(self.d)
        self.factorizations += 1

    cdef void step(self) noexcept nogil:
        """One iteration, by increments: (A + R + rho + eta) (x - z) = y - (u(z) + s) + eta (x_old - z), whose right
        side vanishes at the solution, so that rounding does not stay."""
        cdef Py_ssize_t block, i
        cdef int r
        cdef double e
        for block in range(self.system.block_count):
            i = self.system.first(block)
            e = self.proximal.scale[block]
            for r in range(self.system.size(block)):
                self.right[i + r] = (self.y[i + r] - e * self.velocity[i + r]
                                     + self.eta * (self.x[i + r] - self.z[i + r]))
            if block < self.system.contact_count:
                self.right[i] -= self.shift(block)
        self.proximal.solve(self.right, self.x)
        for block in range(self.system.block_count):
            if self.kind[block] != HELD:
                self.project_step(block)
        self.system.velocities(self.impulse, self.state, self.velocity)

    cdef void project_step(self, Py_ssize_t block) noexcept nogil:
        """z and y of a block, after the solve left x - z in x."""
        cdef Py_ssize_t i = self.system.first(block)
        cdef int size = self.system.size(block)
        cdef double e = self.proximal.scale[block]
        cdef double rho = self.rho[block]
        cdef double w[3]
        cdef int r
        self.primal[block] = self.dual[block] = 0.0
        for r in range(size):
            self.x[i + r] += self.z[i + r]
        if self.kind[block] == FREE:
            self.z[i] = self.x[i]
            self.impulse[i] = e * self.z[i]
            return
        for r in range(size):
            w[r] = self.alpha * self.x[i + r] + (1.0 - self.alpha) * self.z[i + r] - self.y[i + r] / rho
            self.y[i + r] = -rho * w[r]
        self.project(block, w)
        for r in range(size):
            self.y[i + r] += rho * w[r]
            self.primal[block] = max(self.primal[block], fabs(self.x[i + r] - w[r]))
            self.dual[block] = max(self.dual[block], rho * fabs(w[r] - self.z[i + r]))
            self.z[i + r] = w[r]
            self.impulse[i + r] = e * w[r]

    cdef void balance(self) noexcept nogil:
        """rho of each block by the ratio of its residuals, which should shrink together; gently: they answer late."""
        cdef Py_ssize_t block
        cdef bint changed = False
        cdef double factor
        self.change = self.turn + max(EVERY, self.turn // PART)
        for block in range(self.system.block_count):
            if self.kind[block] != BOUND:
                continue
            factor = fifth_root((self.primal[block] + SETTLED) / (self.dual[block] + SETTLED))
            if factor > FAR or factor * FAR < 1.0:
                self.rho[block] = clamp(self.rho[block] * clamp(factor, 1.0 / MOST, MOST), LEAST_RHO, MOST_RHO)
                changed = True
        if changed:
            self.prepare()

    def run(self, progress, Py_ssize_t most):
        """Up to `most` iterations, which `progress` records: residuals and time of each, the best impulses. -> the
        last impulses, their velocities."""
        cdef Py_ssize_t _
        self.recorder.begin(progress, most)
        with nogil:
            for _ in range(self.recorder.count):
                self.turn += 1
                self.step()
                if self.recorder.keep(self.impulse, self.velocity):
                    break
                if self.turn >= self.change:
                    self.balance()
        self.recorder.end(progress, self.kept[0][5])
        return self.kept[0][5].copy(), self.kept[0][6].copy()

    def settle(self, double tolerance, Py_ssize_t most):
        """Iterations without a record, until no block is further than the tolerance from agreeing with itself, in the
        problem's units. -> impulses, velocities, how many"""
        cdef Py_ssize_t k, block
        cdef double e, worst
        cdef Py_ssize_t made = 0
        with nogil:
            for k in range(most):
                self.turn += 1
                self.step()
                made = k + 1
                worst = 0.0
                for block in range(self.system.block_count):
                    e = self.proximal.scale[block]
                    worst = max(worst, e * self.primal[block], self.dual[block] / e)
                if not worst > tolerance:
                    break
                if self.turn >= self.change:
                    self.balance()
        return self.kept[0][5].copy(), self.kept[0][6].copy(), made

    def newton(self, double shift):
        """Newton steps on the same system and its factors' memory; `resume` afterwards."""
        return Newton(self.system, None, self.model, shift, self.proximal)

    def resume(self):
        """After Newton steps: the factors anew."""
        self.prepare()

    def restart(self, impulses, velocities):
        """From other impulses, with the rho that there are."""
        self.kept[0][5], self.kept[0][6] = impulses, velocities
        self.begin_dual()
