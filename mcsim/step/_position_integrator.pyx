"""integrator="rattle" and "variational": joints closed at the level of positions, every substep a map of its own.

    v <- v + h/2 M^-1 f(x, v)                            half of the forces, at the start
    lambda from C(flight of v + M^-1 J' lambda) = 0      J of the start; in nonholonomic rows
                                                         J v changes as the accelerations say
    x, v by the flight                                   without forces, momentum kept (integrate/_variational.pyx)
    v = v + h/2 M^-1 f(x, v) + M^-1 J' mu,  J v = 0      the other half, at the end, implicit in v

RATTLE (H. Andersen, 1983). Its positions are those of SHAKE, that is, of the discrete Euler-Lagrange equations with the
joints closed at each step (B. Leimkuhler and R. Skeel, "Symplectic numerical integrators in constrained Hamiltonian
systems", 1994); the last line chooses the momenta that lie in the tangent space.

lambda: Broyden's method on the velocities M^-1 J' lambda, from the chord A^-1 C / h with A = J M^-1 J' (C. Kelley,
"Iterative Methods for Linear and Nonlinear Equations", 1995, section 7.3: only the steps are kept). On velocities,
because of redundant rows a part of lambda is rounding. What has bounds acts as impulses before
the flight and after it, as under integrator="rk4" (docs/theory/rk4.md).
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE
from mcsim.constraints._contacts cimport ALL_CONTACTS, refresh_contacts
from mcsim.constraints._forces cimport add_joint_forces
from mcsim.constraints._joints cimport refresh_joints
from mcsim.core._arrays cimport doubles, records
from mcsim.core._math cimport add_scaled, dot, norm, sub
from mcsim.core._noted cimport NOTE_OPEN
from mcsim.core._types cimport OK, Mat3, Twist
from mcsim.integrate._rk4 cimport add_twists, free_accelerations, smooth_forces
from mcsim.integrate._variational cimport FreeFlight
from mcsim.solve._si cimport residual
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._joint cimport MOTOR_PD, JointAxis
from mcsim.state._row cimport BIASED, RELAXED, ROW_ARMATURE, Row
from mcsim.state._settings cimport INTEGRATE_VARIATIONAL
from mcsim.state._rows cimport rate
from mcsim.step._smooth_integrator cimport CLOSED, CLOSE_ENOUGH

from mcsim.core.errors import SimulationError
from mcsim.state.fields import ROW_DTYPE

cdef enum:
    MOST_ROUNDS = 40         # of Newton's method on the joints
    HISTORY = 10             # of them that it remembers
    MOST_REPEATS = 60        # of the implicit half of forces that depend on velocities
    OPEN_JOINT = 0           # why a substep failed
    FAST_BODY = 1
    STRONG_DAMPING = 2

# Newton's method ends at CLOSED (_smooth_integrator.pyx), or where the error no longer halves below CLOSE_ENOUGH, or where
# it has grown by LOST. Then the nearest it came to is taken; it must be below STILL_CLOSED, as an angle [rad]: where a
# mechanism changes branches, rows become dependent for a moment, and what they then ask for no velocity gives.
cdef double STILL_CLOSED = 1e-6

# The factor by which it diverges.
cdef double LOST = 1e4

# Joints that stand open by more than this at the start, as an angle [rad], which only a hand or a scene can bring about,
# are closed by so much in a substep.
cdef double OPENED = 0.01

# The implicit half kick ends when velocities change by less than this part of themselves, by the square root of their
# kinetic energy.
cdef double SETTLED = 1e-15
cdef double SETTLED_ENOUGH = 1e-11


cdef inline double mean_inertia(const Mat3* inertia) noexcept nogil:
    """trace I / 3, of its three axes the mean [kg m2]."""
    return (inertia.xx + inertia.yy + inertia.zz) / 3.0


cdef class PositionIntegrator(SmoothIntegrator):
    """Arguments as of Integrator."""

    def plan(self, bodies, joints, sizes):
        self.flight = FreeFlight(bodies.inertia, bodies.kind)
        SmoothIntegrator.plan(self, bodies, joints, sizes)

    def name(self, bodies, joints):
        self.names = tuple(bodies), tuple(joints)

    def reserve(self):
        """And what the joints' rows need beside themselves."""
        SmoothIntegrator.reserve(self)
        most = 6 * self.context.joint_count + 1
        trial = np.zeros(self.plain.row_capacity, ROW_DTYPE)
        gap = np.zeros(most)
        rounds = np.zeros((HISTORY if self.context.joint_count else 1, self.context.bodies.count + 1, 6))
        best = np.zeros((self.context.bodies.count + 1, 6))
        self.buffers = (trial, gap, rounds, best)
        self.trial, self.gap = <Row*>records(trial), doubles(gap)
        self.rounds, self.best = <Twist*>doubles(rounds), <Twist*>doubles(best)

    cdef void begin_step(self) noexcept nogil:
        SmoothIntegrator.begin_step(self)
        self.factored = False
        self.find_damping()

    cdef void find_damping(self) noexcept nogil:
        cdef const JointAxis* axis
        cdef Py_ssize_t i
        cdef int k
        self.damped = False
        for i in range(self.context.bodies.count):
            if self.context.bodies.linear_damping[i] != 0.0 or self.context.bodies.angular_damping[i] != 0.0:
                self.damped = True
        for i in range(self.context.joint_count):
            for k in range(self.context.joints[i].axis_count):
                axis = &self.context.joints[i].axes[k]
                if (axis.has_spring and axis.damping > 0.0) or (axis.motor_mode == MOTOR_PD and axis.motor_kd > 0.0):
                    self.damped = True

    # ---- the first half ----------------------------------------------------------------------------------------------

    cdef void forces(self) noexcept nogil:
        """What they would accelerate the free bodies by, at the present state, whose rows are written."""
        self.context.efforts.follow()
        smooth_forces(self.context.bodies, self.context.settings, self.wrench)
        add_joint_forces(self.context.joints, self.context.joint_count, self.context.bodies,
                         self.context.settings, self.plain.rows, self.wrench, False)
        free_accelerations(self.context.bodies, self.wrench, self.acceleration)

    cdef void solve_joints(self, Twist* x, int half) noexcept nogil:
        """What joints answer, to the solver's targets, and rotors with them: in a half of the substep (0, 1) from the rates
        that they had, or of velocities of a round (-1) from none. Of the drift's h J' v the first half has half."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.context.joint_rows if self.motors is not None else 0):
            row = &self.plain.rows[i]
            if row.kind == ROW_ARMATURE:
                row.impulse = 0.0
                row.bias[BIASED] = self.rotor_bias(row) if half == 0 else (
                    row.bias[RELAXED] + row.compliance[BIASED] * row.carry if half == 1 else 0.0)
        if self.motors is not None:
            self.drive(x)
        self.smooth.solve(self.plain.rows, x)

    cdef double rotor_bias(self, const Row* row) noexcept nogil:
        return row.bias[RELAXED] + 0.5 * self.context.settings.h * row.curvature

    cdef void keep_rotors(self) noexcept nogil:
        """What rotors have done in the first half, by the velocities that the flight has begun with."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.context.joint_rows if self.motors is not None else 0):
            row = &self.plain.rows[i]
            if row.kind == ROW_ARMATURE:
                row.carry = -(rate(row, self.flight.twist) + self.rotor_bias(row)) / row.compliance[BIASED]

    cdef void first_half(self) noexcept nogil:
        """Half of the forces, and with them the joints' as the accelerations have them: J (v + h/2 a). For joints that
        hold positions a first guess, for the others what they do."""
        cdef Py_ssize_t i
        cdef double ahead
        cdef const Row* row
        self.plain.write_joints(self.plain.rows)
        if not self.factored:
            self.smooth.factor(self.plain.rows, self.context.bodies)
        if self.motors is not None:
            self.motors.prepare(self.plain.rows, self.context.joint_rows)
        for i in range(self.smooth.count):
            row = &self.plain.rows[self.smooth.row[i]]
            ahead = 0.0 if row.stabilized else 0.5 * self.context.settings.h * row.curvature
            self.smooth.target[i] = rate(row, self.context.bodies.twist) - ahead
        self.forces()
        add_twists(self.context.bodies.count, 0.5 * self.context.settings.h, self.acceleration,
                   self.context.bodies.twist)
        self.solve_joints(self.context.bodies.twist, 0)

    # ---- the flight --------------------------------------------------------------------------------------------------

    cdef double try_flight(self) noexcept nogil:
        """Fly with the velocities that `flight` holds. -> the largest error at the end, as an angle [rad], or what
        it is more than it may be; infinite: there is no such flight"""
        cdef double off
        cdef double largest = 0.0
        cdef Py_ssize_t i = self.flight.fly(self.context.bodies, self.context.settings.h,
                                            self.context.settings.integrator == INTEGRATE_VARIATIONAL)
        cdef const Row* row
        self.fast_body = i
        self.flights += 1
        if i >= 0:
            return INFINITY
        self.context.pose_callbacks.call(True)
        refresh_joints(self.context.joints, NULL, self.context.joint_count, self.context.bodies,
                       self.context.settings, self.trial, True, NULL)
        for i in range(self.smooth.count):
            row = &self.trial[self.smooth.row[i]]
            self.gap[i] = row.error - self.keep * self.plain.rows[self.smooth.row[i]].error if row.stabilized else 0.0
            off = self.smooth.part(i, self.gap[i])
            if not off <= largest:
                largest = off
        return largest

    cdef void correct(self, int round) noexcept nogil:
        """One round: a step s of the velocities against the gaps, s = M^-1 J' of some impulses.

        z = -M^-1 J' A^-1 gap / h,    z += s_{j+1} (s_j . z) / |s_j|^2 for j < round - 1,
        s = z / (1 - s_j . z / |s_j|^2) with
        the last j.
        """
        cdef Py_ssize_t n = self.context.bodies.count
        cdef Py_ssize_t i
        cdef int j
        cdef Twist* own = self.rounds + round * (n + 1) + 1
        cdef Twist* s = own
        cdef double along
        for i in range(self.smooth.count):
            self.smooth.target[i] = -self.gap[i] / self.context.settings.h
        memset(own - 1, 0, (n + 1) * sizeof(Twist))
        self.solve_joints(own, -1)
        for j in range(round):
            s = self.rounds + j * (n + 1) + 1
            along = self.product(s, s)
            along = self.product(s, own) / along if along > 0.0 else 0.0
            if j < round - 1:
                add_twists(n, along, s + n + 1, own)
        if round > 0 and along < 0.5:
            add_twists(n, along / (1.0 - along), own, own)
        add_twists(n, 1.0, own, self.flight.twist)

    cdef double product(self, const Twist* x, const Twist* y) noexcept nogil:
        """The sum of m v . v' + (trace I / 3) w . w': an inner product that knows no axes."""
        cdef double s = 0.0
        cdef Py_ssize_t i
        for i in range(self.context.bodies.count):
            if self.context.bodies.kind[i] == DYNAMIC:
                s += dot(x[i].v, y[i].v) / self.context.bodies.inv_mass[i]
                s += mean_inertia(&self.context.bodies.inertia[i]) * dot(x[i].w, y[i].w)
        return s

    cdef bint close(self) noexcept nogil:
        """Fly so that the joints are closed at the end. -> whether that succeeded"""
        cdef Py_ssize_t n = self.context.bodies.count
        cdef double off, nearest
        cdef int k
        self.flight.begin(self.context.bodies)
        memcpy(self.trial, self.plain.rows, self.context.joint_rows * sizeof(Row))
        off = self.smooth.aim_errors(self.plain.rows)
        self.keep = 1.0 - OPENED / off if off > OPENED else 0.0
        off = self.try_flight()
        nearest = off
        memcpy(self.best, self.flight.twist, n * sizeof(Twist))
        for k in range(MOST_ROUNDS):
            if off <= CLOSED or not off < LOST * nearest:
                break
            self.correct(k % HISTORY)
            off = self.try_flight()
            if off < nearest:
                memcpy(self.best, self.flight.twist, n * sizeof(Twist))
            if nearest <= CLOSE_ENOUGH and not off < 0.5 * nearest:
                break
            nearest = min(nearest, off)
        if not off <= nearest:
            memcpy(self.flight.twist, self.best, n * sizeof(Twist))
            off = self.try_flight()
        self.keep_rotors()
        if off <= STILL_CLOSED:
            if off > CLOSE_ENOUGH:
                self.note_open()
            return True
        self.fail_open()
        return False

    cdef void fail_open(self) noexcept nogil:
        """Name the body that is too fast, or the joint that is open."""
        cdef Py_ssize_t worst
        if self.fast_body >= 0:
            self.fail(FAST_BODY, self.fast_body, norm(self.flight.twist[self.fast_body].w))
        else:
            worst = self.worst_row()
            self.fail(OPEN_JOINT, self.plain.rows[self.smooth.row[worst]].source, fabs(self.gap[worst]))

    cdef void note_open(self) noexcept nogil:
        cdef Py_ssize_t worst = self.worst_row()
        self.context.noted.most(NOTE_OPEN, self.plain.rows[self.smooth.row[worst]].source, fabs(self.gap[worst]))

    cdef Py_ssize_t worst_row(self) noexcept nogil:
        """Of those of the smooth solver the one that is the farthest open at the end of the last flight."""
        cdef double off
        cdef double largest = -1.0
        cdef Py_ssize_t i, worst = 0
        for i in range(self.smooth.count):
            off = self.smooth.part(i, self.gap[i])
            if not off <= largest:
                largest, worst = off, i
        return worst

    # ---- the second half ---------------------------------------------------------------------------------------------

    cdef bint second_half(self) noexcept nogil:
        """v = v' + h/2 a(x, v) + M^-1 J' mu with J v + rate = 0, v' that of the flight's end. -> whether v was found"""
        cdef double h = self.context.settings.h
        cdef double change, largest, fastest
        cdef Py_ssize_t i
        cdef Twist* x = self.acceleration
        cdef Twist* v
        self.plain.write_joints(self.plain.rows)
        self.smooth.factor(self.plain.rows, self.context.bodies)
        self.factored = True
        if self.motors is not None:
            self.motors.prepare(self.plain.rows, self.context.joint_rows)
        self.flight.begin(self.context.bodies)
        for _ in range(MOST_REPEATS):
            self.forces()
            for i in range(self.context.bodies.count):
                x[i].v = add_scaled(self.flight.twist[i].v, 0.5 * h, x[i].v)
                x[i].w = add_scaled(self.flight.twist[i].w, 0.5 * h, x[i].w)
            self.smooth.aim_still(self.plain.rows)
            self.solve_joints(x, 1)
            fastest = 0.0
            for i in range(self.context.bodies.count):
                v = &self.context.bodies.twist[i]
                fastest = max(fastest, max(norm(sub(x[i].v, v.v)), norm(sub(x[i].w, v.w))))
                v.v, v.w = sub(x[i].v, v.v), sub(x[i].w, v.w)
            change = sqrt(self.product(self.context.bodies.twist, self.context.bodies.twist))
            largest = sqrt(self.product(x, x))
            memcpy(self.context.bodies.twist, x, self.context.bodies.count * sizeof(Twist))
            if not self.damped or change <= SETTLED * largest:
                return True
        if change <= max(SETTLED_ENOUGH * largest, self.nothing()):
            return True
        self.fail(STRONG_DAMPING, 0, fastest)
        return False

    cdef double nothing(self) noexcept nogil:
        """The size, as `product` has it, of velocities that poses cannot tell from none: in a substep they move bodies by
        what numbers are rounded to. What springs and dampers hold at rest has velocities of that size alone."""
        cdef double h = self.context.settings.h
        cdef double far
        cdef double s = 0.0
        cdef Py_ssize_t i
        for i in range(self.context.bodies.count):
            if self.context.bodies.kind[i] == DYNAMIC:
                far = norm(self.context.bodies.position[i]) + h * h * norm(self.context.settings.gravity)
                s += far * far / self.context.bodies.inv_mass[i] + mean_inertia(&self.context.bodies.inertia[i])
        return DBL_EPSILON / h * sqrt(s)

    # ---- a substep ---------------------------------------------------------------------------------------------------

    cdef void substep(self, bint last) noexcept nogil:
        cdef bint bounded = self.begin_substep()
        self.first_half()
        if bounded:
            self.solve_bounded(BIASED)
        self.times.lap(STAGE_SOLVE)
        if self.set_time(self.context.settings.time + self.context.settings.h) != OK or not self.close():
            return
        self.times.lap(STAGE_INTEGRATE)
        if not self.second_half():
            return
        self.times.lap(STAGE_REFRESH)
        self.sweeping.residual = 0.0
        if bounded:
            refresh_contacts(self.context.store.manifolds, self.context.store.resisted(),
                             self.context.store.manifold_count, self.context.bodies,
                             self.context.settings, self.plain.anchors, self.plain.rows, ALL_CONTACTS)
            self.restitution.bounce_unanswered()
            self.solve_bounded(RELAXED)
            self.sweeping.residual = residual(self.plain.rows, self.plain.row_count,
                                              self.context.bodies.twist, RELAXED)
            self.times.lap(STAGE_RELAX)
        if last:
            self.accelerate(True)
        self.end_substep()

    # ---- failure -----------------------------------------------------------------------------------------------------

    cdef void fail(self, int why, Py_ssize_t which, double amount) noexcept nogil:
        """The step ends; the state before it comes back, and World.step raises what is told here, or what a user's
        function has raised."""
        if self.context.pose_callbacks.status != OK:
            return
        with gil:
            self.calls.fail(self._explain(why, which, amount))

    def _explain(self, why, which, amount):
        cdef double fastest = 0.0
        cdef Py_ssize_t i
        cdef long long step = self.context.steps + 1
        bodies, joints = self.names or (range(self.context.bodies.count), range(self.context.joint_count))
        h = self.context.settings.h
        begin = f"step {step} (t = {self.context.start + step * self.context.settings.dt:.6g} s): "
        end = "; the last good state is kept; take a smaller dt or more substeps"
        if why == FAST_BODY:
            return SimulationError(f"{begin}body {bodies[which]!r} turns at {amount:.4g} rad/s, {amount * h:.3g} rad a "
                                   f"substep, too fast for integrator='variational'{end}")
        if why == STRONG_DAMPING:
            return SimulationError(f"{begin}springs or damping are too strong for substeps of {h:.3g} "
                                   f"s: velocities do not settle (they change by {amount:.3g} m/s, rad/s){end}")
        for i in range(self.context.bodies.count):
            fastest = max(fastest, norm(self.flight.twist[i].w))
        return SimulationError(f"{begin}no velocities close the joints at the end of the substep: joint "
                               f"{joints[which]!r} stays open by {amount:.3g} m or rad after {MOST_ROUNDS} rounds (the "
                               f"fastest body turns by {fastest * h:.3g} rad a substep){end}, or "
                               "integrator='semi_implicit' with joint_solver='tree', which keeps strained joints' energy")
