"""The KKT system of the joints' bilateral rows, solved directly, redundant rows allowed.

    [M  J'] [ x    ]   [M x0  ]        x = x0 + M^-1 J' force,      A force = target - J x0,     A = J M^-1 J'
    [J  0 ] [-force] = [target]

(R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, eq. 3.17; x accelerations, velocities or displacements.) A is
factored once a pose by the sparse block LDL' of the direct joint solver (`_tree.pyx`, with fronts where there are
loops), in time linear in the joints of a tree or a star; rows of gears and of joints of the user's own stand beside it
as its border (`_border.pyx`). Of rows that may be redundant, those of loops and of the border, eps D is added, D the
diagonal of A. The proximal iteration

    force += (A + eps D)^-1 (target - J x),    x += M^-1 J' (the same)

takes eps out again: it converges to a solution of A force = ... itself, also where A is singular. Where eps stands in
all rows of an articulation that is the one of least D-weighted norm, since it starts at 0 (N. Parikh and S. Boyd,
"Proximal Algorithms", 2014, section 4); where a tree has a border, the border's rows carry as little as they can.
Without eps it is iterative refinement.

One step of it with a border, T the tree's part of A + eps D, B what couples the border's rows to it, G their Schur
complement, r_t and r_b the residuals:

    y = T^-1 r_t,    mu = G^-1 (r_b - B' y),    force_t += y - T^-1 B mu,    force_b += mu
"""

from libc.math cimport fabs
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport add
from mcsim.solve._pivots cimport SMALLEST_PIVOT
from mcsim.solve._tree cimport Articulation, Node
from mcsim.state._rows cimport copy_jacobian, own_rows, part_of, push, rate, row_rate, set_impulse
from mcsim.state._row cimport BLOCK_HELD, ROW_JOINT

from mcsim.solve.components import find_articulations

# eps. Redundant rows that do not quite fit at a pose off the constraints by d, as the stages of Runge-Kutta are by some
# h^2, have an eigenvalue of order d^2 and a residual of order d: met exactly they would throw accelerations off by
# order 1. What gets through is d^2 / eps. An eigenvalue s of A (in units of D) loses its error by a factor
# eps / (s + eps) an iteration.
cdef double PROXIMAL = 1e-6
# The same of states that are projected, of which d is a rounding error: as small as rounding errors of A allow.
cdef double PROXIMAL_CLOSED = 1e-10
# The same where joints are to leave nothing of an estimate of an error, to which rounding errors do not matter.
cdef double PROXIMAL_ERRORS = 1e-11
cdef int MOST_ITERATIONS = 20     # proximal steps, at most
# Iterate while the largest residual falls at least by this factor, so that what is inconsistent (redundant rows of an
# open loop) does not drive forces up along the null space.
cdef double PROGRESS = 0.5


cdef class SmoothSolver:
    """pairs: (joints, 2) bodies, -1 the world; sizes: (joints,) rows of each that the tree takes; beside: rows of the
    border, as Border has them; moves: (bodies,) bool, which are dynamic."""

    def __init__(self, pairs, sizes, beside, moves):
        self.border = Border(beside, pairs[sizes > 0], moves)
        group = self.border.articulation
        self.tree = JointTree(pairs, sizes, moves, group)
        self.count = self.tree.row_count + self.border.count
        self.taken = self.tree.row_count + self.border.records
        rows, numbers = np.zeros(self.count + 1, np.int32), np.zeros((4, self.count + 1))
        response, around = np.zeros((len(moves) + 1, 6)), np.roll(group, 1)                    # the world first
        spans, members = find_articulations(group, self.tree.joint, self.tree.node_loops, pairs, self.border.groups)
        self.kept = rows, numbers, response, around, spans, members
        self.row, self.group, self.member = integers(rows), integers(around) + 1, integers(members)
        self.target, self.nothing, self.step = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.scale = doubles(numbers[3])
        self.response = <Twist*>doubles(response) + 1
        self.span = <Articulation*>records(spans)
        self.span_count, self.body_count = len(spans), len(moves)
        self.proximal = PROXIMAL

    cdef int reserve(self, Py_ssize_t row_count) except -1:
        """Room for all rows of joints."""
        if row_count > self.row_capacity:
            self.kept_moved = np.zeros(row_count)
            self.moved = doubles(self.kept_moved)
            self.row_capacity = row_count
        return 0

    cdef void locate(self, const Joint* joints, Row* rows) noexcept nogil:
        """Where the joints' rows stand in this step. What does not move stands still, whatever 0 * inf the step before left
        there."""
        cdef Py_ssize_t j, k
        cdef const Row* own
        memset(self.response - 1, 0, (self.body_count + 1) * sizeof(Twist))
        self.border.begin_step(rows)
        self.border.joints = joints
        for j in range(self.tree.rows.joint_count):
            own = own_rows(rows, &joints[j])
            for k in range(self.tree.rows.begin[j], self.tree.rows.begin[j + 1]):
                self.row[k] = <int32_t>(own - rows + k - self.tree.rows.begin[j])
        for k in range(self.border.count):
            self.row[self.tree.row_count + k] = <int32_t>(self.border.row(k) - rows)
        for k in range(self.count):                          # errors are weighed before anything is factored
            self.scale[k] = part_of(&joints[rows[self.row[k]].source], &rows[self.row[k]], 1.0)

    # ---- the factor --------------------------------------------------------------------------------------------------

    cdef void factor(self, Row* rows, const Bodies* bodies) noexcept nogil:
        """Of the tree, then of the border, by probing."""
        cdef Py_ssize_t i
        self.bodies = bodies
        for i in range(self.tree.row_count):
            copy_jacobian(&rows[self.row[i]], &self.tree.rows.row[i])
        for i in range(self.span_count):
            self.tree.factor(&self.span[i], bodies, self.proximal, NULL)
            self.factor_border(&self.span[i])

    cdef bint follow(self, const Row* rows) noexcept nogil:
        """The rows are those of poses beside the ones that were factored, nearer than iterations need: what they converge
        to is right. -> whether that is so of all articulations; else nothing has happened"""
        cdef Py_ssize_t i
        for i in range(self.span_count):
            if self.tree.lanes or (not self.span[i].loops and self.tree.is_doubtful(&self.span[i])):
                return False
        for i in range(self.tree.row_count):
            copy_jacobian(&rows[self.row[i]], &self.tree.rows.row[i])
        for i in range(self.span_count):
            self.tree.weigh_rows(&self.span[i], self.bodies)
        return True

    cdef void factor_border(self, const Articulation* span) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.border.rounds if span.border < span.border_end else 0):
            self.clear(span, self.border.scratch)
            self.border.push_round(k, span.border, span.border_end)
            self.tree_rates(span, self.border.scratch)
            self.take_tree_step(span, self.border.scratch)
            self.border.read_round(k, span.border, span.border_end)
        for k in range(span.border, span.border_end):
            self.border.add_to_diagonal(k, self.proximal * self.border.row(k).diagonal)
        self.border.factor(span.border, span.border_end)

    # ---- aims --------------------------------------------------------------------------------------------------------

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
        """-> the largest error, as an angle [rad]"""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            self.target[i] = -rows[self.row[i]].error
            largest = max(largest, self.part(i, self.target[i]))
        return largest

    cdef double part(self, Py_ssize_t i, double error) noexcept nogil:
        """|error| of its row i as an angle [rad], so that what is in metres compares with what is in radians."""
        return self.scale[i] * fabs(error)

    cdef Py_ssize_t worst(self) noexcept nogil:
        """After aim_errors: the row with the largest."""
        cdef double largest = -1.0
        cdef double error
        cdef Py_ssize_t i, found = 0
        for i in range(self.count):
            error = self.part(i, self.target[i])
            if error > largest:
                largest, found = error, i
        return self.row[found]

    # ---- solving -----------------------------------------------------------------------------------------------------

    cdef void solve(self, const Row* rows, Twist* x) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.span_count):
            if not self.looped_alone or self.span[i].loops > 0:
                self.solve_span(&self.span[i], rows, x, self.target)

    cdef void forbid(self, const Row* rows, Twist* x) noexcept nogil:
        """J x = 0"""
        cdef Py_ssize_t i
        for i in range(self.span_count):
            self.solve_span(&self.span[i], rows, x, self.nothing)

    cdef void solve_span(self, const Articulation* span, const Row* rows, Twist* x, const double* target) noexcept nogil:
        """J x = target in the rows of the span."""
        cdef double worst, last = 0.0
        cdef const Node* node
        cdef Py_ssize_t k
        for k in range(span.node, span.node_end):
            node = &self.tree.nodes[k]
            if node.joint >= 0:
                memset(self.tree.rows.impulse + node.row, 0, node.size * sizeof(double))
        for k in range(span.border, span.border_end):
            self.border.impulse[k] = 0.0
        for k in range(MOST_ITERATIONS):
            worst = self.miss(span, rows, x, target)
            if worst == 0.0 or (k > 0 and not worst < PROGRESS * last):
                return
            last = worst
            self.take_tree_step(span, x)
            if span.border < span.border_end:
                self.take_border_step(span, rows, x, target)

    cdef double miss(self, const Articulation* span, const Row* rows, const Twist* x, const double* target) noexcept nogil:
        """step <- J x - target. -> the largest, as angles"""
        cdef double worst = 0.0
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        self.tree_rates(span, x)
        for k in range(span.node, span.node_end):
            node = &self.tree.nodes[k]
            if node.joint >= 0:
                for i in range(node.row, node.row + node.size):
                    self.step[i] -= target[i]
                    worst = max(worst, self.part(i, self.step[i]))
        for k in range(self.tree.row_count + span.border, self.tree.row_count + span.border_end):
            self.step[k] = rate(&rows[self.row[k]], x) - target[k]
            worst = max(worst, self.part(k, self.step[k]))
        return worst

    cdef void tree_rates(self, const Articulation* span, const Twist* x) noexcept nogil:
        """step <- J x of the tree's rows"""
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        for k in range(span.node, span.node_end):
            node = &self.tree.nodes[k]
            if node.joint >= 0:
                for i in range(node.row, node.row + node.size):
                    self.step[i] = row_rate(&self.tree.rows.row[i], &x[node.body_a], &x[node.body_b])

    cdef void take_tree_step(self, const Articulation* span, Twist* x) noexcept nogil:
        """One proximal step against `step`, of the tree alone."""
        self.tree.take_rates(span, self.step)
        self.tree.finish(span, self.bodies, x, self.tree.rows.impulse)

    cdef void take_border_step(self, const Articulation* span, const Row* rows, Twist* x,
                               const double* target) noexcept nogil:
        """The border's part of that step: mu, and what the tree does against it."""
        cdef Twist* push_back = self.border.scratch
        cdef double* mu = self.border.vector
        cdef double* impulse = self.border.impulse
        cdef Py_ssize_t first = self.tree.row_count
        cdef Py_ssize_t k
        cdef int i
        for k in range(span.border, span.border_end):
            mu[k] = target[first + k] - rate(&rows[self.row[first + k]], x)
        self.border.backsolve(span.border, span.border_end)
        self.clear(span, push_back)
        for k in range(span.border, span.border_end):
            impulse[k] += mu[k]
            push(&rows[self.row[first + k]], mu[k], push_back)
        self.tree_rates(span, push_back)
        self.take_tree_step(span, push_back)
        for k in range(span.member, span.member_end):
            i = self.member[k]
            x[i].v = add(x[i].v, push_back[i].v)
            x[i].w = add(x[i].w, push_back[i].w)

    cdef void clear(self, const Articulation* span, Twist* x) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(span.member, span.member_end):
            memset(&x[self.member[k]], 0, sizeof(Twist))

    cdef void keep(self, Row* rows, double s) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.span_count):
            self.keep_span(&self.span[i], rows, s)

    cdef void keep_span(self, const Articulation* span, Row* rows, double s) noexcept nogil:
        cdef const Node* node
        cdef Py_ssize_t k
        cdef Row* row
        cdef int i
        for k in range(span.node, span.node_end):
            node = &self.tree.nodes[k]
            if node.joint >= 0:
                for i in range(node.row, node.row + node.size):
                    rows[self.row[i]].impulse += s * self.tree.rows.impulse[i]
        for k in range(span.border, span.border_end):
            row = &rows[self.row[self.tree.row_count + k]]
            set_impulse(row, row.impulse + s * self.border.impulse[k])

    # ---- bounded rows ------------------------------------------------------------------------------------------------

    cdef void forget(self, Py_ssize_t row_count) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(row_count):
            self.moved[i] = -1.0

    cdef int find_spans(self, const Row* row, const Articulation** found) noexcept nogil:
        """The articulations that a row acts on. -> how many"""
        cdef int a = self.group[row.body_a]
        cdef int b = self.group[row.body_b]
        cdef int n = 0
        if a >= 0:
            found[n] = &self.span[a]
            n += 1
        if b >= 0 and b != a:
            found[n] = &self.span[b]
            n += 1
        return n

    cdef double weigh(self, const Row* row, const Row* rows, const Articulation** spans, int count) noexcept nogil:
        """J x, x the bodies' answer M^-1 J' with J x = 0 in the joints' rows. 0: the joints forbid it."""
        cdef double moved
        cdef int k
        for k in range(count):
            self.clear(spans[k], self.response)
        push(row, 1.0, self.response)
        for k in range(count):
            self.solve_span(spans[k], rows, self.response, self.nothing)
        moved = rate(row, self.response)
        return moved if moved > SMALLEST_PIVOT * row.diagonal else 0.0

    cdef double sweep(self, Row* rows, Py_ssize_t row_count, Twist* twist, int relaxed) noexcept nogil:
        """Projected Gauss-Seidel on the bounded rows of what the joints leave free. A row that stays at its bound costs
        nothing."""
        cdef const Articulation* spans[2]
        cdef double largest = 0.0
        cdef double d, w, impulse
        cdef Py_ssize_t i
        cdef int k, n
        cdef Row* row
        for i in range(row_count):
            row = &rows[i]
            w = rate(row, twist) + row.bias[relaxed] + row.compliance[relaxed] * row.impulse
            if (row.kind == ROW_JOINT or row.block_kind == BLOCK_HELD or w == 0.0
                    or (w > 0.0 and row.impulse <= row.lower) or (w < 0.0 and row.impulse >= row.upper)):
                continue
            n = self.find_spans(row, spans)
            if self.moved[i] < 0.0:
                self.moved[i] = self.weigh(row, rows, spans, n)
            if self.moved[i] == 0.0:
                continue
            d = self.moved[i] + row.compliance[relaxed]
            impulse = min(max(row.impulse - w / d, row.lower), row.upper) - row.impulse
            row.impulse += impulse
            push(row, impulse, twist)
            for k in range(n):
                self.solve_span(spans[k], rows, twist, self.target)
                self.keep_span(spans[k], rows, 1.0)
            largest = max(largest, fabs(impulse) * d)
        return largest
