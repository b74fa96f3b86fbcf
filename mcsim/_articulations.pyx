"""The jointed bodies of a world and their joints, solved directly: the stages of a substep that concern them
(docs/theory/tree.md).

    begin      a guess at the impulses acts; the poses are kept
    close      v += M^-1 J' lambda until the drift by v ends with closed joints: Newton's method with the J, and the
               factor of J M^-1 J', of the drift's start; the poses are those of the last trial
    refresh    J, C and the factor at the new poses
    relax      J v + rate = 0

Under another stabilization than "soft" the rows are those of the sweeps: `read` and `solve_rows` take them.

Gears and joints of the user's own stand beside the tree, as its border (solve/_border.pyx): their rows are always those
of the sweeps' buffer, and every solve takes them with the tree.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from mcsim._jointed cimport Jointed, close_enough
from mcsim.constraints._constrain cimport holds_position
from mcsim.constraints._direct cimport kept_part, miss_joints, read_joint_rows, write_joint_rows
from mcsim.constraints._joints cimport border_error, refresh_border
from mcsim.constraints._stiffness cimport add_forces, count_excess, load_joints, return_excess, stiffen_bodies
from mcsim.core._math cimport add_scaled, dot, scale, vec3
from mcsim.core._types cimport Twist, Vec3
from mcsim.integrate._euler cimport accept_poses, try_poses, update_inertia
from mcsim.state._layout cimport DYNAMIC, JointRow, JointRows, Manifold
from mcsim.state._rows cimport (clear_numbers, copy_numbers, is_wide, own_rows, row_diagonal, row_rate, scale_numbers)

# A direct solve of joints with loops is repeated until what it finds is below this [m/s, rad/s], or so often.
cdef double SOLVED = 1e-13
cdef enum:
    EASY = 3                 # corrections that a motion takes which the step resolves
    PATIENCE = 2             # poor corrections in succession that a tree's joints are given
    MOST_REPEATS = 6
    BORDER_REPEATS = 3
    MOST_CORRECTIONS = 8
    MOST_PROJECTIONS = 6

# Joints are closed at the end of a drift until they are within this [m, rad], or after MOST_CORRECTIONS.
cdef double CLOSED = 5e-9
# The same where bounded rows or contacts act too.
cdef double NEAR = 5e-7

# A correction that does not bring the joints this much nearer is the last; where they then stay this wide open [m,
# rad], their velocities are held instead.
cdef double CONTRACTION = 0.7
cdef double WIDE_GAP = 1e-3

# By how much a guess at impulses may raise an articulation's kinetic energy.
cdef double GROWTH = 1.1

# Joints that the drift leaves wider open than WIDEST_GAP [m, rad] are closed by moving bodies by FIRST_MOVE a substep;
# Newton's step does not start from there.
cdef double WIDEST_GAP = 0.2
cdef double FIRST_MOVE = 0.05

# With loops, which nets drive to singular poses, where no correction is quick: proximal steps go on while each
# leaves less than this of the residual, until that would open the joints by less than this part of what they are
# open by,
cdef double PROXIMAL_PROGRESS = 0.1
cdef double GAP_TOLERANCE = 0.1
# corrections while each leaves less than this of the gap.
cdef double LOOP_CONTRACTION = 0.2
# Functions of the user's are costly: with a border, bodies are moved while each move leaves less than this of the gap.
cdef double BORDER_PROGRESS = 0.5
# The proximal part of the diagonal is the gap [m, rad] within these bounds (N. Yamashita, M. Fukushima, 2001, on
# the rate of Levenberg's and Marquardt's method at singular solutions); it is SHORTER times that for a step which
# led away.
cdef double LEAST_PROXIMAL = 1e-6
cdef double MOST_PROXIMAL = 1e-2
cdef double USUAL_PROXIMAL = 1e-6
cdef double SHORTER = 100.0
cdef enum:
    MOST_SHORTER = 3

# Beyond this strain h^2 trace(I^-1 K) the largest division does not suffice: bodies take their stiffness into their
# inertia as well. In loops that is sooner, and in place of a division, since a factorization costs more there; and only
# for bodies on point-like joints alone: elsewhere redundant forces press on each other without turning anything.
cdef double TREE_STRAIN = 64.0
cdef double NET_STRAIN = 9.0

cdef class Articulations(Jointed):
    """Arguments as of Jointed."""

    cdef void begin_step(self) noexcept nogil:
        """Impulses of the last step, rows at the present poses; to be followed by `prepare`, once the sweeps' rows
        are laid out."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t i, j
        cdef int k
        if self.stiffening:
            update_inertia(self.bodies)
        for i in range(rows.awake_count):
            j = rows.awake[i]
            self.joints[j].constraint_count = rows.begin[j + 1] - rows.begin[j]
            for k in range(self.joints[j].constraint_count):
                rows.second[rows.begin[j] + k] = self.joints[j].impulse[k]
        if self.tree.herding:
            self.herds.begin_step(rows, self.joints)
            self.herds.kernels.load(self.herds.herds, self.herds.count, self.bodies)
        self.write_rows()
        if self.tree.herding:
            self.herds.give_impulses(rows)
        self.choose_proximal()

    cdef void write_rows(self) noexcept nogil:
        """Jacobians and errors at the present poses."""
        cdef JointRows* rows = &self.tree.rows
        self.open = write_joint_rows(self.joints, self.linked, self.linked_count, self.bodies, self.settings, rows)
        self.tree.lanes = self.tree.balls is not None
        if self.tree.lanes:
            self.open = max(self.open, self.tree.balls.write(self.bodies, rows))
        if self.tree.herding:
            self.open = max(self.open, self.herds.kernels.write(self.herds.herds, self.herds.count, self.bodies, rows))

    cdef void give(self) noexcept nogil:
        """Jacobians and impulses of herds, for those who look at joints one by one."""
        if self.tree.herding:
            self.herds.give(&self.tree.rows)

    cdef void refresh(self) noexcept nogil:
        """Rows and factor at the present poses, to which the border's rows are written already."""
        self.write_rows()
        self.prepare()

    cdef void prepare(self) noexcept nogil:
        """The factor, once all rows are written."""
        cdef Py_ssize_t k
        for k in range(self.border.count):
            if self.border.row(k) != NULL:
                self.open = max(self.open, fabs(self.border.row(k).error))
        self.choose_proximal()
        self.factor()

    cdef void choose_proximal(self) noexcept nogil:
        """By how far the joints are open: Newton's step along a direction of stiffness s is then not longer than it
        is true."""
        self.tree.proximal = min(max(self.open, LEAST_PROXIMAL), MOST_PROXIMAL)
        self.solved = SOLVED
        self.cold = self.tree.loops or (self.redundant and self.open > close_enough())
        if self.redundant and self.open > close_enough():
            self.solved = GAP_TOLERANCE * min(self.open, WIDE_GAP) / self.settings.h

    cdef void factor(self) noexcept nogil:
        """Of the tree, then of the border, by probing."""
        cdef JointRows* rows = &self.tree.rows
        cdef double solved = self.solved
        cdef Py_ssize_t k
        self.tree.factor(self.bodies)
        if self.border.count == 0:
            return
        copy_numbers(rows, rows.impulse, self.impulse)
        copy_numbers(rows, rows.bias, self.bias)
        clear_numbers(rows, rows.bias)
        self.solved = 0.0                            # the impulses of probing are no measure
        for k in range(self.border.rounds):
            self.border.push_round(k)
            self.solve_tree(self.border.scratch)
            self.border.read_round(k)
        self.solved = solved
        for k in range(self.border.count):
            if self.border.row(k) != NULL:
                self.border.add_to_diagonal(k, self.tree.proximal * self.border.row(k).diagonal)
        self.border.factor()
        copy_numbers(rows, self.impulse, rows.impulse)
        copy_numbers(rows, self.bias, rows.bias)

    cdef void begin(self) noexcept nogil:
        """What relaxed the last substep is the best guess at what closes this one: both are half a substep's joint
        forces at the same pose. Of redundant rows a part of the impulses does nothing, until the bodies have moved:
        they start from 0."""
        cdef JointRows* rows = &self.tree.rows
        self.keep_poses()
        if self.cold:
            clear_numbers(rows, rows.impulse)
        else:
            copy_numbers(rows, rows.second, rows.impulse)
        self.tree.apply_impulses(self.bodies, self.bodies.twist)

    cdef void solve(self, Twist* twist) noexcept nogil:
        """J v + bias = 0, the border's rows with the tree's, by proximal steps as solve_tree takes them."""
        cdef int k
        cdef double found, last = 0.0
        self.solve_tree(twist)
        if self.border.count > 0:
            for k in range(BORDER_REPEATS):
                found = self.border.residual(twist)
                if found <= self.solved or (k > 0 and not found < PROXIMAL_PROGRESS * last):
                    break
                self.border.finish(twist)
                self.solve_tree(twist)
                last = found

    cdef void solve_tree(self, Twist* twist) noexcept nogil:
        """J v + bias = 0; with loops until the proximal steps have converged."""
        cdef int k
        cdef double found, last = 0.0
        if not self.tree.loops:
            self.tree.solve(self.bodies, twist)
            return
        for k in range(MOST_REPEATS):
            found = self.tree.residual(twist)
            if found < self.solved or (k > 1 and not found < PROXIMAL_PROGRESS * last):
                break
            self.tree.finish(self.bodies, twist)
            last = found

    # ---- the drift ---------------------------------------------------------------------------------------------------

    cdef double drift(self, bint again, bint store) noexcept nogil:
        """The poses at the end of a drift by the present velocities, and J v + bias of its errors. -> how far it is
        off. again: after a correction, only of what was farther off than `near`: of articulations in herds one by one,
        of the others together. store: the poses of those in herds are asked for, not their errors alone."""
        cdef JointRows* rows = &self.tree.rows
        cdef double h = self.settings.h
        cdef double fastest = self.settings.push_speed * h
        cdef double found, largest = 0.0
        if not again or self.loose:
            try_poses(self.bodies, self.chosen, self.outside, self.outside_count, self.position, self.orientation, h)
            largest = self.miss_alone()
            self.loose = largest > self.near
        if self.tree.herding:
            found = self.herds.kernels.drift(self.herds.herds, self.herds.count, self.bodies, rows, h, fastest,
                                             self.near, again, store)
            if found < 0.0:                              # a body turns far
                try_poses(self.bodies, self.chosen, NULL, self.count, self.position, self.orientation, h)
                found = self.herds.kernels.miss(self.herds.herds, self.herds.count, self.bodies, rows, h, fastest,
                                                self.near, again)
            largest = max(largest, found)
        return largest

    cdef double miss_alone(self) noexcept nogil:
        """Of joints that are in no herd."""
        cdef double h = self.settings.h
        cdef double off, largest
        cdef Py_ssize_t k
        cdef Row* row
        largest = miss_joints(self.joints, self.linked, self.linked_count, self.bodies, self.settings, &self.tree.rows)
        if self.tree.lanes:
            largest = max(largest, self.tree.balls.miss(self.bodies, &self.tree.rows, h, self.settings.push_speed * h))
        if self.border.count > 0:
            self.calls.call(True)
        for k in range(self.border.count):
            row = self.border.row(k)
            if row != NULL:
                off = border_error(self.joints, self.border.joint[k], self.border.index[k], self.bodies, self.settings)
                off -= kept_part(&row.error, 1, self.settings.push_speed * h) * row.error
                self.border.bias[k] = off / h
                largest = max(largest, fabs(off))
        return largest

    cdef void subtract_rates(self) noexcept nogil:
        """bias <- bias - J v: what miss_joints found, as a bias that solves at other velocities can go on with."""
        cdef JointRows* rows = &self.tree.rows
        cdef const JointRow* row
        cdef Twist* a
        cdef Twist* b
        cdef Py_ssize_t i, j
        cdef int k
        if self.tree.herding:
            self.herds.kernels.rates(self.herds.herds, self.herds.count, self.bodies.twist, -1.0, True, rows.bias)
        for i in range(rows.alone_count):
            j = rows.alone[i]
            a = &self.bodies.twist[self.joints[j].body_a]
            b = &self.bodies.twist[self.joints[j].body_b]
            for k in range(rows.begin[j], rows.begin[j + 1]):
                rows.bias[k] -= row_rate(&rows.row[k], a, b)
        self.border.subtract_rates(self.bodies.twist)

    cdef void aim(self) noexcept nogil:
        """Biases for solves in turn with sweeps: what closes the joints, or what holds them where they are far from
        closed, and Newton's step may lead away."""
        if self.drift(False, False) > (WIDE_GAP if self.redundant else WIDEST_GAP):
            self.aim_still()
        else:
            self.subtract_rates()

    cdef void aim_still(self) noexcept nogil:
        """Biases for J v + rate = 0."""
        cdef Py_ssize_t i
        copy_numbers(&self.tree.rows, self.tree.rows.rate, self.tree.rows.bias)
        for i in range(self.border.count):
            self.border.bias[i] = 0.0

    cdef void correct(self) noexcept nogil:
        self.corrections += 1
        if self.tree.loops or self.border.count > 0:
            self.subtract_rates()
            self.solve(self.bodies.twist)
        else:
            self.tree.correct(self.bodies, self.bodies.twist, self.tree.rows.bias, self.loose)

    cdef void close(self, const Row* rows, Py_ssize_t count, bint watched) noexcept nogil:
        """Newton's method on the velocities until the drift ends with closed joints, or gets no closer; and the
        drift. rows: `count` bounded rows of joints; watched: the work of all of them is counted, as it is where
        closing is hard."""
        cdef double contraction = LOOP_CONTRACTION if self.tree.loops else CONTRACTION
        cdef int patience = 0 if self.tree.loops else PATIENCE
        cdef double near = NEAR if watched else CLOSED
        cdef int k, poor = 0
        cdef double best, last
        self.near = near if watched else -1.0            # without rows beside, at least one correction
        last = self.drift(False, True)
        best = last
        self.near = near
        self.hard = False
        for k in range(MOST_CORRECTIONS):
            if k == EASY:
                self.hard = True
            if (last <= near and (watched or k > 0)) or poor > patience:
                break
            if k == 0:
                self.keep()
            self.correct()
            last = self.drift(True, True)
            if k == 0 and self.redundant:
                last = self.shorten(last, best)
            poor = 0 if last < contraction * best else poor + 1
            if last < best:
                best = last
                self.keep()
        if not (last <= best or last <= near):
            self.undo()
            last = self.drift(False, True)
        if poor > patience:
            self.hard = True
            if not best < WIDE_GAP:
                # No velocity is found that closes them: hold what they move by at the start of the drift.
                self.hold()
                last = self.drift(False, True)
        self.closed = last < max(self.enough, near)
        if watched:
            self.guard.end(rows, self.joints, count, self.bodies.twist)
            self.angles.add_work(self.bodies.twist)
        if watched or self.hard:
            self.guard.closed(&self.tree.rows, self.joints, self.bodies.twist)
            if self.tree.herding:
                self.herds.add_powers(self.bodies.twist, self.tree.rows.impulse, self.joints)
        if self.stiffening:
            self.count_spin(1.0)
        accept_poses(self.bodies, self.chosen, self.count, self.orientation, self.settings.h)
        if self.stiffening:
            self.settle_spin()

    cdef double shorten(self, double off, double before) noexcept nogil:
        """A first correction that led away, from `before` to `off`, again with a greater proximal part, which makes
        it shorter (D. Marquardt, 1963). -> how far the joints are off"""
        cdef int k
        for k in range(MOST_SHORTER):
            if off <= max(before, self.enough):
                break
            self.undo()
            self.drift(False, True)
            self.tree.proximal *= SHORTER
            self.factor()
            self.correct()
            off = self.drift(False, True)
        return off

    # ---- guesses -----------------------------------------------------------------------------------------------------

    cdef void weigh(self, double* energy) noexcept nogil:
        """The kinetic energy of each articulation's bodies without their spin [J], which tells as much and costs half."""
        cdef Py_ssize_t k
        cdef int i
        cdef Vec3 v
        memset(energy, 0, self.group_count * sizeof(double))
        for k in range(self.count):
            i = self.chosen[k]
            if self.bodies.kind[i] == DYNAMIC:
                v = self.bodies.twist[i].v
                energy[self.group[i]] += 0.5 * dot(v, v) / self.bodies.inv_mass[i]

    cdef void start(self) noexcept nogil:
        """Before impulses act that are guessed from those before."""
        self.weigh(self.before)
        memcpy(self.started - 1, self.bodies.twist - 1, (self.bodies.count + 1) * sizeof(Twist))

    cdef bint gives(self) noexcept nogil:
        """Whether they raise the energy of some articulation. In a motion that the step resolves they take what
        forces gave in between, or so little is missing that it does not matter. `asked` is of its bodies."""
        cdef Py_ssize_t k
        cdef int i
        cdef bint found = False
        self.weigh(self.after)
        for k in range(self.count):
            i = self.chosen[k]
            self.asked[i] = (self.bodies.kind[i] == DYNAMIC
                             and self.after[self.group[i]] > GROWTH * self.before[self.group[i]])
            found = found or self.asked[i]
        return found

    cdef void hold(self) noexcept nogil:
        """J v + rate = 0"""
        self.aim_still()
        self.solve(self.bodies.twist)

    cdef void begin_relax(self, bint swept) noexcept nogil:
        """swept: in turn with other rows, which are to see the joints' forces from the start: a guess at them acts."""
        cdef JointRows* rows = &self.tree.rows
        copy_numbers(rows, rows.impulse, rows.second)
        scale_numbers(rows, -1.0, rows.second)
        if swept and not self.cold:
            self.tree.apply_impulses(self.bodies, self.bodies.twist)
            scale_numbers(rows, 2.0, rows.impulse)

    cdef void end_relax(self) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef JointRows* rows = &self.tree.rows
        for i in range(rows.run_count):
            for k in range(rows.run[2 * i], rows.run[2 * i + 1]):
                rows.second[k] += rows.impulse[k]

    cdef void keep(self) noexcept nogil:
        """Twists and impulses before a solve that may have to be undone."""
        cdef Py_ssize_t k
        for k in range(self.count):
            self.twist[k] = self.bodies.twist[self.chosen[k]]
        copy_numbers(&self.tree.rows, self.tree.rows.impulse, self.impulse)
        self.border.keep()

    cdef void undo(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            self.bodies.twist[self.chosen[k]] = self.twist[k]
        copy_numbers(&self.tree.rows, self.impulse, self.tree.rows.impulse)
        self.border.undo()

    cdef void project(self) noexcept nogil:
        """Move the bodies, by their masses, until the joints are closed: J dx = -C, Newton's method with fresh
        Jacobians. For what the drift could not do, in a whip or where a scene begins with open joints. Momentum is
        kept (Displacement), energy watched."""
        cdef double last, shorter = 1.0
        cdef bint herding = self.tree.herding
        cdef int r
        if herding:
            self.give()
            self.arrange(False)
        self.refresh_all()
        self.guard.weigh(self.joints, self.bodies, -1.0)
        for r in range(MOST_PROJECTIONS):
            if not self.enough < self.open:
                break
            last = self.open
            self.keep_poses()
            self.project_once(FIRST_MOVE / last if last > WIDEST_GAP else 1.0)
            if self.open < last or not self.redundant:
                if last > WIDEST_GAP or (self.border.count > 0 and self.open > BORDER_PROGRESS * last):
                    break
                continue
            self.undo_poses()
            if self.border.count > 0:
                break
            # It led away: once more with a greater proximal part, which makes it shorter.
            shorter *= SHORTER
            self.tree.proximal *= shorter
            self.factor()
        self.guard.weigh(self.joints, self.bodies, 1.0)
        if herding:
            self.arrange(True)
            self.herds.take(&self.tree.rows)

    cdef void keep_poses(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            self.position[k] = self.bodies.position[self.chosen[k]]
            self.orientation[k] = self.bodies.orientation[self.chosen[k]]
        if self.tree.herding:
            self.herds.kernels.keep(self.herds.herds, self.herds.count, self.bodies)

    cdef void undo_poses(self) noexcept nogil:
        """And the twists that project_once has kept."""
        cdef Py_ssize_t k
        for k in range(self.count):
            self.bodies.position[self.chosen[k]] = self.position[k]
            self.bodies.orientation[self.chosen[k]] = self.orientation[k]
            self.bodies.twist[self.chosen[k]] = self.twist[k]
        update_inertia(self.bodies)
        self.refresh_all()

    cdef void refresh_all(self) noexcept nogil:
        """The border's rows too."""
        if self.border.count > 0:
            self.calls.call(False)
            refresh_border(self.joints, self.tree.rows.awake, self.tree.rows.awake_count, self.bodies, self.settings,
                           self.border.rows)
        self.refresh()

    cdef void project_once(self, double part) noexcept nogil:
        """By `part` of the errors."""
        cdef Py_ssize_t i, j, k
        cdef Vec3 force
        cdef JointRows* rows = &self.tree.rows
        self.keep()
        self.displacement.clear(self.bodies)
        for i in range(rows.awake_count):
            j = rows.awake[i]
            for k in range(rows.begin[j], rows.begin[j + 1]):
                rows.bias[k] = part * rows.error[k] if holds_position(&self.joints[j], k - rows.begin[j]) else 0.0
                rows.impulse[k] = 0.0
        for k in range(self.border.count):
            self.border.bias[k] = 0.0 if self.border.row(k) == NULL else part * self.border.row(k).error
        # One proximal step: Newton's next one goes on.
        self.tree.solve(self.bodies, self.displacement.twist)
        if self.border.count > 0:
            self.border.residual(self.displacement.twist)
            self.border.finish(self.displacement.twist)
            self.tree.solve(self.bodies, self.displacement.twist)
        self.displacement.move(self.bodies)
        for i in range(rows.awake_count):
            j = rows.awake[i]
            force = vec3(0.0, 0.0, 0.0)
            for k in range(rows.begin[j], rows.begin[j + 1]):
                force = add_scaled(force, rows.impulse[k], rows.row[k].linear)
            self.displacement.carry_orbit(self.bodies, self.joints[j].body_a, self.joints[j].body_b, force)
        self.carry_gears()
        self.displacement.carry_spins(self.bodies)
        copy_numbers(rows, self.impulse, rows.impulse)
        self.border.undo()
        self.refresh_all()

    cdef void carry_gears(self) noexcept nogil:
        """The same of the two halves of each gear."""
        cdef Py_ssize_t k
        cdef const Row* row
        cdef const double* linear
        cdef int i
        for k in range(self.border.count):
            row = self.border.row(k)
            for i in range(2 if row != NULL and is_wide(row) else 0):
                linear = &row[i].jacobian[6]
                self.displacement.carry_orbit(self.bodies, row[i].body_a, row[i].body_b, scale(
                    row[i].impulse, vec3(linear[0], linear[1], linear[2])))

    # ---- spin --------------------------------------------------------------------------------------------------------

    cdef void count_spin(self, double sign) noexcept nogil:
        count_excess(self.bodies, &self.loads, self.free, sign, self.excess)

    cdef void settle_spin(self) noexcept nogil:
        """Give back what has been counted."""
        if self.free_count > 0:
            return_excess(self.bodies, self.chosen, self.free, self.count, self.free_count, self.excess, self.center,
                          self.inertia)

    # ---- loads -------------------------------------------------------------------------------------------------------

    cdef double residual(self) noexcept nogil:
        """The largest (J v + bias) / (J M^-1 J') of a row [N s, N m s]."""
        cdef JointRows* rows = &self.tree.rows
        cdef const JointRow* row
        cdef Py_ssize_t i, j
        cdef int a, b, k
        cdef double off, diagonal
        cdef double largest = 0.0
        if self.tree.herding:
            largest = self.herds.kernels.residual(self.herds.herds, self.herds.count, self.bodies.twist, rows)
        for i in range(rows.alone_count):
            j = rows.alone[i]
            a = self.joints[j].body_a
            b = self.joints[j].body_b
            for k in range(rows.begin[j], rows.begin[j + 1]):
                row = &rows.row[k]
                off = row_rate(row, &self.bodies.twist[a], &self.bodies.twist[b]) + rows.bias[k]
                diagonal = row_diagonal(row, self.bodies.inv_mass[a], self.bodies.inv_mass[b])
                if diagonal > 0.0:
                    largest = max(largest, fabs(off) / diagonal)
        return largest

    cdef void touch(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil:
        """Which articulations touch something."""
        cdef Py_ssize_t i
        memset(self.touched, 0, self.group_count * sizeof(int32_t))
        for i in range(count):
            if manifolds[i].point_count > 0:
                if self.group[manifolds[i].body_a] >= 0:
                    self.touched[self.group[manifolds[i].body_a]] = 1
                if self.group[manifolds[i].body_b] >= 0:
                    self.touched[self.group[manifolds[i].body_b]] = 1

    cdef double strain(self, double h, double most) noexcept nogil:
        """How much the impulses that the joints held over the time h load the bodies [1/s^2]: the most of an
        articulation that touches nothing and is not strained beyond any division. In those that touch something,
        what would strain a step of h by more than `most` is stiffened, in those strained too much every body."""
        cdef Py_ssize_t k
        cdef int i
        cdef double largest = 0.0
        cdef double limit = NET_STRAIN if self.tree.loops else TREE_STRAIN
        load_joints(self.joints, &self.tree.rows, self.bodies, &self.loads, h)
        memset(self.strained, 0, self.group_count * sizeof(int32_t))
        for k in range(self.count):
            i = self.chosen[k]
            if self.swings[i] and self.group[i] >= 0 and self.loads.load[k] * h * h > limit:
                self.strained[self.group[i]] = 1
        self.stiffening = False
        for k in range(self.count):
            i = self.chosen[k]
            self.loads.part[k] = 0.0
            if self.bodies.kind[i] != DYNAMIC:
                continue
            if self.settings.geometric_stiffness > 0.0:
                self.loads.part[k] = self.settings.geometric_stiffness
            elif self.strained[self.group[i]]:
                self.loads.part[k] = 1.0 if self.swings[i] else 0.0
                if not self.tree.loops:
                    largest = max(largest, self.loads.load[k])
            elif not self.touched[self.group[i]]:
                largest = max(largest, self.loads.load[k])
            elif self.loads.load[k] * h * h > most:
                self.loads.part[k] = 1.0
            if self.loads.part[k] > 0.0:
                self.stiffening = True
        return largest

    cdef void begin_watch(self) noexcept nogil:
        """Before the second pass."""
        self.guard.begin_relax(&self.tree.rows, self.joints, self.bodies.twist)
        self.angles.watch(self.bodies.twist, False)
        if self.tree.herding:
            self.herds.keep_rates(self.bodies.twist)

    cdef void end_watch(self) noexcept nogil:
        """After the second pass."""
        self.guard.relaxed(&self.tree.rows, self.joints)
        self.angles.add_work(self.bodies.twist)
        self.angles.give_work(self.joints)
        if self.tree.herding:
            self.herds.add_work(self.tree.rows.second, self.joints)

    cdef void stiffen_start(self) noexcept nogil:
        """What `strain` has chosen, for the first half of the step's first substep."""
        if self.stiffening:
            stiffen_bodies(self.bodies, &self.loads, self.settings.h, False)

    cdef void stiffen(self) noexcept nogil:
        if self.stiffening:
            if self.tree.herding:
                self.herds.give_impulses(&self.tree.rows)
            add_forces(self.joints, &self.tree.rows, self.bodies, &self.loads, self.settings.h)
            stiffen_bodies(self.bodies, &self.loads, self.settings.h, True)

    cdef void scale_impulses(self, double factor) noexcept nogil:
        scale_numbers(&self.tree.rows, factor, self.tree.rows.impulse)
        scale_numbers(&self.tree.rows, factor, self.tree.rows.second)

    # ---- on the rows of the sweeps -----------------------------------------------------------------------------------

    cdef void read(self, const Row* rows) noexcept nogil:
        """Jacobians and factor of rows as the sweeps have them."""
        cdef Py_ssize_t i, k
        cdef const JointRows* own = &self.tree.rows
        read_joint_rows(self.joints, rows, &self.tree.rows)
        self.tree.lanes = False
        self.open = 0.0
        for i in range(own.run_count):
            for k in range(own.run[2 * i], own.run[2 * i + 1]):
                self.open = max(self.open, fabs(own.error[k]))
        for k in range(self.border.count):
            if self.border.row(k) != NULL:
                self.open = max(self.open, fabs(self.border.row(k).error))
        # The smaller, the more exact are the velocities; but torn joints must not be moved far.
        self.tree.proximal = USUAL_PROXIMAL if self.open < WIDEST_GAP else MOST_PROXIMAL
        self.cold = self.tree.loops or (self.redundant and self.open >= WIDEST_GAP)
        self.solved = SOLVED
        self.factor()

    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed) noexcept nogil:
        """J v + bias = 0 with the rows' biases; the rows' impulses change."""
        cdef JointRows* found = &self.tree.rows
        cdef Py_ssize_t c, j
        cdef Row* own
        cdef int i
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                found.bias[found.begin[j] + i] = own[i].bias[relaxed]
                found.impulse[found.begin[j] + i] = 0.0
        for j in range(self.border.count):
            self.border.bias[j] = 0.0 if self.border.row(j) == NULL else self.border.row(j).bias[relaxed]
        self.solve(twist)
        for c in range(found.awake_count):
            j = found.awake[c]
            own = own_rows(rows, &self.joints[j])
            for i in range(self.joints[j].constraint_count):
                own[i].impulse += found.impulse[found.begin[j] + i]
