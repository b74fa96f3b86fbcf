"""One articulation at a time: rows, factor and solves of its joints (docs/theory/tree.md). What one does depends on no
other.

Gears and joints of the user's own stand beside the tree, as its border (solve/_border.pyx): their rows are always those
of the sweeps' buffer, and every solve takes them with the tree.
"""

from libc.math cimport fabs
from libc.string cimport memset

from mcsim.constraints._direct cimport write_joint_rows
from mcsim.core._types cimport Twist
from mcsim.direct._refinement cimport CONTRARY, MOST_REPEATS, PROXIMAL_PROGRESS
from mcsim.direct._state cimport (LOOP_GAP, MOST_PROXIMAL, SOLVED, ArticulationPart, ArticulationState,
                                  may_be_redundant)
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._joint_types cimport USER
from mcsim.state._row cimport JointRows
from mcsim.state._rows cimport is_linear, row_rate, rows_way, way_of

cdef enum:
    BORDER_REPEATS = 3           # proximal steps of the border's rows in a solve, each a solve of the whole tree

# With loops, which nets drive to singular poses, where no correction is quick: proximal steps go on until what they leave
# would open the joints by less than this part of what they are open by.
cdef double GAP_TOLERANCE = 0.1
# The proximal part of the diagonal is the gap, in parts of the size, between this and MOST_PROXIMAL (N. Yamashita,
# M. Fukushima, 2001, on the rate of Levenberg's and Marquardt's method at singular solutions).
cdef double LEAST_PROXIMAL = 1e-6


cdef class JointSolves(ArticulationPart):
    """Rows, factors and solves of one articulation, and what is put aside of it."""

    def __init__(self, ArticulationState state):
        self.state = state

    cdef void write_rows(self, Py_ssize_t g) noexcept nogil:
        """Jacobians and errors at the present poses."""
        cdef const Articulation* a = &self.articulation[g]
        self.state.open[g] = write_joint_rows(self.joints, self.state.linked + a.linked, a.linked_end - a.linked,
                                              self.bodies, self.settings, &self.tree.rows)
        if self.tree.lanes:
            self.state.open[g] = max(self.state.open[g], self.tree.balls.kernels.write(
                self.tree.balls.block(a.ball), a.ball_end - a.ball, self.bodies, &self.tree.rows, self.tree.balls.arms))

    cdef void factor(self, Py_ssize_t g) noexcept nogil:
        """Of the tree, then of the border. The proximal part of rows that may be redundant is as the joints are open:
        Newton's step along a direction of stiffness s is then not longer than it is true."""
        cdef const Articulation* a = &self.articulation[g]
        cdef bint redundant = may_be_redundant(a)
        cdef double gap
        cdef Py_ssize_t k
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL:
                self.state.open[g] = max(self.state.open[g], self.border_way(k, self.border.row(k).error))
        gap = self.state.open[g] / a.size
        self.state.proximal[g] = min(max(gap, LEAST_PROXIMAL), MOST_PROXIMAL)
        self.state.solved[g] = SOLVED * a.size / self.settings.h
        self.state.cold[g] = a.loops > 0 or (redundant and self.state.open[g] > a.enough)
        if redundant and self.state.open[g] > a.enough:
            self.state.solved[g] = GAP_TOLERANCE * min(self.state.open[g], LOOP_GAP * a.size) / self.settings.h
        self.tree.factor(a, self.bodies, self.state.proximal[g], NULL)
        self.factor_border(g)

    cdef void factor_border(self, Py_ssize_t g, bint torn=False) noexcept nogil:
        """By probing. The proximal part is of what the row sees with the joints in it, so that steps are quick, and not of
        what its bodies alone would show, which may be a thousand times that; but for what rows that repeat others need.
        torn: of that, for joints that no velocities close are not to be moved far."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t k, n
        if a.border == a.border_end:
            return
        self.tree.copy_rows(a, rows.impulse, self.state.impulse)            # those of probing are no measure
        for k in range(self.border.rounds):
            for n in range(a.member, a.member_end):
                memset(&self.border.scratch[self.member[n]], 0, sizeof(Twist))
            self.border.push_round(k, a.border, a.border_end)
            self.solve_tree(g, self.border.scratch, self.state.nothing, 0.0)
            self.border.read_round(k, a.border, a.border_end)
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL:
                self.border.add_to_diagonal(k, self.state.proximal[g] * self.border.row(k).diagonal if torn else max(
                    LEAST_PROXIMAL * self.border.row(k).diagonal, self.state.proximal[g] * self.border.diagonal(k)))
        self.border.factor(a.border, a.border_end)
        self.tree.copy_rows(a, self.state.impulse, rows.impulse)

    cdef double border_way(self, Py_ssize_t k, double error) noexcept nogil:
        """|error| of a row of the border as a way [m]."""
        return way_of(&self.joints[self.border.joint[k]], is_linear(self.border.row(k)), error)

    cdef void solve_one(self, Py_ssize_t g, Twist* twist) noexcept nogil:
        """J v + bias = 0"""
        self.solve_until(g, twist, self.state.solved[g])

    cdef bint solve_until(self, Py_ssize_t g, Twist* twist, double enough) noexcept nogil:
        """J v + bias = 0, of velocities or of displacements, until `enough` is left [m/s, or m]. -> as of solve_tree"""
        return self.solve_all(g, twist, self.tree.rows.bias, enough, BORDER_REPEATS)

    cdef bint solve_all(self, Py_ssize_t g, Twist* twist, const double* bias, double enough, int most) noexcept nogil:
        """J v + bias = 0, the border's rows with the tree's, by `most` proximal steps at most as solve_tree takes them,
        until the border's leave `enough`. -> as of solve_tree, of its last one"""
        cdef const Articulation* a = &self.articulation[g]
        cdef int k
        cdef double found, last = 0.0
        cdef bint contrary = self.solve_tree(g, twist, bias, enough)
        for k in range(most if a.border < a.border_end else 0):
            found = self.border.residual(twist, a.border, a.border_end, self.joints)
            if found <= enough or (k > 0 and not found < PROXIMAL_PROGRESS * last):
                break
            self.border.finish(twist, a.border, a.border_end)
            contrary = self.solve_tree(g, twist, bias, enough)
            last = found
        return contrary

    cdef bint solve_tree(self, Py_ssize_t g, Twist* twist, const double* bias, double enough) noexcept nogil:
        """J v + bias = 0 of the tree; with loops, and where the factor is in doubt, until less than `enough` is left or
        nothing more is won. -> whether its rows contradict each other by what is left"""
        cdef const Articulation* a = &self.articulation[g]
        cdef int k
        cdef double found, last = 0.0
        cdef bint repeats = self.tree.is_doubtful(a)
        for k in range(MOST_REPEATS if repeats else 1):
            found = self.tree.find_rates(a, twist, bias, self.joints)
            if repeats and (found < enough or (k > 1 and not found < PROXIMAL_PROGRESS * last)):
                return not found < enough and found > CONTRARY * last
            self.tree.finish(a, self.bodies, twist, self.tree.rows.impulse)
            last = found
        return False

    cdef void forget_contrary(self, Py_ssize_t g) noexcept nogil:
        self.tree.scale_rows(&self.articulation[g], 0.0, self.state.contrary)

    cdef void note_contrary(self, Py_ssize_t g, const Twist* twist) noexcept nogil:
        """What is left of J v + bias is no longer asked for, of the rows' biases and of what solves of the same pass begin
        with: `contrary` is taken from those."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef double* contrary = self.state.contrary
        cdef double left
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                left = rows.bias[i] + row_rate(&rows.row[i], &twist[node.body_a], &twist[node.body_b])
                contrary[i] += left
                rows.bias[i] -= left

    cdef void hold(self, Py_ssize_t g, Twist* twist) noexcept nogil:
        """J v + rate = 0"""
        self.aim_still(g)
        self.solve_one(g, twist)

    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil:
        """J x = 0 by impulses of the joints, to rounding: x answers an impulse of any size, in any unit."""
        self.aim_border_still(g)
        self.solve_all(g, x, self.state.nothing, 0.0, MOST_REPEATS)

    cdef void aim_still(self, Py_ssize_t g) noexcept nogil:
        """Biases of J v + rate = 0."""
        self.tree.copy_rows(&self.articulation[g], self.tree.rows.rate, self.tree.rows.bias)
        self.aim_border_still(g)

    cdef void aim_border_still(self, Py_ssize_t g) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.articulation[g].border, self.articulation[g].border_end):
            self.border.bias[k] = 0.0

    cdef void subtract_rates(self, Py_ssize_t g) noexcept nogil:
        """bias <- bias - J v: what a drift has found, as a bias that solves at other velocities can go on with."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                rows.bias[i] -= row_rate(&rows.row[i], &self.bodies.twist[node.body_a], &self.bodies.twist[node.body_b])
        self.border.subtract_rates(self.bodies.twist, a.border, a.border_end)

    cdef void call_functions(self, Py_ssize_t g, bint errors_only) noexcept nogil:
        """Those of the joints of the user's own that are in it."""
        cdef Py_ssize_t k
        cdef int last = -1
        for k in range(self.articulation[g].border, self.articulation[g].border_end):
            if self.border.joint[k] != last:
                last = self.border.joint[k]
                if self.joints[last].type == USER:
                    self.state.calls.call_one(self.joints[last].user, errors_only)

    cdef void keep_impulses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        self.tree.copy_rows(a, self.tree.rows.impulse, self.state.kept_impulse)
        self.border.keep(1.0, a.border, a.border_end)

    cdef void undo_impulses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        self.tree.copy_rows(a, self.state.kept_impulse, self.tree.rows.impulse)
        self.border.undo(a.border, a.border_end)

    cdef void keep(self, Py_ssize_t g) noexcept nogil:
        """Twists and impulses before a solve that may have to be undone."""
        self.state.keep_twists(g)
        self.keep_impulses(g)

    cdef void undo(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.bodies.twist[self.member[k]] = self.state.twist[k]
        self.undo_impulses(g)

    cdef void note_joints(self, int kind, Py_ssize_t g) noexcept nogil:
        """Those of an articulation that are open farther than is enough, as rows are written."""
        cdef const Articulation* a = &self.articulation[g]
        cdef const Node* node
        cdef double most = self.state.most_open(g)
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            if rows_way(&self.joints[node.joint], &self.tree.rows.row[node.row], &self.tree.rows.error[node.row],
                        row_count_of(node)) > most:
                for i in range(node.row, node.row + row_count_of(node)):
                    self.noted.most(kind, node.joint, fabs(self.tree.rows.error[i]))
        for k in range(a.border, a.border_end):
            if self.border.row(k) != NULL and self.border_way(k, self.border.row(k).error) > most:
                self.noted.most(kind, self.border.joint[k], fabs(self.border.row(k).error))
