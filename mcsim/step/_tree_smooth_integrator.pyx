"""integrator="rk4" and "reference" in generalized coordinates: Runge-Kutta over the smooth forces, on accelerations that
close all loops at once (docs/theory/rk4.md). What has bounds acts as impulses around it, as in _smooth_integrator.pyx.

    mean velocity to come   qd + h qdd/2, on which limits, friction, motors and contacts act, biased
    stages                  forces, the rows that close loops, their factor, accelerations
    project                 "projection": q onto C = 0, qd onto J qd = 0
    velocity at the end     what has bounds again, without bias
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.constraints._forces cimport add_joint_forces, force_along, is_aimed, is_force, mute_joint_forces
from mcsim.core._tableau cimport count_squares
from mcsim.core._types cimport Twist
from mcsim.integrate._euler cimport update_inertia
from mcsim.reduced._tree_runge_kutta cimport TreeRungeKutta
from mcsim.solve._held_motors cimport MotorsOfTrees
from mcsim.solve._si cimport residual
from mcsim.solve._smooth cimport PROXIMAL_CLOSED, PROXIMAL_ERRORS
from mcsim.state._joint cimport AXIS_ROWS, JOINT_AXES
from mcsim.state._row cimport BIASED, RELAXED, ROW_ARMATURE, ROW_JOINT, ROW_SPRING, Row
from mcsim.step._loop_jacobian cimport LoopJacobian
from mcsim.step._runge_kutta_integrator cimport STAGE_ROUNDS, RungeKuttaIntegrator
from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_loops cimport CLOSINGS
from mcsim.step._tree_parts cimport TreeParts
from mcsim.step._tree_space cimport TreeSpace

from mcsim.core.errors import SceneError, SimulationError
from mcsim.step.tree_jacobian import tree_jacobian


cdef class TreeSmoothIntegrator(RungeKuttaIntegrator):
    """Arguments as of Integrator, and the parts that it moves."""

    cdef TreeParts parts
    cdef TreeSpace space                 # of the parts, as rows and kicks are
    cdef TreeConstraints rows
    cdef TreeKicks kicks
    cdef TreeRungeKutta runge_kutta
    cdef object kept_whole
    cdef object analytic                 # of the Jacobian, where it is known; None, or not yet asked for
    cdef bint asked
    cdef LoopJacobian loops              # of what closes loops, and acts between points, beside that
    cdef bint beside                     # there is any
    cdef public bint differences         # it is to be had by differences, whatever is known
    cdef object kept_slopes, coordinates
    cdef const int32_t* coordinate       # (joints, JOINT_AXES) the velocity that is an axis's own, -1: none
    cdef double* slopes                  # (2, nv) of forces along coordinates, by q and by qd
    cdef double* efforts                 # (nv,) those forces, with the given ones
    cdef double* whole                   # (nv,) an estimate of the error, with what loops forbid of it
    cdef bint placed                     # bodies, rows that close loops and their factor are those of the present pose
    cdef bint follows                    # bodies follow in every stage: something there asks for their poses or twists

    def __init__(self, context, plain, sets, sweeping, restitution, times, calls, TreeParts parts not None):
        RungeKuttaIntegrator.__init__(self, context, plain, sets, sweeping, restitution, times, calls)
        self.parts, self.space, self.rows, self.kicks = parts, parts.space, parts.rows, parts.kicks
        self.projecting = self.rows.loops.projecting
        driving = self.steps.sizes is not None
        self.motors = MotorsOfTrees(
            self.space.generalized, self.rows.loop_rows, self.space.motion.tree.nv, self.context.noted, driving
        ) if driving or self.space.has_loop_rotors() else None
        self.steps.begin()
        self.kept_whole = np.zeros(self.space.motion.tree.nv + 1)
        self.whole = doubles(self.kept_whole)
        if self.projecting and self.steps.sizes is not None:
            self.rows.loop_rows.proximal = PROXIMAL_CLOSED
        self.loops = LoopJacobian(self.context, self.plain, self.rows.loop_rows, self.space.motion.kept[0],
                                  self.space.motion.tree.nv) if self.steps.sizes is not None else None
        self.kept_slopes, self.coordinates = np.zeros((3, self.space.motion.tree.nv + 1)), self.own_coordinates()
        self.slopes, self.efforts = doubles(self.kept_slopes[0]), doubles(self.kept_slopes[2])
        self.coordinate = integers(self.coordinates)

    def impacts(self, int law):
        return self.parts.impacts(law)

    cdef void substep(self, bint last) noexcept nogil:
        cdef double h = self.context.settings.h
        cdef bint bounded = self.is_bounded()
        self.placed = False
        if self.parts.refuses_pitch():
            return
        if bounded and self.refuses():
            return
        self.close_beginning(h)
        self.start_motors()
        self.space.sum_forces(0.0)
        self.follows = self.plain.joint_end > 0 or self.space.damped or self.context.efforts.acting
        if bounded:
            self.solve_before(h, last)
        self.steps.advance(h)
        if bounded:
            self.placed = False                          # loops may have yielded
            self.solve_after(last)
        else:
            self.sweeping.residual = 0.0
        if self.rows.loops.some:
            self.rows.loops.note_open()
        if last and self.plain.joint_end > 0:
            self.keep_forces(h)
        self.space.resting.carry(h)
        self.end_substep()
        self.parts.end_substep(h, last)

    cdef bint is_bounded(self) noexcept nogil:
        """Whether any row is neither part of what closes loops nor a force."""
        cdef Py_ssize_t i
        for i in range(self.plain.row_count):
            if self.plain.rows[i].kind != ROW_JOINT and not is_force(&self.plain.rows[i], self.context.settings):
                return True
        return False

    # ---- what is smooth ----------------------------------------------------------------------------------------------

    def steps_by(self, tableau):
        return TreeRungeKutta(tableau, self.space.motion)

    def use(self, steps):
        self.runge_kutta = steps

    def own_coordinates(self):
        """(joints JOINT_AXES + 1,) int32 of each axis of a joint the velocity of which it is the coordinate, -1: none."""
        found = np.full(self.context.joint_count * JOINT_AXES + 1, -1, np.int32)
        links = self.space.motion.kept[0]
        for joint, axis, place in zip(*self.space.angles):
            k = int(np.flatnonzero((links["q"] <= place) & (place < links["q"] + links["freedoms"]))[0])
            found[joint * JOINT_AXES + axis] = links["v"][k] + place - links["q"][k]
        return found

    cdef bint derive(self) noexcept nogil:
        """Of trees, and what closes loops in them, with forces along coordinates alone (tree_jacobian.py)."""
        cdef Py_ssize_t i, v, nv = self.space.motion.tree.nv
        cdef const Row* row
        if self.differences or self.space.damped or self.context.efforts.acting or self.space.turns_by_angles or (
                self.rows.loops.some and not self.loops.knows()):
            return False
        self.beside = self.rows.loops.some
        memset(self.slopes, 0, 2 * (nv + 1) * sizeof(double))
        memcpy(self.efforts, self.space.motion.tau, nv * sizeof(double))
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT:                    # all of which are loops that are known
                continue
            if not is_force(row, self.context.settings) or is_aimed(row, self.context.joints, self.context.settings):
                return False
            v = self.coordinate[row.source * JOINT_AXES + row.index // AXIS_ROWS]
            if v < 0 and self.loops.knows_spring(row):
                self.beside = True
                continue
            if v < 0:
                return False
            self.efforts[v] += force_along(row, &self.context.joints[row.source].axes[row.index // AXIS_ROWS],
                                           self.space.motion.qd[v], self.context.settings, &self.slopes[v],
                                           &self.slopes[nv + 1 + v])
        return self.fill_jacobian()

    cdef bint fill_jacobian(self) noexcept with gil:
        try:
            return self.find_analytic()
        except (SceneError, SimulationError):                    # differences tell what is wrong
            return False
        except MemoryError as error:                             # the step ends: by differences it would come elsewhere
            self.calls.fail(error)
            return False

    cdef bint find_analytic(self) except -1:
        cdef Py_ssize_t nv = self.space.motion.tree.nv
        if not self.asked:
            self.analytic = tree_jacobian(self.space.dynamics, self.space.motion.kept[0], self.runge_kutta.moving(),
                                          self.space.motion.tree.nq)
            self.asked = True
            if self.analytic is not None:
                self.loops.begin(self.analytic.dynamics)
        if self.analytic is None:
            return False
        cdef Py_ssize_t i
        slopes, pushes = self.kept_slopes[:, :nv], np.zeros((self.context.bodies.count + 1, 6))
        cdef double* own = doubles(pushes)
        for i in range(self.context.bodies.count):
            memcpy(own + 6 * i, &self.context.bodies.force[i], sizeof(Twist))
        if self.beside:
            self.loops.add_forces(own)
        self.analytic.fill(self.steps.newton.jacobian_array(), self.space.q, self.space.qd, slopes[2],
                           pushes[:self.context.bodies.count], (slopes[0], slopes[1]), self.runge_kutta.turns(),
                           self.loops if self.beside else None, bool(self.projecting))
        return True

    def last_jacobian(self):
        """(n, n) of the implicit method, the last one that was asked for, of the numbers that move."""
        return self.steps.newton.jacobian_array().copy()

    cdef void begin_stages(self) noexcept nogil:
        self.runge_kutta.begin()

    cdef void take_scales(self) noexcept nogil:
        self.runge_kutta.take_scales(self.steps.newton)

    cdef void end_stage(self, int k) noexcept nogil:
        self.runge_kutta.stage(k)

    cdef void move(self, int k, double h) noexcept nogil:
        self.placed = False
        self.runge_kutta.move(k, h)

    cdef void find_errors(self, bint across) noexcept nogil:
        self.runge_kutta.find_errors(across)

    cdef void read_back(self, int k) noexcept nogil:
        self.runge_kutta.read_back(k)

    cdef double farthest_turn(self) noexcept nogil:
        return self.runge_kutta.farthest_turn()

    cdef void project_errors(self, double h) noexcept nogil:
        """With the rows of the accelerations at the end."""
        cdef Py_ssize_t nv = self.space.motion.tree.nv
        cdef double* error
        cdef int k
        self.rows.loop_rows.proximal = PROXIMAL_ERRORS
        for k in range(4):
            error = self.runge_kutta.error[k]
            memcpy(self.whole, error, nv * sizeof(double))
            self.rows.loop_rows.aim_nothing()
            self.rows.loop_rows.meet(self.plain.rows, error)
            count_squares(h, self.whole, nv, error)
        self.rows.loop_rows.proximal = PROXIMAL_CLOSED

    cdef void judge(self, double* errors) noexcept nogil:
        self.runge_kutta.judge(errors)

    cdef void take_back(self) noexcept nogil:
        self.placed = False
        self.runge_kutta.take_back()

    cdef bint is_stopped(self) noexcept nogil:
        return self.space.motion.failed or RungeKuttaIntegrator.is_stopped(self)

    cdef void settle(self, double h) noexcept nogil:
        """Bodies and rows at the new pose, loops projected."""
        self.space.body_sync.show(True, self.context.steps)
        self.times.lap(STAGE_INTEGRATE)
        if self.plain.row_count > 0:
            if self.projecting:
                self.rows.loops.write()
                self.rows.loops.project(None, h, CLOSINGS)
            self.sweeping.refresh()
            if self.projecting:
                self.still()
                self.placed = True
            self.times.lap(STAGE_REFRESH)

    cdef bint closes_loops(self) noexcept nogil:
        return self.rows.loops.some

    cdef void settle_stage(self, double h) noexcept nogil:
        self.space.body_sync.show(True, self.context.steps)
        self.rows.loops.write()
        self.rows.loops.project(None, h, CLOSINGS if self.steps.sizes is not None else STAGE_ROUNDS)
        self.still()
        self.placed = True

    cdef void accelerate(self, bint keep) noexcept nogil:
        """qdd at q and qd, of which loops stay closed. keep: what springs do in h is their rows' impulses."""
        if not self.follows:
            self.space.motion.place()
            self.space.motion.factor()
            self.space.motion.look()
            self.space.motion.find_accelerations(self.space.forces)
            return
        if not self.placed:
            self.space.body_sync.show(True, self.context.steps)
            update_inertia(self.context.bodies)
        self.rows.joints.write()
        self.space.sum_forces(0.0)
        add_joint_forces(self.context.joints, self.context.joint_count, self.context.bodies, self.context.settings,
                         self.plain.rows, self.space.wrench, keep)
        memset(self.space.wrench - 1, 0, sizeof(Twist))      # what springs do to the world
        self.space.forces = <const double*>self.space.wrench
        self.space.motion.find_accelerations(self.space.forces)
        if self.rows.loops.some or self.motors is not None:
            self.close(keep)

    cdef void close(self, bint keep) noexcept nogil:
        """Of the accelerations what closes loops: J qdd = -J' qd - rate_gain dC/dt - error_gain C; and what motors do."""
        cdef bint driven
        cdef bint found = self.placed
        self.placed = False
        self.rows.contacts.bend_joints()
        if found:
            self.rows.loop_rows.find_again(self.plain.rows)
        else:
            self.rows.tree_rows.project_loops()
            if self.motors is not None:
                self.rows.loop_rows.find_rigid(self.plain.rows, self.plain.joint_end, 0.0)
        driven = self.aim_motors()
        if found:
            self.rows.loop_rows.aim_found_accelerations(self.plain.rows, self.space.motion.qd, self.context.settings)
        else:
            self.rows.loop_rows.aim_accelerations(self.plain.rows, self.plain.joint_end, self.space.motion.qd,
                                                  self.context.settings)
        if driven:
            self.drive(<Twist*>self.space.motion.qdd)
        if found:
            self.rows.loop_rows.approach(self.plain.rows, self.space.motion.qdd)
        else:
            self.rows.loop_rows.meet(self.plain.rows, self.space.motion.qdd)
        if driven and keep:
            self.motors.keep(self.plain.rows, self.context.settings.h)

    cdef void jump(self) noexcept nogil:
        self.rows.tree_rows.project_loops()
        self.rows.loop_rows.find_rigid(self.plain.rows, self.plain.joint_end, 0.0)
        self.motors.prepare(self.plain.rows, self.plain.joint_end)
        self.rows.loop_rows.aim_still(self.plain.rows, self.plain.joint_end)
        self.drive(<Twist*>self.space.motion.qd)
        self.rows.loop_rows.meet(self.plain.rows, self.space.motion.qd)
        self.space.body_sync.show_twists()

    cdef void still(self) noexcept nogil:
        """qd onto J qd = 0, in the metric of H, as q is onto C = 0."""
        self.rows.loop_rows.aim_still(self.plain.rows, self.plain.joint_end)
        self.rows.loop_rows.meet(self.plain.rows, self.space.motion.qd)
        self.space.body_sync.show_twists()

    cdef void keep_forces(self, double h) noexcept nogil:
        """What forces of joints and loops do at the end of the step, for h, is their rows' impulses, and no part any more
        of the forces on the bodies: what joints of trees carry counts both."""
        self.accelerate(True)
        self.space.sum_forces(0.0)
        if self.rows.loops.some:
            self.rows.loop_rows.keep(self.plain.rows, h)

    cdef double rotor_rate(self, Py_ssize_t i) noexcept nogil:
        return self.space.generalized.rate(i, self.space.motion.qd)

    # ---- what has bounds ---------------------------------------------------------------------------------------------

    cdef void solve_before(self, double h, bint last) noexcept nogil:
        """Impulses on the mean velocity to come. Rows are those of the present pose before and after."""
        self.accelerate(False)
        if self.rows.loops.some:
            self.rows.loop_rows.factor(self.plain.rows, self.plain.joint_end, 0.0)
        self.begin_rows()
        self.space.motion.look()
        self.kicks.begin()
        if self.context.contact_rows > 0:
            self.rows.contacts.begin()
        self.kicks.first_smooth(0.5 * h)
        self.free_rotors(BIASED)
        self.solve_bounded(BIASED)
        self.kicks.leave_changes(True)
        self.sweeping.first_residual = 0.0
        if last and self.context.settings.compliant:
            self.space.body_sync.show_twists()
            self.sweeping.first_residual = residual(self.plain.rows, self.plain.row_count, self.context.bodies.twist,
                                                    BIASED)
        self.times.lap(STAGE_SOLVE)

    cdef void solve_bounded(self, int relaxed) noexcept nogil:
        """In the end loops have the rates that they are to have."""
        self.sweeping.solve(self.context.bodies.twist, relaxed, self.sweeping.asked)
        if self.rows.loops.some:
            self.rows.loop_rows.solve(self.plain.rows, self.space.motion.qd, relaxed)

    cdef void begin_rows(self) noexcept nogil:
        """Motors aimed; impulses that rows start with, none of what accelerations do."""
        cdef Py_ssize_t i
        self.plain.aim_motors()
        self.plain.set_start_impulses()
        if self.rows.surfaces is not None:
            self.rows.surfaces.set_start_impulses()
        mute_joint_forces(self.context.joints, self.context.joint_count, self.context.settings, self.plain.rows)
        for i in range(self.plain.joint_end):
            if self.plain.rows[i].kind == ROW_JOINT or self.plain.rows[i].kind == ROW_SPRING or (
                    self.plain.rows[i].kind == ROW_ARMATURE):
                self.plain.rows[i].impulse = self.plain.rows[i].carry = 0.0

    cdef void solve_after(self, bint last) noexcept nogil:
        """Impulses on the velocity at the end; what closes loops leaves their rates as they are, or stills them after
        impacts."""
        mute_joint_forces(self.context.joints, self.context.joint_count, self.context.settings, self.plain.rows)
        self.free_rotors(RELAXED)
        if self.rows.loops.some:
            self.rows.loop_rows.aim_rates(self.plain.rows, self.space.motion.qd)
        self.sets.return_carried()
        self.rows.warm_starts.weigh(True)
        self.restitution.bounce(False)
        self.solve_bounded(RELAXED)
        self.space.body_sync.show_twists()
        if last:
            self.sweeping.residual = max(self.sweeping.first_residual, residual(
                self.plain.rows, self.plain.row_count, self.context.bodies.twist, RELAXED))
        self.times.lap(STAGE_RELAX)
