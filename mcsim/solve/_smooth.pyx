"""The KKT system of the joints' bilateral rows, solved directly, redundant rows allowed.

    [M  J'] [ x    ]   [M x0  ]        x = x0 + M^-1 J' force,      A force = target - J x0,     A = J M^-1 J'
    [J  0 ] [-force] = [target]

(R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, eq. 3.17; x accelerations, velocities or displacements.) A is
factored once a pose as A + eps D, D its diagonal, by an LDL' within the envelope of the lower triangle: between a row's
first non-zero and its diagonal, where all fill stays (A. George and J. Liu, "Computer Solution of Large Sparse Positive
Definite Systems", 1981, chapter 4). In the order of the joints that costs time linear in a chain's length. The proximal
iteration

    force += (A + eps D)^-1 (target - J x),    x += M^-1 J' (the same)

takes eps out again: it converges to a solution of A force = ... itself, also where rows are redundant and A is
singular; it is then that of least D-weighted norm, since it starts at 0. (N. Parikh and S. Boyd, "Proximal Algorithms",
2014, section 4.)
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from mcsim.core._types cimport GROW, OK, Twist
from mcsim.state._layout cimport DYNAMIC, ROW_JOINT
from mcsim.state._rows cimport coupling, is_second, is_wide, push, rate

# eps. Between rounding (1e-16), which a singular A's factor amplifies by 1 / eps, and fast convergence: an eigenvalue s
# of A (in units of D) loses its error by a factor eps / (s + eps) an iteration.
cdef double PROXIMAL = 1e-9
# eps of an articulation with loops, whose rows may be redundant. Redundant rows that do not quite fit at a pose off
# the constraints by d, as the stages of Runge-Kutta are by some h^2, have an eigenvalue of order d^2 and a residual of
# order d: met exactly they would throw accelerations off by order 1. What gets through is d^2 / eps.
cdef double PROXIMAL_LOOP = 1e-6
cdef int MOST_ITERATIONS = 20
# Iterate while the largest residual falls at least by this factor, so that what is inconsistent (redundant rows of an
# open loop) does not drive forces up along the null space.
cdef double PROGRESS = 0.5


cdef void* resized(void* memory, Py_ssize_t count, Py_ssize_t size) except NULL:
    cdef void* grown = realloc(memory, (count if count > 0 else 1) * size)
    if grown == NULL:
        raise MemoryError(f"no room for {count} entries of the joints' factor")
    return grown


cdef inline Twist no_twist() noexcept nogil:
    cdef Twist t
    memset(&t, 0, sizeof(Twist))
    return t


cdef class SmoothSolver:
    """The factor and its buffers; they only grow."""

    def __dealloc__(self):
        free(self.row)
        free(self.first_on)
        free(self.first)
        free(self.line)
        free(self.value)
        free(self.target)
        free(self.step)
        free(self.force)
        free(self.moved)
        free(self.kept)
        free(self.shift)
        free(self.group_begin)
        free(self.group_end)

    def __reduce__(self):
        return SmoothSolver, ()

    cdef int grow(self) except -1:
        cdef Py_ssize_t n = self.row_need
        if n > self.row_capacity or self.row == NULL:
            self.row = <int32_t*>resized(self.row, n, sizeof(int32_t))
            self.first = <Py_ssize_t*>resized(self.first, n, sizeof(Py_ssize_t))
            self.line = <Py_ssize_t*>resized(self.line, n, sizeof(Py_ssize_t))
            self.target = <double*>resized(self.target, n, sizeof(double))
            self.step = <double*>resized(self.step, n, sizeof(double))
            self.force = <double*>resized(self.force, n, sizeof(double))
            self.group_begin = <Py_ssize_t*>resized(self.group_begin, n, sizeof(Py_ssize_t))
            self.group_end = <Py_ssize_t*>resized(self.group_end, n, sizeof(Py_ssize_t))
            self.kept = <double*>resized(self.kept, n, sizeof(double))
            self.moved = <double*>resized(self.moved, n, sizeof(double))
            self.shift = <double*>resized(self.shift, n, sizeof(double))
            self.row_capacity = n
        if self.body_need > self.body_capacity or self.first_on == NULL:
            self.first_on = <int32_t*>resized(self.first_on, self.body_need, sizeof(int32_t))
            self.body_capacity = self.body_need
        if self.entry_need > self.entry_capacity or self.value == NULL:
            self.value = <double*>resized(self.value, self.entry_need, sizeof(double))
            self.entry_capacity = self.entry_need
        return 0

    cdef Py_ssize_t reach(self, const Row* row, Py_ssize_t n, Py_ssize_t begin, const Bodies* bodies) noexcept nogil:
        """The first line that shares a body with the row of line n, `begin` at most."""
        cdef int32_t body
        cdef int k
        for k in range(2):
            body = row.body_b if k else row.body_a
            if body >= 0 and bodies.kind[body] == DYNAMIC:
                if self.first_on[body] < 0:
                    self.first_on[body] = <int32_t>n
                begin = min(begin, <Py_ssize_t>self.first_on[body])
        return begin

    cdef int build(self, const Row* rows, Py_ssize_t row_count, const Bodies* bodies) noexcept nogil:
        """Which rows there are, and the envelope: a line begins at the first row on either of its dynamic bodies."""
        cdef Py_ssize_t i, n = 0, entries = 0, begin
        self.count = 0
        self.taken = 0
        self.row_need = row_count
        self.body_need = bodies.count
        self.entry_need = 0
        if self.row == NULL or row_count > self.row_capacity or bodies.count > self.body_capacity:
            return GROW
        for i in range(bodies.count):
            self.first_on[i] = -1
        for i in range(row_count):
            if rows[i].kind != ROW_JOINT or is_second(&rows[i]):
                continue
            begin = self.reach(&rows[i], n, n, bodies)
            if is_wide(&rows[i]):
                begin = self.reach(&rows[i + 1], n, begin, bodies)
            self.row[n] = <int32_t>i
            self.first[n] = begin
            self.line[n] = entries - begin
            entries += n - begin + 1
            n += 1
            self.taken += 2 if is_wide(&rows[i]) else 1
        self.entry_need = entries
        if entries > self.entry_capacity:
            return GROW
        self.count = n
        self.find_groups()
        self.choose_shifts(rows, bodies)
        return OK

    cdef void find_groups(self) noexcept nogil:
        """A group begins at row i if no line from i on begins before i."""
        cdef Py_ssize_t i, reach = self.count, end = self.count
        for i in range(self.count - 1, -1, -1):
            reach = min(reach, self.first[i])
            self.group_end[i] = end
            self.group_begin[i] = -1
            if reach == i:
                self.group_begin[i] = i
                end = i
        for i in range(1, self.count):
            if self.group_begin[i] < 0:
                self.group_begin[i] = self.group_begin[i - 1]

    cdef void choose_shifts(self, const Row* rows, const Bodies* bodies) noexcept nogil:
        """eps of each row. A group has loops if it has at least as many joints as bodies, the world counted as one
        more; in a group of several articulations, whose joints were added in turns, a loop may pass unseen."""
        cdef Py_ssize_t i, begin
        cdef const Row* row
        for i in range(self.count):
            self.step[i] = 0.0                                 # joints less bodies of the group that begins here
            self.kept[i] = 0.0                                 # whether it holds on to the world
        for i in range(bodies.count):
            if self.first_on[i] >= 0:
                self.step[self.group_begin[self.first_on[i]]] -= 1.0
        for i in range(self.count):
            row = &rows[self.row[i]]
            begin = self.group_begin[i]
            if i == begin or row.source != rows[self.row[i - 1]].source:
                self.step[begin] += 1.0
            if not (row.body_a >= 0 and bodies.kind[row.body_a] == DYNAMIC
                    and row.body_b >= 0 and bodies.kind[row.body_b] == DYNAMIC):
                self.kept[begin] = 1.0
        for i in range(self.count):
            begin = self.group_begin[i]
            self.shift[i] = PROXIMAL_LOOP if self.step[begin] - self.kept[begin] >= 0.0 else PROXIMAL

    cdef void factor(self, const Row* rows) noexcept nogil:
        """LDL' of A + eps D, line by line: L's line i solves with the lines above it; 1 / d stands on the diagonal."""
        cdef Py_ssize_t i, j, k, begin
        cdef double* li
        cdef double* lj
        cdef double s, d
        for i in range(self.count):
            li = self.value + self.line[i]
            for j in range(self.first[i], i):
                s = coupling(&rows[self.row[i]], &rows[self.row[j]])
                lj = self.value + self.line[j]
                begin = max(self.first[i], self.first[j])
                for k in range(begin, j):
                    s -= li[k] * lj[k]
                li[j] = s                                      # d_j L_ij until the line is done
            d = rows[self.row[i]].diagonal * (1.0 + self.shift[i])
            for j in range(self.first[i], i):
                s = li[j] * self.value[self.line[j] + j]
                d -= s * li[j]
                li[j] = s
            li[i] = 1.0 / d if d > 0.0 else 0.0

    cdef void backsolve(self, double* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """x <- (L D L')^-1 x, of whole groups."""
        cdef Py_ssize_t i, k
        cdef const double* li
        cdef double s
        for i in range(begin, end):
            li = self.value + self.line[i]
            s = x[i]
            for k in range(self.first[i], i):
                s -= li[k] * x[k]
            x[i] = s
        for i in range(begin, end):
            x[i] *= self.value[self.line[i] + i]
        for i in range(end - 1, begin - 1, -1):
            li = self.value + self.line[i]
            s = x[i]
            for k in range(self.first[i], i):
                x[k] -= li[k] * s

    cdef void aim_accelerations(self, const Row* rows, const Twist* twist, const Settings* settings) noexcept nogil:
        """J a = -J' v - rate_gain dC/dt - error_gain C, dC/dt = J v + rate. The rows' curvature is J' v + J a_g,
        a_g = -I^-1 (w x I w), so this is for x = a - a_g, accelerations without the gyroscopic part."""
        cdef Py_ssize_t i
        cdef const Row* row
        for i in range(self.count):
            row = &rows[self.row[i]]
            self.target[i] = -row.curvature - settings.rate_gain * (rate(row, twist) + row.rate) \
                - settings.error_gain * row.error

    cdef void aim_rates(self, const Row* rows, const Twist* twist) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            self.target[i] = rate(&rows[self.row[i]], twist)

    cdef void aim_still(self, const Row* rows) noexcept nogil:
        """dC/dt = J v + rate = 0"""
        cdef Py_ssize_t i
        for i in range(self.count):
            self.target[i] = -rows[self.row[i]].rate

    cdef double aim_errors(self, const Row* rows) noexcept nogil:
        """-> the largest error [m or rad]"""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            self.target[i] = -rows[self.row[i]].error
            largest = max(largest, fabs(self.target[i]))
        return largest

    cdef void solve(self, const Row* rows, Twist* x) noexcept nogil:
        self.solve_range(rows, x, 0, self.count)

    cdef void solve_range(self, const Row* rows, Twist* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        cdef double worst, last = 0.0
        cdef Py_ssize_t i
        cdef int k
        for i in range(begin, end):
            self.force[i] = 0.0
        for k in range(MOST_ITERATIONS):
            worst = 0.0
            for i in range(begin, end):
                self.step[i] = self.target[i] - rate(&rows[self.row[i]], x)
                worst = max(worst, fabs(self.step[i]))
            if worst == 0.0 or (k > 0 and not worst < PROGRESS * last):
                return
            last = worst
            self.backsolve(self.step, begin, end)
            for i in range(begin, end):
                self.force[i] += self.step[i]
                push(&rows[self.row[i]], self.step[i], x)

    cdef void keep(self, Row* rows, double s) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            rows[self.row[i]].impulse += s * self.force[i]
            if is_wide(&rows[self.row[i]]):
                rows[self.row[i] + 1].impulse = rows[self.row[i]].impulse

    cdef void forget(self, Py_ssize_t row_count) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(row_count):
            self.moved[i] = -1.0

    cdef double weigh(self, const Row* row, const Row* rows, Twist* scratch, Py_ssize_t begin,
                      Py_ssize_t end) noexcept nogil:
        """J x, x the bodies' answer M^-1 J' with J x = 0 in the joints' rows. 0: the joints forbid it."""
        cdef Py_ssize_t i
        cdef double moved
        cdef const Row* own
        scratch[row.body_a] = no_twist()
        scratch[row.body_b] = no_twist()
        for i in range(begin, end):
            own = &rows[self.row[i]]
            scratch[own.body_a] = no_twist()
            scratch[own.body_b] = no_twist()
            if is_wide(own):
                scratch[own[1].body_a] = no_twist()
                scratch[own[1].body_b] = no_twist()
            self.kept[i] = self.target[i]
            self.target[i] = 0.0
        push(row, 1.0, scratch)
        self.solve_range(rows, scratch, begin, end)
        for i in range(begin, end):
            self.target[i] = self.kept[i]
        moved = rate(row, scratch)
        return moved if moved > 1e-12 * row.diagonal else 0.0

    cdef double sweep(self, Row* rows, Py_ssize_t row_count, Twist* twist, Twist* scratch, int relaxed) noexcept nogil:
        """Projected Gauss-Seidel on the bounded rows of what the joints leave free. A row that stays at its bound costs
        nothing."""
        cdef double largest = 0.0
        cdef double d, w, impulse
        cdef Py_ssize_t i, k, begin, end
        cdef Row* row
        for i in range(row_count):
            row = &rows[i]
            w = rate(row, twist) + row.bias[relaxed] + row.compliance[relaxed] * row.impulse
            if row.kind == ROW_JOINT or w == 0.0 or (w > 0.0 and row.impulse <= row.lower) or (
                    w < 0.0 and row.impulse >= row.upper):
                continue
            begin = end = 0
            k = -1 if row.body_b < 0 else self.first_on[row.body_b]
            if k < 0:
                k = -1 if row.body_a < 0 else self.first_on[row.body_a]
            if k >= 0:
                begin = self.group_begin[k]
                end = self.group_end[k]
            if self.moved[i] < 0.0:
                self.moved[i] = self.weigh(row, rows, scratch, begin, end)
            if self.moved[i] == 0.0:
                continue
            d = self.moved[i] + row.compliance[relaxed]
            impulse = min(max(row.impulse - w / d, row.lower), row.upper) - row.impulse
            row.impulse += impulse
            push(row, impulse, twist)
            self.solve_range(rows, twist, begin, end)
            for k in range(begin, end):
                rows[self.row[k]].impulse += self.force[k]
                if is_wide(&rows[self.row[k]]):
                    rows[self.row[k] + 1].impulse = rows[self.row[k]].impulse
            largest = max(largest, fabs(impulse) * d)
        return largest
