"""The iterations of `ipm.py`, whole. Rows in cone coordinates: x = impulse / (e q) and v = e q u + shift, e the scale of
the block (`_proximal.pyx`), q = 1 / mu for the normal of a contact with friction, so that its cone is L, else 1.

Each iteration solves, with B B' = A in these coordinates, nu the velocities of the nodes, R the compliance with
DELTA, J_s = [1 s'; 0 1] the slope of the shift |v_t| on the normal (ncp), s = v_t / |v_t|, and W of `_nesterov_todd.pyx`,

    d nu = B' dx + (B' x - nu)
    dv   = J_s (B d nu + R dx + r),        r = B nu + R x + b + shift - v
    W dx + W^-1 dv = lambda \\ (target e - lambda o lambda - correction) = c

for dx = D^-1 (J_s^-1 W c - r - B d nu), D = R + J_s^-1 W^2, and then (1 + B' D^-1 B) d nu = .... With W^-1 = P' S P,

    D^-1 = (S P)' K (S P J_s),     K = (1 + (S P J_s) R (S P)')^-1 ,

and B is multiplied by the two factors in brackets before anything is added up: D^-1 itself spans more powers of ten than
a double has. dv is what dx and d nu make of it, exact, and the complementarity takes the rounding. Of the exact model
v_0 - |v_t| = u_n / mu then goes straight, and the shift follows |v_t| itself, so that only complementarity is curved.
Of an A that is given whole, (1 + (S P J_s) (A + R) (S P)') z = P c - (S P J_s) r, dx = (S P)' z.

Bounded rows have low = x - lower and high = upper - x with multipliers a and b, v = a - b, W^2 = a / low + b / high;
tangents of the pyramid low = mu n + t and high = mu n - t, so that mu (a / low - b / high) stands beside W^2 in the column
of n; free rows a small W^2 without target: dv = -W^2 dx.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve._blocks cimport clamp
from mcsim.solve.problems._bounded_rows cimport (Bounds, Direction, aim_within, finite, go_within, multipliers,
                                                part, stays_within, way_within)
from mcsim.solve.problems._lu cimport Lu, add_product, invert, times
from mcsim.solve.problems._nesterov_todd cimport Inside, Scaling, aim_inside, go, product, put_inside, scale, way_out
from mcsim.solve.problems._proximal cimport Proximal
from mcsim.solve.problems._recorder cimport Recorder
from mcsim.solve.problems._system cimport FRICTIONLESS, NCP, PYRAMID, System

cdef double DELTA = 3e-13           # added to R: the impulses that cancel each other stay near 0
cdef double NEARBY = 1e-11           # W^2 of a free row: it is solved by proximal steps
cdef double INSIDE = 0.99           # of the way to the boundary
cdef double SHORT = 0.3             # a step, after which the next one makes for the middle
cdef double MIDDLE = 0.5            # of the mean product, its target
cdef double DOUBTFUL = 0.5          # a step, for which one without second-order correction is looked at too
cdef double LEAST_TARGET = 0.1      # of that one
cdef double LEAST_STEP = 1e-8       # part of the way that is no step
cdef double SHRINK = 0.9            # of a step that rounding carries out of a cone or its bounds, by turns
cdef enum:
    TRIES = 60                      # of that: 0.002 of the step is left
    PATIENCE = 5                    # steps of less than LEAST_STEP, until it is stuck

cdef enum Kind:
    HELD = 0                        # stays as it is
    FREE = 1
    BOUNDED = 2
    CONE = 3                        # with the other two of its contact

cdef inline double shift_of(const Inside* pull, double tip) noexcept nogil:
    return sqrt(pull.length * pull.length + tip * tip)


cdef inline double beyond(const Inside* pull, double tip) noexcept nogil:
    """sqrt(|v_t|^2 + tip^2) - |v_t|"""
    return tip * tip / (shift_of(pull, tip) + pull.length) if tip > 0.0 else 0.0


cdef class InteriorPoint:
    """impulse (rows,): of the rows that nothing moves. `begin` comes before `run`, and again for another try."""
    cdef Proximal proximal                  # its B, or A, in cone coordinates
    cdef System system
    cdef Lu lu
    cdef Recorder recorder
    cdef list kept
    cdef int model
    cdef Py_ssize_t numbers                 # of the nodes
    cdef int short_steps
    cdef double last                        # length of the last step
    cdef double round
    cdef double doubt
    cdef bint straight
    cdef double tip                         # the shift is sqrt(|v_t|^2 + tip^2)
    cdef double* impulse                    # (rows,) in the problem's units
    cdef double* velocity
    cdef double* x                          # (rows,)
    cdef double* factor                     # impulse = factor x
    cdef double* soft                       # R
    cdef double* b
    cdef double* lower                      # of x
    cdef double* upper
    cdef Bounds bounds
    cdef double* r
    cdef double* z
    cdef double* work
    cdef double* aim                        # P c
    cdef double* nodes                      # (numbers of the nodes,) nu
    cdef double* apart                      # B' x - nu
    cdef double* state                      # (width,)
    cdef double* left                       # (blocks, 9) S P J_s
    cdef double* right                      # S P
    cdef double* inner                      # K
    cdef double* left_panel                 # as B: S P B
    cdef double* right_panel                # K S P J_s B
    cdef double* panel                      # of one block
    cdef Inside* point                      # (contacts,) x and v
    cdef Inside* pull
    cdef Scaling* scaling
    cdef unsigned char* kind                # (rows,)
    cdef Direction first, second, third

    def __init__(self, System system, inverse_mass, int model, impulse):
        cdef Py_ssize_t blocks = system.block_count
        self.proximal = Proximal(system, inverse_mass)
        self.system, self.model = system, model
        self.lu = Lu(self.proximal.cholesky, 0.0)
        self.recorder = Recorder(system, model)
        self.kept = []
        self.numbers = self.proximal.length if system.factored else 0
        self.impulse, self.velocity, self.x, self.factor = self.row(), self.row(), self.row(), self.row()
        self.soft, self.b, self.lower, self.upper = self.row(), self.row(), self.row(), self.row()
        self.bounds.low, self.bounds.high, self.bounds.rub = self.row(), self.row(), self.row()
        self.bounds.push_low, self.bounds.push_high = self.row(), self.row()
        self.r, self.z, self.work, self.aim = self.row(), self.row(), self.row(), self.row()
        self.nodes, self.apart = self.memory(self.numbers), self.memory(self.numbers)
        self.state = self.memory(system.width)
        self.left, self.right, self.inner = self.memory(9 * blocks), self.memory(9 * blocks), self.memory(9 * blocks)
        self.left_panel, self.right_panel = self.memory(self.proximal.places), self.memory(self.proximal.places)
        self.panel = self.memory(3 * int(np.max(self.proximal.sizes, initial=3)))
        self.point = <Inside*>self.memory(system.contact_count * sizeof(Inside) // sizeof(double))
        self.pull = <Inside*>self.memory(system.contact_count * sizeof(Inside) // sizeof(double))
        self.scaling = <Scaling*>self.memory(system.contact_count * sizeof(Scaling) // sizeof(double))
        self.kind = <unsigned char*>self.memory(system.row_count // sizeof(double) + 1)
        self.make(&self.first)
        self.make(&self.second)
        self.make(&self.third)
        self.kept[0][:] = impulse
        self.find_kinds()
        self.turn_rows()

    cdef double* memory(self, Py_ssize_t count) except? NULL:
        array = np.zeros(count)
        self.kept.append(array)
        return doubles(array)

    cdef double* row(self) except? NULL:
        return self.memory(self.system.row_count)

    cdef int make(self, Direction* to) except -1:
        to.x, to.v, to.a, to.b = self.row(), self.row(), self.row(), self.row()
        to.nodes = self.memory(self.numbers)

    # ---- the start ---------------------------------------------------------------------------------------------------

    cdef void find_kinds(self) noexcept nogil:
        cdef Py_ssize_t block, i, single
        cdef int r
        cdef bint moves
        cdef double mu
        for block in range(self.system.block_count):
            i = self.system.first(block)
            single = block - self.system.contact_count
            moves = False
            for r in range(self.system.size(block)):
                moves = moves or self.system.local[9 * block + 4 * r] > 0.0
                self.kind[i + r] = HELD
                self.lower[i + r], self.upper[i + r] = -INFINITY, INFINITY
                self.factor[i + r] = self.proximal.scale[block]
            if not moves:
                continue
            if single >= 0:
                self.lower[i] = self.system.lower[single] / self.factor[i]
                self.upper[i] = self.system.upper[single] / self.factor[i]
                if self.lower[i] == -INFINITY and self.upper[i] == INFINITY:
                    self.kind[i] = FREE
                elif self.lower[i] < self.upper[i]:
                    self.kind[i] = BOUNDED
                else:
                    self.impulse[i] = self.system.lower[single]
                continue
            mu = 0.0 if self.model == FRICTIONLESS else self.system.friction[block]
            if 0.0 < mu < INFINITY and self.model != PYRAMID:
                self.factor[i] /= mu
                self.kind[i] = self.kind[i + 1] = self.kind[i + 2] = CONE
                continue
            self.kind[i] = BOUNDED
            self.lower[i] = 0.0
            for r in range(1, 3):
                if mu == INFINITY:
                    self.kind[i + r] = FREE
                elif mu > 0.0:
                    self.kind[i + r] = BOUNDED
                    self.bounds.rub[i + r] = mu
                else:
                    self.impulse[i + r] = 0.0

    cdef void turn_rows(self) noexcept nogil:
        """B, or A on both sides, R and b into cone coordinates."""
        cdef Py_ssize_t block, k, i, n
        cdef int r, c
        cdef double q
        cdef double* value = <double*>self.proximal.value
        for block in range(self.system.block_count):
            i = self.system.first(block)
            for r in range(self.system.size(block)):
                q = self.factor[i + r] / self.proximal.scale[block]
                self.b[i + r] = self.factor[i + r] * self.system.b[i + r]
                self.soft[i + r] = q * q * (self.proximal.compliance[i + r] + (0.0 if self.kind[i + r] == FREE else DELTA))
                for k in range(self.proximal.begin[block], self.proximal.begin[block + 1]):
                    n = self.proximal.node_size(k)
                    for c in range(n):
                        value[self.proximal.at[k] + r * n + c] *= q
                        if not self.system.factored:
                            value[self.proximal.at[k] + r * n + c] *= (
                                self.factor[self.proximal.node_begin[self.proximal.node[k]] + c]
                                / self.proximal.scale[self.proximal.node[k]])

    def begin(self, double round, double doubt):
        """round: how much the tip of the shift |v_t| is rounded; doubt: of x's distance from the cone, by which its
        slope is damped."""
        self.last, self.round, self.doubt, self.short_steps = 1.0, round, doubt, 0
        self.straight = self.model == NCP and round == 0.0 and doubt == 0.0
        self.put_points()

    cdef void put_points(self) noexcept nogil:
        """On the cones' axes and amid the bounds, where x and v are as large as the rows' velocities, scaled."""
        cdef Py_ssize_t i
        cdef double size = 0.0
        cdef double mu
        for i in range(self.system.row_count):
            if self.kind[i] != HELD:
                size = max(size, fabs(self.b[i]) if self.kind[i] != CONE else
                           fabs(self.proximal.scale[i // 3] * self.system.b[i]))
        size = size if size > 0.0 else 1.0
        for i in range(self.system.row_count):
            self.bounds.low[i] = self.bounds.high[i] = INFINITY
            self.bounds.push_low[i] = self.bounds.push_high[i] = 0.0
            if self.kind[i] == HELD:
                self.x[i] = self.impulse[i] / self.factor[i]
            elif self.kind[i] == FREE:
                self.x[i] = 0.0
            elif self.kind[i] == BOUNDED:
                if self.lower[i] + size <= self.upper[i] - size:
                    self.x[i] = clamp(0.0, self.lower[i] + size, self.upper[i] - size)
                else:
                    self.x[i] = 0.5 * (self.lower[i] + self.upper[i])
                self.bounds.low[i], self.bounds.high[i] = self.x[i] - self.lower[i], self.upper[i] - self.x[i]
                if self.bounds.rub[i] > 0.0:
                    self.bounds.low[i] = self.bounds.high[i] = self.bounds.rub[i] * size
                self.bounds.push_low[i] = size * (size / self.bounds.low[i])
                self.bounds.push_high[i] = size * (size / self.bounds.high[i])
            elif i % 3 == 0:
                mu = self.system.friction[i // 3]
                put_inside(self.point + i // 3, size * mu, 0.0, 0.0)
                put_inside(self.pull + i // 3, size / mu, 0.0, 0.0)
        self.read_points()
        if self.system.factored:
            self.proximal.write_state(self.x, self.nodes)

    cdef void read_points(self) noexcept nogil:
        """x of what is kept in other form; the impulses."""
        cdef Py_ssize_t i
        cdef const Inside* point
        for i in range(self.system.row_count):
            if self.kind[i] == CONE:
                point = self.point + i // 3
                self.x[i] = point.first if i % 3 == 0 else point.t[i % 3 - 1]
            elif self.kind[i] == BOUNDED:
                self.x[i] = clamp(self.x[i], self.lower[i], self.upper[i])
            if self.kind[i] != HELD:
                self.impulse[i] = self.factor[i] * self.x[i]

    # ---- one iteration -----------------------------------------------------------------------------------------------

    cdef void look(self) noexcept nogil:
        """r, and B' x - nu."""
        cdef Py_ssize_t i
        cdef double y
        cdef const Inside* pull
        for i in range(self.system.row_count):
            self.work[i] = 0.0
        self.proximal.read_state(self.nodes if self.system.factored else self.x, self.work)
        for i in range(self.system.row_count):
            y = self.work[i] + self.soft[i] * self.x[i] + self.b[i]
            if self.kind[i] == CONE:
                pull = self.pull + i // 3
                if i % 3 > 0:
                    y -= pull.t[i % 3 - 1]
                elif self.model == NCP:
                    y -= pull.least - beyond(pull, self.tip)
                else:
                    y -= pull.first
            elif self.kind[i] == BOUNDED:
                y -= self.bounds.push_low[i] - self.bounds.push_high[i]
            self.r[i] = y if self.kind[i] != HELD else 0.0
        if self.system.factored:
            self.proximal.write_state(self.x, self.apart)
            for i in range(self.proximal.length):
                self.apart[i] -= self.nodes[i]

    cdef double steepness(self, Py_ssize_t block) noexcept nogil:
        """What v_t is divided by for the shift's slope: |v_t|, or more where the contact sticks and v_t has no direction
        that lasts."""
        cdef double shift = shift_of(self.pull + block, self.tip)
        cdef double stuck = self.doubt * self.point[block].least
        return sqrt(shift * shift + stuck * stuck)

    cdef double mean_product(self) noexcept nogil:
        cdef Py_ssize_t i, count = 0
        cdef double sum = 0.0
        for i in range(self.system.row_count):
            if self.kind[i] == CONE and i % 3 == 0:
                sum += product(self.point + i // 3, self.pull + i // 3)
                count += 1
            elif self.kind[i] == BOUNDED:
                if self.bounds.low[i] < INFINITY:
                    sum += self.bounds.low[i] * self.bounds.push_low[i]
                    count += 1
                if self.bounds.high[i] < INFINITY:
                    sum += self.bounds.high[i] * self.bounds.push_high[i]
                    count += 1
        return sum / count if count else 0.0

    cdef void scale_block(self, Py_ssize_t block) noexcept nogil:
        """S P, S P J_s and K."""
        cdef Py_ssize_t i = self.system.first(block)
        cdef int size = self.system.size(block)
        cdef int r, c, p
        cdef double matrix[9]
        cdef double* left = self.left + 9 * block
        cdef double* right = self.right + 9 * block
        cdef const Inside* pull = self.pull + block
        memset(right, 0, 9 * sizeof(double))
        for r in range(size):
            if self.kind[i + r] == FREE:
                right[r * size + r] = 1.0 / sqrt(NEARBY)
            elif self.kind[i + r] == BOUNDED:
                right[r * size + r] = 1.0 / sqrt(self.bounds.push_low[i + r] / self.bounds.low[i + r]
                                                 + self.bounds.push_high[i + r] / self.bounds.high[i + r])
        if self.kind[i] == CONE:
            scale(self.point + block, pull, self.scaling + block)
            for r in range(3):
                for c in range(3):
                    right[3 * r + c] = self.scaling[block].factor[r] * self.scaling[block].basis[3 * r + c]
        memcpy(left, right, 9 * sizeof(double))
        if self.kind[i] == CONE and self.model == NCP and pull.length > 0.0:
            for r in range(3):
                for c in range(2):
                    left[3 * r + 1 + c] += right[3 * r] * (pull.t[c] / self.steepness(block))
        for r in range(size):
            for c in range(size):
                matrix[r * size + c] = 1.0 if r == c else 0.0
                if c == 0 and self.bounds.rub[i + r] > 0.0:
                    matrix[r * size] = self.bounds.rub[i + r] * right[0] * right[4 * r] * (
                        self.bounds.push_low[i + r] / self.bounds.low[i + r]
                        - self.bounds.push_high[i + r] / self.bounds.high[i + r])
                for p in range(size):
                    matrix[r * size + c] += left[r * size + p] * self.soft[i + p] * right[c * size + p]
        if self.system.factored:
            invert(matrix, self.inner + 9 * block, size, 0.0)
        else:
            memcpy(self.inner + 9 * block, matrix, 9 * sizeof(double))

    cdef void prepare(self) noexcept nogil:
        """Scale, and factor."""
        cdef Py_ssize_t block
        for block in range(self.system.block_count):
            self.scale_block(block)
        self.lu.clear()
        if self.system.factored:
            self.fill_nodes()
        else:
            self.fill_whole()
        self.lu.factor()

    cdef void fill_nodes(self) noexcept nogil:
        """1 + (S P B)' (K S P J_s B)"""
        cdef Py_ssize_t block, k, a, b, at
        cdef int size, m, n
        self.lu.add_one()
        for block in range(self.system.block_count):
            size = self.system.size(block)
            if self.kind[self.system.first(block)] == HELD:
                continue
            for k in range(self.proximal.begin[block], self.proximal.begin[block + 1]):
                at = self.proximal.at[k]
                n = self.proximal.node_size(k)
                times(self.left_panel + at, self.right + 9 * block, self.proximal.value + at, size, n, False)
                times(self.panel, self.left + 9 * block, self.proximal.value + at, size, n, False)
                times(self.right_panel + at, self.inner + 9 * block, self.panel, size, n, False)
            for k in range(self.proximal.pair_begin[block], self.proximal.pair_begin[block + 1]):
                a, b = self.proximal.pair[2 * k], self.proximal.pair[2 * k + 1]
                m, n = self.proximal.node_size(a), self.proximal.node_size(b)
                add_product(self.lu.plan.value + self.proximal.target[k], self.left_panel + self.proximal.at[a],
                            self.right_panel + self.proximal.at[b], size, m, n)
                if a != b:
                    add_product(self.lu.upper + self.proximal.target[k], self.right_panel + self.proximal.at[a],
                                self.left_panel + self.proximal.at[b], size, m, n)

    cdef void fill_whole(self) noexcept nogil:
        """1 + (S P J_s) (A + R) (S P)'"""
        cdef Py_ssize_t block, k, other
        cdef int m, n, r, c, p
        cdef double entry[9]
        cdef double* panel = self.panel
        cdef double* to
        cdef const double* right
        for block in range(self.system.block_count):
            m = self.system.size(block)
            for k in range(self.proximal.begin[block], self.proximal.begin[block + 1]):
                other = self.proximal.node[k]
                n = self.system.size(other)
                right = self.right + 9 * other
                times(panel, self.left + 9 * block, self.proximal.value + self.proximal.at[k], m, n, False)
                for r in range(m):
                    for c in range(n):
                        entry[r * n + c] = 0.0
                        for p in range(n):
                            entry[r * n + c] += panel[r * n + p] * right[c * n + p]
                self.lu.put(block, other, entry)
            to = self.lu.plan.block(block, block)
            for r in range(m):
                for c in range(m):
                    to[c * m + r] += self.inner[9 * block + r * m + c]

    cdef void find_direction(self, double target, const Direction* before, Direction* to) noexcept nogil:
        """target: what the products should be. before: a first direction, for the correction of second order."""
        cdef Py_ssize_t block, i
        cdef Py_ssize_t n = self.system.row_count
        cdef double sum
        cdef double* z = self.z
        self.find_aim(target, before)
        self.times_blocks(self.left, self.r, False, self.work)
        for i in range(n):
            z[i] = self.aim[i] - self.work[i]
        if self.system.factored:
            self.times_blocks(self.inner, z, False, z)
            self.times_blocks(self.right, z, True, self.work)
            self.proximal.write_state(self.work, to.nodes)
            for i in range(self.proximal.length):
                to.nodes[i] += self.apart[i]
            self.lu.solve(to.nodes)
            memset(to.v, 0, n * sizeof(double))
            self.proximal.read_state(to.nodes, to.v)
            self.times_blocks(self.left, to.v, False, self.work)
            self.times_blocks(self.inner, self.work, False, self.work)
            for i in range(n):
                z[i] -= self.work[i]
            self.times_blocks(self.right, z, True, to.x)
        else:
            self.lu.solve(z)
            self.times_blocks(self.right, z, True, to.x)
            memset(to.v, 0, n * sizeof(double))
            self.proximal.read_state(to.x, to.v)
        for i in range(n):
            to.v[i] += self.soft[i] * to.x[i] + self.r[i]
            if self.kind[i] == BOUNDED:
                multipliers(&self.bounds, i, target, before, to)
        if self.model == NCP:
            for block in range(self.system.contact_count):
                i = 3 * block
                if self.kind[i] == CONE:
                    to.a[i] = to.v[i]
                if self.kind[i] == CONE and self.pull[block].length > 0.0:
                    sum = self.pull[block].t[0] * to.v[i + 1] + self.pull[block].t[1] * to.v[i + 2]
                    to.v[i] += sum / self.steepness(block)

    cdef void times_blocks(self, const double* blocks, const double* v, bint turned, double* out) noexcept nogil:
        """out = blocks v, or blocks' v; out may be v."""
        cdef Py_ssize_t block, i
        cdef int size, r, c
        cdef double y[3]
        for block in range(self.system.block_count):
            i = self.system.first(block)
            size = self.system.size(block)
            for r in range(size):
                y[r] = 0.0
                for c in range(size):
                    y[r] += blocks[9 * block + (c * size + r if turned else r * size + c)] * v[i + c]
            for r in range(size):
                out[i + r] = y[r]

    cdef void find_aim(self, double target, const Direction* before) noexcept nogil:
        """P c, row by row; of a bounded row S times what both bounds ask of its velocity."""
        cdef Py_ssize_t i
        for i in range(self.system.row_count):
            if self.kind[i] == BOUNDED:
                self.aim[i] = self.diagonal(i) * aim_within(&self.bounds, i, target, before)
            elif self.kind[i] != CONE:
                self.aim[i] = 0.0
            elif i % 3 == 0:
                aim_inside(self.scaling + i // 3, target, before.x + i if before != NULL else NULL,
                           before.v + i if before != NULL else NULL, self.aim + i)

    cdef double diagonal(self, Py_ssize_t i) noexcept nogil:
        """S of a row without a cone."""
        cdef Py_ssize_t tangents = 2 * self.system.contact_count
        return self.right[9 * (i - tangents)] if 2 * i >= 3 * tangents else self.right[9 * (i // 3) + 4 * (i % 3)]

    cdef double reach(self, const Direction* to) noexcept nogil:
        """The length at which the first cone or bound is met, 1e30 at most."""
        cdef Py_ssize_t i
        cdef double length = 1e30
        for i in range(self.system.row_count):
            if self.kind[i] == BOUNDED:
                length = way_within(&self.bounds, i, to, length)
            elif self.kind[i] == CONE and i % 3 == 0:
                length = min(length, way_out(self.point + i // 3, to.x + i))
                if self.straight:
                    length = part(self.pull[i // 3].least, to.a[i], length)
                else:
                    length = min(length, way_out(self.pull + i // 3, to.v + i))
        return length

    cdef void pull_along(self, Inside* pull, const Direction* to, Py_ssize_t i, double length) noexcept nogil:
        """v of a contact. Of the exact model its smaller eigenvalue is u_n / mu itself, whatever v_t does: it goes
        straight, and the shift keeps up."""
        if self.straight:
            put_inside(pull, pull.least + length * to.a[i], pull.t[0] + length * to.v[i + 1],
                       pull.t[1] + length * to.v[i + 2])
        else:
            go(pull, to.v + i, length)

    cdef bint go_along(self, const Direction* to, double length) noexcept nogil:
        """Move; less far where rounding would leave a cone. -> whether it stays inside"""
        cdef Py_ssize_t i
        cdef int _
        cdef bint inside
        cdef Inside point, pull
        for _ in range(TRIES):
            inside = True
            for i in range(self.system.row_count):
                if self.kind[i] == BOUNDED:
                    inside = inside and stays_within(&self.bounds, i, to, length)
                elif self.kind[i] == CONE and i % 3 == 0:
                    point, pull = self.point[i // 3], self.pull[i // 3]
                    go(&point, to.x + i, length)
                    self.pull_along(&pull, to, i, length)
                    inside = inside and point.least > 0.0 and pull.least > 0.0
            if inside:
                break
            length *= SHRINK
        else:
            return False
        for i in range(self.system.row_count):
            if self.kind[i] == BOUNDED:
                self.x[i] += length * to.x[i]
                go_within(&self.bounds, i, to, length)
            elif self.kind[i] == FREE:
                self.x[i] += length * to.x[i]
            elif self.kind[i] == CONE and i % 3 == 0:
                go(self.point + i // 3, to.x + i, length)
                self.pull_along(self.pull + i // 3, to, i, length)
        if self.system.factored:
            for i in range(self.proximal.length):
                self.nodes[i] += length * to.nodes[i]
        self.last = length
        return True

    cdef bint step(self) noexcept nogil:
        """One iteration (S. Mehrotra's predictor and corrector, 1992). -> False if it found no way"""
        cdef double mean = self.mean_product()
        cdef double target, length, other
        cdef Direction* best = &self.second
        self.tip = self.round * sqrt(mean)
        self.look()
        self.prepare()
        self.find_direction(0.0, NULL, &self.first)
        if not finite(&self.first, self.system.row_count):
            return False
        target = 1.0 - min(1.0, self.reach(&self.first))
        target = target * target * target
        if self.last < SHORT:
            target = max(target, MIDDLE)
        self.find_direction(target * mean, &self.first, &self.second)
        length = INSIDE * self.reach(&self.second) if finite(&self.second, self.system.row_count) else 0.0
        if length < DOUBTFUL:
            self.find_direction(max(target, LEAST_TARGET) * mean, NULL, &self.third)
            other = INSIDE * self.reach(&self.third) if finite(&self.third, self.system.row_count) else 0.0
            if other > length:
                length = other
                best = &self.third
        if not length > 0.0 or not self.go_along(best, min(1.0, length)):
            return False
        self.read_points()
        self.system.velocities(self.impulse, self.state, self.velocity)
        self.short_steps = self.short_steps + 1 if self.last < LEAST_STEP else 0
        return self.short_steps < PATIENCE

    def run(self, progress, Py_ssize_t most):
        """Up to `most` iterations, which `progress` records. -> whether it is stuck"""
        cdef Py_ssize_t _
        cdef bint stuck = False
        self.recorder.begin(progress, most)
        with nogil:
            for _ in range(self.recorder.count):
                stuck = not self.step()
                if stuck or self.recorder.keep(self.impulse, self.velocity):
                    break
        self.recorder.end(progress, self.kept[0])
        return stuck
