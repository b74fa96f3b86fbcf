"""integrator="rk4" and "reference" of bodies: Runge-Kutta over the smooth forces, on accelerations that meet all joints at
once (docs/theory/rk4.md). What has bounds acts as impulses around it.

    mean velocity to come   v + h a/2, on which limits, friction, motors and contacts act, biased
    stages                  forces, joints' rows, their factor, accelerations
    project                 "projection": poses onto C = 0, velocities onto J v = 0
    velocity at the end     what has bounds again, without bias

_position_integrator.pyx has the other integrators that stand on the same solver.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.step._impacts cimport SmoothImpacts
from mcsim.step._runge_kutta_integrator cimport STAGE_ROUNDS
from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE
from mcsim.step._sweeps cimport SWEEPS_A_LOOK
from mcsim.constraints._forces cimport add_joint_forces, aim_speeds, mute_joint_forces
from mcsim.constraints._coordinates cimport foresee_turns
from mcsim.constraints._joints cimport find_bounded
from mcsim.core._arrays cimport doubles
from mcsim.core._math cimport norm
from mcsim.core._noted cimport NOTE_OPEN
from mcsim.core._tableau cimport count_squares
from mcsim.core._types cimport Twist
from mcsim.integrate._rk4 cimport (add_gyroscopic, add_twists, displace, free_accelerations, is_velocity,
                                   smooth_forces)
from mcsim.solve._blocks cimport FACTOR_STRIDE
from mcsim.solve._held_motors cimport MotorsOfBodies
from mcsim.solve._held_spans cimport HeldSpans
from mcsim.solve._si cimport residual, sweep_si
from mcsim.solve._smooth cimport PROXIMAL_CLOSED, PROXIMAL_ERRORS
from mcsim.stabilize._stabilize cimport stabilize_rows
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._row cimport BIASED, RELAXED, Row
from mcsim.step._drifted cimport DRIFTED

from mcsim.solve.border import border_rows

# Errors of joints, as angles [rad], of which one ends Newton's method on their positions, and a larger one is noted.
cdef double CLOSED = 1e-15
cdef double CLOSE_ENOUGH = 1e-10

# In the projection of poses, its rounds at most; and the error from which one leads to rounding errors, for it squares
# them.
cdef int PROJECTION_ROUNDS = 3
cdef double SQUARED = 1e-9


# Rotors make contacts far heavier to move than a sweep sees: beside them sweeps over contacts go on, up to so many times as
# many, until one changes no velocity by more than this part of g h.
cdef enum:
    MORE_SWEEPS = 64
cdef double UNDONE = 0.001


cdef class SmoothIntegrator(RungeKuttaIntegrator):
    """Arguments as of Integrator."""

    def plan(self, bodies, joints, sizes):
        """The solver, over the joints that hold."""
        beside = border_rows(joints)
        sizes = sizes().copy()
        sizes[[row[0] for row in beside]] = 0
        pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
        self.smooth = SmoothSolver(pairs, sizes, beside, bodies.kind == DYNAMIC)
        self.held_spans = HeldSpans(self.smooth, self.context.noted)
        driving = self.steps.sizes is not None
        self.motors = MotorsOfBodies(self.smooth, self.context.noted, driving) if driving or np.any(
            joints["axes"]["armature"]) else None
        self.projecting = self.context.settings.smooth_projection
        if self.projecting and self.steps.sizes is not None:
            self.smooth.proximal = PROXIMAL_CLOSED
        self.dynamic = bodies.kind == DYNAMIC
        self.steps.begin()
        self.arrays = np.zeros((2, bodies.count + 1, 6))
        self.acceleration = <Twist*>doubles(self.arrays[0]) + 1
        self.wrench = <Twist*>doubles(self.arrays[1]) + 1
        self.reserve()

    def reserve(self):
        if self.smooth is not None:                          # else it is being planned
            self.smooth.reserve(self.plain.row_capacity)

    def impacts(self, int law):
        """Velocities are at the time of the pose, as forces in two halves leave them."""
        cdef SmoothImpacts blows = SmoothImpacts(law, self.smooth, self.context.bodies.count, self.motors)
        blows.twist, blows.bodies = self.context.bodies.twist, self.context.bodies
        blows.settings = self.context.settings
        return blows, 0.5

    cdef void begin_step(self) noexcept nogil:
        self.smooth.locate(self.context.joints, self.plain.rows)
        find_bounded(self.context.joints, self.context.joint_count, self.smooth.group, self.held_spans.first,
                     self.held_spans.articulations)
        self.held_spans.ask(self.context.joints)
        memset(self.acceleration - 1, 0,
               sizeof(Twist))      # the world's: a step that failed may have left 0 * inf there

    cdef void accelerate(self, bint keep) noexcept nogil:
        """The KKT accelerations at the present state. keep: joint forces times h into the rows' impulses."""
        cdef bint driven
        self.plain.write_joints(self.plain.rows)
        self.context.efforts.follow()
        smooth_forces(self.context.bodies, self.context.settings, self.wrench)
        add_joint_forces(self.context.joints, self.context.joint_count, self.context.bodies,
                         self.context.settings, self.plain.rows, self.wrench, keep)
        free_accelerations(self.context.bodies, self.wrench, self.acceleration)
        if not self.factored and not (self.near and self.smooth.follow(self.plain.rows)):
            self.smooth.factor(self.plain.rows, self.context.bodies)
        driven = self.aim_motors()
        self.smooth.aim_accelerations(self.plain.rows, self.context.bodies.twist, self.context.settings)
        if driven:
            self.drive(self.acceleration)
        self.smooth.solve(self.plain.rows, self.acceleration)
        add_gyroscopic(self.context.bodies, self.acceleration)
        if keep:
            self.smooth.keep(self.plain.rows, self.context.settings.h)
            if driven:
                self.motors.keep(self.plain.rows, self.context.settings.h)
            if self.motors is not None:
                self.plain.write_joints(self.plain.rows)     # with the bounds of a substep's impulses

    cdef void jump(self) noexcept nogil:
        self.plain.write_joints(self.plain.rows)
        aim_speeds(self.context.joints, self.plain.rows, self.plain.joint_end, self.context.bodies.twist,
                   self.context.settings)
        self.smooth.factor(self.plain.rows, self.context.bodies)
        self.factored = True
        self.motors.prepare(self.plain.rows, self.plain.joint_end)
        self.smooth.aim_still(self.plain.rows)
        self.drive(self.context.bodies.twist)
        self.smooth.solve(self.plain.rows, self.context.bodies.twist)

    cdef void solve_bounded(self, int relaxed) noexcept nogil:
        """Limits, friction and velocity motors of joints, then contacts, as impulses; after each the joints' rates are
        what they were, or 0 after impacts, which know no joints. Sweeps over the contacts pass by the joints' rows,
        whose masses and factors are 0."""
        cdef double enough = UNDONE * norm(self.context.settings.gravity) * self.context.settings.h
        cdef Py_ssize_t i
        cdef int k
        self.factored = False
        stabilize_rows(self.plain.rows, self.plain.row_count, self.context.bodies, self.context.neighbours,
                       1.0, self.context.settings)
        mute_joint_forces(self.context.joints, self.context.joint_count, self.context.settings, self.plain.rows)
        self.free_rotors(relaxed)
        self.smooth.factor(self.plain.rows, self.context.bodies)
        self.smooth.forget(self.context.joint_rows)
        for i in range(self.context.joint_rows):
            self.plain.rows[i].mass[relaxed] = 0.0
        memset(self.plain.factors, 0, self.context.joint_rows * FACTOR_STRIDE * sizeof(double))
        if relaxed and self.restitution.count > 0:
            self.smooth.aim_still(self.plain.rows)
        else:
            self.smooth.aim_rates(self.plain.rows, self.context.bodies.twist)
        self.held_spans.prepare(self.plain.rows, self.context.joint_rows, self.sweeping.asked)
        for k in range(self.sweeping.asked * (MORE_SWEEPS if self.motors is not None else 1)):
            self.held_spans.hold(self.plain.rows, self.context.bodies.twist, relaxed)
            self.sweeping.correction = self.smooth.sweep(self.plain.rows, self.context.joint_rows,
                                                         self.context.bodies.twist, relaxed)
            if self.plain.row_count > self.context.joint_rows:
                self.sweeping.correction = max(self.sweeping.correction, sweep_si(
                    self.plain.rows, self.plain.row_count, self.plain.factors, self.context.bodies.twist, relaxed, True))
            self.smooth.solve(self.plain.rows, self.context.bodies.twist)
            self.smooth.keep(self.plain.rows, 1.0)
            if self.sweeping.correction == 0.0 or (
                    k >= self.sweeping.asked - 1 and self.sweeping.correction < enough) or (
                    k % SWEEPS_A_LOOK == SWEEPS_A_LOOK - 1 and self.calls.is_interrupted()):
                break

    cdef void project(self) noexcept nogil:
        """Poses onto C = 0 by Newton's method, then velocities onto J v = 0, both in the metric of the masses."""
        cdef double error
        for _ in range(PROJECTION_ROUNDS):
            self.plain.write_joints(self.plain.rows)
            error = self.smooth.aim_errors(self.plain.rows)
            if error <= CLOSED:
                break
            self.displace_once()
            if error < SQUARED:
                break
        self.plain.write_joints(self.plain.rows)
        self.hold_still()
        self.factored = True

    cdef void displace_once(self) noexcept nogil:
        """One round of it, against the errors that are aimed at."""
        self.smooth.factor(self.plain.rows, self.context.bodies)
        memset(self.acceleration - 1, 0, (self.context.bodies.count + 1) * sizeof(Twist))
        self.smooth.solve(self.plain.rows, self.acceleration)
        displace(self.context.bodies, self.acceleration)

    cdef void note_wide(self, double enough) noexcept nogil:
        """The joint that is open by most at the end of a substep, as an angle by more than `enough`."""
        cdef const Row* row
        self.plain.write_joints(self.plain.rows)
        if self.smooth.aim_errors(self.plain.rows) > enough:
            row = &self.plain.rows[self.smooth.worst()]
            self.context.noted.most(NOTE_OPEN, row.source, fabs(row.error))

    cdef void hold_still(self) noexcept nogil:
        """The velocities nearest to the present ones that all joints allow."""
        self.smooth.factor(self.plain.rows, self.context.bodies)
        self.smooth.aim_still(self.plain.rows)
        self.smooth.solve(self.plain.rows, self.context.bodies.twist)

    cdef bint begin_substep(self) noexcept nogil:
        """Rows without impulses, motors aimed; after impacts joints hold again. -> whether anything has bounds"""
        cdef Py_ssize_t i, muted
        cdef bint bounded
        for i in range(self.plain.row_count):
            self.plain.rows[i].impulse = 0.0
        self.plain.aim_motors()
        muted = mute_joint_forces(self.context.joints, self.context.joint_count, self.context.settings, self.plain.rows)
        bounded = self.plain.row_count - self.smooth.taken - muted > 0
        if bounded and self.restitution.count > 0:
            self.hold_still()
        return bounded

    cdef void substep(self, bint last) noexcept nogil:
        """Runge-Kutta over the smooth forces. What has bounds acts as impulses: before, on the mean velocity of the
        substep to come, and after, on the velocity at its end."""
        cdef double h = self.context.settings.h
        cdef bint bounded
        self.factored = False
        self.close_beginning(h)
        bounded = self.begin_substep()
        if bounded and self.refuses():
            return
        self.start_motors()
        if bounded:
            self.accelerate(False)
            add_twists(self.context.bodies.count, 0.5 * h, self.acceleration, self.context.bodies.twist)
            self.solve_bounded(BIASED)
            add_twists(self.context.bodies.count, -0.5 * h, self.acceleration, self.context.bodies.twist)
        self.times.lap(STAGE_SOLVE)
        self.steps.advance(h)
        if self.projecting:
            self.note_wide(CLOSE_ENOUGH)
        elif self.context.settings.error_gain == 0.0:
            self.note_wide(DRIFTED)
        self.times.lap(STAGE_INTEGRATE)
        if bounded:
            self.plain.write(self.plain.rows)
            self.times.lap(STAGE_REFRESH)
            self.restitution.bounce_unanswered()
            self.solve_bounded(RELAXED)
            self.times.lap(STAGE_RELAX)
        self.sweeping.residual = residual(self.plain.rows, self.plain.row_count, self.context.bodies.twist,
                                          RELAXED) if bounded else 0.0
        if last:
            self.accelerate(True)
        self.end_substep()

    # ---- Runge-Kutta -------------------------------------------------------------------------------------------------

    def steps_by(self, tableau):
        return RungeKutta(tableau, self.dynamic)

    def use(self, steps):
        self.runge_kutta = steps

    cdef void begin_stages(self) noexcept nogil:
        """The world stands still, whatever 0 * inf a step that was tried before has left there."""
        cdef int k
        memset(self.acceleration - 1, 0, sizeof(Twist))
        memset(self.context.bodies.twist - 1, 0, sizeof(Twist))
        for k in range(4):
            memset(self.runge_kutta.error[k] - 1, 0, sizeof(Twist))
        self.runge_kutta.begin(self.context.bodies)

    cdef void take_scales(self) noexcept nogil:
        self.runge_kutta.take_scales(self.steps.newton)

    cdef void end_stage(self, int k) noexcept nogil:
        self.runge_kutta.stage(self.context.bodies, self.acceleration, k)

    cdef void move(self, int k, double h) noexcept nogil:
        self.runge_kutta.move(self.context.bodies, k, h)
        self.factored = self.near = False

    cdef void pass_time(self, double h) noexcept nogil:
        foresee_turns(self.context.joints, self.context.joint_lists, self.context.bodies, h)

    cdef void find_errors(self, bint across) noexcept nogil:
        self.runge_kutta.find_errors(self.context.bodies, across)

    def last_jacobian(self):
        """(n, n) of the implicit method, the last one that was asked for, of the numbers that move."""
        return self.steps.newton.jacobian_array().copy()

    cdef void stay(self, Py_ssize_t i) noexcept nogil:
        """The poses are the same, or beside them by what differences step by. Where a loop is projected the factor is
        another one."""
        self.near = not self.closes_loops() and not self.alone
        self.factored = self.near and is_velocity(self.steps.newton.place[i])

    cdef void read_back(self, int k) noexcept nogil:
        self.runge_kutta.read_back(self.context.bodies, k)

    cdef double farthest_turn(self) noexcept nogil:
        return self.runge_kutta.farthest_turn(self.context.bodies)

    cdef void project_errors(self, double h) noexcept nogil:
        """With the rows of the accelerations at the end."""
        cdef Py_ssize_t n = self.context.bodies.count
        cdef Twist* error
        cdef int k
        self.smooth.proximal = PROXIMAL_ERRORS
        self.smooth.factor(self.plain.rows, self.context.bodies)
        self.smooth.proximal = PROXIMAL_CLOSED
        self.factored = False
        for k in range(4):
            error = self.runge_kutta.error[k]
            memcpy(self.wrench, error, n * sizeof(Twist))
            self.smooth.forbid(self.plain.rows, error)
            count_squares(h, <double*>self.wrench, 6 * n, <double*>error)

    cdef void judge(self, double* errors) noexcept nogil:
        self.runge_kutta.judge(self.context.bodies, errors)

    cdef void take_back(self) noexcept nogil:
        self.runge_kutta.take_back(self.context.bodies)
        self.factored = False

    cdef void settle(self, double h) noexcept nogil:
        if self.projecting:
            self.project()

    cdef bint closes_loops(self) noexcept nogil:
        return self.smooth.tree.loops

    cdef void settle_stage(self, double h) noexcept nogil:
        """Steps of a given length need it of loops alone: rows of trees do not imply each other."""
        if self.steps.sizes is not None and self.steps.newton is None:
            self.project()
            return
        if not self.closes_loops():
            return
        self.smooth.looped_alone = True
        for _ in range(STAGE_ROUNDS):
            self.plain.write_joints(self.plain.rows)
            self.smooth.aim_errors(self.plain.rows)
            self.displace_once()
        self.plain.write_joints(self.plain.rows)
        self.hold_still()
        self.factored = True
        self.smooth.looped_alone = False
